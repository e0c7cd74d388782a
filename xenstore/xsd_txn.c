/* SPDX-License-Identifier: MIT */
/* xsd_txn.c: see xsd_txn.h. Pure. */
#include "xenstore/xsd_txn.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct xsd_txn *xsd_txn_new(struct xsd_tree *tree, uint32_t id, unsigned max_touched)
{
	struct xsd_txn *txn = calloc(1, sizeof(*txn));

	if (!txn)
		return NULL;
	txn->id = id;
	txn->tree = tree;
	txn->max_touched = max_touched;
	return txn;
}

static void touched_free(struct xsd_touched *touched)
{
	xsd_node_free(touched->node);
	xsd_perms_free(&touched->base_perms);
	free(touched->path);
	free(touched);
}

void xsd_txn_free(struct xsd_txn *txn)
{
	struct xsd_touched *touched, *next;

	if (!txn)
		return;
	HASH_ITER (hh, txn->touched, touched, next) {
		HASH_DEL(txn->touched, touched);
		touched_free(touched);
	}
	xsd_count_free(&txn->owners);
	free(txn);
}

static struct xsd_touched *find_touched(const struct xsd_txn *txn, const char *path)
{
	struct xsd_touched *touched;

	HASH_FIND_STR(txn->touched, path, touched);
	return touched;
}

/* A transaction that could not keep track of a node must not commit. */
static int fail(struct xsd_txn *txn, int err)
{
	if (!txn->failed)
		txn->failed = err;
	return err;
}

static int touch(struct xsd_txn *txn, const char *path, struct xsd_touched **result)
{
	struct xsd_touched *touched = find_touched(txn, path);
	const struct xsd_node *base;

	if (touched)
		goto out;
	if (txn->max_touched && HASH_COUNT(txn->touched) >= txn->max_touched)
		return fail(txn, -ENOSPC);
	touched = calloc(1, sizeof(*touched));
	if (!touched)
		return fail(txn, -ENOMEM);
	touched->path = strdup(path);
	if (!touched->path)
		goto err;
	base = xsd_tree_find(txn->tree, path);
	if (base) {
		touched->base_generation = base->generation;
		touched->node = xsd_node_copy(base);
		if (!touched->node || xsd_perms_copy(&touched->base_perms, &base->perms))
			goto err;
	}
	HASH_ADD_KEYPTR(hh, txn->touched, touched->path, strlen(touched->path), touched);
out:
	*result = touched;
	return 0;
err:
	touched_free(touched);
	return fail(txn, -ENOMEM);
}

static bool conflicts(const struct xsd_txn *txn)
{
	const struct xsd_touched *touched;
	const struct xsd_node *now;

	for (touched = txn->touched; touched; touched = touched->hh.next) {
		now = xsd_tree_find(txn->tree, touched->path);
		if (touched->base_generation != (now ? now->generation : XSD_ABSENT))
			return true;
	}
	return false;
}

/* Puts one changed node in the place of what the store has. */
static void apply(struct xsd_txn *txn, struct xsd_touched *touched)
{
	struct xsd_node *now = xsd_tree_find(txn->tree, touched->path);

	if (now)
		xsd_tree_remove(txn->tree, now);
	if (touched->node) {
		touched->node->generation = ++txn->tree->generation;
		xsd_tree_insert(txn->tree, touched->node);
		touched->node = NULL;
	}
}

int xsd_txn_commit(struct xsd_txn *txn)
{
	struct xsd_touched *touched;

	if (txn->failed)
		return txn->failed;
	if (conflicts(txn))
		return -EAGAIN;
	for (touched = txn->touched; touched; touched = touched->hh.next)
		if (touched->modified)
			apply(txn, touched);
	return 0;
}

void xsd_txn_forget(struct xsd_txn *txn, unsigned domid)
{
	struct xsd_touched *touched;

	for (touched = txn->touched; touched; touched = touched->hh.next) {
		if (touched->base_perms.nr)
			xsd_perms_forget(&touched->base_perms, domid);
		if (!touched->node)
			continue;
		xsd_perms_forget(&touched->node->perms, domid);
		if (touched->modified && touched->node->perms.list[0].domid == domid)
			fail(txn, -EAGAIN);
	}
}

int xsd_view_get(const struct xsd_view *view, const char *path, struct xsd_node **node)
{
	struct xsd_touched *touched;
	int ret;

	if (view->txn) {
		ret = touch(view->txn, path, &touched);
		if (ret)
			return ret;
		*node = touched->node;
	} else {
		*node = xsd_tree_find(view->tree, path);
	}
	return *node ? 0 : -ENOENT;
}

void xsd_view_changed(const struct xsd_view *view, struct xsd_node *node)
{
	/* In a transaction too: DIRECTORY_PART shows the generation. */
	node->generation = ++view->tree->generation;
	if (view->txn)
		find_touched(view->txn, node->path)->modified = true;
}

static void own(const struct xsd_view *view, const struct xsd_node *node, int delta)
{
	struct xsd_count **counts = view->txn ? &view->txn->owners : &view->tree->owners;

	xsd_count_add(counts, node->perms.list[0].domid, delta);
}

void xsd_view_insert(const struct xsd_view *view, struct xsd_node *node)
{
	if (view->txn) {
		find_touched(view->txn, node->path)->node = node;
		own(view, node, 1);
	} else {
		xsd_tree_insert(view->tree, node);
	}
	xsd_view_changed(view, node);
}

void xsd_view_remove(const struct xsd_view *view, struct xsd_node *node)
{
	struct xsd_touched *touched;

	if (!view->txn) {
		xsd_tree_remove(view->tree, node);
		return;
	}
	touched = find_touched(view->txn, node->path);
	own(view, node, -1);
	touched->node = NULL;
	touched->modified = true;
	xsd_node_free(node);
}

void xsd_view_set_perms(const struct xsd_view *view, struct xsd_node *node, struct xsd_perms *perms)
{
	own(view, node, -1);
	xsd_perms_free(&node->perms);
	node->perms = *perms;
	perms->list = NULL;
	perms->nr = 0;
	own(view, node, 1);
	xsd_view_changed(view, node);
}

unsigned xsd_view_owned(const struct xsd_view *view, unsigned domid)
{
	int count = xsd_count_get(view->tree->owners, domid);

	/* A sum below 0 can come of changes that will conflict anyway. */
	if (view->txn)
		count += xsd_count_get(view->txn->owners, domid);
	return count > 0 ? (unsigned)count : 0;
}
