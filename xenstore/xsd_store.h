/* SPDX-License-Identifier: MIT */
/*
 * xsd_store.h: what a client may do to the store: the requests' meaning, with permission checks and
 * quotas, on a view (the store or a transaction). No wire format and no I/O.
 *
 * Errors are those xenstored of Xen 4.17 answers, the hiding of names included: a client learns
 * that a node does not exist only if it could see the nearest node above that does.
 */
#ifndef XENSTORE_XSD_STORE_H
#define XENSTORE_XSD_STORE_H

#include <stdbool.h>
#include <stddef.h>

#include "xenstore/xsd.h"
#include "xenstore/xsd_txn.h"

/** A change of a node, to be matched against watches. Everything is valid during the call only. */
struct xsd_change {
	const char *path;
	bool exact; /* for watches on @path itself, not for those above it */
	/* Who could see the node before, can see it now, and its parent; NULL: not known or absent.
	 */
	const struct xsd_perms *old, *now, *parent;
};

/** Where changes of the store itself are told. */
struct xsd_sink {
	void (*changed)(struct xsd_sink *sink, const struct xsd_change *change);
};

/** One request's surroundings. */
struct xsd_op {
	struct xsd_view view;
	struct xsd_cred cred;
	const struct xsd_quota *quota;
	struct xsd_sink *sink;
};

/** xsd_store_max_path() - the longest path @op's caller may use, as xsd_path_valid(). */
size_t xsd_store_max_path(const struct xsd_op *op);

/* Every @path is canonical; one that is no valid name is -EINVAL. */

/** xsd_store_get() - the node, if @cred may do all of @access (XSD_READ, ...) with it. */
int xsd_store_get(const struct xsd_op *op, const char *path, unsigned access,
		  struct xsd_node **node);

/** xsd_store_write() - XS_WRITE: the node and what is missing above it are made. */
int xsd_store_write(const struct xsd_op *op, const char *path, const void *value, size_t len);

/** xsd_store_mkdir() - XS_MKDIR: as write, but a node that exists stays as it is. */
int xsd_store_mkdir(const struct xsd_op *op, const char *path);

/** xsd_store_rm() - XS_RM: the node and all below it. */
int xsd_store_rm(const struct xsd_op *op, const char *path);

/** xsd_store_set_perms() - XS_SET_PERMS. @perms is taken over on success. */
int xsd_store_set_perms(const struct xsd_op *op, const char *path, struct xsd_perms *perms);

/**
 * xsd_store_commit() - XS_TRANSACTION_END with T of @op->view.txn, which the caller frees
 *
 * The quota of nodes is checked again: others may have made some meanwhile. The events of the
 * transaction are told to the sink, in the order its nodes were first touched.
 */
int xsd_store_commit(const struct xsd_op *op);

/**
 * xsd_store_forget() - a domain is gone
 *
 * Its nodes, and all below each, are removed (as xenstored has done since the fix of XSA-419), and
 * no permission names it any more: a later domain of the same number inherits nothing.
 */
void xsd_store_forget(struct xsd_tree *tree, unsigned domid, struct xsd_sink *sink);

/** xsd_store_setup() - the nodes xenstored begins with, owned by dom0. 0 or -ENOMEM. */
int xsd_store_setup(struct xsd_tree *tree);

#endif
