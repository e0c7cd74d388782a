/* SPDX-License-Identifier: MIT */
/*
 * frontend.h: what connect.c (the handshake) and loop.c (events, the loop, life) share, and nobody
 * else includes. One thread.
 */
#ifndef NETFRONT_FRONTEND_H
#define NETFRONT_FRONTEND_H

#include "netfront/netfront.h"

#define NR_QUEUES 1u

enum phase {
	PHASE_WAITING,	    /* no device directory */
	PHASE_INITIALISING, /* own state 1: for the backend to offer itself */
	PHASE_CONNECTED,    /* own state 4 */
	PHASE_CLOSING,	    /* own state 5: for the backend to let go */
	PHASE_CLOSED,	    /* own state 6 */
	PHASE_DONE,
	NR_PHASES
};

struct netfront {
	struct netfront_params params;
	struct event_base *base;
	struct netfront_side *side;
	struct xs_handle *xs;
	struct netfront_hv hv;
	struct event *xs_event, *evtchn_event, *close_timer, *wait_timer, *alive_timer;
	char dir[XENBUS_PATH_BYTES];

	/* As last seen in the store. */
	struct netfront_backend backend; /* path "" if there is none */
	enum xenbus_state backend_state;
	char backend_watch[XENBUS_PATH_BYTES]; /* "" if not watched */

	enum phase phase;
	enum xenbus_state state; /* own, as last written */
	bool live;		 /* both ends Connected: queues may run */
	bool leaving;
	bool resetting; /* an earlier frontend left the backend in a state we must bring back */
	bool timed_out; /* the backend did not follow while closing */
	bool running;
	int result;

	struct netfront_features agreed;
	struct netfront_queue queues[NR_QUEUES];
	uint64_t last_work_usec;
};

/* ---- connect.c ---- */

/** netfront_step() - look at the store and act until nothing more is to be done. Blocks on it. */
void netfront_step(struct netfront *nf);
/** netfront_begin_close() - stop traffic, publish Closing; netfront_step() goes on from there. */
void netfront_begin_close(struct netfront *nf);
/** netfront_disconnect() - stop traffic, stop sharing. Writes nothing. Idempotent. */
void netfront_disconnect(struct netfront *nf);
/** netfront_set_state() - publish, unless the device is gone. */
void netfront_set_state(struct netfront *nf, enum xenbus_state state);
/** netfront_fail() - end with @err: netfront_run()'s result. */
void netfront_fail(struct netfront *nf, int err);

#endif
