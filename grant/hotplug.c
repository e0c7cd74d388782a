/* SPDX-License-Identifier: MIT */
/*
 * hotplug.c: the child process of a hotplug script. Arguments and environment are those of
 * tools/libs/light/libxl_linux.c; nothing of the store is touched here.
 */
#include "grant/hotplug.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define XEN_SCRIPT_DIR "/etc/xen/scripts"
#define DEFAULT_SCRIPT "vif-bridge"

static void set_environment(const struct hotplug_call *call)
{
	char text[64];

	setenv("script", call->script, 1);
	setenv("XENBUS_TYPE", "vif", 1);
	snprintf(text, sizeof(text), "backend/vif/%u/%u", call->domid, call->handle);
	setenv("XENBUS_PATH", text, 1);
	setenv("XENBUS_BASE_PATH", "backend", 1);
	setenv("netdev", call->gatewaydev, 1);
	snprintf(text, sizeof(text), "vif%u.%u", call->domid, call->handle);
	setenv("vif", text, 1);
}

static void __attribute__((noreturn)) run_child(const struct hotplug_call *call, pid_t parent)
{
	int null_fd = open("/dev/null", O_RDONLY);

	/* A group of its own, so that the limit also ends what the script started. */
	setpgid(0, 0);
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	if (getppid() != parent || null_fd < 0)
		_exit(127);
	dup2(null_fd, STDIN_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close(null_fd);
	set_environment(call);
	execl(call->script, call->script, call->action, "type_if=vif", (char *)NULL);
	fprintf(stderr, "cannot run %s: %s\n", call->script, strerror(errno));
	_exit(127);
}

static int wait_child(pid_t pid, unsigned timeout_sec)
{
	struct pollfd pfd = {.events = POLLIN};
	int status, ready;

	pfd.fd = pidfd_open(pid, 0);
	do {
		ready = pfd.fd < 0 ? -1 : poll(&pfd, 1, (int)timeout_sec * 1000);
	} while (ready < 0 && pfd.fd >= 0 && errno == EINTR);
	if (pfd.fd >= 0)
		close(pfd.fd);
	if (ready <= 0)
		kill(-pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	if (ready <= 0)
		return -ETIMEDOUT;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : -ECHILD;
}

int hotplug_run(const struct hotplug_call *call)
{
	pid_t parent = getpid();
	pid_t pid;

	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return -errno;
	if (!pid)
		run_child(call, parent);
	setpgid(pid, pid); /* whoever comes first: the child does the same */
	return wait_child(pid, call->timeout_sec);
}

/* The top of the build tree this program lies in; -ENOENT if it is an installed one. */
static int find_build_dir(char *dir, size_t size)
{
	char exe[PATH_MAX], mark[PATH_MAX + 32];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *at = exe;

	if (len < 0)
		return -errno;
	exe[len] = '\0';
	/* DIR/grant/xenemu, or libtool's DIR/grant/.libs/xenemu */
	for (int i = 0; i < 3; i++) {
		at = dirname(at);
		snprintf(mark, sizeof(mark), "%s/config.status", at);
		if (!access(mark, F_OK))
			return (size_t)snprintf(dir, size, "%s", at) < size ? 0 : -ENAMETOOLONG;
	}
	return -ENOENT;
}

static int try_dir(char *path, size_t size, const char *dir, const char *sub, const char *script)
{
	if ((size_t)snprintf(path, size, "%s%s/%s", dir, sub, script) >= size)
		return -ENAMETOOLONG;
	return access(path, X_OK) ? -ENOENT : 0;
}

int hotplug_find(char *path, size_t size, const char *script)
{
	char dir[PATH_MAX];

	if (!*script)
		script = DEFAULT_SCRIPT;
	if (*script == '/')
		return try_dir(path, size, "", "", script + 1);
	if (!find_build_dir(dir, sizeof(dir)) && !try_dir(path, size, dir, "/scripts", script))
		return 0;
	if (!try_dir(path, size, PKGLIBEXECDIR, "", script))
		return 0;
	return try_dir(path, size, XEN_SCRIPT_DIR, "", script);
}
