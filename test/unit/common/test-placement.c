/* SPDX-License-Identifier: MIT */
/* test-placement.c: the least loaded group, without a lock, from many threads at once. */
#include "suites.h"

#include <pthread.h>

#include "common/placement.h"

#define NR_THREADS	 8
#define JOINS_PER_THREAD 8 /* 64 queues */
#define GROUPS_MAX	 16

static atomic_uint counters[GROUPS_MAX];
static atomic_uint *counts[GROUPS_MAX];
static unsigned nr_groups;
static pthread_barrier_t barrier;

static void setup(void)
{
	for (unsigned i = 0; i < GROUPS_MAX; i++) {
		atomic_store(&counters[i], 0);
		counts[i] = &counters[i];
	}
}

static unsigned spread(unsigned *sum)
{
	unsigned min = ~0u, max = 0;

	*sum = 0;
	for (unsigned i = 0; i < nr_groups; i++) {
		unsigned count = atomic_load(&counters[i]);

		min = count < min ? count : min;
		max = count > max ? count : max;
		*sum += count;
	}
	return max - min;
}

START_TEST(one_after_the_other_they_go_round)
{
	for (unsigned i = 0; i < 12; i++)
		ck_assert_uint_eq(placement_join(counts, 4), i % 4);
}
END_TEST

START_TEST(the_only_group_takes_all)
{
	for (unsigned i = 0; i < 5; i++)
		ck_assert_uint_eq(placement_join(counts, 1), 0);
	ck_assert_uint_eq(atomic_load(&counters[0]), 5);
}
END_TEST

START_TEST(who_leaves_makes_room)
{
	for (unsigned i = 0; i < 8; i++)
		placement_join(counts, 4);
	placement_leave(counts[2]);
	ck_assert_uint_eq(placement_join(counts, 4), 2);
}
END_TEST

static void *join_many(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < JOINS_PER_THREAD; i++)
		placement_join(counts, nr_groups);
	return NULL;
}

START_TEST(eight_threads_adding_64_queues_spread_them_evenly)
{
	pthread_t threads[NR_THREADS];
	unsigned sum;

	nr_groups = 1 + (unsigned)_i % GROUPS_MAX;
	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	for (unsigned i = 0; i < NR_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, join_many, NULL), 0);
	for (unsigned i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_uint_le(spread(&sum), 1);
	ck_assert_uint_eq(sum, NR_THREADS * JOINS_PER_THREAD);
}
END_TEST

static void *join_and_leave(void *arg)
{
	pthread_barrier_wait(&barrier);
	for (unsigned i = 0; i < 1000; i++)
		placement_leave(counts[placement_join(counts, nr_groups)]);
	return NULL;
}

START_TEST(coming_and_going_leaves_the_counts_right)
{
	pthread_t threads[NR_THREADS];
	unsigned sum;

	nr_groups = 3;
	pthread_barrier_init(&barrier, NULL, NR_THREADS);
	for (unsigned i = 0; i < NR_THREADS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, join_and_leave, NULL), 0);
	for (unsigned i = 0; i < NR_THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_barrier_destroy(&barrier);
	ck_assert_uint_eq(spread(&sum), 0);
	ck_assert_uint_eq(sum, 0);
}
END_TEST

Suite *placement_suite(void)
{
	Suite *suite = suite_create("placement");
	TCase *tcase = tcase_create("placement");

	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, one_after_the_other_they_go_round);
	tcase_add_test(tcase, the_only_group_takes_all);
	tcase_add_test(tcase, who_leaves_makes_room);
	tcase_add_loop_test(tcase, eight_threads_adding_64_queues_spread_them_evenly, 0, 64);
	tcase_add_test(tcase, coming_and_going_leaves_the_counts_right);
	suite_add_tcase(suite, tcase);
	return suite;
}
