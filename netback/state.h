/* SPDX-License-Identifier: MIT */
/*
 * state.h: the state machine of one vif, the pure half: what is seen goes in, the next step comes
 * out. No xenstore, no I/O, no memory of its own; backend.c carries the steps out.
 *
 *	          +------------------------------------------------+
 *	          v                                                |
 *	1 ---> InitWait 2 --(queues)--> 2 --(hotplug)--> Connected 4 <--> Reconfigured 8
 *	|         |                     |                |         |
 *	|         +---------------------+-------+--------+---------+
 *	|                                       v
 *	+---------------------------------> Closing 5 ---> Closed 6
 *
 * The way from any state to any other is the shortest one in this picture, and every state on it
 * is published: frontends (a kexec'd Linux above all) wait for each of them in turn.
 */
#ifndef NETBACK_STATE_H
#define NETBACK_STATE_H

#include <stdbool.h>

#include <xen/io/xenbus.h>

/* What the hotplug script has said (node hotplug-status, and whether there is a script at all). */
enum backend_hotplug {
	HOTPLUG_WAIT,  /* not run yet: Connected is not published */
	HOTPLUG_READY, /* "connected", or there is no script */
	HOTPLUG_ERROR, /* "error": as WAIT; an administrator may run the script again */
};

/* Everything a decision depends on. */
struct backend_view {
	enum xenbus_state own;	 /* what our state node says */
	enum xenbus_state front; /* what the frontend's says; Unknown: gone, or not there yet */
	bool front_seen;	 /* the frontend has been there (since we know this vif) */
	bool online;		 /* the toolstack wants the device to exist */
	bool domain_gone;	 /* the guest was destroyed */
	bool disabled;		 /* the frontend broke the rules, or we could not serve it */
	bool connected;		 /* our queues are connected, whether 4 is published or not */
	bool port;		 /* the host side exists */
	enum backend_hotplug hotplug;
};

enum backend_step {
	STEP_NONE,
	STEP_INIT_WAIT,	   /* port, features, publish 2 */
	STEP_CONNECT,	   /* read the frontend's keys, connect the queues; publishes nothing */
	STEP_PUBLISH,	   /* publish 4 */
	STEP_RECONFIGURED, /* publish 8 */
	STEP_CLOSING,	   /* disconnect the queues, publish 5 */
	STEP_RELEASE,	   /* close the port: nobody will connect to it again */
	STEP_CLOSED,	   /* publish 6 */
	NR_BACKEND_STEPS,
};

/** backend_step_name() - for log lines and tests. */
const char *backend_step_name(enum backend_step step);

/** backend_target() - the state to get to; @view->own if there is nothing to do. */
enum xenbus_state backend_target(const struct backend_view *view);

/** backend_next() - the next step towards it. */
enum backend_step backend_next(const struct backend_view *view);

/* The longest way there is: 4 to 5, release, 6, 2, queues, 4 and one to spare. */
#define BACKEND_STEPS_MAX 8

#endif
