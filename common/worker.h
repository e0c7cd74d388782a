/* SPDX-License-Identifier: MIT */
/*
 * worker.h: a pinned thread with an event loop and a fair run list. It knows nothing of networking;
 * a split driver's group embeds one.
 *
 * THEORY. Things to do are `struct work` items. An event (a file descriptor's callback, a timer, a
 * command) calls worker_schedule(); the item joins the tail of the run list. The worker goes round
 * the list: each item's run() may spend its deficit (deficit round robin; the unit is the driver's
 * choice, netback uses bytes), and after each round the driver's flush() finishes what the items
 * gathered, so that a batch spans all items of the round. When the list is empty the worker sleeps
 * in epoll_wait().
 *
 * Everything is touched by the worker's own thread only, but for worker_call() and worker_kick(),
 * which any other thread may use. No lock on the way of a work item.
 */
#ifndef COMMON_WORKER_H
#define COMMON_WORKER_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/epoll.h>

#include "common/compiler.h"

struct worker;

/** The kinds of worker (--worker). */
enum worker_kind {
	WORKER_THREAD, /* sleeps when there is nothing to do: the 2010 kthread */
	WORKER_POLL,   /* never sleeps: runs every registered item each round */
};

/** worker_parse_kind() - "thread", "poll". Return: 0 or -EINVAL. */
int worker_parse_kind(const char *name, enum worker_kind *kind);
const char *worker_kind_name(enum worker_kind kind);

/** An item that can be scheduled. Worker only. */
struct work {
	/*
	 * Do some work and subtract its cost from *@deficit; stop when that is used up (it may go
	 * below 0 by one unit of work). Return: true if there is more to do now.
	 */
	bool (*run)(struct work *work, int64_t *deficit);
	int64_t deficit;
	bool scheduled;
	bool registered;
	struct work *prev, *next;	  /* run list */
	struct work *reg_prev, *reg_next; /* all registered items */
};

/** A file descriptor the worker waits for. Worker only. */
struct worker_fd {
	int fd;
	void (*ready)(struct worker_fd *wfd, uint32_t epoll_events);
};

/** A one-shot timer. Worker only. Zero-initialised is unarmed. */
struct worker_timer {
	void (*expired)(struct worker_timer *timer);
	uint64_t deadline_usec; /* CLOCK_MONOTONIC */
	bool armed;
	struct worker_timer *prev, *next;
};

struct worker_params {
	const char *name;   /* thread name, at most 15 characters are kept */
	int cpu;	    /* CPU to pin to, or -1 */
	enum worker_kind kind;
	int64_t quantum;    /* deficit an item gains each round, in the driver's unit; > 0 */
	/* Called after every round that ran an item, and before sleeping; may schedule. NULL: none. */
	void (*flush)(void *arg);
	/* First and last calls on the worker's thread. start() may fail with -errno. NULL: none. */
	int (*start)(void *arg);
	void (*stop)(void *arg);
	void *arg;
};

/**
 * worker_create() - start the thread
 *
 * A CPU that cannot be pinned to is a warning in the log, not an error.
 * Return: 0 with *@worker set; -errno, also that of @params->start().
 */
int worker_create(const struct worker_params *params, struct worker **worker);

/** worker_destroy() - let the current round end, run stop(), join the thread. Accepts NULL. */
void worker_destroy(struct worker *worker);

/** worker_cpu() - the CPU pinned to, or -1. Any thread. */
int worker_cpu(const struct worker *worker);

/**
 * worker_call() - run @fn(@arg) on the worker's thread and wait for its result
 *
 * From any thread (from the worker's own it is a plain call). Runs between two rounds, never inside
 * one. Blocks. Return: @fn's result.
 */
int worker_call(struct worker *worker, int (*fn)(void *arg), void *arg);

/** worker_is_self() - is the calling thread this worker's? */
bool worker_is_self(const struct worker *worker);

/* ---- worker's thread only from here on (or before the worker knows the item) ---- */

/** worker_register() - make @work known (a poll worker runs all it knows). run() must be set. */
void worker_register(struct worker *worker, struct work *work);
/** worker_unregister() - forget @work; it is taken off the run list. Idempotent. */
void worker_unregister(struct worker *worker, struct work *work);
/** worker_schedule() - put @work on the run list unless it is there. */
void worker_schedule(struct worker *worker, struct work *work);

/** worker_add_fd() - wait for @epoll_events (EPOLLET allowed) on @wfd->fd. 0 or -errno. */
int worker_add_fd(struct worker *worker, struct worker_fd *wfd, uint32_t epoll_events);
/** worker_mod_fd() - change the events waited for. 0 or -errno. */
int worker_mod_fd(struct worker *worker, struct worker_fd *wfd, uint32_t epoll_events);
/** worker_del_fd() - stop waiting; its callback is not called again. Call before close(2). */
void worker_del_fd(struct worker *worker, struct worker_fd *wfd);

/** worker_now_usec() - CLOCK_MONOTONIC as of the current round: one clock read a round. */
uint64_t worker_now_usec(const struct worker *worker);
/** worker_arm() - (re)arm @timer for @usec from now. */
void worker_arm(struct worker *worker, struct worker_timer *timer, uint64_t usec);
/** worker_disarm() - idempotent. */
void worker_disarm(struct worker *worker, struct worker_timer *timer);

#endif
