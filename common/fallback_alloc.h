/* SPDX-License-Identifier: MIT */
/*
 * fallback_alloc.h: big arrays. Huge pages are tried first, ordinary ones taken quietly if there
 * are none; freed in one way whichever it was.
 */
#ifndef COMMON_FALLBACK_ALLOC_H
#define COMMON_FALLBACK_ALLOC_H

#include <stddef.h>

/**
 * fallback_alloc() - zeroed, page-aligned memory
 * @size: bytes, greater than 0
 *
 * Blocks of 2 MiB and more try MAP_HUGETLB first.
 * Return: the memory, or NULL with errno set (ENOMEM). Control path only.
 */
void *fallback_alloc(size_t size);

/** fallback_free() - @size as it was asked for; @mem may be NULL. */
void fallback_free(void *mem, size_t size);

/** fallback_alloc_fallbacks() - how often huge pages were wanted and could not be had. */
unsigned long fallback_alloc_fallbacks(void);

#endif
