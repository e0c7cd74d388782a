/* SPDX-License-Identifier: MIT */
/*
 * conform.c: `conform server [DOMID]` in a guest (DOMID of the client: 0), then `conform client
 * DOMID [WORD]` in dom0. The client prints one line a case (of those with WORD in their name) and
 * exits 1 if one failed.
 */
#include "test/conform/conform.h"

#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int see_event(xenevtchn_handle *xce, int msec)
{
	struct pollfd pfd = {.fd = xenevtchn_fd(xce), .events = POLLIN};
	int port;

	if (poll(&pfd, 1, msec) != 1)
		return 0;
	port = xenevtchn_pending(xce);
	if (port > 0)
		xenevtchn_unmask(xce, (evtchn_port_t)port);
	return port;
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IOLBF, 0);
	if (argc >= 2 && !strcmp(argv[1], "server"))
		return run_server(argc > 2 ? atoi(argv[2]) : 0);
	if (argc >= 3 && !strcmp(argv[1], "client"))
		return run_cases(atoi(argv[2]), argc > 3 ? argv[3] : "") ? 1 : 0;
	fprintf(stderr,
		"usage: conform server [CLIENT-DOMID] | conform client SERVER-DOMID [WORD]\n");
	return 2;
}
