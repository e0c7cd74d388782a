/* SPDX-License-Identifier: MIT */
/*
 * counter.h: counters that one thread writes and any thread may read at any time. A plain add of
 * the only writer, made visible without a lock, a locked instruction or a torn value.
 */
#ifndef NETBACK_COUNTER_H
#define NETBACK_COUNTER_H

#include <stdint.h>

/** counter_add() - by the counter's one writing thread. */
static inline void counter_add(uint64_t *counter, uint64_t n)
{
	__atomic_store_n(counter, *counter + n, __ATOMIC_RELAXED);
}

/** counter_read() - from any thread. */
static inline uint64_t counter_read(const uint64_t *counter)
{
	return __atomic_load_n(counter, __ATOMIC_RELAXED);
}

#endif
