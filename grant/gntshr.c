/* SPDX-License-Identifier: MIT */
/*
 * gntshr.c: libxengnttab's producer side. The machine says which references and frames are free;
 * the entries are written here, by the guest, as gntalloc and every guest kernel does it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xengnttab.h>

#include "grant/gnttab.h"

#define NONE UINT32_MAX

xengntshr_handle *xengntshr_open(struct xentoollog_logger *logger, unsigned open_flags)
{
	struct xengntdev_handle *h = calloc(1, sizeof(*h));
	struct client_fds fds;
	struct hv_msg msg;
	void *table;
	int err;

	if (!h)
		return NULL;
	err = client_open(&h->client, HV_KIND_GNTSHR, logger, client_restrict, &msg, &fds);
	if (err)
		goto fail;
	h->nr_entries = msg.u.open.nr_entries;
	h->nr_frames = msg.u.open.nr_frames;
	h->memory_fd = fds.nr == 1 ? fds.fd[0] : -1;
	table = mmap(NULL, hv_table_bytes(h->nr_entries), PROT_READ | PROT_WRITE, MAP_SHARED,
		     h->memory_fd, 0);
	if (table == MAP_FAILED) {
		err = -errno;
		client_close_fds(&fds);
		client_close(&h->client);
		goto fail;
	}
	h->table = table;
	pthread_mutex_init(&h->lock, NULL);
	return h;
fail:
	free(h);
	errno = -err;
	return NULL;
}

int xengntshr_close(xengntshr_handle *xgs)
{
	if (!xgs)
		return 0;
	mappings_unmap(xgs);
	client_close(&xgs->client);
	munmap(xgs->table, hv_table_bytes(xgs->nr_entries));
	close(xgs->memory_fd);
	pthread_mutex_destroy(&xgs->lock);
	free(xgs);
	return 0;
}

int xengntshr_fd(xengntshr_handle *xgs)
{
	return xgs->client.fd;
}

/* "Introducing a valid entry into the grant table" of xen/grant_table.h. */
static void grant_access(struct grant_entry_v1 *entry, domid_t domid, uint32_t frame, bool writable)
{
	WRITE_ONCE(entry->frame, frame);
	WRITE_ONCE(entry->domid, domid);
	__atomic_store_n(&entry->flags,
			 (uint16_t)(GTF_permit_access | (writable ? 0 : GTF_readonly)),
			 __ATOMIC_RELEASE);
}

static void unshare_groups(struct xengntdev_handle *h, uint32_t first, uint32_t nr)
{
	struct hv_msg msg;

	for (uint32_t i = 0; i < nr; i++) {
		memset(&msg, 0, HV_MSG_BYTES(0));
		msg.op = HV_GNTSHR_UNSHARE;
		msg.u.share.group = first + i;
		client_call(&h->client, &msg, NULL);
	}
}

static int share_some(struct xengntdev_handle *h, struct hv_msg *msg, uint8_t *addr, uint32_t domid,
		      uint32_t nr, uint32_t *refs, int writable)
{
	int err = 0;

	memset(msg, 0, HV_MSG_BYTES(0));
	msg->op = HV_GNTSHR_SHARE;
	msg->u.share.count = nr;
	err = client_call(&h->client, msg, NULL);
	if (err)
		return err;
	for (uint32_t i = 0; i < msg->nr && !err; i++) {
		const struct hv_pair *pair = &msg->pairs[i];

		err = map_frame(addr + ((size_t)i << HV_PAGE_SHIFT), h->memory_fd, h->nr_entries,
				pair->b, PROT_READ | PROT_WRITE);
		grant_access(&h->table[pair->a], (domid_t)domid, pair->b, writable);
		refs[i] = pair->a;
	}
	if (err)
		unshare_groups(h, msg->u.share.group, 1);
	return err;
}

static int share_all(struct xengntdev_handle *h, uint8_t *addr, uint32_t domid, uint32_t count,
		     uint32_t *refs, int writable, uint32_t offset, uint32_t port)
{
	uint32_t first_group = 0, nr_groups = 0;
	struct hv_msg msg;
	int err = 0;

	for (uint32_t done = 0; done < count && !err; done += msg.nr) {
		err = share_some(h, &msg, addr + ((size_t)done << HV_PAGE_SHIFT), domid,
				 MIN(count - done, HV_MAX_PAIRS), refs + done, writable);
		if (!err && !nr_groups++)
			first_group = msg.u.share.group;
	}
	if (!err)
		err = set_notify(h, first_group, offset, port);
	if (!err)
		err = mapping_add(h, addr, count, first_group, nr_groups);
	if (err)
		unshare_groups(h, first_group, nr_groups);
	return err;
}

static void *share(struct xengntdev_handle *h, uint32_t domid, uint32_t count, uint32_t *refs,
		   int writable, uint32_t offset, uint32_t port)
{
	size_t bytes = (size_t)count << HV_PAGE_SHIFT;
	void *addr;
	int err = 0;

	if (domid == DOMID_SELF)
		domid = h->client.domid;
	if (!count || domid >= DOMID_FIRST_RESERVED)
		err = -EINVAL;
	else if (count > h->nr_entries || count > h->nr_frames)
		err = -ENOSPC;
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
	err = share_all(h, addr, domid, count, refs, writable, offset, port);
	pthread_mutex_unlock(&h->lock);
	if (!err)
		return addr;
	munmap(addr, bytes);
fail:
	client_log(&h->client, -err, "sharing of %u page(s) with domain %u failed", count, domid);
	errno = -err;
	return NULL;
}

void *xengntshr_share_pages(xengntshr_handle *xgs, uint32_t domid, int count, uint32_t *refs,
			    int writable)
{
	return share(xgs, domid, count > 0 ? (uint32_t)count : 0, refs, writable, NONE, NONE);
}

void *xengntshr_share_page_notify(xengntshr_handle *xgs, uint32_t domid, uint32_t *ref,
				  int writable, uint32_t notify_offset, evtchn_port_t notify_port)
{
	return share(xgs, domid, 1, ref, writable, notify_offset, notify_port);
}

int xengntshr_unshare(xengntshr_handle *xgs, void *start_address, uint32_t count)
{
	struct mapping *mapping;

	pthread_mutex_lock(&xgs->lock);
	mapping = mapping_remove(xgs, start_address, count);
	if (mapping) {
		munmap(start_address, (size_t)count << HV_PAGE_SHIFT);
		unshare_groups(xgs, mapping->first_group, mapping->nr_groups);
		free(mapping);
	}
	pthread_mutex_unlock(&xgs->lock);
	if (mapping)
		return 0;
	errno = EINVAL;
	return -1;
}
