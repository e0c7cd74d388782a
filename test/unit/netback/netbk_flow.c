/* SPDX-License-Identifier: MIT */
/*
 * netbk_flow.c: groups, queues and ports whole: a frontend in this thread, workers in theirs, the
 * fake of Xen's libraries between them. What a rogue frontend gets is a table.
 */
#include "netbk_suites.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/load_frame.h"
#include "common/log.h"
#include "fake_xen.h"
#include "guest.h"
#include "netback/group_private.h"

/* How soon depends on the machine's load as well; that it is asked for soon enough does not. */
BUILD_ASSERT(NETBK_RX_POLL_USEC_MAX <= 30000);

static struct netbk_groups *groups;
static struct port *port;
static struct xenvif_queue *queue;
static struct guest guest;
static struct guest_frame frame;
static atomic_int fatal_why, nr_fatals;

static void note_fatal(struct xenvif_queue *q, enum xenvif_fatal why, void *arg)
{
	atomic_store(&fatal_why, (int)why);
	atomic_fetch_add(&nr_fatals, 1);
}

static struct netbk_groups *make_groups(unsigned nr, unsigned tx_shift, enum worker_kind kind)
{
	struct netbk_groups_params params = {.nr_groups = nr, .tx_shift = tx_shift, .kind = kind};
	struct netbk_groups *made;

	ck_assert_int_eq(netbk_groups_create(&params, &made), 0);
	return made;
}

static struct port *make_port(enum port_kind kind, unsigned nr_queues, unsigned source_bytes)
{
	struct port_params params = {.kind = kind,
				     .name = "vif7.0",
				     .nr_queues_max = nr_queues,
				     .source_bytes = source_bytes};
	struct xenvif_features features = {.sg = true};
	struct port *made;

	ck_assert_int_eq(port_open(&params, &made), 0);
	ck_assert_int_eq(port_set_queues(made, nr_queues, &features), 0);
	return made;
}

static void setup(void)
{
	fake_reset();
	groups = make_groups(1, 8, WORKER_THREAD);
	port = NULL;
	atomic_store(&nr_fatals, 0);
	atomic_store(&fatal_why, FATAL_NONE);
	ck_assert_int_eq(xenvif_queue_create("vif7.0-q0", 0, note_fatal, NULL, &queue), 0);
	guest_init(&guest, 0, true);
}

/* Whatever a test did: in the end nothing of the guest is held. */
static void teardown(void)
{
	xenvif_queue_destroy(queue);
	port_close(port);
	netbk_groups_destroy(groups);
	ck_assert_uint_eq(fake_nr_mapped(), 0);
	ck_assert_uint_eq(fake_nr_bound(), 0);
}

static void connect_params(const struct xenvif_queue_params *params)
{
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, params, port), 0);
}

static void connect_to(enum port_kind kind)
{
	struct xenvif_queue_params params = guest_params(&guest);

	port = make_port(kind, 1, 0);
	connect_params(&params);
}

static struct xenvif_stats stats_of(const struct xenvif_queue *q)
{
	struct xenvif_stats stats;

	xenvif_queue_get_stats(q, &stats);
	return stats;
}

/* A frame of the load pattern, so that every byte can be checked at the other end. */
static const uint8_t *load(unsigned len, uint64_t seq)
{
	static uint8_t bytes[65536];

	memset(bytes, 0x22, 6);
	memset(bytes + 6, 0x44, 6);
	load_frame_fill(bytes, len, seq);
	return bytes;
}

static void check_echo(uint64_t seq, unsigned len)
{
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_int_eq(frame.status, 0);
	ck_assert_uint_eq(frame.len, len);
	ck_assert_uint_eq(frame.bytes[0], 0x44);
	ck_assert_uint_eq(frame.bytes[6], 0x22);
	ck_assert(load_frame_check(frame.bytes, len));
	ck_assert_uint_eq(load_frame_seq(frame.bytes), seq);
}

/* ---- guest to host ---- */

START_TEST(packets_reach_a_sink_and_are_answered_in_order)
{
	unsigned sent = 0;

	connect_to(PORT_SINK);
	while (sent < 5000) {
		if (guest_send(&guest, load(60, sent), 60, 4096, 0, 0)) {
			guest_publish_tx(&guest);
			sent++;
		}
	}
	guest_wait_tx(&guest, sent);
	ck_assert_uint_eq(guest.tx_ok, sent);
	ck_assert_uint_eq(stats_of(queue).tx_packets, sent);
	ck_assert_uint_eq(stats_of(queue).tx_bytes, sent * 60u);
	ck_assert_uint_eq(stats_of(queue).tx_slots, sent);
}
END_TEST

START_TEST(what_was_published_before_the_connection_is_taken)
{
	ck_assert(guest_send(&guest, load(60, 0), 60, 4096, 0, 0));
	guest_publish_tx(&guest);
	connect_to(PORT_SINK);
	guest_wait_tx(&guest, 1);
	ck_assert_uint_ge(fake_guest_events(guest.tx_port), 1);
	ck_assert_uint_ge(fake_guest_events(guest.rx_port), 1);
}
END_TEST

static const struct {
	unsigned len, slot_bytes, offset;
} shapes[] = {
	{60, 4096, 0},	    {60, 4096, 4036},	{1514, 4096, 100}, {1514, 100, 17},
	{1518, 1518, 2578}, {9000, 4096, 0},	{9000, 1000, 3},   {18018, 1001, 3000},
	{65535, 4096, 0},   {65535, 3640, 456},
};

START_TEST(packets_of_every_shape_come_back_from_an_echo)
{
	struct xenvif_queue_params params = guest_params(&guest);

	params.features.mtu = 65517;
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	guest_post_rx(&guest, 64, true);
	for (unsigned i = 0; i < 50; i++) {
		ck_assert(guest_send(&guest, load(shapes[_i].len, i), shapes[_i].len,
				     shapes[_i].slot_bytes, shapes[_i].offset, 0));
		guest_publish_tx(&guest);
		check_echo(i, shapes[_i].len);
		ck_assert_uint_eq(frame.slots, DIV_ROUND_UP(shapes[_i].len, 4096));
		guest_post_rx(&guest, frame.slots, true);
	}
	ck_assert_uint_eq(stats_of(queue).rx_packets, stats_of(queue).tx_packets);
}
END_TEST

START_TEST(a_revoked_page_costs_its_packet_only)
{
	connect_to(PORT_ECHO);
	guest_post_rx(&guest, 64, true);
	fake_revoke(guest_tx_gref(&guest, 1), true);
	for (unsigned i = 0; i < 3; i++)
		ck_assert(guest_send(&guest, load(100, i), 100, 4096, 0, 0));
	guest_publish_tx(&guest);
	check_echo(0, 100);
	check_echo(2, 100);
	guest_wait_tx(&guest, 3);
	ck_assert_uint_eq(guest.tx_failed, 1);
	ck_assert_uint_eq(stats_of(queue).drops[DROP_TX_COPY], 1);
}
END_TEST

START_TEST(one_revoked_page_of_a_chain_fails_all_its_slots)
{
	connect_to(PORT_SINK);
	fake_revoke(guest_tx_gref(&guest, 2), true);
	ck_assert(guest_send(&guest, load(1000, 0), 1000, 250, 0, 0));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 4);
	ck_assert_uint_eq(guest.tx_failed, 4);
	ck_assert_uint_eq(stats_of(queue).tx_packets, 0);
}
END_TEST

START_TEST(a_copy_call_that_fails_as_a_whole_loses_nothing)
{
	connect_to(PORT_ECHO);
	guest_post_rx(&guest, 64, true);
	fake_fail_calls(1);
	for (unsigned i = 0; i < 5; i++)
		ck_assert(guest_send(&guest, load(100, i), 100, 4096, 0, 0));
	guest_publish_tx(&guest);
	for (unsigned i = 0; i < 5; i++)
		check_echo(i, 100);
}
END_TEST

START_TEST(no_packet_is_dropped_when_pending_pages_are_few)
{
	struct xenvif_queue_params params = guest_params(&guest);
	unsigned sent = 0;

	netbk_groups_destroy(groups);
	groups = make_groups(1, NETBK_TX_SHIFT_MIN, WORKER_THREAD);
	port = make_port(PORT_SINK, 1, 0);
	connect_params(&params);
	for (unsigned round = 0; round < 200; round++) {
		unsigned len = round % 2 ? 60000 : 60;

		while (guest_send(&guest, load(len, sent), len, 4000, 0, 0))
			sent++;
		guest_publish_tx(&guest);
		usleep(50);
	}
	wait_until(stats_of(queue).tx_packets == sent);
	guest_reap_tx(&guest);
	ck_assert_uint_eq(guest.tx_failed, 0);
}
END_TEST

START_TEST(a_blank_checksum_that_cannot_be_found_drops_the_packet)
{
	connect_to(PORT_SINK);
	ck_assert(guest_send(&guest, load(100, 0), 100, 4096, 0, NETTXF_csum_blank));
	ck_assert(guest_send(&guest, load(100, 1), 100, 4096, 0, NETTXF_data_validated));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 2);
	ck_assert_uint_eq(stats_of(queue).drops[DROP_TX_CSUM], 1);
	ck_assert_uint_eq(stats_of(queue).tx_packets, 1);
}
END_TEST

/* An IPv4 UDP packet whose checksum is left to the other side. */
static const uint8_t *blank_udp(void)
{
	static uint8_t bytes[60];

	memcpy(bytes,
	       "\1\2\3\4\5\6\2\2\2\2\2\2\x08\0\x45\0\0\x2e\0\0\0\0\x40\x11\0\0\12\0\0\1\12\0\0\2"
	       "\0\1\0\2\0\x1a\x14\x3a",
	       42);
	return bytes;
}

START_TEST(a_blank_checksum_is_passed_on_or_filled_as_the_guest_takes_it)
{
	struct xenvif_queue_params params = guest_params(&guest);
	uint16_t expect = NETRXF_csum_blank | NETRXF_data_validated;

	params.features.csum_ipv4 = _i;
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	guest_post_rx(&guest, 4, true);
	ck_assert(guest_send(&guest, blank_udp(), 60, 4096, 0,
			     NETTXF_csum_blank | NETTXF_data_validated));
	guest_publish_tx(&guest);
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(frame.flags, _i ? expect : NETRXF_data_validated);
	if (_i)
		ck_assert_mem_eq(frame.bytes + 40, "\x14\x3a", 2);
	else
		ck_assert_mem_ne(frame.bytes + 40, "\x14\x3a", 2);
}
END_TEST

START_TEST(the_guest_is_not_kicked_when_it_did_not_ask)
{
	uint64_t before;

	connect_to(PORT_SINK);
	wait_until(fake_guest_events(guest.tx_port) == 1); /* the kick at the start */
	guest.tx.sring->rsp_event = guest.tx.rsp_cons + 200;
	before = fake_guest_events(guest.tx_port);
	for (unsigned i = 0; i < 50; i++) {
		ck_assert(guest_send(&guest, load(60, i), 60, 4096, 0, 0));
		guest_publish_tx(&guest);
		guest_wait_tx(&guest, i + 1);
	}
	usleep(2000);
	ck_assert_uint_eq(fake_guest_events(guest.tx_port), before);
	ck_assert_uint_eq(stats_of(queue).tx_notifies, 0);
}
END_TEST

/* ---- host to guest ---- */

START_TEST(a_sources_frames_arrive_whole_and_in_sequence)
{
	static const unsigned sizes[] = {60, 1514, 4096, 4097, 9000, 65535};
	struct xenvif_queue_params params = guest_params(&guest);
	uint64_t seq = 0;

	params.features.mtu = 65517;
	port = make_port(PORT_SOURCE, 1, sizes[_i]);
	connect_params(&params);
	guest_post_rx(&guest, 256, true);
	while (seq < 500) {
		ck_assert(guest_wait_rx(&guest, &frame));
		ck_assert_uint_eq(frame.len, sizes[_i]);
		ck_assert(load_frame_check(frame.bytes, frame.len));
		ck_assert_uint_eq(load_frame_seq(frame.bytes), seq++);
		guest_post_rx(&guest, frame.slots, true);
	}
	ck_assert_uint_ge(stats_of(queue).rx_packets, 500);
}
END_TEST

START_TEST(no_more_is_sent_than_buffers_are_posted)
{
	connect_to(PORT_SOURCE);
	guest_post_rx(&guest, 10, true);
	for (unsigned i = 0; i < 10; i++)
		ck_assert(guest_wait_rx(&guest, &frame));
	usleep(5000);
	ck_assert(!guest_recv(&guest, &frame));
	wait_until(stats_of(queue).rx_stalls >= 1);
	guest_post_rx(&guest, 5, true);
	for (unsigned i = 0; i < 5; i++)
		ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(load_frame_seq(frame.bytes), 14); /* nothing was lost meanwhile */
}
END_TEST

START_TEST(a_guest_that_does_not_kick_is_polled)
{
	struct xenvif_queue_params params = guest_params(&guest);

	params.features.rx_notify = false;
	port = make_port(PORT_SOURCE, 1, 0);
	connect_params(&params);
	for (unsigned i = 0; i < 20; i++) {
		guest_post_rx(&guest, 1, false);
		ck_assert(guest_wait_rx(&guest, &frame));
		ck_assert_uint_eq(load_frame_seq(frame.bytes), i);
	}
}
END_TEST

START_TEST(a_guest_without_sg_gets_one_slot_and_no_big_frames)
{
	struct xenvif_queue_params params = guest_params(&guest);

	params.features.sg = false;
	params.features.mtu = 9000;
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	guest_post_rx(&guest, 64, true);
	ck_assert(guest_send(&guest, load(4097, 0), 4097, 3000, 0, 0));
	ck_assert(guest_send(&guest, load(4096, 1), 4096, 3000, 0, 0));
	guest_publish_tx(&guest);
	check_echo(1, 4096);
	ck_assert_uint_eq(frame.slots, 1);
	ck_assert_uint_eq(stats_of(queue).drops[DROP_RX_TOO_BIG], 1);
}
END_TEST

START_TEST(a_frame_beyond_the_mtu_is_dropped_and_counted)
{
	connect_to(PORT_ECHO);
	guest_post_rx(&guest, 64, true);
	ck_assert(guest_send(&guest, load(1519, 0), 1519, 4096, 0, 0));
	ck_assert(guest_send(&guest, load(1518, 1), 1518, 4096, 0, 0));
	guest_publish_tx(&guest);
	check_echo(1, 1518);
	ck_assert_uint_eq(stats_of(queue).drops[DROP_RX_TOO_BIG], 1);
}
END_TEST

START_TEST(a_revoked_buffer_spoils_its_frame_only)
{
	struct xenvif_queue_params params = guest_params(&guest);

	params.features.mtu = 9000;
	port = make_port(PORT_SOURCE, 1, 9000);
	fake_revoke(guest_rx_gref(&guest, 4), true);
	connect_params(&params);
	guest_post_rx(&guest, 9, true);
	for (uint64_t seq = 0; seq < 3; seq++) {
		ck_assert(guest_wait_rx(&guest, &frame));
		ck_assert_uint_eq(frame.slots, 3);
		ck_assert_uint_eq(frame.status < 0, seq == 1);
		if (seq != 1)
			ck_assert_uint_eq(load_frame_seq(frame.bytes), seq);
		else
			ck_assert_uint_eq(frame.len, 0); /* every slot was in error */
	}
	ck_assert_uint_eq(stats_of(queue).drops[DROP_RX_COPY], 1);
}
END_TEST

START_TEST(an_echo_nobody_reads_is_bounded_and_counted)
{
	unsigned sent = 0;

	connect_to(PORT_ECHO);
	while (sent < 2000) {
		if (guest_send(&guest, load(1500, sent), 1500, 4096, 0, 0)) {
			guest_publish_tx(&guest);
			sent++;
		}
	}
	guest_wait_tx(&guest, sent);
	ck_assert_uint_gt(stats_of(queue).drops[DROP_TX_PORT_FULL], 1500);
	ck_assert_uint_eq(guest.tx_failed, stats_of(queue).drops[DROP_TX_PORT_FULL]);
}
END_TEST

START_TEST(one_event_channel_serves_both_rings)
{
	struct xenvif_queue_params params;

	guest_init(&guest, 1, false);
	params = guest_params(&guest);
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	for (unsigned i = 0; i < 200; i++) {
		ck_assert(guest_send(&guest, load(60, i), 60, 4096, 0, 0));
		guest_publish_tx(&guest);
		guest_wait_tx(&guest, i + 1);
		guest_post_rx(&guest, 1, true);
		check_echo(i, 60);
	}
	ck_assert_uint_eq(fake_nr_bound(), 1);
}
END_TEST

/* ---- rogue frontends ---- */

static void prod_too_far(struct guest *g)
{
	g->tx.sring->req_prod = g->tx.req_prod_pvt + 257;
}

static void prod_backwards(struct guest *g)
{
	g->tx.sring->req_prod = g->tx.req_prod_pvt - 1;
}

static void incomplete(struct guest *g)
{
	guest_put_slot(g, guest_tx_gref(g, 0), 0, 200, NETTXF_more_data);
	g->tx.sring->req_prod = g->tx.req_prod_pvt;
}

static void missing_extra(struct guest *g)
{
	guest_put_slot(g, guest_tx_gref(g, 0), 0, 200, NETTXF_extra_info);
	g->tx.sring->req_prod = g->tx.req_prod_pvt;
}

static void too_many_slots(struct guest *g)
{
	for (unsigned i = 0; i < 22; i++)
		guest_put_slot(g, guest_tx_gref(g, i), 0, i ? 10 : 220,
			       i < 21 ? NETTXF_more_data : 0);
	g->tx.sring->req_prod = g->tx.req_prod_pvt;
}

static void page_crossing(struct guest *g)
{
	guest_put_slot(g, guest_tx_gref(g, 0), 4000, 97, 0);
	g->tx.sring->req_prod = g->tx.req_prod_pvt;
}

static void rx_prod_too_far(struct guest *g)
{
	g->rx.sring->req_prod = g->rx.req_prod_pvt + 257;
}

static void rx_prod_backwards(struct guest *g)
{
	g->rx.sring->req_prod = g->rx.req_prod_pvt - 100;
}

static const struct {
	const char *name;
	enum port_kind kind;
	void (*act)(struct guest *guest);
	enum xenvif_fatal why;
} rogues[] = {
	{"TX producer too far", PORT_SINK, prod_too_far, FATAL_TX_PROD_OVERFLOW},
	{"TX producer backwards", PORT_SINK, prod_backwards, FATAL_TX_PROD_OVERFLOW},
	{"chain not all there", PORT_SINK, incomplete, FATAL_TX_INCOMPLETE},
	{"extra not there", PORT_SINK, missing_extra, FATAL_TX_INCOMPLETE},
	{"22 slots", PORT_SINK, too_many_slots, FATAL_TX_TOO_MANY_SLOTS},
	{"slot beyond its page", PORT_SINK, page_crossing, FATAL_TX_PAGE_CROSSING},
	{"RX producer too far", PORT_SOURCE, rx_prod_too_far, FATAL_RX_PROD_OVERFLOW},
	{"RX producer backwards", PORT_SOURCE, rx_prod_backwards, FATAL_RX_PROD_OVERFLOW},
};

START_TEST(a_rogue_loses_its_queue_and_only_that)
{
	struct xenvif_queue_params params;
	struct guest mate;
	struct xenvif_queue *mate_queue;
	struct port *mate_port = make_port(PORT_SINK, 1, 0);
	unsigned events;

	guest_init(&mate, 1, true);
	params = guest_params(&mate);
	ck_assert_int_eq(xenvif_queue_create("vif8.0-q0", 0, note_fatal, NULL, &mate_queue), 0);
	ck_assert_int_eq(xenvif_queue_connect(mate_queue, groups, NULL, &params, mate_port), 0);

	connect_to(rogues[_i].kind);
	guest_post_rx(&guest, 256, true);
	ck_assert(guest_send(&guest, load(60, 0), 60, 4096, 0, 0));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 1);
	if (rogues[_i].kind == PORT_SOURCE) /* all that is posted is used */
		wait_until(stats_of(queue).rx_packets == 256);
	rogues[_i].act(&guest);
	fake_guest_notify(guest.tx_port);
	fake_guest_notify(guest.rx_port);
	wait_until(atomic_load(&nr_fatals) == 1);
	ck_assert_msg(atomic_load(&fatal_why) == (int)rogues[_i].why, "%s", rogues[_i].name);

	/* It may go on as it likes; its mate does not notice. */
	for (unsigned sent = 0; sent < 200;) {
		fake_guest_notify(guest.tx_port);
		if (guest_send(&mate, load(60, sent), 60, 4096, 0, 0)) {
			guest_publish_tx(&mate);
			sent++;
		}
	}
	wait_until(stats_of(mate_queue).tx_packets == 200);
	events = (unsigned)stats_of(queue).events;
	ck_assert_uint_lt(events, 10); /* its channel stays masked */
	ck_assert_int_eq(atomic_load(&nr_fatals), 1);
	xenvif_queue_disconnect(queue);
	ck_assert(!xenvif_queue_connected(queue));

	xenvif_queue_destroy(mate_queue);
	port_close(mate_port);
}
END_TEST

START_TEST(after_a_fatal_error_the_queue_can_be_connected_anew)
{
	struct xenvif_queue_params params = guest_params(&guest);

	connect_to(PORT_SINK);
	prod_too_far(&guest);
	fake_guest_notify(guest.tx_port);
	wait_until(atomic_load(&nr_fatals) == 1);
	xenvif_queue_disconnect(queue);
	guest_init(&guest, 0, true);
	connect_params(&params);
	ck_assert(guest_send(&guest, load(60, 0), 60, 4096, 0, 0));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 1);
	prod_too_far(&guest);
	fake_guest_notify(guest.tx_port);
	wait_until(atomic_load(&nr_fatals) == 2);
}
END_TEST

START_TEST(a_storm_of_events_does_not_stop_a_mate)
{
	struct xenvif_queue_params params;
	struct xenvif_queue *mate_queue;
	struct port *mate_port = make_port(PORT_SINK, 1, 0);
	struct guest mate;
	unsigned sent = 0, kicks = 0;

	guest_init(&mate, 1, true);
	params = guest_params(&mate);
	ck_assert_int_eq(xenvif_queue_create("vif8.0-q0", 0, note_fatal, NULL, &mate_queue), 0);
	ck_assert_int_eq(xenvif_queue_connect(mate_queue, groups, NULL, &params, mate_port), 0);
	connect_to(PORT_SINK);
	while (sent < 2000) {
		fake_guest_notify(guest.tx_port);
		fake_guest_notify(guest.rx_port);
		kicks += 2;
		if (guest_send(&mate, load(60, sent), 60, 4096, 0, 0)) {
			guest_publish_tx(&mate);
			sent++;
		}
	}
	guest_wait_tx(&mate, sent);
	ck_assert_uint_eq(stats_of(mate_queue).tx_packets, sent);
	ck_assert_uint_le(stats_of(queue).events, kicks);
	ck_assert_uint_eq(stats_of(queue).tx_notifies, 0); /* nothing was done: nothing to tell */
	xenvif_queue_destroy(mate_queue);
	port_close(mate_port);
}
END_TEST

/* ---- fairness ---- */

/* A port of two queues that writes down whose frames came in which order. */
static struct {
	unsigned nr;
	uint8_t queue[4096];
} order;

static int recorder_fd(const struct port *p, unsigned q)
{
	return -1;
}

static void record(struct port *p, unsigned q, struct port_frame *const frames[], unsigned nr)
{
	for (unsigned i = 0; i < nr; i++) {
		ck_assert_uint_lt(order.nr, sizeof(order.queue));
		order.queue[order.nr++] = (uint8_t)q;
		frames[i]->sent = true;
	}
}

static unsigned record_nothing(struct port *p, unsigned q, struct port_frame *const frames[],
			       unsigned nr)
{
	return 0;
}

static const struct port_ops recorder_ops = {
	.name = "recorder",
	.queue_fd = recorder_fd,
	.send_batch = record,
	.recv_batch = record_nothing,
};

struct rivals {
	struct guest *blaster, *victim;
	struct xenvif_queue *blaster_queue, *victim_queue;
	unsigned len;
};

/* On the worker, between two rounds: both get something to do, the blaster first. */
static int publish_both(void *arg)
{
	struct rivals *r = arg;
	struct worker *worker = r->blaster_queue->netbk->worker;
	unsigned slots = DIV_ROUND_UP(r->len, 4000u);

	for (unsigned i = 0; i + slots <= 256; i += slots) {
		for (unsigned j = 0; j < slots; j++)
			guest_put_slot(r->blaster, guest_tx_gref(r->blaster, j), 0,
				       j ? MIN(4000u, r->len - j * 4000) : r->len,
				       j + 1 < slots ? NETTXF_more_data : 0);
	}
	for (unsigned i = 0; i < 3; i++)
		guest_put_slot(r->victim, guest_tx_gref(r->victim, i), 0, 60, 0);
	RING_PUSH_REQUESTS(&r->blaster->tx);
	RING_PUSH_REQUESTS(&r->victim->tx);
	worker_schedule(worker, &r->blaster_queue->tx_work);
	worker_schedule(worker, &r->victim_queue->tx_work);
	return 0;
}

static const struct {
	unsigned len, before; /* the blaster's frames, and how many of them may come first */
} blasts[] = {{60000, 2}, {4000, 25}, {1514, 64}, {60, 256}};

START_TEST(a_blaster_gets_its_turn_and_no_more)
{
	struct port recorder = {.ops = &recorder_ops, .nr_queues = 2};
	struct xenvif_queue_params params = guest_params(&guest);
	struct guest mate;
	struct rivals rivals = {.blaster = &guest, .victim = &mate, .len = blasts[_i].len};
	unsigned first = 0;

	order.nr = 0;
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &params, &recorder), 0);
	guest_init(&mate, 1, true);
	params = guest_params(&mate);
	ck_assert_int_eq(
		xenvif_queue_create("vif7.0-q1", 1, note_fatal, NULL, &rivals.victim_queue), 0);
	ck_assert_int_eq(
		xenvif_queue_connect(rivals.victim_queue, groups, NULL, &params, &recorder), 0);
	rivals.blaster_queue = queue;
	worker_call(queue->netbk->worker, publish_both, &rivals);
	guest_wait_tx(&mate, 3);
	guest_wait_tx(&guest, guest.tx.req_prod_pvt);
	while (order.queue[first] == 0)
		first++;
	ck_assert_uint_le(first, blasts[_i].before);
	ck_assert_uint_eq(order.queue[first + 1], 1);
	ck_assert_uint_eq(order.queue[first + 2], 1);
	ck_assert_uint_eq(guest.tx_failed, 0);
	xenvif_queue_destroy(rivals.victim_queue);
	xenvif_queue_disconnect(queue);
}
END_TEST

/* ---- life ---- */

START_TEST(what_cannot_be_connected_leaves_nothing_behind)
{
	struct xenvif_queue_params good = guest_params(&guest), bad;
	struct netbk_group_info info;

	port = make_port(PORT_SINK, 1, 0);
	bad = good;
	bad.tx_ring_ref = FAKE_PAGES;
	ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &bad, port), 0);
	bad = good;
	bad.rx_ring_ref = FAKE_PAGES;
	ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &bad, port), 0);
	fake_fail_binds(guest.tx_port, true);
	ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &good, port), 0);
	fake_fail_binds(guest.tx_port, false);
	fake_fail_binds(guest.rx_port, true);
	ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &good, port), 0);
	fake_fail_binds(guest.rx_port, false);
	guest.tx.sring->req_prod = 300;
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &good, port), -EINVAL);
	guest.tx.sring->req_prod = 0;
	guest.rx.sring->req_prod = 300;
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &good, port), -EINVAL);
	guest.rx.sring->req_prod = 0;
	bad = good;
	bad.domid = FAKE_DOMID + 65536;
	ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &bad, port), 0);

	ck_assert_uint_eq(fake_nr_mapped(), 0);
	ck_assert_uint_eq(fake_nr_bound(), 0);
	netbk_group_info(groups, 0, &info);
	ck_assert_uint_eq(info.netfront_count, 0);
	ck_assert_int_eq(xenvif_queue_group(queue), -1);
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &good, port), 0);
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &good, port), -EISCONN);
	ck_assert_int_eq(xenvif_queue_group(queue), 0);
}
END_TEST

static unsigned nr_lines(const char *path)
{
	FILE *file = fopen(path, "r");
	unsigned nr = 0;
	int c;

	ck_assert_ptr_nonnull(file);
	while ((c = getc(file)) != EOF)
		nr += c == '\n';
	fclose(file);
	return nr;
}

/* What a guest can repeat is not logged each time. */
START_TEST(connections_that_keep_failing_do_not_flood_the_log)
{
	struct xenvif_queue_params params = guest_params(&guest);
	char path[] = "/tmp/netbk_flow.XXXXXX";
	unsigned nr;
	int fd = mkstemp(path);

	ck_assert_int_ge(fd, 0);
	close(fd);
	port = make_port(PORT_SINK, 1, 0);
	ck_assert_int_eq(log_open("test", path), 0);
	for (unsigned i = 0; i < 200; i++) {
		guest.tx.sring->rsp_prod = i & 1 ? 0 : 1000;
		fake_fail_binds(params.tx_evtchn, i & 1);
		ck_assert_int_lt(xenvif_queue_connect(queue, groups, NULL, &params, port), 0);
	}
	log_close();
	nr = nr_lines(path);
	unlink(path);
	ck_assert_uint_gt(nr, 0);
	ck_assert_uint_lt(nr, 100);
}
END_TEST

START_TEST(the_backend_never_initialises_the_rings)
{
	guest_post_rx(&guest, 5, false);
	guest.tx.sring->rsp_event = 77;
	connect_to(PORT_SOURCE);
	for (unsigned i = 0; i < 5; i++)
		ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(guest.tx.sring->rsp_event, 77);
	ck_assert_uint_eq(guest.rx.sring->req_prod, 5);
}
END_TEST

START_TEST(a_ring_in_use_is_taken_up_where_it_stands)
{
	struct xenvif_queue_params params = guest_params(&guest);
	unsigned sent = 0;

	port = make_port(PORT_ECHO, 1, 0);
	guest_post_rx(&guest, 200, true);
	for (unsigned round = 0; round < 10; round++) {
		connect_params(&params);
		for (unsigned i = 0; i < 10; i++) {
			ck_assert(guest_send(&guest, load(60, sent), 60, 4096, 0, 0));
			guest_publish_tx(&guest);
			check_echo(sent++, 60);
		}
		xenvif_queue_disconnect(queue);
		xenvif_queue_disconnect(queue); /* idempotent */
		ck_assert_uint_eq(fake_nr_mapped(), 0);
		ck_assert_uint_eq(fake_nr_bound(), 0);
	}
	guest_wait_tx(&guest, sent);
	ck_assert_uint_eq(guest.tx_ok, sent);
	ck_assert_uint_eq(guest.rx.sring->rsp_prod, sent);
}
END_TEST

START_TEST(a_queue_moves_while_traffic_flows)
{
	struct xenvif_queue_params params = guest_params(&guest);
	struct netbk_group_info info;
	uint64_t sent = 0, got = 0;

	netbk_groups_destroy(groups);
	groups = make_groups(3, 8, WORKER_THREAD);
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	ck_assert_int_eq(xenvif_queue_move(queue, 3), -EINVAL);
	guest_post_rx(&guest, 128, true);
	for (unsigned round = 0; round < 60; round++) {
		for (unsigned i = 0; i < 20; i++) {
			if (guest_send(&guest, load(300, sent), 300, 4096, 0, 0)) {
				guest_publish_tx(&guest);
				sent++;
			}
		}
		ck_assert_int_eq(xenvif_queue_move(queue, round % 3), 0);
		ck_assert_int_eq(xenvif_queue_group(queue), (int)(round % 3));
		for (; got + 5 < sent; got++) {
			check_echo(got, 300);
			guest_post_rx(&guest, 1, true);
		}
	}
	for (; got < sent; got++)
		check_echo(got, 300);
	ck_assert_uint_gt(sent, 500);
	for (unsigned g = 0; g < 3; g++) {
		netbk_group_info(groups, g, &info);
		ck_assert_uint_eq(info.netfront_count, g == 2);
	}
}
END_TEST

START_TEST(a_move_that_fails_leaves_the_queue_where_it_was)
{
	struct xenvif_queue_params params = guest_params(&guest);

	netbk_groups_destroy(groups);
	groups = make_groups(2, 8, WORKER_THREAD);
	port = make_port(PORT_SINK, 1, 0);
	ck_assert_int_eq(xenvif_queue_move(queue, 1), -ENOTCONN);
	connect_params(&params);
	fake_fail_binds(guest.rx_port, true);
	ck_assert_int_lt(xenvif_queue_move(queue, 1), 0);
	ck_assert_int_eq(xenvif_queue_group(queue), 0);
	fake_fail_binds(guest.rx_port, false);
	ck_assert_int_eq(xenvif_queue_move(queue, 1), 0);
	ck_assert(guest_send(&guest, load(60, 0), 60, 4096, 0, 0));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 1);
}
END_TEST

START_TEST(queues_spread_evenly_over_the_groups)
{
	struct xenvif_queue *queues[64];
	struct xenvif_queue_params params;
	struct netbk_group_info info;
	struct port *many = make_port(PORT_SINK, 64, 0);

	netbk_groups_destroy(groups);
	groups = make_groups(5, NETBK_TX_SHIFT_MIN, WORKER_THREAD);
	for (unsigned i = 0; i < 64; i++) {
		netif_tx_sring_t *tx = fake_page(2 * i);
		netif_rx_sring_t *rx = fake_page(2 * i + 1);

		SHARED_RING_INIT(tx);
		SHARED_RING_INIT(rx);
		params = guest_params(&guest);
		params.tx_ring_ref = 2 * i;
		params.rx_ring_ref = 2 * i + 1;
		params.tx_evtchn = 1 + 2 * i;
		params.rx_evtchn = 2 + 2 * i;
		ck_assert_int_eq(xenvif_queue_create("q", i, note_fatal, NULL, &queues[i]), 0);
		ck_assert_int_eq(xenvif_queue_connect(queues[i], groups, NULL, &params, many), 0);
	}
	for (unsigned g = 0; g < 5; g++) {
		netbk_group_info(groups, g, &info);
		ck_assert_uint_ge(info.netfront_count, 12);
		ck_assert_uint_le(info.netfront_count, 13);
	}
	for (unsigned i = 0; i < 64; i++)
		xenvif_queue_destroy(queues[i]);
	for (unsigned g = 0; g < 5; g++) {
		netbk_group_info(groups, g, &info);
		ck_assert_uint_eq(info.netfront_count, 0);
	}
	port_close(many);
}
END_TEST

START_TEST(a_polling_worker_needs_no_events)
{
	struct xenvif_queue_params params = guest_params(&guest);

	netbk_groups_destroy(groups);
	groups = make_groups(1, 8, WORKER_POLL);
	port = make_port(PORT_ECHO, 1, 0);
	connect_params(&params);
	guest_post_rx(&guest, 100, false);
	for (unsigned i = 0; i < 50; i++) {
		ck_assert(guest_send(&guest, load(60, i), 60, 4096, 0, 0));
		RING_PUSH_REQUESTS(&guest.tx);
		check_echo(i, 60);
	}
}
END_TEST

START_TEST(the_rings_can_be_looked_at)
{
	struct xenvif_ring_info tx, rx;

	ck_assert_int_eq(xenvif_queue_rings(queue, &tx, &rx), -ENOTCONN);
	connect_to(PORT_SINK);
	guest_post_rx(&guest, 9, true);
	ck_assert(guest_send(&guest, load(60, 0), 60, 4096, 0, 0));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 1);
	ck_assert_int_eq(xenvif_queue_rings(queue, &tx, &rx), 0);
	ck_assert_uint_eq(tx.req_prod, 1);
	ck_assert_uint_eq(tx.req_cons, 1);
	ck_assert_uint_eq(tx.rsp_prod, 1);
	ck_assert_uint_eq(tx.req_event, 2);
	ck_assert_uint_eq(rx.req_prod, 9);
	ck_assert_uint_eq(rx.req_cons, 0);
}
END_TEST

START_TEST(names_are_complete)
{
	for (unsigned i = 0; i < NR_XENVIF_DROPS; i++)
		ck_assert_str_ne(xenvif_drop_name((enum xenvif_drop)i), "invalid");
	for (unsigned i = 0; i < NR_XENVIF_FATALS; i++)
		ck_assert_str_ne(xenvif_fatal_name((enum xenvif_fatal)i), "invalid");
	ck_assert_str_eq(xenvif_drop_name(NR_XENVIF_DROPS), "invalid");
	ck_assert_str_eq(xenvif_fatal_name(NR_XENVIF_FATALS), "invalid");
}
END_TEST

Suite *flow_suite(void)
{
	Suite *suite = suite_create("data path");
	TCase *tcase = tcase_create("guest to host");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, packets_reach_a_sink_and_are_answered_in_order);
	tcase_add_test(tcase, what_was_published_before_the_connection_is_taken);
	tcase_add_loop_test(tcase, packets_of_every_shape_come_back_from_an_echo, 0,
			    ARRAY_SIZE(shapes));
	tcase_add_test(tcase, a_revoked_page_costs_its_packet_only);
	tcase_add_test(tcase, one_revoked_page_of_a_chain_fails_all_its_slots);
	tcase_add_test(tcase, a_copy_call_that_fails_as_a_whole_loses_nothing);
	tcase_add_test(tcase, no_packet_is_dropped_when_pending_pages_are_few);
	tcase_add_test(tcase, a_blank_checksum_that_cannot_be_found_drops_the_packet);
	tcase_add_loop_test(tcase, a_blank_checksum_is_passed_on_or_filled_as_the_guest_takes_it, 0,
			    2);
	tcase_add_test(tcase, the_guest_is_not_kicked_when_it_did_not_ask);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("host to guest");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_sources_frames_arrive_whole_and_in_sequence, 0, 6);
	tcase_add_test(tcase, no_more_is_sent_than_buffers_are_posted);
	tcase_add_test(tcase, a_guest_that_does_not_kick_is_polled);
	tcase_add_test(tcase, a_guest_without_sg_gets_one_slot_and_no_big_frames);
	tcase_add_test(tcase, a_frame_beyond_the_mtu_is_dropped_and_counted);
	tcase_add_test(tcase, a_revoked_buffer_spoils_its_frame_only);
	tcase_add_test(tcase, an_echo_nobody_reads_is_bounded_and_counted);
	tcase_add_test(tcase, one_event_channel_serves_both_rings);
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("rogue frontends");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, a_rogue_loses_its_queue_and_only_that, 0, ARRAY_SIZE(rogues));
	tcase_add_test(tcase, after_a_fatal_error_the_queue_can_be_connected_anew);
	tcase_add_test(tcase, a_storm_of_events_does_not_stop_a_mate);
	tcase_add_loop_test(tcase, a_blaster_gets_its_turn_and_no_more, 0, ARRAY_SIZE(blasts));
	suite_add_tcase(suite, tcase);

	tcase = tcase_create("life of a queue");
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, what_cannot_be_connected_leaves_nothing_behind);
	tcase_add_test(tcase, connections_that_keep_failing_do_not_flood_the_log);
	tcase_add_test(tcase, the_backend_never_initialises_the_rings);
	tcase_add_test(tcase, a_ring_in_use_is_taken_up_where_it_stands);
	tcase_add_test(tcase, a_queue_moves_while_traffic_flows);
	tcase_add_test(tcase, a_move_that_fails_leaves_the_queue_where_it_was);
	tcase_add_test(tcase, queues_spread_evenly_over_the_groups);
	tcase_add_test(tcase, a_polling_worker_needs_no_events);
	tcase_add_test(tcase, the_rings_can_be_looked_at);
	tcase_add_test(tcase, names_are_complete);
	suite_add_tcase(suite, tcase);
	return suite;
}
