/* SPDX-License-Identifier: MIT */
/*
 * xsd_private.h: the server object and its connections, shared by xsd.c, xsd_conn.c, xsd_ops.c and
 * xsd_control.c only. All of it belongs to the event base's thread.
 */
#ifndef XENSTORE_XSD_PRIVATE_H
#define XENSTORE_XSD_PRIVATE_H

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "xenstore/xsd.h"
#include "xenstore/xsd_store.h"
#include "xenstore/xsd_watch.h"
#include "xenstore/xsd_wire.h"

struct event;

/* DOMID_FIRST_RESERVED and DOMID_SELF of xen/xen.h. */
#define XSD_DOMIDS     0x7FF0U
#define XSD_DOMID_SELF 0x7FF0U

/* Nodes a transaction of a domain other than 0 may touch (xenstored's quota transaction-nodes). */
#define XSD_TRANSACTION_NODES 1024U

/* A domain that has a socket, is introduced, or is the target or client of something. */
struct xsd_domain {
	unsigned domid;
	bool introduced;
	int target; /* XS_SET_TARGET */
	UT_hash_handle hh;
};

struct xsd_listener {
	struct xsd *xsd;
	unsigned domid;
	int fd;
	char *path;
	struct event *event;
	struct event *retry; /* a pause when file descriptors have run out */
	struct xsd_listener *prev, *next;
};

/* A message on its way to a client. */
struct xsd_out {
	struct xsd_out *prev, *next;
	uint64_t due_usec; /* CLOCK_MONOTONIC: not to be sent before */
	size_t len;	   /* header and payload */
	size_t sent;
	bool is_event;
	UT_hash_handle hh; /* of the connection's pending events, keyed by the payload */
	char bytes[];
};

struct xsd_conn {
	struct xsd *xsd;
	struct xsd_watcher watcher; /* has the domid */
	int fd;
	struct event *readable, *writable, *timer;
	bool closed;  /* off every list, waits to be freed */
	bool doomed;  /* to be closed as soon as nobody is in the middle of it */
	bool in_turn; /* its requests are being answered */
	bool paused;  /* not read from until it has read its replies */

	struct xsd_txn *txns;
	uint32_t next_txn_id;

	size_t in_len;
	char in[2 * XSD_FRAME_BYTES];

	struct xsd_out *out;
	struct xsd_out *out_events; /* table of those not yet sent at all */
	size_t out_bytes;

	struct xsd_conn *prev, *next;
};

struct xsd {
	struct event_base *base;
	struct xsd_quota quota;
	struct xsd_ops ops;
	struct xsd_faults faults;
	unsigned nr_reads, nr_commits; /* for the faults' every-Nth */

	struct xsd_tree tree;
	struct xsd_watch_registry watches;
	struct xsd_domain *domains;
	struct xsd_count *conn_counts, *watch_counts, *txn_counts; /* by domid */
	unsigned nr_txns;

	struct xsd_listener *listeners;
	struct xsd_conn *conns;
	struct xsd_conn *graveyard; /* closed; freed when the loop comes round */
	struct event *reaper;
};

/* ---- xsd.c ---- */

struct xsd_domain *xsd_domain_find(const struct xsd *xsd, unsigned domid);
/** xsd_domain_exists() - as the machine says; dom0 always does. */
bool xsd_domain_exists(const struct xsd *xsd, unsigned domid);
/** xsd_domain_drop() - what xsd_release() does, but for the domain's socket. */
void xsd_domain_drop(struct xsd *xsd, unsigned domid);
/** xsd_domain_reset() - drop watches and transactions of all its connections. */
void xsd_domain_reset(struct xsd *xsd, unsigned domid);
/** xsd_domain_set_target() - 0 or -ENOENT if either is not introduced. */
int xsd_domain_set_target(struct xsd *xsd, unsigned domid, unsigned target);

/* ---- xsd_conn.c ---- */

/** xsd_conn_accept() - a client on @fd, which it owns from now, error or not. 0 or -errno. */
int xsd_conn_accept(struct xsd *xsd, int fd, unsigned domid);
/** xsd_conn_close() - off the server at once, with all it has; freed later. Idempotent. */
void xsd_conn_close(struct xsd_conn *conn);
/** xsd_conn_reap() - free those closed. */
void xsd_conn_reap(struct xsd *xsd);

/** xsd_conn_reply() - @type is the request's, or XS_ERROR. A payload over the limit is E2BIG. */
void xsd_conn_reply(struct xsd_conn *conn, const struct xsd_request *req, const void *data,
		    size_t len);
void xsd_conn_ack(struct xsd_conn *conn, const struct xsd_request *req);
void xsd_conn_error(struct xsd_conn *conn, const struct xsd_request *req, int err);

/** xsd_conn_drop_txn() - forget a transaction: nothing of it has happened. */
void xsd_conn_drop_txn(struct xsd_conn *conn, struct xsd_txn *txn);
void xsd_conn_drop_txns(struct xsd_conn *conn);
/** xsd_conn_drop_watches() - and their count. */
void xsd_conn_drop_watches(struct xsd_conn *conn);

/* ---- xsd_ops.c ---- */

/** xsd_ops_handle() - answer one request: exactly one reply, unless the connection is closed. */
void xsd_ops_handle(struct xsd_conn *conn, const struct xsd_request *req);

/* ---- xsd_control.c ---- */

/** xsd_control() - XS_CONTROL, dom0 only. 0 if it has replied, else -errno. */
int xsd_control(struct xsd_conn *conn, const struct xsd_request *req);

#endif
