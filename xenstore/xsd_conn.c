/* SPDX-License-Identifier: MIT */
/*
 * xsd_conn.c: one client's socket: bytes in, requests to xsd_ops.c, replies and events out.
 *
 * Runs in the event base's thread and never blocks. Memory is bounded: input is one buffer; a
 * client that does not take its replies is not read from; one that does not take its events is
 * disconnected at nr_outstanding_bytes.
 */
#include "xenstore/xsd_private.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>
#include <utlist.h>

#include "common/compiler.h"
#include "common/log.h"

/* Requests answered before others get their turn. */
#define REQUESTS_A_TURN 64
/* Messages in one sendmsg(2). */
#define OUT_IOVECS 16
/* With this much not taken by the client, its further requests wait. */
#define PAUSE_BYTES 65536U
/* dom0's clients carry the events of all domains: what they may leave unread is this many times
 * a domain's quota. */
#define DOM0_OUTSTANDING 16U
/* A domain's sockets open at once; dom0 runs many tools. */
#define DOMAIN_CONNS 64
#define DOM0_CONNS   1024

static uint64_t now_usec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000 + (uint64_t)ts.tv_nsec / 1000;
}

static unsigned domid_of(const struct xsd_conn *conn)
{
	return conn->watcher.cred.domid;
}

/* ---- output ---- */

static void out_free(struct xsd_conn *conn, struct xsd_out *out)
{
	if (out->is_event && out->sent == 0)
		HASH_DEL(conn->out_events, out);
	DL_DELETE(conn->out, out);
	conn->out_bytes -= out->len;
	free(out);
}

static size_t pause_bytes(const struct xsd_conn *conn)
{
	return MIN(PAUSE_BYTES, conn->xsd->quota.nr_outstanding_bytes / 2);
}

static size_t max_bytes(const struct xsd_conn *conn)
{
	size_t max = conn->xsd->quota.nr_outstanding_bytes;

	return domid_of(conn) == 0 ? max * DOM0_OUTSTANDING : max;
}

/* It cannot be closed now: somebody may be in the middle of its lists. */
static void doom(struct xsd_conn *conn)
{
	conn->doomed = true;
	event_active(conn->xsd->reaper, 0, 0);
}

/* Wakes the sender: when the socket has room, or when the first message is due. */
static void want_write(struct xsd_conn *conn)
{
	uint64_t now, wait;
	struct timeval tv;

	/* Whoever is in the middle of its requests flushes when they are done. */
	if (!conn->out || conn->closed || conn->in_turn)
		return;
	now = now_usec();
	if (conn->out->due_usec <= now) {
		event_add(conn->writable, NULL);
		return;
	}
	wait = conn->out->due_usec - now;
	tv.tv_sec = (time_t)(wait / 1000000);
	tv.tv_usec = (suseconds_t)(wait % 1000000);
	event_add(conn->timer, &tv);
}

/* Queues a message; NULL if the connection can take no more. */
static struct xsd_out *queue(struct xsd_conn *conn, const struct xsd_sockmsg *head,
			     const void *data, size_t len)
{
	struct xsd_out *out;

	if (conn->closed || conn->doomed)
		return NULL;
	out = malloc(sizeof(*out) + sizeof(*head) + len);
	if (!out) {
		doom(conn);
		return NULL;
	}
	memset(out, 0, sizeof(*out));
	out->len = sizeof(*head) + len;
	memcpy(out->bytes, head, sizeof(*head));
	if (len)
		memcpy(out->bytes + sizeof(*head), data, len);
	DL_APPEND(conn->out, out);
	conn->out_bytes += out->len;
	return out;
}

static void reply(struct xsd_conn *conn, const struct xsd_request *req, uint32_t type,
		  const void *data, size_t len)
{
	struct xsd_sockmsg head = {
		.type = type,
		.req_id = req->head.req_id,
		.tx_id = req->head.tx_id,
		.len = (uint32_t)len,
	};
	struct xsd_out *out = queue(conn, &head, data, len);

	if (out && conn->xsd->faults.delay_usec)
		out->due_usec = now_usec() + conn->xsd->faults.delay_usec;
	want_write(conn);
}

void xsd_conn_reply(struct xsd_conn *conn, const struct xsd_request *req, const void *data,
		    size_t len)
{
	if (len > XENSTORE_PAYLOAD_MAX)
		xsd_conn_error(conn, req, -E2BIG);
	else
		reply(conn, req, req->head.type, data, len);
}

void xsd_conn_ack(struct xsd_conn *conn, const struct xsd_request *req)
{
	xsd_conn_reply(conn, req, "OK", sizeof("OK"));
}

void xsd_conn_error(struct xsd_conn *conn, const struct xsd_request *req, int err)
{
	const char *text = xsd_wire_error(err);

	reply(conn, req, XS_ERROR, text, strlen(text) + 1);
}

/* The watcher's way out: an event that waits already, word for word, is not sent twice. */
static void event_out(struct xsd_watcher *watcher, const char *path, const char *token)
{
	struct xsd_conn *conn = container_of(watcher, struct xsd_conn, watcher);
	size_t path_len = strlen(path) + 1;
	size_t len = path_len + strlen(token) + 1;
	struct xsd_sockmsg head = {.type = XS_WATCH_EVENT, .len = (uint32_t)len};
	char payload[XENSTORE_PAYLOAD_MAX];
	struct xsd_out *out;

	/* Cannot be sent at all; xenstored leaves it out as well. */
	if (len > sizeof(payload))
		return;
	memcpy(payload, path, path_len);
	memcpy(payload + path_len, token, len - path_len);
	HASH_FIND(hh, conn->out_events, payload, len, out);
	/* Each @introduceDomain and @releaseDomain counts. */
	if (out && path[0] != '@')
		return;
	if (conn->out_bytes + sizeof(head) + len > max_bytes(conn)) {
		if (!conn->doomed)
			log_warn("xenstore: domain %u does not take its events, disconnected",
				 domid_of(conn));
		doom(conn);
		return;
	}
	out = queue(conn, &head, payload, len);
	if (!out)
		return;
	out->is_event = true;
	HASH_ADD_KEYPTR(hh, conn->out_events, out->bytes + sizeof(head), len, out);
	want_write(conn);
}

/* The messages that may go now, as one vector. */
static unsigned gather(struct xsd_conn *conn, struct iovec iov[OUT_IOVECS])
{
	uint64_t now = now_usec();
	struct xsd_out *out;
	unsigned nr = 0;

	DL_FOREACH (conn->out, out) {
		if (nr == OUT_IOVECS || out->due_usec > now)
			break;
		iov[nr].iov_base = out->bytes + out->sent;
		iov[nr].iov_len = out->len - out->sent;
		nr++;
	}
	return nr;
}

/* @bytes of the queue have been taken by the socket. */
static void sent(struct xsd_conn *conn, size_t bytes)
{
	struct xsd_out *out;
	size_t part;

	while (bytes) {
		out = conn->out;
		part = MIN(bytes, out->len - out->sent);
		bytes -= part;
		if (out->sent + part == out->len) {
			out_free(conn, out);
			continue;
		}
		if (out->is_event && out->sent == 0)
			HASH_DEL(conn->out_events, out);
		out->sent += part;
	}
}

/* Sends what the socket takes. False if the connection is at its end. */
static bool flush(struct xsd_conn *conn)
{
	struct iovec iov[OUT_IOVECS];
	struct msghdr msg = {.msg_iov = iov};
	ssize_t ret;

	while ((msg.msg_iovlen = gather(conn, iov)) > 0) {
		ret = sendmsg(conn->fd, &msg, MSG_NOSIGNAL | MSG_DONTWAIT);
		if (ret < 0 && errno == EINTR)
			continue;
		if (ret < 0 && errno != EAGAIN)
			return false;
		if (ret < 0)
			break;
		sent(conn, (size_t)ret);
	}
	want_write(conn);
	return true;
}

/* ---- input ---- */

/* Answers the requests that are in the buffer. False if what is there is no request. */
static bool handle_input(struct xsd_conn *conn)
{
	struct xsd_request req;
	unsigned turn;
	size_t at = 0;
	ssize_t len = 0;

	conn->in_turn = true;
	for (turn = 0; turn < REQUESTS_A_TURN && !conn->closed && !conn->doomed; turn++) {
		if (conn->out_bytes > pause_bytes(conn)) {
			conn->paused = true;
			break;
		}
		len = xsd_wire_parse(conn->in + at, conn->in_len - at, &req);
		if (len <= 0)
			break;
		at += (size_t)len;
		xsd_ops_handle(conn, &req);
	}
	conn->in_turn = false;
	memmove(conn->in, conn->in + at, conn->in_len - at);
	conn->in_len -= at;
	/* Whole requests may be left, of which the socket will not tell. */
	if (turn == REQUESTS_A_TURN && !conn->closed)
		event_active(conn->readable, EV_TIMEOUT, 0);
	return len >= 0;
}

/* Reads on from a client that has taken its replies. */
static void resume(struct xsd_conn *conn)
{
	if (!conn->paused || conn->out_bytes > pause_bytes(conn) / 2)
		return;
	conn->paused = false;
	event_add(conn->readable, NULL);
	/* For what has been read already. */
	event_active(conn->readable, EV_TIMEOUT, 0);
}

/* False if the client is gone or there is an error. */
static bool fill(struct xsd_conn *conn)
{
	ssize_t ret;

	if (conn->in_len == sizeof(conn->in))
		return true;
	do
		ret = read(conn->fd, conn->in + conn->in_len, sizeof(conn->in) - conn->in_len);
	while (ret < 0 && errno == EINTR);
	if (ret < 0)
		return errno == EAGAIN;
	conn->in_len += (size_t)ret;
	return ret > 0;
}

static void on_readable(evutil_socket_t fd, short what, void *arg)
{
	struct xsd_conn *conn = arg;
	bool ok;

	if (conn->closed || conn->doomed)
		return;
	if ((what & EV_READ) && !fill(conn)) {
		xsd_conn_close(conn);
		return;
	}
	ok = handle_input(conn);
	if (conn->closed)
		return;
	/* What was asked before the end gets its answer. */
	if (!flush(conn) || !ok) {
		xsd_conn_close(conn);
		return;
	}
	if (conn->paused)
		event_del(conn->readable);
	resume(conn);
}

static void on_writable(evutil_socket_t fd, short what, void *arg)
{
	struct xsd_conn *conn = arg;

	if (conn->closed || conn->doomed)
		return;
	if (flush(conn))
		resume(conn);
	else
		xsd_conn_close(conn);
}

/* ---- life ---- */

void xsd_conn_drop_txn(struct xsd_conn *conn, struct xsd_txn *txn)
{
	HASH_DEL(conn->txns, txn);
	xsd_txn_free(txn);
	xsd_count_add(&conn->xsd->txn_counts, domid_of(conn), -1);
	conn->xsd->nr_txns--;
}

void xsd_conn_drop_txns(struct xsd_conn *conn)
{
	struct xsd_txn *txn, *next;

	HASH_ITER (hh, conn->txns, txn, next)
		xsd_conn_drop_txn(conn, txn);
}

void xsd_conn_drop_watches(struct xsd_conn *conn)
{
	xsd_count_add(&conn->xsd->watch_counts, domid_of(conn), -(int)conn->watcher.nr_watches);
	xsd_watcher_reset(&conn->xsd->watches, &conn->watcher);
}

static void conn_free(struct xsd_conn *conn)
{
	if (conn->readable)
		event_free(conn->readable);
	if (conn->writable)
		event_free(conn->writable);
	if (conn->timer)
		event_free(conn->timer);
	free(conn);
}

void xsd_conn_close(struct xsd_conn *conn)
{
	struct xsd *xsd = conn->xsd;

	if (conn->closed)
		return;
	conn->closed = true;
	event_del(conn->readable);
	event_del(conn->writable);
	event_del(conn->timer);
	close(conn->fd);
	while (conn->out)
		out_free(conn, conn->out);
	xsd_conn_drop_txns(conn);
	xsd_conn_drop_watches(conn);
	xsd_watcher_remove(&xsd->watches, &conn->watcher);
	xsd_count_add(&xsd->conn_counts, domid_of(conn), -1);
	DL_DELETE(xsd->conns, conn);
	/* The caller may be in the middle of one of its requests. */
	DL_APPEND(xsd->graveyard, conn);
	event_active(xsd->reaper, 0, 0);
}

void xsd_conn_reap(struct xsd *xsd)
{
	struct xsd_conn *conn, *next;

	DL_FOREACH_SAFE (xsd->conns, conn, next)
		if (conn->doomed)
			xsd_conn_close(conn);
	DL_FOREACH_SAFE (xsd->graveyard, conn, next) {
		DL_DELETE(xsd->graveyard, conn);
		conn_free(conn);
	}
}

int xsd_conn_accept(struct xsd *xsd, int fd, unsigned domid)
{
	struct xsd_domain *domain = xsd_domain_find(xsd, domid);
	struct xsd_conn *conn = NULL;
	int ret = -EUSERS;

	if (xsd_count_get(xsd->conn_counts, domid) >= (domid ? DOMAIN_CONNS : DOM0_CONNS))
		goto err;
	ret = -ENOMEM;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		goto err;
	conn->xsd = xsd;
	conn->fd = fd;
	conn->next_txn_id = 1;
	conn->watcher.cred.domid = domid;
	conn->watcher.cred.target = domain ? domain->target : XSD_NO_TARGET;
	conn->watcher.event = event_out;
	conn->readable = event_new(xsd->base, fd, EV_READ | EV_PERSIST, on_readable, conn);
	conn->writable = event_new(xsd->base, fd, EV_WRITE, on_writable, conn);
	conn->timer = event_new(xsd->base, -1, 0, on_writable, conn);
	if (!conn->readable || !conn->writable || !conn->timer)
		goto err;
	if (event_add(conn->readable, NULL))
		goto err;
	xsd_watcher_add(&xsd->watches, &conn->watcher);
	xsd_count_add(&xsd->conn_counts, domid, 1);
	DL_APPEND(xsd->conns, conn);
	return 0;
err:
	if (conn)
		conn_free(conn);
	close(fd);
	return ret;
}
