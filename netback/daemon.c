/* SPDX-License-Identifier: MIT */
/*
 * daemon.c: fork, report back, pid file.
 */
#include "netback/daemon.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

/* One byte: it is ready. End of file: it ended, and has said why. */
static void wait_for_child(int fd)
{
	char byte;
	ssize_t got;

	do {
		got = read(fd, &byte, 1);
	} while (got < 0 && errno == EINTR);
	_exit(got == 1 ? EXIT_SUCCESS : EXIT_FAILURE);
}

int daemon_fork(void)
{
	int pipe_fds[2];
	pid_t child;

	if (pipe2(pipe_fds, O_CLOEXEC))
		return -errno;
	child = fork();
	if (child < 0) {
		int err = errno;

		close(pipe_fds[0]);
		close(pipe_fds[1]);
		return -err;
	}
	if (child > 0) {
		close(pipe_fds[1]);
		wait_for_child(pipe_fds[0]);
	}
	close(pipe_fds[0]);
	if (setsid() < 0 || chdir("/")) {
		int err = errno;

		close(pipe_fds[1]);
		return -err;
	}
	return pipe_fds[1];
}

int daemon_ready(int fd)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	ssize_t sent;

	if (null < 0)
		return -errno;
	/* dup2() leaves close-on-exec off, as it should be for these three. */
	if (dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
	    dup2(null, STDERR_FILENO) < 0) {
		int err = errno;

		close(null);
		return -err;
	}
	if (null > STDERR_FILENO)
		close(null);
	sent = write(fd, "", 1);
	close(fd);
	return sent == 1 ? 0 : -EPIPE;
}

int daemon_write_pid(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
	int ret = 0;

	if (fd < 0)
		return -errno;
	if (dprintf(fd, "%ld\n", (long)getpid()) < 0)
		ret = -errno;
	if (close(fd) && !ret)
		ret = -errno;
	if (ret)
		unlink(path);
	return ret;
}
