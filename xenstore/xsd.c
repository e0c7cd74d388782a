/* SPDX-License-Identifier: MIT */
/*
 * xsd.c: the server as a whole: its sockets, and the domains it knows.
 *
 * Everything in the event base's thread; nothing blocks but the connect(2) by which xsd_listen()
 * sees whether a socket it finds has a live server.
 */
#include "xenstore/xsd.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "common/compiler.h"
#include "common/log.h"
#include "xenstore/xsd_private.h"

#define LISTEN_BACKLOG 64
/* Out of file descriptors: how long new clients wait. */
static const struct timeval retry_pause = {.tv_usec = 200000};

/* ---- domains ---- */

struct xsd_domain *xsd_domain_find(const struct xsd *xsd, unsigned domid)
{
	struct xsd_domain *domain;

	HASH_FIND(hh, xsd->domains, &domid, sizeof(domid), domain);
	return domain;
}

static struct xsd_domain *domain_get(struct xsd *xsd, unsigned domid)
{
	struct xsd_domain *domain = xsd_domain_find(xsd, domid);

	if (domain)
		return domain;
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return NULL;
	domain->domid = domid;
	domain->target = XSD_NO_TARGET;
	HASH_ADD(hh, xsd->domains, domid, sizeof(domain->domid), domain);
	return domain;
}

static void domain_free(struct xsd *xsd, struct xsd_domain *domain)
{
	HASH_DEL(xsd->domains, domain);
	free(domain);
}

bool xsd_domain_exists(const struct xsd *xsd, unsigned domid)
{
	if (domid == 0)
		return true;
	if (domid >= XSD_DOMIDS)
		return false;
	return !xsd->ops.domain_exists || xsd->ops.domain_exists(xsd->ops.arg, domid);
}

static void set_target(struct xsd *xsd, struct xsd_domain *domain, int target)
{
	struct xsd_conn *conn;

	domain->target = target;
	DL_FOREACH (xsd->conns, conn)
		if (conn->watcher.cred.domid == domain->domid)
			conn->watcher.cred.target = target;
}

int xsd_domain_set_target(struct xsd *xsd, unsigned domid, unsigned target)
{
	struct xsd_domain *domain = xsd_domain_find(xsd, domid);
	struct xsd_domain *target_domain = xsd_domain_find(xsd, target);

	if (!domain || !domain->introduced || !target_domain || !target_domain->introduced)
		return -ENOENT;
	set_target(xsd, domain, (int)target);
	return 0;
}

void xsd_domain_reset(struct xsd *xsd, unsigned domid)
{
	struct xsd_conn *conn;

	DL_FOREACH (xsd->conns, conn) {
		if (conn->watcher.cred.domid == domid) {
			xsd_conn_drop_watches(conn);
			xsd_conn_drop_txns(conn);
		}
	}
}

/* Nothing anywhere may count for a later domain of this number. */
static void forget_everywhere(struct xsd *xsd, unsigned domid)
{
	struct xsd_domain *other, *next;
	struct xsd_conn *conn;
	struct xsd_txn *txn;

	DL_FOREACH (xsd->conns, conn)
		for (txn = conn->txns; txn; txn = txn->hh.next)
			xsd_txn_forget(txn, domid);
	xsd_store_forget(&xsd->tree, domid, &xsd->watches.sink);
	xsd_watch_forget(&xsd->watches, domid);
	HASH_ITER (hh, xsd->domains, other, next)
		if (other->target == (int)domid)
			set_target(xsd, other, XSD_NO_TARGET);
}

void xsd_domain_drop(struct xsd *xsd, unsigned domid)
{
	struct xsd_domain *domain = xsd_domain_find(xsd, domid);
	struct xsd_conn *conn, *next;
	bool introduced = domain && domain->introduced;

	DL_FOREACH_SAFE (xsd->conns, conn, next)
		if (conn->watcher.cred.domid == domid)
			xsd_conn_close(conn);
	forget_everywhere(xsd, domid);
	if (domain)
		domain_free(xsd, domain);
	if (introduced)
		xsd_watch_special(&xsd->watches, XSD_RELEASE_DOMAIN);
}

int xsd_introduce(struct xsd *xsd, unsigned domid)
{
	struct xsd_domain *domain;

	if (domid == 0 || domid >= XSD_DOMIDS || !xsd_domain_exists(xsd, domid))
		return -EINVAL;
	domain = domain_get(xsd, domid);
	if (!domain)
		return -ENOMEM;
	if (domain->introduced)
		return 0;
	domain->introduced = true;
	xsd_watch_special(&xsd->watches, XSD_INTRODUCE_DOMAIN);
	return 0;
}

/* ---- sockets ---- */

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct xsd_listener *listener = arg;

	event_add(listener->event, NULL);
}

static void on_client(evutil_socket_t fd, short what, void *arg)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	struct xsd_listener *listener = arg;
	int client, ret;

	client = accept4(fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (client >= 0) {
		ret = xsd_conn_accept(listener->xsd, client, listener->domid);
		if (ret)
			log_limited(&limit, LOG_LEVEL_WARN,
				    "xenstore: client of domain %u turned away: %s",
				    listener->domid, strerror(-ret));
		return;
	}
	if (errno != EMFILE && errno != ENFILE && errno != ENOBUFS && errno != ENOMEM)
		return;
	/* The client stays in the queue: without a pause this would be called for ever. */
	log_limited(&limit, LOG_LEVEL_WARN, "xenstore: cannot accept a client: %s",
		    strerror(errno));
	event_del(listener->event);
	event_add(listener->retry, &retry_pause);
}

static void listener_free(struct xsd_listener *listener)
{
	if (!listener)
		return;
	if (listener->event)
		event_free(listener->event);
	if (listener->retry)
		event_free(listener->retry);
	if (listener->fd >= 0) {
		close(listener->fd);
		unlink(listener->path);
	}
	free(listener->path);
	free(listener);
}

/* Is the socket at @addr the rest of a server that has died? */
static bool is_stale(const struct sockaddr_un *addr)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool stale;

	if (fd < 0)
		return false;
	stale = connect(fd, (const struct sockaddr *)addr, sizeof(*addr)) < 0 &&
		errno == ECONNREFUSED;
	close(fd);
	return stale;
}

static int bind_socket(int fd, const struct sockaddr_un *addr)
{
	if (bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) == 0)
		return 0;
	if (errno != EADDRINUSE || !is_stale(addr))
		return -errno;
	unlink(addr->sun_path);
	return bind(fd, (const struct sockaddr *)addr, sizeof(*addr)) ? -errno : 0;
}

/* Return: a listening socket at @path, or -errno. */
static int open_socket(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, ret;

	if (strlen(path) >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	strcpy(addr.sun_path, path);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	/* Before bind(2): the file never exists with more. */
	if (fchmod(fd, 0600)) {
		ret = -errno;
		goto err;
	}
	ret = bind_socket(fd, &addr);
	if (ret)
		goto err;
	if (listen(fd, LISTEN_BACKLOG)) {
		ret = -errno;
		unlink(path);
		goto err;
	}
	return fd;
err:
	close(fd);
	return ret;
}

int xsd_listen(struct xsd *xsd, const char *path, unsigned domid)
{
	struct xsd_listener *listener;
	int ret = -ENOMEM;

	if (domid >= XSD_DOMIDS)
		return -EINVAL;
	listener = calloc(1, sizeof(*listener));
	if (!listener || !domain_get(xsd, domid)) {
		free(listener);
		return -ENOMEM;
	}
	listener->xsd = xsd;
	listener->domid = domid;
	listener->fd = -1;
	listener->path = strdup(path);
	if (!listener->path)
		goto err;
	ret = open_socket(path);
	if (ret < 0)
		goto err;
	listener->fd = ret;
	ret = -ENOMEM;
	listener->event =
		event_new(xsd->base, listener->fd, EV_READ | EV_PERSIST, on_client, listener);
	listener->retry = event_new(xsd->base, -1, 0, on_retry, listener);
	if (!listener->event || !listener->retry || event_add(listener->event, NULL))
		goto err;
	DL_APPEND(xsd->listeners, listener);
	return 0;
err:
	listener_free(listener);
	return ret;
}

void xsd_release(struct xsd *xsd, unsigned domid)
{
	struct xsd_listener *listener, *next;

	if (domid == 0)
		return;
	DL_FOREACH_SAFE (xsd->listeners, listener, next) {
		if (listener->domid == domid) {
			DL_DELETE(xsd->listeners, listener);
			listener_free(listener);
		}
	}
	xsd_domain_drop(xsd, domid);
}

/* ---- the whole ---- */

int xsd_write(struct xsd *xsd, const char *path, const char *value)
{
	const struct xsd_op op = {
		.view = {.tree = &xsd->tree},
		.cred = {.domid = 0, .target = XSD_NO_TARGET},
		.quota = &xsd->quota,
		.sink = &xsd->watches.sink,
	};

	return xsd_store_write(&op, path, value, strlen(value));
}

static void on_reap(evutil_socket_t fd, short what, void *arg)
{
	xsd_conn_reap(arg);
}

struct xsd *xsd_new(struct event_base *base, const struct xsd_quota *quota,
		    const struct xsd_ops *ops)
{
	struct xsd *xsd = calloc(1, sizeof(*xsd));
	struct xsd_domain *dom0;

	if (!xsd)
		return NULL;
	xsd->base = base;
	xsd->quota = quota ? *quota : XSD_QUOTA_DEFAULT;
	if (ops)
		xsd->ops = *ops;
	xsd_tree_init(&xsd->tree);
	if (xsd_watch_init(&xsd->watches)) {
		free(xsd);
		return NULL;
	}
	xsd->reaper = event_new(base, -1, 0, on_reap, xsd);
	dom0 = domain_get(xsd, 0);
	if (!xsd->reaper || !dom0 || xsd_store_setup(&xsd->tree)) {
		xsd_free(xsd);
		return NULL;
	}
	dom0->introduced = true;
	return xsd;
}

void xsd_free(struct xsd *xsd)
{
	struct xsd_listener *listener, *next;
	struct xsd_domain *domain, *next_domain;

	if (!xsd)
		return;
	DL_FOREACH_SAFE (xsd->listeners, listener, next)
		listener_free(listener);
	while (xsd->conns)
		xsd_conn_close(xsd->conns);
	xsd_conn_reap(xsd);
	HASH_ITER (hh, xsd->domains, domain, next_domain)
		domain_free(xsd, domain);
	if (xsd->reaper)
		event_free(xsd->reaper);
	xsd_watch_destroy(&xsd->watches);
	xsd_tree_destroy(&xsd->tree);
	xsd_count_free(&xsd->conn_counts);
	xsd_count_free(&xsd->watch_counts);
	xsd_count_free(&xsd->txn_counts);
	free(xsd);
}

void xsd_set_faults(struct xsd *xsd, const struct xsd_faults *faults)
{
	xsd->faults = *faults;
}

void xsd_get_stats(const struct xsd *xsd, struct xsd_stats *stats)
{
	const struct xsd_conn *conn;

	memset(stats, 0, sizeof(*stats));
	stats->nr_nodes = xsd_tree_count(&xsd->tree);
	stats->nr_watches = xsd->watches.nr_watches;
	stats->nr_transactions = xsd->nr_txns;
	DL_FOREACH (xsd->conns, conn)
		stats->nr_connections++;
}
