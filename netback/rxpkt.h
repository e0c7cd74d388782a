/* SPDX-License-Identifier: MIT */
/*
 * rxpkt.h: one packet to the guest: how many slots it takes, what goes into each, what is answered.
 *
 * The same-slot rule (xen/io/netif.h; Linux's frontend depends on it): a response takes the ring
 * index of the request it consumes, so everything here is in order. Pure; only rxpkt.c dereferences
 * slots of the RX ring.
 */
#ifndef NETBACK_RXPKT_H
#define NETBACK_RXPKT_H

#include <stdbool.h>
#include <stdint.h>
#include <xen/xen.h>

#include "common/xen_barrier.h"
#include <xen/io/netif.h>

#include "netback/copy.h"
#include "netback/queue.h"
#include "netback/txpkt.h"

#define RXPKT_PAGE_BYTES      4096
#define RXPKT_FRAME_MAX_BYTES 65535
/* Ethernet header and one VLAN tag on top of the MTU. */
#define RXPKT_L2_BYTES 18
/* A GSO packet is one of IP, which may be 65535 bytes long. */
#define RXPKT_GSO_MAX_BYTES (65535 + RXPKT_L2_BYTES)
#define RXPKT_SLOTS_MAX	    17

/** What a guest is told of a frame, besides its bytes. */
struct rxpkt_tell {
	uint16_t flags; /* of the first response: NETRXF_csum_blank, _data_validated, _extra_info */
	uint16_t gso_size;
	uint8_t gso_type; /* XEN_NETIF_GSO_TYPE_*; NONE: no extra info */
};

/** The largest frame, in bytes, a guest with @features may be sent, other than a GSO packet. */
unsigned rxpkt_frame_max(const struct xenvif_features *features);
/** The same, or the largest GSO packet if the guest takes any. */
unsigned rxpkt_largest(const struct xenvif_features *features);
/** The ring slots, those of extra infos included, that any one frame can need. */
unsigned rxpkt_slots_max(const struct xenvif_features *features);

/** rxpkt_slots() - slots the bytes of a frame of @len take; an extra info takes one more. */
static inline unsigned rxpkt_slots(unsigned len)
{
	return (len + RXPKT_PAGE_BYTES - 1) / RXPKT_PAGE_BYTES;
}

/** rxpkt_prod_ok() - may the frontend have posted up to @prod? */
static inline bool rxpkt_prod_ok(const netif_rx_back_ring_t *ring, RING_IDX prod)
{
	return !RING_REQUEST_PROD_OVERFLOW(ring, prod) && prod - ring->req_cons <= RING_SIZE(ring);
}

/**
 * rxpkt_plan() - take the requests a frame needs off the ring and add its copies
 * @gso: there will be an extra info: it takes the place of a request, whose buffer goes unused
 * @ids: the requests' ids are stored here, rxpkt_slots(@len) of them
 *
 * The caller has checked that so many requests are posted and that the batch has room.
 * Return: the number of segments added.
 */
unsigned rxpkt_plan(netif_rx_back_ring_t *ring, uint16_t domid, const void *frame, unsigned len,
		    bool gso, uint16_t *ids, struct copy_batch *batch);

/**
 * rxpkt_respond() - the responses of one frame, in order
 * @ok: false: the copy failed; every slot says so, since a frontend drops the whole frame anyway
 */
void rxpkt_respond(netif_rx_back_ring_t *ring, const uint16_t *ids, unsigned len,
		   const struct rxpkt_tell *tell, bool ok);

#endif
