/* SPDX-License-Identifier: MIT */
/*
 * client.c: connections of library handles to the machine. Which domain this process is comes from
 * xenemu_enter() or the environment; it selects the socket, and the socket is what counts.
 */
#include "grant/client.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <xentoollog.h>

#include "grant/xenemu.h"

#define RUNDIR_BYTES   80
#define CLOSE_WAIT_SEC 5

void xentoolcore__register_active_handle(struct toolcore_handle *handle);
void xentoolcore__deregister_active_handle(struct toolcore_handle *handle);

static struct {
	char rundir[RUNDIR_BYTES];
	domid_t domid;
	bool entered;
} here;

int xenemu_enter(const char *rundir, domid_t domid)
{
	if (strlen(rundir) >= sizeof(here.rundir))
		return -ENAMETOOLONG;
	if (domid >= DOMID_FIRST_RESERVED)
		return -EINVAL;
	strcpy(here.rundir, rundir);
	here.domid = domid;
	here.entered = true;
	return 0;
}

const char *xenemu_rundir(void)
{
	static char fallback[RUNDIR_BYTES];
	const char *env = getenv(XENEMU_ENV_RUNDIR), *runtime = getenv("XDG_RUNTIME_DIR");

	if (here.entered)
		return here.rundir;
	if (env && *env)
		return env;
	if (runtime && *runtime) {
		snprintf(fallback, sizeof(fallback), "%s/xenemu", runtime);
		return fallback;
	}
	return "/run/xenemu";
}

static int env_domid(domid_t *domid)
{
	const char *env = getenv(XENEMU_ENV_DOMID);
	char *end;
	unsigned long value;

	if (here.entered || !env) {
		*domid = here.entered ? here.domid : 0;
		return 0;
	}
	errno = 0;
	value = strtoul(env, &end, 10);
	if (errno || end == env || *end || value >= DOMID_FIRST_RESERVED)
		return -EINVAL;
	*domid = (domid_t)value;
	return 0;
}

static int connect_to(const char *rundir, domid_t domid)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd, len, err;

	len = snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/dom%u/hypervisor.sock", rundir,
		       domid);
	if (len < 0 || (size_t)len >= sizeof(addr.sun_path))
		return -ENAMETOOLONG;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return -errno;
	while (connect(fd, (struct sockaddr *)&addr, sizeof(addr))) {
		if (errno == EINTR)
			continue;
		err = -errno;
		close(fd);
		return err;
	}
	return fd;
}

void client_log(const struct client *client, int err, const char *fmt, ...)
{
	static const char *const contexts[HV_NR_KINDS] = {"xenemu", "gnttab", "gntshr", "evtchn",
							  "xenemu"};
	int saved = errno;
	va_list args;

	if (!client->logger)
		return;
	va_start(args, fmt);
	xtl_logv(client->logger, XTL_ERROR, err, contexts[client->kind], fmt, args);
	va_end(args);
	errno = saved;
}

void client_close_fds(struct client_fds *fds)
{
	for (unsigned i = 0; i < fds->nr; i++)
		close(fds->fd[i]);
	fds->nr = 0;
}

static void take_fds(struct msghdr *hdr, struct client_fds *fds)
{
	struct cmsghdr *cmsg;

	fds->nr = 0;
	for (cmsg = CMSG_FIRSTHDR(hdr); cmsg; cmsg = CMSG_NXTHDR(hdr, cmsg)) {
		if (cmsg->cmsg_level != SOL_SOCKET || cmsg->cmsg_type != SCM_RIGHTS)
			continue;
		fds->nr = (unsigned)((cmsg->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds->fd, CMSG_DATA(cmsg), fds->nr * sizeof(int));
	}
}

static int receive(struct client *client, struct hv_msg *msg, struct client_fds *fds)
{
	char control[CMSG_SPACE(sizeof(int) * HV_MAX_FDS)];
	struct iovec iov = {.iov_base = msg, .iov_len = sizeof(*msg)};
	struct msghdr hdr = {.msg_iov = &iov,
			     .msg_iovlen = 1,
			     .msg_control = control,
			     .msg_controllen = sizeof(control)};
	ssize_t len;

	do {
		len = recvmsg(client->fd, &hdr, MSG_CMSG_CLOEXEC);
	} while (len < 0 && errno == EINTR);
	if (len < 0)
		return -errno;
	if (!len)
		return -ESHUTDOWN; /* the machine, or our domain, is gone */
	take_fds(&hdr, fds);
	if ((size_t)len < HV_MSG_BYTES(0) || (size_t)len != HV_MSG_BYTES(msg->nr)) {
		client_close_fds(fds);
		return -EPROTO;
	}
	return 0;
}

int client_call(struct client *client, struct hv_msg *msg, struct client_fds *fds)
{
	struct client_fds ignored;
	uint32_t op = msg->op;
	int err = 0;

	if (!fds)
		fds = &ignored;
	fds->nr = 0;
	pthread_mutex_lock(&client->lock);
	while (send(client->fd, msg, HV_MSG_BYTES(msg->nr), MSG_NOSIGNAL) < 0) {
		if (errno == EINTR)
			continue;
		err = errno == EPIPE ? -ESHUTDOWN : -errno;
		break;
	}
	if (!err)
		err = receive(client, msg, fds);
	pthread_mutex_unlock(&client->lock);
	if (!err && msg->op != op)
		err = -EPROTO;
	if (!err)
		err = msg->status;
	if (err || fds == &ignored)
		client_close_fds(fds);
	return err;
}

int client_restrict(struct toolcore_handle *handle, domid_t domid)
{
	container_of(handle, struct client, toolcore)->restricted = true;
	return 0;
}

static int take_page(struct client *client, struct client_fds *fds)
{
	void *page;

	if (!fds->nr)
		return -EPROTO;
	page = mmap(NULL, HV_PAGE_BYTES, PROT_READ, MAP_SHARED, fds->fd[0], 0);
	if (page == MAP_FAILED)
		return -errno;
	client->page = page;
	close(fds->fd[0]);
	fds->nr--;
	memmove(&fds->fd[0], &fds->fd[1], fds->nr * sizeof(int));
	return 0;
}

static void complain(const struct client *client, const char *rundir, domid_t domid, int err)
{
	if (err == -ENOENT || err == -ECONNREFUSED)
		client_log(client, -err,
			   "no emulated machine with domain %u in %s (start one: xenemu start; "
			   "then run this by xenemu dom0 or xenemu create)",
			   domid, rundir);
	else
		client_log(client, -err, "connection to %s/dom%u failed", rundir, domid);
}

/*
 * Wait for the machine to have released everything, so that what follows can count on it. A forked
 * child that still holds the connection does not keep it open.
 */
static void wait_released(int fd)
{
	struct timeval limit = {.tv_sec = CLOSE_WAIT_SEC};
	ssize_t len;
	char byte;

	if (shutdown(fd, SHUT_WR))
		return;
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	do {
		len = recv(fd, &byte, 1, 0);
	} while (len > 0 || (len < 0 && errno == EINTR));
}

void client_close(struct client *client)
{
	if (client->registered)
		xentoolcore__deregister_active_handle(&client->toolcore);
	if (client->fd >= 0 && client->pid == getpid())
		wait_released(client->fd);
	if (client->fd >= 0)
		close(client->fd);
	client->fd = -1;
	if (client->page)
		munmap((void *)(uintptr_t)client->page, HV_PAGE_BYTES);
	if (client->own_logger)
		xtl_logger_destroy(client->own_logger);
	pthread_mutex_destroy(&client->lock);
}

static int say_what_for(struct client *client, struct hv_msg *reply, struct client_fds *fds)
{
	int err;

	memset(reply, 0, HV_MSG_BYTES(0));
	reply->op = HV_OPEN;
	reply->u.open.kind = client->kind;
	err = client_call(client, reply, fds);
	if (!err)
		err = take_page(client, fds);
	if (err)
		client_close_fds(fds);
	else
		client->domid = (domid_t)reply->u.open.domid;
	return err;
}

static void client_init(struct client *client, enum hv_kind kind, struct xentoollog_logger *logger)
{
	memset(client, 0, sizeof(*client));
	client->fd = -1;
	client->kind = kind;
	client->pid = getpid();
	client->logger = logger;
	pthread_mutex_init(&client->lock, NULL);
}

int client_open(struct client *client, enum hv_kind kind, struct xentoollog_logger *logger,
		int (*restrict_callback)(struct toolcore_handle *handle, domid_t domid),
		struct hv_msg *reply, struct client_fds *fds)
{
	const char *rundir = xenemu_rundir();
	domid_t domid = 0;
	int err;

	client_init(client, kind, logger);
	if (!logger)
		client->logger = client->own_logger =
			(xentoollog_logger *)xtl_createlogger_stdiostream(stderr, XTL_PROGRESS, 0);
	err = env_domid(&domid);
	if (!err) {
		client->fd = connect_to(rundir, domid);
		err = client->fd < 0 ? client->fd : say_what_for(client, reply, fds);
	}
	if (err) {
		complain(client, rundir, domid, err);
		client_close(client);
		return err;
	}
	client->toolcore.restrict_callback = restrict_callback;
	xentoolcore__register_active_handle(&client->toolcore);
	client->registered = true;
	return 0;
}

int client_open_control(struct client *client, const char *rundir, struct client_fds *fds)
{
	struct hv_msg reply;
	int err;

	client_init(client, HV_KIND_CONTROL, NULL);
	client->fd = connect_to(rundir, 0);
	err = client->fd < 0 ? client->fd : say_what_for(client, &reply, fds);
	if (err)
		client_close(client);
	return err;
}
