/* SPDX-License-Identifier: MIT */
/*
 * vif.c: what a vif is made of: identity, features, port, queues. Control thread only, except
 * report_fatal(). Decides nothing: backend.c says when. Never writes a state node.
 */
#include "netback/vif.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"

#define MTU_DEFAULT 1500
#define MTU_MIN	    68
#define MTU_MAX	    65517 /* the whole frame, with its 18 bytes of Ethernet, is a 16-bit size */

/* DOMID_FIRST_RESERVED of xen/xen.h. */
#define DOMID_MAX 0x7FEFU

const struct xenvif_feature xenvif_features_offered[] = {
	{"feature-rx-copy", 1},
	{"feature-rx-flip", 0},
	{"feature-sg", 1},
	{"feature-rx-notify", 1},
	{"feature-split-event-channels", 1},
	{"multi-queue-max-queues", XENVIF_QUEUES_OFFERED},
	{NULL, 0},
};

void xenvif_set_error(struct xenvif *vif, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(vif->error, sizeof(vif->error), fmt, args);
	va_end(args);
}

void xenvif_report_error(struct xenvif *vif, int err)
{
	vif->nr_errors++;
	log_limited(&vif->log_limit, LOG_LEVEL_ERROR, "%s: %s",
		    vif->identified ? vif->name : vif->nodename, vif->error);
	if (!xenbus_dev_error(vif->host->xs, vif->host->domid, vif->nodename, err < 0 ? -err : err,
			      "%s", vif->error))
		vif->error_node = true;
}

struct xenvif *xenvif_create(const struct xenvif_host *host, const struct xenvif_key *key)
{
	struct xenvif *vif = calloc(1, sizeof(*vif));

	if (!vif)
		return NULL;
	vif->host = host;
	vif->key = *key;
	vif->log_limit = (struct log_limit)LOG_LIMIT_INIT;
	vif->mtu = MTU_DEFAULT;
	/* Three numbers of at most ten digits: these always fit. */
	xenbus_path(vif->nodename, "backend/vif/%u/%u", key->domid, key->devid);
	xenbus_path(vif->path, "/local/domain/%u/%s", host->domid, vif->nodename);
	return vif;
}

/* With the directory of the domain if this was its last: they would pile up guest by guest. */
static void remove_error_node(struct xenvif *vif)
{
	struct xs_handle *xs = vif->host->xs;
	char path[XENBUS_PATH_BYTES];
	unsigned nr = 1;

	if (!vif->error_node)
		return;
	vif->error_node = false;
	xenbus_path(path, "/local/domain/%u/error/%s", vif->host->domid, vif->nodename);
	xs_rm(xs, XBT_NULL, path);
	xenbus_path(path, "/local/domain/%u/error/backend/vif/%u", vif->host->domid,
		    vif->key.domid);
	free(xs_directory(xs, XBT_NULL, path, &nr));
	if (nr == 0)
		xs_rm(xs, XBT_NULL, path);
}

static void destroy_queues(struct xenvif *vif)
{
	for (unsigned i = 0; i < vif->nr_queues; i++)
		xenvif_queue_destroy(vif->queues[i]);
	free(vif->queues);
	free(vif->params);
	vif->queues = NULL;
	vif->params = NULL;
	vif->nr_queues = 0;
}

static void unwatch_frontend(struct xenvif *vif)
{
	char path[XENBUS_PATH_BYTES];

	if (vif->token[0] && !xenbus_path(path, "%s/state", vif->frontend))
		xs_unwatch(vif->host->xs, path, vif->token);
	vif->token[0] = '\0';
}

void xenvif_forget(struct xenvif *vif)
{
	xenvif_disconnect(vif);
	xenvif_close_port(vif);
	unwatch_frontend(vif);
	vif->identified = false;
}

void xenvif_destroy(struct xenvif *vif)
{
	if (!vif)
		return;
	xenvif_forget(vif);
	destroy_queues(vif);
	remove_error_node(vif);
	free(vif);
}

/* The guest's own device directory, and nothing else, may be named as the frontend. */
static int check_frontend(struct xenvif *vif)
{
	char prefix[XENBUS_PATH_BYTES];
	const char *rest = vif->frontend;
	size_t len;

	if (xenbus_path(prefix, "/local/domain/%u/device/", vif->domid))
		return -EINVAL;
	len = strlen(prefix);
	if (strncmp(rest, prefix, len) || strlen(rest) > sizeof(vif->frontend) - sizeof("/state"))
		return -EINVAL;
	for (rest += len; *rest; rest++) {
		if (!strchr("abcdefghijklmnopqrstuvwxyz0123456789-_/", *rest))
			return -EINVAL;
	}
	return rest[-1] == '/' || strstr(vif->frontend, "//") ? -EINVAL : 0;
}

static int read_number(struct xenvif *vif, const char *key, uint32_t max, uint32_t *value)
{
	int ret = xenbus_read_u32(vif->host->xs, XBT_NULL, vif->path, key, 0, max, value);

	if (ret)
		xenvif_set_error(vif, "%s/%s: %s", vif->nodename, key,
				 ret == -ENOENT ? "missing" : "not a number in range");
	return ret;
}

static int read_frontend(struct xenvif *vif)
{
	int ret = read_number(vif, "frontend-id", DOMID_MAX, &vif->domid);

	if (ret)
		return ret;
	ret = xenbus_read(vif->host->xs, XBT_NULL, vif->path, "frontend", vif->frontend,
			  sizeof(vif->frontend));
	if (ret >= 0)
		ret = check_frontend(vif);
	if (ret < 0)
		xenvif_set_error(vif, "%s/frontend: %s", vif->nodename,
				 ret == -ENOENT ? "missing"
						: "not below the device directory of frontend-id");
	return ret;
}

static int read_name(struct xenvif *vif)
{
	int ret = read_number(vif, "handle", UINT32_MAX, &vif->handle);

	if (ret)
		return ret;
	ret = snprintf(vif->name, sizeof(vif->name), "vif%u.%u", vif->domid, vif->handle);
	if (ret >= (int)sizeof(vif->name)) {
		xenvif_set_error(vif,
				 "%s/handle: makes an interface name of more than %d characters",
				 vif->nodename, IFNAMSIZ - 1);
		return -ENAMETOOLONG;
	}
	return 0;
}

static int read_mac(struct xenvif *vif)
{
	char text[XENBUS_VALUE_BYTES];
	int ret = xenbus_read(vif->host->xs, XBT_NULL, vif->path, "mac", text, sizeof(text));

	if (ret >= 0)
		ret = frontend_parse_mac(text, vif->mac);
	if (ret < 0)
		xenvif_set_error(vif, "%s/mac: %s", vif->nodename,
				 ret == -ENOENT ? "missing" : "not a station's Ethernet address");
	return ret;
}

/* Re-read at every connection too: toolstacks change it. */
static void read_mtu(struct xenvif *vif)
{
	uint32_t mtu;
	int ret =
		xenbus_read_u32(vif->host->xs, XBT_NULL, vif->path, "mtu", MTU_MIN, MTU_MAX, &mtu);

	vif->mtu = ret ? MTU_DEFAULT : mtu;
	if (ret && ret != -ENOENT)
		log_limited(&vif->log_limit, LOG_LEVEL_WARN,
			    "%s: mtu is not a number from %d to %d; "
			    "taking %d",
			    vif->name, MTU_MIN, MTU_MAX, MTU_DEFAULT);
}

void xenvif_refresh(struct xenvif *vif)
{
	char text[XENBUS_VALUE_BYTES];
	struct frontend_rate rate = {0, 0};
	int ret = xenbus_read(vif->host->xs, XBT_NULL, vif->path, "rate", text, sizeof(text));

	if (ret >= 0 && frontend_parse_rate(text, &rate))
		log_limited(&vif->log_limit, LOG_LEVEL_WARN,
			    "%s: rate is not \"bytes,usec\"; unlimited", vif->name);
	vif->rate = rate;
}

static int watch_frontend(struct xenvif *vif, uint64_t generation)
{
	char path[XENBUS_PATH_BYTES];
	char token[XENVIF_TOKEN_BYTES];

	snprintf(token, sizeof(token), "%u/%u/%llu", vif->key.domid, vif->key.devid,
		 (unsigned long long)generation);
	if (xenbus_path(path, "%s/state", vif->frontend) || !xs_watch(vif->host->xs, path, token)) {
		xenvif_set_error(vif, "cannot watch the frontend: %s", strerror(errno));
		return errno ? -errno : -EIO;
	}
	strcpy(vif->token, token);
	return 0;
}

int xenvif_identify(struct xenvif *vif, uint64_t generation)
{
	int ret = read_frontend(vif);

	if (!ret)
		ret = read_name(vif);
	if (!ret)
		ret = read_mac(vif);
	if (!ret)
		ret = watch_frontend(vif, generation);
	if (ret)
		return ret;
	vif->has_script = xenbus_exists(vif->host->xs, XBT_NULL, vif->path, "script");
	read_mtu(vif);
	xenvif_refresh(vif);
	vif->generation = generation;
	vif->identified = true;
	return 0;
}

int xenvif_open_port(struct xenvif *vif)
{
	struct port_params params = {
		.kind = vif->host->port,
		.nr_queues_max = XENVIF_QUEUES_OFFERED,
	};
	int ret;

	if (vif->port)
		return 0;
	memcpy(params.name, vif->name, sizeof(params.name));
	memcpy(params.mac, vif->mac, sizeof(params.mac));
	ret = port_open(&params, &vif->port);
	if (ret) {
		vif->port = NULL;
		xenvif_set_error(vif, "cannot make its %s port: %s", port_kind_name(params.kind),
				 strerror(-ret));
	}
	return ret;
}

void xenvif_close_port(struct xenvif *vif)
{
	port_close(vif->port);
	vif->port = NULL;
}

static int write_features(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	const struct xenvif *vif = arg;
	const struct xenvif_feature *feature;
	int ret = 0;

	/* Writing into a directory the toolstack has removed would bring it back. */
	if (!xenbus_exists(xs, t, vif->path, "state"))
		return -ENOENT;
	for (feature = xenvif_features_offered; feature->name && !ret; feature++)
		ret = xenbus_printf(xs, t, vif->path, feature->name, "%u", feature->value);
	return ret;
}

int xenvif_write_features(struct xenvif *vif)
{
	int ret = xenbus_transaction(vif->host->xs, write_features, vif);

	if (ret)
		xenvif_set_error(vif, "cannot write its features: %s", strerror(-ret));
	return ret;
}

/* On a worker's thread: the queue has stopped by itself, the control thread does the rest. */
static void report_fatal(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg)
{
	struct xenvif *vif = arg;
	uint64_t one = 1;
	ssize_t ignored;

	atomic_store(&vif->fatal, (int)why);
	ignored = write(vif->host->fatal_fd, &one, sizeof(one)); /* full is as good as one */
	(void)ignored;
}

/* Queues live on from connection to connection (and their counters), unless the number changes. */
static int make_queues(struct xenvif *vif, unsigned nr_queues)
{
	char name[IFNAMSIZ + 16];
	int ret;

	if (vif->nr_queues == nr_queues)
		return 0;
	destroy_queues(vif);
	vif->queues = calloc(nr_queues, sizeof(struct xenvif_queue *));
	vif->params = calloc(nr_queues, sizeof(*vif->params));
	if (!vif->queues || !vif->params) {
		ret = -ENOMEM;
		goto err;
	}
	for (; vif->nr_queues < nr_queues; vif->nr_queues++) {
		snprintf(name, sizeof(name), "%s-q%u", vif->name, vif->nr_queues);
		ret = xenvif_queue_create(name, vif->nr_queues, report_fatal, vif,
					  &vif->queues[vif->nr_queues]);
		if (ret)
			goto err;
	}
	return 0;
err:
	destroy_queues(vif);
	xenvif_set_error(vif, "cannot make its queues: %s", strerror(-ret));
	return ret;
}

static int connect_queues(struct xenvif *vif)
{
	int ret;

	for (unsigned i = 0; i < vif->nr_queues; i++) {
		ret = xenvif_queue_connect(vif->queues[i], vif->host->groups,
					   vif->host->ring_handle, &vif->params[i], vif->port);
		if (ret) {
			xenvif_set_error(vif,
					 "cannot connect queue %u (ring references %u and %u, "
					 "event channels %u and %u): %s",
					 i, vif->params[i].tx_ring_ref, vif->params[i].rx_ring_ref,
					 vif->params[i].tx_evtchn, vif->params[i].rx_evtchn,
					 strerror(-ret));
			while (i-- > 0)
				xenvif_queue_disconnect(vif->queues[i]);
			return ret;
		}
	}
	return 0;
}

static int read_key(void *arg, const char *key, char *value, size_t size)
{
	const struct xenvif *vif = arg;

	return xenbus_read(vif->host->xs, XBT_NULL, vif->frontend, key, value, size);
}

int xenvif_connect(struct xenvif *vif)
{
	struct xenvif_queue_params params[XENVIF_QUEUES_OFFERED];
	struct frontend_source source = {read_key, vif};
	struct frontend_offer offer = {
		.max_queues = XENVIF_QUEUES_OFFERED,
		.split = true,
		.domid = vif->domid,
	};
	char error[XENVIF_ERROR_BYTES];
	unsigned nr_queues;
	int ret;

	memset(params, 0, sizeof(params));
	read_mtu(vif);
	offer.mtu = vif->mtu;
	ret = frontend_read(&source, &offer, params, &nr_queues, error, sizeof(error));
	if (ret) {
		xenvif_set_error(vif, "%s", error);
		return ret;
	}
	ret = make_queues(vif, nr_queues);
	if (ret)
		return ret;
	memcpy(vif->params, params, nr_queues * sizeof(*params));
	ret = port_set_queues(vif->port, nr_queues, &params[0].features);
	if (ret) {
		xenvif_set_error(vif, "cannot set up its port: %s", strerror(-ret));
		return ret;
	}
	atomic_store(&vif->fatal, FATAL_NONE);
	ret = connect_queues(vif);
	if (ret)
		return ret;
	port_set_carrier(vif->port, 1);
	vif->nr_connects++;
	return 0;
}

void xenvif_disconnect(struct xenvif *vif)
{
	for (unsigned i = 0; i < vif->nr_queues; i++)
		xenvif_queue_disconnect(vif->queues[i]);
	if (vif->port)
		port_set_carrier(vif->port, 0);
	/* No queue, no report: what is left here is of the connection that has ended. */
	atomic_store(&vif->fatal, FATAL_NONE);
}

void xenvif_sum_stats(const struct xenvif *vif, struct xenvif_stats *sum)
{
	struct xenvif_stats one;

	memset(sum, 0, sizeof(*sum));
	for (unsigned i = 0; i < vif->nr_queues; i++) {
		xenvif_queue_get_stats(vif->queues[i], &one);
		sum->tx_packets += one.tx_packets;
		sum->tx_bytes += one.tx_bytes;
		sum->tx_slots += one.tx_slots;
		sum->rx_packets += one.rx_packets;
		sum->rx_bytes += one.rx_bytes;
		sum->rx_slots += one.rx_slots;
		sum->tx_notifies += one.tx_notifies;
		sum->rx_notifies += one.rx_notifies;
		sum->events += one.events;
		sum->rx_stalls += one.rx_stalls;
		for (unsigned d = 0; d < NR_XENVIF_DROPS; d++)
			sum->drops[d] += one.drops[d];
	}
}
