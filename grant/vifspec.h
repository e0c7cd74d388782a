/* SPDX-License-Identifier: MIT */
/*
 * vifspec.h: the vif specification of xl-network-configuration(5), parsed. Pure: it reads no store
 * and makes no device.
 */
#ifndef GRANT_VIFSPEC_H
#define GRANT_VIFSPEC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define VIFSPEC_VALUE_BYTES 256
#define VIFSPEC_MAC_BYTES   6
#define VIFSPEC_MTU_DEFAULT 1500

/** One vif as the administrator asked for it. An empty string is "not said". */
struct vifspec {
	uint8_t mac[VIFSPEC_MAC_BYTES];
	bool has_mac;
	int handle; /* devid=; -1: the next free one */
	unsigned mtu;
	bool trusted;
	/* At most rate_bytes in each rate_usec; 0 is unlimited. */
	uint32_t rate_bytes;
	uint32_t rate_usec;
	char bridge[VIFSPEC_VALUE_BYTES];
	char script[VIFSPEC_VALUE_BYTES];
	char vifname[VIFSPEC_VALUE_BYTES];
	char ip[VIFSPEC_VALUE_BYTES];
	char gatewaydev[VIFSPEC_VALUE_BYTES];
	char vlan[VIFSPEC_VALUE_BYTES];
	char backend[VIFSPEC_VALUE_BYTES]; /* domain name or domid */
};

/** vifspec_init() - what xl takes when nothing is said (bridge xenbr0, MTU 1500, trusted). */
void vifspec_init(struct vifspec *spec);

/**
 * vifspec_parse() - add the settings of @text ("mac=00:16:3e:00:00:01,bridge=xenbr0") to @spec
 * @error: set to one line that says what is wrong, at least @size bytes
 *
 * Settings are separated by commas; spaces round them are ignored. What xl accepts only for
 * emulated NICs (type=ioemu) is refused, as libxl refuses it for a guest without a device model.
 * Return: 0 or -EINVAL.
 */
int vifspec_parse(struct vifspec *spec, const char *text, char *error, size_t size);

/** vifspec_random_mac() - a MAC address of Xen's OUI, 00:16:3e with the next bit clear. */
int vifspec_random_mac(struct vifspec *spec);

#endif
