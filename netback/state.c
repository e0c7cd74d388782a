/* SPDX-License-Identifier: MIT */
/*
 * state.c: the two tables of the vif state machine. Which state to get to is the first rule that
 * matches; how to get there is the walker's table. Pure.
 */
#include "netback/state.h"

#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

#define NR_STATES (XenbusStateReconfigured + 1)

/* Sets of states. */
#define UNKNOWN	      (1U << XenbusStateUnknown)
#define INITIALISING  (1U << XenbusStateInitialising)
#define INIT_WAIT     (1U << XenbusStateInitWait)
#define INITIALISED   (1U << XenbusStateInitialised)
#define CONNECTED     (1U << XenbusStateConnected)
#define CLOSING	      (1U << XenbusStateClosing)
#define CLOSED	      (1U << XenbusStateClosed)
#define RECONFIGURING (1U << XenbusStateReconfiguring)
#define RECONFIGURED  (1U << XenbusStateReconfigured)
#define ANY	      ((1U << NR_STATES) - 1)
/* A frontend in one of these will not answer a Closing of ours: nobody is there to. */
#define INACTIVE (UNKNOWN | INITIALISING | INIT_WAIT | CLOSED)

/* A condition on a flag of the view. */
enum want { EITHER, NO, YES };

#define STAY NR_STATES

static const struct rule {
	unsigned own, front; /* sets of states */
	enum want gone, disabled, online, seen, connected;
	unsigned target;
} rules[] = {
	/* The guest was destroyed: let go of what it granted, now. */
	{.own = ANY, .front = ANY, .gone = YES, .target = XenbusStateClosed},
	/* It broke the rules: closed until it comes back through Closed or Initialising. */
	{.own = ANY, .front = ANY, .disabled = YES, .target = XenbusStateClosed},

	/*
	 * The toolstack removes the device. Whoever is not active will not answer, and the
	 * toolstack would wait out its 10 s; an active frontend goes 5, 6 and is followed.
	 */
	{.own = INITIALISING, .front = ANY, .online = NO, .target = STAY},
	{.own = ANY, .front = INACTIVE, .online = NO, .target = XenbusStateClosed},
	{.own = CLOSED, .front = ANY, .online = NO, .target = STAY},
	{.own = ANY, .front = CLOSING, .online = NO, .target = XenbusStateClosing},
	{.own = CLOSING, .front = ANY, .online = NO, .target = STAY},
	/* Its Closing was lost in a write of ours: say it again. */
	{.own = ANY, .front = ANY, .online = NO, .target = XenbusStateClosing},

	/* A new device: InitWait first, whatever the frontend says already (the toolstack waits for
	 * it; MiniOS writes Connected without waiting). */
	{.own = INITIALISING, .front = ANY, .target = XenbusStateInitWait},

	/* The frontend's path went away. One that was never there may still come. */
	{.own = ANY, .front = UNKNOWN, .seen = YES, .target = XenbusStateClosed},

	/* Also from Connected: the guest was reset without closing. */
	{.own = ANY, .front = INITIALISING, .target = XenbusStateInitWait},
	/* Somebody else wrote our Closing and the frontend has not answered yet. */
	{.own = CLOSING, .front = CONNECTED | RECONFIGURING, .connected = YES, .target = STAY},
	{.own = ANY, .front = CONNECTED, .target = XenbusStateConnected},
	/* Only a connected backend can be reconfigured. */
	{.own = CONNECTED | RECONFIGURED,
	 .front = RECONFIGURING,
	 .target = XenbusStateReconfigured},
	{.own = ANY, .front = RECONFIGURING, .target = XenbusStateConnected},
	{.own = ANY, .front = CLOSING, .target = XenbusStateClosing},
	{.own = ANY, .front = CLOSED, .target = XenbusStateClosed},
	/* InitWait, Initialised, Reconfigured: frontends do not write them, nothing follows. */
	{.own = ANY, .front = ANY, .target = STAY},
};

static bool flag_matches(enum want want, bool flag)
{
	return want == EITHER || (want == YES) == flag;
}

static bool rule_matches(const struct rule *rule, const struct backend_view *view)
{
	return (rule->own >> view->own & 1) && (rule->front >> view->front & 1) &&
	       flag_matches(rule->gone, view->domain_gone) &&
	       flag_matches(rule->disabled, view->disabled) &&
	       flag_matches(rule->online, view->online) &&
	       flag_matches(rule->seen, view->front_seen) &&
	       flag_matches(rule->connected, view->connected);
}

enum xenbus_state backend_target(const struct backend_view *view)
{
	const struct rule *rule = rules;

	while (!rule_matches(rule, view)) /* the last one always does */
		rule++;
	return rule->target == STAY ? view->own : (enum xenbus_state)rule->target;
}

/*
 * The walker: own state (rows), target (columns InitWait, Connected, Closing, Closed,
 * Reconfigured), next step.
 */
enum column { TO_INIT_WAIT, TO_CONNECTED, TO_CLOSING, TO_CLOSED, TO_RECONFIGURED, NR_COLUMNS };

static const uint8_t walk[NR_STATES][NR_COLUMNS] = {
	[XenbusStateUnknown] = {STEP_INIT_WAIT, STEP_INIT_WAIT, STEP_CLOSING, STEP_CLOSED,
				STEP_INIT_WAIT},
	[XenbusStateInitialising] = {STEP_INIT_WAIT, STEP_INIT_WAIT, STEP_CLOSING, STEP_CLOSING,
				     STEP_INIT_WAIT},
	[XenbusStateInitWait] = {STEP_NONE, STEP_CONNECT, STEP_CLOSING, STEP_CLOSING, STEP_CONNECT},
	/* We never publish Initialised or Reconfiguring; somebody else's is left by closing. */
	[XenbusStateInitialised] = {STEP_CLOSING, STEP_CLOSING, STEP_CLOSING, STEP_CLOSING,
				    STEP_CLOSING},
	[XenbusStateConnected] = {STEP_CLOSING, STEP_NONE, STEP_CLOSING, STEP_CLOSING,
				  STEP_RECONFIGURED},
	[XenbusStateClosing] = {STEP_CLOSED, STEP_CLOSED, STEP_NONE, STEP_CLOSED, STEP_CLOSED},
	[XenbusStateClosed] = {STEP_INIT_WAIT, STEP_INIT_WAIT, STEP_CLOSING, STEP_NONE,
			       STEP_INIT_WAIT},
	[XenbusStateReconfiguring] = {STEP_CLOSING, STEP_CLOSING, STEP_CLOSING, STEP_CLOSING,
				      STEP_CLOSING},
	[XenbusStateReconfigured] = {STEP_CLOSING, STEP_PUBLISH, STEP_CLOSING, STEP_CLOSING,
				     STEP_NONE},
};

static enum column column_of(enum xenbus_state target)
{
	switch (target) {
	case XenbusStateInitWait:
		return TO_INIT_WAIT;
	case XenbusStateConnected:
		return TO_CONNECTED;
	case XenbusStateClosing:
		return TO_CLOSING;
	case XenbusStateReconfigured:
		return TO_RECONFIGURED;
	default:
		return TO_CLOSED;
	}
}

/* The host side goes away before Closed is published: then the toolstack finds nothing left. */
static bool must_release(const struct backend_view *view)
{
	return view->port && !view->connected && (view->domain_gone || !view->online) &&
	       (view->own == XenbusStateClosing || view->own == XenbusStateClosed);
}

/* Connected that waits for the hotplug script: InitWait is what our node says meanwhile. */
static enum backend_step next_deferred(const struct backend_view *view)
{
	struct backend_view connected = *view;

	connected.own = XenbusStateConnected;
	switch (backend_target(&connected)) {
	case XenbusStateConnected:
	case XenbusStateReconfigured:
		return view->hotplug == HOTPLUG_READY ? STEP_PUBLISH : STEP_NONE;
	default:
		return STEP_CLOSING;
	}
}

enum backend_step backend_next(const struct backend_view *view)
{
	enum xenbus_state target = backend_target(view);

	if (view->own == XenbusStateInitWait && view->connected)
		return next_deferred(view);
	/* A Closing that the toolstack wrote over a connection: the connection still has to end. */
	if (view->own == XenbusStateClosing && view->connected)
		return target == XenbusStateClosing && view->front != XenbusStateClosing
			       ? STEP_NONE
			       : STEP_CLOSING;
	if (must_release(view))
		return STEP_RELEASE;
	if (target == view->own)
		return STEP_NONE;
	return (enum backend_step)walk[view->own][column_of(target)];
}

static const char *const step_names[] = {
	[STEP_NONE] = "none",
	[STEP_INIT_WAIT] = "init-wait",
	[STEP_CONNECT] = "connect",
	[STEP_PUBLISH] = "publish",
	[STEP_RECONFIGURED] = "reconfigured",
	[STEP_CLOSING] = "closing",
	[STEP_RELEASE] = "release",
	[STEP_CLOSED] = "closed",
};
BUILD_ASSERT(ARRAY_SIZE(step_names) == NR_BACKEND_STEPS);

const char *backend_step_name(enum backend_step step)
{
	return (unsigned)step < NR_BACKEND_STEPS ? step_names[step] : "invalid";
}
