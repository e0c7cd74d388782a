/* SPDX-License-Identifier: MIT */
/* test-notify.c: what a service manager would get to read. */
#include "test/unit/netback/suites.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "netback/notify.h"

static char text[512];

static int manager(const char *path)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	strcpy(address.sun_path, path);
	if (*path == '@')
		address.sun_path[0] = '\0';
	ck_assert_int_eq(bind(fd, (struct sockaddr *)&address,
			      (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path))),
			 0);
	setenv("NOTIFY_SOCKET", path, 1);
	return fd;
}

/* The next datagram; "" if there is none. */
static const char *told(int fd)
{
	ssize_t got = recv(fd, text, sizeof(text) - 1, 0);

	text[got > 0 ? got : 0] = '\0';
	return text;
}

START_TEST(each_change_is_a_datagram)
{
	char path[64];
	long long usec;
	int fd;

	snprintf(path, sizeof(path), _i ? "@nb-notify-%d" : "/tmp/nb-notify-%d", (int)getpid());
	fd = manager(path);
	notify_ready("Serving vifs");
	ck_assert_str_eq(told(fd), "READY=1\nSTATUS=Serving vifs");
	notify_reloading();
	ck_assert_int_eq(sscanf(told(fd), "RELOADING=1\nMONOTONIC_USEC=%lld", &usec), 1);
	ck_assert(usec > 0);
	notify_stopping();
	ck_assert_str_eq(told(fd), "STOPPING=1");
	ck_assert_str_eq(told(fd), "");
	close(fd);
	if (!_i)
		unlink(path);
}
END_TEST

START_TEST(nobody_to_tell_is_no_trouble)
{
	char longer[256];

	unsetenv("NOTIFY_SOCKET");
	notify_ready("");
	setenv("NOTIFY_SOCKET", "", 1);
	notify_ready("");
	setenv("NOTIFY_SOCKET", "relative", 1);
	notify_ready("");
	setenv("NOTIFY_SOCKET", "/nowhere/at/all", 1);
	notify_stopping();
	memset(longer, '/', sizeof(longer) - 1);
	longer[sizeof(longer) - 1] = '\0';
	setenv("NOTIFY_SOCKET", longer, 1);
	notify_reloading();
}
END_TEST

TCase *notify_tcase(void)
{
	TCase *tcase = tcase_create("notify");

	tcase_add_loop_test(tcase, each_change_is_a_datagram, 0, 2);
	tcase_add_test(tcase, nobody_to_tell_is_no_trouble);
	return tcase;
}
