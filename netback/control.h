/* SPDX-License-Identifier: MIT */
/*
 * control.h: the control thread: one event loop for xenstore's watches, the workers' reports,
 * timers, signals and netbackctl. All vifs belong to it.
 */
#ifndef NETBACK_CONTROL_H
#define NETBACK_CONTROL_H

#include <event2/event.h>
#include <stdbool.h>
#include <stdint.h>

#include "netback/conf.h"
#include "netback/vif.h"
#include "netback/vifs.h"

struct control {
	struct xenvif_host host;
	struct vifs vifs;
	struct event_base *base;
	struct event *xs_event, *fatal_event, *pass_event, *retry_event, *alive_event;
	struct event *signals[3];
	uint64_t next_generation;
	bool failed; /* the loop ended because xenstored went away */
	/* For netbackctl. */
	uint64_t nr_watch_events, nr_passes, nr_evaluations;
};

/**
 * control_open() - xenstore, grant device, workers
 *
 * Logs one line with cause and cure if something is missing. Handles do not survive fork(2): call
 * after becoming a daemon. Return: 0; -errno with nothing left behind.
 */
int control_open(struct control *control, const struct conf *conf);

/** control_start() - event loop, watches, signals. Return: 0; -errno, logged. */
int control_start(struct control *control);

/** control_run() - serve until a signal says to leave, or xenstored goes away. 0 or -errno. */
int control_run(struct control *control);

/** control_leave() - close every vif in order, within a bounded time. */
void control_leave(struct control *control);

/** control_close() - let go of everything; also after a failed control_open() or _start(). */
void control_close(struct control *control);

#endif
