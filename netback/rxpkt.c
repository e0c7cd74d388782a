/* SPDX-License-Identifier: MIT */
/* rxpkt.c: the slots of one frame to the guest. See rxpkt.h. */
#include "netback/rxpkt.h"

#include "common/compiler.h"

BUILD_ASSERT(sizeof(netif_rx_request_t) == 8);
BUILD_ASSERT(sizeof(netif_rx_response_t) == 8);
BUILD_ASSERT(__CONST_RING_SIZE(netif_rx, RXPKT_PAGE_BYTES) == TXPKT_RING_SLOTS);
BUILD_ASSERT(RXPKT_SLOTS_MAX *RXPKT_PAGE_BYTES > RXPKT_FRAME_MAX_BYTES);

unsigned rxpkt_frame_max(const struct xenvif_features *features)
{
	unsigned limit = features->sg ? RXPKT_FRAME_MAX_BYTES : RXPKT_PAGE_BYTES;

	return features->mtu > limit - RXPKT_L2_BYTES ? limit : features->mtu + RXPKT_L2_BYTES;
}

static unsigned slot_len(unsigned len, unsigned slot)
{
	return MIN(len - slot * RXPKT_PAGE_BYTES, (unsigned)RXPKT_PAGE_BYTES);
}

unsigned rxpkt_plan(netif_rx_back_ring_t *ring, uint16_t domid, const void *frame, unsigned len,
		    uint16_t *ids, struct copy_batch *batch)
{
	unsigned nr = rxpkt_slots(len);
	netif_rx_request_t req;

	for (unsigned i = 0; i < nr; i++) {
		RING_COPY_REQUEST(ring, ring->req_cons, &req);
		ring->req_cons++;
		ids[i] = req.id;
		copy_to_guest(batch, domid, req.gref, 0, (const char *)frame + i * RXPKT_PAGE_BYTES,
			      (uint16_t)slot_len(len, i));
	}
	return nr;
}

void rxpkt_respond(netif_rx_back_ring_t *ring, const uint16_t *ids, unsigned len, uint16_t flags,
		   bool ok)
{
	unsigned nr = rxpkt_slots(len);

	for (unsigned i = 0; i < nr; i++) {
		uint16_t more = i + 1 < nr ? NETRXF_more_data : 0;

		*RING_GET_RESPONSE(ring, ring->rsp_prod_pvt) = (netif_rx_response_t){
			.id = ids[i],
			.offset = 0,
			.flags = (uint16_t)(more | (i ? 0 : flags)),
			.status = (int16_t)(ok ? (int)slot_len(len, i) : NETIF_RSP_ERROR),
		};
		ring->rsp_prod_pvt++;
	}
}
