/* SPDX-License-Identifier: MIT */
/* xsd_tree.c: see xsd_tree.h. Pure. */
#include "xenstore/xsd_tree.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_path.h"

struct xsd_node *xsd_node_new(const char *path, const struct xsd_perms *perms)
{
	struct xsd_node *node = calloc(1, sizeof(*node));

	if (!node)
		return NULL;
	node->path = strdup(path);
	if (!node->path || xsd_perms_copy(&node->perms, perms)) {
		xsd_node_free(node);
		return NULL;
	}
	return node;
}

struct xsd_node *xsd_node_copy(const struct xsd_node *node)
{
	struct xsd_node *copy = xsd_node_new(node->path, &node->perms);

	if (!copy)
		return NULL;
	copy->generation = node->generation;
	if (xsd_node_set_value(copy, node->value, node->value_len))
		goto err;
	if (node->children_len) {
		copy->children = malloc(node->children_len);
		if (!copy->children)
			goto err;
		memcpy(copy->children, node->children, node->children_len);
		copy->children_len = copy->children_room = node->children_len;
	}
	return copy;
err:
	xsd_node_free(copy);
	return NULL;
}

void xsd_node_free(struct xsd_node *node)
{
	if (!node)
		return;
	xsd_perms_free(&node->perms);
	free(node->path);
	free(node->value);
	free(node->children);
	free(node);
}

int xsd_node_set_value(struct xsd_node *node, const void *value, size_t len)
{
	char *copy = NULL;

	if (len) {
		copy = malloc(len);
		if (!copy)
			return -ENOMEM;
		memcpy(copy, value, len);
	}
	free(node->value);
	node->value = copy;
	node->value_len = len;
	return 0;
}

int xsd_node_add_child(struct xsd_node *node, const char *name)
{
	size_t len = strlen(name) + 1;
	size_t need = node->children_len + len;

	if (need > node->children_room) {
		size_t room = MAX(need, node->children_room * 2);
		char *children = realloc(node->children, room);

		if (!children)
			return -ENOMEM;
		node->children = children;
		node->children_room = room;
	}
	memcpy(node->children + node->children_len, name, len);
	node->children_len = need;
	return 0;
}

void xsd_node_del_child(struct xsd_node *node, const char *name)
{
	char *end = node->children + node->children_len;
	char *child;
	size_t len;

	for (child = node->children; child < end; child += len) {
		len = strlen(child) + 1;
		if (strcmp(child, name) == 0) {
			memmove(child, child + len, (size_t)(end - child) - len);
			node->children_len -= len;
			return;
		}
	}
}

size_t xsd_node_bytes(size_t value_len, size_t children_len, unsigned nr_perms)
{
	/* The head of xenstored's own record, and the size of one of its permission entries. */
	return 24 + nr_perms * 8UL + value_len + children_len;
}

void xsd_count_add(struct xsd_count **counts, unsigned domid, int delta)
{
	struct xsd_count *count;

	HASH_FIND(hh, *counts, &domid, sizeof(domid), count);
	if (!count) {
		count = calloc(1, sizeof(*count));
		/* As uthash itself does: there is no going on with a count lost. */
		if (!count)
			abort();
		count->domid = domid;
		HASH_ADD(hh, *counts, domid, sizeof(count->domid), count);
	}
	count->count += delta;
	if (count->count == 0) {
		HASH_DEL(*counts, count);
		free(count);
	}
}

int xsd_count_get(const struct xsd_count *counts, unsigned domid)
{
	struct xsd_count *count;

	HASH_FIND(hh, counts, &domid, sizeof(domid), count);
	return count ? count->count : 0;
}

void xsd_count_free(struct xsd_count **counts)
{
	struct xsd_count *count, *next;

	HASH_ITER (hh, *counts, count, next) {
		HASH_DEL(*counts, count);
		free(count);
	}
}

void xsd_tree_init(struct xsd_tree *tree)
{
	memset(tree, 0, sizeof(*tree));
}

void xsd_tree_destroy(struct xsd_tree *tree)
{
	struct xsd_node *node, *next_node;

	HASH_ITER (hh, tree->nodes, node, next_node) {
		HASH_DEL(tree->nodes, node);
		xsd_node_free(node);
	}
	xsd_count_free(&tree->owners);
}

struct xsd_node *xsd_tree_find(const struct xsd_tree *tree, const char *path)
{
	struct xsd_node *node;

	HASH_FIND_STR(tree->nodes, path, node);
	return node;
}

void xsd_tree_insert(struct xsd_tree *tree, struct xsd_node *node)
{
	HASH_ADD_KEYPTR(hh, tree->nodes, node->path, strlen(node->path), node);
	xsd_count_add(&tree->owners, node->perms.list[0].domid, 1);
}

void xsd_tree_remove(struct xsd_tree *tree, struct xsd_node *node)
{
	xsd_count_add(&tree->owners, node->perms.list[0].domid, -1);
	HASH_DEL(tree->nodes, node);
	xsd_node_free(node);
}

unsigned xsd_tree_count(const struct xsd_tree *tree)
{
	return HASH_COUNT(tree->nodes);
}

/* How often @node has a child @name. */
static unsigned count_child(const struct xsd_node *node, const char *name)
{
	const char *child = node->children;
	unsigned count = 0;

	for (; child < node->children + node->children_len; child += strlen(child) + 1)
		count += strcmp(child, name) == 0;
	return count;
}

static unsigned count_children(const struct xsd_node *node)
{
	const char *child = node->children;
	unsigned count = 0;

	for (; child < node->children + node->children_len; child += strlen(child) + 1)
		count++;
	return count;
}

unsigned xsd_tree_check(const struct xsd_tree *tree)
{
	unsigned nr_children = 0, nr_nodes = 0, nr_owned = 0, faults = 0;
	struct xsd_node *node, *parent, *next;
	struct xsd_count *owner, *next_owner;
	char path[XSD_PATH_BYTES];

	HASH_ITER (hh, tree->nodes, node, next) {
		nr_nodes++;
		nr_children += count_children(node);
		strcpy(path, node->path);
		if (!xsd_path_up(path))
			continue;
		parent = xsd_tree_find(tree, path);
		if (!parent || count_child(parent, xsd_path_base(node->path)) != 1)
			faults++;
	}
	HASH_ITER (hh, tree->owners, owner, next_owner)
		nr_owned += (unsigned)owner->count;
	/* Every node but the root is somebody's child. */
	return faults + (nr_children + 1 != nr_nodes) + (nr_owned != nr_nodes);
}
