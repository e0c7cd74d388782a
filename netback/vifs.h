/* SPDX-License-Identifier: MIT */
/*
 * vifs.h: the table of all vifs and the list of those to look at. Control thread only; no
 * xenstore, no I/O. Finding a vif is one hash look-up, marking one is constant time, and a vif is
 * on the list at most once: a storm of watch events (XSA-349) costs its sender one look a pass.
 */
#ifndef NETBACK_VIFS_H
#define NETBACK_VIFS_H

#include <stdbool.h>
#include <stdint.h>

#include "netback/vif.h"

struct vifs {
	struct xenvif *table; /* uthash by key */
	struct xenvif *dirty; /* utlist, in the order they were marked */
};

struct xenvif *vifs_find(const struct vifs *vifs, const struct xenvif_key *key);
/** vifs_find_name() - by "vifD.H". Linear: for netbackctl. */
struct xenvif *vifs_find_name(const struct vifs *vifs, const char *name);
/** vifs_find_token() - by the token of its frontend watch; an older identity's finds nothing. */
struct xenvif *vifs_find_token(const struct vifs *vifs, const char *token);
void vifs_add(struct vifs *vifs, struct xenvif *vif);
/** vifs_remove() - from table and list; the caller destroys it. */
void vifs_remove(struct vifs *vifs, struct xenvif *vif);
unsigned vifs_count(const struct vifs *vifs);

/** vifs_mark() - put on the list unless it is there. Return: was it put there? */
bool vifs_mark(struct vifs *vifs, struct xenvif *vif);
/** vifs_take() - the one marked first, off the list; NULL if there is none. */
struct xenvif *vifs_take(struct vifs *vifs);

/* Which part of backend/vif a watch event is about. */
enum vifs_event {
	VIFS_EVENT_NONE,    /* nothing of ours, or something only we write */
	VIFS_EVENT_VIF,	    /* *key is set */
	VIFS_EVENT_SUBTREE, /* backend/vif or backend/vif/D: came or went as a whole */
};
/**
 * vifs_parse_event() - the path of an event of the watch on backend/vif
 * @path: as xenstored reported it, relative or absolute; nothing in it is trusted
 */
enum vifs_event vifs_parse_event(const char *path, struct xenvif_key *key);

#endif
