/* SPDX-License-Identifier: MIT */
/*
 * xsd_txn.h: transactions, and the view of the store that one request has.
 *
 * THEORY. A transaction holds a private copy of each node it has touched, taken when it first
 * touched it, with the generation it had then (none if there was no node). Later reads and writes
 * go to the copy. The commit first compares every generation with the store's: one that differs
 * means somebody else changed, made or removed that node meanwhile, and the whole is EAGAIN. Only
 * then are the changed copies put in place. A node never touched cannot conflict, so transactions
 * in different corners of the store do not disturb each other (the rule of Xen 4.17's xenstored).
 *
 * Pure: no I/O, no permission checks.
 */
#ifndef XENSTORE_XSD_TXN_H
#define XENSTORE_XSD_TXN_H

#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "xenstore/xsd_tree.h"

/* A node touched in a transaction. */
struct xsd_touched {
	char *path;
	uint64_t base_generation;    /* when first touched; XSD_ABSENT: there was none */
	struct xsd_perms base_perms; /* then; empty if there was none */
	struct xsd_node *node;	     /* the private copy; NULL: absent in the transaction */
	bool modified;
	bool fire;	 /* a watch event is due at commit... */
	bool fire_exact; /* ...for watches on this very node only */
	UT_hash_handle hh;
};

struct xsd_txn {
	uint32_t id; /* unique in its connection */
	struct xsd_tree *tree;
	struct xsd_touched *touched; /* in the order of the first touch */
	struct xsd_count *owners;    /* nodes the transaction adds to, or takes from, each owner */
	unsigned max_touched;	     /* quota; 0: none */
	int failed;		     /* -errno the commit will answer whatever else; 0 */
	UT_hash_handle hh;	     /* of the connection */
};

/** xsd_txn_new() - NULL: out of memory. */
struct xsd_txn *xsd_txn_new(struct xsd_tree *tree, uint32_t id, unsigned max_touched);
/** xsd_txn_free() - nothing of it has happened. Accepts NULL. */
void xsd_txn_free(struct xsd_txn *txn);

/**
 * xsd_txn_commit() - make it happen
 *
 * Afterwards the entries' fire, fire_exact and base_perms say which events are due.
 * Return: 0; -EAGAIN on conflict and the error of a step that failed, with the store unchanged.
 */
int xsd_txn_commit(struct xsd_txn *txn);

/** xsd_txn_forget() - @domid is gone: its permissions no longer count, and nodes made for it
 * conflict. */
void xsd_txn_forget(struct xsd_txn *txn, unsigned domid);

/** What a request sees: the store itself, or a transaction on it. */
struct xsd_view {
	struct xsd_tree *tree;
	struct xsd_txn *txn; /* NULL: the store itself */
};

/**
 * xsd_view_get() - the node as this view has it
 *
 * In a transaction this touches the node. The caller may change what it gets, and then says
 * xsd_view_changed(). Return: 0; -ENOENT; -ENOSPC if the transaction touches too many; -ENOMEM.
 */
int xsd_view_get(const struct xsd_view *view, const char *path, struct xsd_node **node);

/** xsd_view_changed() - @node, got from this view, was changed. */
void xsd_view_changed(const struct xsd_view *view, struct xsd_node *node);

/** xsd_view_insert() - @node, whose absence xsd_view_get() has seen, belongs to the view from now.
 */
void xsd_view_insert(const struct xsd_view *view, struct xsd_node *node);

/** xsd_view_remove() - @node, got from this view, is freed. */
void xsd_view_remove(const struct xsd_view *view, struct xsd_node *node);

/** xsd_view_set_perms() - the node takes over @perms and is counted for their owner. */
void xsd_view_set_perms(const struct xsd_view *view, struct xsd_node *node,
			struct xsd_perms *perms);

/** xsd_view_owned() - nodes of @domid, those of the transaction included. */
unsigned xsd_view_owned(const struct xsd_view *view, unsigned domid);

#endif
