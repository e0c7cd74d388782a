/* SPDX-License-Identifier: MIT */
/*
 * port.h: the host side of a vif, seen by the control thread. A port has as many queues as its vif;
 * the data path's half of the interface (receive a batch, send a batch) is in port_ops.h.
 *
 *   tap     a multiqueue tap device (vnet header), named as the vif, for Xen's hotplug scripts
 *   sink    swallows what the guest sends
 *   source  sends frames to the guest as fast as it takes them
 *   echo    returns each frame with source and destination address exchanged
 */
#ifndef NETBACK_PORT_H
#define NETBACK_PORT_H

#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>

struct port;
struct xenvif_features;

enum port_kind {
	PORT_TAP,
	PORT_SINK,
	PORT_SOURCE,
	PORT_ECHO,
};

/** port_parse_kind() - "tap", "sink", "source", "echo". Return: 0 or -EINVAL. */
int port_parse_kind(const char *name, enum port_kind *kind);
const char *port_kind_name(enum port_kind kind);

struct port_params {
	enum port_kind kind;
	char name[IFNAMSIZ];	/* vifD.H: the tap's name */
	uint8_t mac[6];		/* the guest's address (destination of a source's frames) */
	unsigned nr_queues_max; /* 1..256 */
	unsigned backend_domid; /* our own; a tap's mark tells one daemon's from another's */
	bool adopt;		/* take over what an earlier daemon left, if it did */
	unsigned source_bytes;	/* frame size of a source, 60..65535; 0: 1514 */
};

/**
 * port_open() - make the host side; for a tap the device exists when this returns
 *
 * Return: 0; -errno logged with cause and cure: -EBUSY if the tap's name is taken by somebody
 * else (or, not logged, what is to be adopted is still held), -ENOENT without /dev/net/tun, -EPERM
 * without CAP_NET_ADMIN.
 */
int port_open(const struct port_params *params, struct port **port);

/** port_close() - every queue must be disconnected; a tap device goes away. Accepts NULL. */
void port_close(struct port *port);

/**
 * port_leave() - as port_close(), but a tap device stays, with its place on a bridge, for the next
 * daemon to adopt. Accepts NULL.
 */
void port_leave(struct port *port);

/** port_adopted() - was the host side taken over from an earlier daemon? */
bool port_adopted(const struct port *port);

/**
 * port_device() - what the network device is called now; hotplug scripts rename it
 *
 * Return: 0; -ENODEV: the port has none; other -errno.
 */
int port_device(const struct port *port, char name[IFNAMSIZ]);

/**
 * port_sweep() - remove the devices earlier daemons left for vifs that are gone
 * @wanted: is the one of the vif called @vif to be kept?
 *
 * Return: how many were removed; -errno.
 */
int port_sweep(unsigned backend_domid, bool (*wanted)(const char *vif, void *arg), void *arg);

/**
 * port_set_queues() - how many queues the coming connection has, and what the frontend agreed to
 *
 * Called while no queue is connected. Return: 0 or -errno.
 */
int port_set_queues(struct port *port, unsigned nr_queues, const struct xenvif_features *features);

/** port_set_carrier() - link state of the host side (tap: TUNSETCARRIER where there is one). */
void port_set_carrier(struct port *port, int up);

enum port_kind port_kind(const struct port *port);

#endif
