/* SPDX-License-Identifier: MIT */
/*
 * keys.c: the xenstore keys of a vif as a frontend reads and writes them (xen/io/netif.h). Control
 * side only: may block on xenstored. Keeps no state.
 */
#include "netfront/netfront.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

int netfront_find_backend(struct xs_handle *xs, const char *dir, struct netfront_backend *backend)
{
	int len = xenbus_read(xs, XBT_NULL, dir, "backend", backend->path, sizeof(backend->path));

	if (len < 0)
		return len;
	if (backend->path[0] != '/')
		return -EINVAL;
	return xenbus_read_u32(xs, XBT_NULL, dir, "backend-id", 0, DOMID_FIRST_RESERVED - 1,
			       &backend->domid);
}

void netfront_read_features(struct xs_handle *xs, const struct netfront_backend *backend,
			    struct netfront_features *features)
{
	const char *path = backend->path;

	features->sg_tx &= xenbus_read_bool(xs, XBT_NULL, path, "feature-sg");
	features->split_evtchn &=
		xenbus_read_bool(xs, XBT_NULL, path, "feature-split-event-channels");
}

int netfront_parse_mac(const char *text, uint8_t mac[NETFRONT_MAC_BYTES])
{
	static const char digits[] = "0123456789abcdef0123456789ABCDEF";

	for (unsigned i = 0; i < 3 * NETFRONT_MAC_BYTES - 1; i++) {
		const char *digit;

		if (i % 3 == 2) {
			if (text[i] != ':')
				return -EINVAL;
			continue;
		}
		digit = text[i] ? strchr(digits, text[i]) : NULL;
		if (!digit)
			return -EINVAL;
		mac[i / 3] = (uint8_t)((i % 3 ? mac[i / 3] << 4 : 0) | ((digit - digits) & 15));
	}
	return text[3 * NETFRONT_MAC_BYTES - 1] ? -EINVAL : 0;
}

int netfront_read_mac(struct xs_handle *xs, const char *dir, uint8_t mac[NETFRONT_MAC_BYTES])
{
	char text[XENBUS_VALUE_BYTES];
	int len = xenbus_read(xs, XBT_NULL, dir, "mac", text, sizeof(text));

	return len < 0 ? len : netfront_parse_mac(text, mac);
}

struct keys {
	const char *dir;
	const struct netfront_queue *queues;
	unsigned nr_queues;
	const struct netfront_features *features;
};

static int put(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
	       unsigned value)
{
	return xenbus_printf(xs, t, dir, key, "%u", value);
}

static int put_channels(struct xs_handle *xs, xs_transaction_t t, const char *dir,
			const struct netfront_queue *queue)
{
	int err;

	if (queue->tx_port == queue->rx_port)
		return put(xs, t, dir, "event-channel", (unsigned)queue->tx_port);
	err = put(xs, t, dir, "event-channel-tx", (unsigned)queue->tx_port);
	return err ? err : put(xs, t, dir, "event-channel-rx", (unsigned)queue->rx_port);
}

static int put_queue(struct xs_handle *xs, xs_transaction_t t, const char *dir,
		     const struct netfront_queue *queue)
{
	int err = put(xs, t, dir, "tx-ring-ref", queue->tx_ring_ref);

	if (!err)
		err = put(xs, t, dir, "rx-ring-ref", queue->rx_ring_ref);
	return err ? err : put_channels(xs, t, dir, queue);
}

/* Flat with one queue, queue-N/ with several; a backend looks at one layout only. */
static int put_queues(struct xs_handle *xs, xs_transaction_t t, const struct keys *keys)
{
	char dir[XENBUS_PATH_BYTES];
	int err;

	if (keys->nr_queues == 1)
		return put_queue(xs, t, keys->dir, keys->queues);
	err = put(xs, t, keys->dir, "multi-queue-num-queues", keys->nr_queues);
	for (unsigned i = 0; !err && i < keys->nr_queues; i++) {
		err = xenbus_path(dir, "%s/queue-%u", keys->dir, i);
		if (!err)
			err = put_queue(xs, t, dir, &keys->queues[i]);
	}
	return err;
}

/* Keys of an earlier connection that had other features; a backend would believe them. */
static int remove_stale(struct xs_handle *xs, xs_transaction_t t, const struct keys *keys)
{
	static const char *const names[] = {"event-channel",	 "event-channel-tx",
					    "event-channel-rx",	 "multi-queue-num-queues",
					    "feature-rx-notify", "feature-sg"};
	char path[XENBUS_PATH_BYTES];
	int err = 0;

	for (unsigned i = 0; !err && i < ARRAY_SIZE(names); i++) {
		err = xenbus_path(path, "%s/%s", keys->dir, names[i]);
		if (!err && !xs_rm(xs, t, path) && errno != ENOENT)
			err = -errno;
	}
	return err;
}

static int put_features(struct xs_handle *xs, xs_transaction_t t, const struct keys *keys)
{
	int err = put(xs, t, keys->dir, "request-rx-copy", 1);

	if (!err && keys->features->rx_notify)
		err = put(xs, t, keys->dir, "feature-rx-notify", 1);
	if (!err && keys->features->sg_rx)
		err = put(xs, t, keys->dir, "feature-sg", 1);
	/* Our host sides cannot complete a checksum, so the backend is to send none blank. */
	return err ? err : put(xs, t, keys->dir, "feature-no-csum-offload", 1);
}

static int put_all(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	const struct keys *keys = arg;
	int err = remove_stale(xs, t, keys);

	if (!err)
		err = put_queues(xs, t, keys);
	return err ? err : put_features(xs, t, keys);
}

int netfront_publish_keys(struct xs_handle *xs, const char *dir,
			  const struct netfront_queue *queues, unsigned nr_queues,
			  const struct netfront_features *features)
{
	struct keys keys = {dir, queues, nr_queues, features};

	return xenbus_transaction(xs, put_all, &keys);
}
