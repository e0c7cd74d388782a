/* SPDX-License-Identifier: MIT */
/*
 * rogue.h: a frontend that breaks the rules, one row of a table at a time. It connects as netfront
 * does, up to the point where the row misbehaves, and reports what the backend did.
 *
 * A row that fails is a bug of the backend; a bug fixed in the backend adds a row.
 */
#ifndef NETFRONT_ROGUE_H
#define NETFRONT_ROGUE_H

#include <stdbool.h>
#include <stdint.h>

#include "netfront/netfront.h"

/* What becomes of the vif. */
enum rogue_outcome {
	ROGUE_SERVED,  /* still Connected, and an honest frame is answered with OKAY */
	ROGUE_LOST,    /* was Connected, the backend ended it */
	ROGUE_REFUSED, /* never became Connected */
	ROGUE_EITHER,  /* as expectation only: served or lost, depending on who is faster */
};
const char *rogue_outcome_name(enum rogue_outcome outcome);

/* How many answers of each status the row's own requests are to get. */
struct rogue_answers {
	unsigned okay, error, dropped, null;
};

struct rogue;

struct rogue_row {
	const char *name;
	const char *what;
	/* When: before own state 4 is written, or once the backend is Connected. */
	bool connected;
	int (*act)(struct rogue *rogue); /* 0, or -errno if the row cannot be played here */
	enum rogue_outcome expect;
	struct rogue_answers answers; /* not looked at when the vif is lost or refused */
	bool any_answers;	      /* nor then: they depend on who is faster */
	/* The counter of netbackctl, or words of the error node, that must show it. NULL: none. */
	const char *counter;
	/* Argument of act(), so that rows can share one. */
	long number;
	const char *text;
};

struct rogue {
	const struct rogue_row *row;
	unsigned vif, wait_msec;
	struct xs_handle *xs;
	struct netfront_hv hv;
	char dir[XENBUS_PATH_BYTES];
	struct netfront_backend backend;
	struct netfront_features features;
	struct netfront_queue queue;
	bool honest;	    /* connecting again after the misbehaviour */
	uint32_t nr_pushed; /* requests of the row */
	struct rogue_answers answers;
};

/* Ended by a row without a name. */
extern const struct rogue_row rogue_ring_rows[];
extern const struct rogue_row rogue_key_rows[];

/* ---- for the rows ---- */

void rogue_sleep_msec(unsigned msec);
enum xenbus_state rogue_backend_state(const struct rogue *rogue);
/** rogue_wait_backend() - until the backend's state is in @states (bits). Return: it came. */
bool rogue_wait_backend(const struct rogue *rogue, unsigned states, unsigned msec);
/** rogue_write() - any bytes into a node of the device directory; -errno. */
int rogue_write(const struct rogue *rogue, const char *key, const void *value, unsigned len);
/** rogue_reset() - close in order and come back to Initialising. -ETIMEDOUT: the backend did not.
 */
int rogue_reset(struct rogue *rogue);

/** rogue_slot() - one transmit request on buffer page @page (also its id), nothing checked. */
void rogue_slot(struct rogue *rogue, unsigned page, unsigned offset, unsigned size, unsigned flags);
/** rogue_publish() - show the requests, and kick always. */
void rogue_publish(struct rogue *rogue);
/** rogue_collect() - count answers until every request of ours has one, or @msec are over. */
void rogue_collect(struct rogue *rogue, unsigned msec);
/** rogue_honest_frame() - a proper 60 byte broadcast. Return: answered with OKAY in time. */
bool rogue_honest_frame(struct rogue *rogue);

#endif
