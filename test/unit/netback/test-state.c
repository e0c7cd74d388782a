/* SPDX-License-Identifier: MIT */
/*
 * test-state.c: the vif state machine as a table: what is seen, and every step that follows until
 * there is no more. Published states appear as their number; "connect" and "release" are the steps
 * between them.
 */
#include "test/unit/netback/suites.h"

#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/state.h"

/* Flags of a row, for short. */
#define OFF  1	 /* online=0 */
#define GONE 2	 /* the domain was destroyed */
#define BAD  4	 /* disabled */
#define CONN 8	 /* queues connected */
#define PORT 16	 /* the port is there */
#define NEW  32	 /* the frontend was never seen */
#define WAIT 64	 /* hotplug-status is not "connected" yet */
#define ERR  128 /* hotplug-status is "error" */
#define UP   (CONN | PORT)

static const struct {
	const char *name;
	int own, front, flags;
	const char *steps;
} rows[] = {
	/* The frontend's side comes and goes. */
	{"a new directory is answered InitWait", 1, 1, 0, "2"},
	{"a new directory whose frontend is not there yet is answered too", 1, 0, NEW, "2"},
	{"InitWait waits for a frontend that was never seen", 2, 0, NEW | PORT, ""},
	{"frontend Initialising in InitWait: nothing", 2, 1, PORT, ""},
	{"frontend InitWait: nothing", 2, 2, PORT, ""},
	{"frontend Initialised is ignored", 2, 3, PORT, ""},
	{"frontend Reconfigured is ignored", 4, 8, UP, ""},
	{"frontend Connected in InitWait: connect, then publish", 2, 4, PORT, "connect 4"},
	{"Connected is deferred until the hotplug script is done", 2, 4, PORT | WAIT, "connect"},
	{"a deferred connection is not made twice", 2, 4, UP | WAIT, ""},
	{"a deferred connection is published when the script is done", 2, 4, UP, "4"},
	{"a failed hotplug script keeps Connected back", 2, 4, UP | ERR, ""},
	{"a deferred connection and Closing", 2, 5, UP | WAIT, "5"},
	{"a deferred connection and Initialising: closed in full", 2, 1, UP | WAIT, "5 6 2"},
	{"a deferred connection and Closed", 2, 6, UP | WAIT, "5 6"},
	{"a deferred connection and Initialised: stays", 2, 3, UP | WAIT, ""},
	{"6.30 frontend Connected again in Connected: nothing", 4, 4, UP, ""},
	{"6.3 frontend Connected before InitWait (MiniOS): through InitWait", 1, 4, 0,
	 "2 connect 4"},
	{"frontend Connected in Closed: through InitWait", 6, 4, PORT, "2 connect 4"},
	{"frontend Connected in Closing: through Closed and InitWait", 5, 4, PORT, "6 2 connect 4"},
	{"frontend Closing in Connected", 4, 5, UP, "5"},
	{"frontend Closing in InitWait", 2, 5, PORT, "5"},
	{"frontend Closing in Initialising: InitWait is published first", 1, 5, 0, "2 5"},
	{"6.26 frontend Closing in Closed", 6, 5, PORT, "5"},
	{"frontend Closing in Closing: nothing", 5, 5, PORT, ""},
	{"frontend Closed in Closing", 5, 6, PORT, "6"},
	{"6.25 frontend Closed in Connected (iPXE): through Closing", 4, 6, UP, "5 6"},
	{"frontend Closed in InitWait: through Closing", 2, 6, PORT, "5 6"},
	{"frontend Closed in Closed: stays, watching", 6, 6, PORT, ""},
	{"frontend Initialising in Closed: reconnect", 6, 1, PORT, "2"},
	{"6.30 frontend Initialising in InitWait again: nothing", 2, 1, PORT, ""},
	{"frontend Initialising in Connected (reset): every state on the way", 4, 1, UP, "5 6 2"},
	{"6.31 kexec: Closing", 4, 5, UP, "5"},
	{"6.31 kexec: Closed", 5, 6, PORT, "6"},
	{"6.31 kexec: Initialising", 6, 1, PORT, "2"},
	{"6.31 kexec that is faster than us: Initialising seen in Closing", 5, 1, PORT, "6 2"},
	{"frontend Reconfiguring in Connected", 4, 7, UP, "8"},
	{"frontend Reconfiguring in Reconfigured: nothing", 8, 7, UP, ""},
	{"frontend Connected in Reconfigured: back to Connected", 8, 4, UP, "4"},
	{"frontend Closing in Reconfigured", 8, 5, UP, "5"},
	{"frontend Initialising in Reconfigured", 8, 1, UP, "5 6 2"},
	{"6.27 Reconfigured only after Reconfiguring: connect first", 2, 7, PORT, "connect 4 8"},

	/* The frontend is gone. */
	{"frontend's path gone in Connected", 4, 0, UP, "5 6"},
	{"frontend's path gone in InitWait", 2, 0, PORT, "5 6"},
	{"frontend's path gone in Closed: nothing", 6, 0, PORT, ""},
	{"6.32 domain gone in Connected, its frontend still says so", 4, 4, UP | GONE,
	 "5 release 6"},
	{"domain gone in InitWait", 2, 1, PORT | GONE, "5 release 6"},
	{"domain gone in Closed: the port goes at once", 6, 6, PORT | GONE, "release"},
	{"domain gone in Closed, no port: nothing", 6, 0, GONE, ""},
	{"domain gone while Connected is deferred", 2, 4, UP | WAIT | GONE, "5 release 6"},

	/* The toolstack removes the device: online=0 and our state set to Closing. */
	{"removal, frontend Connected: wait for its answer", 5, 4, UP | OFF, ""},
	{"removal, frontend Reconfiguring: wait for its answer", 5, 7, UP | OFF, ""},
	{"removal, frontend answers Closing", 5, 5, UP | OFF, "5 release"},
	{"removal, frontend answers Closed", 5, 6, OFF, "6"},
	{"removal, frontend answers Closed at once", 5, 6, UP | OFF, "5 release 6"},
	{"removal, frontend Unknown: Closed at once", 5, 0, UP | OFF, "5 release 6"},
	{"removal, frontend never there: Closed at once", 5, 0, PORT | OFF | NEW, "release 6"},
	{"removal, frontend Initialising: Closed at once", 5, 1, PORT | OFF, "release 6"},
	{"removal, frontend InitWait: Closed at once", 5, 2, PORT | OFF, "release 6"},
	{"removal, frontend Closed: Closed at once", 5, 6, PORT | OFF, "release 6"},
	{"removal of a device in Closed", 6, 6, PORT | OFF, "release"},
	{"removal is over: Closed stays", 6, 6, OFF, ""},
	{"removal is over: Initialising does not reconnect", 6, 1, OFF, ""},
	{"removal is over: Connected does not reconnect", 6, 4, OFF, ""},
	{"removal is over: Closing is not followed", 6, 5, OFF, ""},
	{"removal whose Closing a write of ours hid: said again", 4, 4, UP | OFF, "5 release"},
	{"removal hidden while Connected is deferred", 2, 4, UP | OFF | WAIT, "5 release"},
	{"a device born offline is left alone", 1, 1, OFF, ""},
	{"Closing written by somebody else, frontend has not answered", 5, 4, UP, ""},
	{"Closing written by somebody else, frontend Closing", 5, 5, UP, "5"},
	{"Closing written by somebody else, frontend reset", 5, 1, UP, "5 6 2"},
	{"Closing written by somebody else, no frontend: Closed, then InitWait", 5, 1, PORT, "6 2"},

	/* Frontends that break the rules. */
	{"disabled in Connected", 4, 4, UP | BAD, "5 6"},
	{"disabled before InitWait (no port)", 1, 1, BAD, "5 6"},
	{"disabled in Closed: Connected does not reconnect", 6, 4, PORT | BAD, ""},
	{"disabled and removed by the toolstack: Closed at once", 5, 4, PORT | BAD | OFF,
	 "release 6"},
	{"6.11 disabled while Connected is deferred", 2, 4, UP | WAIT | BAD, "5 6"},

	/* States that are not ours. */
	{"our node says Initialised: closed, then followed", 3, 4, PORT, "5 6 2 connect 4"},
	{"our node says Reconfiguring: closed, then followed", 7, 1, PORT, "5 6 2"},
};

static struct backend_view view_of(int own, int front, int flags)
{
	return (struct backend_view){
		.own = (enum xenbus_state)own,
		.front = (enum xenbus_state)front,
		.front_seen = !(flags & NEW),
		.online = !(flags & OFF),
		.domain_gone = flags & GONE,
		.disabled = flags & BAD,
		.connected = flags & CONN,
		.port = flags & PORT,
		.hotplug = flags & ERR	  ? HOTPLUG_ERROR
			   : flags & WAIT ? HOTPLUG_WAIT
					  : HOTPLUG_READY,
	};
}

/* What backend.c does, without a store. */
static const char *take(struct backend_view *view, enum backend_step step)
{
	switch (step) {
	case STEP_INIT_WAIT:
		view->port = true;
		view->own = XenbusStateInitWait;
		return "2";
	case STEP_CONNECT:
		view->connected = true;
		return "connect";
	case STEP_PUBLISH:
		view->own = XenbusStateConnected;
		return "4";
	case STEP_RECONFIGURED:
		view->own = XenbusStateReconfigured;
		return "8";
	case STEP_CLOSING:
		view->connected = false;
		view->own = XenbusStateClosing;
		return "5";
	case STEP_RELEASE:
		view->port = false;
		return "release";
	case STEP_CLOSED:
		view->own = XenbusStateClosed;
		return "6";
	default:
		return "?";
	}
}

/* Return: how many steps; they end within BACKEND_STEPS_MAX or the text ends with "...". */
static int walk(struct backend_view view, char *text, size_t size)
{
	enum backend_step step;
	int nr = 0;

	*text = '\0';
	while ((step = backend_next(&view)) != STEP_NONE && nr < BACKEND_STEPS_MAX) {
		const char *word = take(&view, step);
		size_t used = strlen(text);

		snprintf(text + used, size - used, "%s%s", used ? " " : "", word);
		nr++;
	}
	if (step != STEP_NONE)
		strncat(text, " ...", size - strlen(text) - 1);
	return nr;
}

START_TEST(state_machine)
{
	char steps[128];

	walk(view_of(rows[_i].own, rows[_i].front, rows[_i].flags), steps, sizeof(steps));
	ck_assert_msg(!strcmp(steps, rows[_i].steps), "%s: expected '%s', got '%s'", rows[_i].name,
		      rows[_i].steps, steps);
}
END_TEST

/* Whatever is seen, in whatever combination: the walk ends, and queues never lack a port. */
START_TEST(every_walk_ends)
{
	char steps[128];

	for (int flags = 0; flags < 256; flags++) {
		struct backend_view view = view_of(_i / 9, _i % 9, flags);

		if (view.connected && !view.port)
			continue;
		ck_assert_msg(walk(view, steps, sizeof(steps)) < BACKEND_STEPS_MAX,
			      "own %d front %d flags %d: %s", _i / 9, _i % 9, flags, steps);
	}
}
END_TEST

/* An own state of InitWait or Connected and the walk to it never skips the one between. */
START_TEST(connect_never_without_a_port)
{
	for (int flags = 0; flags < 256; flags++) {
		struct backend_view view = view_of(_i / 9, _i % 9, flags);
		enum backend_step step = backend_next(&view);

		if (step == STEP_CONNECT)
			ck_assert_int_eq(view.own, XenbusStateInitWait);
		if (step == STEP_PUBLISH)
			ck_assert(view.connected || view.own == XenbusStateReconfigured);
		if (step == STEP_RELEASE)
			ck_assert(!view.connected);
	}
}
END_TEST

START_TEST(steps_have_names)
{
	for (int i = 0; i < NR_BACKEND_STEPS; i++)
		ck_assert_ptr_nonnull(backend_step_name((enum backend_step)i));
	ck_assert_str_eq(backend_step_name(NR_BACKEND_STEPS), "invalid");
}
END_TEST

TCase *state_tcase(void)
{
	TCase *tcase = tcase_create("state");

	tcase_add_loop_test(tcase, state_machine, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tcase, every_walk_ends, 0, 81);
	tcase_add_loop_test(tcase, connect_never_without_a_port, 0, 81);
	tcase_add_test(tcase, steps_have_names);
	return tcase;
}
