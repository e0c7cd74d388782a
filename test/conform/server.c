/* SPDX-License-Identifier: MIT */
/*
 * server.c: the guest's end: shares pages and allocates ports as it is told. A request is a verb
 * and up to three numbers; the answer is numbers.
 */
#include "test/conform/conform.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SHARES 64

struct server {
	xengntshr_handle *shr;
	xenevtchn_handle *xce;
	uint32_t client;
	struct {
		uint8_t *mem;
		uint32_t nr;
	} shares[MAX_SHARES];
	unsigned nr_shares;
};

static long do_share(struct server *server, const long *arg, char *answer)
{
	uint32_t refs[4] = {0};
	uint32_t nr = (uint32_t)arg[0];
	uint8_t *mem;

	if (server->nr_shares == MAX_SHARES || nr < 1 || nr > 4)
		return -1;
	mem = xengntshr_share_pages(server->shr, server->client, (int)nr, refs, (int)arg[1]);
	if (!mem)
		return -1;
	server->shares[server->nr_shares].mem = mem;
	server->shares[server->nr_shares].nr = nr;
	snprintf(answer, LINE_BYTES, "%u %u %u %u %u", server->nr_shares, refs[0], refs[1], refs[2],
		 refs[3]);
	server->nr_shares++;
	return 0;
}

static long do_share_notify(struct server *server, const long *arg, char *answer)
{
	uint32_t ref;
	uint8_t *mem;

	if (server->nr_shares == MAX_SHARES)
		return -1;
	mem = xengntshr_share_page_notify(server->shr, server->client, &ref, 1, (uint32_t)arg[0],
					  (evtchn_port_t)arg[1]);
	if (!mem)
		return -1;
	mem[arg[0]] = 1;
	server->shares[server->nr_shares].mem = mem;
	server->shares[server->nr_shares].nr = 1;
	snprintf(answer, LINE_BYTES, "%u %u", server->nr_shares, ref);
	server->nr_shares++;
	return 0;
}

static bool share_ok(const struct server *server, long id, long offset)
{
	return id >= 0 && id < (long)server->nr_shares && server->shares[id].mem && offset >= 0 &&
	       offset < (long)server->shares[id].nr * PAGE;
}

static long do_unshare(struct server *server, const long *arg, char *answer)
{
	int ret;

	if (!share_ok(server, arg[0], 0))
		return -1;
	ret = xengntshr_unshare(server->shr, server->shares[arg[0]].mem, server->shares[arg[0]].nr);
	server->shares[arg[0]].mem = NULL;
	return ret;
}

static long do_fill(struct server *server, const long *arg, char *answer)
{
	if (!share_ok(server, arg[0], 0))
		return -1;
	for (uint32_t i = 0; i < server->shares[arg[0]].nr * PAGE; i++)
		server->shares[arg[0]].mem[i] = (uint8_t)(i * 7 + (uint32_t)arg[1]);
	return 0;
}

static long do_peek(struct server *server, const long *arg, char *answer)
{
	return share_ok(server, arg[0], arg[1]) ? server->shares[arg[0]].mem[arg[1]] : -1;
}

static long do_alloc(struct server *server, const long *arg, char *answer)
{
	return xenevtchn_bind_unbound_port(server->xce, server->client);
}

static long do_notify(struct server *server, const long *arg, char *answer)
{
	return xenevtchn_notify(server->xce, (evtchn_port_t)arg[0]);
}

static long do_close(struct server *server, const long *arg, char *answer)
{
	return xenevtchn_unbind(server->xce, (evtchn_port_t)arg[0]);
}

static long do_see(struct server *server, const long *arg, char *answer)
{
	return see_event(server->xce, (int)arg[0]);
}

static const struct {
	const char *verb;
	long (*run)(struct server *server, const long *arg, char *answer);
} verbs[] = {
	{"share", do_share},	 {"share-notify", do_share_notify},
	{"unshare", do_unshare}, {"fill", do_fill},
	{"peek", do_peek},	 {"alloc", do_alloc},
	{"notify", do_notify},	 {"close", do_close},
	{"see", do_see},
};

static void obey(struct server *server, const char *line, char answer[LINE_BYTES])
{
	char verb[16] = "";
	long arg[3] = {0, 0, 0}, ret = -1;

	answer[0] = '\0';
	if (sscanf(line, "%15s %ld %ld %ld", verb, &arg[0], &arg[1], &arg[2]) < 1)
		verb[0] = '\0';
	for (size_t i = 0; i < sizeof(verbs) / sizeof(verbs[0]); i++) {
		if (!strcmp(verb, verbs[i].verb))
			ret = verbs[i].run(server, arg, answer);
	}
	if (ret < 0)
		snprintf(answer, LINE_BYTES, "-1 %d", errno);
	else if (!answer[0])
		snprintf(answer, LINE_BYTES, "%ld", ret);
}

int run_server(int client_domid)
{
	char line[LINE_BYTES], answer[LINE_BYTES];
	struct server server = {.client = (uint32_t)client_domid};
	struct link link;

	server.shr = xengntshr_open(NULL, 0);
	server.xce = xenevtchn_open(NULL, 0);
	if (!server.shr || !server.xce || !link_open(&link, -1)) {
		perror("conform server");
		return 1;
	}
	while (link_next(&link, line) && strcmp(line, "quit")) {
		obey(&server, line, answer);
		if (!link_reply(&link, answer))
			break;
	}
	link_reply(&link, "0");
	xenevtchn_close(server.xce);
	xengntshr_close(server.shr);
	link_close(&link);
	return 0;
}
