/* SPDX-License-Identifier: MIT */
/*
 * txpkt.c: parse, plan, respond. Every slot is copied out of the ring once; what is validated is
 * the copy, and the copy is all that later stages see (XSA-155).
 */
#include "netback/txpkt.h"

#include <stddef.h>
#include <string.h>

#include "common/compiler.h"

BUILD_ASSERT(sizeof(netif_tx_request_t) == 12);
BUILD_ASSERT(sizeof(netif_tx_response_t) == 4);
BUILD_ASSERT(sizeof(netif_extra_info_t) <= sizeof(netif_tx_request_t));
BUILD_ASSERT(__CONST_RING_SIZE(netif_tx, TXPKT_PAGE_BYTES) == TXPKT_RING_SLOTS);
BUILD_ASSERT(TXPKT_PAGES_MAX *TXPKT_PAGE_BYTES > XEN_NETIF_MAX_TX_SIZE);
BUILD_ASSERT(TXPKT_SEGS_MAX <= COPY_SEGS_MAX);
BUILD_ASSERT(XEN_NETIF_EXTRA_TYPE_XDP < TXPKT_EXTRA_TYPES);

union tx_slot {
	netif_tx_request_t req;
	netif_extra_info_t extra;
};

static void take(netif_tx_back_ring_t *ring, union tx_slot *slot)
{
	RING_COPY_REQUEST(ring, ring->req_cons, &slot->req);
	ring->req_cons++;
}

static void keep(struct txpkt *pkt, const netif_tx_request_t *req)
{
	pkt->slots[pkt->nr_slots++] = (struct txpkt_slot){
		.gref = req->gref,
		.offset = req->offset,
		.size = req->size,
		.id = req->id,
	};
}

/* The first reason stands. */
static void set_drop(struct txpkt *pkt, enum xenvif_drop why)
{
	if (pkt->drop == TXPKT_KEEP)
		pkt->drop = (uint8_t)why;
}

static void keep_extra(struct txpkt *pkt, const netif_extra_info_t *extra, unsigned offered)
{
	if (extra->type >= TXPKT_EXTRA_TYPES || !(offered & 1u << extra->type)) {
		set_drop(pkt, DROP_TX_BAD_EXTRA);
		return;
	}
	pkt->extras |= (uint8_t)(1u << extra->type);
	switch (extra->type) {
	case XEN_NETIF_EXTRA_TYPE_GSO:
		pkt->gso.size = extra->u.gso.size;
		pkt->gso.type = extra->u.gso.type;
		break;
	case XEN_NETIF_EXTRA_TYPE_MCAST_ADD:
	case XEN_NETIF_EXTRA_TYPE_MCAST_DEL:
		memcpy(pkt->mcast.addr, extra->u.mcast.addr, sizeof(pkt->mcast.addr));
		break;
	case XEN_NETIF_EXTRA_TYPE_HASH:
		pkt->hash.type = extra->u.hash.type;
		pkt->hash.algorithm = extra->u.hash.algorithm;
		memcpy(&pkt->hash.value, extra->u.hash.value, sizeof(pkt->hash.value));
		break;
	case XEN_NETIF_EXTRA_TYPE_XDP:
		memcpy(&pkt->xdp_headroom, &extra->u, sizeof(pkt->xdp_headroom));
		break;
	}
}

/* Unknown extras cost the packet, not the vif: a newer guest may just be trying. */
static enum xenvif_fatal parse_extras(netif_tx_back_ring_t *ring, RING_IDX prod, unsigned offered,
				      struct txpkt *pkt)
{
	union tx_slot slot;

	do {
		if (ring->req_cons == prod)
			return FATAL_TX_INCOMPLETE;
		take(ring, &slot);
		pkt->nr_extras++;
		keep_extra(pkt, &slot.extra, offered);
	} while (slot.extra.flags & XEN_NETIF_EXTRA_FLAG_MORE);
	return FATAL_NONE;
}

/* What is left of the whole packet's size when all others have taken theirs is the first slot's. */
static enum xenvif_fatal parse_further(netif_tx_back_ring_t *ring, RING_IDX prod, struct txpkt *pkt)
{
	struct txpkt_slot *first = &pkt->slots[0];
	union tx_slot slot;

	do {
		if (ring->req_cons == prod)
			return FATAL_TX_INCOMPLETE;
		if (pkt->nr_slots == 1 + TXPKT_FURTHER_DROPPED)
			return FATAL_TX_TOO_MANY_SLOTS;
		take(ring, &slot);
		if (slot.req.offset + slot.req.size > TXPKT_PAGE_BYTES)
			return FATAL_TX_PAGE_CROSSING;
		if (pkt->nr_slots >= 1 + TXPKT_FURTHER_MAX)
			set_drop(pkt, DROP_TX_TOO_MANY_SLOTS);
		if (slot.req.size > first->size)
			set_drop(pkt, DROP_TX_SIZE_SUM);
		else
			first->size -= slot.req.size;
		keep(pkt, &slot.req);
	} while (slot.req.flags & NETTXF_more_data);
	return FATAL_NONE;
}

static enum xenvif_fatal parse(netif_tx_back_ring_t *ring, RING_IDX prod, unsigned offered,
			       struct txpkt *pkt)
{
	enum xenvif_fatal fatal = FATAL_NONE;
	union tx_slot slot;

	take(ring, &slot);
	pkt->nr_slots = pkt->nr_extras = 0;
	pkt->extras = 0;
	pkt->drop = TXPKT_KEEP;
	pkt->total = slot.req.size;
	pkt->flags = slot.req.flags;
	keep(pkt, &slot.req);
	if (pkt->flags & NETTXF_extra_info)
		fatal = parse_extras(ring, prod, offered, pkt);
	if (!fatal && pkt->flags & NETTXF_more_data)
		fatal = parse_further(ring, prod, pkt);
	if (fatal || pkt->drop != TXPKT_KEEP)
		return fatal;
	if (pkt->slots[0].offset + pkt->slots[0].size > TXPKT_PAGE_BYTES)
		return FATAL_TX_PAGE_CROSSING;
	if (pkt->total < TXPKT_ETH_BYTES)
		set_drop(pkt, DROP_TX_TOO_SHORT);
	return FATAL_NONE;
}

enum xenvif_fatal txpkt_parse(netif_tx_back_ring_t *ring, RING_IDX prod, unsigned offered,
			      struct txpkt *pkt)
{
	RING_IDX start = ring->req_cons;
	enum xenvif_fatal fatal = parse(ring, prod, offered, pkt);

	if (fatal)
		ring->req_cons = start;
	return fatal;
}

unsigned txpkt_plan(const struct txpkt *pkt, uint16_t domid, struct iovec *iov,
		    struct copy_batch *batch)
{
	unsigned before = batch->nr;
	unsigned room = TXPKT_PAGE_BYTES;

	iov->iov_len = 0;
	for (unsigned i = 0; i < pkt->nr_slots; i++) {
		const struct txpkt_slot *slot = &pkt->slots[i];

		/* A slot of size 0 adds nothing, here or anywhere (XSA-448). */
		for (unsigned done = 0, len; done < slot->size; done += len) {
			if (!room) {
				(++iov)->iov_len = 0;
				room = TXPKT_PAGE_BYTES;
			}
			len = MIN(slot->size - done, room);
			copy_from_guest(batch, domid, slot->gref, (uint16_t)(slot->offset + done),
					(char *)iov->iov_base + iov->iov_len, (uint16_t)len);
			iov->iov_len += len;
			room -= len;
		}
	}
	return batch->nr - before;
}

static void respond_one(netif_tx_back_ring_t *ring, uint16_t id, int16_t status)
{
	*RING_GET_RESPONSE(ring, ring->rsp_prod_pvt) =
		(netif_tx_response_t){.id = id, .status = status};
	ring->rsp_prod_pvt++;
}

void txpkt_respond(netif_tx_back_ring_t *ring, const struct txpkt *pkt, struct netif_status status)
{
	respond_one(ring, pkt->slots[0].id, status.wire);
	for (unsigned i = 0; i < pkt->nr_extras; i++)
		respond_one(ring, 0, NETIF_RSP_NULL);
	for (unsigned i = 1; i < pkt->nr_slots; i++)
		respond_one(ring, pkt->slots[i].id, status.wire);
}
