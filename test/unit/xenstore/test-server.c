/* SPDX-License-Identifier: MIT */
/* test-server.c: the server over its sockets: every request, limits, hostile clients, domains. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "test/unit/xenstore/server.h"

#define BYTES(s) (s), sizeof(s) - 1

static struct reply answer;

/* ---- every request ---- */

static const struct {
	unsigned domid;
	uint32_t type;
	uint32_t tx_id;
	const char *payload;
	uint32_t len;
	const char *error; /* "" for none */
	const char *reply; /* compared up to its end; NULL: not looked at */
} requests[] = {
	{0, XS_READ, 0, BYTES("/n\0"), "", "value"},
	{0, XS_READ, 0, BYTES("/absent\0"), "ENOENT", NULL},
	{0, XS_READ, 0, BYTES("/n"), "EINVAL", NULL},
	{0, XS_READ, 0, BYTES("/n\0x"), "EINVAL", NULL},
	{0, XS_READ, 0, BYTES("/n\0/n\0"), "EINVAL", NULL},
	{0, XS_READ, 0, BYTES(""), "EINVAL", NULL},
	{0, XS_READ, 0, BYTES("\0"), "EINVAL", NULL},
	{0, XS_READ, 99, BYTES("/n\0"), "ENOENT", NULL},
	{5, XS_READ, 0, BYTES("/n\0"), "EACCES", NULL},
	{5, XS_READ, 0, BYTES("name\0"), "", "five"},
	{0, XS_READ, 0, BYTES("name\0"), "ENOENT", NULL},
	{0, XS_DIRECTORY, 0, BYTES("/\0"), "", "tool"},
	{5, XS_DIRECTORY, 0, BYTES("/\0"), "EACCES", NULL},
	{0, XS_DIRECTORY_PART, 0,
	 BYTES("/n\0"
	       "0\0"),
	 "", NULL},
	{0, XS_DIRECTORY_PART, 0, BYTES("/n\0"), "EINVAL", NULL},
	{0, XS_DIRECTORY_PART, 0, BYTES("/n\0-1\0"), "EINVAL", NULL},
	{0, XS_DIRECTORY_PART, 0,
	 BYTES("/absent\0"
	       "0\0"),
	 "ENOENT", NULL},
	{0, XS_GET_PERMS, 0, BYTES("/n\0"), "", "n0"},
	{5, XS_GET_PERMS, 0, BYTES("/n\0"), "EACCES", NULL},
	{0, XS_SET_PERMS, 0, BYTES("/n\0r0\0b5\0"), "", "OK"},
	{0, XS_SET_PERMS, 0, BYTES("/n\0"), "EINVAL", NULL},
	{0, XS_SET_PERMS, 0, BYTES("/n\0x0\0"), "EINVAL", NULL},
	{0, XS_SET_PERMS, 0, BYTES("/n\0n40000\0"), "ENOENT", NULL},
	{0, XS_SET_PERMS, 0, BYTES("/absent\0n0\0"), "ENOENT", NULL},
	{5, XS_SET_PERMS, 0, BYTES("/n\0n5\0"), "EACCES", NULL},
	{5, XS_SET_PERMS, 0, BYTES("name\0n6\0"), "EPERM", NULL},
	{5, XS_SET_PERMS, 0, BYTES("name\0n5\0r1\0r2\0r3\0r4\0"), "", "OK"},
	{5, XS_SET_PERMS, 0, BYTES("name\0n5\0r1\0r2\0r3\0r4\0r7\0"), "ENOSPC", NULL},
	{0, XS_SET_PERMS, 0, BYTES("@releaseDomain\0n0\0r5\0"), "", "OK"},
	{5, XS_SET_PERMS, 0, BYTES("@releaseDomain\0n5\0"), "EACCES", NULL},
	{0, XS_SET_PERMS, 0, BYTES("@other\0n0\0"), "EINVAL", NULL},
	{0, XS_WRITE, 0, BYTES("/n\0new"), "", "OK"},
	{0, XS_WRITE, 0, BYTES("/n\0with\0zero\0bytes"), "", "OK"},
	{0, XS_WRITE, 0, BYTES("/n\0"), "", "OK"},
	{0, XS_WRITE, 0, BYTES("/n"), "EINVAL", NULL},
	{0, XS_WRITE, 0, BYTES(""), "EINVAL", NULL},
	{5, XS_WRITE, 0, BYTES("/n\0new"), "EACCES", NULL},
	{5, XS_WRITE, 0, BYTES("made\0new"), "", "OK"},
	{0, XS_MKDIR, 0, BYTES("/n/made\0"), "", "OK"},
	{5, XS_MKDIR, 0, BYTES("/n/made\0"), "EACCES", NULL},
	{0, XS_RM, 0, BYTES("/n\0"), "", "OK"},
	{0, XS_RM, 0, BYTES("/absent\0"), "", "OK"},
	{0, XS_RM, 0, BYTES("/absent/x\0"), "ENOENT", NULL},
	{0, XS_RM, 0, BYTES("/\0"), "EINVAL", NULL},
	{5, XS_RM, 0, BYTES("/n\0"), "EACCES", NULL},
	{5, XS_WATCH, 0, BYTES("name\0t\0"), "", "OK"},
	{0, XS_WATCH, 0, BYTES("/n\0"), "EINVAL", NULL},
	{0, XS_WATCH, 0, BYTES("/n\0t\0u\0"), "EINVAL", NULL},
	{0, XS_WATCH, 99, BYTES("/n\0t\0"), "", "OK"},
	{0, XS_UNWATCH, 0, BYTES("/n\0t\0"), "ENOENT", NULL},
	{0, XS_UNWATCH, 0, BYTES("/n\0"), "EINVAL", NULL},
	{0, XS_TRANSACTION_START, 0, BYTES("\0"), "", "1"},
	{5, XS_TRANSACTION_START, 0, BYTES(""), "", "1"},
	{0, XS_TRANSACTION_START, 99, BYTES("\0"), "ENOENT", NULL},
	{0, XS_TRANSACTION_END, 0, BYTES("T\0"), "ENOENT", NULL},
	{0, XS_TRANSACTION_END, 0, BYTES("X\0"), "EINVAL", NULL},
	{0, XS_TRANSACTION_END, 5, BYTES("T\0"), "ENOENT", NULL},
	{0, XS_INTRODUCE, 0,
	 BYTES("7\0"
	       "1\0"
	       "2\0"),
	 "", "OK"},
	{0, XS_INTRODUCE, 0,
	 BYTES("7\0-1\0"
	       "2\0"),
	 "", "OK"},
	{0, XS_INTRODUCE, 0,
	 BYTES("5\0"
	       "1\0"
	       "2\0"),
	 "", "OK"},
	{0, XS_INTRODUCE, 0,
	 BYTES("0\0"
	       "1\0"
	       "2\0"),
	 "EINVAL", NULL},
	{0, XS_INTRODUCE, 0,
	 BYTES("7\0"
	       "1\0"
	       "0\0"),
	 "EINVAL", NULL},
	{0, XS_INTRODUCE, 0,
	 BYTES("7\0"
	       "1\0"),
	 "EINVAL", NULL},
	{0, XS_INTRODUCE, 0,
	 BYTES("32752\0"
	       "1\0"
	       "2\0"),
	 "EINVAL", NULL},
	{5, XS_INTRODUCE, 0,
	 BYTES("7\0"
	       "1\0"
	       "2\0"),
	 "EACCES", NULL},
	{0, XS_RELEASE, 0, BYTES("6\0"), "", "OK"},
	{0, XS_RELEASE, 0, BYTES("7\0"), "ENOENT", NULL},
	{0, XS_RELEASE, 0, BYTES("0\0"), "EINVAL", NULL},
	{5, XS_RELEASE, 0, BYTES("6\0"), "EACCES", NULL},
	{0, XS_RESUME, 0, BYTES("5\0"), "", "OK"},
	{0, XS_RESUME, 0, BYTES("7\0"), "ENOENT", NULL},
	{5, XS_RESUME, 0, BYTES("5\0"), "EACCES", NULL},
	{0, XS_SET_TARGET, 0,
	 BYTES("5\0"
	       "6\0"),
	 "", "OK"},
	{0, XS_SET_TARGET, 0,
	 BYTES("5\0"
	       "7\0"),
	 "ENOENT", NULL},
	{0, XS_SET_TARGET, 0, BYTES("5\0"), "EINVAL", NULL},
	{5, XS_SET_TARGET, 0,
	 BYTES("5\0"
	       "6\0"),
	 "EACCES", NULL},
	{5, XS_GET_DOMAIN_PATH, 0, BYTES("6\0"), "", "/local/domain/6"},
	{0, XS_GET_DOMAIN_PATH, 0, BYTES("x\0"), "EINVAL", NULL},
	{0, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("5\0"), "", "T"},
	{0, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("7\0"), "", "F"},
	{0, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("0\0"), "", "T"},
	{0, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("32752\0"), "", "T"},
	{5, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("5\0"), "EACCES", NULL},
	{5, XS_RESET_WATCHES, 0, BYTES("\0"), "", "OK"},
	{0, XS_CONTROL, 0, BYTES("help\0"), "", "check"},
	{0, XS_CONTROL, 0, BYTES("print\0text\n\0"), "", "OK"},
	{0, XS_CONTROL, 0, BYTES("check\0"), "", "OK"},
	{0, XS_CONTROL, 0, BYTES("quota\0"), "", "Quota settings:"},
	{0, XS_CONTROL, 0,
	 BYTES("quota\0"
	       "5\0"),
	 "", "Domain 5:"},
	{0, XS_CONTROL, 0,
	 BYTES("quota\0"
	       "7\0"),
	 "ENOENT", NULL},
	{0, XS_CONTROL, 0,
	 BYTES("quota\0set\0nodes\0"
	       "1\0"),
	 "EINVAL", NULL},
	{0, XS_CONTROL, 0, BYTES("live-update\0"), "EINVAL", NULL},
	{0, XS_CONTROL, 0, BYTES("\0"), "EINVAL", NULL},
	{0, XS_CONTROL, 0, BYTES(""), "EINVAL", NULL},
	{5, XS_CONTROL, 0, BYTES("help\0"), "EACCES", NULL},
	/* No requests, whoever sends them. */
	{0, XS_WATCH_EVENT, 0, BYTES("/n\0t\0"), "ENOSYS", NULL},
	{0, XS_ERROR, 0, BYTES("EINVAL\0"), "ENOSYS", NULL},
	{0, 20, 0, BYTES("\0"), "ENOSYS", NULL},
	{5, 23, 0, BYTES("\0"), "ENOSYS", NULL},
	{5, 0xffff, 0, BYTES("\0"), "ENOSYS", NULL},
	{5, 0xffffffff, 0, BYTES(""), "ENOSYS", NULL},
};

/* /n of dom0; /local/domain/5 of domain 5, with a name. */
static void furnish(void)
{
	struct xs_handle *xs = server_open(0);
	struct xs_permissions perms = {.id = 5};

	ck_assert(xs_write(xs, 0, "/n", "value", 5));
	ck_assert(xs_mkdir(xs, 0, "/local/domain/5"));
	ck_assert(xs_set_permissions(xs, 0, "/local/domain/5", &perms, 1));
	ck_assert(xs_write(xs, 0, "/local/domain/5/name", "five", 4));
	xs_close(xs);
	server_wait_connections(0);
}

START_TEST(every_request_is_answered_as_xenstored_does)
{
	int fd;

	furnish();
	fd = server_connect(requests[_i].domid);
	ck_assert_str_eq(wire_call(fd, requests[_i].type, requests[_i].tx_id, requests[_i].payload,
				   requests[_i].len, &answer),
			 requests[_i].error);
	if (requests[_i].reply)
		ck_assert_int_eq(
			strncmp(answer.payload, requests[_i].reply, strlen(requests[_i].reply)), 0);
	/* And the connection goes on. */
	ck_assert_str_eq(wire_call(fd, XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	close(fd);
}
END_TEST

/* ---- framing ---- */

START_TEST(requests_split_at_each_byte_are_put_together)
{
	char bytes[64];
	struct xsd_sockmsg head = {.type = XS_WRITE, .req_id = 1, .len = 5};
	int fd = server_connect(0);
	size_t i;

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), "/n\0vw", 5);
	for (i = 0; i < sizeof(head) + 5; i++) {
		ck_assert_int_eq(send(fd, bytes + i, 1, 0), 1);
		usleep(500);
	}
	ck_assert(wire_recv(fd, &answer));
	ck_assert_uint_eq(answer.head.type, XS_WRITE);
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/n\0"), &answer), "");
	ck_assert_str_eq(answer.payload, "vw");
	close(fd);
}
END_TEST

START_TEST(many_requests_at_once_are_answered_in_order)
{
	enum { MANY = 500 };
	int fd = server_connect(0);
	char bytes[MANY * 32];
	struct xsd_sockmsg head = {.type = XS_GET_DOMAIN_PATH};
	char text[32];
	size_t len = 0;
	unsigned i;

	for (i = 0; i < MANY; i++) {
		head.req_id = i;
		head.len = (uint32_t)sprintf(text, "%u", i) + 1;
		memcpy(bytes + len, &head, sizeof(head));
		memcpy(bytes + len + sizeof(head), text, head.len);
		len += sizeof(head) + head.len;
	}
	ck_assert_int_eq(send(fd, bytes, len, 0), (ssize_t)len);
	for (i = 0; i < MANY; i++) {
		ck_assert(wire_recv(fd, &answer));
		ck_assert_uint_eq(answer.head.req_id, i);
		sprintf(text, "/local/domain/%u", i);
		ck_assert_str_eq(answer.payload, text);
	}
	close(fd);
}
END_TEST

START_TEST(a_frame_too_long_ends_its_own_connection_only)
{
	struct xsd_sockmsg head = {.type = XS_READ, .len = XENSTORE_PAYLOAD_MAX + 1};
	int bad = server_connect(5), good = server_connect(5);

	/* What was asked before still gets its answer. */
	wire_send(bad, XS_GET_DOMAIN_PATH, 0, BYTES("3\0"));
	ck_assert_int_eq(send(bad, &head, sizeof(head), 0), sizeof(head));
	ck_assert(wire_recv(bad, &answer));
	ck_assert_str_eq(answer.payload, "/local/domain/3");
	ck_assert(!wire_recv(bad, &answer));
	ck_assert_str_eq(wire_call(good, XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	close(bad);
	close(good);
}
END_TEST

START_TEST(a_client_that_leaves_in_the_middle_leaves_nothing)
{
	struct xsd_stats before = server_stats(), after;
	int fd = server_connect(5);

	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_WATCH, 0, BYTES("x\0t\0"), &answer), "");
	ck_assert_uint_eq(server_stats().nr_transactions, 1);
	ck_assert_uint_eq(server_stats().nr_watches, 1);
	ck_assert_int_eq(send(fd, "\1\0\0\0half", 8, 0), 8);
	close(fd);
	server_wait_connections(0);
	after = server_stats();
	ck_assert_mem_eq(&before, &after, sizeof(before));
}
END_TEST

/* ---- clients that do not read ---- */

static bool can_send(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLOUT};

	return poll(&pfd, 1, 200) == 1 && !(pfd.revents & (POLLERR | POLLHUP));
}

START_TEST(replies_wait_for_a_client_that_asks_much_before_it_reads)
{
	char value[2000], request[32] = {0};
	struct xsd_sockmsg head = {.type = XS_READ, .len = 3};
	struct xs_handle *xs = server_open(0);
	int fd = server_connect(0);
	unsigned asked = 0, i;
	size_t off = 0;
	ssize_t ret;

	memset(value, 'v', sizeof(value));
	ck_assert(xs_write(xs, 0, "/n", value, sizeof(value)));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	/* Until the server has stopped reading: it must, long before this many. */
	while (asked < 200000 && can_send(fd)) {
		head.req_id = asked;
		memcpy(request, &head, sizeof(head));
		memcpy(request + sizeof(head), "/n", 3);
		ret = send(fd, request + off, sizeof(head) + 3 - off, MSG_NOSIGNAL);
		if (ret < 0)
			continue;
		off += (size_t)ret;
		if (off == sizeof(head) + 3) {
			off = 0;
			asked++;
		}
	}
	ck_assert_uint_lt(asked, 200000);
	/* Others are served meanwhile. */
	ck_assert(xs_write(xs, 0, "/other", "x", 1));
	fcntl(fd, F_SETFL, 0);
	for (i = 0; i < asked; i++) {
		ck_assert(wire_recv(fd, &answer));
		ck_assert_uint_eq(answer.head.req_id, i);
		ck_assert_uint_eq(answer.head.len, sizeof(value));
	}
	close(fd);
	xs_close(xs);
}
END_TEST

START_TEST(an_event_that_waits_already_is_not_sent_again)
{
	struct xs_handle *xs = server_open(0);
	int fd = server_connect(0);
	unsigned i, events = 0;

	ck_assert_str_eq(wire_call(fd, XS_WATCH, 0, BYTES("/n\0t\0"), &answer), "");
	for (i = 0; i < 60000; i++)
		ck_assert(xs_write(xs, 0, "/n", "v", 1));
	ck_assert_uint_eq(server_stats().nr_connections, 2);
	/* The end is marked by an event of another kind. */
	ck_assert(xs_write(xs, 0, "/n/last", "v", 1));
	do {
		ck_assert(wire_recv(fd, &answer));
		events++;
	} while (strcmp(answer.payload, "/n/last") != 0);
	ck_assert_uint_gt(events, 1);
	ck_assert_uint_lt(events, 30000);
	close(fd);
	xs_close(xs);
}
END_TEST

START_TEST(a_domain_that_does_not_take_its_events_is_disconnected)
{
	struct xs_handle *xs;
	char path[64];
	unsigned i;
	int fd;

	furnish();
	xs = server_open(0);
	fd = server_connect(5);
	ck_assert_str_eq(wire_call(fd, XS_WATCH, 0, BYTES("/local/domain/5\0t\0"), &answer), "");
	for (i = 0; i < 100000 && (i % 1000 || server_stats().nr_connections == 2); i++) {
		/* Different each time, or they would be one. */
		sprintf(path, "/local/domain/5/some/longer/name/so/that/it/takes/less/%u", i);
		ck_assert(xs_rm(xs, 0, "/local/domain/5/some"));
		ck_assert(xs_write(xs, 0, path, "v", 1));
	}
	ck_assert_uint_lt(i, 100000);
	ck_assert_uint_eq(server_stats().nr_watches, 0);
	ck_assert(xs_write(xs, 0, "/other", "x", 1));
	close(fd);
	xs_close(xs);
}
END_TEST

/* ---- directories ---- */

START_TEST(a_large_directory_is_listed_whole)
{
	enum { MANY = 2000 };
	struct xs_handle *xs = server_open(0);
	char path[64];
	unsigned nr, i;
	char **names;

	/* 4.17's libxenstore asks in parts when one reply cannot hold all. */
	for (i = 0; i < MANY; i++) {
		sprintf(path, "/d/%0*u", (int)(i % 7) + 4, i);
		ck_assert(xs_write(xs, 0, path, "", 0));
	}
	names = xs_directory(xs, 0, "/d", &nr);
	ck_assert_ptr_nonnull(names);
	ck_assert_uint_eq(nr, MANY);
	for (i = 0; i < MANY; i++)
		ck_assert_uint_eq((unsigned)atoi(names[i]), i);
	free(names);
	xs_close(xs);
}
END_TEST

START_TEST(the_parts_of_a_directory_say_if_it_changed)
{
	struct xs_handle *xs = server_open(0);
	int fd = server_connect(0);
	char generation[32], name[300] = "/d/";
	unsigned i;

	memset(name + 3, 'x', 255);
	for (i = 0; i < 40; i++) {
		sprintf(name + 200, "%u", i);
		ck_assert(xs_write(xs, 0, name, "", 0));
	}
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY, 0, BYTES("/d\0"), &answer), "E2BIG");
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0,
				   BYTES("/d\0"
					 "0\0"),
				   &answer),
			 "");
	strcpy(generation, answer.payload);
	/* Whole names only, and no empty one as this is not the end. */
	ck_assert_int_eq(answer.payload[answer.head.len - 1], '\0');
	ck_assert_int_ne(answer.payload[answer.head.len - 2], '\0');
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0,
				   BYTES("/d\0"
					 "0\0"),
				   &answer),
			 "");
	ck_assert_str_eq(answer.payload, generation);
	/* Past the end: nothing but the empty name. */
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0,
				   BYTES("/d\0"
					 "99999\0"),
				   &answer),
			 "");
	ck_assert_uint_eq(answer.head.len, strlen(generation) + 2);
	ck_assert(xs_rm(xs, 0, name));
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0,
				   BYTES("/d\0"
					 "0\0"),
				   &answer),
			 "");
	ck_assert_str_ne(answer.payload, generation);
	close(fd);
	xs_close(xs);
}
END_TEST

START_TEST(a_part_has_room_for_its_end)
{
	struct xs_handle *xs = server_open(0);
	int fd = server_connect(0);
	char path[32], offset[16];
	size_t generation;
	unsigned i;
	int len;

	/* With the generation, here of 4 digits, as long as a reply may be. */
	for (i = 0; i < 510; i++) {
		sprintf(path, "/d/%07u", i);
		ck_assert(xs_write(xs, 0, path, "", 0));
	}
	ck_assert(xs_write(xs, 0, "/d/last-child", "", 0));
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0,
				   "/d\0"
				   "0",
				   5, &answer),
			 "");
	generation = strlen(answer.payload) + 1;
	ck_assert_uint_eq(generation + 510 * 8 + sizeof("last-child"), XENSTORE_PAYLOAD_MAX);
	/* The last name does not fit with the empty one after it. */
	ck_assert_uint_eq(answer.head.len, generation + 510 * 8);
	len = sprintf(offset, "/d%c%u", 0, 510 * 8) + 1;
	ck_assert_str_eq(wire_call(fd, XS_DIRECTORY_PART, 0, offset, (uint32_t)len, &answer), "");
	ck_assert_uint_eq(answer.head.len, generation + sizeof("last-child") + 1);
	ck_assert_str_eq(answer.payload + generation, "last-child");
	close(fd);
	xs_close(xs);
}
END_TEST

/* ---- quotas ---- */

START_TEST(a_domains_connections_share_its_quota_of_watches)
{
	int one = server_connect(5), two = server_connect(5), other = server_connect(6);
	char payload[32];
	unsigned i;
	int len;

	for (i = 0; i < XSD_QUOTA_DEFAULT.nr_watches; i++) {
		len = sprintf(payload, "x%c%u", 0, i) + 1;
		ck_assert_str_eq(
			wire_call(i % 2 ? one : two, XS_WATCH, 0, payload, (uint32_t)len, &answer),
			"");
	}
	ck_assert_str_eq(wire_call(one, XS_WATCH, 0, BYTES("y\0t\0"), &answer), "E2BIG");
	ck_assert_str_eq(wire_call(other, XS_WATCH, 0, BYTES("y\0t\0"), &answer), "");
	ck_assert_str_eq(wire_call(one, XS_UNWATCH, 0,
				   BYTES("x\0"
					 "1\0"),
				   &answer),
			 "");
	ck_assert_str_eq(wire_call(two, XS_WATCH, 0, BYTES("y\0t\0"), &answer), "");
	close(one);
	close(two);
	close(other);
	server_wait_connections(0);
	ck_assert_uint_eq(server_stats().nr_watches, 0);
}
END_TEST

START_TEST(a_domain_has_no_more_transactions_than_its_quota)
{
	int fd = server_connect(5), dom0 = server_connect(0);
	unsigned i;

	for (i = 0; i < XSD_QUOTA_DEFAULT.nr_transactions; i++)
		ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer), "ENOSPC");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_END, 3, BYTES("F\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_END, 3, BYTES("F\0"), &answer), "ENOENT");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 1, BYTES("\0"), &answer), "EBUSY");
	for (i = 0; i < 50; i++)
		ck_assert_str_eq(wire_call(dom0, XS_TRANSACTION_START, 0, BYTES("\0"), &answer),
				 "");
	ck_assert_str_eq(wire_call(fd, XS_RESET_WATCHES, 0, BYTES("\0"), &answer), "");
	ck_assert_uint_eq(server_stats().nr_transactions, 50);
	close(fd);
	close(dom0);
	server_wait_connections(0);
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
}
END_TEST

START_TEST(a_domain_has_no_more_connections_than_fit)
{
	int fds[65], other;
	unsigned i;

	for (i = 0; i < 65; i++)
		fds[i] = server_connect(5);
	ck_assert(!wire_recv(fds[64], &answer));
	ck_assert_str_eq(wire_call(fds[63], XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	other = server_connect(6);
	ck_assert_str_eq(wire_call(other, XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	for (i = 0; i < 65; i++)
		close(fds[i]);
	close(other);
}
END_TEST

/* ---- domains ---- */

/* The next event, as "path token". */
static const char *next_event(int fd)
{
	static char text[2 * XENSTORE_PAYLOAD_MAX + 3];

	ck_assert(wire_recv(fd, &answer));
	ck_assert_uint_eq(answer.head.type, XS_WATCH_EVENT);
	ck_assert_uint_eq(answer.head.req_id, 0);
	ck_assert_uint_eq(answer.head.tx_id, 0);
	snprintf(text, sizeof(text), "%s %s", answer.payload,
		 answer.payload + strlen(answer.payload) + 1);
	return text;
}

START_TEST(a_watch_is_acknowledged_before_its_first_event)
{
	int fd = server_connect(0);

	wire_send(fd, XS_WATCH, 0, BYTES("/n\0t\0"));
	ck_assert(wire_recv(fd, &answer));
	ck_assert_uint_eq(answer.head.type, XS_WATCH);
	ck_assert_str_eq(next_event(fd), "/n t");
	/* Its own changes are events as well, before their acknowledgement. */
	wire_send(fd, XS_WRITE, 0, BYTES("/n\0v"));
	ck_assert_str_eq(next_event(fd), "/n t");
	ck_assert(wire_recv(fd, &answer));
	ck_assert_uint_eq(answer.head.type, XS_WRITE);
	close(fd);
}
END_TEST

START_TEST(domains_that_come_and_go_are_told)
{
	int fd = server_connect(0), tool = server_connect(0);

	wire_call(fd, XS_WATCH, 0, BYTES("@introduceDomain\0i\0"), &answer);
	ck_assert_str_eq(next_event(fd), "@introduceDomain i");
	wire_call(fd, XS_WATCH, 0, BYTES("@releaseDomain\0r\0"), &answer);
	ck_assert_str_eq(next_event(fd), "@releaseDomain r");
	wire_call(tool, XS_INTRODUCE, 0,
		  BYTES("9\0"
			"1\0"
			"1\0"),
		  &answer);
	ck_assert_str_eq(next_event(fd), "@introduceDomain i");
	/* A second time it is no news. */
	wire_call(tool, XS_INTRODUCE, 0,
		  BYTES("9\0"
			"1\0"
			"1\0"),
		  &answer);
	wire_call(tool, XS_RELEASE, 0, BYTES("9\0"), &answer);
	ck_assert_str_eq(next_event(fd), "@releaseDomain r");
	wire_call(tool, XS_IS_DOMAIN_INTRODUCED, 0, BYTES("9\0"), &answer);
	ck_assert_str_eq(answer.payload, "F");
	server_release(5);
	ck_assert_str_eq(next_event(fd), "@releaseDomain r");
	close(fd);
	close(tool);
}
END_TEST

START_TEST(a_released_domain_leaves_nothing)
{
	struct xsd_stats before;
	char *path = strdup(server_socket(5));
	int fd, tool;

	furnish();
	before = server_stats();
	tool = server_connect(0);
	fd = server_connect(5);
	ck_assert_str_eq(wire_call(fd, XS_WATCH, 0, BYTES("name\0t\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_WRITE, 0, BYTES("mine/too\0v"), &answer), "");
	server_release(5);
	while (wire_recv(fd, &answer))
		;
	ck_assert_int_ne(access(path, F_OK), 0);
	ck_assert_uint_eq(server_stats().nr_connections, 1);
	ck_assert_uint_eq(server_stats().nr_watches, 0);
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
	/* /local/domain/5 was its own. */
	ck_assert_uint_eq(server_stats().nr_nodes, before.nr_nodes - 2);
	ck_assert_str_eq(wire_call(tool, XS_READ, 0, BYTES("/local/domain/5\0"), &answer),
			 "ENOENT");
	close(fd);
	close(tool);
	free(path);
}
END_TEST

START_TEST(a_released_domains_permissions_are_not_the_next_ones)
{
	int tool = server_connect(0), fd;

	ck_assert_str_eq(wire_call(tool, XS_WRITE, 0, BYTES("/n\0v"), &answer), "");
	ck_assert_str_eq(wire_call(tool, XS_SET_PERMS, 0, BYTES("/n\0n0\0r6\0"), &answer), "");
	fd = server_connect(6);
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/n\0"), &answer), "");
	close(fd);
	ck_assert_str_eq(wire_call(tool, XS_RELEASE, 0, BYTES("6\0"), &answer), "");
	ck_assert_str_eq(wire_call(tool, XS_INTRODUCE, 0,
				   BYTES("6\0"
					 "1\0"
					 "1\0"),
				   &answer),
			 "");
	fd = server_connect(6);
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/n\0"), &answer), "EACCES");
	close(fd);
	close(tool);
}
END_TEST

START_TEST(a_device_model_has_its_targets_rights_until_that_is_gone)
{
	int tool, fd;

	furnish();
	tool = server_connect(0);
	fd = server_connect(6);
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/local/domain/5/name\0"), &answer),
			 "EACCES");
	ck_assert_str_eq(wire_call(tool, XS_SET_TARGET, 0,
				   BYTES("6\0"
					 "5\0"),
				   &answer),
			 "");
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/local/domain/5/name\0"), &answer), "");
	server_release(5);
	ck_assert_str_eq(wire_call(tool, XS_WRITE, 0, BYTES("/m\0v"), &answer), "");
	ck_assert_str_eq(wire_call(tool, XS_SET_PERMS, 0, BYTES("/m\0n5\0"), &answer), "");
	ck_assert_str_eq(wire_call(fd, XS_READ, 0, BYTES("/m\0"), &answer), "EACCES");
	close(fd);
	close(tool);
}
END_TEST

/* ---- sockets ---- */

static int listen_at(struct xsd *xsd, void *path)
{
	return xsd_listen(xsd, path, 7);
}

START_TEST(a_socket_in_use_is_refused_and_a_dead_ones_is_replaced)
{
	struct sockaddr_storage addr;
	socklen_t len = sizeof(addr);
	char path[64], name_too_long[200];
	int fd, dead;

	strcpy(path, server_socket(0));
	ck_assert_int_eq(server_call(listen_at, path), -EADDRINUSE);
	/* Still served. */
	fd = server_connect(0);
	ck_assert_str_eq(wire_call(fd, XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	ck_assert_int_eq(getpeername(fd, (struct sockaddr *)&addr, &len), 0);
	close(fd);

	strcpy(path, server_socket(7));
	strcpy(((struct sockaddr *)&addr)->sa_data, path);
	dead = socket(AF_UNIX, SOCK_STREAM, 0);
	ck_assert_int_eq(bind(dead, (struct sockaddr *)&addr,
			      (socklen_t)(sizeof(sa_family_t) + strlen(path) + 1)),
			 0);
	close(dead);
	ck_assert_int_eq(server_call(listen_at, path), 0);
	fd = server_connect(7);
	ck_assert_str_eq(wire_call(fd, XS_GET_DOMAIN_PATH, 0, BYTES("1\0"), &answer), "");
	close(fd);

	memset(name_too_long, 'x', sizeof(name_too_long));
	name_too_long[0] = '/';
	name_too_long[sizeof(name_too_long) - 1] = '\0';
	ck_assert_int_eq(server_call(listen_at, name_too_long), -ENAMETOOLONG);
	strcpy(path, "/nonexistent/dir/socket");
	ck_assert_int_eq(server_call(listen_at, path), -ENOENT);
}
END_TEST

/* ---- faults ---- */

START_TEST(every_nth_commit_conflicts_when_told_to)
{
	int fd = server_connect(0);
	unsigned i, conflicts = 0;
	uint32_t id;

	server_faults((struct xsd_faults){.eagain_every = 3});
	for (i = 0; i < 9; i++) {
		wire_call(fd, XS_TRANSACTION_START, 0, BYTES("\0"), &answer);
		id = (uint32_t)atoi(answer.payload);
		wire_call(fd, XS_WRITE, id, BYTES("/n\0v"), &answer);
		if (strcmp(wire_call(fd, XS_TRANSACTION_END, id, BYTES("T\0"), &answer),
			   "EAGAIN") == 0)
			conflicts++;
	}
	ck_assert_uint_eq(conflicts, 3);
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
	close(fd);
}
END_TEST

START_TEST(every_nth_read_is_denied_when_told_to)
{
	int fd = server_connect(0);
	unsigned i, denied = 0;

	server_faults((struct xsd_faults){.eacces_every = 4});
	for (i = 0; i < 12; i++)
		if (strcmp(wire_call(fd, XS_READ, 0, BYTES("/tool\0"), &answer), "EACCES") == 0)
			denied++;
	ck_assert_uint_eq(denied, 3);
	close(fd);
}
END_TEST

START_TEST(replies_are_held_back_and_stay_in_order_when_told_to)
{
	struct timespec from, to;
	int fd = server_connect(0);
	unsigned i;

	server_faults((struct xsd_faults){.delay_usec = 50000});
	clock_gettime(CLOCK_MONOTONIC, &from);
	for (i = 0; i < 10; i++)
		wire_send(fd, XS_GET_DOMAIN_PATH, i, BYTES("1\0"));
	for (i = 0; i < 10; i++) {
		ck_assert(wire_recv(fd, &answer));
		/* A transaction that is not there: but the id comes back. */
		ck_assert_uint_eq(answer.head.tx_id, i);
	}
	clock_gettime(CLOCK_MONOTONIC, &to);
	ck_assert_int_ge((to.tv_sec - from.tv_sec) * 1000 + (to.tv_nsec - from.tv_nsec) / 1000000,
			 49);
	server_faults((struct xsd_faults){0});
	close(fd);
}
END_TEST

/* ---- garbage ---- */

START_TEST(garbage_hurts_nobody_else)
{
	unsigned before = server_stats().nr_nodes;
	struct xs_handle *xs = server_open(0);
	char bytes[256];
	unsigned round, i;
	int fd;

	srandom(11);
	for (round = 0; round < 300; round++) {
		struct xsd_sockmsg head = {
			.type = (uint32_t)random() % 30,
			.tx_id = (uint32_t)random() % 2,
			.len = (uint32_t)random() % (sizeof(bytes) - sizeof(head)),
		};

		fd = server_connect(round % 2 ? 5 : 0);
		for (i = 0; i < sizeof(bytes); i++)
			bytes[i] = random() % 3 ? (char)random() : "/\0a@1"[random() % 5];
		if (round % 3)
			memcpy(bytes, &head, sizeof(head));
		send(fd, bytes, (size_t)random() % sizeof(bytes), MSG_NOSIGNAL);
		close(fd);
		ck_assert(xs_write(xs, 0, "/n", "v", 1));
	}
	xs_close(xs);
	server_wait_connections(0);
	/* dom0's garbage may make nodes; but little of it has a sensible path. */
	ck_assert_uint_lt(server_stats().nr_nodes, before + 50);
	ck_assert_uint_eq(server_stats().nr_watches, 0);
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
}
END_TEST

TCase *server_tcase(void)
{
	TCase *tcase = tcase_create("server");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, server_setup, server_teardown);
	tcase_add_loop_test(tcase, every_request_is_answered_as_xenstored_does, 0,
			    ARRAY_SIZE(requests));
	tcase_add_test(tcase, requests_split_at_each_byte_are_put_together);
	tcase_add_test(tcase, many_requests_at_once_are_answered_in_order);
	tcase_add_test(tcase, a_frame_too_long_ends_its_own_connection_only);
	tcase_add_test(tcase, a_client_that_leaves_in_the_middle_leaves_nothing);
	tcase_add_test(tcase, replies_wait_for_a_client_that_asks_much_before_it_reads);
	tcase_add_test(tcase, an_event_that_waits_already_is_not_sent_again);
	tcase_add_test(tcase, a_domain_that_does_not_take_its_events_is_disconnected);
	tcase_add_test(tcase, a_large_directory_is_listed_whole);
	tcase_add_test(tcase, the_parts_of_a_directory_say_if_it_changed);
	tcase_add_test(tcase, a_part_has_room_for_its_end);
	tcase_add_test(tcase, a_domains_connections_share_its_quota_of_watches);
	tcase_add_test(tcase, a_domain_has_no_more_transactions_than_its_quota);
	tcase_add_test(tcase, a_domain_has_no_more_connections_than_fit);
	tcase_add_test(tcase, a_watch_is_acknowledged_before_its_first_event);
	tcase_add_test(tcase, domains_that_come_and_go_are_told);
	tcase_add_test(tcase, a_released_domain_leaves_nothing);
	tcase_add_test(tcase, a_released_domains_permissions_are_not_the_next_ones);
	tcase_add_test(tcase, a_device_model_has_its_targets_rights_until_that_is_gone);
	tcase_add_test(tcase, a_socket_in_use_is_refused_and_a_dead_ones_is_replaced);
	tcase_add_test(tcase, every_nth_commit_conflicts_when_told_to);
	tcase_add_test(tcase, every_nth_read_is_denied_when_told_to);
	tcase_add_test(tcase, replies_are_held_back_and_stay_in_order_when_told_to);
	tcase_add_test(tcase, garbage_hurts_nobody_else);
	return tcase;
}
