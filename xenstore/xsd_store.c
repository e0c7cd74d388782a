/* SPDX-License-Identifier: MIT */
/* xsd_store.c: see xsd_store.h. Pure: no I/O. */
#include "xenstore/xsd_store.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/compiler.h"
#include "xenstore/xsd_path.h"

/* A node about to be made; children before their parents. */
struct new_node {
	struct xsd_node *node;
	struct new_node *next;
};

static bool privileged(const struct xsd_op *op)
{
	return xsd_cred_privileged(&op->cred);
}

size_t xsd_store_max_path(const struct xsd_op *op)
{
	size_t max = XENSTORE_REL_PATH_MAX;

	return privileged(op) ? max : MIN(max, op->quota->path_bytes);
}

/* Running out of something is never hidden; anything else only if the caller may not know. */
static bool always_told(int err)
{
	return err == -ENOMEM || err == -ENOSPC;
}

/* The nearest node above @path that exists. @path is cut to its name. */
static int nearest_above(const struct xsd_op *op, char *path, struct xsd_node **node)
{
	int ret = -ENOENT;

	while (ret == -ENOENT && xsd_path_up(path))
		ret = xsd_view_get(&op->view, path, node);
	return ret;
}

/* What @err may be told as: -EACCES if the node above would not let the caller see either. */
static int hide(const struct xsd_op *op, const char *path, unsigned access, int err)
{
	char above[XSD_PATH_BYTES];
	struct xsd_node *node;
	int ret;

	strcpy(above, path);
	ret = nearest_above(op, above, &node);
	if (always_told(ret))
		return ret;
	if (ret == 0 && (xsd_perms_of(&node->perms, &op->cred) & access))
		return err;
	return -EACCES;
}

int xsd_store_get(const struct xsd_op *op, const char *path, unsigned access,
		  struct xsd_node **node)
{
	int ret;

	if (!xsd_path_valid(path, xsd_store_max_path(op)))
		return -EINVAL;
	ret = xsd_view_get(&op->view, path, node);
	if (ret == 0 && (xsd_perms_of(&(*node)->perms, &op->cred) & access) != access)
		ret = -EACCES;
	/* A refusal looks above as well, so that transactions conflict just where xenstored's do. */
	if (ret && !always_told(ret))
		ret = hide(op, path, access, ret);
	return ret;
}

static bool node_fits(const struct xsd_op *op, size_t value_len, size_t children_len,
		      unsigned nr_perms)
{
	return privileged(op) ||
	       xsd_node_bytes(value_len, children_len, nr_perms) < op->quota->node_bytes;
}

/*
 * Tells a change of @node; in a transaction it is kept for the commit. An event for watches above
 * as well takes the place of one for the node alone.
 */
static void tell(const struct xsd_op *op, const struct xsd_node *node, bool exact,
		 const struct xsd_perms *old)
{
	struct xsd_change change = {node->path, exact, old, &node->perms, NULL};
	char above[XSD_PATH_BYTES];
	struct xsd_touched *touched;
	struct xsd_node *parent;

	if (op->view.txn) {
		HASH_FIND_STR(op->view.txn->touched, node->path, touched);
		touched->fire_exact = exact && (touched->fire_exact || !touched->fire);
		touched->fire = true;
		return;
	}
	strcpy(above, node->path);
	if (xsd_path_up(above)) {
		parent = xsd_tree_find(op->view.tree, above);
		change.parent = parent ? &parent->perms : NULL;
	}
	if (op->sink)
		op->sink->changed(op->sink, &change);
}

static void free_new(struct new_node *list)
{
	struct new_node *new, *next;

	LL_FOREACH_SAFE (list, new, next) {
		xsd_node_free(new->node);
		free(new);
	}
}

/* One node to be made at @path, with the permissions its parent will have. */
static int add_new(const struct xsd_op *op, const char *path, const struct xsd_perms *perms,
		   struct new_node **list)
{
	struct new_node *new = calloc(1, sizeof(*new));

	if (!new)
		return -ENOMEM;
	new->node = xsd_node_new(path, perms);
	if (!new->node) {
		free(new);
		return -ENOMEM;
	}
	/* An ordinary domain owns what it makes; what dom0 makes belongs to the parent's owner. */
	if (!privileged(op))
		new->node->perms.list[0].domid = (uint16_t)op->cred.domid;
	LL_APPEND(*list, new);
	return 0;
}

/* The missing nodes from @path up to below @top. */
static int plan_new(const struct xsd_op *op, const char *path, const struct xsd_node *top,
		    struct new_node **list)
{
	char at[XSD_PATH_BYTES];
	int ret;

	strcpy(at, path);
	do {
		ret = add_new(op, at, &top->perms, list);
		if (ret)
			return ret;
	} while (xsd_path_up(at) && strcmp(at, top->path) != 0);
	return 0;
}

/* Does what is planned below @top stay within the caller's quotas. */
static bool plan_fits(const struct xsd_op *op, const struct xsd_node *top, struct new_node *list,
		      size_t value_len)
{
	size_t name_len = 0;
	unsigned nr_new = 0;
	struct new_node *new;

	if (privileged(op))
		return true;
	LL_FOREACH (list, new) {
		/* The first has the value; each of the others has the one before as its child. */
		if (!node_fits(op, nr_new ? 0 : value_len, name_len, new->node->perms.nr))
			return false;
		name_len = strlen(xsd_path_base(new->node->path)) + 1;
		nr_new++;
	}
	return node_fits(op, top->value_len, top->children_len + name_len, top->perms.nr) &&
	       xsd_view_owned(&op->view, op->cred.domid) + nr_new <= op->quota->nr_nodes;
}

/* Fills the planned nodes in: value and children's names. */
static int fill_new(struct new_node *list, const void *value, size_t len)
{
	const struct xsd_node *child = NULL;
	struct new_node *new;
	int ret;

	LL_FOREACH (list, new) {
		if (child)
			ret = xsd_node_add_child(new->node, xsd_path_base(child->path));
		else
			ret = xsd_node_set_value(new->node, value, len);
		if (ret)
			return ret;
		child = new->node;
	}
	return 0;
}

/* Makes @path, which does not exist, and what is missing above it. */
static int create(const struct xsd_op *op, const char *path, const void *value, size_t len)
{
	char above[XSD_PATH_BYTES];
	struct new_node *list = NULL;
	struct new_node *new;
	struct xsd_node *top, *made;
	int ret;

	strcpy(above, path);
	ret = nearest_above(op, above, &top);
	if (ret)
		return ret;
	ret = plan_new(op, path, top, &list);
	if (ret)
		goto out;
	if (!plan_fits(op, top, list, len)) {
		ret = -ENOSPC;
		goto out;
	}
	ret = fill_new(list, value, len);
	if (ret)
		goto out;
	/* The first child of an existing node is the last of the list. */
	for (new = list; new->next; new = new->next)
		;
	ret = xsd_node_add_child(top, xsd_path_base(new->node->path));
	if (ret)
		goto out;
	/* Nothing can fail from here on. */
	made = list->node;
	xsd_view_changed(&op->view, top);
	LL_FOREACH (list, new) {
		xsd_view_insert(&op->view, new->node);
		new->node = NULL;
	}
	tell(op, made, false, NULL);
out:
	free_new(list);
	return ret;
}

int xsd_store_write(const struct xsd_op *op, const char *path, const void *value, size_t len)
{
	struct xsd_node *node;
	int ret;

	ret = xsd_store_get(op, path, XSD_WRITE, &node);
	if (ret == -ENOENT)
		return create(op, path, value, len);
	if (ret)
		return ret;
	if (!node_fits(op, len, node->children_len, node->perms.nr))
		return -ENOSPC;
	ret = xsd_node_set_value(node, value, len);
	if (ret)
		return ret;
	xsd_view_changed(&op->view, node);
	tell(op, node, false, NULL);
	return 0;
}

int xsd_store_mkdir(const struct xsd_op *op, const char *path)
{
	struct xsd_node *node;
	int ret;

	ret = xsd_store_get(op, path, XSD_WRITE, &node);
	if (ret == -ENOENT)
		return create(op, path, NULL, 0);
	return ret;
}

/*
 * Removes the node @path and all below it, the deepest first, telling each while it can still be
 * seen by whom. @path is extended in place on the way down. Depth is bounded by a path's length.
 */
static int remove_all(const struct xsd_op *op, char path[XSD_PATH_BYTES], bool exact)
{
	size_t len = strlen(path);
	struct xsd_node *node, *child;
	size_t off;
	int ret;

	ret = xsd_view_get(&op->view, path, &node);
	if (ret)
		return ret;
	for (off = 0; off < node->children_len; off += strlen(node->children + off) + 1) {
		path[len] = '/';
		strcpy(path + len + 1, node->children + off);
		ret = xsd_view_get(&op->view, path, &child);
		if (ret == 0)
			ret = remove_all(op, path, true);
		else if (ret == -ENOENT)
			/* Gone since the transaction saw its parent: the commit will conflict. */
			ret = 0;
		path[len] = '\0';
		if (ret)
			return ret;
	}
	tell(op, node, exact, NULL);
	xsd_view_remove(&op->view, node);
	return 0;
}

/* @path exists, and is not "/". */
static int remove_node(const struct xsd_op *op, const char *path)
{
	char above[XSD_PATH_BYTES], at[XSD_PATH_BYTES];
	struct xsd_node *parent;
	int ret;

	strcpy(above, path);
	strcpy(at, path);
	xsd_path_up(above);
	ret = xsd_view_get(&op->view, above, &parent);
	if (ret)
		/* Its parent has gone since the transaction saw the node: it will conflict. */
		return ret == -ENOENT ? -EINVAL : ret;
	ret = remove_all(op, at, false);
	if (ret)
		return ret;
	xsd_node_del_child(parent, xsd_path_base(path));
	xsd_view_changed(&op->view, parent);
	return 0;
}

/* Removing what is not there is fine if it could have been there. */
static int rm_absent(const struct xsd_op *op, const char *path)
{
	char above[XSD_PATH_BYTES];
	struct xsd_node *parent;

	strcpy(above, path);
	xsd_path_up(above);
	return xsd_view_get(&op->view, above, &parent);
}

int xsd_store_rm(const struct xsd_op *op, const char *path)
{
	struct xsd_node *node;
	int ret;

	ret = xsd_store_get(op, path, XSD_WRITE, &node);
	if (ret == -ENOENT)
		return rm_absent(op, path);
	if (ret)
		return ret;
	if (strcmp(path, "/") == 0)
		return -EINVAL;
	return remove_node(op, path);
}

int xsd_store_set_perms(const struct xsd_op *op, const char *path, struct xsd_perms *perms)
{
	struct xsd_perms old;
	struct xsd_node *node;
	int ret;

	ret = xsd_store_get(op, path, XSD_WRITE | XSD_OWNER, &node);
	if (ret)
		return ret;
	/* Nodes are not given away: they would count for somebody who never made them. */
	if (!privileged(op) && perms->list[0].domid != node->perms.list[0].domid)
		return -EPERM;
	if (!node_fits(op, node->value_len, node->children_len, perms->nr))
		return -ENOSPC;
	ret = xsd_perms_copy(&old, &node->perms);
	if (ret)
		return ret;
	xsd_view_set_perms(&op->view, node, perms);
	tell(op, node, false, &old);
	xsd_perms_free(&old);
	return 0;
}

/* The events of a transaction that has just been committed. */
static void tell_commit(const struct xsd_op *op)
{
	char above[XSD_PATH_BYTES];
	const struct xsd_node *node, *parent;
	struct xsd_touched *touched;
	struct xsd_change change;

	for (touched = op->view.txn->touched; touched; touched = touched->hh.next) {
		if (!touched->fire)
			continue;
		node = xsd_tree_find(op->view.tree, touched->path);
		parent = NULL;
		strcpy(above, touched->path);
		if (xsd_path_up(above))
			parent = xsd_tree_find(op->view.tree, above);
		change = (struct xsd_change){
			.path = touched->path,
			.exact = touched->fire_exact,
			.old = touched->base_perms.nr ? &touched->base_perms : NULL,
			.now = node ? &node->perms : NULL,
			.parent = parent ? &parent->perms : NULL,
		};
		op->sink->changed(op->sink, &change);
	}
}

int xsd_store_commit(const struct xsd_op *op)
{
	const struct xsd_view *view = &op->view;
	const struct xsd_count *count;
	int ret;

	for (count = view->txn->owners; count && !privileged(op); count = count->hh.next)
		if (count->domid != 0 && count->count > 0 &&
		    xsd_view_owned(view, count->domid) > op->quota->nr_nodes)
			return -ENOSPC;
	ret = xsd_txn_commit(view->txn);
	if (ret)
		return ret;
	tell_commit(op);
	return 0;
}

/*
 * Removes the uppermost nodes of @domid below the node @path, with all below each, in the tree's
 * order. @path is extended in place on the way down.
 */
static void remove_owned(const struct xsd_op *op, char path[XSD_PATH_BYTES], unsigned domid)
{
	size_t len = strlen(path);
	size_t slash = len > 1 ? len : 0; /* where a child's name is joined on */
	struct xsd_node *node = xsd_tree_find(op->view.tree, path);
	const struct xsd_node *child;
	size_t off = 0;

	while (off < node->children_len && xsd_count_get(op->view.tree->owners, domid) > 0) {
		size_t name_len = strlen(node->children + off) + 1;

		path[slash] = '/';
		memcpy(path + slash + 1, node->children + off, name_len);
		child = xsd_tree_find(op->view.tree, path);
		if (child->perms.list[0].domid == domid) {
			/* Its name goes as well: the next one is at the same place then. */
			remove_node(op, path);
		} else {
			remove_owned(op, path, domid);
			off += name_len;
		}
		path[len] = '\0';
	}
}

void xsd_store_forget(struct xsd_tree *tree, unsigned domid, struct xsd_sink *sink)
{
	const struct xsd_op op = {
		.view = {.tree = tree},
		.cred = {.domid = 0, .target = XSD_NO_TARGET},
		.sink = sink,
	};
	char path[XSD_PATH_BYTES] = "/";
	struct xsd_node *node, *next;

	node = xsd_tree_find(tree, "/");
	if (node->perms.list[0].domid == domid) {
		xsd_count_add(&tree->owners, domid, -1);
		xsd_count_add(&tree->owners, 0, 1);
		node->perms.list[0].domid = 0;
	}
	remove_owned(&op, path, domid);
	HASH_ITER (hh, tree->nodes, node, next)
		xsd_perms_forget(&node->perms, domid);
}

int xsd_store_setup(struct xsd_tree *tree)
{
	static const char *const paths[] = {"/tool/xenstored", "/local/domain"};
	struct xsd_perm dom0 = {.domid = 0};
	struct xsd_perms perms = {.list = &dom0, .nr = 1};
	struct xsd_op op = {
		.view = {.tree = tree},
		.cred = {.domid = 0, .target = XSD_NO_TARGET},
	};
	struct xsd_node *root = xsd_node_new("/", &perms);
	unsigned i;
	int ret = 0;

	if (!root)
		return -ENOMEM;
	xsd_view_insert(&op.view, root);
	for (i = 0; i < ARRAY_SIZE(paths) && !ret; i++)
		ret = xsd_store_mkdir(&op, paths[i]);
	return ret;
}
