/* SPDX-License-Identifier: MIT */
/*
 * gnttab.h: the library handle of grants, either side (Xen's two handle types are one struct), and
 * the domains whose grants it uses.
 */
#ifndef GRANT_GNTTAB_H
#define GRANT_GNTTAB_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <uthash.h>

#include "grant/client.h"
#include "grant/grant_entry.h"

#define FOREIGN_BUCKETS 256 /* by the low bits of the domid */

/* A domain that grants us something: its memory and active table, mapped until it dies. */
struct foreign {
	struct grant_view view;
	const struct hv_active_header *header;
	domid_t domid;
	bool stuck; /* a word of its table stayed locked for too long: none is waited for again */
	void *memory;
	int memory_fd;
	struct foreign *next;
};

/* A range this handle mapped or shared. Groups are numbered one after the other. */
struct mapping {
	void *addr;
	uint32_t nr_pages;
	uint32_t first_group, nr_groups;
	UT_hash_handle hh;
};

struct xengntdev_handle {
	struct client client;
	pthread_mutex_t lock; /* all below */
	struct mapping *mappings;
	/* gnttab */
	struct foreign *last; /* most copies are with the domain of the one before */
	struct foreign *buckets[FOREIGN_BUCKETS];
	struct foreign *buried; /* dead; unmapped when no segment can be using them */
	struct hv_journal *journal;
	uint32_t owner;
	uint32_t copy_count; /* for injected faults */
	/* gntshr */
	struct grant_entry_v1 *table;
	uint32_t nr_entries, nr_frames;
	int memory_fd;
};

/**
 * foreign_attach() - the slow way to a domain: first use, or it has died
 * @ref: for the status Xen would give when nothing there is granted to us
 *
 * May block. Return: GNTST_okay with *@foreign, or another GNTST_*.
 */
int16_t foreign_attach(struct xengntdev_handle *h, uint32_t domid, uint32_t ref,
		       struct foreign **foreign);

/** foreign_bury() - unmap the domains seen to be dead. */
void foreign_bury(struct xengntdev_handle *h);

/** mapping_add() - remember a range. 0 or -ENOMEM. */
int mapping_add(struct xengntdev_handle *h, void *addr, uint32_t nr_pages, uint32_t first_group,
		uint32_t nr_groups);
/** mapping_remove() - forget the range of exactly @nr_pages at @addr. NULL: there is none. */
struct mapping *mapping_remove(struct xengntdev_handle *h, const void *addr, uint32_t nr_pages);
/** mappings_unmap() - take all of them out of our address space. */
void mappings_unmap(struct xengntdev_handle *h);
/** map_frame() - map one frame at @addr. 0 or -errno. */
int map_frame(void *addr, int memory_fd, uint32_t nr_entries, uint32_t frame, int prot);
/** set_notify() - unmap notification of a group. 0 or -errno. */
int set_notify(struct xengntdev_handle *h, uint32_t group, uint32_t offset, uint32_t port);

#endif
