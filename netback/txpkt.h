/* SPDX-License-Identifier: MIT */
/*
 * txpkt.h: one packet from the guest as a value: a validated private copy of its ring slots.
 *
 * The stages are pure: parse reads the ring once and does no I/O, plan turns the packet into copy
 * segments, respond writes the responses. All of them work on a ring in ordinary memory. Only
 * txpkt.c dereferences slots of the TX ring. Wire format: xen/io/netif.h, "Guest transmit".
 */
#ifndef NETBACK_TXPKT_H
#define NETBACK_TXPKT_H

#include <stdint.h>
#include <sys/uio.h>
#include <xen/xen.h>

#include "common/xen_barrier.h"
#include <xen/io/netif.h>

#include "netback/copy.h"
#include "netback/queue.h"

#define TXPKT_RING_SLOTS 256
#define TXPKT_PAGE_BYTES 4096
#define TXPKT_ETH_BYTES	 14

/*
 * Slots beyond the first. A frontend may use XEN_NETIF_NR_SLOTS_MIN of them, as it always could
 * with Linux's backend; one or two more come from frontends built with another MAX_SKB_FRAGS and
 * cost only the packet; beyond that it is malice.
 */
#define TXPKT_FURTHER_MAX     XEN_NETIF_NR_SLOTS_MIN
#define TXPKT_FURTHER_DROPPED 20
#define TXPKT_SLOTS_MAX	      (1 + TXPKT_FURTHER_DROPPED)

/* Pages and copy segments one accepted packet can need: 65535 bytes, each slot cut at most once
 * more for every page the packet is packed into. */
#define TXPKT_PAGES_MAX 16
#define TXPKT_SEGS_MAX	(1 + TXPKT_FURTHER_MAX + TXPKT_PAGES_MAX - 1)

/* Not in Xen's header: Linux's extra info for XDP headroom. */
#ifndef XEN_NETIF_EXTRA_TYPE_XDP
#define XEN_NETIF_EXTRA_TYPE_XDP 5
#endif
#define TXPKT_EXTRA_TYPES 6

/** A status on the wire (NETIF_RSP_*), which cannot be mixed up with an errno. */
struct netif_status {
	int16_t wire;
};

struct txpkt_slot {
	grant_ref_t gref;
	uint16_t offset;
	uint16_t size; /* of the first slot: its own part, not the whole packet's */
	uint16_t id;
};

struct txpkt {
	uint16_t nr_slots;  /* data slots consumed, at most TXPKT_SLOTS_MAX */
	uint16_t nr_extras; /* extra slots consumed, between the first and the second data slot */
	uint16_t total;	    /* bytes of the whole packet */
	uint16_t flags;	    /* NETTXF_* of the first slot */
	uint8_t extras;	    /* bit (1 << type) for each extra seen */
	uint8_t drop;	    /* enum xenvif_drop, or TXPKT_KEEP */
	struct txpkt_slot slots[TXPKT_SLOTS_MAX];
	struct {
		uint16_t size;
		uint8_t type;
	} gso;
	struct {
		uint8_t addr[6];
	} mcast;
	struct {
		uint8_t type, algorithm;
		uint32_t value;
	} hash;
	uint16_t xdp_headroom;
};
#define TXPKT_KEEP NR_XENVIF_DROPS

/**
 * txpkt_parse() - take the next packet off the ring
 * @ring: req_cons moves past the packet, unless the result is fatal: then it stays
 * @prod: the producer index read once by the caller, different from @ring->req_cons and checked by
 *	txpkt_prod_ok()
 * @offered: bit (1 << type) for each extra info type this connection may use
 *
 * A packet that is not to be delivered has ->drop set; it still must be answered.
 * Return: FATAL_NONE, or why the frontend loses its vif.
 */
enum xenvif_fatal txpkt_parse(netif_tx_back_ring_t *ring, RING_IDX prod, unsigned offered,
			      struct txpkt *pkt);

/** txpkt_prod_ok() - may the frontend have published up to @prod? */
static inline bool txpkt_prod_ok(const netif_tx_back_ring_t *ring, RING_IDX prod)
{
	return !RING_REQUEST_PROD_OVERFLOW(ring, prod) && prod - ring->req_cons <= RING_SIZE(ring);
}

/** txpkt_pages() - pages of 4 KiB the packet fills. */
static inline unsigned txpkt_pages(const struct txpkt *pkt)
{
	return (pkt->total + TXPKT_PAGE_BYTES - 1) / TXPKT_PAGE_BYTES;
}

/**
 * txpkt_plan() - add the copies that pack @pkt into pages
 * @iov: txpkt_pages() entries, in which the bases are set; plan sets the lengths
 *
 * The batch must have room for TXPKT_SEGS_MAX. Return: the number of segments added.
 */
unsigned txpkt_plan(const struct txpkt *pkt, uint16_t domid, struct iovec *iov,
		    struct copy_batch *batch);

/** txpkt_respond() - one response per slot, in order: @status, and NULL for the extras. */
void txpkt_respond(netif_tx_back_ring_t *ring, const struct txpkt *pkt, struct netif_status status);

#endif
