/* SPDX-License-Identifier: MIT */
/*
 * main.c: netbackd's life, stage by stage: options, background, lock, checks of the host,
 * capabilities, handles and workers, control socket, ready, serve, leave. What a stage made is
 * undone in reverse order, however far it got.
 */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "netback/conf.h"
#include "netback/control.h"
#include "netback/ctl.h"
#include "netback/daemon.h"
#include "netback/notify.h"
#include "netback/privileges.h"
#include "netback/report.h"

#define EXIT_USAGE 2

/* Leaving talks to xenstored and the workers. Whoever asked for it does not wait longer than this
 * for a xenstored that hangs: the alarm ends the process. */
#define LEAVE_LIMIT_SEC 30

/* The kernel's own backend driver: present if it is loaded and has claimed backend/vif. */
#define KERNEL_NETBACK "/sys/bus/xen-backend/drivers/vif"

struct life {
	struct conf conf;
	struct control control;
	struct ctl *ctl;
	int ready_fd; /* to the waiting parent; -1 in the foreground */
	int lock_fd;
	bool pid_written;
};

/* Paths given on the command line are relative to where we were started, not to "/". */
static int make_absolute(const char **path)
{
	char *cwd, *absolute;
	int len;

	if (!*path || **path == '/' || !strcmp(*path, "syslog"))
		return 0;
	cwd = getcwd(NULL, 0);
	if (!cwd)
		return -errno;
	len = asprintf(&absolute, "%s/%s", cwd, *path);
	free(cwd);
	if (len < 0)
		return -ENOMEM;
	*path = absolute; /* lives as long as the process */
	return 0;
}

static int stage_background(struct life *life)
{
	int ret = 0;

	signal(SIGPIPE, SIG_IGN);
	if (life->conf.foreground)
		return 0;
	ret = make_absolute(&life->conf.pid_file);
	if (!ret)
		ret = make_absolute(&life->conf.log_file);
	if (!ret)
		ret = make_absolute(&life->conf.ctl_socket);
	if (!ret)
		ret = daemon_fork();
	if (ret < 0) {
		log_err("cannot go into the background: %s", strerror(-ret));
		return ret;
	}
	life->ready_fd = ret;
	return 0;
}

/*
 * The default directory of the socket may not be there yet: it is on a tmpfs, or below a prefix
 * where nobody has run anything before. What cannot be made shows when the lock cannot.
 */
static void make_run_directory(const char *socket)
{
	char path[] = CONF_CTL_SOCKET_DEFAULT;

	if (strcmp(socket, path))
		return;
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0755);
		*slash = '/';
	}
}

static int stage_lock(struct life *life)
{
	const char *path = life->conf.ctl_socket;

	make_run_directory(path);
	life->lock_fd = ctl_lock(path);
	if (life->lock_fd >= 0)
		return 0;
	if (life->lock_fd == -EBUSY)
		log_err("another netbackd is running on control socket %s; end that one first, or "
			"give this one a --ctl-socket of its own",
			path);
	else
		log_err("cannot lock %s.lock: %s; choose a --ctl-socket in a directory this user "
			"may write to",
			path, strerror(-life->lock_fd));
	return life->lock_fd;
}

/* On Xen the kernel's driver would answer for the same devices. Off Xen there is no such driver. */
static int check_kernel_netback(void)
{
	if (getenv("XENSTORED_PATH") || access(KERNEL_NETBACK, F_OK))
		return 0;
	log_err("the kernel's xen-netback serves backend/vif on this host; hand it over with "
		"'modprobe -r xen-netback' (or unbind each device in " KERNEL_NETBACK "), then "
		"start netbackd again");
	return -EBUSY;
}

static int check_tap(void)
{
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		int err = errno;

		log_err("cannot open /dev/net/tun: %s; %s", strerror(err),
			err == EACCES || err == EPERM
				? "give this user access to it, or use another --port"
				: "'modprobe tun', or use another --port");
		return -err;
	}
	close(fd);
	if (privileges_may_make_taps())
		return 0;
	log_err("making taps needs CAP_NET_ADMIN; run netbackd as root or in a network namespace of "
		"its own, or use another --port");
	return -EPERM;
}

static int stage_check_host(struct life *life)
{
	int ret = check_kernel_netback();

	if (!ret && life->conf.port == PORT_TAP)
		ret = check_tap();
	return ret;
}

/* Before the workers are made: each thread has its own capabilities. */
static int stage_privileges(struct life *life)
{
	int ret = privileges_drop(life->conf.port == PORT_TAP);

	if (ret)
		log_err("cannot drop the capabilities that are not needed: %s", strerror(-ret));
	return ret;
}

static int stage_control_socket(struct life *life)
{
	int ret = ctl_create(life->control.base, life->conf.ctl_socket, report_commands,
			     &life->control, &life->ctl);

	if (ret)
		log_err("cannot listen on control socket %s: %s", life->conf.ctl_socket,
			strerror(-ret));
	return ret;
}

static int stage_pid_file(struct life *life)
{
	int ret;

	if (!life->conf.pid_file)
		return 0;
	ret = daemon_write_pid(life->conf.pid_file);
	if (ret)
		log_err("cannot write pid file %s: %s", life->conf.pid_file, strerror(-ret));
	else
		life->pid_written = true;
	return ret;
}

/* Last: until here what goes wrong is told on stderr, whatever the log is. */
static int stage_ready(struct life *life)
{
	const char *path = life->conf.log_file;
	int ret;

	if (!path && !life->conf.foreground)
		path = "syslog";
	ret = log_open("netbackd", path);
	if (ret) {
		log_err("cannot open log file %s: %s", path, strerror(-ret));
		return ret;
	}
	if (life->ready_fd >= 0)
		ret = daemon_ready(life->ready_fd);
	if (ret)
		return ret;
	log_info("ready: %u groups, %s ports, domain %u",
		 netbk_groups_count(life->control.host.groups), port_kind_name(life->conf.port),
		 life->control.host.domid);
	notify_ready("Serving vifs");
	return 0;
}

static int start(struct life *life)
{
	int ret;

	ret = stage_background(life);
	if (!ret)
		ret = stage_lock(life);
	if (!ret)
		ret = stage_check_host(life);
	if (!ret)
		ret = stage_privileges(life);
	if (!ret)
		ret = control_open(&life->control, &life->conf);
	if (!ret)
		ret = control_start(&life->control);
	if (!ret)
		ret = stage_control_socket(life);
	if (!ret)
		ret = stage_pid_file(life);
	if (!ret)
		ret = stage_ready(life);
	return ret;
}

static void stop(struct life *life)
{
	if (life->pid_written)
		unlink(life->conf.pid_file);
	ctl_destroy(life->ctl);
	control_close(&life->control);
	ctl_unlock(life->lock_fd, life->conf.ctl_socket);
	log_close();
}

int main(int argc, char *argv[])
{
	struct life life = {.ready_fd = -1, .lock_fd = -1, .control.host.fatal_fd = -1};
	enum conf_verdict verdict;
	char error[256];
	int ret;

	log_open("netbackd", NULL);
	if (conf_parse(&life.conf, argc, argv, &verdict, error, sizeof(error))) {
		fprintf(stderr, "netbackd: %s\n", error);
		return EXIT_USAGE;
	}
	if (verdict == CONF_HELP) {
		conf_usage(stdout);
		return EXIT_SUCCESS;
	}
	if (verdict == CONF_VERSION) {
		puts("netbackd " PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	log_set_level(life.conf.log_level);
	ret = start(&life);
	if (!ret) {
		ret = control_run(&life.control);
		notify_stopping();
		alarm(LEAVE_LIMIT_SEC);
		control_leave(&life.control);
	}
	stop(&life);
	return ret ? EXIT_FAILURE : EXIT_SUCCESS;
}
