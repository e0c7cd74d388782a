/* SPDX-License-Identifier: MIT */
/* netbk_rxpkt.c: the slots of a frame to the guest. */
#include "netbk_suites.h"

#include <string.h>
#include <xen/grant_table.h>

#include "netback/rxpkt.h"

static union {
	netif_rx_sring_t sring;
	uint8_t page[4096];
} shared __attribute__((aligned(4096)));

static netif_rx_back_ring_t ring;
static struct copy_batch batch;
static uint16_t ids[RXPKT_SLOTS_MAX];
static uint8_t frame[65536];

static void start_at(RING_IDX start)
{
	memset(&shared, 0, sizeof(shared));
	BACK_RING_ATTACH(&ring, &shared.sring, start, 4096);
	copy_reset(&batch);
	for (RING_IDX i = start; i != start + 256; i++) {
		*RING_GET_REQUEST(&ring, i) = (netif_rx_request_t){
			.id = (uint16_t)(i ^ 0x5a5a), .pad = 0xffff, .gref = 500 + i};
	}
}

static void setup(void)
{
	start_at(0);
}

static const netif_rx_response_t *response(RING_IDX i)
{
	return RING_GET_RESPONSE(&ring, i);
}

static const struct {
	unsigned len, slots;
} lengths[] = {
	{14, 1},   {60, 1},   {1514, 1}, {4095, 1},   {4096, 1},
	{4097, 2}, {8192, 2}, {8193, 3}, {61440, 15}, {65535, 16},
};

START_TEST(a_frame_takes_a_slot_for_every_page)
{
	unsigned len = lengths[_i].len, sum = 0;

	ck_assert_uint_eq(rxpkt_slots(len), lengths[_i].slots);
	ck_assert_uint_eq(rxpkt_plan(&ring, 3, frame, len, ids, &batch), lengths[_i].slots);
	ck_assert_uint_eq(batch.nr, lengths[_i].slots);
	ck_assert_uint_eq(ring.req_cons, lengths[_i].slots);
	for (unsigned i = 0; i < batch.nr; i++) {
		ck_assert_int_eq(batch.segs[i].flags, GNTCOPY_dest_gref);
		ck_assert_ptr_eq(batch.segs[i].source.virt, frame + i * 4096);
		ck_assert_uint_eq(batch.segs[i].dest.foreign.ref, 500 + i);
		ck_assert_uint_eq(batch.segs[i].dest.foreign.offset, 0);
		ck_assert_uint_eq(batch.segs[i].dest.foreign.domid, 3);
		ck_assert_uint_le(batch.segs[i].len, 4096);
		sum += batch.segs[i].len;
	}
	ck_assert_uint_eq(sum, len);
}
END_TEST

START_TEST(responses_take_the_place_of_their_requests)
{
	unsigned len = lengths[_i].len, slots = lengths[_i].slots, sum = 0;

	start_at(250); /* across the ring's end */
	rxpkt_plan(&ring, 3, frame, len, ids, &batch);
	rxpkt_respond(&ring, ids, len, NETRXF_csum_blank | NETRXF_data_validated, true);
	ck_assert_uint_eq(ring.rsp_prod_pvt, 250 + slots);
	for (unsigned i = 0; i < slots; i++) {
		const netif_rx_response_t *rsp = response(250 + i);
		uint16_t flags = i + 1 < slots ? NETRXF_more_data : 0;

		if (!i)
			flags |= NETRXF_csum_blank | NETRXF_data_validated;
		ck_assert_uint_eq(rsp->id, (uint16_t)((250 + i) ^ 0x5a5a));
		ck_assert_uint_eq(rsp->offset, 0);
		ck_assert_uint_eq(rsp->flags, flags);
		ck_assert_int_gt(rsp->status, 0);
		sum += (unsigned)rsp->status;
	}
	ck_assert_uint_eq(sum, len);
}
END_TEST

START_TEST(a_failed_copy_is_told_in_every_slot_of_the_frame)
{
	rxpkt_plan(&ring, 3, frame, 9000, ids, &batch);
	rxpkt_respond(&ring, ids, 9000, 0, false);
	for (RING_IDX i = 0; i < 3; i++) {
		ck_assert_int_lt(response(i)->status, 0);
		ck_assert_uint_eq(response(i)->flags, i < 2 ? NETRXF_more_data : 0);
		ck_assert_uint_eq(response(i)->id, (uint16_t)(i ^ 0x5a5a));
	}
}
END_TEST

START_TEST(requests_rewritten_after_planning_change_nothing)
{
	rxpkt_plan(&ring, 3, frame, 5000, ids, &batch);
	memset(shared.sring.ring, 0xee, 2 * sizeof(shared.sring.ring[0]));
	rxpkt_respond(&ring, ids, 5000, 0, true);
	ck_assert_uint_eq(response(0)->id, 0x5a5a);
	ck_assert_uint_eq(response(1)->id, 1 ^ 0x5a5a);
	ck_assert_uint_eq(batch.segs[1].dest.foreign.ref, 501);
}
END_TEST

static const struct {
	bool sg;
	unsigned mtu, frame_max;
} limits[] = {
	{false, 1500, 1518},	   {true, 1500, 1518},	      {false, 9000, 4096},
	{true, 9000, 9018},	   {true, 65517, 65535},      {true, 65535, 65535},
	{true, UINT32_MAX, 65535}, {false, UINT32_MAX, 4096}, {false, 0, 18},
};

START_TEST(the_largest_frame_of_each_guest)
{
	struct xenvif_features features = {.sg = limits[_i].sg, .mtu = limits[_i].mtu};

	ck_assert_uint_eq(rxpkt_frame_max(&features), limits[_i].frame_max);
	if (!limits[_i].sg)
		ck_assert_uint_eq(rxpkt_slots(rxpkt_frame_max(&features)), 1);
	ck_assert_uint_le(rxpkt_slots(rxpkt_frame_max(&features)), XEN_NETIF_NR_SLOTS_MIN);
}
END_TEST

START_TEST(how_far_the_producer_index_may_be)
{
	ck_assert(rxpkt_prod_ok(&ring, 0));
	ck_assert(rxpkt_prod_ok(&ring, 256));
	ck_assert(!rxpkt_prod_ok(&ring, 257));
	ck_assert(!rxpkt_prod_ok(&ring, UINT32_MAX));
	rxpkt_plan(&ring, 3, frame, 60, ids, &batch);
	ck_assert(!rxpkt_prod_ok(&ring, 0)); /* backwards */
	ck_assert(!rxpkt_prod_ok(&ring, 257));
	rxpkt_respond(&ring, ids, 60, 0, true);
	ck_assert(rxpkt_prod_ok(&ring, 257));
}
END_TEST

Suite *rxpkt_suite(void)
{
	Suite *suite = suite_create("frames to the guest");
	TCase *tcase = tcase_create("rxpkt");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_loop_test(tcase, a_frame_takes_a_slot_for_every_page, 0, ARRAY_SIZE(lengths));
	tcase_add_loop_test(tcase, responses_take_the_place_of_their_requests, 0,
			    ARRAY_SIZE(lengths));
	tcase_add_test(tcase, a_failed_copy_is_told_in_every_slot_of_the_frame);
	tcase_add_test(tcase, requests_rewritten_after_planning_change_nothing);
	tcase_add_loop_test(tcase, the_largest_frame_of_each_guest, 0, ARRAY_SIZE(limits));
	tcase_add_test(tcase, how_far_the_producer_index_may_be);
	suite_add_tcase(suite, tcase);
	return suite;
}
