/* SPDX-License-Identifier: MIT */
/*
 * xsd_watch.h: who watches what, and which event goes to whom. Pure: events are handed to the
 * watcher's own function.
 *
 * Events go out in the order the watchers came, and for one watcher in the order it registered.
 */
#ifndef XENSTORE_XSD_WATCH_H
#define XENSTORE_XSD_WATCH_H

#include <stdbool.h>
#include <stddef.h>

#include "xenstore/xsd_store.h"

struct xsd_watch {
	char *path; /* canonical */
	char *token;
	size_t hidden; /* bytes at the head of an event's path its watcher, who watches a relative
			  name, does not see */
	struct xsd_watch *prev, *next;
};

/** A client as far as watches go. */
struct xsd_watcher {
	struct xsd_cred cred;
	/* Hands one event over. Must not add or remove watches or watchers. */
	void (*event)(struct xsd_watcher *watcher, const char *path, const char *token);
	struct xsd_watch *watches;
	unsigned nr_watches;
	struct xsd_watcher *prev, *next;
};

/** The events that are no changes of nodes. */
enum xsd_special {
	XSD_INTRODUCE_DOMAIN,
	XSD_RELEASE_DOMAIN,
	XSD_NR_SPECIAL,
};

struct xsd_watch_registry {
	struct xsd_sink sink; /* changes of the store come in here */
	struct xsd_watcher *watchers;
	unsigned nr_watches;
	struct xsd_perms special[XSD_NR_SPECIAL]; /* who gets them; dom0 always does */
};

/** xsd_watch_init() - 0 or -ENOMEM. */
int xsd_watch_init(struct xsd_watch_registry *reg);
/** xsd_watch_destroy() - watchers have been removed before. */
void xsd_watch_destroy(struct xsd_watch_registry *reg);

void xsd_watcher_add(struct xsd_watch_registry *reg, struct xsd_watcher *watcher);
/** xsd_watcher_remove() - and all its watches. */
void xsd_watcher_remove(struct xsd_watch_registry *reg, struct xsd_watcher *watcher);
/** xsd_watcher_reset() - removes all its watches. */
void xsd_watcher_reset(struct xsd_watch_registry *reg, struct xsd_watcher *watcher);

/**
 * xsd_watch_add() - XS_WATCH; the first event, due at once, is xsd_watch_first()'s
 * @name: as the client gave it: relative, absolute, or one of the @-names
 * @max: longest path, as xsd_path_valid()
 *
 * Quotas are the caller's. Return: 0 with *@watch set; -EINVAL, -EEXIST, -ENOMEM.
 */
int xsd_watch_add(struct xsd_watch_registry *reg, struct xsd_watcher *watcher, const char *name,
		  const char *token, size_t max, struct xsd_watch **watch);

/** xsd_watch_first() - the event each watch begins with. */
void xsd_watch_first(struct xsd_watcher *watcher, const struct xsd_watch *watch);

/** xsd_watch_del() - XS_UNWATCH. Return: 0, -ENOENT or -EINVAL. */
int xsd_watch_del(struct xsd_watch_registry *reg, struct xsd_watcher *watcher, const char *name,
		  const char *token);

/** xsd_watch_special() - fire @introduceDomain or @releaseDomain. */
void xsd_watch_special(struct xsd_watch_registry *reg, enum xsd_special special);

/** xsd_watch_set_special() - XS_SET_PERMS of an @-name; takes over @perms on success. 0 or -errno.
 */
int xsd_watch_set_special(struct xsd_watch_registry *reg, const struct xsd_cred *cred,
			  const char *name, struct xsd_perms *perms);

/** xsd_watch_forget() - @domid is gone: it no longer gets or owns the special events. */
void xsd_watch_forget(struct xsd_watch_registry *reg, unsigned domid);

#endif
