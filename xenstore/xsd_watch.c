/* SPDX-License-Identifier: MIT */
/* xsd_watch.c: see xsd_watch.h. Pure. */
#include "xenstore/xsd_watch.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "common/compiler.h"
#include "xenstore/xsd_path.h"

static const char *const special_names[XSD_NR_SPECIAL] = {
	[XSD_INTRODUCE_DOMAIN] = "@introduceDomain",
	[XSD_RELEASE_DOMAIN] = "@releaseDomain",
};

static bool can_read(const struct xsd_perms *perms, const struct xsd_cred *cred)
{
	return perms && (xsd_perms_of(perms, cred) & XSD_READ);
}

/*
 * A change is told to those who can see the node or the directory it is in; who can no longer see
 * it learns of that. A node that came and went within one transaction is nobody's business.
 */
static bool permitted(const struct xsd_change *change, const struct xsd_cred *cred)
{
	if (can_read(change->old, cred))
		return true;
	if (!change->now)
		return false;
	return can_read(change->now, cred) || can_read(change->parent, cred);
}

static bool matches(const struct xsd_watch *watch, const char *path, bool exact)
{
	if (exact)
		return strcmp(path, watch->path) == 0;
	return xsd_path_below(path, watch->path);
}

static void deliver(struct xsd_watcher *watcher, const char *path, bool exact)
{
	const struct xsd_watch *watch;

	DL_FOREACH (watcher->watches, watch)
		if (matches(watch, path, exact))
			watcher->event(watcher, path + watch->hidden, watch->token);
}

static void changed(struct xsd_sink *sink, const struct xsd_change *change)
{
	struct xsd_watch_registry *reg = container_of(sink, struct xsd_watch_registry, sink);
	struct xsd_watcher *watcher;

	DL_FOREACH (reg->watchers, watcher)
		if (watcher->watches && permitted(change, &watcher->cred))
			deliver(watcher, change->path, change->exact);
}

void xsd_watch_special(struct xsd_watch_registry *reg, enum xsd_special special)
{
	struct xsd_watcher *watcher;

	DL_FOREACH (reg->watchers, watcher)
		if (can_read(&reg->special[special], &watcher->cred))
			deliver(watcher, special_names[special], true);
}

int xsd_watch_init(struct xsd_watch_registry *reg)
{
	struct xsd_perm dom0 = {.domid = 0};
	struct xsd_perms perms = {.list = &dom0, .nr = 1};
	unsigned i;

	memset(reg, 0, sizeof(*reg));
	reg->sink.changed = changed;
	for (i = 0; i < XSD_NR_SPECIAL; i++) {
		if (xsd_perms_copy(&reg->special[i], &perms)) {
			xsd_watch_destroy(reg);
			return -ENOMEM;
		}
	}
	return 0;
}

void xsd_watch_destroy(struct xsd_watch_registry *reg)
{
	unsigned i;

	for (i = 0; i < XSD_NR_SPECIAL; i++)
		xsd_perms_free(&reg->special[i]);
}

static void watch_free(struct xsd_watch_registry *reg, struct xsd_watcher *watcher,
		       struct xsd_watch *watch)
{
	DL_DELETE(watcher->watches, watch);
	watcher->nr_watches--;
	reg->nr_watches--;
	free(watch->path);
	free(watch->token);
	free(watch);
}

void xsd_watcher_add(struct xsd_watch_registry *reg, struct xsd_watcher *watcher)
{
	DL_APPEND(reg->watchers, watcher);
}

void xsd_watcher_reset(struct xsd_watch_registry *reg, struct xsd_watcher *watcher)
{
	struct xsd_watch *watch, *next;

	DL_FOREACH_SAFE (watcher->watches, watch, next)
		watch_free(reg, watcher, watch);
}

void xsd_watcher_remove(struct xsd_watch_registry *reg, struct xsd_watcher *watcher)
{
	xsd_watcher_reset(reg, watcher);
	DL_DELETE(reg->watchers, watcher);
}

static struct xsd_watch *find(const struct xsd_watcher *watcher, const char *path,
			      const char *token)
{
	struct xsd_watch *watch;

	DL_FOREACH (watcher->watches, watch)
		if (strcmp(watch->path, path) == 0 && strcmp(watch->token, token) == 0)
			return watch;
	return NULL;
}

/* @-names are taken as they are: one that is never fired is harmless. */
static bool watchable(const char *path, size_t max)
{
	if (path[0] == '@')
		return strlen(path) <= XENSTORE_REL_PATH_MAX;
	return xsd_path_valid(path, max);
}

int xsd_watch_add(struct xsd_watch_registry *reg, struct xsd_watcher *watcher, const char *name,
		  const char *token, size_t max, struct xsd_watch **result)
{
	char path[XSD_PATH_BYTES];
	struct xsd_watch *watch;

	if (xsd_path_canonical(path, name, watcher->cred.domid) || !watchable(path, max))
		return -EINVAL;
	if (find(watcher, path, token))
		return -EEXIST;
	watch = calloc(1, sizeof(*watch));
	if (!watch)
		return -ENOMEM;
	watch->path = strdup(path);
	watch->token = strdup(token);
	if (!watch->path || !watch->token) {
		free(watch->path);
		free(watch->token);
		free(watch);
		return -ENOMEM;
	}
	watch->hidden = strlen(path) - strlen(name);
	DL_APPEND(watcher->watches, watch);
	watcher->nr_watches++;
	reg->nr_watches++;
	*result = watch;
	return 0;
}

void xsd_watch_first(struct xsd_watcher *watcher, const struct xsd_watch *watch)
{
	watcher->event(watcher, watch->path + watch->hidden, watch->token);
}

int xsd_watch_del(struct xsd_watch_registry *reg, struct xsd_watcher *watcher, const char *name,
		  const char *token)
{
	char path[XSD_PATH_BYTES];
	struct xsd_watch *watch;

	if (xsd_path_canonical(path, name, watcher->cred.domid))
		return -EINVAL;
	watch = find(watcher, path, token);
	if (!watch)
		return -ENOENT;
	watch_free(reg, watcher, watch);
	return 0;
}

int xsd_watch_set_special(struct xsd_watch_registry *reg, const struct xsd_cred *cred,
			  const char *name, struct xsd_perms *perms)
{
	unsigned i;

	for (i = 0; i < XSD_NR_SPECIAL; i++)
		if (strcmp(name, special_names[i]) == 0)
			break;
	if (i == XSD_NR_SPECIAL)
		return -EINVAL;
	if (!(xsd_perms_of(&reg->special[i], cred) & XSD_OWNER))
		return -EACCES;
	xsd_perms_free(&reg->special[i]);
	reg->special[i] = *perms;
	perms->list = NULL;
	perms->nr = 0;
	return 0;
}

void xsd_watch_forget(struct xsd_watch_registry *reg, unsigned domid)
{
	unsigned i;

	for (i = 0; i < XSD_NR_SPECIAL; i++) {
		xsd_perms_forget(&reg->special[i], domid);
		if (reg->special[i].list[0].domid == domid)
			reg->special[i].list[0].domid = 0;
	}
}
