/* SPDX-License-Identifier: MIT */
/* xenemu_run.c: xenemu start and dom0, and the environment in which programs of a domain run. */
#include "grant/xenemu_cmd.h"

#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

/* ---- start ---- */

static void stop(evutil_socket_t sig, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static int explain_start(const char *rundir, int err)
{
	if (err == -EALREADY || err == -EADDRINUSE)
		return cmd_fail("a machine already runs in %s: stop it, or use another --rundir",
				rundir);
	if (err == -EACCES || err == -EPERM)
		return cmd_fail("no permission to use %s: choose a --rundir of your own", rundir);
	if (err == -ENOENT)
		return cmd_fail("the directory that should hold %s does not exist: make it, or "
				"choose another --rundir",
				rundir);
	return cmd_fail("the machine in %s does not start: %s", rundir, strerror(-err));
}

/* In the child after fork(): leave the terminal, the log goes to a file. */
static void detach(void)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);

	setsid();
	if (null < 0)
		return;
	dup2(null, STDIN_FILENO);
	dup2(null, STDOUT_FILENO);
	dup2(null, STDERR_FILENO);
	close(null);
}

static int run_machine(const struct cmd_args *args, int ready_fd)
{
	struct xenemu_machine *machine = NULL;
	struct event_base *base;
	struct event *term, *intr;
	int err, status = EXIT_OK;

	base = event_base_new();
	if (!base)
		return cmd_fail("out of memory");
	term = evsignal_new(base, SIGTERM, stop, base);
	intr = evsignal_new(base, SIGINT, stop, base);
	signal(SIGPIPE, SIG_IGN);
	err = xenemu_machine_new(base, args->rundir, &args->machine, &machine);
	if (err) {
		status = explain_start(args->rundir, err);
		goto out;
	}
	event_add(term, NULL);
	event_add(intr, NULL);
	if (ready_fd >= 0) {
		char path[CMD_RUNDIR_BYTES + 16];

		snprintf(path, sizeof(path), "%s/xenemu.log", args->rundir);
		log_open("xenemu", path);
		detach();
		close(ready_fd); /* the parent sees the end of file, and no error before it */
	}
	log_info("machine in %s is ready", args->rundir);
	event_base_dispatch(base);
	xenemu_machine_free(machine);
out:
	event_free(term);
	event_free(intr);
	event_base_free(base);
	return status;
}

/* The parent returns when the machine is ready, with its exit status if it is not. */
static int run_daemon(const struct cmd_args *args)
{
	int pipe_fd[2];
	char failed;
	pid_t pid;

	if (pipe2(pipe_fd, O_CLOEXEC))
		return cmd_fail("no pipe: %s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return cmd_fail("cannot fork: %s", strerror(errno));
	if (!pid) {
		int status;

		close(pipe_fd[0]);
		status = run_machine(args, pipe_fd[1]);
		if (status && write(pipe_fd[1], "x", 1) != 1)
			return EXIT_FAILED;
		return status;
	}
	close(pipe_fd[1]);
	return read(pipe_fd[0], &failed, 1) == 0 ? EXIT_OK : EXIT_FAILED;
}

int cmd_start(int argc, char **argv)
{
	struct cmd_args args;
	int status;

	if (!cmd_parse(argc, argv, CMD_TAKES_START, &args, &status))
		return status;
	if (args.argc)
		return cmd_usage("start: unexpected argument %s", args.argv[0]);
	return args.daemon ? run_daemon(&args) : run_machine(&args, -1);
}

/* ---- programs of a domain ---- */

/* Where the drop-in libraries are: beside this program if it was not installed. */
static void library_dir(char *dir, size_t size)
{
	static const char *const built[] = {".libs", "."};
	char exe[PATH_MAX], path[PATH_MAX + 64];
	ssize_t len = readlink("/proc/self/exe", exe, sizeof(exe) - 1);
	char *slash;

	exe[MAX(len, 0)] = '\0';
	slash = strrchr(exe, '/');
	if (slash)
		*slash = '\0';
	for (size_t i = 0; slash && i < ARRAY_SIZE(built); i++) {
		snprintf(path, sizeof(path), "%s/%s/libxengnttab.so.1", exe, built[i]);
		if (access(path, R_OK))
			continue;
		snprintf(dir, size, "%s/%s", exe, built[i]);
		return;
	}
	snprintf(dir, size, "%s", PKGLIBDIR);
}

int cmd_environment(const char *rundir, domid_t domid)
{
	const char *old = getenv("LD_LIBRARY_PATH");
	char dir[PATH_MAX + 16], store[CMD_RUNDIR_BYTES + 32], number[8], *path;
	int err = 0;

	library_dir(dir, sizeof(dir));
	snprintf(store, sizeof(store), "%s/dom%u/xenstored.sock", rundir, domid);
	snprintf(number, sizeof(number), "%u", domid);
	if (!old || !*old)
		path = strdup(dir);
	else if (asprintf(&path, "%s:%s", dir, old) < 0)
		path = NULL;
	if (!path)
		return -ENOMEM;
	if (setenv("LD_LIBRARY_PATH", path, 1) || setenv("XENSTORED_PATH", store, 1) ||
	    setenv(XENEMU_ENV_RUNDIR, rundir, 1) || setenv(XENEMU_ENV_DOMID, number, 1))
		err = -errno;
	free(path);
	return err;
}

int cmd_exec(char **argv)
{
	execvp(argv[0], argv);
	return cmd_fail("cannot run %s: %s", argv[0], strerror(errno));
}

int cmd_dom0(int argc, char **argv)
{
	struct xenemu_control *control;
	struct cmd_args args;
	int status, err;

	if (!cmd_parse(argc, argv, 0, &args, &status))
		return status;
	if (!args.argc)
		return cmd_usage("dom0: which command?");
	status = cmd_connect(args.rundir, &control);
	if (status)
		return status;
	xenemu_control_close(control);
	err = cmd_environment(args.rundir, 0);
	if (err)
		return cmd_fail("%s", strerror(-err));
	return cmd_exec(args.argv);
}
