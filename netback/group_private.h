/* SPDX-License-Identifier: MIT */
/*
 * group_private.h: what a group and a queue are made of, for the data path's own files (group.c,
 * queue.c, tx.c, rx.c). The control thread knows neither struct.
 *
 * THEORY. A round of the worker: each scheduled queue's tx_run() takes packets off its TX ring and
 * each rx_run() frames off its port; both only add to the group's batch. Then netbk_flush() does
 * one grant copy for all of it and finishes it: frames to the ports, responses to the rings, one
 * notification per event channel if the ring says so. A queue that finds the batch full flushes it
 * there and then and goes on. Between two rounds the batch is empty, and commands of the control
 * thread run only there.
 */
#ifndef NETBACK_GROUP_PRIVATE_H
#define NETBACK_GROUP_PRIVATE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/uio.h>
#include <xenevtchn.h>
#include <xengnttab.h>

#include "common/compiler.h"
#include "common/log.h"
#include "common/worker.h"
#include "netback/copy.h"
#include "netback/group.h"
#include "netback/pending.h"
#include "netback/port_ops.h"
#include "netback/queue.h"
#include "netback/rxpkt.h"
#include "netback/txpkt.h"

/* Packets of one batch, in each direction. */
#define NETBK_PACKETS_MAX 256
/* Pending pages of one batch; the batch's pages are read once more by the port, so stay in L2. */
#define NETBK_BATCH_PAGES 256
/* Frames received in one batch lie here: as much as stays in the cache. */
#define NETBK_RX_BYTES (256u << 10)
/* A queue's share of a round, in bytes: 64 full frames, the batch that hides the copy call. */
#define NETBK_QUANTUM_BYTES (64 * 1514)
/* Event channels looked at before the queues get their turn. */
#define NETBK_EVENTS_MAX 64
/*
 * How soon posted buffers are seen of a guest that does not kick (no feature-rx-notify) while
 * frames wait for it. Linux's backend gives up such a guest's frames after 30 ms.
 */
#define NETBK_RX_POLL_USEC_MIN 1000u
#define NETBK_RX_POLL_USEC_MAX 25000u

/* ---- a queue ---- */

/* Which of a queue's two halves an event channel wakes. */
#define CHANNEL_TX 1u
#define CHANNEL_RX 2u

/** One bound event channel. Worker only, but for port, which is constant while bound. */
struct xenvif_channel {
	struct xenvif_queue *queue;
	xenevtchn_port_or_error_t port; /* local; -1: not bound */
	uint8_t wakes;
	bool dirty;  /* on the group's list of channels to see to after the batch */
	bool notify; /* the guest is to be told */
	bool unmask; /* an event came: let the next one come */
	struct xenvif_channel *dirty_next;
};

struct xenvif_queue {
	/* Control thread only. */
	struct netbk_groups *groups;
	xengnttab_handle *ring_handle;
	void (*fatal_cb)(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg);
	void *fatal_arg;
	struct log_limit log_limit; /* guests can have connections fail as often as they like */
	bool connected;

	/* Set by the control thread while the queue is on no worker. */
	char name[32];
	unsigned id;
	struct xen_netbk *netbk;
	struct port *port;
	struct xenvif_queue_params params;
	unsigned rx_frame_max; /* bytes of the largest frame the guest may get */

	/* Worker only. */
	bool stopped;	       /* the frontend broke the rules: no more work until disconnected */
	bool tx_drained;       /* on tx_drained_next: to be re-armed after the batch */
	bool port_readable;    /* there may be frames in the port */
	bool rx_stalled;       /* there are, but the guest has posted too little */
	unsigned rx_poll_usec; /* the last interval at which its buffers were looked for */
	netif_tx_back_ring_t tx;
	netif_rx_back_ring_t rx;
	struct work tx_work, rx_work;
	struct worker_fd port_fd;
	struct worker_timer rx_timer;
	struct xenvif_queue *tx_drained_next;
	struct xenvif_channel channels[2]; /* [1]: the RX channel if split */

	/* Written by the worker, read by any thread (counter.h). */
	struct xenvif_stats stats;
};

static inline struct xenvif_channel *tx_channel(struct xenvif_queue *queue)
{
	return &queue->channels[0];
}

static inline struct xenvif_channel *rx_channel(struct xenvif_queue *queue)
{
	return &queue->channels[queue->params.split ? 1 : 0];
}

/* Has the port a frame for the guest, without a descriptor that says so? */
static inline bool xenvif_port_has_frames(const struct xenvif_queue *queue)
{
	const struct port_ops *ops = queue->port->ops;

	return ops->has_frames && ops->has_frames(queue->port, queue->id);
}

/* ---- a group ---- */

/** A packet from a guest in the batch. */
struct tx_job {
	struct xenvif_queue *queue;
	struct port_frame frame;
	unsigned first_iov; /* in ->tx_iov and ->tx_tags; the header's, the pages follow */
	uint16_t first_seg, nr_segs;
	uint8_t drop; /* enum xenvif_drop, or TXPKT_KEEP */
	struct txpkt pkt;
};

/** A frame to a guest in the batch. */
struct rx_job {
	struct xenvif_queue *queue;
	uint32_t len;
	uint16_t flags; /* NETRXF_* */
	uint16_t first_seg, nr_segs;
};

/* The number of tx_iov: a header per packet and its pages. */
#define NETBK_TX_IOVS (NETBK_PACKETS_MAX + NETBK_BATCH_PAGES)

struct xen_netbk {
	/* Constant once the group is made. */
	unsigned index;
	struct worker *worker;
	xengnttab_handle *xgt; /* grant copies only; rings are mapped by the control thread */
	xenevtchn_handle *xce;

	/* Worker only. */
	struct worker_fd events_fd;
	struct xenvif_channel **channels; /* by local port */
	unsigned nr_channels;
	struct xenvif_channel *dirty;
	struct xenvif_queue *tx_drained;
	unsigned nr_tx_queues; /* TX turns so far in this round, and in the one before */
	unsigned nr_tx_queues_last;
	unsigned nr_tx_jobs, nr_tx_iov, nr_rx_jobs;
	unsigned rx_used_bytes;
	uint64_t rounds; /* counter.h */
	struct pending pending;

	/* Any thread: the only line of a group that others write. */
	atomic_uint netfront_count __cacheline_aligned;
	/* Written by the worker, read by any thread. */
	uint64_t nr_pending __cacheline_aligned;

	/* Worker only: the batch. Large arrays last. */
	struct copy_batch copy;
	union page_ext tx_tags[NETBK_TX_IOVS];
	struct iovec tx_iov[NETBK_TX_IOVS];
	uint16_t rx_ids[COPY_SEGS_MAX]; /* by segment */
	struct rx_job rx_jobs[NETBK_PACKETS_MAX];
	struct tx_job tx_jobs[NETBK_PACKETS_MAX];
	uint8_t rx_bytes[NETBK_RX_BYTES];
};

struct netbk_groups {
	unsigned nr;
	enum worker_kind kind;
	struct xen_netbk **groups;
	atomic_uint **counts; /* of each group, for placement_join() */
};

/* group.c; worker only */

/** netbk_flush() - do and finish what is in the batch; it is empty afterwards. */
void netbk_flush(struct xen_netbk *netbk);
/** netbk_touch_channel() - see to @channel when the batch is finished. */
void netbk_touch_channel(struct xen_netbk *netbk, struct xenvif_channel *channel);
/** netbk_bind() - bind @channel to the guest's port. 0 or -errno. */
int netbk_bind(struct xen_netbk *netbk, struct xenvif_channel *channel, evtchn_port_t remote);
/** netbk_unbind() - idempotent. */
void netbk_unbind(struct xen_netbk *netbk, struct xenvif_channel *channel);

/* queue.c; worker only */

/** xenvif_queue_fatal() - the frontend broke the rules: stop, and tell the control thread once. */
void xenvif_queue_fatal(struct xenvif_queue *queue, enum xenvif_fatal why);

/* tx.c; worker only */

/** xenvif_tx_run() - the TX half's turn (struct work). */
bool xenvif_tx_run(struct work *work, int64_t *deficit);
/** xenvif_tx_finish() - send, answer and re-arm what is in the batch, whose copies are done. */
void xenvif_tx_finish(struct xen_netbk *netbk);

/* rx.c; worker only */

/** xenvif_rx_run() - the RX half's turn (struct work). */
bool xenvif_rx_run(struct work *work, int64_t *deficit);
/** xenvif_rx_finish() - answer what is in the batch, whose copies are done. */
void xenvif_rx_finish(struct xen_netbk *netbk);
/** xenvif_rx_port_ready() - the port has something (struct worker_fd). */
void xenvif_rx_port_ready(struct worker_fd *wfd, uint32_t events);
/** xenvif_rx_poll() - look whether the guest has posted buffers (struct worker_timer). */
void xenvif_rx_poll(struct worker_timer *timer);

#endif
