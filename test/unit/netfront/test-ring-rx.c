/* SPDX-License-Identifier: MIT */
/* test-ring-rx.c: putting received packets together, posting buffers, with good and bad backends.
 */
#include "test/unit/netfront/fake_ring.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>

static struct fake *fake;
static const struct netfront_frame *frame;

static void setup(void)
{
	fake = fake_new(true, true, 0);
	frame = NULL;
}

static void teardown(void)
{
	fake_free(fake);
}

static int next(void)
{
	return netfront_rx_next(&fake->rx, &frame);
}

static unsigned recycle(void)
{
	unsigned nr;

	netfront_rx_release(&fake->rx);
	nr = netfront_rx_post(&fake->rx);
	netfront_rx_publish(&fake->rx);
	return nr;
}

START_TEST(all_buffers_are_posted_at_first_each_in_its_slot)
{
	ck_assert_uint_eq(fake_rx_waiting(fake), 256);
	for (unsigned i = 0; i < 256; i++) {
		netif_rx_request_t req = fake_rx_take(fake);

		ck_assert_uint_eq(req.id, i);
		ck_assert_uint_eq(req.pad, 0);
		ck_assert_uint_eq(req.gref, FAKE_RX_GREF(i));
	}
}
END_TEST

START_TEST(empty_ring_gives_no_frame)
{
	ck_assert_int_eq(next(), 0);
	ck_assert_uint_eq(recycle(), 0);
}
END_TEST

START_TEST(one_slot_frame)
{
	fake_rx_send(fake, 60, 0xaa, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 60);
	ck_assert_uint_eq(frame->nr_iov, 1);
	ck_assert_ptr_eq(frame->iov[0].iov_base, fake->rx_pages);
	ck_assert_int_eq(next(), 0);
	ck_assert_uint_eq(fake->rx_counters.packets, 1);
	ck_assert_uint_eq(fake->rx_counters.bytes, 60);
}
END_TEST

START_TEST(offset_says_where_a_piece_begins)
{
	fake_rx_answer(fake, fake_rx_take(fake).id, 2, 0, 60);
	ck_assert_int_eq(next(), 1);
	ck_assert_ptr_eq(frame->iov[0].iov_base, fake->rx_pages + 2);
}
END_TEST

START_TEST(chain_is_put_together)
{
	fake_rx_send(fake, 4096, 1, NETRXF_more_data);
	fake_rx_send(fake, 4096, 2, NETRXF_more_data);
	fake_rx_send(fake, 808, 3, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 9000);
	ck_assert_uint_eq(frame->nr_iov, 3);
	ck_assert_uint_eq(((uint8_t *)frame->iov[2].iov_base)[0], 3);
	ck_assert_uint_eq(fake->rx_counters.slots, 3);
}
END_TEST

START_TEST(chain_that_arrives_in_two_parts_keeps_its_buffers)
{
	fake_rx_send(fake, 4096, 1, NETRXF_more_data);
	ck_assert_int_eq(next(), 0);
	ck_assert_uint_eq(recycle(), 0);
	fake_rx_send(fake, 100, 2, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 4196);
	ck_assert_uint_eq(recycle(), 2);
}
END_TEST

START_TEST(eighteen_slots_are_taken)
{
	for (int i = 0; i < 17; i++)
		fake_rx_send(fake, 1000, 0, NETRXF_more_data);
	fake_rx_send(fake, 1000, 0, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->nr_iov, 18);
}
END_TEST

START_TEST(hostile_chain_of_nineteen_slots)
{
	for (int i = 0; i < 18; i++)
		fake_rx_send(fake, 1000, 0, NETRXF_more_data);
	fake_rx_send(fake, 1000, 0, 0);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(empty_piece_is_passed_over)
{
	fake_rx_send(fake, 60, 1, NETRXF_more_data);
	fake_rx_send(fake, 0, 0, NETRXF_more_data);
	fake_rx_send(fake, 40, 2, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 100);
	ck_assert_uint_eq(frame->nr_iov, 2);
}
END_TEST

START_TEST(failed_slot_drops_the_packet_only)
{
	fake_rx_send(fake, 60, 1, NETRXF_more_data);
	fake_rx_answer(fake, fake_rx_take(fake).id, 0, 0, -9); /* a raw GNTST code */
	fake_rx_send(fake, 70, 2, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 70);
	ck_assert_uint_eq(fake->rx_counters.errors, 1);
	ck_assert_uint_eq(fake->rx_counters.packets, 1);
	ck_assert_uint_eq(recycle(), 3);
}
END_TEST

START_TEST(shorter_than_a_header_is_an_error)
{
	fake_rx_send(fake, 13, 1, 0);
	ck_assert_int_eq(next(), 0);
	ck_assert_uint_eq(fake->rx_counters.errors, 1);
}
END_TEST

START_TEST(extra_infos_are_skipped_and_their_buffers_posted_again)
{
	fake_rx_send(fake, 4096, 1, NETRXF_extra_info | NETRXF_more_data);
	fake_rx_extra(fake, XEN_NETIF_EXTRA_TYPE_HASH, XEN_NETIF_EXTRA_FLAG_MORE);
	fake_rx_extra(fake, XEN_NETIF_EXTRA_TYPE_GSO, 0);
	fake_rx_send(fake, 100, 2, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 4196);
	ck_assert_uint_eq(frame->nr_iov, 2);
	ck_assert_uint_eq(fake->rx.nr_extras_skipped, 2);
	ck_assert_uint_eq(recycle(), 4);
}
END_TEST

START_TEST(unknown_extra_drops_the_packet_only)
{
	fake_rx_send(fake, 60, 1, NETRXF_extra_info);
	fake_rx_extra(fake, 77, 0);
	fake_rx_send(fake, 70, 2, 0);
	ck_assert_int_eq(next(), 1);
	ck_assert_uint_eq(frame->len_bytes, 70);
	ck_assert_uint_eq(fake->rx_counters.errors, 1);
}
END_TEST

START_TEST(hostile_extras_without_end)
{
	fake_rx_send(fake, 60, 1, NETRXF_extra_info);
	for (int i = 0; i < 5; i++)
		fake_rx_extra(fake, XEN_NETIF_EXTRA_TYPE_HASH, XEN_NETIF_EXTRA_FLAG_MORE);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_piece_over_the_end_of_its_page)
{
	fake_rx_answer(fake, fake_rx_take(fake).id, 4000, 0, 97);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_piece_longer_than_a_page)
{
	fake_rx_answer(fake, fake_rx_take(fake).id, 0, 0, 4097);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_offset_that_would_wrap)
{
	fake_rx_answer(fake, fake_rx_take(fake).id, 65535, 0, 60);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_answer_in_the_wrong_slot)
{
	fake_rx_take(fake);
	fake_rx_answer(fake, fake_rx_take(fake).id, 0, 0, 60);
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_producer_beyond_what_was_posted)
{
	fake->rx_page->rsp_prod = 257;
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(hostile_producer_backwards)
{
	fake_rx_send(fake, 60, 0, 0);
	ck_assert_int_eq(next(), 1);
	fake->rx_page->rsp_prod = 0;
	ck_assert_int_eq(next(), -EPROTO);
}
END_TEST

START_TEST(slot_rewritten_after_it_was_taken_changes_nothing)
{
	netif_rx_response_t *rsp = &fake->rx_page->ring[0].rsp;

	fake_rx_send(fake, 60, 0, 0);
	ck_assert_int_eq(next(), 1);
	rsp->status = 4096;
	rsp->offset = 4000;
	ck_assert_uint_eq(frame->len_bytes, 60);
	ck_assert_uint_eq(frame->iov[0].iov_len, 60);
}
END_TEST

START_TEST(ring_and_indexes_wrap)
{
	struct fake *late = fake_new(true, true, 0u - 512);

	for (int i = 0; i < 3000; i++) {
		fake_rx_send(late, 100, 1, NETRXF_more_data);
		fake_rx_send(late, 50, 2, 0);
		ck_assert_int_eq(netfront_rx_next(&late->rx, &frame), 1);
		ck_assert_uint_eq(frame->len_bytes, 150);
		netfront_rx_release(&late->rx);
		ck_assert_uint_eq(netfront_rx_post(&late->rx), 2);
		netfront_rx_publish(&late->rx);
	}
	ck_assert_uint_eq(fake_rx_waiting(late), 256);
	fake_free(late);
}
END_TEST

START_TEST(blank_checksums_are_noticed)
{
	fake_rx_send(fake, 60, 0, NETRXF_csum_blank | NETRXF_data_validated);
	ck_assert_int_eq(next(), 1);
	ck_assert(frame->csum_blank);
	ck_assert_uint_eq(fake->rx.nr_csum_blank, 1);
}
END_TEST

START_TEST(notifies_for_buffers_only_when_the_backend_asked)
{
	fake_rx_send(fake, 60, 0, 0);
	ck_assert_int_eq(next(), 1);
	netfront_rx_release(&fake->rx);
	netfront_rx_post(&fake->rx);
	ck_assert(!netfront_rx_publish(&fake->rx)); /* 257 is far past req_event 1 */
	fake->rx_page->req_event = 258;
	fake_rx_send(fake, 60, 0, 0);
	ck_assert_int_eq(next(), 1);
	netfront_rx_release(&fake->rx);
	netfront_rx_post(&fake->rx);
	ck_assert(netfront_rx_publish(&fake->rx));
}
END_TEST

START_TEST(without_rx_notify_never_notifies)
{
	struct fake *quiet = fake_new(true, false, 0);

	fake_rx_send(quiet, 60, 0, 0);
	quiet->rx_page->req_event = 257;
	ck_assert_int_eq(netfront_rx_next(&quiet->rx, &frame), 1);
	netfront_rx_release(&quiet->rx);
	ck_assert_uint_eq(netfront_rx_post(&quiet->rx), 1);
	ck_assert(!netfront_rx_publish(&quiet->rx));
	ck_assert_uint_eq(quiet->rx_page->req_prod, 257);
	fake_free(quiet);
}
END_TEST

START_TEST(arms_for_the_next_answer)
{
	fake_rx_send(fake, 60, 0, 0);
	ck_assert(netfront_rx_arm(&fake->rx));
	ck_assert_int_eq(next(), 1);
	ck_assert(!netfront_rx_arm(&fake->rx));
	ck_assert_uint_eq(fake->rx_page->rsp_event, 2);
}
END_TEST

TCase *case_rx(void)
{
	TCase *tc = tcase_create("rx");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, all_buffers_are_posted_at_first_each_in_its_slot);
	tcase_add_test(tc, empty_ring_gives_no_frame);
	tcase_add_test(tc, one_slot_frame);
	tcase_add_test(tc, offset_says_where_a_piece_begins);
	tcase_add_test(tc, chain_is_put_together);
	tcase_add_test(tc, chain_that_arrives_in_two_parts_keeps_its_buffers);
	tcase_add_test(tc, eighteen_slots_are_taken);
	tcase_add_test(tc, hostile_chain_of_nineteen_slots);
	tcase_add_test(tc, empty_piece_is_passed_over);
	tcase_add_test(tc, failed_slot_drops_the_packet_only);
	tcase_add_test(tc, shorter_than_a_header_is_an_error);
	tcase_add_test(tc, extra_infos_are_skipped_and_their_buffers_posted_again);
	tcase_add_test(tc, unknown_extra_drops_the_packet_only);
	tcase_add_test(tc, hostile_extras_without_end);
	tcase_add_test(tc, hostile_piece_over_the_end_of_its_page);
	tcase_add_test(tc, hostile_piece_longer_than_a_page);
	tcase_add_test(tc, hostile_offset_that_would_wrap);
	tcase_add_test(tc, hostile_answer_in_the_wrong_slot);
	tcase_add_test(tc, hostile_producer_beyond_what_was_posted);
	tcase_add_test(tc, hostile_producer_backwards);
	tcase_add_test(tc, slot_rewritten_after_it_was_taken_changes_nothing);
	tcase_add_test(tc, ring_and_indexes_wrap);
	tcase_add_test(tc, blank_checksums_are_noticed);
	tcase_add_test(tc, notifies_for_buffers_only_when_the_backend_asked);
	tcase_add_test(tc, without_rx_notify_never_notifies);
	tcase_add_test(tc, arms_for_the_next_answer);
	return tc;
}
