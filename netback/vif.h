/* SPDX-License-Identifier: MIT */
/*
 * vif.h: struct xenvif, one network device of one guest: its directories in xenstore, its port and
 * its queues. Belongs to the control thread, all but the one field workers report through. When
 * which of these functions is called is decided in backend.c.
 */
#ifndef NETBACK_VIF_H
#define NETBACK_VIF_H

#include <net/if.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>
#include <xengnttab.h>

#include "common/log.h"
#include "netback/frontend.h"
#include "netback/group.h"
#include "netback/port.h"
#include "netback/queue.h"
#include "netback/state.h"
#include "xenstore/xenbus.h"

#define XENVIF_ERROR_BYTES 192
#define XENVIF_TOKEN_BYTES 48 /* D/N/generation */

/* Queues offered to frontends (multi-queue-max-queues). */
#define XENVIF_QUEUES_OFFERED 1

/* What every vif works with. Constant while the daemon runs. */
struct xenvif_host {
	struct xs_handle *xs;
	uint32_t domid; /* our own */
	struct netbk_groups *groups;
	xengnttab_handle *ring_handle;
	enum port_kind port;
	int fatal_fd; /* eventfd: workers say that some vif has a fatal reason set */
};

/* Which device: the two numbers of backend/vif/D/N. No padding: it is a hash key. */
struct xenvif_key {
	uint32_t domid;
	uint32_t devid;
};

struct xenvif {
	const struct xenvif_host *host;
	struct xenvif_key key;
	char path[XENBUS_PATH_BYTES];	  /* /local/domain/B/backend/vif/D/N */
	char nodename[XENBUS_PATH_BYTES]; /* backend/vif/D/N */

	/* The table and the dirty list (vifs.c). */
	UT_hash_handle hh;
	struct xenvif *dirty_prev, *dirty_next;
	bool dirty;

	/* Identity: what the toolstack wrote. Valid if identified. */
	bool identified;
	uint64_t generation; /* of this identity; part of the watch's token */
	uint32_t domid;	     /* the guest's */
	uint32_t handle;
	char name[IFNAMSIZ]; /* vifD.H */
	char frontend[XENBUS_PATH_BYTES];
	char token[XENVIF_TOKEN_BYTES]; /* of the watch on the frontend's state; "": not set */
	uint8_t mac[6];
	bool has_script;
	unsigned mtu;
	struct frontend_rate rate;

	/* The state machine (backend.c). */
	struct backend_view view;
	enum xenbus_state published;  /* the state node as we last saw or wrote it */
	bool front_moved;	      /* the frontend's state is not the one we found at first */
	enum xenbus_state last_front; /* what its node said: a change lifts a disable */
	bool retry;		      /* look again when the retry timer fires */
	bool keys_retried;	      /* a missing key has been waited for once */

	/* Host side and queues. */
	struct port *port;
	struct xenvif_queue **queues; /* nr_queues of them, kept from connection to connection */
	unsigned nr_queues;
	struct xenvif_queue_params *params; /* nr_queues of them: the last connection's */

	/* Errors, for the log, the error node and netbackctl. */
	char error[XENVIF_ERROR_BYTES]; /* the last; "": none yet */
	unsigned nr_errors;
	unsigned nr_connects;
	bool error_node; /* we wrote one, and take it away with the vif */
	struct log_limit log_limit;

	/* Atomic: enum xenvif_fatal, set on a worker's thread, taken by the control thread. */
	atomic_int fatal;
};

/** xenvif_create() - the vif of backend/vif/D/N, not identified. NULL: out of memory. */
struct xenvif *xenvif_create(const struct xenvif_host *host, const struct xenvif_key *key);

/**
 * xenvif_destroy() - disconnect, close the port, drop the watch and the error node
 *
 * Never touches the vif's own directory: it may be gone. Accepts NULL. Blocks.
 */
void xenvif_destroy(struct xenvif *vif);

/**
 * xenvif_identify() - read the toolstack's keys and watch the frontend's state
 * @generation: a number no identity had before
 *
 * Return: 0; -errno with the reason in vif->error: a key is missing or makes no sense.
 */
int xenvif_identify(struct xenvif *vif, uint64_t generation);

/** xenvif_forget() - back to what xenvif_create() made; counters stay. Blocks. */
void xenvif_forget(struct xenvif *vif);

/** xenvif_refresh() - re-read what the toolstack may change at any time: rate. */
void xenvif_refresh(struct xenvif *vif);

/** xenvif_open_port() - make the host side unless it is there. 0 or -errno, vif->error set. */
int xenvif_open_port(struct xenvif *vif);
/** xenvif_close_port() - idempotent; no queue may be connected. */
void xenvif_close_port(struct xenvif *vif);

/** xenvif_write_features() - what we offer, in one transaction. 0; -ENOENT: the vif was removed. */
int xenvif_write_features(struct xenvif *vif);

/* The features written, for netbackctl. Ends with a NULL name. */
struct xenvif_feature {
	const char *name;
	unsigned value;
};
extern const struct xenvif_feature xenvif_features_offered[];

/**
 * xenvif_connect() - read the frontend's keys and connect every queue; all or nothing
 *
 * Return: 0; -ENOENT if a key is missing; other -errno. vif->error says why.
 */
int xenvif_connect(struct xenvif *vif);

/** xenvif_disconnect() - every queue, carrier down. Idempotent. Blocks. */
void xenvif_disconnect(struct xenvif *vif);

/** xenvif_set_error() - keep the reason of an error (not logged). */
void xenvif_set_error(struct xenvif *vif, const char *fmt, ...) __printf(2, 3);

/** xenvif_report_error() - log vif->error (limited: guests can provoke it) and write the node. */
void xenvif_report_error(struct xenvif *vif, int err);

/** xenvif_sum_stats() - counters of all queues together. */
void xenvif_sum_stats(const struct xenvif *vif, struct xenvif_stats *sum);

#endif
