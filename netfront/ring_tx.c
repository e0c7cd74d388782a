/* SPDX-License-Identifier: MIT */
/*
 * ring_tx.c: guest to backend. Plans a frame onto slots, queues the requests, takes the answers.
 * Touches the ring page and its own tables only. Answers may come in any order: a packet is counted
 * when its last slot is answered.
 */
#include "netfront/ring.h"

#include <errno.h>

BUILD_ASSERT(sizeof(netif_tx_request_t) == 12);
BUILD_ASSERT(sizeof(netif_tx_response_t) == 4);
BUILD_ASSERT(__CONST_RING_SIZE(netif_tx, NETFRONT_PAGE_BYTES) == NETFRONT_RING_SLOTS);
BUILD_ASSERT(NETFRONT_SLOTS_MAX *NETFRONT_PAGE_BYTES >= NETFRONT_FRAME_MAX_BYTES);

void netfront_tx_init(struct netfront_tx *tx, netif_tx_sring_t *sring, uint8_t *pages,
		      const uint32_t *grefs, bool sg, struct netfront_counters *counters)
{
	memset(tx, 0, sizeof(*tx));
	XEN_FRONT_RING_INIT(&tx->ring, sring, NETFRONT_PAGE_BYTES);
	tx->sg = sg;
	tx->pages = pages;
	tx->counters = counters;
	memcpy(tx->grefs, grefs, sizeof(tx->grefs));
	/* The lowest ids are on top, so that a ring in a trace starts at 0. */
	for (unsigned i = 0; i < NETFRONT_RING_SLOTS; i++)
		tx->free_ids[i] = (uint16_t)(NETFRONT_RING_SLOTS - 1 - i);
	tx->nr_free = NETFRONT_RING_SLOTS;
}

static unsigned slots_of(size_t len_bytes)
{
	return (unsigned)DIV_ROUND_UP(len_bytes, NETFRONT_PAGE_BYTES);
}

static uint8_t *page_of(const struct netfront_tx *tx, uint16_t id)
{
	return tx->pages + (size_t)id * NETFRONT_PAGE_BYTES;
}

int netfront_tx_begin(const struct netfront_tx *tx, size_t max_bytes,
		      struct iovec iov[NETFRONT_SLOTS_MAX])
{
	unsigned nr = slots_of(max_bytes);
	size_t left = max_bytes;

	if (!nr || max_bytes > NETFRONT_FRAME_MAX_BYTES || (nr > 1 && !tx->sg))
		return -EMSGSIZE;
	/* Every free id has a free slot: an id is free only after its answer was consumed. */
	if (nr > tx->nr_free)
		return -ENOBUFS;
	for (unsigned i = 0; i < nr; i++) {
		iov[i].iov_base = page_of(tx, tx->free_ids[tx->nr_free - 1 - i]);
		iov[i].iov_len = MIN(left, NETFRONT_PAGE_BYTES);
		left -= iov[i].iov_len;
	}
	return (int)nr;
}

static void queue_slot(struct netfront_tx *tx, uint16_t id, uint16_t head, size_t size, bool more)
{
	netif_tx_request_t *req = RING_GET_REQUEST(&tx->ring, tx->ring.req_prod_pvt);

	req->gref = tx->grefs[id];
	req->offset = 0;
	req->flags = more ? NETTXF_more_data : 0;
	req->id = id;
	req->size = (uint16_t)size;
	tx->ring.req_prod_pvt++;
	tx->slots[id].head = head;
	tx->slots[id].in_flight = true;
}

int netfront_tx_commit(struct netfront_tx *tx, size_t len_bytes)
{
	unsigned nr = slots_of(len_bytes);
	uint16_t head;

	if (len_bytes < NETFRONT_FRAME_MIN_BYTES || len_bytes > NETFRONT_FRAME_MAX_BYTES ||
	    nr > tx->nr_free || (nr > 1 && !tx->sg)) {
		netfront_tx_drop(tx);
		return -EINVAL;
	}
	head = tx->free_ids[tx->nr_free - 1];
	tx->slots[head].nr_unanswered = (uint16_t)nr;
	tx->slots[head].len_bytes = (uint32_t)len_bytes;
	tx->slots[head].status = NETIF_RSP_OKAY;
	for (unsigned i = 0; i < nr; i++) {
		size_t own = MIN(len_bytes - (size_t)i * NETFRONT_PAGE_BYTES, NETFRONT_PAGE_BYTES);

		queue_slot(tx, tx->free_ids[--tx->nr_free], head, i ? own : len_bytes, i + 1 < nr);
	}
	tx->counters->slots += nr;
	return 0;
}

void netfront_tx_drop(struct netfront_tx *tx)
{
	tx->counters->dropped++;
}

bool netfront_tx_publish(struct netfront_tx *tx)
{
	bool notify;

	if (tx->pushed == tx->ring.req_prod_pvt)
		return false;
	RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&tx->ring, notify);
	tx->pushed = tx->ring.req_prod_pvt;
	return notify;
}

static void packet_done(struct netfront_tx *tx, uint16_t head)
{
	struct netfront_tx_slot *first = &tx->slots[head];

	/* The first slot's id was kept back: its record describes the packet. */
	tx->free_ids[tx->nr_free++] = head;
	switch (first->status) {
	case NETIF_RSP_OKAY:
		tx->counters->packets++;
		tx->counters->bytes += first->len_bytes;
		break;
	case NETIF_RSP_DROPPED:
		tx->counters->dropped++;
		break;
	default:
		tx->counters->errors++;
	}
}

static int take_answer(struct netfront_tx *tx, const netif_tx_response_t *rsp)
{
	struct netfront_tx_slot *slot, *first;

	/* We send no extra infos, so NETIF_RSP_NULL answers nothing of ours. */
	if (rsp->id >= NETFRONT_RING_SLOTS || rsp->status > NETIF_RSP_OKAY)
		return -EPROTO;
	slot = &tx->slots[rsp->id];
	if (!slot->in_flight)
		return -EPROTO;
	slot->in_flight = false;
	first = &tx->slots[slot->head];
	/* An error outweighs "dropped" (full, or over a limit: nothing wrong with the packet). */
	if (rsp->status < 0 && first->status != NETIF_RSP_ERROR)
		first->status = rsp->status;
	if (rsp->id != slot->head)
		tx->free_ids[tx->nr_free++] = rsp->id;
	if (!--first->nr_unanswered)
		packet_done(tx, slot->head);
	return 0;
}

int netfront_tx_reap(struct netfront_tx *tx)
{
	RING_IDX prod = READ_ONCE(tx->ring.sring->rsp_prod);
	RING_IDX nr = prod - tx->ring.rsp_cons;
	netif_tx_response_t rsp;
	int err;

	xen_rmb(); /* the answers before the index are complete */
	if (nr > tx->pushed - tx->ring.rsp_cons)
		return -EPROTO;
	while (tx->ring.rsp_cons != prod) {
		RING_COPY_RESPONSE(&tx->ring, tx->ring.rsp_cons, &rsp);
		tx->ring.rsp_cons++;
		err = take_answer(tx, &rsp);
		if (err)
			return err;
	}
	return (int)nr;
}

bool netfront_tx_arm(struct netfront_tx *tx)
{
	netif_tx_sring_t *sring = tx->ring.sring;
	RING_IDX in_flight = tx->pushed - tx->ring.rsp_cons;

	/*
	 * Half: enough room to go on without an event for each answer, and the backend never runs
	 * dry. What remains halves with each event, down to one, so the last answer raises one too.
	 */
	WRITE_ONCE(sring->rsp_event, tx->ring.rsp_cons + in_flight / 2 + 1);
	xen_mb(); /* the index is asked for before the answers are looked at */
	return READ_ONCE(sring->rsp_prod) != tx->ring.rsp_cons;
}
