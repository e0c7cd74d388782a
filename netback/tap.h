/* SPDX-License-Identifier: MIT */
/*
 * tap.h: tap devices that outlive the daemon. A device is made for one vif, marked as such in its
 * alias ("netbackd/B/vifD.H", B being the backend's domid) and then made persistent: whoever ends
 * this process, and however, the device stays where it is, on its bridge above all, and the next
 * daemon takes it over. It is found by its mark, because hotplug scripts rename devices; one
 * without our mark is never touched.
 *
 * Control thread only. Functions that return a descriptor return one of a queue of the device,
 * non-blocking, with a vnet header; -errno is logged with cause and cure unless said otherwise.
 */
#ifndef NETBACK_TAP_H
#define NETBACK_TAP_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

/* Whose device it is. */
struct tap_owner {
	uint32_t backend_domid;
	char vif[IFNAMSIZ]; /* vifD.H: the device's name until a script renames it */
};

/**
 * tap_adopt() - take over the device that an earlier daemon left for @owner
 * @multi_queue: how it was made
 *
 * Return: a descriptor; -ENODEV if there is none; -EBUSY if a daemon still holds it (not logged).
 */
int tap_adopt(const struct tap_owner *owner, bool *multi_queue);

/**
 * tap_create() - make the device; one left by an earlier daemon under that name is replaced
 *
 * Return: a descriptor; -EBUSY if the name is taken by a device that is not ours.
 */
int tap_create(const struct tap_owner *owner, bool multi_queue);

/** tap_join() - another queue of the (multiqueue) device that @fd belongs to. */
int tap_join(int fd);

/** tap_remove() - the device goes when its last descriptor is closed. Must be @fd's own daemon. */
void tap_remove(int fd);

/** tap_name() - what the device is called now. Return: 0 or -errno, not logged. */
int tap_name(int fd, char name[IFNAMSIZ]);

/**
 * tap_sweep() - remove devices left by earlier daemons of this backend that nobody holds
 * @wanted: is the device of this vif ("vifD.H") to be kept?
 *
 * Return: how many were removed, or -errno of listing the devices.
 */
int tap_sweep(uint32_t backend_domid, bool (*wanted)(const char *vif, void *arg), void *arg);

#endif
