/* SPDX-License-Identifier: MIT */
/* fallback_alloc.c: mmap, huge first. Both kinds are rounded alike, so munmap needs no memory. */
#include "common/fallback_alloc.h"

#include <stdatomic.h>
#include <sys/mman.h>

#define HUGE_BYTES ((size_t)2 << 20)
#define PAGE_BYTES ((size_t)4096)

static atomic_ulong nr_fallbacks;

static size_t rounded(size_t size)
{
	size_t unit = size >= HUGE_BYTES ? HUGE_BYTES : PAGE_BYTES;

	return (size + unit - 1) / unit * unit;
}

static void *map(size_t size, int flags)
{
	return mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
}

void *fallback_alloc(size_t size)
{
	size_t bytes = rounded(size);
	void *mem;

	if (bytes >= HUGE_BYTES) {
		mem = map(bytes, MAP_HUGETLB);
		if (mem != MAP_FAILED)
			return mem;
		atomic_fetch_add_explicit(&nr_fallbacks, 1, memory_order_relaxed);
	}
	mem = map(bytes, 0);
	return mem == MAP_FAILED ? NULL : mem;
}

void fallback_free(void *mem, size_t size)
{
	if (mem)
		munmap(mem, rounded(size));
}

unsigned long fallback_alloc_fallbacks(void)
{
	return atomic_load_explicit(&nr_fallbacks, memory_order_relaxed);
}
