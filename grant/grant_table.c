/* SPDX-License-Identifier: MIT */
/*
 * grant_table.c: the daemon's side of grants: mapping (rare: rings), what guests share, and what is
 * to be undone when a handle ends. Copies never come here. The daemon's thread.
 */
#include "grant/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

#define NONE UINT32_MAX

/* DOMID_SELF is accepted where Xen takes it. NULL: no such domain. */
static struct domain *resolve(struct conn *conn, uint32_t domid)
{
	if (domid == DOMID_SELF)
		return conn->domain;
	if (domid >= DOMID_FIRST_RESERVED)
		return NULL;
	return domain_find(conn->machine, (domid_t)domid);
}

/* ---- use of others' grants ---- */

static bool grants_anything(const struct domain *domain, domid_t to)
{
	for (uint32_t ref = 0; ref < domain->view.nr_entries; ref++) {
		struct grant_entry_v1 *entry = &domain->view.table[ref];

		if ((READ_ONCE(entry->flags) & GTF_type_mask) == GTF_permit_access &&
		    READ_ONCE(entry->domid) == to)
			return true;
	}
	return false;
}

int op_gnttab_attach(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain = resolve(conn, msg->u.attach.domid);
	domid_t self = conn->domain->domid;

	msg->nr = 0;
	if (!domain)
		return -ESRCH;
	msg->u.attach.domid = domain->domid;
	msg->u.attach.nr_entries = domain->view.nr_entries;
	msg->u.attach.nr_frames = domain->view.nr_frames;
	if (!grants_anything(domain, self))
		return 0;
	fds->fd[0] = dup(domain->memory_fd);
	if (fds->fd[0] < 0)
		return -errno;
	fds->nr = 1;
	fds->fd[1] = dup(domain->active_fd);
	if (fds->fd[1] < 0)
		return -errno;
	fds->nr = 2;
	return 0;
}

/* map_grant_ref() of Xen: every refusal but the first two is a general error. */
static int16_t map_one(struct conn *conn, uint32_t domid, uint32_t ref, bool readonly,
		       struct grant_use *use)
{
	struct domain *domain = resolve(conn, domid);
	domid_t self = conn->domain->domid;
	const struct grant_view *view;
	int16_t status;
	uint64_t word;

	if (!domain)
		return GNTST_bad_domain;
	view = &domain->view;
	if (ref >= view->nr_entries)
		return GNTST_bad_gntref;
	if (!active_trylock(&view->active[ref], HV_OWNER_DAEMON, &word))
		return GNTST_eagain;
	status = grant_claim(view, ref, word, self, readonly, true, &use->frame);
	if (status == GNTST_okay) {
		if (!ACTIVE_PINS(word))
			word = ACTIVE_MAKE(self, use->frame);
		word += readonly ? ACTIVE_READER : ACTIVE_WRITER;
		use->domain = domain_get(domain);
		use->ref = ref;
	}
	active_unlock(&view->active[ref], word);
	return status;
}

static bool unpin(const struct grant_use *use, bool readonly)
{
	const struct grant_view *view = &use->domain->view;
	uint64_t *active = &view->active[use->ref];
	uint64_t word;

	if (!active_trylock(active, HV_OWNER_DAEMON, &word))
		return false;
	/* Processes of another domain share this table: what it says is not taken on trust. */
	if (readonly ? ACTIVE_READERS(word) : ACTIVE_WRITERS(word))
		word -= readonly ? ACTIVE_READER : ACTIVE_WRITER;
	grant_release(view, use->ref, word);
	active_unlock(active, word);
	return true;
}

static void unpin_later(const struct grant_use *use, bool readonly)
{
	struct late_unpin *late = malloc(sizeof(*late));

	if (!late)
		return; /* pinned, and its domain dying, for as long as the machine lives */
	late->use = *use;
	late->readonly = readonly;
	LL_PREPEND(use->domain->machine->late, late);
	machine_retry_soon(use->domain->machine);
}

bool late_unpins_retry(struct xenemu_machine *machine, bool last)
{
	struct late_unpin *late, *tmp;

	LL_FOREACH_SAFE (machine->late, late, tmp) {
		if (!last && !unpin(&late->use, late->readonly))
			continue;
		LL_DELETE(machine->late, late);
		domain_put(late->use.domain);
		free(late);
	}
	return machine->late != NULL;
}

static void unmap_uses(const struct grant_use *uses, uint32_t nr, bool readonly)
{
	for (uint32_t i = 0; i < nr; i++) {
		struct domain *domain = uses[i].domain;

		if (!unpin(&uses[i], readonly)) {
			unpin_later(&uses[i], readonly);
			continue;
		}
		/* Once for all pages of a domain, as they mostly come together. */
		if (domain->quarantine && (i + 1 == nr || uses[i + 1].domain != domain))
			quarantine_retry(domain);
		domain_put(domain);
	}
}

static void notify_clear_byte(const struct unmap_notify *notify, const struct domain *domain,
			      uint32_t frame)
{
	if (notify->offset != NONE)
		WRITE_ONCE(grant_frame(&domain->view, frame)[notify->offset], 0);
}

/* In gntdev's order: clear, signal, unmap. */
static void map_group_end(struct conn *conn, struct map_group *group)
{
	HASH_DEL(conn->maps, group);
	conn->nr_mapped -= group->nr;
	notify_clear_byte(&group->notify, group->uses[0].domain, group->uses[0].frame);
	if (group->notify.port != NONE)
		port_notify_put(conn->domain, group->notify.port);
	unmap_uses(group->uses, group->nr, group->readonly);
	free(group);
}

static bool injected_map_fault(struct xenemu_machine *machine)
{
	uint32_t every = machine->faults[HV_FAULT_MAP];

	return every && ++machine->map_count % every == 0;
}

int op_gnttab_map(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	bool readonly = msg->u.map.readonly != 0;
	uint32_t nr = msg->nr;
	struct map_group *group;
	int16_t status = GNTST_okay;

	if (!nr)
		return -EINVAL;
	if (nr > conn->max_mapped - MIN(conn->max_mapped, conn->nr_mapped))
		return -ENOMEM;
	group = calloc(1, sizeof(*group) + nr * sizeof(group->uses[0]));
	if (!group)
		return -ENOMEM;
	for (uint32_t i = 0; i < nr && status == GNTST_okay; i++) {
		if (injected_map_fault(conn->machine))
			status = GNTST_general_error;
		else
			status = map_one(conn, msg->pairs[i].a, msg->pairs[i].b, readonly,
					 &group->uses[group->nr]);
		group->nr += status == GNTST_okay;
	}
	if (status != GNTST_okay) {
		unmap_uses(group->uses, group->nr, readonly);
		free(group);
		msg->u.map.gnt_status = status;
		return status == GNTST_eagain ? -EAGAIN : -EINVAL;
	}
	group->id = ++conn->next_group;
	group->readonly = readonly;
	group->notify.offset = group->notify.port = NONE;
	conn->nr_mapped += nr;
	HASH_ADD(hh, conn->maps, id, sizeof(group->id), group);
	for (uint32_t i = 0; i < nr; i++) {
		msg->pairs[i].a = group->uses[i].domain->domid;
		msg->pairs[i].b = group->uses[i].frame;
	}
	msg->u.map.group = group->id;
	msg->u.map.gnt_status = GNTST_okay;
	return 0;
}

int op_gnttab_unmap(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct map_group *group;

	HASH_FIND(hh, conn->maps, &msg->u.map.group, sizeof(msg->u.map.group), group);
	if (!group)
		return -EINVAL;
	map_group_end(conn, group);
	msg->nr = 0;
	return 0;
}

int op_gnttab_limit(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	msg->nr = 0;
	if (conn->maps)
		return -EBUSY;
	conn->max_mapped = msg->u.count;
	return 0;
}

/* ---- what a guest shares ---- */

/* Next fit from a hint, so that a reference just freed is not the next one handed out. */
static uint32_t take_free(uint8_t *used, uint32_t nr, uint32_t *hint)
{
	for (uint32_t tries = 0; tries < nr; tries++) {
		uint32_t i = *hint;

		*hint = i + 1 < nr ? i + 1 : 0;
		if (!used[i]) {
			used[i] = 1;
			return i;
		}
	}
	return NONE;
}

/* The page leaves memory, and reads as zeroes when it is handed out again. */
static void free_page(struct domain *domain, uint32_t ref, uint32_t frame)
{
	off_t offset = (off_t)(grant_frame(&domain->view, frame) - domain->memory);

	if (fallocate(domain->memory_fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, offset,
		      HV_PAGE_BYTES))
		memset(grant_frame(&domain->view, frame), 0, HV_PAGE_BYTES);
	domain->ref_used[ref] = 0;
	domain->frame_used[frame] = 0;
}

/* End an entry that nobody has in use (gnttab_end_foreign_access_ref() of a guest's kernel). */
static bool end_access(struct domain *domain, uint32_t ref)
{
	uint64_t *active = &domain->view.active[ref];
	uint64_t word;
	bool ended;

	if (ACTIVE_OWNER(__atomic_load_n(active, __ATOMIC_RELAXED)))
		return false; /* being copied at this moment */
	if (!active_trylock(active, HV_OWNER_DAEMON, &word))
		return false;
	ended = !ACTIVE_PINS(word);
	if (ended)
		__atomic_store_n(&domain->view.table[ref].flags, 0, __ATOMIC_SEQ_CST);
	active_unlock(active, word);
	return ended;
}

static void unshare_page(struct domain *domain, uint32_t ref, uint32_t frame)
{
	struct quarantined *page;

	if (end_access(domain, ref)) {
		free_page(domain, ref, frame);
		return;
	}
	page = malloc(sizeof(*page));
	if (!page)
		return; /* lost to the domain until it ends; nobody else is hurt */
	page->ref = ref;
	page->frame = frame;
	LL_PREPEND(domain->quarantine, page);
	machine_retry_soon(domain->machine);
}

bool quarantine_retry(struct domain *domain)
{
	struct quarantined *page, *tmp;

	LL_FOREACH_SAFE (domain->quarantine, page, tmp) {
		if (!end_access(domain, page->ref))
			continue;
		free_page(domain, page->ref, page->frame);
		LL_DELETE(domain->quarantine, page);
		free(page);
	}
	return domain->quarantine != NULL;
}

int op_gntshr_share(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain = conn->domain;
	struct grant_view *view = &domain->view;
	uint32_t nr = msg->u.share.count;
	struct share_group *group;

	if (!nr || nr > HV_MAX_PAIRS)
		return -EINVAL;
	group = calloc(1, sizeof(*group) + nr * sizeof(group->pages[0]));
	if (!group)
		return -ENOMEM;
	for (group->nr = 0; group->nr < nr; group->nr++) {
		struct hv_pair *page = &group->pages[group->nr];

		page->a = take_free(domain->ref_used, view->nr_entries, &domain->ref_hint);
		page->b = take_free(domain->frame_used, view->nr_frames, &domain->frame_hint);
		if (page->a == NONE || page->b == NONE) {
			if (page->a != NONE)
				domain->ref_used[page->a] = 0;
			if (page->b != NONE)
				domain->frame_used[page->b] = 0;
			break;
		}
	}
	if (group->nr < nr) {
		while (group->nr--)
			free_page(domain, group->pages[group->nr].a, group->pages[group->nr].b);
		free(group);
		return -ENOSPC;
	}
	group->id = ++conn->next_group;
	group->notify.offset = group->notify.port = NONE;
	HASH_ADD(hh, conn->shares, id, sizeof(group->id), group);
	memcpy(msg->pairs, group->pages, nr * sizeof(group->pages[0]));
	msg->nr = nr;
	msg->u.share.group = group->id;
	return 0;
}

static void share_group_end(struct conn *conn, struct share_group *group)
{
	HASH_DEL(conn->shares, group);
	notify_clear_byte(&group->notify, conn->domain, group->pages[0].b);
	if (group->notify.port != NONE)
		port_notify_put(conn->domain, group->notify.port);
	/* A dying domain's table stays as it is: those who map its pages keep them. */
	for (uint32_t i = 0; i < group->nr && !conn->domain->dead; i++)
		unshare_page(conn->domain, group->pages[i].a, group->pages[i].b);
	free(group);
}

int op_gntshr_unshare(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct share_group *group;

	HASH_FIND(hh, conn->shares, &msg->u.share.group, sizeof(msg->u.share.group), group);
	if (!group)
		return -EINVAL;
	share_group_end(conn, group);
	msg->nr = 0;
	return 0;
}

/* ---- notification at the end of either ---- */

int op_unmap_notify(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	uint32_t id = msg->u.notify.group, offset = msg->u.notify.offset;
	uint32_t port = msg->u.notify.port;
	struct unmap_notify *notify;
	struct share_group *share;
	struct map_group *map;

	HASH_FIND(hh, conn->maps, &id, sizeof(id), map);
	HASH_FIND(hh, conn->shares, &id, sizeof(id), share);
	if (map)
		notify = &map->notify;
	else if (share)
		notify = &share->notify;
	else
		return -ENOENT;
	if (offset != NONE && (offset >= HV_PAGE_BYTES || (map && map->readonly)))
		return -EINVAL;
	if (port != NONE && !port_get(conn->domain, port))
		return -EINVAL;
	if (notify->port != NONE)
		port_drop_ref(conn->domain, notify->port);
	notify->offset = offset;
	notify->port = port;
	msg->nr = 0;
	return 0;
}

/* ---- end of a handle ---- */

/* The process was killed between the lock of this entry and its release: do the rest for it. */
static void journal_recover(struct conn *conn, uint64_t slot)
{
	uint32_t ref = (uint32_t)slot;
	domid_t domid = (domid_t)(slot >> 32);
	struct domain *domain = domain_find(conn->machine, domid);
	uint64_t word;

	if (!slot || !domain || ref >= domain->view.nr_entries)
		return;
	word = __atomic_load_n(&domain->view.active[ref], __ATOMIC_ACQUIRE);
	if (ACTIVE_OWNER(word) != conn->owner)
		return;
	grant_release(&domain->view, ref, word);
	active_unlock(&domain->view.active[ref], word);
	log_debug("dom%u: ended in the middle of a copy of dom%u's grant %u; released",
		  conn->domain->domid, domid, ref);
}

void grants_end(struct conn *conn)
{
	struct map_group *map, *next_map;
	struct share_group *share, *next_share;

	if (conn->journal) {
		for (unsigned i = 0; i < HV_JOURNAL_SLOTS; i++)
			journal_recover(conn, READ_ONCE(conn->journal->slot[i]));
	}
	HASH_ITER (hh, conn->maps, map, next_map)
		map_group_end(conn, map);
	HASH_ITER (hh, conn->shares, share, next_share)
		share_group_end(conn, share);
}

void grants_count(const struct conn *conn, struct hv_stats *stats)
{
	const struct map_group *map;
	const struct share_group *share;

	for (map = conn->maps; map; map = map->hh.next) {
		stats->map_groups++;
		stats->pins += map->nr;
	}
	for (share = conn->shares; share; share = share->hh.next)
		stats->shared_pages += share->nr;
}
