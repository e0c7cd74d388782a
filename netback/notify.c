/* SPDX-License-Identifier: MIT */
/* notify.c: the service manager's datagrams, made by hand: libsystemd is not needed for them. */
#include "netback/notify.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"

/* A service manager that cannot be told decides by itself what that means: there is no error. */
static void tell(const char *text)
{
	const char *path = getenv("NOTIFY_SOCKET");
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	size_t len = path ? strlen(path) : 0;
	int fd;

	if (!len || len >= sizeof(address.sun_path) || (*path != '/' && *path != '@'))
		return;
	memcpy(address.sun_path, path, len);
	if (*path == '@') /* the abstract name space */
		address.sun_path[0] = '\0';
	fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return;
	if (sendto(fd, text, strlen(text), MSG_NOSIGNAL, (struct sockaddr *)&address,
		   (socklen_t)(offsetof(struct sockaddr_un, sun_path) + len)) < 0)
		log_debug("cannot tell the service manager: %s", text);
	close(fd);
}

void notify_ready(const char *status)
{
	char text[256];

	snprintf(text, sizeof(text), "READY=1\nSTATUS=%s", status);
	tell(text);
}

void notify_reloading(void)
{
	struct timespec now;
	char text[64];

	clock_gettime(CLOCK_MONOTONIC, &now);
	snprintf(text, sizeof(text), "RELOADING=1\nMONOTONIC_USEC=%lld",
		 (long long)now.tv_sec * 1000000 + now.tv_nsec / 1000);
	tell(text);
}

void notify_stopping(void)
{
	tell("STOPPING=1");
}
