/* SPDX-License-Identifier: MIT */
/*
 * frontend.c: reads the keys a frontend publishes before it says Connected. Strict: a value that
 * is not exactly what the protocol says is an error, never a guess.
 */
#include "netback/frontend.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xenbus.h"

/* The longest value of a key here is a 32-bit number; anything longer is refused unread. */
#define VALUE_BYTES 64
#define KEY_BYTES   64

/* FIFO event channels: 1 << 17 ports (xen/event_channel.h); port 0 is never valid. */
#define EVTCHN_PORT_MAX ((1U << 17) - 1)

struct reader {
	const struct frontend_source *source;
	char *error;
	size_t error_size;
};

static int read_u32(const struct reader *reader, const char *key, uint32_t min, uint32_t max,
		    uint32_t *value)
{
	char text[VALUE_BYTES];
	int ret;

	ret = reader->source->read(reader->source->arg, key, text, sizeof(text));
	if (ret < 0) {
		snprintf(reader->error, reader->error_size, "frontend key %s: %s", key,
			 ret == -ENOENT	  ? "missing"
			 : ret == -E2BIG  ? "too long"
			 : ret == -EINVAL ? "not text"
					  : strerror(-ret));
		return ret == -E2BIG ? -EINVAL : ret;
	}
	ret = xenbus_parse_u32(text, min, max, value);
	if (ret)
		snprintf(reader->error, reader->error_size, "frontend key %s: %s", key,
			 ret == -ERANGE ? "out of range" : "not a decimal number");
	return ret;
}

/* A feature flag: absent and nonsense both mean no. */
static bool read_flag(const struct reader *reader, const char *key)
{
	char text[VALUE_BYTES];
	uint32_t value;

	return reader->source->read(reader->source->arg, key, text, sizeof(text)) >= 0 &&
	       !xenbus_parse_u32(text, 0, UINT32_MAX, &value) && value != 0;
}

static int read_nr_queues(const struct reader *reader, unsigned max, unsigned *nr_queues)
{
	int ret = read_u32(reader, "multi-queue-num-queues", 1, max, nr_queues);

	if (ret == -ENOENT) {
		*nr_queues = 1;
		return 0;
	}
	return ret;
}

static void read_features(const struct reader *reader, const struct frontend_offer *offer,
			  struct xenvif_features *features)
{
	bool sg = read_flag(reader, "feature-sg");

	*features = (struct xenvif_features){
		.sg = sg,
		.rx_notify = read_flag(reader, "feature-rx-notify"),
		/* The senses differ: IPv4 is on unless refused, IPv6 off unless wanted. */
		.csum_ipv4 = !read_flag(reader, "feature-no-csum-offload"),
		.csum_ipv6 = read_flag(reader, "feature-ipv6-csum-offload"),
		.gso_tcpv4 = offer->gso_tcpv4 && sg && read_flag(reader, "feature-gso-tcpv4"),
		.gso_tcpv6 = offer->gso_tcpv6 && sg && read_flag(reader, "feature-gso-tcpv6"),
		.mtu = offer->mtu,
	};
}

/* @prefix: "" or "queue-N/". Never both: the other layout may be left over from an earlier boot. */
static int read_key(const struct reader *reader, const char *prefix, const char *key, uint32_t min,
		    uint32_t max, uint32_t *value)
{
	char path[KEY_BYTES];

	snprintf(path, sizeof(path), "%s%s", prefix, key);
	return read_u32(reader, path, min, max, value);
}

/* Split channels only if we offered them and both are there; else the single one. */
static int read_channels(const struct reader *reader, const char *prefix, bool may_split,
			 struct xenvif_queue_params *queue)
{
	int ret = -ENOENT;

	queue->split = false;
	if (may_split)
		ret = read_key(reader, prefix, "event-channel-tx", 1, EVTCHN_PORT_MAX,
			       &queue->tx_evtchn);
	if (!ret)
		ret = read_key(reader, prefix, "event-channel-rx", 1, EVTCHN_PORT_MAX,
			       &queue->rx_evtchn);
	if (!ret) {
		queue->split = true;
		return 0;
	}
	if (ret != -ENOENT)
		return ret;
	ret = read_key(reader, prefix, "event-channel", 1, EVTCHN_PORT_MAX, &queue->tx_evtchn);
	if (!ret)
		queue->rx_evtchn = queue->tx_evtchn;
	return ret;
}

static int read_queue(const struct reader *reader, const char *prefix, bool may_split,
		      struct xenvif_queue_params *queue)
{
	int ret;

	ret = read_key(reader, prefix, "tx-ring-ref", 0, UINT32_MAX, &queue->tx_ring_ref);
	if (!ret)
		ret = read_key(reader, prefix, "rx-ring-ref", 0, UINT32_MAX, &queue->rx_ring_ref);
	if (!ret)
		ret = read_channels(reader, prefix, may_split, queue);
	return ret;
}

/* Flipping pages (feature-rx-flip) is what the alternative would be, and we never offer it. */
static int check_rx_copy(const struct reader *reader)
{
	uint32_t copy;
	int ret = read_u32(reader, "request-rx-copy", 0, UINT32_MAX, &copy);

	if (!ret && !copy) {
		snprintf(reader->error, reader->error_size,
			 "frontend key request-rx-copy: must be 1, page flipping is not supported");
		return -EOPNOTSUPP;
	}
	return ret;
}

int frontend_read(const struct frontend_source *source, const struct frontend_offer *offer,
		  struct xenvif_queue_params *queues, unsigned *nr_queues, char *error, size_t size)
{
	const struct reader reader = {source, error, size};
	struct xenvif_features features;
	char prefix[sizeof("queue-4294967295/")] = "";
	unsigned nr;
	int ret;

	ret = read_nr_queues(&reader, offer->max_queues, &nr);
	if (!ret)
		ret = check_rx_copy(&reader);
	if (ret)
		return ret;
	read_features(&reader, offer, &features);
	for (unsigned i = 0; i < nr; i++) {
		if (nr > 1)
			snprintf(prefix, sizeof(prefix), "queue-%u/", i);
		ret = read_queue(&reader, prefix, offer->split, &queues[i]);
		if (ret)
			return ret;
		queues[i].domid = offer->domid;
		queues[i].features = features;
	}
	*nr_queues = nr;
	return 0;
}

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int frontend_parse_mac(const char *text, uint8_t mac[6])
{
	uint8_t parsed[6];

	if (strlen(text) != 17)
		return -EINVAL;
	for (int i = 0; i < 6; i++) {
		int high = hex_digit(text[i * 3]), low = hex_digit(text[i * 3 + 1]);

		if (high < 0 || low < 0 || (i < 5 && text[i * 3 + 2] != ':'))
			return -EINVAL;
		parsed[i] = (uint8_t)(high << 4 | low);
	}
	if (parsed[0] & 1) /* a group's address cannot be a station's */
		return -EINVAL;
	memcpy(mac, parsed, sizeof(parsed));
	return 0;
}

int frontend_parse_rate(const char *text, struct frontend_rate *rate)
{
	struct frontend_rate parsed;
	char bytes[VALUE_BYTES];
	const char *comma = strchr(text, ',');
	size_t len = comma ? (size_t)(comma - text) : sizeof(bytes);

	if (len >= sizeof(bytes))
		return -EINVAL;
	memcpy(bytes, text, len);
	bytes[len] = '\0';
	if (xenbus_parse_u32(bytes, 1, UINT32_MAX, &parsed.bytes) ||
	    xenbus_parse_u32(comma + 1, 1, UINT32_MAX, &parsed.interval_usec))
		return -EINVAL;
	*rate = parsed;
	return 0;
}
