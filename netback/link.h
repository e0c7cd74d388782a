/* SPDX-License-Identifier: MIT */
/*
 * link.h: the kernel's network devices, asked and told by rtnetlink: which taps there are, whose
 * they are, what they are called now. Control thread only; each call opens a socket of its own.
 */
#ifndef NETBACK_LINK_H
#define NETBACK_LINK_H

#include <net/if.h>
#include <stdbool.h>

#define LINK_ALIAS_BYTES 256 /* IFALIASZ of linux/if.h */

/* What is known of a device. */
struct link_info {
	int ifindex;
	char name[IFNAMSIZ];
	char alias[LINK_ALIAS_BYTES]; /* "": none */
	bool tap;		      /* made by the tun driver, and an Ethernet device */
	bool multi_queue;	      /* of a tap: made with IFF_MULTI_QUEUE */
};

/** link_get() - the device called @name. Return: 0; -ENODEV; other -errno. */
int link_get(const char *name, struct link_info *link);

/**
 * link_each() - call @each for every device of this network namespace
 *
 * Return: 0 or -errno; what @each returns if that is not 0, and then no more calls are made.
 */
int link_each(int (*each)(const struct link_info *link, void *arg), void *arg);

/** link_set_alias() - needs CAP_NET_ADMIN. Return: 0 or -errno. */
int link_set_alias(int ifindex, const char *alias);

#endif
