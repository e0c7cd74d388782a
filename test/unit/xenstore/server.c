/* SPDX-License-Identifier: MIT */
/* server.c: see server.h. */
#include "test/unit/xenstore/server.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/compiler.h"

static const unsigned domids[] = {0, 5, 6};

struct xsd_quota server_quota = XSD_QUOTA_DEFAULT;

static struct {
	char dir[32];
	struct event_base *base;
	struct xsd *xsd;
	pthread_t thread;
	int call[2]; /* the test's end, the server's end */
} server;

struct call {
	int (*fn)(struct xsd *xsd, void *arg);
	void *arg;
	int ret;
};

static void on_call(evutil_socket_t fd, short what, void *arg)
{
	struct call *call;

	ck_assert_int_eq(read(fd, &call, sizeof(call)), sizeof(call));
	call->ret = call->fn(server.xsd, call->arg);
	ck_assert_int_eq(write(fd, &call, sizeof(call)), sizeof(call));
}

int server_call(int (*fn)(struct xsd *xsd, void *arg), void *arg)
{
	struct call call = {.fn = fn, .arg = arg};
	struct call *p = &call;

	ck_assert_int_eq(write(server.call[0], &p, sizeof(p)), sizeof(p));
	ck_assert_int_eq(read(server.call[0], &p, sizeof(p)), sizeof(p));
	return call.ret;
}

static void *run(void *arg)
{
	event_base_dispatch(server.base);
	return NULL;
}

static int stop(struct xsd *xsd, void *arg)
{
	event_base_loopexit(server.base, NULL);
	return 0;
}

const char *server_socket(unsigned domid)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%u", server.dir, domid);
	return path;
}

static struct event *call_event;

void server_setup(void)
{
	unsigned i;

	strcpy(server.dir, "/tmp/test-xsd-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(server.dir));
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, server.call), 0);
	server.base = event_base_new();
	server.xsd = xsd_new(server.base, &server_quota, NULL);
	ck_assert_ptr_nonnull(server.xsd);
	for (i = 0; i < ARRAY_SIZE(domids); i++) {
		ck_assert_int_eq(xsd_listen(server.xsd, server_socket(domids[i]), domids[i]), 0);
		if (domids[i])
			ck_assert_int_eq(xsd_introduce(server.xsd, domids[i]), 0);
	}
	call_event = event_new(server.base, server.call[1], EV_READ | EV_PERSIST, on_call, NULL);
	event_add(call_event, NULL);
	ck_assert_int_eq(pthread_create(&server.thread, NULL, run, NULL), 0);
}

void server_teardown(void)
{
	server_call(stop, NULL);
	pthread_join(server.thread, NULL);
	event_free(call_event);
	xsd_free(server.xsd);
	event_base_free(server.base);
	close(server.call[0]);
	close(server.call[1]);
	/* Empty only if every socket has been removed. */
	ck_assert_int_eq(rmdir(server.dir), 0);
}

static int do_stats(struct xsd *xsd, void *arg)
{
	xsd_get_stats(xsd, arg);
	return 0;
}

struct xsd_stats server_stats(void)
{
	struct xsd_stats stats;

	server_call(do_stats, &stats);
	return stats;
}

static int do_release(struct xsd *xsd, void *arg)
{
	xsd_release(xsd, *(unsigned *)arg);
	return 0;
}

int server_release(unsigned domid)
{
	return server_call(do_release, &domid);
}

static int do_faults(struct xsd *xsd, void *arg)
{
	xsd_set_faults(xsd, arg);
	return 0;
}

void server_faults(struct xsd_faults faults)
{
	server_call(do_faults, &faults);
}

void server_wait_connections(unsigned nr)
{
	unsigned i;

	for (i = 0; i < 2000 && server_stats().nr_connections != nr; i++)
		usleep(1000);
	ck_assert_uint_eq(server_stats().nr_connections, nr);
}

struct xs_handle *server_open(unsigned domid)
{
	struct xs_handle *xs;

	setenv("XENSTORED_PATH", server_socket(domid), 1);
	xs = xs_open(0);
	ck_assert_ptr_nonnull(xs);
	return xs;
}

int server_connect(unsigned domid)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = 10};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", server_socket(domid));
	ck_assert_int_eq(connect(fd, (struct sockaddr *)&addr, sizeof(addr)), 0);
	ck_assert_int_eq(setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience)), 0);
	return fd;
}

void wire_send(int fd, uint32_t type, uint32_t tx_id, const void *payload, uint32_t len)
{
	struct xsd_sockmsg head = {.type = type, .req_id = 77, .tx_id = tx_id, .len = len};
	char bytes[XSD_FRAME_BYTES];

	ck_assert_uint_le(len, XENSTORE_PAYLOAD_MAX);
	memcpy(bytes, &head, sizeof(head));
	if (len)
		memcpy(bytes + sizeof(head), payload, len);
	ck_assert_int_eq(send(fd, bytes, sizeof(head) + len, MSG_NOSIGNAL),
			 (ssize_t)(sizeof(head) + len));
}

static bool recv_all(int fd, void *data, size_t len)
{
	ssize_t ret;

	while (len) {
		ret = recv(fd, data, len, 0);
		if (ret < 0 && errno != ECONNRESET)
			ck_abort_msg("no answer: %s", strerror(errno));
		if (ret <= 0)
			return false;
		data = (char *)data + ret;
		len -= (size_t)ret;
	}
	return true;
}

bool wire_recv(int fd, struct reply *reply)
{
	if (!recv_all(fd, &reply->head, sizeof(reply->head)))
		return false;
	ck_assert_uint_le(reply->head.len, XENSTORE_PAYLOAD_MAX);
	reply->payload[reply->head.len] = '\0';
	return recv_all(fd, reply->payload, reply->head.len);
}

const char *wire_call(int fd, uint32_t type, uint32_t tx_id, const void *payload, uint32_t len,
		      struct reply *reply)
{
	wire_send(fd, type, tx_id, payload, len);
	do
		ck_assert(wire_recv(fd, reply));
	while (reply->head.type == XS_WATCH_EVENT);
	ck_assert_uint_eq(reply->head.req_id, 77);
	ck_assert_uint_eq(reply->head.tx_id, tx_id);
	if (reply->head.type == XS_ERROR)
		return reply->payload;
	ck_assert_uint_eq(reply->head.type, type);
	return "";
}
