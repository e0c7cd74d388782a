/* SPDX-License-Identifier: MIT */
/* store.c: see store.h. */
#include "test/unit/xenstore/store.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_wire.h"

struct xsd_tree tree;
struct xsd_quota quota;
struct xsd_watch_registry registry;

void store_setup(void)
{
	quota = XSD_QUOTA_DEFAULT;
	xsd_tree_init(&tree);
	ck_assert_int_eq(xsd_store_setup(&tree), 0);
	ck_assert_int_eq(xsd_watch_init(&registry), 0);
}

void store_teardown(void)
{
	ck_assert_uint_eq(xsd_tree_check(&tree), 0);
	xsd_watch_destroy(&registry);
	xsd_tree_destroy(&tree);
}

struct xsd_op in(struct xsd_txn *txn, unsigned domid)
{
	return (struct xsd_op){
		.view = {.tree = &tree, .txn = txn},
		.cred = {.domid = domid, .target = XSD_NO_TARGET},
		.quota = &quota,
		.sink = &registry.sink,
	};
}

struct xsd_op as(unsigned domid)
{
	return in(NULL, domid);
}

int put(struct xsd_op op, const char *path, const char *value)
{
	return xsd_store_write(&op, path, value, strlen(value));
}

const char *get(struct xsd_op op, const char *path)
{
	static char text[XENSTORE_PAYLOAD_MAX + 1];
	struct xsd_node *node;

	if (xsd_store_get(&op, path, XSD_READ, &node))
		return NULL;
	ck_assert_uint_lt(node->value_len, sizeof(text));
	if (node->value_len)
		memcpy(text, node->value, node->value_len);
	text[node->value_len] = '\0';
	return text;
}

int get_error(struct xsd_op op, const char *path)
{
	struct xsd_node *node;

	return xsd_store_get(&op, path, XSD_READ, &node);
}

int chmod_node(struct xsd_op op, const char *path, const char *text)
{
	char strings[256];
	struct xsd_perms perms;
	unsigned nr = 1;
	char *comma;
	int ret;

	strcpy(strings, text);
	for (comma = strings; (comma = strchr(comma, ',')); nr++)
		*comma++ = '\0';
	ck_assert_int_eq(xsd_perms_parse(&perms, strings, nr), 0);
	ret = xsd_store_set_perms(&op, path, &perms);
	xsd_perms_free(&perms);
	return ret;
}

const char *perms_text(const char *path)
{
	static char text[256];
	const struct xsd_node *node = xsd_tree_find(&tree, path);
	char one[XSD_PERM_BYTES];
	unsigned i;

	ck_assert_ptr_nonnull(node);
	text[0] = '\0';
	for (i = 0; i < node->perms.nr; i++) {
		xsd_perm_format(one, &node->perms.list[i]);
		sprintf(text + strlen(text), "%s%s", i ? "," : "", one);
	}
	return text;
}

const char *children(struct xsd_op op, const char *path)
{
	static char text[4096];
	struct xsd_node *node;
	size_t i;

	ck_assert_int_eq(xsd_store_get(&op, path, XSD_READ, &node), 0);
	ck_assert_uint_lt(node->children_len, sizeof(text));
	text[0] = '\0';
	for (i = 0; i + 1 < node->children_len; i++)
		text[i] = node->children[i] ? node->children[i] : ',';
	text[i] = '\0';
	return text;
}

static void on_event(struct xsd_watcher *watcher, const char *path, const char *token)
{
	struct recorder *rec = container_of(watcher, struct recorder, watcher);
	size_t len = strlen(rec->log);

	snprintf(rec->log + len, sizeof(rec->log) - len, "%s %s\n", path, token);
}

void recorder_add(struct recorder *rec, unsigned domid)
{
	memset(rec, 0, sizeof(*rec));
	rec->watcher.cred = (struct xsd_cred){.domid = domid, .target = XSD_NO_TARGET};
	rec->watcher.event = on_event;
	xsd_watcher_add(&registry, &rec->watcher);
}

void recorder_remove(struct recorder *rec)
{
	xsd_watcher_remove(&registry, &rec->watcher);
}

void record(struct recorder *rec, const char *path, const char *token)
{
	struct xsd_watch *watch;

	ck_assert_int_eq(xsd_watch_add(&registry, &rec->watcher, path, token, 2048, &watch), 0);
}

void expect_log(struct recorder *rec, const char *log)
{
	ck_assert_str_eq(rec->log, log);
	rec->log[0] = '\0';
}
