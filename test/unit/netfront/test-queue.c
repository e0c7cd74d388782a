/* SPDX-License-Identifier: MIT */
/* test-queue.c: one queue's pass over both rings with a host side, without event channels. */
#include "netfront/side.h"
#include "test/unit/netfront/fake_ring.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>
#include <stdlib.h>

/* A host side that takes as many frames as it is told to and has as many to send. */
struct stub {
	struct netfront_side side;
	unsigned will_take, will_send;
	unsigned nr_taken;
	size_t last_len_bytes;
};

static struct fake *fake;
static struct stub stub;
static struct netfront_queue queue;

static bool stub_deliver(struct netfront_side *side, struct netfront_queue *q,
			 const struct netfront_frame *frame)
{
	struct stub *s = container_of(side, struct stub, side);

	if (!s->will_take)
		return false;
	s->will_take--;
	s->nr_taken++;
	s->last_len_bytes = frame->len_bytes;
	return true;
}

static bool stub_fill(struct netfront_side *side, struct netfront_queue *q, unsigned budget)
{
	struct stub *s = container_of(side, struct stub, side);
	struct iovec iov[NETFRONT_SLOTS_MAX];

	for (; s->will_send && budget; s->will_send--, budget--) {
		if (netfront_tx_begin(&q->tx, 60, iov) < 0)
			return false;
		netfront_tx_commit(&q->tx, 60);
	}
	return s->will_send;
}

static const struct netfront_side_ops stub_ops = {
	.name = "stub",
	.deliver = stub_deliver,
	.fill = stub_fill,
};

/* No events are to be sent: both ends would have to ask, and neither does. */
static void setup(void)
{
	fake = fake_new(true, true, 0);
	stub = (struct stub){.side.ops = &stub_ops, .will_take = 1000};
	queue = (struct netfront_queue){.side = &stub.side, .tx_port = -1, .rx_port = -1};
	queue.tx = fake->tx;
	queue.rx = fake->rx;
	queue.tx.counters = &queue.tx_counters;
	queue.rx.counters = &queue.rx_counters;
	fake->tx_page->req_event = 0;
	fake->rx_page->req_event = 0;
	queue.tx_ring_page = fake->tx_page;
}

static void teardown(void)
{
	fake_free(fake);
}

static int run(bool arm)
{
	static const struct netfront_hv none;

	return netfront_queue_run(&queue, &none, arm);
}

START_TEST(nothing_to_do_is_nothing_done)
{
	ck_assert_int_eq(run(true), 0);
	ck_assert(!queue.worked);
	ck_assert_uint_eq(fake->rx_page->rsp_event, 1);
}
END_TEST

START_TEST(frames_reach_the_side_and_buffers_go_back)
{
	for (int i = 0; i < 10; i++)
		fake_rx_send(fake, (uint16_t)(60 + i), 0, 0);
	ck_assert_int_eq(run(true), 0);
	ck_assert(queue.worked);
	ck_assert_uint_eq(stub.nr_taken, 10);
	ck_assert_uint_eq(stub.last_len_bytes, 69);
	ck_assert_uint_eq(fake->rx_page->req_prod, 266);
	ck_assert_uint_eq(fake->rx_page->rsp_event, 11);
}
END_TEST

START_TEST(a_pass_ends_at_its_budget)
{
	for (int i = 0; i < 100; i++)
		fake_rx_send(fake, 60, 0, 0);
	ck_assert_int_eq(run(true), 1);
	ck_assert_uint_eq(stub.nr_taken, NETFRONT_BUDGET);
	ck_assert_int_eq(run(true), 0);
	ck_assert_uint_eq(stub.nr_taken, 100);
}
END_TEST

START_TEST(frame_the_side_refused_is_offered_again)
{
	stub.will_take = 1;
	fake_rx_send(fake, 60, 0, 0);
	fake_rx_send(fake, 70, 0, 0);
	ck_assert_int_eq(run(true), 0);
	ck_assert_uint_eq(stub.nr_taken, 1);
	ck_assert_uint_eq(fake->rx_page->req_prod, 256); /* no buffer back while one is held */
	stub.will_take = 1;
	ck_assert_int_eq(run(true), 0);
	ck_assert_uint_eq(stub.nr_taken, 2);
	ck_assert_uint_eq(stub.last_len_bytes, 70);
	ck_assert_uint_eq(queue.rx_counters.packets, 2);
	ck_assert_uint_eq(fake->rx_page->req_prod, 258);
}
END_TEST

START_TEST(sending_stops_at_a_full_ring_and_goes_on_after_answers)
{
	stub.will_send = 300;
	while (run(false) > 0)
		;
	ck_assert_uint_eq(fake_tx_waiting(fake), 256);
	ck_assert_uint_eq(stub.will_send, 44);
	for (int i = 0; i < 256; i++)
		fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_OKAY);
	ck_assert_int_eq(run(false), 0);
	ck_assert_uint_eq(stub.will_send, 0);
	ck_assert_uint_eq(queue.tx_counters.packets, 256);
}
END_TEST

START_TEST(either_ring_broken_ends_the_pass)
{
	fake->tx_page->rsp_prod = 9;
	ck_assert_int_eq(run(true), -EPROTO);
	fake->tx_page->rsp_prod = 0;
	fake->rx_page->rsp_prod = 999;
	ck_assert_int_eq(run(true), -EPROTO);
}
END_TEST

START_TEST(drain_counts_what_was_left_and_sends_nothing)
{
	stub.will_send = 1;
	run(false);
	stub.will_send = 5;
	fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_OKAY);
	for (int i = 0; i < 200; i++)
		fake_rx_send(fake, 60, 0, 0);
	netfront_queue_drain(&queue);
	ck_assert_uint_eq(queue.tx_counters.packets, 1);
	ck_assert_uint_eq(queue.rx_counters.packets, 200);
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
}
END_TEST

TCase *case_queue(void)
{
	TCase *tc = tcase_create("queue");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, nothing_to_do_is_nothing_done);
	tcase_add_test(tc, frames_reach_the_side_and_buffers_go_back);
	tcase_add_test(tc, a_pass_ends_at_its_budget);
	tcase_add_test(tc, frame_the_side_refused_is_offered_again);
	tcase_add_test(tc, sending_stops_at_a_full_ring_and_goes_on_after_answers);
	tcase_add_test(tc, either_ring_broken_ends_the_pass);
	tcase_add_test(tc, drain_counts_what_was_left_and_sends_nothing);
	return tc;
}
