/* SPDX-License-Identifier: MIT */
/* pending.c: the stack of free pages and the strong check. See pending.h. */
#include "netback/pending.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/fallback_alloc.h"

int pending_init(struct pending *pending, unsigned group, unsigned tx_shift)
{
	unsigned nr = 1u << tx_shift;

	*pending = (struct pending){.group = group, .nr_pages = nr, .nr_free = nr};
	pending->free = calloc(nr, sizeof(*pending->free));
	pending->in_use = calloc(nr, sizeof(*pending->in_use));
	pending->pages = fallback_alloc((size_t)nr * PENDING_PAGE_BYTES);
	if (!pending->free || !pending->in_use || !pending->pages) {
		pending_fini(pending);
		return -ENOMEM;
	}
	/* The stack's top is its end: page 0 is the first to go. */
	for (unsigned i = 0; i < nr; i++)
		pending->free[i] = nr - 1 - i;
	return 0;
}

void pending_fini(struct pending *pending)
{
	free(pending->free);
	free(pending->in_use);
	fallback_free(pending->pages, (size_t)pending->nr_pages * PENDING_PAGE_BYTES);
	memset(pending, 0, sizeof(*pending));
}

static bool is_page_of(const struct pending *pending, union page_ext tag, const void *page)
{
	return tag.e.group == pending->group + 1 && tag.e.idx < pending->nr_pages &&
	       pending_page(pending, tag.e.idx) == page;
}

struct pending *pending_owner(struct pending *const pools[], unsigned nr_pools, union page_ext tag,
			      const void *page)
{
	struct pending *pending;

	if (!tag.e.group || tag.e.group > nr_pools)
		return NULL;
	pending = pools[tag.e.group - 1];
	return is_page_of(pending, tag, page) ? pending : NULL;
}

bool pending_put(struct pending *pending, union page_ext tag, const void *page)
{
	if (!is_page_of(pending, tag, page) || !pending->in_use[tag.e.idx])
		return false;
	pending->in_use[tag.e.idx] = 0;
	pending->free[pending->nr_free++] = tag.e.idx;
	return true;
}
