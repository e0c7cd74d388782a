/* SPDX-License-Identifier: MIT */
/*
 * xsd_control.c: XS_CONTROL, what xenstore-control(8) sends: help, print, check, quota. dom0 only;
 * other commands of xenstored, which have no meaning here, are EINVAL.
 */
#include "xenstore/xsd_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "common/log.h"

/* The answer as it grows; cut at the most a reply can hold. */
struct answer {
	char text[XENSTORE_PAYLOAD_MAX];
	size_t len;
};

struct command {
	const char *name;
	const char *params;
	unsigned min_args, max_args; /* the name not counted */
	int (*run)(struct xsd *xsd, const struct xsd_request *req, struct answer *answer);
};

static void __printf(2, 3) say(struct answer *answer, const char *fmt, ...)
{
	size_t room = sizeof(answer->text) - answer->len;
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(answer->text + answer->len, room, fmt, ap);
	va_end(ap);
	if (len > 0)
		answer->len += MIN((size_t)len, room - 1);
}

static int print(struct xsd *xsd, const struct xsd_request *req, struct answer *answer)
{
	char text[256];
	const char *raw = req->arg[1];

	log_info("xenstore: control: %s", log_escape(text, sizeof(text), raw, strlen(raw)));
	say(answer, "OK");
	return 0;
}

static int check(struct xsd *xsd, const struct xsd_request *req, struct answer *answer)
{
	unsigned faults = xsd_tree_check(&xsd->tree);

	if (faults)
		log_err("xenstore: the store has %u faults", faults);
	say(answer, faults ? "%u faults" : "OK", faults);
	return 0;
}

static void say_quotas(const struct xsd_quota *quota, struct answer *answer)
{
	const struct {
		const char *name;
		unsigned value;
		const char *what;
	} rows[] = {
		{"nodes", quota->nr_nodes, "Nodes per domain"},
		{"watches", quota->nr_watches, "Watches per domain"},
		{"transactions", quota->nr_transactions, "Transactions per domain"},
		{"outstanding-bytes", quota->nr_outstanding_bytes,
		 "Bytes of replies and events not yet read"},
		{"transaction-nodes", XSD_TRANSACTION_NODES,
		 "Max. number of accessed nodes per transaction"},
		{"node-size", quota->node_bytes, "Max. size of a node"},
		{"path-max", quota->path_bytes, "Max. length of a node path"},
		{"permissions", quota->nr_perms, "Max. number of permissions per node"},
	};
	unsigned i;

	say(answer, "Quota settings:\n");
	for (i = 0; i < ARRAY_SIZE(rows); i++)
		say(answer, "%-17s: %8u %s\n", rows[i].name, rows[i].value, rows[i].what);
}

static int say_domain(const struct xsd *xsd, const char *arg, struct answer *answer)
{
	unsigned domid;

	if (xsd_wire_number(arg, UINT16_MAX, &domid))
		return -EINVAL;
	if (!xsd_domain_find(xsd, domid))
		return -ENOENT;
	say(answer, "Domain %u:\n", domid);
	say(answer, "%-16s: %8d\n", "nodes", xsd_count_get(xsd->tree.owners, domid));
	say(answer, "%-16s: %8d\n", "watches", xsd_count_get(xsd->watch_counts, domid));
	say(answer, "%-16s: %8d\n", "transactions", xsd_count_get(xsd->txn_counts, domid));
	say(answer, "%-16s: %8d\n", "connections", xsd_count_get(xsd->conn_counts, domid));
	return 0;
}

static int quota(struct xsd *xsd, const struct xsd_request *req, struct answer *answer)
{
	if (req->nr_args == 2)
		return say_domain(xsd, req->arg[1], answer);
	say_quotas(&xsd->quota, answer);
	return 0;
}

static int help(struct xsd *xsd, const struct xsd_request *req, struct answer *answer);

static const struct command commands[] = {
	{"check", "", 0, 0, check},
	{"print", "<string>", 1, 1, print},
	{"quota", "[<domid>]", 0, 1, quota},
	{"help", "", 0, 0, help},
};

static int help(struct xsd *xsd, const struct xsd_request *req, struct answer *answer)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		say(answer, "%s\t%s\n", commands[i].name, commands[i].params);
	return 0;
}

int xsd_control(struct xsd_conn *conn, const struct xsd_request *req)
{
	unsigned nr_args = req->nr_args - 1;
	struct answer answer = {.len = 0};
	unsigned i;
	int ret;

	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (strcmp(req->arg[0], commands[i].name) == 0)
			break;
	if (i == ARRAY_SIZE(commands) || nr_args < commands[i].min_args ||
	    nr_args > commands[i].max_args)
		return -EINVAL;
	ret = commands[i].run(conn->xsd, req, &answer);
	if (ret)
		return ret;
	xsd_conn_reply(conn, req, answer.text, answer.len + 1);
	return 0;
}
