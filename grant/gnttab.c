/* SPDX-License-Identifier: MIT */
/*
 * gnttab.c: libxengnttab's consumer side but for the copy: handles, attached domains, mapping.
 * Errors are what Linux's gntdev gives: any grant that cannot be mapped is EINVAL.
 */
#include "grant/gnttab.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xengnttab.h>

#define NONE		 UINT32_MAX
#define AGAIN_TRIES	 1000
#define AGAIN_PAUSE_USEC 1000

static int fail(int err)
{
	errno = -err;
	return -1;
}

/* ---- handles ---- */

static void *map_journal(int fd)
{
	void *mem =
		mmap(NULL, sizeof(struct hv_journal), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned open_flags)
{
	struct xengntdev_handle *h = calloc(1, sizeof(*h));
	struct client_fds fds;
	struct hv_msg msg;
	int err;

	if (!h)
		return NULL;
	err = client_open(&h->client, HV_KIND_GNTTAB, logger, client_restrict, &msg, &fds);
	if (err)
		goto fail;
	h->memory_fd = -1;
	h->owner = msg.u.open.owner;
	h->journal = fds.nr == 1 ? map_journal(fds.fd[0]) : NULL;
	client_close_fds(&fds);
	if (!h->journal) {
		err = -ENOMEM;
		client_close(&h->client);
		goto fail;
	}
	pthread_mutex_init(&h->lock, NULL);
	return h;
fail:
	free(h);
	errno = -err;
	return NULL;
}

static void foreign_free(struct foreign *foreign)
{
	const struct grant_view *view = &foreign->view;

	munmap(foreign->memory, hv_memory_bytes(view->nr_entries, view->nr_frames));
	munmap((void *)(uintptr_t)foreign->header, hv_active_bytes(view->nr_entries));
	close(foreign->memory_fd);
	free(foreign);
}

void foreign_bury(struct xengntdev_handle *h)
{
	struct foreign *foreign;

	while ((foreign = h->buried)) {
		h->buried = foreign->next;
		foreign_free(foreign);
	}
}

int xengnttab_close(xengnttab_handle *xgt)
{
	struct foreign *foreign, *next;

	if (!xgt)
		return 0;
	mappings_unmap(xgt);
	client_close(&xgt->client);
	foreign_bury(xgt);
	for (unsigned i = 0; i < FOREIGN_BUCKETS; i++) {
		for (foreign = xgt->buckets[i]; foreign; foreign = next) {
			next = foreign->next;
			foreign_free(foreign);
		}
	}
	munmap(xgt->journal, sizeof(*xgt->journal));
	pthread_mutex_destroy(&xgt->lock);
	free(xgt);
	return 0;
}

int xengnttab_fd(xengnttab_handle *xgt)
{
	return xgt->client.fd;
}

int xengnttab_set_max_grants(xengnttab_handle *xgt, uint32_t nr_grants)
{
	struct hv_msg msg;
	int err;

	memset(&msg, 0, HV_MSG_BYTES(0));
	msg.op = HV_GNTTAB_LIMIT;
	msg.u.count = nr_grants;
	err = client_call(&xgt->client, &msg, NULL);
	return err ? fail(err) : 0;
}

/* ---- domains ---- */

static struct foreign *foreign_new(const struct hv_msg *msg, const struct client_fds *fds)
{
	uint32_t nr_entries = msg->u.attach.nr_entries, nr_frames = msg->u.attach.nr_frames;
	struct foreign *foreign = calloc(1, sizeof(*foreign));
	int prot = PROT_READ | PROT_WRITE;
	void *active;

	if (!foreign)
		return NULL;
	foreign->memory =
		mmap(NULL, hv_memory_bytes(nr_entries, nr_frames), prot, MAP_SHARED, fds->fd[0], 0);
	if (foreign->memory == MAP_FAILED)
		goto fail;
	active = mmap(NULL, hv_active_bytes(nr_entries), prot, MAP_SHARED, fds->fd[1], 0);
	if (active == MAP_FAILED) {
		munmap(foreign->memory, hv_memory_bytes(nr_entries, nr_frames));
		goto fail;
	}
	foreign->header = active;
	foreign->view = (struct grant_view){
		.table = foreign->memory,
		.active = (uint64_t *)(void *)((uint8_t *)active + HV_PAGE_BYTES),
		.frames = (uint8_t *)foreign->memory + hv_table_bytes(nr_entries),
		.nr_entries = nr_entries,
		.nr_frames = nr_frames,
	};
	foreign->domid = (domid_t)msg->u.attach.domid;
	foreign->memory_fd = fds->fd[0];
	close(fds->fd[1]);
	return foreign;
fail:
	free(foreign);
	return NULL;
}

/* Take the dead domains out: their numbers may belong to others by now. */
static void foreign_sweep(struct xengntdev_handle *h, unsigned bucket)
{
	struct foreign **link = &h->buckets[bucket], *foreign;

	while ((foreign = *link)) {
		if (!READ_ONCE(foreign->header->dead)) {
			link = &foreign->next;
			continue;
		}
		*link = foreign->next;
		if (h->last == foreign)
			h->last = NULL;
		foreign->next = h->buried;
		h->buried = foreign;
	}
}

static struct foreign *foreign_lookup(struct xengntdev_handle *h, domid_t domid)
{
	unsigned bucket = domid % FOREIGN_BUCKETS;
	struct foreign *foreign;

	foreign_sweep(h, bucket);
	foreign = h->buckets[bucket];
	while (foreign && foreign->domid != domid)
		foreign = foreign->next;
	return foreign;
}

int16_t foreign_attach(struct xengntdev_handle *h, uint32_t domid, uint32_t ref,
		       struct foreign **result)
{
	struct foreign *foreign;
	struct client_fds fds;
	struct hv_msg msg;
	int err;

	if (domid == DOMID_SELF)
		domid = h->client.domid;
	if (domid >= DOMID_FIRST_RESERVED)
		return GNTST_bad_domain;
	h->last = NULL;
	foreign = foreign_lookup(h, (domid_t)domid);
	if (!foreign) {
		/* Whatever their numbers, so that memory of the dead does not pile up. */
		for (unsigned i = 0; i < FOREIGN_BUCKETS; i++)
			foreign_sweep(h, i);
		memset(&msg, 0, HV_MSG_BYTES(0));
		msg.op = HV_GNTTAB_ATTACH;
		msg.u.attach.domid = domid;
		err = client_call(&h->client, &msg, &fds);
		if (err)
			return err == -ESRCH ? GNTST_bad_domain : GNTST_general_error;
		if (fds.nr != 2) {
			client_close_fds(&fds);
			return ref < msg.u.attach.nr_entries ? GNTST_general_error
							     : GNTST_bad_gntref;
		}
		foreign = foreign_new(&msg, &fds);
		if (!foreign) {
			client_close_fds(&fds);
			return GNTST_no_space;
		}
		foreign->next = h->buckets[domid % FOREIGN_BUCKETS];
		h->buckets[domid % FOREIGN_BUCKETS] = foreign;
	}
	h->last = foreign;
	*result = foreign;
	return GNTST_okay;
}

/* ---- ranges, of either side ---- */

int mapping_add(struct xengntdev_handle *h, void *addr, uint32_t nr_pages, uint32_t first_group,
		uint32_t nr_groups)
{
	struct mapping *mapping = calloc(1, sizeof(*mapping));

	if (!mapping)
		return -ENOMEM;
	mapping->addr = addr;
	mapping->nr_pages = nr_pages;
	mapping->first_group = first_group;
	mapping->nr_groups = nr_groups;
	HASH_ADD_PTR(h->mappings, addr, mapping);
	return 0;
}

struct mapping *mapping_remove(struct xengntdev_handle *h, const void *addr, uint32_t nr_pages)
{
	struct mapping *mapping;

	HASH_FIND_PTR(h->mappings, &addr, mapping);
	if (!mapping || mapping->nr_pages != nr_pages)
		return NULL;
	HASH_DEL(h->mappings, mapping);
	return mapping;
}

void mappings_unmap(struct xengntdev_handle *h)
{
	struct mapping *mapping, *tmp;

	HASH_ITER (hh, h->mappings, mapping, tmp) {
		HASH_DEL(h->mappings, mapping);
		munmap(mapping->addr, (size_t)mapping->nr_pages << HV_PAGE_SHIFT);
		free(mapping);
	}
}

int map_frame(void *addr, int memory_fd, uint32_t nr_entries, uint32_t frame, int prot)
{
	off_t offset = (off_t)(hv_table_bytes(nr_entries) + ((size_t)frame << HV_PAGE_SHIFT));

	if (mmap(addr, HV_PAGE_BYTES, prot, MAP_SHARED | MAP_FIXED, memory_fd, offset) ==
	    MAP_FAILED)
		return -errno;
	return 0;
}

int set_notify(struct xengntdev_handle *h, uint32_t group, uint32_t offset, uint32_t port)
{
	struct hv_msg msg;

	if (offset == NONE && port == NONE)
		return 0;
	memset(&msg, 0, HV_MSG_BYTES(0));
	msg.op = HV_UNMAP_NOTIFY;
	msg.u.notify.group = group;
	msg.u.notify.offset = offset;
	msg.u.notify.port = port;
	return client_call(&h->client, &msg, NULL);
}

/* ---- mapping ---- */

static void unmap_groups(struct xengntdev_handle *h, uint32_t first, uint32_t nr)
{
	struct hv_msg msg;

	for (uint32_t i = 0; i < nr; i++) {
		memset(&msg, 0, HV_MSG_BYTES(0));
		msg.op = HV_GNTTAB_UNMAP;
		msg.u.map.group = first + i;
		client_call(&h->client, &msg, NULL);
	}
}

static int request_map(struct xengntdev_handle *h, struct hv_msg *msg, uint32_t nr,
		       const uint32_t *domids, uint32_t domids_step, const uint32_t *refs, int prot)
{
	int err;

	for (unsigned tries = 0; tries < AGAIN_TRIES; tries++) {
		memset(msg, 0, HV_MSG_BYTES(0));
		msg->op = HV_GNTTAB_MAP;
		msg->u.map.readonly = !(prot & PROT_WRITE);
		msg->nr = nr;
		for (uint32_t i = 0; i < nr; i++)
			msg->pairs[i] = (struct hv_pair){domids[i * domids_step], refs[i]};
		err = client_call(&h->client, msg, NULL);
		if (err != -EAGAIN)
			return err;
		usleep(AGAIN_PAUSE_USEC);
	}
	return err;
}

/* What the machine pinned, put into our address space. */
static int map_pairs(struct xengntdev_handle *h, const struct hv_msg *msg, uint8_t *addr, int prot)
{
	int err = 0;

	for (uint32_t i = 0; i < msg->nr && !err; i++) {
		const struct hv_pair *pair = &msg->pairs[i];
		struct foreign *foreign;

		if (foreign_attach(h, pair->a, 0, &foreign) != GNTST_okay)
			return -EINVAL; /* died meanwhile */
		err = map_frame(addr + ((size_t)i << HV_PAGE_SHIFT), foreign->memory_fd,
				foreign->view.nr_entries, pair->b, prot);
	}
	return err;
}

static int map_all(struct xengntdev_handle *h, uint8_t *addr, uint32_t count,
		   const uint32_t *domids, uint32_t domids_step, const uint32_t *refs, int prot,
		   uint32_t offset, uint32_t port)
{
	uint32_t first_group = 0, nr_groups = 0;
	struct hv_msg msg;
	int err = 0;

	for (uint32_t done = 0; done < count && !err; done += msg.nr) {
		err = request_map(h, &msg, MIN(count - done, HV_MAX_PAIRS),
				  domids + done * domids_step, domids_step, refs + done, prot);
		if (err)
			break;
		if (!nr_groups++)
			first_group = msg.u.map.group;
		err = map_pairs(h, &msg, addr + ((size_t)done << HV_PAGE_SHIFT), prot);
	}
	if (!err)
		err = set_notify(h, first_group, offset, port);
	if (!err)
		err = mapping_add(h, addr, count, first_group, nr_groups);
	if (err)
		unmap_groups(h, first_group, nr_groups);
	return err;
}

static void *map_refs(struct xengntdev_handle *h, uint32_t count, const uint32_t *domids,
		      uint32_t domids_step, const uint32_t *refs, int prot, uint32_t offset,
		      uint32_t port)
{
	size_t bytes = (size_t)count << HV_PAGE_SHIFT;
	void *addr;
	int err = 0;

	if (!count)
		err = -EINVAL;
	else if (h->client.restricted)
		err = -EACCES;
	if (err)
		goto fail;
	addr = mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (addr == MAP_FAILED) {
		err = -errno;
		goto fail;
	}
	pthread_mutex_lock(&h->lock);
	foreign_bury(h);
	err = map_all(h, addr, count, domids, domids_step, refs, prot, offset, port);
	pthread_mutex_unlock(&h->lock);
	if (!err)
		return addr;
	munmap(addr, bytes);
fail:
	client_log(&h->client, -err, "mapping of %u grant(s) failed", count);
	errno = -err;
	return NULL;
}

void *xengnttab_map_grant_ref(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot)
{
	return map_refs(xgt, 1, &domid, 0, &ref, prot, NONE, NONE);
}

void *xengnttab_map_grant_refs(xengnttab_handle *xgt, uint32_t count, uint32_t *domids,
			       uint32_t *refs, int prot)
{
	return map_refs(xgt, count, domids, 1, refs, prot, NONE, NONE);
}

void *xengnttab_map_domain_grant_refs(xengnttab_handle *xgt, uint32_t count, uint32_t domid,
				      uint32_t *refs, int prot)
{
	return map_refs(xgt, count, &domid, 0, refs, prot, NONE, NONE);
}

void *xengnttab_map_grant_ref_notify(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot,
				     uint32_t notify_offset, evtchn_port_t notify_port)
{
	return map_refs(xgt, 1, &domid, 0, &ref, prot, notify_offset, notify_port);
}

int xengnttab_unmap(xengnttab_handle *xgt, void *start_address, uint32_t count)
{
	struct mapping *mapping;

	pthread_mutex_lock(&xgt->lock);
	mapping = mapping_remove(xgt, start_address, count);
	if (mapping) {
		munmap(start_address, (size_t)count << HV_PAGE_SHIFT);
		unmap_groups(xgt, mapping->first_group, mapping->nr_groups);
		free(mapping);
	}
	pthread_mutex_unlock(&xgt->lock);
	return mapping ? 0 : fail(-EINVAL);
}

/* ---- dma-buf: answers as the library does on a kernel without it ---- */

int xengnttab_dmabuf_exp_from_refs(xengnttab_handle *xgt, uint32_t domid, uint32_t flags,
				   uint32_t count, const uint32_t *refs, uint32_t *fd)
{
	return fail(-ENOTTY);
}

int xengnttab_dmabuf_exp_wait_released(xengnttab_handle *xgt, uint32_t fd, uint32_t wait_to_ms)
{
	return fail(-ENOTTY);
}

int xengnttab_dmabuf_imp_to_refs(xengnttab_handle *xgt, uint32_t domid, uint32_t fd, uint32_t count,
				 uint32_t *refs)
{
	return fail(-ENOTTY);
}

int xengnttab_dmabuf_imp_release(xengnttab_handle *xgt, uint32_t fd)
{
	return fail(-ENOTTY);
}
