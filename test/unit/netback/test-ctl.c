/* SPDX-License-Identifier: MIT */
/* test-ctl.c: the control socket's protocol, with good and with hostile clients. */
#include "test/unit/netback/suites.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/compiler.h"
#include "netback/ctl.h"

#define BIG_BYTES (4U << 20)

static json_t *echo(void *arg, const json_t *args, char *error, size_t size)
{
	++*(unsigned *)arg;
	return json_incref(json_object_get(args, "say"));
}

static json_t *fail_always(void *arg, const json_t *args, char *error, size_t size)
{
	snprintf(error, size, "no %s today", "luck");
	return NULL;
}

static json_t *big(void *arg, const json_t *args, char *error, size_t size)
{
	char *text = malloc(BIG_BYTES + 1);
	json_t *value;

	memset(text, 'x', BIG_BYTES);
	text[BIG_BYTES] = '\0';
	value = json_string(text);
	free(text);
	++*(unsigned *)arg;
	return value;
}

static const struct ctl_command commands[] = {
	{"echo", echo}, {"fail", fail_always}, {"big", big}, {NULL, NULL}};

static struct {
	char dir[32], path[64];
	struct event_base *base;
	struct ctl *ctl;
	unsigned calls;
} server;

static void setup(void)
{
	memset(&server, 0, sizeof(server));
	signal(SIGPIPE, SIG_IGN); /* as netbackd does */
	strcpy(server.dir, "/tmp/nb-ctl.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(server.dir));
	snprintf(server.path, sizeof(server.path), "%s/sock", server.dir);
	server.base = event_base_new();
	ck_assert_int_eq(ctl_create(server.base, server.path, commands, &server.calls, &server.ctl),
			 0);
}

static void teardown(void)
{
	ctl_destroy(server.ctl);
	event_base_free(server.base);
	ck_assert_int_eq(access(server.path, F_OK), -1);
	ck_assert_int_eq(rmdir(server.dir), 0);
}

static int client(void)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);

	strcpy(address.sun_path, server.path);
	ck_assert_int_eq(connect(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void pump(void)
{
	for (int i = 0; i < 8; i++)
		event_base_loop(server.base, EVLOOP_NONBLOCK);
}

static void say(int fd, const char *text)
{
	ck_assert_int_eq(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
	pump();
}

/* What has come; "(closed)" at the end. */
static const char *hear(int fd)
{
	static char text[4096];
	ssize_t got;

	pump();
	got = recv(fd, text, sizeof(text) - 1, 0);
	if (got == 0)
		return "(closed)";
	if (got < 0)
		return errno == EAGAIN ? "(nothing)" : "(closed)";
	text[got] = '\0';
	return text;
}

START_TEST(a_request_is_answered)
{
	int fd = client();

	say(fd, "{\"cmd\":\"echo\",\"say\":[1,\"a\"]}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":[1,\"a\"]}\n");
	say(fd, "{\"cmd\":\"fail\"}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":false,\"error\":\"no luck today\"}\n");
	close(fd);
}
END_TEST

START_TEST(a_request_may_come_byte_by_byte)
{
	const char *request = "{\"cmd\":\"echo\",\"say\":1}\n";
	int fd = client();

	for (; *request; request++) {
		char byte[2] = {*request, '\0'};

		ck_assert_str_eq(hear(fd), "(nothing)");
		say(fd, byte);
	}
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n");
	close(fd);
}
END_TEST

START_TEST(requests_in_one_piece_are_answered_in_order)
{
	int fd = client();

	say(fd, "{\"cmd\":\"echo\",\"say\":1}\n{\"cmd\":\"echo\",\"say\":2}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n{\"ok\":true,\"result\":2}\n");
	close(fd);
}
END_TEST

START_TEST(a_client_that_closes_its_half_still_gets_its_answer)
{
	int fd = client();

	ck_assert_int_gt(send(fd, "{\"cmd\":\"echo\",\"say\":1}\n", 23, 0), 0);
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n");
	ck_assert_str_eq(hear(fd), "(closed)");
	close(fd);
}
END_TEST

START_TEST(all_requests_before_the_end_are_answered)
{
	static const char text[] = "{\"cmd\":\"echo\",\"say\":1}\n{\"cmd\":\"echo\",\"say\":2}\n"
				   "{\"cmd\":\"echo\",\"say\":3}\n{\"cmd\":\"echo\"";
	int fd = client();

	ck_assert_int_gt(send(fd, text, sizeof(text) - 1, 0), 0);
	shutdown(fd, SHUT_WR);
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n{\"ok\":true,\"result\":2}\n"
				   "{\"ok\":true,\"result\":3}\n");
	ck_assert_str_eq(hear(fd), "(closed)");
	close(fd);
}
END_TEST

static const struct {
	const char *request, *error;
} bad[] = {
	{"\n", "not a JSON object"},
	{"show vif1.0\n", "not a JSON object"},
	{"[]\n", "not a JSON object"},
	{"\"echo\"\n", "not a JSON object"},
	{"{\"cmd\":\"echo\"\n", "not a JSON object"},
	{"{\"cmd\":\"echo\"} x\n", "not a JSON object"},
	{"{}\n", "no \\\"cmd\\\""},
	{"{\"cmd\":1}\n", "no \\\"cmd\\\""},
	{"{\"cmd\":null}\n", "no \\\"cmd\\\""},
	{"{\"cmd\":\"shutdown\"}\n", "no such command"},
	{"{\"cmd\":\"\"}\n", "no such command"},
	{"{\"cmd\":\"fail\",\"cmd\":\"echo\"}\n", "not a JSON object"},
	{"{\"cmd\":\"echo\",\"say\":[[[[[[]]]]]]}\n", "too deep"},
	{"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[\n", "too deep"},
	{"{\"cmd\":\"\xff\xfe\"}\n", "not a JSON object"},
	{"{\"cmd\":\"echo\\u0000x\"}\n", "not a JSON object"},
};

START_TEST(a_bad_request_is_refused_and_the_client_stays)
{
	int fd = client();
	const char *answer;

	say(fd, bad[_i].request);
	answer = hear(fd);
	ck_assert_msg(!strncmp(answer, "{\"ok\":false,", 12) && strstr(answer, bad[_i].error),
		      "'%s': %s", bad[_i].request, answer);
	ck_assert_uint_eq(server.calls, 0);
	say(fd, "{\"cmd\":\"echo\",\"say\":1}\n");
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n");
	close(fd);
}
END_TEST

START_TEST(a_line_without_end_ends_the_client)
{
	char text[CTL_REQUEST_BYTES + 2];
	int fd = client();

	memset(text, ' ', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	say(fd, text);
	ck_assert_ptr_nonnull(strstr(hear(fd), "too long"));
	ck_assert_str_eq(hear(fd), "(closed)");
	close(fd);
}
END_TEST

START_TEST(the_longest_line_is_taken)
{
	char text[CTL_REQUEST_BYTES + 2] = "{\"cmd\":\"echo\",\"say\":1}";
	size_t len = strlen(text);
	int fd = client();

	memset(text + len, ' ', CTL_REQUEST_BYTES - len);
	strcpy(text + CTL_REQUEST_BYTES, "\n");
	say(fd, text);
	ck_assert_str_eq(hear(fd), "{\"ok\":true,\"result\":1}\n");
	close(fd);
}
END_TEST

/* Asks again and again and takes nothing: one answer is made and held, no more. */
START_TEST(a_client_that_does_not_read_holds_one_answer)
{
	int fd = client();

	for (int i = 0; i < 20; i++)
		say(fd, "{\"cmd\":\"big\"}\n");
	ck_assert_uint_eq(server.calls, 1);
	close(fd);
	pump();
}
END_TEST

START_TEST(clients_are_bounded_and_make_room_when_they_go)
{
	int fds[CTL_CLIENTS_MAX], extra;

	for (int i = 0; i < CTL_CLIENTS_MAX; i++) {
		fds[i] = client();
		pump();
	}
	extra = client();
	ck_assert_str_eq(hear(extra), "(closed)");
	close(extra);
	close(fds[0]);
	pump();
	fds[0] = client();
	say(fds[0], "{\"cmd\":\"echo\",\"say\":1}\n");
	ck_assert_str_eq(hear(fds[0]), "{\"ok\":true,\"result\":1}\n");
	for (int i = 0; i < CTL_CLIENTS_MAX; i++)
		close(fds[i]);
}
END_TEST

START_TEST(clients_are_dropped_with_the_server)
{
	int fd = client();

	say(fd, "{\"cmd\":");
	ctl_destroy(server.ctl);
	server.ctl = NULL;
	ck_assert_str_eq(hear(fd), "(closed)");
	close(fd);
}
END_TEST

START_TEST(only_the_owner_may_connect)
{
	struct stat st;

	ck_assert_int_eq(stat(server.path, &st), 0);
	ck_assert_int_eq(st.st_mode & 0777, 0600);
}
END_TEST

START_TEST(the_lock_is_one_daemon_s)
{
	char path[64], name[80];
	int fd, again;

	snprintf(path, sizeof(path), "%s/locked", server.dir);
	snprintf(name, sizeof(name), "%s.lock", path);
	fd = ctl_lock(path);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ctl_lock(path), -EBUSY);
	ctl_unlock(fd, path);
	ck_assert_int_eq(access(name, F_OK), -1);
	again = ctl_lock(path);
	ck_assert_int_ge(again, 0);
	ctl_unlock(again, path);
	ctl_unlock(-1, path);
	ck_assert_int_eq(ctl_lock("/nonexistent/dir/sock"), -ENOENT);
}
END_TEST

START_TEST(a_stale_socket_is_replaced)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM, 0);
	struct ctl *ctl;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s/stale", server.dir);
	ck_assert_int_eq(bind(fd, (const struct sockaddr *)&address, sizeof(address)), 0);
	close(fd);
	ck_assert_int_eq(ctl_create(server.base, address.sun_path, commands, &server.calls, &ctl),
			 0);
	ctl_destroy(ctl);
	ck_assert_int_eq(ctl_create(server.base, "/nonexistent/dir/sock", commands, NULL, &ctl),
			 -ENOENT);
}
END_TEST

TCase *ctl_tcase(void)
{
	TCase *tcase = tcase_create("ctl");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_request_is_answered);
	tcase_add_test(tcase, a_request_may_come_byte_by_byte);
	tcase_add_test(tcase, requests_in_one_piece_are_answered_in_order);
	tcase_add_test(tcase, a_client_that_closes_its_half_still_gets_its_answer);
	tcase_add_test(tcase, all_requests_before_the_end_are_answered);
	tcase_add_loop_test(tcase, a_bad_request_is_refused_and_the_client_stays, 0,
			    ARRAY_SIZE(bad));
	tcase_add_test(tcase, a_line_without_end_ends_the_client);
	tcase_add_test(tcase, the_longest_line_is_taken);
	tcase_add_test(tcase, a_client_that_does_not_read_holds_one_answer);
	tcase_add_test(tcase, clients_are_bounded_and_make_room_when_they_go);
	tcase_add_test(tcase, clients_are_dropped_with_the_server);
	tcase_add_test(tcase, only_the_owner_may_connect);
	tcase_add_test(tcase, the_lock_is_one_daemon_s);
	tcase_add_test(tcase, a_stale_socket_is_replaced);
	return tcase;
}
