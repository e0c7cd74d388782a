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
#define RXPKT_L2_BYTES	18
#define RXPKT_SLOTS_MAX 16

/** The largest frame, in bytes, a guest with @features may be sent. */
unsigned rxpkt_frame_max(const struct xenvif_features *features);

/** rxpkt_slots() - slots a frame of @len bytes takes. */
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
 * @ids: the requests' ids are stored here, rxpkt_slots(@len) of them
 *
 * The caller has checked that so many requests are posted and that the batch has room.
 * Return: the number of slots, which is the number of segments added.
 */
unsigned rxpkt_plan(netif_rx_back_ring_t *ring, uint16_t domid, const void *frame, unsigned len,
		    uint16_t *ids, struct copy_batch *batch);

/**
 * rxpkt_respond() - the responses of one frame, in order
 * @flags: NETRXF_csum_blank, NETRXF_data_validated: go into the first response
 * @ok: false: the copy failed; every slot says so, since a frontend drops the whole frame anyway
 */
void rxpkt_respond(netif_rx_back_ring_t *ring, const uint16_t *ids, unsigned len, uint16_t flags,
		   bool ok);

#endif
