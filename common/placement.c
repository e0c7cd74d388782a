/* SPDX-License-Identifier: MIT */
/* placement.c: least-count placement without a lock (the rule of the 2010 netback groups). */
#include "common/placement.h"

unsigned placement_join(atomic_uint *const counts[], unsigned nr_groups)
{
	for (;;) {
		unsigned best = 0, best_count = atomic_load(counts[0]);

		for (unsigned i = 1; i < nr_groups; i++) {
			unsigned count = atomic_load(counts[i]);

			if (count < best_count) {
				best = i;
				best_count = count;
			}
		}
		if (atomic_compare_exchange_strong(counts[best], &best_count, best_count + 1))
			return best;
	}
}

void placement_leave(atomic_uint *count)
{
	atomic_fetch_sub(count, 1);
}
