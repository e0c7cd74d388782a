/* SPDX-License-Identifier: MIT */
/* test-worker.c: the pinned thread: commands, run list, budgets, descriptors, timers. */
#include "suites.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

#include "common/worker.h"

#define QUANTUM 100

static struct worker *worker;
static atomic_int nr_flushes, nr_starts, nr_stops;

#define wait_until(cond)                                                  \
	do {                                                              \
		for (int tries_ = 0; !(cond) && tries_ < 200000; tries_++) \
			usleep(100);                                      \
		ck_assert(cond);                                          \
	} while (0)

static void flush(void *arg)
{
	atomic_fetch_add(&nr_flushes, 1);
}

static int start_ok(void *arg)
{
	atomic_fetch_add(&nr_starts, 1);
	return 0;
}

static void stop(void *arg)
{
	atomic_fetch_add(&nr_stops, 1);
}

static struct worker_params params(enum worker_kind kind)
{
	return (struct worker_params){
		.name = "test/0",
		.cpu = -1,
		.kind = kind,
		.quantum = QUANTUM,
		.flush = flush,
		.start = start_ok,
		.stop = stop,
	};
}

static void make(enum worker_kind kind)
{
	struct worker_params p = params(kind);

	ck_assert_int_eq(worker_create(&p, &worker), 0);
}

static void setup(void)
{
	atomic_store(&nr_flushes, 0);
	atomic_store(&nr_starts, 0);
	atomic_store(&nr_stops, 0);
	worker = NULL;
}

static void teardown(void)
{
	worker_destroy(worker);
}

/* An item that has @left units of work, each costing @cost. */
struct item {
	struct work work;
	int64_t cost;
	atomic_long left, done, turns;
	long worst_turn;
};

static bool item_run(struct work *work, int64_t *deficit)
{
	struct item *item = container_of(work, struct item, work);
	long turn = 0;

	atomic_fetch_add(&item->turns, 1);
	while (*deficit > 0 && atomic_load(&item->left) > 0) {
		*deficit -= item->cost;
		atomic_fetch_sub(&item->left, 1);
		atomic_fetch_add(&item->done, 1);
		turn++;
	}
	item->worst_turn = MAX(item->worst_turn, turn);
	return atomic_load(&item->left) > 0;
}

static int add_item(void *arg)
{
	struct item *item = arg;

	item->work.run = item_run;
	worker_register(worker, &item->work);
	worker_schedule(worker, &item->work);
	return 0;
}

static int remove_item(void *arg)
{
	struct item *item = arg;

	worker_unregister(worker, &item->work);
	worker_unregister(worker, &item->work); /* idempotent */
	return 0;
}

START_TEST(start_and_stop_run_once_each)
{
	make(WORKER_THREAD);
	ck_assert_int_eq(atomic_load(&nr_starts), 1);
	worker_destroy(worker);
	worker = NULL;
	ck_assert_int_eq(atomic_load(&nr_stops), 1);
	worker_destroy(NULL);
}
END_TEST

static int start_fails(void *arg)
{
	return -ENODEV;
}

START_TEST(a_start_that_fails_is_the_creators_error)
{
	struct worker_params p = params(WORKER_THREAD);

	p.start = start_fails;
	ck_assert_int_eq(worker_create(&p, &worker), -ENODEV);
	ck_assert_int_eq(atomic_load(&nr_stops), 0);
}
END_TEST

static int report_cpu(void *arg)
{
	return sched_getcpu();
}

START_TEST(it_runs_on_its_cpu)
{
	struct worker_params p = params(WORKER_THREAD);
	cpu_set_t cpus;

	ck_assert_int_eq(sched_getaffinity(0, sizeof(cpus), &cpus), 0);
	for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (!CPU_ISSET(cpu, &cpus))
			continue;
		p.cpu = cpu;
		ck_assert_int_eq(worker_create(&p, &worker), 0);
		ck_assert_int_eq(worker_cpu(worker), cpu);
		ck_assert_int_eq(worker_call(worker, report_cpu, NULL), cpu);
		worker_destroy(worker);
		worker = NULL;
	}
}
END_TEST

START_TEST(a_cpu_it_cannot_have_is_not_fatal)
{
	struct worker_params p = params(WORKER_THREAD);

	p.cpu = CPU_SETSIZE - 1;
	ck_assert_int_eq(worker_create(&p, &worker), 0);
	ck_assert_int_eq(worker_cpu(worker), -1);
}
END_TEST

static int answer(void *arg)
{
	*(pthread_t *)arg = pthread_self();
	return worker_is_self(worker) ? 42 : -1;
}

static int call_from_inside(void *arg)
{
	return worker_call(worker, answer, arg);
}

START_TEST(a_call_runs_on_the_worker_and_gives_its_result)
{
	pthread_t thread;

	make(WORKER_THREAD);
	ck_assert(!worker_is_self(worker));
	ck_assert_int_eq(worker_call(worker, answer, &thread), 42);
	ck_assert(!pthread_equal(thread, pthread_self()));
	ck_assert_int_eq(worker_call(worker, call_from_inside, &thread), 42);
}
END_TEST

static atomic_int nr_calls;

static int count_call(void *arg)
{
	return atomic_fetch_add(&nr_calls, 1);
}

static void *call_often(void *arg)
{
	for (int i = 0; i < 500; i++)
		worker_call(worker, count_call, NULL);
	return NULL;
}

START_TEST(many_threads_may_call_at_once)
{
	pthread_t threads[8];

	make(WORKER_THREAD);
	atomic_store(&nr_calls, 0);
	for (int i = 0; i < 8; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, call_often, NULL), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(threads[i], NULL);
	ck_assert_int_eq(atomic_load(&nr_calls), 4000);
}
END_TEST

START_TEST(an_item_runs_until_it_has_nothing_to_do)
{
	struct item item = {.cost = 30, .left = 1000};

	make(WORKER_THREAD);
	worker_call(worker, add_item, &item);
	wait_until(atomic_load(&item.done) == 1000);
	worker_call(worker, remove_item, &item);
	ck_assert_int_ge(atomic_load(&nr_flushes), 1000 * 30 / QUANTUM);
	ck_assert_int_eq(atomic_load(&item.turns), atomic_load(&nr_flushes));
	/* 100 a turn; the last unit may overdraw, and then the next turn is shorter */
	ck_assert_int_le(item.worst_turn, 4);
}
END_TEST

struct pair {
	struct item big, small;
};

/* Between two rounds: so that both have had the same number of turns. */
static int add_pair(void *arg)
{
	struct pair *pair = arg;

	return add_item(&pair->big) | add_item(&pair->small);
}

static int remove_pair(void *arg)
{
	struct pair *pair = arg;

	return remove_item(&pair->big) | remove_item(&pair->small);
}

/* Deficit round robin: two items busy throughout spend the same, whatever a unit costs each. */
START_TEST(big_units_and_small_ones_get_the_same_share)
{
	struct pair pair = {
		.big = {.cost = 650, .left = 1L << 40},
		.small = {.cost = 10, .left = 1L << 40},
	};
	double ratio;

	make(WORKER_THREAD);
	worker_call(worker, add_pair, &pair);
	wait_until(atomic_load(&pair.big.done) > 10000);
	worker_call(worker, remove_pair, &pair);
	ratio = (double)atomic_load(&pair.big.done) * 650 /
		((double)atomic_load(&pair.small.done) * 10);
	ck_assert_msg(ratio > 0.9 && ratio < 1.1, "ratio %f", ratio);
}
END_TEST

static bool refuses(struct work *work, int64_t *deficit)
{
	struct item *item = container_of(work, struct item, work);

	atomic_fetch_add(&item->turns, 1);
	return true; /* more to do, but not now: spends nothing */
}

static int add_refusing(void *arg)
{
	struct item *item = arg;

	item->work.run = refuses;
	worker_register(worker, &item->work);
	worker_schedule(worker, &item->work);
	return 0;
}

static int check_deficit(void *arg)
{
	return ((struct item *)arg)->work.deficit <= QUANTUM ? 0 : -1;
}

START_TEST(what_cannot_be_spent_is_not_saved_up)
{
	struct item item = {.cost = 1};

	make(WORKER_THREAD);
	worker_call(worker, add_refusing, &item);
	wait_until(atomic_load(&item.turns) > 1000);
	ck_assert_int_eq(worker_call(worker, check_deficit, &item), 0);
	worker_call(worker, remove_item, &item);
}
END_TEST

START_TEST(an_item_forgotten_does_not_run_again)
{
	struct item item = {.cost = 1, .left = 1L << 40};
	long turns;

	make(WORKER_THREAD);
	worker_call(worker, add_item, &item);
	wait_until(atomic_load(&item.turns) > 10);
	worker_call(worker, remove_item, &item);
	turns = atomic_load(&item.turns);
	usleep(5000);
	ck_assert_int_eq(atomic_load(&item.turns), turns);
}
END_TEST

START_TEST(a_polling_worker_runs_what_it_knows_unasked)
{
	struct item item = {.cost = 1};

	make(WORKER_POLL);
	worker_call(worker, add_item, &item);
	wait_until(atomic_load(&item.turns) > 1000);
	atomic_store(&item.left, 5); /* seen without anybody scheduling it */
	wait_until(atomic_load(&item.done) == 5);
	worker_call(worker, remove_item, &item);
}
END_TEST

/* ---- descriptors ---- */

struct watched {
	struct worker_fd wfd, *other;
	atomic_int nr_ready;
};

static void ready(struct worker_fd *wfd, uint32_t events)
{
	struct watched *watched = container_of(wfd, struct watched, wfd);
	uint64_t count;

	ck_assert_int_eq(read(wfd->fd, &count, sizeof(count)), sizeof(count));
	atomic_fetch_add(&watched->nr_ready, 1);
	if (watched->other)
		worker_del_fd(worker, watched->other);
}

static int add_fd(void *arg)
{
	struct watched *watched = arg;

	watched->wfd.ready = ready;
	return worker_add_fd(worker, &watched->wfd, EPOLLIN);
}

static int del_fd(void *arg)
{
	worker_del_fd(worker, &((struct watched *)arg)->wfd);
	return 0;
}

static void raise_fd(int fd)
{
	uint64_t one = 1;

	ck_assert_int_eq(write(fd, &one, sizeof(one)), sizeof(one));
}

START_TEST(a_descriptor_calls_back_while_it_is_watched)
{
	struct watched watched = {.wfd.fd = eventfd(0, EFD_CLOEXEC)};

	make(WORKER_THREAD);
	ck_assert_int_eq(worker_call(worker, add_fd, &watched), 0);
	raise_fd(watched.wfd.fd);
	wait_until(atomic_load(&watched.nr_ready) == 1);
	worker_call(worker, del_fd, &watched);
	raise_fd(watched.wfd.fd);
	usleep(5000);
	ck_assert_int_eq(atomic_load(&watched.nr_ready), 1);
	close(watched.wfd.fd);
}
END_TEST

START_TEST(a_bad_descriptor_is_refused)
{
	struct watched watched = {.wfd.fd = -1};

	make(WORKER_THREAD);
	ck_assert_int_eq(worker_call(worker, add_fd, &watched), -EBADF);
}
END_TEST

static int raise_both(void *arg)
{
	struct watched *pair = arg;

	raise_fd(pair[0].wfd.fd);
	raise_fd(pair[1].wfd.fd);
	return 0;
}

START_TEST(a_descriptor_forgotten_in_the_same_batch_does_not_call_back)
{
	struct watched pair[2] = {{.wfd.fd = eventfd(0, EFD_CLOEXEC)},
				  {.wfd.fd = eventfd(0, EFD_CLOEXEC)}};

	pair[0].other = &pair[1].wfd;
	pair[1].other = &pair[0].wfd;
	make(WORKER_THREAD);
	worker_call(worker, add_fd, &pair[0]);
	worker_call(worker, add_fd, &pair[1]);
	worker_call(worker, raise_both, pair);
	wait_until(atomic_load(&pair[0].nr_ready) + atomic_load(&pair[1].nr_ready) >= 1);
	usleep(5000);
	ck_assert_int_eq(atomic_load(&pair[0].nr_ready) + atomic_load(&pair[1].nr_ready), 1);
	worker_call(worker, del_fd, &pair[0]);
	worker_call(worker, del_fd, &pair[1]);
	close(pair[0].wfd.fd);
	close(pair[1].wfd.fd);
}
END_TEST

/* ---- timers ---- */

struct alarm {
	struct worker_timer timer;
	uint64_t usec;
	atomic_int nr_expired;
	uint64_t armed_at, expired_at;
	struct alarm *next_to_check;
};

static uint64_t now_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void expired(struct worker_timer *timer)
{
	struct alarm *alarm = container_of(timer, struct alarm, timer);

	alarm->expired_at = now_usec();
	atomic_fetch_add(&alarm->nr_expired, 1);
}

static int arm(void *arg)
{
	struct alarm *alarm = arg;

	alarm->timer.expired = expired;
	alarm->armed_at = now_usec();
	worker_arm(worker, &alarm->timer, alarm->usec);
	return 0;
}

static int disarm(void *arg)
{
	worker_disarm(worker, &((struct alarm *)arg)->timer);
	worker_disarm(worker, &((struct alarm *)arg)->timer);
	return 0;
}

START_TEST(timers_expire_once_in_order_and_not_early)
{
	struct alarm alarms[3] = {{.usec = 30000}, {.usec = 10000}, {.usec = 20000}};

	make(WORKER_THREAD);
	for (int i = 0; i < 3; i++)
		worker_call(worker, arm, &alarms[i]);
	wait_until(atomic_load(&alarms[0].nr_expired) == 1);
	usleep(5000);
	for (int i = 0; i < 3; i++) {
		ck_assert_int_eq(atomic_load(&alarms[i].nr_expired), 1);
		/* "now" is the round's, up to one round old */
		ck_assert_uint_ge(alarms[i].expired_at + 2000 - alarms[i].armed_at, alarms[i].usec);
	}
	ck_assert_uint_le(alarms[1].expired_at, alarms[2].expired_at);
	ck_assert_uint_le(alarms[2].expired_at, alarms[0].expired_at);
}
END_TEST

START_TEST(a_disarmed_timer_stays_silent)
{
	struct alarm alarm = {.usec = 3000};

	make(WORKER_THREAD);
	worker_call(worker, arm, &alarm);
	worker_call(worker, disarm, &alarm);
	usleep(10000);
	ck_assert_int_eq(atomic_load(&alarm.nr_expired), 0);
}
END_TEST

START_TEST(a_timer_armed_again_expires_once)
{
	struct alarm alarm = {.usec = 5000};

	make(WORKER_THREAD);
	worker_call(worker, arm, &alarm);
	worker_call(worker, arm, &alarm);
	usleep(20000);
	ck_assert_int_eq(atomic_load(&alarm.nr_expired), 1);
}
END_TEST

START_TEST(kinds_have_names)
{
	enum worker_kind kind;

	ck_assert_int_eq(worker_parse_kind("thread", &kind), 0);
	ck_assert_int_eq(kind, WORKER_THREAD);
	ck_assert_int_eq(worker_parse_kind("poll", &kind), 0);
	ck_assert_str_eq(worker_kind_name(kind), "poll");
	ck_assert_int_eq(worker_parse_kind("fibre", &kind), -EINVAL);
}
END_TEST

Suite *worker_suite(void)
{
	Suite *suite = suite_create("worker");
	TCase *tcase = tcase_create("worker");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, start_and_stop_run_once_each);
	tcase_add_test(tcase, a_start_that_fails_is_the_creators_error);
	tcase_add_test(tcase, it_runs_on_its_cpu);
	tcase_add_test(tcase, a_cpu_it_cannot_have_is_not_fatal);
	tcase_add_test(tcase, a_call_runs_on_the_worker_and_gives_its_result);
	tcase_add_test(tcase, many_threads_may_call_at_once);
	tcase_add_test(tcase, an_item_runs_until_it_has_nothing_to_do);
	tcase_add_test(tcase, big_units_and_small_ones_get_the_same_share);
	tcase_add_test(tcase, what_cannot_be_spent_is_not_saved_up);
	tcase_add_test(tcase, an_item_forgotten_does_not_run_again);
	tcase_add_test(tcase, a_polling_worker_runs_what_it_knows_unasked);
	tcase_add_test(tcase, a_descriptor_calls_back_while_it_is_watched);
	tcase_add_test(tcase, a_bad_descriptor_is_refused);
	tcase_add_test(tcase, a_descriptor_forgotten_in_the_same_batch_does_not_call_back);
	tcase_add_test(tcase, timers_expire_once_in_order_and_not_early);
	tcase_add_test(tcase, a_disarmed_timer_stays_silent);
	tcase_add_test(tcase, a_timer_armed_again_expires_once);
	tcase_add_test(tcase, kinds_have_names);
	suite_add_tcase(suite, tcase);
	return suite;
}
