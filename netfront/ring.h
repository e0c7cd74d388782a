/* SPDX-License-Identifier: MIT */
/*
 * ring.h: the frontend's half of one transmit and one receive ring (xen/io/netif.h), as stages that
 * touch nothing but the ring page, the buffer pages and their own state: no event channel, no
 * xenstore, no file descriptor. They run on shared pages and on ordinary memory alike.
 *
 * The backend is not trusted. A slot is copied once, the copy is checked, and an answer that breaks
 * the protocol is -EPROTO: the caller ends the connection. Nothing the backend writes is ever used
 * as an index before it was checked, and no index of ours is read back from the shared page.
 *
 * Single-threaded: a ring belongs to the thread that runs its queue.
 */
#ifndef NETFRONT_RING_H
#define NETFRONT_RING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/uio.h>

#include "common/compiler.h"
#include "common/xen_barrier.h"

#include <xen/xen.h>
#include <xen/grant_table.h>
#include <xen/io/netif.h>

#define NETFRONT_PAGE_BYTES 4096u
#define NETFRONT_RING_SLOTS 256u
/* What a backend must accept, and the most we take in one received packet (xen/io/netif.h). */
#define NETFRONT_SLOTS_MAX	 XEN_NETIF_NR_SLOTS_MIN
#define NETFRONT_FRAME_MAX_BYTES XEN_NETIF_MAX_TX_SIZE
#define NETFRONT_FRAME_MIN_BYTES 14u

/** What went over a ring. Bytes are frame bytes. Worker only; survive reconnects. */
struct netfront_counters {
	uint64_t packets;
	uint64_t bytes;
	uint64_t slots;
	uint64_t dropped;  /* does not fit, nobody to give it to, or the backend said "dropped" */
	uint64_t errors;   /* the backend answered with an error, or the packet makes no sense */
	uint64_t notifies; /* events we sent */
};

/** A frame in pieces; the pieces lie in buffer pages and stay valid until the next call. */
struct netfront_frame {
	struct iovec iov[NETFRONT_SLOTS_MAX];
	unsigned nr_iov;
	size_t len_bytes;
	bool csum_blank;
};

/* ---- transmit: guest to backend ---- */

struct netfront_tx_slot {
	uint16_t head;		/* id of the packet's first slot */
	uint16_t nr_unanswered; /* of the whole packet; meaningful in the first slot */
	uint32_t len_bytes;	/* of the whole packet; meaningful in the first slot */
	bool in_flight;
	int16_t status; /* worst answer so far; meaningful in the first slot */
};

struct netfront_tx {
	netif_tx_front_ring_t ring;
	RING_IDX pushed; /* request producer the backend has been shown */
	bool sg;
	uint8_t *pages;
	uint32_t grefs[NETFRONT_RING_SLOTS];
	struct netfront_tx_slot slots[NETFRONT_RING_SLOTS];
	uint16_t free_ids[NETFRONT_RING_SLOTS];
	unsigned nr_free;
	struct netfront_counters *counters;
};

/**
 * netfront_tx_init() - an empty ring
 * @sring: the ring page, initialised here (only a frontend does that)
 * @pages: NETFRONT_RING_SLOTS buffer pages; @grefs: their grant references (copied)
 * @sg: may a packet use more than one slot
 */
void netfront_tx_init(struct netfront_tx *tx, netif_tx_sring_t *sring, uint8_t *pages,
		      const uint32_t *grefs, bool sg, struct netfront_counters *counters);

/**
 * netfront_tx_begin() - room for a frame of up to @max_bytes
 * @iov: where to write it; pieces of a page each
 *
 * Changes nothing: a second begin without a commit returns the same room.
 * Return: number of pieces; -ENOBUFS if the ring is too full now; -EMSGSIZE if such a frame can
 * never be sent (nothing is counted: netfront_tx_drop() does).
 */
int netfront_tx_begin(const struct netfront_tx *tx, size_t max_bytes,
		      struct iovec iov[NETFRONT_SLOTS_MAX]);

/**
 * netfront_tx_commit() - queue the @len_bytes written to what begin returned
 *
 * The first slot carries the length of the whole packet. The backend sees nothing before publish.
 * Return: 0, or -EINVAL (counted as dropped) if @len_bytes is no frame.
 */
int netfront_tx_commit(struct netfront_tx *tx, size_t len_bytes);

/** netfront_tx_drop() - count a frame that was not sent. */
void netfront_tx_drop(struct netfront_tx *tx);

/** netfront_tx_publish() - show the queued requests. Return: must the backend be notified? */
bool netfront_tx_publish(struct netfront_tx *tx);

/** netfront_tx_reap() - take all answers. Return: how many, or -EPROTO. */
int netfront_tx_reap(struct netfront_tx *tx);

/**
 * netfront_tx_arm() - ask for an event once about half of what is in flight is answered
 *
 * Return: true if there are answers already (and reap must be called again).
 */
bool netfront_tx_arm(struct netfront_tx *tx);

/** netfront_tx_in_flight() - slots the backend has and has not answered. */
static inline unsigned netfront_tx_in_flight(const struct netfront_tx *tx)
{
	return tx->ring.req_prod_pvt - tx->ring.rsp_cons;
}

/* ---- receive: backend to guest ---- */

/*
 * Buffer i is always posted in ring slot i with id i: answers come in the slot of the request they
 * consume (xen/io/netif.h), so a slot's index names its buffer even where an extra info overlays
 * the id.
 */
struct netfront_rx {
	netif_rx_front_ring_t ring;
	RING_IDX pushed;   /* request producer the backend has been shown */
	RING_IDX seen;	   /* response producer as last read and checked */
	RING_IDX released; /* buffers consumed before this index may be posted again */
	bool notify;	   /* feature-rx-notify: may we send events for posted buffers at all */
	uint8_t *pages;
	uint32_t grefs[NETFRONT_RING_SLOTS];
	struct netfront_counters *counters;

	/* The packet being put together. */
	struct netfront_frame frame;
	RING_IDX first;	    /* its first slot */
	unsigned nr_slots;  /* data slots so far; 0: none begun */
	unsigned nr_extras; /* extra infos so far */
	bool in_extra;	    /* the next slot is an extra info */
	bool more_data;	    /* of the last data slot: extra infos may come between */
	bool failed;
	uint64_t nr_extras_skipped;
	uint64_t nr_csum_blank; /* although we asked for none */
};

/** netfront_rx_init() - an empty ring with every buffer posted but not yet published. */
void netfront_rx_init(struct netfront_rx *rx, netif_rx_sring_t *sring, uint8_t *pages,
		      const uint32_t *grefs, bool notify, struct netfront_counters *counters);

/**
 * netfront_rx_next() - the next whole frame
 *
 * Packets with a failed slot, and such as are no frames, are counted and passed over. Frames stay
 * valid until netfront_rx_release(); @frame itself until the next call.
 * Return: 1 with *@frame set; 0 if no whole packet is there; -EPROTO.
 */
int netfront_rx_next(struct netfront_rx *rx, const struct netfront_frame **frame);

/** netfront_rx_release() - the frames returned so far are done with. */
void netfront_rx_release(struct netfront_rx *rx);

/** netfront_rx_post() - queue every released buffer again. Return: how many. */
unsigned netfront_rx_post(struct netfront_rx *rx);

/** netfront_rx_publish() - show the queued buffers. Return: must the backend be notified? */
bool netfront_rx_publish(struct netfront_rx *rx);

/** netfront_rx_arm() - ask for an event at the next answer. Return: true if there are some now. */
bool netfront_rx_arm(struct netfront_rx *rx);

#endif
