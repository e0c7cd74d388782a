/* SPDX-License-Identifier: MIT */
/* link.c: one line there, one line back, by two nodes of xenstore and a watch on each. */
#include "test/conform/conform.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool make_own_dir(struct link *link)
{
	char *domid = xs_read(link->xs, XBT_NULL, "domid", NULL);

	if (!domid)
		return false;
	snprintf(link->dir, sizeof(link->dir), "/local/domain/%s/data/conform", domid);
	free(domid);
	xs_rm(link->xs, XBT_NULL, link->dir);
	return xs_mkdir(link->xs, XBT_NULL, link->dir);
}

bool link_open(struct link *link, int domid)
{
	char path[LINE_BYTES];

	link->seq = 0;
	link->xs = xs_open(0);
	if (!link->xs)
		return false;
	if (domid < 0) {
		if (!make_own_dir(link))
			return false;
	} else {
		snprintf(link->dir, sizeof(link->dir), "/local/domain/%d/data/conform", domid);
	}
	snprintf(path, sizeof(path), "%s/%s", link->dir, domid < 0 ? "request" : "reply");
	return xs_watch(link->xs, path, "link");
}

void link_close(struct link *link)
{
	xs_close(link->xs);
}

static bool put(struct link *link, const char *name, const char *line)
{
	char path[LINE_BYTES], text[LINE_BYTES + 16];

	snprintf(path, sizeof(path), "%s/%s", link->dir, name);
	snprintf(text, sizeof(text), "%u %s", link->seq, line);
	return xs_write(link->xs, XBT_NULL, path, text, (unsigned)strlen(text));
}

/* The node's line if it is of number @seq. */
static bool get(struct link *link, const char *name, unsigned seq, char line[LINE_BYTES])
{
	char path[LINE_BYTES], *text, *rest;
	bool fresh = false;

	snprintf(path, sizeof(path), "%s/%s", link->dir, name);
	text = xs_read(link->xs, XBT_NULL, path, NULL);
	if (text && strtoul(text, &rest, 10) == seq && *rest == ' ') {
		snprintf(line, LINE_BYTES, "%s", rest + 1);
		fresh = true;
	}
	free(text);
	return fresh;
}

static bool wait_line(struct link *link, const char *name, unsigned seq, int msec,
		      char line[LINE_BYTES])
{
	struct pollfd pfd = {.fd = xs_fileno(link->xs), .events = POLLIN};
	char **event;

	while (!get(link, name, seq, line)) {
		if (poll(&pfd, 1, msec) <= 0)
			return false;
		while ((event = xs_check_watch(link->xs)))
			free(event);
		if (errno != EAGAIN)
			return false;
	}
	return true;
}

bool link_call(struct link *link, char line[LINE_BYTES])
{
	link->seq++;
	return put(link, "request", line) &&
	       wait_line(link, "reply", link->seq, REPLY_SEC * 1000, line);
}

bool link_next(struct link *link, char line[LINE_BYTES])
{
	link->seq++;
	return wait_line(link, "request", link->seq, -1, line);
}

bool link_reply(struct link *link, const char *line)
{
	return put(link, "reply", line);
}
