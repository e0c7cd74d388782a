/* SPDX-License-Identifier: MIT */
/* grant_entry.c: the contended lock of an active word; the rest is inline in the header. */
#include "grant/grant_entry.h"

#include <sched.h>
#include <time.h>

#define SPINS_BEFORE_YIELD 100
#define YIELDS_PER_LOOK	   64
#define TRYLOCK_YIELDS	   200
#define LOCK_WAIT_SEC	   1

static void cpu_relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#endif
}

bool active_trylock(uint64_t *active, uint32_t owner, uint64_t *word)
{
	for (unsigned i = 0; i < TRYLOCK_YIELDS; i++) {
		if (active_try(active, owner, word))
			return true;
		sched_yield();
	}
	return false;
}

bool active_lock_slow(uint64_t *active, uint32_t owner, uint64_t *word)
{
	struct timespec start, now;

	for (unsigned i = 0; i < SPINS_BEFORE_YIELD; i++) {
		if (active_try(active, owner, word))
			return true;
		cpu_relax();
	}
	/* The holder was preempted in the middle of a copy, or killed: the daemon clears up then.
	 */
	clock_gettime(CLOCK_MONOTONIC, &start);
	do {
		for (unsigned i = 0; i < YIELDS_PER_LOOK; i++) {
			if (active_try(active, owner, word))
				return true;
			sched_yield();
		}
		clock_gettime(CLOCK_MONOTONIC, &now);
	} while (now.tv_sec - start.tv_sec <= LOCK_WAIT_SEC);
	return false;
}
