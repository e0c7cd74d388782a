/* SPDX-License-Identifier: MIT */
/*
 * queue.h: struct xenvif_queue, the unit that is placed on a group: one TX ring, one RX ring, one
 * or two event channels, one queue of a port. A vif has one or many.
 *
 * The control thread makes, connects, disconnects and destroys queues; between connect and
 * disconnect the rings belong to the group's worker. Counters are written by the worker alone and
 * may be read by the control thread at any time.
 */
#ifndef NETBACK_QUEUE_H
#define NETBACK_QUEUE_H

#include <stdbool.h>
#include <stdint.h>
#include <xengnttab.h>
#include <xenevtchn.h>

#include "netback/group.h"
#include "netback/port.h"

#define XENVIF_QUEUES_MAX 256

/* What this connection agreed on. Set by the control thread before connect, constant afterwards. */
struct xenvif_features {
	bool sg;	/* the guest takes packets of several slots */
	bool rx_notify; /* the guest kicks when it posts RX buffers; if not, poll within 30 ms */
	bool csum_ipv4; /* the guest takes blank IPv4 checksums (no feature-no-csum-offload) */
	bool csum_ipv6; /* the guest takes blank IPv6 checksums (feature-ipv6-csum-offload) */
	bool gso_tcpv4; /* the guest takes GSO packets; need sg and blank checksums */
	bool gso_tcpv6;
	/* We refused them (feature-no-csum-offload, no feature-ipv6-csum-offload): what the guest
	 * leaves blank all the same is completed, and counted. */
	bool csum_refused;
	unsigned mtu; /* bytes of L3 payload; the largest frame to the guest is mtu + 18 */
};

/* Why a packet was dropped. The names are what netbackctl prints: xenvif_drop_name(). */
enum xenvif_drop {
	DROP_TX_TOO_MANY_SLOTS, /* 19 or 20 slots beyond the first: dropped, not fatal */
	DROP_TX_SIZE_SUM,	/* the parts are longer than the whole */
	DROP_TX_TOO_SHORT,	/* whole packet shorter than an Ethernet header */
	DROP_TX_BAD_EXTRA,	/* unknown extra info */
	DROP_TX_COPY,		/* grant copy failed: revoked or bad reference */
	DROP_TX_PORT_FULL,	/* the host side did not take it */
	DROP_TX_CSUM,		/* blank checksum that could not be completed */
	DROP_TX_BAD_GSO,	/* segment size, type or headers of a GSO packet make no sense */
	DROP_RX_TOO_BIG,	/* more than the guest can take (mtu, or one slot without sg) */
	DROP_RX_BAD_GSO,	/* a GSO packet the guest does not take, or that is none */
	DROP_RX_COPY,
	NR_XENVIF_DROPS,
};
const char *xenvif_drop_name(enum xenvif_drop drop);

/* Why a frontend lost its vif. xenvif_fatal_name() is the text for the log and the error node. */
enum xenvif_fatal {
	FATAL_NONE,
	FATAL_TX_PROD_OVERFLOW,	 /* req_prod - req_cons > ring size */
	FATAL_TX_INCOMPLETE,	 /* more_data or extra on the last slot published */
	FATAL_TX_TOO_MANY_SLOTS, /* beyond 20 */
	FATAL_TX_PAGE_CROSSING,	 /* offset + size > 4096 */
	FATAL_RX_PROD_OVERFLOW,
	NR_XENVIF_FATALS,
};
const char *xenvif_fatal_name(enum xenvif_fatal fatal);

/* Counters; tx is guest to host, rx host to guest, as the guest sees it. */
struct xenvif_stats {
	uint64_t tx_packets, tx_bytes, tx_slots;
	uint64_t rx_packets, rx_bytes, rx_slots;
	uint64_t tx_notifies, rx_notifies, events;
	uint64_t rx_stalls; /* times the host side waited because the guest had posted too little */
	/* Offloads: packets left to the other side to finish, and what was finished here. */
	uint64_t tx_gso, rx_gso;
	uint64_t tx_csum_blank, rx_csum_blank; /* GSO packets included */
	uint64_t tx_csum_unasked;	       /* blank although we refused that */
	uint64_t tx_gso_csum_fixups;	       /* GSO packets whose checksum was not blank */
	uint64_t rx_gso_csum_fixups;
	uint64_t rx_csum_filled; /* the guest takes no blank ones */
	uint64_t rx_segments;	 /* cut from GSO packets, which the guest does not take */
	uint64_t drops[NR_XENVIF_DROPS];
};

/* What the frontend published for one queue, already parsed; nothing in it is trusted. */
struct xenvif_queue_params {
	uint32_t domid;
	uint32_t tx_ring_ref, rx_ring_ref;
	evtchn_port_t tx_evtchn, rx_evtchn; /* the guest's ports */
	bool split;			    /* false: one channel, tx_evtchn, for both rings */
	struct xenvif_features features;
};

struct xenvif_queue;

/**
 * xenvif_queue_create() - a queue, not connected
 * @name: "vif1.0-q0", for log lines (copied)
 * @fatal: called once per connection, on the worker's thread, when the frontend broke the rules:
 *	the queue has stopped already; the callee only tells the control thread, which disconnects
 * Return: 0 or -ENOMEM.
 */
int xenvif_queue_create(const char *name, unsigned id,
			void (*fatal)(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg),
			void *arg, struct xenvif_queue **queue);

/** xenvif_queue_destroy() - disconnects if need be. Accepts NULL. */
void xenvif_queue_destroy(struct xenvif_queue *queue);

/**
 * xenvif_queue_connect() - map the rings, join the least loaded group, bind, start
 * @ring_handle: the control thread's handle, by which rings are mapped (so that a queue can change
 *	its group without being mapped anew)
 * @port: the vif's port, already told by port_set_queues(); queue id is its queue index
 *
 * A ring that carries traffic already is attached to where it stands (req_cons = rsp_prod). Both
 * rings are looked at once after binding, and the guest is kicked once: events before the binding
 * are lost. Blocks. Return: 0; -errno with nothing left behind (bad references, bad port, ...).
 */
int xenvif_queue_connect(struct xenvif_queue *queue, struct netbk_groups *groups,
			 xengnttab_handle *ring_handle, const struct xenvif_queue_params *params,
			 struct port *port);

/**
 * xenvif_queue_disconnect() - stop, finish what is pending, unbind, unmap, leave the group
 *
 * When it returns nothing of the guest is touched any more. Blocks. Idempotent.
 */
void xenvif_queue_disconnect(struct xenvif_queue *queue);

/** xenvif_queue_move() - to another group while traffic flows. 0 or -errno (then it stayed). */
int xenvif_queue_move(struct xenvif_queue *queue, unsigned group);

bool xenvif_queue_connected(const struct xenvif_queue *queue);
/** xenvif_queue_group() - the group's index, or -1 if not connected. */
int xenvif_queue_group(const struct xenvif_queue *queue);
/** xenvif_queue_get_stats() - counters since the queue was made. Never blocks. */
void xenvif_queue_get_stats(const struct xenvif_queue *queue, struct xenvif_stats *stats);

/* Ring indexes as they stand, for `netbackctl show`. */
struct xenvif_ring_info {
	uint32_t req_prod, req_cons, req_event, rsp_prod, rsp_event;
};
/** xenvif_queue_rings() - Return: 0; -ENOTCONN. */
int xenvif_queue_rings(const struct xenvif_queue *queue, struct xenvif_ring_info *tx,
		       struct xenvif_ring_info *rx);

#endif
