/* SPDX-License-Identifier: MIT */
/* test-ring-tx.c: planning, publishing and answering of sent frames, with good and bad backends. */
#include "test/unit/netfront/fake_ring.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>

static struct fake *fake;

static void setup(void)
{
	fake = fake_new(true, true, 0);
}

static void teardown(void)
{
	fake_free(fake);
}

START_TEST(small_frame_takes_one_slot)
{
	netif_tx_request_t req;

	ck_assert_int_eq(fake_send(fake, 60), 0);
	req = fake_tx_take(fake);
	ck_assert_uint_eq(req.size, 60);
	ck_assert_uint_eq(req.flags, 0);
	ck_assert_uint_eq(req.offset, 0);
	ck_assert_uint_eq(req.gref, FAKE_TX_GREF(req.id));
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
}
END_TEST

START_TEST(page_sized_frame_takes_one_slot)
{
	ck_assert_int_eq(fake_send(fake, 4096), 0);
	ck_assert_uint_eq(fake_tx_take(fake).flags, 0);
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
}
END_TEST

START_TEST(first_slot_carries_the_whole_length)
{
	netif_tx_request_t req;

	ck_assert_int_eq(fake_send(fake, 9000), 0);
	req = fake_tx_take(fake);
	ck_assert_uint_eq(req.size, 9000);
	ck_assert_uint_eq(req.flags, NETTXF_more_data);
	req = fake_tx_take(fake);
	ck_assert_uint_eq(req.size, 4096);
	ck_assert_uint_eq(req.flags, NETTXF_more_data);
	req = fake_tx_take(fake);
	ck_assert_uint_eq(req.size, 9000 - 2 * 4096);
	ck_assert_uint_eq(req.flags, 0);
}
END_TEST

START_TEST(largest_frame_fits_what_a_backend_must_accept)
{
	ck_assert_int_eq(fake_send(fake, 65535), 0);
	ck_assert_uint_eq(fake_tx_waiting(fake), 16);
	ck_assert_uint_eq(fake_tx_take(fake).size, 65535);
}
END_TEST

START_TEST(begin_without_commit_changes_nothing)
{
	struct iovec a[NETFRONT_SLOTS_MAX], b[NETFRONT_SLOTS_MAX];

	ck_assert_int_eq(netfront_tx_begin(&fake->tx, 5000, a), 2);
	ck_assert_int_eq(netfront_tx_begin(&fake->tx, 5000, b), 2);
	ck_assert_ptr_eq(a[0].iov_base, b[0].iov_base);
	ck_assert_uint_eq(a[1].iov_len, 5000 - 4096);
	ck_assert(!netfront_tx_publish(&fake->tx));
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
}
END_TEST

START_TEST(commit_of_less_than_begun_uses_fewer_slots)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];

	ck_assert_int_eq(netfront_tx_begin(&fake->tx, 65535, iov), 16);
	ck_assert_int_eq(netfront_tx_commit(&fake->tx, 100), 0);
	netfront_tx_publish(&fake->tx);
	ck_assert_uint_eq(fake_tx_waiting(fake), 1);
	ck_assert_uint_eq(fake_tx_take(fake).size, 100);
}
END_TEST

START_TEST(too_long_or_empty_is_refused)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];

	ck_assert_int_eq(netfront_tx_begin(&fake->tx, 65536, iov), -EMSGSIZE);
	ck_assert_int_eq(netfront_tx_begin(&fake->tx, 0, iov), -EMSGSIZE);
}
END_TEST

START_TEST(shorter_than_a_header_is_dropped_and_counted)
{
	ck_assert_int_eq(fake_send(fake, 13), -EINVAL);
	ck_assert_uint_eq(fake->tx_counters.dropped, 1);
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
}
END_TEST

START_TEST(without_sg_more_than_a_page_is_refused)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];
	struct fake *plain = fake_new(false, true, 0);

	ck_assert_int_eq(netfront_tx_begin(&plain->tx, 4097, iov), -EMSGSIZE);
	ck_assert_int_eq(fake_send(plain, 4096), 0);
	fake_free(plain);
}
END_TEST

START_TEST(ring_takes_256_slots_and_not_one_more)
{
	for (int i = 0; i < 256; i++)
		ck_assert_int_eq(fake_send(fake, 60), 0);
	ck_assert_int_eq(fake_send(fake, 60), -ENOBUFS);
	ck_assert_uint_eq(fake_tx_waiting(fake), 256);
	fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 1);
	ck_assert_int_eq(fake_send(fake, 60), 0);
	ck_assert_int_eq(fake_send(fake, 60), -ENOBUFS);
}
END_TEST

START_TEST(no_two_slots_in_flight_share_a_buffer)
{
	bool used[256] = {false};

	for (int i = 0; i < 256; i++) {
		uint16_t id;

		ck_assert_int_eq(fake_send(fake, 60), 0);
		id = fake_tx_take(fake).id;
		ck_assert(!used[id]);
		used[id] = true;
	}
}
END_TEST

START_TEST(packet_counts_once_all_its_slots_are_answered)
{
	uint16_t ids[3];

	fake_send(fake, 9000);
	for (int i = 0; i < 3; i++)
		ids[i] = fake_tx_take(fake).id;
	fake_tx_answer(fake, ids[2], NETIF_RSP_OKAY); /* any order */
	fake_tx_answer(fake, ids[0], NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 2);
	ck_assert_uint_eq(fake->tx_counters.packets, 0);
	fake_tx_answer(fake, ids[1], NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 1);
	ck_assert_uint_eq(fake->tx_counters.packets, 1);
	ck_assert_uint_eq(fake->tx_counters.bytes, 9000);
	ck_assert_uint_eq(fake->tx_counters.slots, 3);
	ck_assert_uint_eq(fake->tx.nr_free, 256);
}
END_TEST

START_TEST(an_error_on_any_slot_makes_the_packet_an_error)
{
	uint16_t ids[2];

	fake_send(fake, 5000);
	ids[0] = fake_tx_take(fake).id;
	ids[1] = fake_tx_take(fake).id;
	fake_tx_answer(fake, ids[0], NETIF_RSP_OKAY);
	fake_tx_answer(fake, ids[1], NETIF_RSP_ERROR);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 2);
	ck_assert_uint_eq(fake->tx_counters.packets, 0);
	ck_assert_uint_eq(fake->tx_counters.bytes, 0);
	ck_assert_uint_eq(fake->tx_counters.errors, 1);
}
END_TEST

START_TEST(dropped_by_the_backend_is_no_error_unless_a_slot_was)
{
	uint16_t ids[2];

	fake_send(fake, 60);
	fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_DROPPED);
	netfront_tx_reap(&fake->tx);
	ck_assert_uint_eq(fake->tx_counters.dropped, 1);
	ck_assert_uint_eq(fake->tx_counters.errors, 0);
	fake_send(fake, 5000);
	ids[0] = fake_tx_take(fake).id;
	ids[1] = fake_tx_take(fake).id;
	fake_tx_answer(fake, ids[1], NETIF_RSP_ERROR);
	fake_tx_answer(fake, ids[0], NETIF_RSP_DROPPED);
	netfront_tx_reap(&fake->tx);
	ck_assert_uint_eq(fake->tx_counters.dropped, 1);
	ck_assert_uint_eq(fake->tx_counters.errors, 1);
	ck_assert_uint_eq(fake->tx_counters.packets, 0);
}
END_TEST

START_TEST(ring_and_indexes_wrap)
{
	struct fake *late = fake_new(true, true, 0u - 100);

	for (int i = 0; i < 2000; i++) {
		unsigned nr = 1 + i % 3;

		ck_assert_int_eq(fake_send(late, nr * 4096), 0);
		for (unsigned slot = 0; slot < nr; slot++)
			fake_tx_answer(late, fake_tx_take(late).id, NETIF_RSP_OKAY);
		ck_assert_int_eq(netfront_tx_reap(&late->tx), (int)nr);
	}
	ck_assert_uint_eq(late->tx_counters.packets, 2000);
	ck_assert_uint_eq(late->tx.nr_free, 256);
	fake_free(late);
}
END_TEST

START_TEST(hostile_answer_to_an_id_out_of_range)
{
	fake_send(fake, 60);
	fake_tx_answer(fake, 256, NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(hostile_answer_to_an_id_not_in_flight)
{
	fake_send(fake, 60);
	fake_tx_answer(fake, (uint16_t)(fake_tx_take(fake).id + 1), NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(hostile_answer_given_twice)
{
	uint16_t id;

	fake_send(fake, 60);
	fake_send(fake, 60);
	id = fake_tx_take(fake).id;
	fake_tx_answer(fake, id, NETIF_RSP_OKAY);
	fake_tx_answer(fake, id, NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
	ck_assert_uint_eq(fake->tx.nr_free, 255);
}
END_TEST

START_TEST(hostile_answer_twice_to_the_first_slot_of_an_open_packet)
{
	uint16_t id;

	fake_send(fake, 5000);
	id = fake_tx_take(fake).id;
	fake_tx_answer(fake, id, NETIF_RSP_OKAY);
	fake_tx_answer(fake, id, NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
	ck_assert_uint_eq(fake->tx_counters.packets, 0);
}
END_TEST

START_TEST(hostile_answer_of_a_kind_we_never_asked_for)
{
	fake_send(fake, 60);
	fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_NULL);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(hostile_producer_beyond_what_was_sent)
{
	fake_send(fake, 60);
	fake->tx_page->rsp_prod = 2;
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(hostile_producer_backwards)
{
	fake->tx_page->rsp_prod = 0u - 1;
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(hostile_request_producer_does_not_widen_what_is_believed)
{
	fake_send(fake, 60);
	fake->tx_page->req_prod = 200;
	fake->tx_page->rsp_prod = 100;
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

START_TEST(notifies_only_when_the_backend_asked)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];

	netfront_tx_begin(&fake->tx, 60, iov);
	netfront_tx_commit(&fake->tx, 60);
	ck_assert(netfront_tx_publish(&fake->tx)); /* req_event is 1 at first */
	netfront_tx_begin(&fake->tx, 60, iov);
	netfront_tx_commit(&fake->tx, 60);
	ck_assert(!netfront_tx_publish(&fake->tx)); /* it is behind now */
	fake->tx_page->req_event = 3;
	netfront_tx_begin(&fake->tx, 60, iov);
	netfront_tx_commit(&fake->tx, 60);
	ck_assert(netfront_tx_publish(&fake->tx));
	ck_assert(!netfront_tx_publish(&fake->tx)); /* nothing new */
}
END_TEST

START_TEST(arms_for_half_of_what_is_in_flight)
{
	for (int i = 0; i < 100; i++)
		fake_send(fake, 60);
	ck_assert(!netfront_tx_arm(&fake->tx));
	ck_assert_uint_eq(fake->tx_page->rsp_event, 51);
	for (int i = 0; i < 99; i++)
		fake_tx_answer(fake, fake_tx_take(fake).id, NETIF_RSP_OKAY);
	ck_assert(netfront_tx_arm(&fake->tx));
	netfront_tx_reap(&fake->tx);
	ck_assert(!netfront_tx_arm(&fake->tx));
	ck_assert_uint_eq(fake->tx_page->rsp_event, 100); /* the last one is waited for */
}
END_TEST

TCase *case_tx(void)
{
	TCase *tc = tcase_create("tx");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, small_frame_takes_one_slot);
	tcase_add_test(tc, page_sized_frame_takes_one_slot);
	tcase_add_test(tc, first_slot_carries_the_whole_length);
	tcase_add_test(tc, largest_frame_fits_what_a_backend_must_accept);
	tcase_add_test(tc, begin_without_commit_changes_nothing);
	tcase_add_test(tc, commit_of_less_than_begun_uses_fewer_slots);
	tcase_add_test(tc, too_long_or_empty_is_refused);
	tcase_add_test(tc, shorter_than_a_header_is_dropped_and_counted);
	tcase_add_test(tc, without_sg_more_than_a_page_is_refused);
	tcase_add_test(tc, ring_takes_256_slots_and_not_one_more);
	tcase_add_test(tc, no_two_slots_in_flight_share_a_buffer);
	tcase_add_test(tc, packet_counts_once_all_its_slots_are_answered);
	tcase_add_test(tc, an_error_on_any_slot_makes_the_packet_an_error);
	tcase_add_test(tc, dropped_by_the_backend_is_no_error_unless_a_slot_was);
	tcase_add_test(tc, ring_and_indexes_wrap);
	tcase_add_test(tc, hostile_answer_to_an_id_out_of_range);
	tcase_add_test(tc, hostile_answer_to_an_id_not_in_flight);
	tcase_add_test(tc, hostile_answer_given_twice);
	tcase_add_test(tc, hostile_answer_twice_to_the_first_slot_of_an_open_packet);
	tcase_add_test(tc, hostile_answer_of_a_kind_we_never_asked_for);
	tcase_add_test(tc, hostile_producer_beyond_what_was_sent);
	tcase_add_test(tc, hostile_producer_backwards);
	tcase_add_test(tc, hostile_request_producer_does_not_widen_what_is_believed);
	tcase_add_test(tc, notifies_only_when_the_backend_asked);
	tcase_add_test(tc, arms_for_half_of_what_is_in_flight);
	return tc;
}
