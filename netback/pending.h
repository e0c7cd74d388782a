/* SPDX-License-Identifier: MIT */
/*
 * pending.h: a group's pending pages. A grant copy from a guest lands in a pending page; the page
 * is given back when the host side has taken its bytes. Each page carries a tag, the union of
 * {group + 1, index} and one word, so that whoever finishes with it finds its owner from the tag
 * alone. Free pages are kept as a stack: the page used last is the one in the cache.
 *
 * Pure: no I/O, no clock, one thread (the group's worker).
 */
#ifndef NETBACK_PENDING_H
#define NETBACK_PENDING_H

#include <stdbool.h>
#include <stdint.h>

#include "common/compiler.h"

#define PENDING_PAGE_BYTES 4096

/** Who owns a page. The word is also the completion cookie of asynchronous I/O. */
union page_ext {
	struct {
		uint32_t group; /* index of the group + 1; 0: not ours */
		uint32_t idx;
	} e;
	uint64_t word;
};
BUILD_ASSERT(sizeof(union page_ext) == sizeof(uint64_t));

static inline union page_ext page_ext_make(unsigned group, uint32_t idx)
{
	return (union page_ext){.e = {.group = group + 1, .idx = idx}};
}

struct pending {
	unsigned group;
	unsigned nr_pages;
	unsigned nr_free;
	uint32_t *free;	 /* stack of indices */
	uint8_t *in_use; /* by index: a page cannot be given back twice */
	uint8_t *pages;	 /* arena of nr_pages pages */
};

/** pending_init() - 1 << @tx_shift pages for group @group. Return: 0 or -ENOMEM. Control path. */
int pending_init(struct pending *pending, unsigned group, unsigned tx_shift);
/** pending_fini() - of a pool that pending_init() made, or of a zeroed one. */
void pending_fini(struct pending *pending);

/** pending_page() - the address of page @idx. */
static inline void *pending_page(const struct pending *pending, uint32_t idx)
{
	return pending->pages + (uint64_t)idx * PENDING_PAGE_BYTES;
}

/**
 * pending_get() - take the page that was given back last
 *
 * There must be one: compare nr_free first.
 */
static inline union page_ext pending_get(struct pending *pending)
{
	uint32_t idx = pending->free[--pending->nr_free];

	pending->in_use[idx] = 1;
	return page_ext_make(pending->group, idx);
}

/**
 * pending_owner() - whose page is this?
 * @pools: the groups' pools, by group; @nr_pools: how many
 *
 * The strong check: the page at the tag's index of the tag's group is @page.
 * Return: the pool, or NULL if the tag is not ours or not this page's.
 */
struct pending *pending_owner(struct pending *const pools[], unsigned nr_pools, union page_ext tag,
			      const void *page);

/**
 * pending_put() - give the page back to the pool it is @tag says of
 *
 * Return: false, with nothing changed, if the strong check fails or the page is free already.
 */
bool pending_put(struct pending *pending, union page_ext tag, const void *page);

#endif
