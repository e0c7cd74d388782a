/* SPDX-License-Identifier: MIT */
/*
 * vifs.c: hash table and dirty list of vifs. Pure.
 */
#include "netback/vifs.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

struct xenvif *vifs_find(const struct vifs *vifs, const struct xenvif_key *key)
{
	struct xenvif *vif;

	HASH_FIND(hh, vifs->table, key, sizeof(*key), vif);
	return vif;
}

struct xenvif *vifs_find_name(const struct vifs *vifs, const char *name)
{
	struct xenvif *vif;

	for (vif = vifs->table; vif; vif = vif->hh.next) {
		if (vif->identified && !strcmp(vif->name, name))
			return vif;
	}
	return NULL;
}

void vifs_add(struct vifs *vifs, struct xenvif *vif)
{
	HASH_ADD(hh, vifs->table, key, sizeof(vif->key), vif);
}

void vifs_remove(struct vifs *vifs, struct xenvif *vif)
{
	if (vif->dirty)
		DL_DELETE2(vifs->dirty, vif, dirty_prev, dirty_next);
	vif->dirty = false;
	HASH_DELETE(hh, vifs->table, vif);
}

unsigned vifs_count(const struct vifs *vifs)
{
	return HASH_COUNT(vifs->table);
}

bool vifs_mark(struct vifs *vifs, struct xenvif *vif)
{
	if (vif->dirty)
		return false;
	vif->dirty = true;
	DL_APPEND2(vifs->dirty, vif, dirty_prev, dirty_next);
	return true;
}

struct xenvif *vifs_take(struct vifs *vifs)
{
	struct xenvif *vif = vifs->dirty;

	if (vif) {
		DL_DELETE2(vifs->dirty, vif, dirty_prev, dirty_next);
		vif->dirty = false;
	}
	return vif;
}

/* One number of the path, up to a slash or the end. NULL: it is none. */
static const char *parse_part(const char *path, uint32_t *value)
{
	char part[sizeof("4294967295")];
	size_t len = strcspn(path, "/");

	if (len >= sizeof(part))
		return NULL;
	memcpy(part, path, len);
	part[len] = '\0';
	if (xenbus_parse_u32(part, 0, UINT32_MAX, value))
		return NULL;
	return path[len] ? path + len + 1 : path + len;
}

struct xenvif *vifs_find_token(const struct vifs *vifs, const char *token)
{
	struct xenvif_key key = {0, 0};
	struct xenvif *vif;
	const char *rest = parse_part(token, &key.domid);

	if (!rest || !parse_part(rest, &key.devid))
		return NULL;
	vif = vifs_find(vifs, &key);
	return vif && !strcmp(vif->token, token) ? vif : NULL;
}

/* Keys that nobody but us writes: our own writes are no news. */
static bool only_ours(const char *key)
{
	return !strncmp(key, "feature-", 8) || !strncmp(key, "multi-queue-", 12);
}

enum vifs_event vifs_parse_event(const char *path, struct xenvif_key *key)
{
	static const char root[] = "backend/vif", domains[] = "/local/domain/";
	uint32_t ignored;

	if (!strncmp(path, domains, sizeof(domains) - 1)) {
		path = parse_part(path + sizeof(domains) - 1, &ignored);
		if (!path)
			return VIFS_EVENT_NONE;
	}
	if (strncmp(path, root, sizeof(root) - 1))
		return VIFS_EVENT_NONE;
	path += sizeof(root) - 1;
	if (*path == '\0')
		return VIFS_EVENT_SUBTREE;
	if (*path++ != '/')
		return VIFS_EVENT_NONE;
	memset(key, 0, sizeof(*key));
	path = parse_part(path, &key->domid);
	if (!path)
		return VIFS_EVENT_NONE;
	if (*path == '\0')
		return VIFS_EVENT_SUBTREE;
	path = parse_part(path, &key->devid);
	if (!path || only_ours(path))
		return VIFS_EVENT_NONE;
	return VIFS_EVENT_VIF;
}
