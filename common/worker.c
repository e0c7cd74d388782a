/* SPDX-License-Identifier: MIT */
/*
 * worker.c: the worker's thread: epoll, run list, timers, commands. See worker.h.
 *
 * The only state another thread touches is the command list (under a lock, control path) and the
 * kick eventfd.
 */
#include "common/worker.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "common/log.h"

#define NR_EPOLL_EVENTS 64

struct command {
	int (*fn)(void *arg);
	void *arg;
	int result;
	bool done; /* guarded by worker->lock */
	struct command *prev, *next;
};

struct worker {
	/* Set at creation, then read only. */
	struct worker_params params;
	char name[16];
	int epfd, kickfd;
	pthread_t thread;

	/* Worker only. */
	struct work *run_list;
	unsigned nr_scheduled;
	struct work *registered;
	struct worker_timer *timers; /* sorted by deadline */
	uint64_t now_usec;
	struct epoll_event *events; /* the batch being delivered, for worker_del_fd() */
	int nr_events;
	bool pinned;

	/* Any thread, under the lock. */
	pthread_mutex_t lock;
	pthread_cond_t done_cond;
	struct command *commands;
	bool quit;
	bool started;
	int start_result;
};

static const char *const kind_names[] = {
	[WORKER_THREAD] = "thread",
	[WORKER_POLL] = "poll",
};

int worker_parse_kind(const char *name, enum worker_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kind_names); i++) {
		if (!strcmp(name, kind_names[i])) {
			*kind = (enum worker_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *worker_kind_name(enum worker_kind kind)
{
	return (size_t)kind < ARRAY_SIZE(kind_names) ? kind_names[kind] : "invalid";
}

static uint64_t clock_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

/* ---- commands ---- */

static void kick(struct worker *worker)
{
	uint64_t one = 1;
	ssize_t ignored = write(worker->kickfd, &one, sizeof(one)); /* full counter: kicked already */

	(void)ignored;
}

static bool run_commands(struct worker *worker)
{
	struct command *command;
	bool quit;

	pthread_mutex_lock(&worker->lock);
	while ((command = worker->commands)) {
		DL_DELETE(worker->commands, command);
		pthread_mutex_unlock(&worker->lock);
		command->result = command->fn(command->arg);
		pthread_mutex_lock(&worker->lock);
		command->done = true;
		pthread_cond_broadcast(&worker->done_cond);
	}
	quit = worker->quit;
	pthread_mutex_unlock(&worker->lock);
	return !quit;
}

bool worker_is_self(const struct worker *worker)
{
	return pthread_equal(pthread_self(), worker->thread);
}

int worker_call(struct worker *worker, int (*fn)(void *arg), void *arg)
{
	struct command command = { .fn = fn, .arg = arg };

	if (worker_is_self(worker))
		return fn(arg);
	pthread_mutex_lock(&worker->lock);
	DL_APPEND(worker->commands, &command);
	kick(worker);
	while (!command.done)
		pthread_cond_wait(&worker->done_cond, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	return command.result;
}

/* ---- run list ---- */

void worker_register(struct worker *worker, struct work *work)
{
	if (work->registered)
		return;
	work->registered = true;
	work->deficit = 0;
	DL_APPEND2(worker->registered, work, reg_prev, reg_next);
}

static void unschedule(struct worker *worker, struct work *work)
{
	if (!work->scheduled)
		return;
	work->scheduled = false;
	worker->nr_scheduled--;
	DL_DELETE(worker->run_list, work);
}

void worker_unregister(struct worker *worker, struct work *work)
{
	if (!work->registered)
		return;
	work->registered = false;
	DL_DELETE2(worker->registered, work, reg_prev, reg_next);
	unschedule(worker, work);
}

void worker_schedule(struct worker *worker, struct work *work)
{
	if (work->scheduled || !work->registered)
		return;
	work->scheduled = true;
	worker->nr_scheduled++;
	DL_APPEND(worker->run_list, work);
}

/*
 * One turn of @work, which is at the head of the run list. It is off the list while it runs, so
 * that it may schedule or unregister itself.
 */
static void run_one(struct worker *worker, struct work *work)
{
	unschedule(worker, work);
	work->deficit += worker->params.quantum;
	if (work->run(work, &work->deficit)) {
		worker_schedule(worker, work);
		/* What it could not spend for another reason is not saved up without bound. */
		work->deficit = MIN(work->deficit, worker->params.quantum);
	} else if (work->deficit > 0) {
		work->deficit = 0; /* an idle item saves nothing up; a debt stays */
	}
}

/* One round: as many turns as there were items when it began; items scheduled meanwhile wait. */
static bool run_round(struct worker *worker)
{
	struct work *work;
	unsigned turns;

	if (worker->params.kind == WORKER_POLL) {
		DL_FOREACH2(worker->registered, work, reg_next)
			worker_schedule(worker, work);
	}
	turns = worker->nr_scheduled;
	if (!turns)
		return false;
	for (; turns && worker->run_list; turns--)
		run_one(worker, worker->run_list);
	return true;
}

/* ---- timers ---- */

static int by_deadline(const struct worker_timer *a, const struct worker_timer *b)
{
	return a->deadline_usec < b->deadline_usec ? -1 : a->deadline_usec > b->deadline_usec;
}

uint64_t worker_now_usec(const struct worker *worker)
{
	return worker->now_usec;
}

void worker_disarm(struct worker *worker, struct worker_timer *timer)
{
	if (!timer->armed)
		return;
	timer->armed = false;
	DL_DELETE(worker->timers, timer);
}

void worker_arm(struct worker *worker, struct worker_timer *timer, uint64_t usec)
{
	worker_disarm(worker, timer);
	timer->deadline_usec = worker->now_usec + usec;
	timer->armed = true;
	DL_INSERT_INORDER(worker->timers, timer, by_deadline);
}

static void run_timers(struct worker *worker)
{
	struct worker_timer *timer;

	while ((timer = worker->timers) && timer->deadline_usec <= worker->now_usec) {
		worker_disarm(worker, timer);
		timer->expired(timer);
	}
}

static int sleep_msec(const struct worker *worker)
{
	uint64_t deadline;

	if (worker->run_list || worker->params.kind == WORKER_POLL)
		return 0;
	if (!worker->timers)
		return -1;
	deadline = worker->timers->deadline_usec;
	if (deadline <= worker->now_usec)
		return 0;
	return (int)MIN(DIV_ROUND_UP(deadline - worker->now_usec, 1000), 3600000u);
}

/* ---- file descriptors ---- */

static int epoll_change(struct worker *worker, int op, struct worker_fd *wfd, uint32_t events)
{
	struct epoll_event event = { .events = events, .data.ptr = wfd };

	return epoll_ctl(worker->epfd, op, wfd->fd, &event) ? -errno : 0;
}

int worker_add_fd(struct worker *worker, struct worker_fd *wfd, uint32_t epoll_events)
{
	return epoll_change(worker, EPOLL_CTL_ADD, wfd, epoll_events);
}

int worker_mod_fd(struct worker *worker, struct worker_fd *wfd, uint32_t epoll_events)
{
	return epoll_change(worker, EPOLL_CTL_MOD, wfd, epoll_events);
}

void worker_del_fd(struct worker *worker, struct worker_fd *wfd)
{
	epoll_change(worker, EPOLL_CTL_DEL, wfd, 0);
	/* Its event may be further down in the batch that is being delivered right now. */
	for (int i = 0; i < worker->nr_events; i++) {
		if (worker->events[i].data.ptr == wfd)
			worker->events[i].data.ptr = NULL;
	}
}

static void drain_kick(struct worker *worker)
{
	uint64_t count;
	ssize_t ignored = read(worker->kickfd, &count, sizeof(count));

	(void)ignored;
}

/* Wait for events and deliver them. The kick has no worker_fd: its pointer is the worker itself. */
static bool wait_events(struct worker *worker)
{
	struct epoll_event events[NR_EPOLL_EVENTS];
	bool kicked = false;
	int nr;

	nr = epoll_wait(worker->epfd, events, NR_EPOLL_EVENTS, sleep_msec(worker));
	worker->now_usec = clock_usec();
	worker->events = events;
	worker->nr_events = MAX(nr, 0);
	for (int i = 0; i < worker->nr_events; i++) {
		struct worker_fd *wfd = events[i].data.ptr;

		if (events[i].data.ptr == worker)
			kicked = true;
		else if (wfd)
			wfd->ready(wfd, events[i].events);
	}
	worker->nr_events = 0;
	if (kicked)
		drain_kick(worker);
	return kicked;
}

/* ---- the thread ---- */

static void loop(struct worker *worker)
{
	for (;;) {
		if (wait_events(worker) && !run_commands(worker))
			return;
		run_timers(worker);
		if (run_round(worker) && worker->params.flush)
			worker->params.flush(worker->params.arg);
	}
}

static void pin(struct worker *worker)
{
	cpu_set_t cpus;
	int err;

	if (worker->params.cpu < 0)
		return;
	CPU_ZERO(&cpus);
	CPU_SET((unsigned)worker->params.cpu, &cpus);
	err = pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
	worker->pinned = !err;
	if (err)
		log_warn("%s: cannot pin to CPU %d: %s", worker->name, worker->params.cpu,
			 strerror(err));
}

static void *worker_main(void *arg)
{
	struct worker *worker = arg;
	int result = 0;

	pthread_setname_np(pthread_self(), worker->name);
	pin(worker);
	worker->now_usec = clock_usec();
	pthread_mutex_lock(&worker->lock); /* worker->thread is set from here on */
	pthread_mutex_unlock(&worker->lock);
	if (worker->params.start)
		result = worker->params.start(worker->params.arg);
	pthread_mutex_lock(&worker->lock);
	worker->start_result = result;
	worker->started = true;
	pthread_cond_broadcast(&worker->done_cond);
	pthread_mutex_unlock(&worker->lock);
	if (result)
		return NULL;
	loop(worker);
	if (worker->params.stop)
		worker->params.stop(worker->params.arg);
	return NULL;
}

static void free_worker(struct worker *worker)
{
	if (worker->epfd >= 0)
		close(worker->epfd);
	if (worker->kickfd >= 0)
		close(worker->kickfd);
	pthread_cond_destroy(&worker->done_cond);
	pthread_mutex_destroy(&worker->lock);
	free(worker);
}

static int open_fds(struct worker *worker)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = worker };

	worker->epfd = epoll_create1(EPOLL_CLOEXEC);
	if (worker->epfd < 0)
		return -errno;
	worker->kickfd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (worker->kickfd < 0)
		return -errno;
	return epoll_ctl(worker->epfd, EPOLL_CTL_ADD, worker->kickfd, &event) ? -errno : 0;
}

static int start_thread(struct worker *worker)
{
	int err;

	pthread_mutex_lock(&worker->lock);
	err = pthread_create(&worker->thread, NULL, worker_main, worker);
	while (!err && !worker->started)
		pthread_cond_wait(&worker->done_cond, &worker->lock);
	pthread_mutex_unlock(&worker->lock);
	if (err)
		return -err;
	if (worker->start_result)
		pthread_join(worker->thread, NULL);
	return worker->start_result;
}

int worker_create(const struct worker_params *params, struct worker **result)
{
	struct worker *worker = calloc(1, sizeof(*worker));
	int err;

	if (!worker)
		return -ENOMEM;
	worker->params = *params;
	worker->epfd = worker->kickfd = -1;
	strncpy(worker->name, params->name, sizeof(worker->name) - 1);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->done_cond, NULL);
	err = open_fds(worker);
	if (!err)
		err = start_thread(worker);
	if (err) {
		free_worker(worker);
		return err;
	}
	*result = worker;
	return 0;
}

void worker_destroy(struct worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->quit = true;
	pthread_mutex_unlock(&worker->lock);
	kick(worker);
	pthread_join(worker->thread, NULL);
	free_worker(worker);
}

int worker_cpu(const struct worker *worker)
{
	return worker->pinned ? worker->params.cpu : -1;
}
