/* SPDX-License-Identifier: MIT */
/*
 * netfront.h: the userspace network frontend as a library (libnetfront): one vif, its queues, its
 * handshake with the backend over xenstore, and the host side its frames go to.
 *
 * Written to Xen's public libraries only: xengntshr_* shares the pages, xenevtchn_* the events,
 * libxenstore the keys. One thread: handshake and data path run in the caller of netfront_run().
 */
#ifndef NETFRONT_NETFRONT_H
#define NETFRONT_NETFRONT_H

#include <stdbool.h>
#include <stdint.h>
#include <xenevtchn.h>
#include <xengnttab.h>
#include <xenstore.h>

#include "netfront/ring.h"
#include "xenstore/xenbus.h"

struct event;
struct event_base;
struct netfront;
struct netfront_queue;
struct netfront_side;
struct xentoollog_logger;

#define NETFRONT_MAC_BYTES   6
#define NETFRONT_MTU_DEFAULT 1500u
/* Packets a queue takes in each direction before the other queues and the control side get a turn.
 */
#define NETFRONT_BUDGET 64u
/* How long each step of an orderly close waits for the backend. */
#define NETFRONT_CLOSE_MSEC 5000u

/* ---- the host side of a queue ---- */

struct netfront_side_ops {
	const char *name;
	/*
	 * The vif has (again) a MAC address and an MTU: before state 4 is written. NULL: not
	 * interested. Return: 0 or -errno, which ends the frontend. Logs.
	 */
	int (*configure)(struct netfront_side *side, const uint8_t mac[NETFRONT_MAC_BYTES],
			 unsigned mtu_bytes);
	/* Traffic may flow, or no longer. NULL: not interested. */
	void (*link)(struct netfront_side *side, bool up);
	/*
	 * A frame from the backend; its bytes may change under the reader. Return: false to be
	 * offered the same frame again on the queue's next run (nothing later is received before).
	 */
	bool (*deliver)(struct netfront_side *side, struct netfront_queue *queue,
			const struct netfront_frame *frame);
	/* Queue at most @budget frames on @queue->tx. Return: true if there is more to send now. */
	bool (*fill)(struct netfront_side *side, struct netfront_queue *queue, unsigned budget);
	void (*free)(struct netfront_side *side);
};

/** Embedded in each kind of host side. @nf is set by netfront_new(). */
struct netfront_side {
	const struct netfront_side_ops *ops;
	struct netfront *nf;
};

/** netfront_side_free() - accepts NULL. */
void netfront_side_free(struct netfront_side *side);

/* ---- the hypervisor's side ---- */

/** What a frontend needs of Xen; one a process is enough. */
struct netfront_hv {
	struct xentoollog_logger *logger;
	xengntshr_handle *gntshr;
	xenevtchn_handle *evtchn;
};

/** netfront_hv_open() - open gntalloc and evtchn. Logs what is missing. Return: 0 or -errno. */
int netfront_hv_open(struct netfront_hv *hv);
/** netfront_hv_close() - idempotent. Pages must not be shared any more. */
void netfront_hv_close(struct netfront_hv *hv);

/* ---- a queue ---- */

struct netfront_queue {
	unsigned id;
	struct netfront_side *side;

	/* Valid while connected. */
	struct netfront_tx tx;
	struct netfront_rx rx;
	void *tx_ring_page, *rx_ring_page, *tx_pages, *rx_pages;
	uint32_t tx_ring_ref, rx_ring_ref;
	int tx_port, rx_port;	   /* the same one unless the channels are split; -1: none */
	bool tx_masked, rx_masked; /* an event was taken and the port not unmasked yet */
	const struct netfront_frame *held; /* the side did not take it yet */
	bool scheduled;
	bool worked; /* the last pass moved something */

	/* Survive reconnects. */
	struct netfront_counters tx_counters, rx_counters;
	uint64_t nr_events;
	uint64_t nr_rx_bad;	/* contents are not what was sent; counted by the side */
	uint64_t nr_rx_missing; /* sequence numbers passed over; counted by the side */
};

/* What frontend and backend agreed on. */
struct netfront_features {
	bool sg_tx;	/* the backend takes packets of several slots */
	bool sg_rx;	/* we do */
	bool rx_notify; /* we send events for posted receive buffers */
	bool split_evtchn;
};

/**
 * netfront_queue_open() - share the queue's pages with @backend_domid, open its event channels
 *
 * 514 pages. The receive ring is filled with buffers and published. Logs.
 * Return: 0 or -errno, nothing shared.
 */
int netfront_queue_open(struct netfront_queue *queue, const struct netfront_hv *hv,
			uint32_t backend_domid, const struct netfront_features *features);

/** netfront_queue_close() - close the channels, stop sharing. Idempotent. */
void netfront_queue_close(struct netfront_queue *queue, const struct netfront_hv *hv);

/**
 * netfront_queue_run() - one pass: answers, received frames, frames to send, one publish each
 * @arm: ask for events and unmask the channels once there is nothing left to do
 *
 * Return: 1 if there is more to do now, 0 if not, -EPROTO if the backend broke the protocol.
 */
int netfront_queue_run(struct netfront_queue *queue, const struct netfront_hv *hv, bool arm);

/**
 * netfront_queue_drain() - take what the backend left on the rings, send nothing
 *
 * For the end of a connection, so that both ends have counted the same. Idempotent.
 */
void netfront_queue_drain(struct netfront_queue *queue);

/** netfront_queue_kick() - one event on each channel, whatever the rings say. */
void netfront_queue_kick(struct netfront_queue *queue, const struct netfront_hv *hv);

/* ---- the keys (keys.c) ---- */

/** Where a vif's backend is. */
struct netfront_backend {
	char path[XENBUS_PATH_BYTES];
	uint32_t domid;
};

/** netfront_find_backend() - read device directory @dir. Return: 0, -ENOENT: no device; -errno. */
int netfront_find_backend(struct xs_handle *xs, const char *dir, struct netfront_backend *backend);

/** netfront_read_features() - keep of @features (what we are willing to) what @backend offers. */
void netfront_read_features(struct xs_handle *xs, const struct netfront_backend *backend,
			    struct netfront_features *features);

/** netfront_read_mac() - the key "mac" of @dir. Return: 0, -EINVAL or -errno of the read. */
int netfront_read_mac(struct xs_handle *xs, const char *dir, uint8_t mac[NETFRONT_MAC_BYTES]);

/** netfront_parse_mac() - "00:16:3e:01:02:03", the whole of @text. Return: 0 or -EINVAL. */
int netfront_parse_mac(const char *text, uint8_t mac[NETFRONT_MAC_BYTES]);

/** netfront_publish_keys() - rings, channels and features, in one transaction. 0 or -errno. */
int netfront_publish_keys(struct xs_handle *xs, const char *dir,
			  const struct netfront_queue *queues, unsigned nr_queues,
			  const struct netfront_features *features);

/* ---- the frontend ---- */

struct netfront_params {
	unsigned vif;
	struct netfront_features features; /* what we are willing to */
	unsigned poll_usec;		   /* spin this long after the last work before sleeping */
	unsigned wait_sec;		   /* give up unless connected by then; 0: never */
	unsigned close_msec;		   /* for each step of a close; 0: NETFRONT_CLOSE_MSEC */
};

/**
 * netfront_new() - open xenstore, gntalloc and evtchn
 * @side: host side of the one queue; owned by the caller, outlives the frontend
 *
 * Logs. Return: 0 with *@nf set, or -errno.
 */
int netfront_new(const struct netfront_params *params, struct event_base *base,
		 struct netfront_side *side, struct netfront **nf);

/** netfront_free() - at once, in whatever state it is. Accepts NULL. */
void netfront_free(struct netfront *nf);

/**
 * netfront_run() - serve the vif until netfront_leave() is through, or an error
 *
 * Blocks. Logs. Return: 0 after an orderly leave; -ETIMEDOUT: the backend never came; -errno.
 */
int netfront_run(struct netfront *nf);

/** netfront_leave() - start closing in order; netfront_run() returns when done. Idempotent. */
void netfront_leave(struct netfront *nf);

/** netfront_schedule() - have the queues run on the next turn (a side has something to send). */
void netfront_schedule(struct netfront *nf);

/** netfront_refresh() - have the queues run now, so that the counters are up to date. */
void netfront_refresh(struct netfront *nf);

struct event_base *netfront_event_base(const struct netfront *nf);
struct netfront_queue *netfront_queues(struct netfront *nf, unsigned *nr_queues);
const struct netfront_features *netfront_agreed(const struct netfront *nf);
unsigned netfront_vif(const struct netfront *nf);
/** netfront_state() - our own state as last written. */
enum xenbus_state netfront_state(const struct netfront *nf);
/** netfront_is_live() - both ends are Connected. */
bool netfront_is_live(const struct netfront *nf);

#endif
