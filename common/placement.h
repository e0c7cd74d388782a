/* SPDX-License-Identifier: MIT */
/*
 * placement.h: which group a newcomer joins. The counts are atomic, and no lock is held while
 * they are searched: any number of threads may join and leave at once.
 */
#ifndef COMMON_PLACEMENT_H
#define COMMON_PLACEMENT_H

#include <stdatomic.h>

/**
 * placement_join() - take a place in the group with the lowest count
 * @counts: one pointer to a counter per group (each in its own group's memory)
 * @nr_groups: how many, at least 1
 *
 * While nobody leaves, the counts never differ by more than 1, however many threads join at once:
 * the place is taken by compare-and-swap of the very count the search saw, and searched anew if
 * somebody else was quicker.
 *
 * Return: the index of the group joined.
 */
unsigned placement_join(atomic_uint *const counts[], unsigned nr_groups);

/** placement_leave() - give the place back. */
void placement_leave(atomic_uint *count);

#endif
