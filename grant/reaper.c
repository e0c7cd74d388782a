/* SPDX-License-Identifier: MIT */
/*
 * reaper.c: the counterpart of the daemon `xl create` leaves behind: it waits for the domain's
 * death and then does what libxl does on destruction. A process of its own in dom0: the machine
 * itself never writes to the store on behalf of a toolstack.
 */
#include "grant/reaper.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <xenstore.h>

#include "common/log.h"
#include "grant/toolstack.h"
#include "grant/xenemu_cmd.h"

/* Nothing of the caller's stays open: somebody may be waiting for its output to end. */
static void let_go(const char *rundir, int close_fd)
{
	int null = open("/dev/null", O_RDWR);
	char path[CMD_RUNDIR_BYTES + 16];

	close(close_fd);
	setsid();
	prctl(PR_SET_NAME, "xenemu-reaper");
	if (null >= 0) {
		dup2(null, STDIN_FILENO);
		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		close(null);
	}
	snprintf(path, sizeof(path), "%s/reaper.log", rundir);
	log_open("xenemu", path);
}

static int reap(const char *rundir, domid_t domid, struct xenemu_control *control)
{
	struct xs_handle *xs;
	int err;

	err = cmd_environment(rundir, 0);
	if (!err)
		err = xenemu_domain_wait(control, domid);
	if (err) {
		/* The machine itself is gone, and its store with it. */
		log_info("domain %u: not waited for: %s", domid, strerror(-err));
		return EXIT_FAILED;
	}
	xs = xs_open(0);
	if (!xs) {
		log_err("domain %u: no xenstored: %s", domid, strerror(errno));
		return EXIT_FAILED;
	}
	err = toolstack_domain_destroy(xs, domid);
	if (err)
		log_warn("domain %u: destruction: %s", domid, strerror(-err));
	xs_close(xs);
	return err ? EXIT_FAILED : EXIT_OK;
}

static int run(const char *rundir, domid_t domid, int close_fd)
{
	struct xenemu_control *control;
	int err;

	let_go(rundir, close_fd);
	err = xenemu_control_open(rundir, &control);
	if (err)
		return EXIT_FAILED;
	err = reap(rundir, domid, control);
	xenemu_control_close(control);
	return err;
}

int reaper_fork(const char *rundir, domid_t domid, int close_fd)
{
	pid_t pid = fork(), grandchild;
	int status;

	if (pid < 0)
		return -errno;
	if (!pid) {
		grandchild = fork();
		if (!grandchild)
			_exit(run(rundir, domid, close_fd));
		_exit(grandchild < 0);
	}
	while (waitpid(pid, &status, 0) < 0) {
		if (errno != EINTR)
			return -errno;
	}
	return WIFEXITED(status) && !WEXITSTATUS(status) ? 0 : -EAGAIN;
}
