/* SPDX-License-Identifier: MIT */
/*
 * toolstack.h: what libxl does to the store when xl attaches or detaches a vif or destroys a
 * domain, in the same order and with the same time-outs (tools/libs/light of Xen 4.17).
 *
 * Everything blocks, on xenstored and on the backend, for as long as the time-outs say.
 */
#ifndef GRANT_TOOLSTACK_H
#define GRANT_TOOLSTACK_H

#include <stdbool.h>
#include <stddef.h>
#include <xenstore.h>

struct vifspec;

/* LIBXL_INIT_TIMEOUT and LIBXL_DESTROY_TIMEOUT of libxl_internal.h. */
#define TOOLSTACK_INIT_TIMEOUT_SEC    10
#define TOOLSTACK_DESTROY_TIMEOUT_SEC 10

#define TOOLSTACK_ERROR_BYTES 512

#define TOOLSTACK_KIND_BYTES 16

/** A device that exists in the store. */
struct toolstack_device {
	char kind[TOOLSTACK_KIND_BYTES];	 /* "vif": device/KIND of the guest */
	char backend_kind[TOOLSTACK_KIND_BYTES]; /* backend/KIND of the backend's domain */
	unsigned domid;
	unsigned backend_domid;
	unsigned handle;
};

/**
 * toolstack_find_domain() - a domain by its domid or its name
 *
 * Return: the domid; -ENOENT; -EEXIST if several domains have that name; -errno.
 */
int toolstack_find_domain(struct xs_handle *xs, const char *name);

/**
 * toolstack_vif_add() - make a vif and wait until its backend and hotplug script are done
 * @spec: what the vif shall be; a random MAC address is filled in if it has none
 * @vif: set to what was made
 * @error: one line for the user if this fails, TOOLSTACK_ERROR_BYTES long
 *
 * One difference from libxl, which leaves a half-made device to the destruction of its domain: on
 * failure the device is removed again. Return: 0 or -errno (-EEXIST: the handle is taken;
 * -ETIMEDOUT: no backend took it; -ECHILD: the script failed).
 */
int toolstack_vif_add(struct xs_handle *xs, unsigned domid, struct vifspec *spec,
		      struct toolstack_device *vif, char *error);

/**
 * toolstack_vif_find() - the vif @handle of @domid, as the toolstack's own records have it
 *
 * Return: 0; -ENOENT; -errno.
 */
int toolstack_vif_find(struct xs_handle *xs, unsigned domid, unsigned handle,
		       struct toolstack_device *vif);

/**
 * toolstack_device_remove() - ask the backend to close it, run the script, remove its nodes
 * @force: take the frontend's nodes away at once, and everything else even if the backend does not
 *	answer. Without it that is done only after a first wait, as libxl's FORCE_AUTO.
 * @error: as for toolstack_vif_add()
 *
 * Return: 0; -ETIMEDOUT if the backend never reached Closed (the nodes are gone all the same).
 */
int toolstack_device_remove(struct xs_handle *xs, const struct toolstack_device *dev, bool force,
			    char *error);

/**
 * toolstack_vif_list() - the handles of a domain's vifs, in ascending order
 * @handles: set to an array the caller frees; NULL if there is none
 *
 * Return: how many, or -errno.
 */
int toolstack_vif_list(struct xs_handle *xs, unsigned domid, unsigned **handles);

/**
 * toolstack_domain_destroy() - remove all devices of a dead or dying domain, then its nodes
 *
 * All backends are told first and waited for together, at most TOOLSTACK_DESTROY_TIMEOUT_SEC.
 * Return: 0 or -errno; the nodes are gone also if a backend did not answer.
 */
int toolstack_domain_destroy(struct xs_handle *xs, unsigned domid);

#endif
