/* SPDX-License-Identifier: MIT */
/*
 * conform.h: the conformance suite: what Xen's libraries must do, whoever implements them. One end
 * (server) runs in a guest and does what it is told; the other (client) runs in dom0 and judges.
 * The two talk through xenstore, in the guest's directory data/conform.
 */
#ifndef TEST_CONFORM_CONFORM_H
#define TEST_CONFORM_CONFORM_H

#include <stdbool.h>
#include <stdint.h>
#include <xenevtchn.h>
#include <xengnttab.h>
#include <xenstore.h>

#define PAGE	   4096
#define DIR_BYTES  64
#define LINE_BYTES 128
#define REPLY_SEC  10

/* ---- link.c: requests and replies through xenstore ---- */

struct link {
	struct xs_handle *xs;
	char dir[DIR_BYTES];
	unsigned seq;
};

/** link_open() - @domid: whose directory; -1: our own, which is then made. False: errno says why.
 */
bool link_open(struct link *link, int domid);
void link_close(struct link *link);
/** link_call() - the client's: have the server do something; its answer is in @line. */
bool link_call(struct link *link, char line[LINE_BYTES]);
/** link_next() - the server's: the next request. False: the end. */
bool link_next(struct link *link, char line[LINE_BYTES]);
/** link_reply() - the server's. */
bool link_reply(struct link *link, const char *line);

/* ---- server.c ---- */

int run_server(int client_domid);

/* ---- cases.c ---- */

/** run_cases() - those whose name contains @only, against the server in @domid. Failures. */
int run_cases(int domid, const char *only);

/* ---- conform.c: used by both ---- */

/** see_event() - is there an event within a second? The port, unmasked again; 0: none. */
int see_event(xenevtchn_handle *xce, int msec);

#endif
