/* SPDX-License-Identifier: MIT */
/*
 * store.h: a store without a server for the tests of its parts: requests of any domain, and
 * watchers whose events are written down.
 */
#ifndef TEST_UNIT_XENSTORE_STORE_H
#define TEST_UNIT_XENSTORE_STORE_H

#include "xenstore/xsd_store.h"
#include "xenstore/xsd_watch.h"

/* One per test, set up and torn down by the fixture functions. */
extern struct xsd_tree tree;
extern struct xsd_quota quota;
extern struct xsd_watch_registry registry;

void store_setup(void);
void store_teardown(void); /* also checks that the tree is consistent */

/** as() - requests of @domid on the store. in() - on a transaction. */
struct xsd_op as(unsigned domid);
struct xsd_op in(struct xsd_txn *txn, unsigned domid);

int put(struct xsd_op op, const char *path, const char *value);
/** get() - the value, or NULL if that fails for any reason. */
const char *get(struct xsd_op op, const char *path);
int get_error(struct xsd_op op, const char *path);
int chmod_node(struct xsd_op op, const char *path, const char *perms);
/** perms_text() - "n0,r5". */
const char *perms_text(const char *path);
/** children() - "a,b". */
const char *children(struct xsd_op op, const char *path);

struct recorder {
	struct xsd_watcher watcher;
	char log[8192]; /* "path token" and a line's end for each event */
};

void recorder_add(struct recorder *rec, unsigned domid);
void recorder_remove(struct recorder *rec);
/** record() - watch, and forget the first event. */
void record(struct recorder *rec, const char *path, const char *token);
/** expect_log() - these are the events since the last call. */
void expect_log(struct recorder *rec, const char *log);

#endif
