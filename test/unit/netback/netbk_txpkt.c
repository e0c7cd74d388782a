/* SPDX-License-Identifier: MIT */
/* netbk_txpkt.c: what a guest may publish on a TX ring, and what it gets for the rest. */
#include "netbk_suites.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "netback/txpkt.h"

#define MORE  NETTXF_more_data
#define EXTRA NETTXF_extra_info
#define ALL_EXTRAS                                                                \
	(1u << XEN_NETIF_EXTRA_TYPE_GSO | 1u << XEN_NETIF_EXTRA_TYPE_MCAST_ADD |  \
	 1u << XEN_NETIF_EXTRA_TYPE_MCAST_DEL | 1u << XEN_NETIF_EXTRA_TYPE_HASH | \
	 1u << XEN_NETIF_EXTRA_TYPE_XDP)

static union {
	netif_tx_sring_t sring;
	uint8_t page[4096];
} shared __attribute__((aligned(4096)));

static netif_tx_back_ring_t ring;
static RING_IDX prod;
static struct txpkt pkt;
static struct copy_batch batch;
static uint8_t pages[TXPKT_PAGES_MAX][4096];
static struct iovec iov[TXPKT_PAGES_MAX];

/* A fresh ring that starts at index @start, as after a while of traffic. */
static void start_at(RING_IDX start)
{
	memset(&shared, 0, sizeof(shared));
	shared.sring.req_prod = shared.sring.rsp_prod = start;
	BACK_RING_ATTACH(&ring, &shared.sring, start, 4096);
	prod = start;
	memset(&batch, 0, sizeof(batch));
	memset(&pkt, 0xa5, sizeof(pkt)); /* parse must not depend on what was there */
	for (unsigned i = 0; i < TXPKT_PAGES_MAX; i++)
		iov[i] = (struct iovec){pages[i], 12345};
}

static void setup(void)
{
	start_at(0);
}

static void slot(uint16_t size, uint16_t offset, uint16_t flags)
{
	*RING_GET_REQUEST(&ring, prod) = (netif_tx_request_t){.gref = 1000 + prod,
							      .offset = offset,
							      .flags = flags,
							      .id = (uint16_t)(prod * 7),
							      .size = size};
	shared.sring.req_prod = ++prod;
}

static void extra(uint8_t type, uint8_t flags)
{
	netif_extra_info_t info = {.type = type, .flags = flags};

	info.u.gso.size = 0x1122;
	info.u.gso.type = 1;
	memcpy(RING_GET_REQUEST(&ring, prod), &info, sizeof(info));
	shared.sring.req_prod = ++prod;
}

/* A packet of @nr slots of @size bytes each. */
static void chain(unsigned nr, unsigned size)
{
	slot((uint16_t)(nr * size), 0, nr > 1 ? MORE : 0);
	for (unsigned i = 1; i < nr; i++)
		slot((uint16_t)size, 0, i + 1 < nr ? MORE : 0);
}

static enum xenvif_fatal parse(void)
{
	return txpkt_parse(&ring, prod, ALL_EXTRAS, &pkt);
}

static void respond(int16_t status)
{
	txpkt_respond(&ring, &pkt, (struct netif_status){status});
}

static const netif_tx_response_t *response(RING_IDX i)
{
	return RING_GET_RESPONSE(&ring, i);
}

START_TEST(an_empty_ring_is_fine)
{
	ck_assert(txpkt_prod_ok(&ring, prod));
	ck_assert_uint_eq(ring.req_cons, prod);
}
END_TEST

START_TEST(one_slot)
{
	slot(60, 100, NETTXF_csum_blank | NETTXF_data_validated);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(ring.req_cons, 1);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.nr_slots, 1);
	ck_assert_uint_eq(pkt.nr_extras, 0);
	ck_assert_uint_eq(pkt.total, 60);
	ck_assert_uint_eq(pkt.flags, NETTXF_csum_blank | NETTXF_data_validated);
	ck_assert_uint_eq(pkt.slots[0].gref, 1000);
	ck_assert_uint_eq(pkt.slots[0].offset, 100);
	ck_assert_uint_eq(pkt.slots[0].size, 60);
}
END_TEST

START_TEST(several_slots_and_the_first_has_what_the_others_leave)
{
	slot(3000, 1, MORE);
	slot(1000, 2, MORE);
	slot(500, 3, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.nr_slots, 3);
	ck_assert_uint_eq(pkt.total, 3000);
	ck_assert_uint_eq(pkt.slots[0].size, 1500);
	ck_assert_uint_eq(pkt.slots[2].gref, 1002);
}
END_TEST

START_TEST(many_packets_one_after_the_other)
{
	for (unsigned i = 0; i < 85; i++)
		chain(3, 100);
	for (unsigned i = 0; i < 85; i++) {
		ck_assert_int_eq(parse(), FATAL_NONE);
		ck_assert_uint_eq(pkt.slots[0].id, (uint16_t)(i * 3 * 7));
		respond(NETIF_RSP_OKAY);
	}
	ck_assert_uint_eq(ring.req_cons, prod);
	ck_assert_uint_eq(ring.rsp_prod_pvt, prod);
}
END_TEST

START_TEST(a_packet_across_the_rings_end)
{
	start_at(254);
	chain(4, 200);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.nr_slots, 4);
	ck_assert_uint_eq(pkt.slots[3].gref, 1257);
	respond(NETIF_RSP_OKAY);
	ck_assert_uint_eq(response(257)->id, (uint16_t)(257 * 7));
}
END_TEST

START_TEST(a_packet_across_the_indexes_end)
{
	start_at(UINT32_MAX - 1);
	chain(4, 200);
	ck_assert(txpkt_prod_ok(&ring, prod));
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.nr_slots, 4);
	ck_assert_uint_eq(ring.req_cons, 2);
}
END_TEST

/* Total slots: what a packet of so many comes to. */
static const struct {
	unsigned slots;
	enum xenvif_fatal fatal;
	unsigned drop;
} lengths[] = {
	{17, FATAL_NONE, TXPKT_KEEP},
	{18, FATAL_NONE, TXPKT_KEEP},
	{19, FATAL_NONE, TXPKT_KEEP}, /* first + 18 */
	{20, FATAL_NONE, DROP_TX_TOO_MANY_SLOTS},
	{21, FATAL_NONE, DROP_TX_TOO_MANY_SLOTS},
	{22, FATAL_TX_TOO_MANY_SLOTS, 0},
	{23, FATAL_TX_TOO_MANY_SLOTS, 0},
	{256, FATAL_TX_TOO_MANY_SLOTS, 0},
};

START_TEST(a_chain_of_many_slots)
{
	chain(lengths[_i].slots, 100);
	ck_assert_int_eq(parse(), lengths[_i].fatal);
	if (lengths[_i].fatal) {
		ck_assert_uint_eq(ring.req_cons, 0);
		return;
	}
	ck_assert_uint_eq(pkt.drop, lengths[_i].drop);
	ck_assert_uint_eq(pkt.nr_slots, lengths[_i].slots);
	ck_assert_uint_eq(ring.req_cons, prod);
	respond(NETIF_RSP_ERROR);
	ck_assert_uint_eq(ring.rsp_prod_pvt, prod);
	for (RING_IDX i = 0; i < prod; i++) {
		ck_assert_int_eq(response(i)->status, NETIF_RSP_ERROR);
		ck_assert_uint_eq(response(i)->id, (uint16_t)(i * 7));
	}
}
END_TEST

START_TEST(parts_longer_than_the_whole_drop_the_chain)
{
	slot(1000, 0, MORE);
	slot(600, 0, MORE);
	slot(600, 0, MORE);
	slot(10, 0, 0);
	chain(1, 60);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, DROP_TX_SIZE_SUM);
	ck_assert_uint_eq(pkt.nr_slots, 4);
	ck_assert_uint_eq(ring.req_cons, 4);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
}
END_TEST

START_TEST(a_packet_of_64_kib_wraps_its_size_and_is_dropped)
{
	slot((uint16_t)(17 * 4096), 0, MORE);
	for (unsigned i = 1; i < 17; i++)
		slot(4096, 0, i < 16 ? MORE : 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, DROP_TX_SIZE_SUM);
	ck_assert_uint_eq(ring.req_cons, 17);
}
END_TEST

START_TEST(the_largest_packet)
{
	slot(65535, 0, MORE);
	for (unsigned i = 1; i < 16; i++)
		slot(4096, 0, i < 15 ? MORE : 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.slots[0].size, 65535 - 15 * 4096);
	ck_assert_uint_eq(txpkt_pages(&pkt), 16);
}
END_TEST

START_TEST(slots_of_size_zero_are_skipped)
{
	slot(100, 4096 - 100, MORE);
	slot(0, 4096, MORE);
	slot(0, 0, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.nr_slots, 3);
	ck_assert_uint_eq(txpkt_plan(&pkt, 1, iov, &batch), 1);
	ck_assert_uint_eq(batch.segs[0].len, 100);
	respond(NETIF_RSP_OKAY);
	ck_assert_int_eq(response(1)->status, NETIF_RSP_OKAY);
}
END_TEST

START_TEST(a_first_slot_of_size_zero_is_skipped)
{
	slot(100, 0, MORE);
	slot(100, 8, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(txpkt_plan(&pkt, 1, iov, &batch), 1);
	ck_assert_uint_eq(batch.segs[0].source.foreign.ref, 1001);
	ck_assert_uint_eq(batch.segs[0].source.foreign.offset, 8);
}
END_TEST

START_TEST(a_packet_shorter_than_an_ethernet_header)
{
	chain(1, (unsigned)_i);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, _i < 14 ? DROP_TX_TOO_SHORT : TXPKT_KEEP);
	ck_assert_uint_eq(ring.req_cons, 1);
}
END_TEST

START_TEST(a_tiny_first_slot_of_a_longer_packet_is_kept)
{
	slot(64, 0, MORE);
	slot(60, 0, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
}
END_TEST

static const struct {
	uint16_t offset, size;
	bool fatal;
} crossings[] = {
	{0, 4096, false},  {4082, 14, false},	 {4083, 14, true},
	{1, 4096, true},   {0, 4097, true},	 {4096, 14, true},
	{65535, 14, true}, {65535, 65535, true}, {0, 65535, true},
};

START_TEST(a_first_slot_that_leaves_its_page)
{
	slot(crossings[_i].size, crossings[_i].offset, 0);
	ck_assert_int_eq(parse(), crossings[_i].fatal ? FATAL_TX_PAGE_CROSSING : FATAL_NONE);
}
END_TEST

START_TEST(a_further_slot_that_leaves_its_page)
{
	slot((uint16_t)(crossings[_i].size > 65000 ? 65535 : crossings[_i].size + 64), 0, MORE);
	slot(crossings[_i].size, crossings[_i].offset, 0);
	ck_assert_int_eq(parse(), crossings[_i].fatal ? FATAL_TX_PAGE_CROSSING : FATAL_NONE);
}
END_TEST

START_TEST(a_chain_that_is_not_all_there)
{
	slot(1000, 0, MORE);
	for (int i = 0; i < _i; i++)
		slot(10, 0, MORE);
	ck_assert_int_eq(parse(), FATAL_TX_INCOMPLETE);
	ck_assert_uint_eq(ring.req_cons, 0);
}
END_TEST

START_TEST(an_extra_that_is_not_there)
{
	slot(1000, 0, EXTRA);
	ck_assert_int_eq(parse(), FATAL_TX_INCOMPLETE);
}
END_TEST

START_TEST(a_chain_of_extras_that_is_not_all_there)
{
	slot(1000, 0, EXTRA);
	extra(XEN_NETIF_EXTRA_TYPE_HASH, XEN_NETIF_EXTRA_FLAG_MORE);
	ck_assert_int_eq(parse(), FATAL_TX_INCOMPLETE);
}
END_TEST

START_TEST(data_after_the_extras_that_is_not_there)
{
	slot(1000, 0, EXTRA | MORE);
	extra(XEN_NETIF_EXTRA_TYPE_HASH, 0);
	ck_assert_int_eq(parse(), FATAL_TX_INCOMPLETE);
}
END_TEST

static const struct {
	RING_IDX published;
	bool ok;
} prods[] = {
	{0, true},     {1, true},	    {256, true},	  {257, false},
	{1000, false}, {UINT32_MAX, false}, {0x80000000u, false},
};

START_TEST(how_far_the_producer_index_may_be)
{
	start_at(0xfffffff0u);
	ck_assert_int_eq(txpkt_prod_ok(&ring, 0xfffffff0u + prods[_i].published), prods[_i].ok);
}
END_TEST

START_TEST(the_producer_index_is_measured_from_the_last_answer)
{
	chain(1, 60);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert(txpkt_prod_ok(&ring, 256));
	ck_assert(!txpkt_prod_ok(&ring, 257)); /* one more than there can be unanswered */
	respond(NETIF_RSP_OKAY);
	ck_assert(txpkt_prod_ok(&ring, 257));
	ck_assert(!txpkt_prod_ok(&ring, 258));
}
END_TEST

START_TEST(a_producer_index_that_went_backwards)
{
	chain(2, 60);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert(!txpkt_prod_ok(&ring, 1));
	respond(NETIF_RSP_OKAY);
	ck_assert(!txpkt_prod_ok(&ring, 1));
}
END_TEST

START_TEST(every_kind_of_extra)
{
	slot(1000, 0, EXTRA | MORE);
	for (uint8_t type = 1; type <= 5; type++)
		extra(type, type < 5 ? XEN_NETIF_EXTRA_FLAG_MORE : 0);
	slot(400, 0, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.extras, ALL_EXTRAS);
	ck_assert_uint_eq(pkt.nr_extras, 5);
	ck_assert_uint_eq(pkt.nr_slots, 2);
	ck_assert_uint_eq(pkt.slots[0].size, 600);
	ck_assert_uint_eq(pkt.gso.size, 0x1122);
	ck_assert_uint_eq(pkt.gso.type, 1);
	ck_assert_uint_eq(pkt.xdp_headroom, 0x1122);
	respond(NETIF_RSP_OKAY);
	ck_assert_int_eq(response(0)->status, NETIF_RSP_OKAY);
	for (RING_IDX i = 1; i < 6; i++) {
		ck_assert_int_eq(response(i)->status, NETIF_RSP_NULL);
		ck_assert_uint_eq(response(i)->id, 0);
	}
	ck_assert_int_eq(response(6)->status, NETIF_RSP_OKAY);
	ck_assert_uint_eq(response(6)->id, 6 * 7);
}
END_TEST

START_TEST(an_extra_of_unknown_type_drops_the_packet_only)
{
	static const uint8_t types[] = {0, 6, 7, 8, 31, 32, 33, 255};

	slot(1000, 0, EXTRA | MORE);
	extra(types[_i], XEN_NETIF_EXTRA_FLAG_MORE);
	extra(XEN_NETIF_EXTRA_TYPE_HASH, 0);
	slot(400, 0, 0);
	chain(1, 60);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, DROP_TX_BAD_EXTRA);
	ck_assert_uint_eq(ring.req_cons, 4);
	respond(NETIF_RSP_ERROR);
	ck_assert_int_eq(response(0)->status, NETIF_RSP_ERROR);
	ck_assert_int_eq(response(1)->status, NETIF_RSP_NULL);
	ck_assert_int_eq(response(3)->status, NETIF_RSP_ERROR);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, TXPKT_KEEP);
	ck_assert_uint_eq(pkt.extras, 0);
}
END_TEST

START_TEST(an_extra_that_was_not_offered_drops_the_packet)
{
	slot(1000, 0, EXTRA);
	extra(XEN_NETIF_EXTRA_TYPE_GSO, 0);
	ck_assert_int_eq(txpkt_parse(&ring, prod, 1u << XEN_NETIF_EXTRA_TYPE_HASH, &pkt),
			 FATAL_NONE);
	ck_assert_uint_eq(pkt.drop, DROP_TX_BAD_EXTRA);
	ck_assert_uint_eq(ring.req_cons, 2);
}
END_TEST

START_TEST(a_ring_full_of_extras)
{
	slot(1000, 0, EXTRA);
	for (unsigned i = 0; i < 255; i++)
		extra(XEN_NETIF_EXTRA_TYPE_HASH, i < 254 ? XEN_NETIF_EXTRA_FLAG_MORE : 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(pkt.nr_extras, 255);
	respond(NETIF_RSP_OKAY);
	ck_assert_uint_eq(ring.rsp_prod_pvt, 256);
}
END_TEST

START_TEST(a_slot_is_cut_where_its_destination_page_ends)
{
	slot(9000, 0, MORE);
	slot(4000, 96, MORE);
	slot(4000, 0, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	ck_assert_uint_eq(txpkt_pages(&pkt), 3);
	ck_assert_uint_eq(txpkt_plan(&pkt, 9, iov, &batch), 5);
	/* 1000 | 3096 + 904 | 3192 + 808 */
	ck_assert_uint_eq(batch.segs[1].len, 3096);
	ck_assert_uint_eq(batch.segs[2].len, 904);
	ck_assert_uint_eq(batch.segs[2].source.foreign.offset, 96 + 3096);
	ck_assert_ptr_eq(batch.segs[2].dest.virt, pages[1]);
	ck_assert_uint_eq(batch.segs[4].source.foreign.offset, 3192);
	ck_assert_uint_eq(batch.segs[4].source.foreign.domid, 9);
	ck_assert_uint_eq(iov[0].iov_len, 4096);
	ck_assert_uint_eq(iov[1].iov_len, 4096);
	ck_assert_uint_eq(iov[2].iov_len, 808);
}
END_TEST

START_TEST(slots_rewritten_after_they_were_parsed_change_nothing)
{
	slot(3000, 1, MORE);
	slot(1000, 2, 0);
	ck_assert_int_eq(parse(), FATAL_NONE);
	memset(shared.sring.ring, 0xff, 2 * sizeof(shared.sring.ring[0]));
	ck_assert_uint_eq(txpkt_plan(&pkt, 1, iov, &batch), 2);
	ck_assert_uint_eq(batch.segs[0].len, 2000);
	ck_assert_uint_eq(batch.segs[0].source.foreign.ref, 1000);
	ck_assert_uint_eq(batch.segs[1].len, 1000);
	ck_assert_uint_eq(batch.segs[1].source.foreign.offset, 2);
	respond(NETIF_RSP_OKAY);
	ck_assert_uint_eq(response(0)->id, 0);
	ck_assert_uint_eq(response(1)->id, 7);
}
END_TEST

/* ---- what must hold for any ring whatever ---- */

static void check_kept(void)
{
	unsigned sum = 0, nr_pages = txpkt_pages(&pkt), planned = 0;

	ck_assert_uint_le(pkt.nr_slots, 1 + TXPKT_FURTHER_MAX);
	for (unsigned i = 0; i < pkt.nr_slots; i++) {
		ck_assert_uint_le(pkt.slots[i].offset + pkt.slots[i].size, 4096);
		sum += pkt.slots[i].size;
	}
	ck_assert_uint_eq(sum, pkt.total);
	ck_assert_uint_ge(sum, 14);
	copy_reset(&batch);
	for (unsigned i = 0; i < TXPKT_PAGES_MAX; i++)
		iov[i].iov_len = 0;
	ck_assert_uint_le(txpkt_plan(&pkt, 1, iov, &batch), TXPKT_SEGS_MAX);
	for (unsigned i = 0; i < batch.nr; i++) {
		const xengnttab_grant_copy_segment_t *seg = &batch.segs[i];
		size_t at = (size_t)((uint8_t *)seg->dest.virt - pages[0]);

		ck_assert_uint_gt(seg->len, 0);
		ck_assert_uint_le(seg->source.foreign.offset + seg->len, 4096);
		ck_assert_uint_eq(at, planned); /* packed without a gap, into pages in a row */
		ck_assert_uint_le(at % 4096 + seg->len, 4096);
		planned += seg->len;
	}
	ck_assert_uint_eq(planned, pkt.total);
	ck_assert_uint_le(nr_pages, TXPKT_PAGES_MAX);
}

/* Parse the whole ring. Return: true if it ended by fatal. */
static bool parse_all(void)
{
	while (ring.req_cons != prod) {
		RING_IDX before = ring.req_cons;

		if (txpkt_parse(&ring, prod, ALL_EXTRAS, &pkt)) {
			ck_assert_uint_eq(ring.req_cons, before);
			return true;
		}
		ck_assert_uint_eq(ring.req_cons - before, pkt.nr_slots + pkt.nr_extras);
		ck_assert_uint_le(pkt.nr_slots, TXPKT_SLOTS_MAX);
		ck_assert_uint_le(pkt.drop, TXPKT_KEEP);
		if (pkt.drop == TXPKT_KEEP)
			check_kept();
		respond(NETIF_RSP_OKAY);
		ck_assert_uint_eq(ring.rsp_prod_pvt, ring.req_cons);
	}
	return false;
}

static uint32_t rnd(uint64_t *state)
{
	*state = *state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(*state >> 33);
}

/* Mostly plausible, so that most rings are not over at their first packet. */
static netif_tx_request_t random_slot(uint64_t *state)
{
	static const uint16_t sizes[] = {0, 1, 13, 14, 60, 1000, 1514, 4096, 9000, 65535};
	static const uint16_t flags[] = {0, 0, 0, MORE, MORE, EXTRA, EXTRA | MORE, 0xffff};
	netif_tx_request_t req = {
		.gref = rnd(state),
		.size = sizes[rnd(state) % 10],
		.flags = flags[rnd(state) % 8],
		.id = (uint16_t)rnd(state),
	};

	req.offset = rnd(state) % 16 || req.size > 4096 ? 0 : (uint16_t)(4096 - req.size);
	if (rnd(state) % 64 == 0)
		req.offset = (uint16_t)rnd(state);
	if (rnd(state) % 32 == 0)
		req.size = (uint16_t)rnd(state);
	return req;
}

START_TEST(a_hundred_thousand_random_rings)
{
	uint64_t state = 20101;
	unsigned fatal = 0;

	for (unsigned run = 0; run < 100000; run++) {
		unsigned nr = 1 + rnd(&state) % 24;

		ring.req_cons = ring.rsp_prod_pvt = prod = rnd(&state);
		for (unsigned i = 0; i < nr; i++)
			*RING_GET_REQUEST(&ring, prod++) = random_slot(&state);
		fatal += parse_all();
	}
	/* Both outcomes are met often enough to mean something. */
	ck_assert_uint_gt(fatal, 10000);
	ck_assert_uint_lt(fatal, 99000);
}
END_TEST

static void *scribble(void *arg)
{
	volatile bool *stop = arg;
	netif_tx_back_ring_t at;
	uint64_t state = 5;

	BACK_RING_ATTACH(&at, &shared.sring, 0, 4096);

	while (!*stop) {
		for (unsigned i = 0; i < 256; i++)
			*(volatile netif_tx_request_t *)RING_GET_REQUEST(&at, i) =
				random_slot(&state);
	}
	return NULL;
}

START_TEST(slots_rewritten_while_they_are_parsed)
{
	volatile bool stop = false;
	pthread_t thread;

	ck_assert_int_eq(pthread_create(&thread, NULL, scribble, (void *)&stop), 0);
	for (unsigned run = 0; run < 20000; run++) {
		ring.req_cons = ring.rsp_prod_pvt = run * 40;
		prod = ring.req_cons + 40;
		parse_all();
	}
	stop = true;
	pthread_join(thread, NULL);
}
END_TEST

Suite *txpkt_suite(void)
{
	Suite *suite = suite_create("packets from the guest");
	TCase *tcase = tcase_create("txpkt");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 60);
	tcase_add_test(tcase, an_empty_ring_is_fine);
	tcase_add_test(tcase, one_slot);
	tcase_add_test(tcase, several_slots_and_the_first_has_what_the_others_leave);
	tcase_add_test(tcase, many_packets_one_after_the_other);
	tcase_add_test(tcase, a_packet_across_the_rings_end);
	tcase_add_test(tcase, a_packet_across_the_indexes_end);
	tcase_add_loop_test(tcase, a_chain_of_many_slots, 0, ARRAY_SIZE(lengths));
	tcase_add_test(tcase, parts_longer_than_the_whole_drop_the_chain);
	tcase_add_test(tcase, a_packet_of_64_kib_wraps_its_size_and_is_dropped);
	tcase_add_test(tcase, the_largest_packet);
	tcase_add_test(tcase, slots_of_size_zero_are_skipped);
	tcase_add_test(tcase, a_first_slot_of_size_zero_is_skipped);
	tcase_add_loop_test(tcase, a_packet_shorter_than_an_ethernet_header, 0, 16);
	tcase_add_test(tcase, a_tiny_first_slot_of_a_longer_packet_is_kept);
	tcase_add_loop_test(tcase, a_first_slot_that_leaves_its_page, 0, ARRAY_SIZE(crossings));
	tcase_add_loop_test(tcase, a_further_slot_that_leaves_its_page, 0, ARRAY_SIZE(crossings));
	tcase_add_loop_test(tcase, a_chain_that_is_not_all_there, 0, 21);
	tcase_add_test(tcase, an_extra_that_is_not_there);
	tcase_add_test(tcase, a_chain_of_extras_that_is_not_all_there);
	tcase_add_test(tcase, data_after_the_extras_that_is_not_there);
	tcase_add_loop_test(tcase, how_far_the_producer_index_may_be, 0, ARRAY_SIZE(prods));
	tcase_add_test(tcase, the_producer_index_is_measured_from_the_last_answer);
	tcase_add_test(tcase, a_producer_index_that_went_backwards);
	tcase_add_test(tcase, every_kind_of_extra);
	tcase_add_loop_test(tcase, an_extra_of_unknown_type_drops_the_packet_only, 0, 8);
	tcase_add_test(tcase, an_extra_that_was_not_offered_drops_the_packet);
	tcase_add_test(tcase, a_ring_full_of_extras);
	tcase_add_test(tcase, a_slot_is_cut_where_its_destination_page_ends);
	tcase_add_test(tcase, slots_rewritten_after_they_were_parsed_change_nothing);
	tcase_add_test(tcase, a_hundred_thousand_random_rings);
#ifndef __SANITIZE_THREAD__ /* a data race is the very point */
	tcase_add_test(tcase, slots_rewritten_while_they_are_parsed);
#else
	(void)scribble;
	(void)slots_rewritten_while_they_are_parsed;
#endif
	suite_add_tcase(suite, tcase);
	return suite;
}
