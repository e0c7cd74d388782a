/* SPDX-License-Identifier: MIT */
/*
 * xenbus.c: the xenstore idioms of split drivers and toolstacks, over libxenstore.
 *
 * Control threads only: every call is a round trip to xenstored and may block on it. Keeps no state
 * and logs nothing; values come back as capped, checked copies.
 */
#include "xenstore/xenbus.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/compiler.h"

/* Pauses between the tries of a transaction: doubling from the first to the longest. */
#define PAUSE_FIRST_USEC 100U
#define PAUSE_MAX_USEC	 40000U

/* DOMID_FIRST_RESERVED of xen/xen.h: real domains are below it. */
#define DOMID_MAX 0x7FEFU

static const char *const state_names[] = {
	[XenbusStateUnknown] = "Unknown",
	[XenbusStateInitialising] = "Initialising",
	[XenbusStateInitWait] = "InitWait",
	[XenbusStateInitialised] = "Initialised",
	[XenbusStateConnected] = "Connected",
	[XenbusStateClosing] = "Closing",
	[XenbusStateClosed] = "Closed",
	[XenbusStateReconfiguring] = "Reconfiguring",
	[XenbusStateReconfigured] = "Reconfigured",
};

const char *xenbus_state_name(enum xenbus_state state)
{
	if ((unsigned)state >= ARRAY_SIZE(state_names))
		return "invalid";
	return state_names[state];
}

int xenbus_path(char path[XENBUS_PATH_BYTES], const char *fmt, ...)
{
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(path, XENBUS_PATH_BYTES, fmt, ap);
	va_end(ap);
	if (len < 0 || len >= XENBUS_PATH_BYTES)
		return -ENAMETOOLONG;
	return 0;
}

int xenbus_parse_u32(const char *text, uint32_t min, uint32_t max, uint32_t *value)
{
	uint64_t number = 0;
	const char *p;

	/* A leading zero would be octal to some readers and decimal to others: neither is taken. */
	if (*text == '\0' || (text[0] == '0' && text[1] != '\0'))
		return -EINVAL;
	for (p = text; *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		/* Sticks above UINT32_MAX, so that any number of digits is only out of range. */
		if (number <= UINT32_MAX)
			number = number * 10 + (uint64_t)(*p - '0');
	}
	if (number < min || number > max)
		return -ERANGE;
	*value = (uint32_t)number;
	return 0;
}

/* @dir/@key, or @dir alone. */
static int join(char path[XENBUS_PATH_BYTES], const char *dir, const char *key)
{
	if (!key)
		return xenbus_path(path, "%s", dir);
	return xenbus_path(path, "%s/%s", dir, key);
}

/* errno of a libxenstore call that failed, as ours: never 0. */
static int xs_error(void)
{
	return errno ? -errno : -EIO;
}

int xenbus_read(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		char *value, size_t size)
{
	char path[XENBUS_PATH_BYTES];
	unsigned len;
	char *data;
	int ret;

	ret = join(path, dir, key);
	if (ret)
		return ret;
	data = xs_read(xs, t, path, &len);
	if (!data)
		return xs_error();
	if (len >= size) {
		ret = -E2BIG;
	} else if (memchr(data, '\0', len)) {
		ret = -EINVAL;
	} else {
		memcpy(value, data, len);
		value[len] = '\0';
		ret = (int)len;
	}
	free(data);
	return ret;
}

int xenbus_read_u32(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		    uint32_t min, uint32_t max, uint32_t *value)
{
	char text[XENBUS_VALUE_BYTES];
	int ret;

	ret = xenbus_read(xs, t, dir, key, text, sizeof(text));
	if (ret == -E2BIG)
		return -EINVAL;
	if (ret < 0)
		return ret;
	return xenbus_parse_u32(text, min, max, value);
}

bool xenbus_read_bool(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key)
{
	uint32_t value;

	return xenbus_read_u32(xs, t, dir, key, 0, UINT32_MAX, &value) == 0 && value != 0;
}

enum xenbus_state xenbus_read_state(struct xs_handle *xs, xs_transaction_t t, const char *dir)
{
	uint32_t value;

	if (xenbus_read_u32(xs, t, dir, "state", 0, XenbusStateReconfigured, &value))
		return XenbusStateUnknown;
	return (enum xenbus_state)value;
}

bool xenbus_exists(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key)
{
	char path[XENBUS_PATH_BYTES];
	unsigned len;
	void *data;

	if (join(path, dir, key))
		return false;
	data = xs_read(xs, t, path, &len);
	free(data);
	return data != NULL;
}

static int write_value(struct xs_handle *xs, xs_transaction_t t, const char *path,
		       const char *value)
{
	return xs_write(xs, t, path, value, (unsigned)strlen(value)) ? 0 : xs_error();
}

int xenbus_printf(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		  const char *fmt, ...)
{
	char path[XENBUS_PATH_BYTES];
	char value[XENBUS_VALUE_BYTES];
	va_list ap;
	int ret;

	ret = join(path, dir, key);
	if (ret)
		return ret;
	va_start(ap, fmt);
	ret = vsnprintf(value, sizeof(value), fmt, ap);
	va_end(ap);
	if (ret < 0 || (size_t)ret >= sizeof(value))
		return -E2BIG;
	return write_value(xs, t, path, value);
}

static void pause_usec(unsigned usec)
{
	struct timespec ts = {.tv_nsec = (long)usec * 1000};

	nanosleep(&ts, NULL);
}

/* One try of a transaction. -EAGAIN with *@conflict set if the commit met a conflict. */
static int try_transaction(struct xs_handle *xs,
			   int (*body)(struct xs_handle *xs, xs_transaction_t t, void *arg),
			   void *arg, bool *conflict)
{
	xs_transaction_t t;
	int ret;

	*conflict = false;
	t = xs_transaction_start(xs);
	if (t == XBT_NULL)
		return xs_error();
	ret = body(xs, t, arg);
	if (ret) {
		xs_transaction_end(xs, t, true);
		return ret;
	}
	if (xs_transaction_end(xs, t, false))
		return 0;
	ret = xs_error();
	*conflict = ret == -EAGAIN;
	return ret;
}

int xenbus_transaction(struct xs_handle *xs,
		       int (*body)(struct xs_handle *xs, xs_transaction_t t, void *arg), void *arg)
{
	unsigned pause = PAUSE_FIRST_USEC;
	unsigned tries;
	bool conflict;
	int ret;

	for (tries = 1;; tries++) {
		ret = try_transaction(xs, body, arg, &conflict);
		if (!conflict || tries == XENBUS_TRANSACTION_TRIES)
			return ret;
		pause_usec(pause);
		pause = MIN(pause * 2, PAUSE_MAX_USEC);
	}
}

struct switch_state {
	const char *dir;
	enum xenbus_state state;
};

static int switch_state_body(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	const struct switch_state *want = arg;
	char text[XENBUS_VALUE_BYTES];
	uint32_t now;
	int ret;

	/* Whatever is in the node may be overwritten, but only if the node is there. */
	ret = xenbus_read(xs, t, want->dir, "state", text, sizeof(text));
	if (ret < 0 && ret != -E2BIG && ret != -EINVAL)
		return ret;
	if (ret >= 0 && !xenbus_parse_u32(text, 0, UINT32_MAX, &now) && now == want->state)
		return 0;
	return xenbus_printf(xs, t, want->dir, "state", "%u", (unsigned)want->state);
}

int xenbus_switch_state(struct xs_handle *xs, const char *dir, enum xenbus_state state)
{
	struct switch_state want = {.dir = dir, .state = state};

	return xenbus_transaction(xs, switch_state_body, &want);
}

int xenbus_dev_error(struct xs_handle *xs, uint32_t domid, const char *nodename, int err,
		     const char *fmt, ...)
{
	char path[XENBUS_PATH_BYTES];
	char value[XENBUS_VALUE_BYTES];
	va_list ap;
	int ret, len;

	ret = xenbus_path(path, "/local/domain/%u/error/%s/error", domid, nodename);
	if (ret)
		return ret;
	len = snprintf(value, sizeof(value), "%d ", err);
	/* A text too long is cut: better half of it than none. */
	va_start(ap, fmt);
	vsnprintf(value + len, sizeof(value) - (size_t)len, fmt, ap);
	va_end(ap);
	return write_value(xs, XBT_NULL, path, value);
}

int xenbus_domid(struct xs_handle *xs)
{
	uint32_t domid;
	int ret;

	ret = xenbus_read_u32(xs, XBT_NULL, "domid", NULL, 0, DOMID_MAX, &domid);
	return ret ? ret : (int)domid;
}
