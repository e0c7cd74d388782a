/* SPDX-License-Identifier: MIT */
/*
 * xsd.h: the embedded xenstored. It speaks the wire protocol of xen/io/xs_wire.h on unix sockets,
 * one listening socket a domain: which socket a client connects to says which domain it is.
 *
 * Single-threaded: everything runs in the event base it was made with, and every function here is
 * called from that base's thread. Clients, dom0's included, are hostile: a malformed or oversized
 * frame ends its own connection only.
 *
 * What it does is what xenstored of Xen 4.17 does, but for this:
 * - A domain's quotas hold for all its connections together, and mean the number they say (4.17
 *   lets a domain have one watch and one transaction more).
 * - Requests are not rate-limited, and events do not expire: a domain that does not take them is
 *   disconnected at nr_outstanding_bytes.
 * - A transaction that stumbles over what others have changed meanwhile goes on to its commit and
 *   gets EAGAIN, where 4.17 sometimes says EIO or ENOMEM before.
 * - Arguments that are no numbers, and strings without an end, are EINVAL always.
 * - The permissions that decide who is told of a commit are those after all of it.
 */
#ifndef XENSTORE_XSD_H
#define XENSTORE_XSD_H

#include <stdbool.h>
#include <stdint.h>

struct event_base;
struct xsd;

/* Per-domain limits for domains other than 0, with xenstored's own defaults (docs/man of 4.17). */
struct xsd_quota {
	unsigned nr_nodes;	  /* nodes a domain may own: 1000 */
	unsigned nr_watches;	  /* 128 */
	unsigned nr_transactions; /* open at once: 10 */
	unsigned node_bytes;	  /* largest value plus children list and permissions: 2048 */
	unsigned nr_perms;	  /* permission entries on a node: 5 */
	unsigned path_bytes;	  /* longest absolute path: 1024 */
	unsigned nr_outstanding_bytes; /* replies and events not yet read by the client: 1 MiB */
};

#define XSD_QUOTA_DEFAULT                                                                         \
	(struct xsd_quota)                                                                         \
	{                                                                                          \
		.nr_nodes = 1000, .nr_watches = 128, .nr_transactions = 10, .node_bytes = 2048,    \
		.nr_perms = 5, .path_bytes = 1024, .nr_outstanding_bytes = 1 << 20                 \
	}

/* What the server asks the machine it is part of; any may be NULL. */
struct xsd_ops {
	/* Is there such a domain? (XS_INTRODUCE of a domain that is not is EINVAL.) NULL: any. */
	bool (*domain_exists)(void *arg, unsigned domid);
	void *arg;
};

/* Faults for tests; all zero is none. */
struct xsd_faults {
	unsigned eagain_every;	/* every Nth TRANSACTION_END with commit answers EAGAIN */
	unsigned eacces_every;	/* every Nth READ answers EACCES */
	unsigned delay_usec;	/* each reply is held back this long */
};

/** xsd_new() - an empty store holding /tool, /local and the special nodes. NULL: out of memory. */
struct xsd *xsd_new(struct event_base *base, const struct xsd_quota *quota,
		    const struct xsd_ops *ops);

/** xsd_free() - close every socket and connection, free the store. Accepts NULL. */
void xsd_free(struct xsd *xsd);

/**
 * xsd_listen() - accept clients of domain @domid on the unix socket @path
 *
 * The path is created (mode 0600 as umask allows) and unlinked by xsd_release() or xsd_free().
 * Return: 0 or -errno (-EADDRINUSE: a live server owns it; a dead one's socket is replaced).
 */
int xsd_listen(struct xsd *xsd, const char *path, unsigned domid);

/** xsd_write() - write a node as dom0, on behalf of the machine itself. 0 or -errno. */
int xsd_write(struct xsd *xsd, const char *path, const char *value);

/** xsd_introduce() - the domain is up: fires @introduceDomain, the first time. 0 or -errno. */
int xsd_introduce(struct xsd *xsd, unsigned domid);

/**
 * xsd_release() - the domain is gone
 *
 * Closes its socket and connections, drops its watches and transactions, and removes the nodes it
 * owns with all below each, firing their watches (as xenstored does since XSA-419: a later domain
 * of the same number must not inherit them); the nodes others made for it stay until the toolstack
 * removes them. No permission names it any more. Then fires @releaseDomain, if it was introduced.
 * To be called for every domain that ends, introduced or not. Domain 0: does nothing.
 */
void xsd_release(struct xsd *xsd, unsigned domid);

void xsd_set_faults(struct xsd *xsd, const struct xsd_faults *faults);

/* What a leak test compares. */
struct xsd_stats {
	unsigned nr_nodes;
	unsigned nr_watches;
	unsigned nr_transactions;
	unsigned nr_connections;
};
void xsd_get_stats(const struct xsd *xsd, struct xsd_stats *stats);

#endif
