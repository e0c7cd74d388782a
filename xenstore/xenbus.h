/* SPDX-License-Identifier: MIT */
/*
 * xenbus.h: what every split driver and the toolstack do with xenstore, over libxenstore.
 *
 * The seam is libxenstore itself: callers hold a struct xs_handle and may use xs_*() beside these.
 * Everything here may block on xenstored, so it is for control threads only. Nothing logs unless
 * it says so. Values read from a node a guest can write are hostile: they are length-capped, and
 * numbers are strict decimal (no sign, no space, no octal, no hex).
 */
#ifndef XENSTORE_XENBUS_H
#define XENSTORE_XENBUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xenstore.h>

#include <xen/io/xenbus.h> /* enum xenbus_state */

#include "common/compiler.h"

/* Longest path (XENSTORE_ABS_PATH_MAX is 3072; ours are short) and longest value taken, in bytes. */
#define XENBUS_PATH_BYTES  256
#define XENBUS_VALUE_BYTES 256

/** xenbus_state_name() - "InitWait" for XenbusStateInitWait; "invalid" outside the enum. */
const char *xenbus_state_name(enum xenbus_state state);

/** xenbus_path() - snprintf into a path. Return: 0, or -ENAMETOOLONG. */
int xenbus_path(char path[XENBUS_PATH_BYTES], const char *fmt, ...) __printf(2, 3);

/**
 * xenbus_read() - one value as a string
 * @value: at least @size bytes; terminated
 * @dir, @key: the node is @dir/@key, or @dir alone if @key is NULL
 *
 * Return: its length, or -ENOENT, -EACCES, ... as xenstored answers; -E2BIG if it does not fit
 * in @size - 1; -EINVAL if it contains a zero byte.
 */
int xenbus_read(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		char *value, size_t size);

/**
 * xenbus_read_u32() - one value as a strict decimal number in [@min, @max]
 *
 * Return: 0; -ENOENT and other errors as xenbus_read(); -EINVAL if it is no such number; -ERANGE.
 */
int xenbus_read_u32(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		    uint32_t min, uint32_t max, uint32_t *value);

/**
 * xenbus_read_bool() - a feature flag
 *
 * Return: true if the node exists and is a decimal number other than 0; false in every other case.
 */
bool xenbus_read_bool(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key);

/** xenbus_read_state() - the node @dir/state; XenbusStateUnknown if absent or not a state. */
enum xenbus_state xenbus_read_state(struct xs_handle *xs, xs_transaction_t t, const char *dir);

/** xenbus_exists() - does @dir/@key (or @dir) exist; false on any error. */
bool xenbus_exists(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key);

/** xenbus_printf() - write @dir/@key. Return: 0 or -errno. */
int xenbus_printf(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		  const char *fmt, ...) __printf(5, 6);

/**
 * xenbus_transaction() - run @body in a transaction, again while it conflicts
 * @body: called with the transaction; 0 commits, -errno aborts and is returned. May run several
 *	times, so it must not have side effects outside the store.
 *
 * Tries at most XENBUS_TRANSACTION_TRIES times with a growing pause (bounded: at most about 1 s in
 * all). Return: 0, @body's error, -EAGAIN if every try conflicted, or the commit's error.
 */
#define XENBUS_TRANSACTION_TRIES 32
int xenbus_transaction(struct xs_handle *xs,
		       int (*body)(struct xs_handle *xs, xs_transaction_t t, void *arg), void *arg);

/**
 * xenbus_switch_state() - write @dir/state in a transaction that first sees that it still exists
 *
 * A device directory that the toolstack removed is never created again by writing into it
 * (as xenbus_switch_state() of Linux's xenbus_client.c). Writes nothing if the state is @state.
 * Return: 0; -ENOENT if the node is gone; other -errno.
 */
int xenbus_switch_state(struct xs_handle *xs, const char *dir, enum xenbus_state state);

/**
 * xenbus_dev_error() - write "ERRNO TEXT" to the device's error node
 * @domid: domain of the device's directory: the node is /local/domain/@domid/error/@nodename/error
 * @nodename: the device's directory relative to its domain, e.g. "backend/vif/3/0"
 * @err: a positive errno
 *
 * The place Linux's xenbus_dev_error() uses and tools read. Return: 0 or -errno (ignorable).
 */
int xenbus_dev_error(struct xs_handle *xs, uint32_t domid, const char *nodename, int err,
		     const char *fmt, ...) __printf(5, 6);

/** xenbus_domid() - our own domid: the relative node "domid". Return: domid, or -errno. */
int xenbus_domid(struct xs_handle *xs);

/**
 * xenbus_parse_u32() - strict decimal, the whole of @text, in [@min, @max]
 *
 * Return: 0, -EINVAL or -ERANGE.
 */
int xenbus_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value);

#endif
