/* SPDX-License-Identifier: MIT */
/*
 * xsd_tree.h: the nodes of the store and who owns how many. Knows nothing of permission checks,
 * quotas, watches or clients, and does no I/O.
 *
 * Nodes are found by their whole path in one table; a node also lists its children's names, in the
 * order they were made, in the form DIRECTORY sends them. Whoever adds or removes a node keeps its
 * parent's list right (xsd_store.c does). Each change of a node gives it a generation of its own,
 * greater than all before: that is how a transaction sees that somebody else was there.
 */
#ifndef XENSTORE_XSD_TREE_H
#define XENSTORE_XSD_TREE_H

#include <stddef.h>
#include <stdint.h>
#include <uthash.h>

#include "xenstore/xsd_perms.h"

/* The generation of a node that does not exist. */
#define XSD_ABSENT 0

struct xsd_node {
	char *path;
	uint64_t generation;
	struct xsd_perms perms;
	char *value;
	size_t value_len;
	char *children; /* names, each with its end */
	size_t children_len;
	size_t children_room;
	UT_hash_handle hh; /* of the tree; unused in a transaction's copy */
};

/** xsd_node_new() - no value, no children, a copy of @perms. NULL: out of memory. */
struct xsd_node *xsd_node_new(const char *path, const struct xsd_perms *perms);
struct xsd_node *xsd_node_copy(const struct xsd_node *node);
/** xsd_node_free() - accepts NULL. */
void xsd_node_free(struct xsd_node *node);

int xsd_node_set_value(struct xsd_node *node, const void *value, size_t len);
int xsd_node_add_child(struct xsd_node *node, const char *name);
/** xsd_node_del_child() - a name that is not there is ignored. */
void xsd_node_del_child(struct xsd_node *node, const char *name);

/** xsd_node_bytes() - its size as xenstored counts it for the node-size quota. */
size_t xsd_node_bytes(size_t value_len, size_t children_len, unsigned nr_perms);

/** A number for each domain; domains not in the table have 0. */
struct xsd_count {
	unsigned domid;
	int count;
	UT_hash_handle hh;
};

void xsd_count_add(struct xsd_count **counts, unsigned domid, int delta);
int xsd_count_get(const struct xsd_count *counts, unsigned domid);
void xsd_count_free(struct xsd_count **counts);

struct xsd_tree {
	struct xsd_node *nodes;
	struct xsd_count *owners;
	uint64_t generation; /* the last one given */
};

void xsd_tree_init(struct xsd_tree *tree);
void xsd_tree_destroy(struct xsd_tree *tree);

/** xsd_tree_find() - NULL: there is none. */
struct xsd_node *xsd_tree_find(const struct xsd_tree *tree, const char *path);

/** xsd_tree_insert() - a path not yet in the tree, which then owns @node; counts it for its owner.
 */
void xsd_tree_insert(struct xsd_tree *tree, struct xsd_node *node);

/** xsd_tree_remove() - take @node, which is in the tree, out and free it. */
void xsd_tree_remove(struct xsd_tree *tree, struct xsd_node *node);

unsigned xsd_tree_count(const struct xsd_tree *tree);

/** xsd_tree_check() - is each node its parent's child, once, and the other way round? Faults found.
 */
unsigned xsd_tree_check(const struct xsd_tree *tree);

#endif
