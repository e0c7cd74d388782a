/* SPDX-License-Identifier: MIT */
/*
 * xsd_ops.c: the requests of the wire protocol, one handler each, behind one table that says who
 * may send them and with what. What they mean for the store is in xsd_store.c.
 *
 * Event base's thread; never blocks.
 */
#include "xenstore/xsd_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_path.h"

#define OP_PRIVILEGED 0x1U /* dom0 only */
#define OP_NO_TXN     0x2U /* the transaction named in the header is not looked at */
#define OP_EXACT      0x4U /* nothing after the last string */

/* One request while it is handled. */
struct call {
	struct xsd_conn *conn;
	struct xsd *xsd;
	const struct xsd_request *req;
	struct xsd_op op;
	char path[XSD_PATH_BYTES]; /* the first argument, made canonical by call_path() */
};

struct op {
	const char *name;
	int (*handler)(struct call *call); /* 0 once it has replied; -errno becomes the reply */
	unsigned flags;
	unsigned min_args; /* strings with an end */
	unsigned max_args; /* 0: any number */
};

static int call_path(struct call *call)
{
	return xsd_path_canonical(call->path, call->req->arg[0], call->op.cred.domid);
}

/* The node of the first argument. */
static int call_node(struct call *call, unsigned access, struct xsd_node **node)
{
	int ret = call_path(call);

	return ret ? ret : xsd_store_get(&call->op, call->path, access, node);
}

static int ack(struct call *call, int ret)
{
	if (!ret)
		xsd_conn_ack(call->conn, call->req);
	return ret;
}

/* Is this one of the every-Nth that a fault test wants to fail? */
static bool faulty(unsigned *count, unsigned every)
{
	return every && ++*count % every == 0;
}

/* ---- the tree ---- */

static int do_read(struct call *call)
{
	struct xsd_node *node;
	int ret;

	if (faulty(&call->xsd->nr_reads, call->xsd->faults.eacces_every))
		return -EACCES;
	ret = call_node(call, XSD_READ, &node);
	if (ret)
		return ret;
	xsd_conn_reply(call->conn, call->req, node->value, node->value_len);
	return 0;
}

static int do_directory(struct call *call)
{
	struct xsd_node *node;
	int ret;

	ret = call_node(call, XSD_READ, &node);
	if (ret)
		return ret;
	xsd_conn_reply(call->conn, call->req, node->children, node->children_len);
	return 0;
}

/* How much of the names at @names, whole ones only, fits in @room. */
static size_t whole_names(const char *names, size_t len, size_t room)
{
	size_t used = 0, name;

	while (used < len) {
		name = strlen(names + used) + 1;
		if (used + name > room)
			break;
		used += name;
	}
	return used;
}

/* "generation", then names; after the last of all an empty one. */
static int do_directory_part(struct call *call)
{
	char answer[XENSTORE_PAYLOAD_MAX];
	struct xsd_node *node;
	size_t len, names;
	unsigned offset;
	int ret;

	if (xsd_wire_number(call->req->arg[1], INT32_MAX, &offset))
		return -EINVAL;
	ret = call_node(call, XSD_READ, &node);
	if (ret)
		return ret;
	len = (size_t)snprintf(answer, sizeof(answer), "%llu",
			       (unsigned long long)node->generation) +
	      1;
	if (offset < node->children_len) {
		/* An offset within a name is the client's own fault; its tail is a name as well. */
		names = whole_names(node->children + offset, node->children_len - offset,
				    sizeof(answer) - len - 1);
		memcpy(answer + len, node->children + offset, names);
		len += names;
		offset += (unsigned)names;
	}
	if (offset >= node->children_len)
		answer[len++] = '\0';
	xsd_conn_reply(call->conn, call->req, answer, len);
	return 0;
}

static int do_write(struct call *call)
{
	const struct xsd_request *req = call->req;
	size_t path_len = strlen(req->arg[0]) + 1;
	int ret = call_path(call);

	if (!ret)
		ret = xsd_store_write(&call->op, call->path, req->payload + path_len,
				      req->head.len - path_len);
	return ack(call, ret);
}

static int do_mkdir(struct call *call)
{
	int ret = call_path(call);

	return ack(call, ret ? ret : xsd_store_mkdir(&call->op, call->path));
}

static int do_rm(struct call *call)
{
	int ret = call_path(call);

	return ack(call, ret ? ret : xsd_store_rm(&call->op, call->path));
}

static int do_get_perms(struct call *call)
{
	char answer[XENSTORE_PAYLOAD_MAX];
	struct xsd_node *node;
	unsigned i;
	size_t len = 0;
	int ret;

	ret = call_node(call, XSD_READ, &node);
	if (ret)
		return ret;
	for (i = 0; i < node->perms.nr; i++) {
		if (len + XSD_PERM_BYTES > sizeof(answer))
			return -E2BIG;
		len += xsd_perm_format(answer + len, &node->perms.list[i]) + 1;
	}
	xsd_conn_reply(call->conn, call->req, answer, len);
	return 0;
}

/* Domains that are not there get nothing, now or when a domain of that number comes. */
static int check_perm_domains(const struct xsd *xsd, struct xsd_perms *perms)
{
	unsigned i;

	for (i = 0; i < perms->nr; i++)
		perms->list[i].ignored = !xsd_domain_exists(xsd, perms->list[i].domid);
	return perms->list[0].ignored ? -ENOENT : 0;
}

static int do_set_perms(struct call *call)
{
	const struct xsd_request *req = call->req;
	struct xsd_perms perms;
	int ret;

	if (!xsd_cred_privileged(&call->op.cred) && req->nr_args - 1 > call->op.quota->nr_perms)
		return -ENOSPC;
	ret = xsd_perms_parse(&perms, req->arg[1], req->nr_args - 1);
	if (ret)
		return ret;
	ret = check_perm_domains(call->xsd, &perms);
	if (ret)
		goto out;
	if (req->arg[0][0] == '@') {
		ret = xsd_watch_set_special(&call->xsd->watches, &call->op.cred, req->arg[0],
					    &perms);
		goto out;
	}
	ret = call_path(call);
	if (!ret)
		ret = xsd_store_set_perms(&call->op, call->path, &perms);
out:
	xsd_perms_free(&perms);
	return ack(call, ret);
}

/* ---- watches ---- */

static int do_watch(struct call *call)
{
	struct xsd_watcher *watcher = &call->conn->watcher;
	unsigned domid = watcher->cred.domid;
	struct xsd_watch *watch;
	int ret;

	if (!xsd_cred_privileged(&watcher->cred) &&
	    xsd_count_get(call->xsd->watch_counts, domid) >= (int)call->op.quota->nr_watches)
		return -E2BIG;
	ret = xsd_watch_add(&call->xsd->watches, watcher, call->req->arg[0], call->req->arg[1],
			    xsd_store_max_path(&call->op), &watch);
	if (ret)
		return ret;
	xsd_count_add(&call->xsd->watch_counts, domid, 1);
	xsd_conn_ack(call->conn, call->req);
	xsd_watch_first(watcher, watch);
	return 0;
}

static int do_unwatch(struct call *call)
{
	struct xsd_watcher *watcher = &call->conn->watcher;
	int ret;

	ret = xsd_watch_del(&call->xsd->watches, watcher, call->req->arg[0], call->req->arg[1]);
	if (!ret)
		xsd_count_add(&call->xsd->watch_counts, watcher->cred.domid, -1);
	return ack(call, ret);
}

static int do_reset_watches(struct call *call)
{
	xsd_conn_drop_watches(call->conn);
	xsd_conn_drop_txns(call->conn);
	return ack(call, 0);
}

/* ---- transactions ---- */

static struct xsd_txn *find_txn(const struct xsd_conn *conn, uint32_t id)
{
	struct xsd_txn *txn;

	HASH_FIND(hh, conn->txns, &id, sizeof(id), txn);
	return txn;
}

static int do_transaction_start(struct call *call)
{
	struct xsd_conn *conn = call->conn;
	unsigned domid = call->op.cred.domid;
	bool privileged = xsd_cred_privileged(&call->op.cred);
	struct xsd_txn *txn;
	char answer[16];
	int len;

	if (call->op.view.txn)
		return -EBUSY;
	if (!privileged &&
	    xsd_count_get(call->xsd->txn_counts, domid) >= (int)call->op.quota->nr_transactions)
		return -ENOSPC;
	/* 0 means none, and a long-lived connection may come round to one still open. */
	while (conn->next_txn_id == 0 || find_txn(conn, conn->next_txn_id))
		conn->next_txn_id++;
	txn = xsd_txn_new(&call->xsd->tree, conn->next_txn_id,
			  privileged ? 0 : XSD_TRANSACTION_NODES);
	if (!txn)
		return -ENOMEM;
	conn->next_txn_id++;
	HASH_ADD(hh, conn->txns, id, sizeof(txn->id), txn);
	xsd_count_add(&call->xsd->txn_counts, domid, 1);
	call->xsd->nr_txns++;
	len = snprintf(answer, sizeof(answer), "%u", txn->id);
	xsd_conn_reply(conn, call->req, answer, (size_t)len + 1);
	return 0;
}

static int do_transaction_end(struct call *call)
{
	const char *how = call->req->arg[0];
	struct xsd_txn *txn = call->op.view.txn;
	int ret = 0;

	if (strcmp(how, "T") != 0 && strcmp(how, "F") != 0)
		return -EINVAL;
	if (!txn)
		return -ENOENT;
	if (how[0] == 'T') {
		if (faulty(&call->xsd->nr_commits, call->xsd->faults.eagain_every))
			ret = -EAGAIN;
		else
			ret = xsd_store_commit(&call->op);
	}
	xsd_conn_drop_txn(call->conn, txn);
	return ack(call, ret);
}

/* ---- domains ---- */

static int arg_domid(const struct call *call, unsigned arg, unsigned *domid)
{
	return xsd_wire_number(call->req->arg[arg], UINT16_MAX, domid);
}

/* A domain, not dom0, that is introduced. */
static int arg_introduced(const struct call *call, unsigned arg, unsigned *domid)
{
	const struct xsd_domain *domain;

	if (arg_domid(call, arg, domid) || *domid == 0)
		return -EINVAL;
	domain = xsd_domain_find(call->xsd, *domid);
	return domain && domain->introduced ? 0 : -ENOENT;
}

/* The frame and the port mean nothing here: the domain's channel is its socket. */
static int do_introduce(struct call *call)
{
	const struct xsd_domain *domain;
	unsigned domid, port;
	int ret;

	if (arg_domid(call, 0, &domid) || domid == 0 || domid >= XSD_DOMIDS ||
	    xsd_wire_number(call->req->arg[2], INT32_MAX, &port) || port == 0 ||
	    !xsd_domain_exists(call->xsd, domid))
		return -EINVAL;
	domain = xsd_domain_find(call->xsd, domid);
	if (domain && domain->introduced) {
		/* A second time: its channel begins anew, as after a kexec or a migration. */
		xsd_domain_reset(call->xsd, domid);
		return ack(call, 0);
	}
	ret = xsd_introduce(call->xsd, domid);
	return ack(call, ret);
}

static int do_release(struct call *call)
{
	unsigned domid;
	int ret;

	ret = arg_introduced(call, 0, &domid);
	if (!ret)
		xsd_domain_drop(call->xsd, domid);
	return ack(call, ret);
}

static int do_resume(struct call *call)
{
	unsigned domid;

	/* Only xenstored that watches for shutdown itself has something to do. */
	return ack(call, arg_introduced(call, 0, &domid));
}

static int do_set_target(struct call *call)
{
	unsigned domid, target;
	int ret;

	if (arg_domid(call, 0, &domid) || arg_domid(call, 1, &target))
		return -EINVAL;
	ret = xsd_domain_set_target(call->xsd, domid, target);
	return ack(call, ret);
}

static int do_get_domain_path(struct call *call)
{
	char answer[32];
	unsigned domid;
	int len;

	if (arg_domid(call, 0, &domid))
		return -EINVAL;
	len = snprintf(answer, sizeof(answer), "/local/domain/%u", domid);
	xsd_conn_reply(call->conn, call->req, answer, (size_t)len + 1);
	return 0;
}

static int do_is_domain_introduced(struct call *call)
{
	const struct xsd_domain *domain;
	unsigned domid;
	bool yes;

	if (arg_domid(call, 0, &domid))
		return -EINVAL;
	domain = xsd_domain_find(call->xsd, domid);
	yes = domid == XSD_DOMID_SELF || (domain && domain->introduced);
	xsd_conn_reply(call->conn, call->req, yes ? "T" : "F", 2);
	return 0;
}

static int do_control(struct call *call)
{
	return xsd_control(call->conn, call->req);
}

/* ---- dispatch ---- */

static const struct op ops[XS_TYPE_COUNT] = {
	[XS_CONTROL] = {"CONTROL", do_control, OP_PRIVILEGED, 1, 0},
	[XS_DIRECTORY] = {"DIRECTORY", do_directory, OP_EXACT, 1, 1},
	[XS_READ] = {"READ", do_read, OP_EXACT, 1, 1},
	[XS_GET_PERMS] = {"GET_PERMS", do_get_perms, OP_EXACT, 1, 1},
	[XS_WATCH] = {"WATCH", do_watch, OP_NO_TXN, 2, 2},
	[XS_UNWATCH] = {"UNWATCH", do_unwatch, OP_NO_TXN, 2, 2},
	[XS_TRANSACTION_START] = {"TRANSACTION_START", do_transaction_start, 0, 0, 0},
	[XS_TRANSACTION_END] = {"TRANSACTION_END", do_transaction_end, OP_EXACT, 1, 1},
	[XS_INTRODUCE] = {"INTRODUCE", do_introduce, OP_PRIVILEGED, 3, 0},
	[XS_RELEASE] = {"RELEASE", do_release, OP_PRIVILEGED | OP_EXACT, 1, 1},
	[XS_GET_DOMAIN_PATH] = {"GET_DOMAIN_PATH", do_get_domain_path, OP_EXACT, 1, 1},
	/* A value may hold zero bytes: what looks like more strings is part of it. */
	[XS_WRITE] = {"WRITE", do_write, 0, 1, 0},
	[XS_MKDIR] = {"MKDIR", do_mkdir, OP_EXACT, 1, 1},
	[XS_RM] = {"RM", do_rm, OP_EXACT, 1, 1},
	[XS_SET_PERMS] = {"SET_PERMS", do_set_perms, 0, 2, 0},
	[XS_IS_DOMAIN_INTRODUCED] = {"IS_DOMAIN_INTRODUCED", do_is_domain_introduced,
				     OP_PRIVILEGED | OP_EXACT, 1, 1},
	[XS_RESUME] = {"RESUME", do_resume, OP_PRIVILEGED | OP_EXACT, 1, 1},
	[XS_SET_TARGET] = {"SET_TARGET", do_set_target, OP_PRIVILEGED, 2, 0},
	[XS_RESET_WATCHES] = {"RESET_WATCHES", do_reset_watches, 0, 0, 0},
	[XS_DIRECTORY_PART] = {"DIRECTORY_PART", do_directory_part, 0, 2, 2},
};

static bool args_ok(const struct op *op, const struct xsd_request *req)
{
	if (req->nr_args < op->min_args || (op->max_args && req->nr_args > op->max_args))
		return false;
	return !(op->flags & OP_EXACT) || req->args_len == req->head.len;
}

/* What is checked before any handler runs, in xenstored's order. */
static int check(struct call *call, const struct op *op)
{
	uint32_t tx_id = call->req->head.tx_id;

	if ((op->flags & OP_PRIVILEGED) && !xsd_cred_privileged(&call->op.cred))
		return -EACCES;
	if (!(op->flags & OP_NO_TXN) && tx_id != 0) {
		call->op.view.txn = find_txn(call->conn, tx_id);
		if (!call->op.view.txn)
			return -ENOENT;
	}
	return args_ok(op, call->req) ? 0 : -EINVAL;
}

void xsd_ops_handle(struct xsd_conn *conn, const struct xsd_request *req)
{
	struct call call = {
		.conn = conn,
		.xsd = conn->xsd,
		.req = req,
		.op =
			{
				.view = {.tree = &conn->xsd->tree},
				.cred = conn->watcher.cred,
				.quota = &conn->xsd->quota,
				.sink = &conn->xsd->watches.sink,
			},
	};
	int ret = -ENOSYS;

	if (req->head.type < ARRAY_SIZE(ops) && ops[req->head.type].handler) {
		const struct op *op = &ops[req->head.type];

		ret = check(&call, op);
		if (!ret)
			ret = op->handler(&call);
	}
	if (ret)
		xsd_conn_error(conn, req, ret);
}
