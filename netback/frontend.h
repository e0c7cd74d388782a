/* SPDX-License-Identifier: MIT */
/*
 * frontend.h: what a frontend published for a connection, read and checked. The guest wrote it, so
 * nothing of it is believed: each key is read once, by name, length-capped, as strict decimal, and
 * no text of it reaches a log or a message. Control thread only; touches nothing but its arguments.
 */
#ifndef NETBACK_FRONTEND_H
#define NETBACK_FRONTEND_H

#include <stddef.h>
#include <stdint.h>

#include "netback/queue.h"

/* What we wrote into our own directory, and so what the frontend may make use of. */
struct frontend_offer {
	unsigned max_queues; /* multi-queue-max-queues, 1..XENVIF_QUEUES_MAX */
	bool split;	     /* feature-split-event-channels */
	bool gso_tcpv4, gso_tcpv6;
	uint32_t domid; /* the guest's */
	unsigned mtu;
};

/* Where keys come from. read(): as xenbus_read() of the frontend's directory. */
struct frontend_source {
	int (*read)(void *arg, const char *key, char *value, size_t size);
	void *arg;
};

/**
 * frontend_read() - the keys of a connection (section "feature negotiation" of xen/io/netif.h)
 * @queues: room for @offer->max_queues; each gets its references, ports and features
 * @nr_queues: how many were filled in
 * @error: why not, one line for the log and the error node
 *
 * Return: 0; -ENOENT if a key that has to be there is not (yet); -EINVAL, -ERANGE, -EOPNOTSUPP, or
 * what reading failed with.
 */
int frontend_read(const struct frontend_source *source, const struct frontend_offer *offer,
		  struct xenvif_queue_params *queues, unsigned *nr_queues, char *error,
		  size_t size);

/** frontend_parse_mac() - "aa:bb:cc:dd:ee:ff", a single station's. Return: 0 or -EINVAL. */
int frontend_parse_mac(const char *text, uint8_t mac[6]);

/* Credit of the rate key: bytes every usec. 0 bytes: unlimited. */
struct frontend_rate {
	uint32_t bytes;
	uint32_t interval_usec;
};
/** frontend_parse_rate() - "bytes,usec", both above 0. Return: 0 or -EINVAL. */
int frontend_parse_rate(const char *text, struct frontend_rate *rate);

#endif
