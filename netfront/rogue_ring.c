/* SPDX-License-Identifier: MIT */
/*
 * rogue_ring.c: what a hostile frontend does to its rings, buffers and event channels. Page 0 holds
 * a proper frame of 60 bytes when a row starts.
 */
#include "netfront/rogue.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#define FRAME_BYTES    60
#define MORE	       NETTXF_more_data
#define REWRITE_ROUNDS 20000
#define STORM_EVENTS   100000
/* Neither ours nor the backend's, and below the reserved ones. */
#define STRANGER_DOMID	   31000
#define UNKNOWN_EXTRA_TYPE 99

static netif_tx_sring_t *tx_page(struct rogue *rogue)
{
	return rogue->queue.tx.ring.sring;
}

static void kick(struct rogue *rogue)
{
	netfront_queue_kick(&rogue->queue, &rogue->hv);
}

static int tx_producer(struct rogue *rogue)
{
	tx_page(rogue)->req_prod += (RING_IDX)rogue->row->number;
	kick(rogue);
	return 0;
}

/* The backend looks at posted buffers when it has a frame for us: an echo has one then. */
static int rx_producer(struct rogue *rogue)
{
	rogue->queue.rx.ring.sring->req_prod += (RING_IDX)rogue->row->number;
	rogue_slot(rogue, 0, 0, FRAME_BYTES, 0);
	rogue_publish(rogue);
	return 0;
}

static int zero_slot(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, MORE);
	rogue_slot(rogue, 1, 0, 0, MORE);
	rogue_slot(rogue, 2, 0, 20, 0);
	rogue_publish(rogue);
	return 0;
}

static int one_slot(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, (unsigned)rogue->row->number, 0);
	rogue_publish(rogue);
	return 0;
}

static int crossing_first(struct rogue *rogue)
{
	rogue_slot(rogue, 0, NETFRONT_PAGE_BYTES - 59, FRAME_BYTES, 0);
	rogue_publish(rogue);
	return 0;
}

static int crossing_further(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, 200, MORE);
	rogue_slot(rogue, 1, NETFRONT_PAGE_BYTES - 99, 100, 0);
	rogue_publish(rogue);
	return 0;
}

/* 16-bit sums must not wrap. */
static int crossing_wrap(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 65535, FRAME_BYTES, 0);
	rogue_publish(rogue);
	return 0;
}

static int parts_exceed_whole(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, 100, MORE);
	rogue_slot(rogue, 1, 0, 60, MORE);
	rogue_slot(rogue, 2, 0, 60, 0);
	rogue_publish(rogue);
	return 0;
}

static int tiny_first(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, MORE);
	rogue_slot(rogue, 1, 0, FRAME_BYTES - 4, 0);
	rogue_publish(rogue);
	return 0;
}

static int chain(struct rogue *rogue)
{
	unsigned nr = (unsigned)rogue->row->number;

	for (unsigned i = 0; i < nr; i++)
		rogue_slot(rogue, i, 0, i ? 10 : FRAME_BYTES + 10 * (nr - 1),
			   i + 1 < nr ? MORE : 0);
	rogue_publish(rogue);
	return 0;
}

static int incomplete(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, 100, MORE);
	rogue_publish(rogue);
	return 0;
}

static void extra(struct rogue *rogue, uint8_t type, uint8_t flags)
{
	netif_tx_front_ring_t *ring = &rogue->queue.tx.ring;
	netif_extra_info_t info = {.type = type, .flags = flags};

	memcpy(RING_GET_REQUEST(ring, ring->req_prod_pvt), &info, sizeof(info));
	ring->req_prod_pvt++;
	rogue->nr_pushed++;
}

static int unknown_extra(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, NETTXF_extra_info);
	extra(rogue, UNKNOWN_EXTRA_TYPE, 0);
	rogue_publish(rogue);
	return 0;
}

static int extra_without_end(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, NETTXF_extra_info);
	extra(rogue, XEN_NETIF_EXTRA_TYPE_HASH, XEN_NETIF_EXTRA_FLAG_MORE);
	rogue_publish(rogue);
	return 0;
}

static int extra_missing(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, NETTXF_extra_info);
	rogue_publish(rogue);
	return 0;
}

static int many_extras(struct rogue *rogue)
{
	rogue_slot(rogue, 0, 0, FRAME_BYTES, NETTXF_extra_info);
	for (int i = 0; i < 100; i++)
		extra(rogue, UNKNOWN_EXTRA_TYPE, i < 99 ? XEN_NETIF_EXTRA_FLAG_MORE : 0);
	rogue_publish(rogue);
	return 0;
}

static void slot_with_gref(struct rogue *rogue, uint32_t gref)
{
	netif_tx_front_ring_t *ring = &rogue->queue.tx.ring;

	rogue_slot(rogue, 0, 0, FRAME_BYTES, 0);
	RING_GET_REQUEST(ring, ring->req_prod_pvt - 1)->gref = gref;
	rogue_publish(rogue);
}

static int bad_gref(struct rogue *rogue)
{
	slot_with_gref(rogue, (uint32_t)rogue->row->number);
	return 0;
}

/* A grant that names another domain, and is still there when the backend tries it. */
static int stranger_gref(struct rogue *rogue)
{
	uint32_t gref;
	void *page = xengntshr_share_pages(rogue->hv.gntshr, STRANGER_DOMID, 1, &gref, 1);

	if (!page)
		return -EOPNOTSUPP;
	slot_with_gref(rogue, gref);
	rogue_collect(rogue, rogue->wait_msec);
	xengntshr_unshare(rogue->hv.gntshr, page, 1);
	return 0;
}

static int revoked_gref(struct rogue *rogue)
{
	uint32_t gref;
	void *page = xengntshr_share_pages(rogue->hv.gntshr, rogue->backend.domid, 1, &gref, 0);

	if (!page)
		return -EOPNOTSUPP;
	xengntshr_unshare(rogue->hv.gntshr, page, 1);
	slot_with_gref(rogue, gref);
	return 0;
}

/* One bad part spoils the packet; its good parts must not leak out. */
static int bad_gref_in_chain(struct rogue *rogue)
{
	netif_tx_front_ring_t *ring = &rogue->queue.tx.ring;

	rogue_slot(rogue, 0, 0, 80, MORE);
	rogue_slot(rogue, 1, 0, 20, 0);
	RING_GET_REQUEST(ring, ring->req_prod_pvt - 1)->gref = UINT32_MAX;
	rogue_publish(rogue);
	return 0;
}

/* Before the backend connects: all posted buffers are such as it may only read. */
static int readonly_rx(struct rogue *rogue)
{
	for (unsigned i = 0; i < NETFRONT_RING_SLOTS; i++)
		RING_GET_REQUEST(&rogue->queue.rx.ring, i)->gref = rogue->queue.tx.grefs[i];
	return 0;
}

static int no_rx_buffers(struct rogue *rogue)
{
	rogue->queue.rx.ring.sring->req_prod = 0;
	return 0;
}

struct rewriter {
	netif_tx_sring_t *page;
	const netif_tx_request_t *faces;
	unsigned nr_faces;
	bool stop; /* atomic */
};

/* What a slot looks like from one moment to the next. Fatal ones cost the vif, mild ones packets.
 */
static const netif_tx_request_t fatal_faces[] = {
	{.offset = 0, .size = 60},
	{.offset = 4000, .size = 4096},
	{.offset = 65535, .size = 65535, .flags = 0xffff},
	{.offset = 0, .size = 0, .gref = UINT32_MAX},
};
static const netif_tx_request_t mild_faces[] = {
	{.offset = 0, .size = 60},
	{.offset = 196, .size = 3900},
	{.offset = 1, .size = 0},
	{.offset = 77, .size = 13, .gref = UINT32_MAX},
};

static void *rewrite(void *arg)
{
	struct rewriter *rewriter = arg;

	for (unsigned n = 0; !__atomic_load_n(&rewriter->stop, __ATOMIC_RELAXED); n++) {
		netif_tx_request_t *req = &rewriter->page->ring[n % NETFRONT_RING_SLOTS].req;
		const netif_tx_request_t *face = &rewriter->faces[n / 7 % rewriter->nr_faces];

		WRITE_ONCE(req->offset, face->offset);
		WRITE_ONCE(req->size, face->size);
		WRITE_ONCE(req->flags, face->flags);
		if (face->gref)
			WRITE_ONCE(req->gref, face->gref);
	}
	return NULL;
}

static int slots_rewritten(struct rogue *rogue)
{
	bool mild = rogue->row->number;
	struct rewriter rewriter = {
		.page = tx_page(rogue),
		.faces = mild ? mild_faces : fatal_faces,
		.nr_faces = mild ? ARRAY_SIZE(mild_faces) : ARRAY_SIZE(fatal_faces),
	};
	pthread_t thread;

	if (pthread_create(&thread, NULL, rewrite, &rewriter))
		return -EAGAIN;
	for (int i = 0; i < REWRITE_ROUNDS; i++) {
		if (RING_FREE_REQUESTS(&rogue->queue.tx.ring) > 0) {
			rogue_slot(rogue, 0, 0, FRAME_BYTES, 0);
			rogue_publish(rogue);
		}
		if (RING_HAS_UNCONSUMED_RESPONSES(&rogue->queue.tx.ring))
			rogue_collect(rogue, 1);
	}
	__atomic_store_n(&rewriter.stop, true, __ATOMIC_RELAXED);
	pthread_join(thread, NULL);
	return 0;
}

static int event_storm(struct rogue *rogue)
{
	for (int i = 0; i < STORM_EVENTS; i++)
		kick(rogue);
	return 0;
}

/* Answers are the backend's to write; what it does next must not follow ours. */
static int answers_scribbled(struct rogue *rogue)
{
	tx_page(rogue)->rsp_prod += 100;
	tx_page(rogue)->rsp_event = 77;
	tx_page(rogue)->req_event = 12345;
	rogue_slot(rogue, 0, 0, FRAME_BYTES, 0);
	rogue_publish(rogue);
	rogue_sleep_msec(100);
	return 0;
}

#define PROD_TEXT "more requests published"

const struct rogue_row rogue_ring_rows[] = {
	{"tx-prod-runaway", "request producer 257 ahead", true, tx_producer, .expect = ROGUE_LOST,
	 .number = NETFRONT_RING_SLOTS + 1, .counter = PROD_TEXT},
	{"tx-prod-far", "request producer 2^31 ahead", true, tx_producer, .expect = ROGUE_LOST,
	 .number = 0x80000000L, .counter = PROD_TEXT},
	{"tx-prod-backwards", "request producer back by one", true, tx_producer,
	 .expect = ROGUE_LOST, .number = -1, .counter = PROD_TEXT},
	{"rx-prod-runaway", "receive producer 257 ahead (port: echo)", true, rx_producer,
	 .expect = ROGUE_LOST, .number = NETFRONT_RING_SLOTS + 1, .counter = PROD_TEXT},
	{"rx-prod-backwards", "receive producer back by 257 (port: echo)", true, rx_producer,
	 .expect = ROGUE_LOST, .number = -(long)NETFRONT_RING_SLOTS - 1, .counter = PROD_TEXT},
	{"tx-zero-slot", "a part of size 0 (XSA-448)", true, zero_slot, .expect = ROGUE_SERVED,
	 .answers = {.okay = 3}},
	{"tx-zero-packet", "a packet of size 0", true, one_slot, .expect = ROGUE_SERVED,
	 .number = 0, .answers = {.error = 1}, .counter = "tx_too_short"},
	{"tx-short", "a packet of 13 bytes", true, one_slot, .expect = ROGUE_SERVED, .number = 13,
	 .answers = {.error = 1}, .counter = "tx_too_short"},
	{"tx-tiny-first", "a first part of 4 bytes", true, tiny_first, .expect = ROGUE_SERVED,
	 .answers = {.okay = 2}},
	{"tx-crossing", "a first part over the end of its page", true, crossing_first,
	 .expect = ROGUE_LOST, .counter = "crosses its page"},
	{"tx-crossing-further", "a later part over the end of its page", true, crossing_further,
	 .expect = ROGUE_LOST, .counter = "crosses its page"},
	{"tx-crossing-wrap", "offset plus size wraps 16 bits", true, crossing_wrap,
	 .expect = ROGUE_LOST, .counter = "crosses its page"},
	{"tx-sum", "parts longer than the whole", true, parts_exceed_whole, .expect = ROGUE_SERVED,
	 .answers = {.error = 3}, .counter = "tx_size_sum"},
	{"tx-chain-18", "18 slots: what every backend takes", true, chain, .expect = ROGUE_SERVED,
	 .number = 18, .answers = {.okay = 18}},
	{"tx-chain-19", "first and 18 further slots", true, chain, .expect = ROGUE_SERVED,
	 .number = 19, .answers = {.okay = 19}},
	{"tx-chain-20", "first and 19 further slots", true, chain, .expect = ROGUE_SERVED,
	 .number = 20, .answers = {.error = 20}, .counter = "tx_too_many_slots"},
	{"tx-chain-21", "first and 20 further slots", true, chain, .expect = ROGUE_SERVED,
	 .number = 21, .answers = {.error = 21}, .counter = "tx_too_many_slots"},
	{"tx-chain-22", "first and 21 further slots", true, chain, .expect = ROGUE_LOST,
	 .number = 22, .counter = "too many slots"},
	{"tx-chain-256", "the whole ring is one packet", true, chain, .expect = ROGUE_LOST,
	 .number = 256, .counter = "too many slots"},
	{"tx-incomplete", "more data on the last slot", true, incomplete, .expect = ROGUE_LOST,
	 .counter = "not complete"},
	{"tx-extra-unknown", "extra info of an unknown type", true, unknown_extra,
	 .expect = ROGUE_SERVED, .answers = {.error = 1, .null = 1}, .counter = "tx_bad_extra"},
	{"tx-extra-endless", "more extra info on the last slot", true, extra_without_end,
	 .expect = ROGUE_LOST, .counter = "not complete"},
	{"tx-extra-missing", "extra info promised, none there", true, extra_missing,
	 .expect = ROGUE_LOST, .counter = "not complete"},
	{"tx-extra-many", "100 unknown extra infos", true, many_extras, .expect = ROGUE_SERVED,
	 .answers = {.error = 1, .null = 100}, .counter = "tx_bad_extra"},
	{"tx-bad-gref", "the largest grant reference", true, bad_gref, .expect = ROGUE_SERVED,
	 .number = 0xffffffffL, .answers = {.error = 1}, .counter = "tx_copy"},
	{"tx-bad-gref-chain", "a bad reference in the second slot", true, bad_gref_in_chain,
	 .expect = ROGUE_SERVED, .answers = {.error = 2}, .counter = "tx_copy"},
	{"tx-stranger-gref", "a grant to another domain", true, stranger_gref,
	 .expect = ROGUE_SERVED, .answers = {.error = 1}, .counter = "tx_copy"},
	{"tx-revoked-gref", "a grant that was ended", true, revoked_gref, .expect = ROGUE_SERVED,
	 .answers = {.error = 1}, .counter = "tx_copy"},
	{"rx-readonly-gref", "receive buffers granted read-only (port: echo)", false, readonly_rx,
	 .expect = ROGUE_SERVED, .counter = "rx_copy"},
	{"rx-none", "no receive buffers at all", false, no_rx_buffers, .expect = ROGUE_SERVED},
	{"tx-rewritten", "slots rewritten to fatal ones after they were shown", true,
	 slots_rewritten, .expect = ROGUE_EITHER},
	{"tx-rewritten-mild", "slots rewritten to wrong ones after they were shown", true,
	 slots_rewritten, .expect = ROGUE_SERVED, .any_answers = true, .number = 1},
	{"tx-answers-scribbled", "the backend's indexes overwritten", true, answers_scribbled,
	 .expect = ROGUE_SERVED, .answers = {.okay = 1}},
	{"event-storm", "events without work", true, event_storm, .expect = ROGUE_SERVED},
	{.name = NULL},
};
