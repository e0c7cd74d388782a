/* SPDX-License-Identifier: MIT */
/*
 * hypervisor.c: connections to the machine and the dispatch of their requests. It checks what is
 * the same for every request (size, kind of handle, domain) before a handler sees it.
 */
#include "grant/machine.h"

#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/log.h"

#define KIND(k)		(1U << (k))
#define MAX_GUEST_CONNS 1024

static hv_handler op_open;

static const struct {
	const char *name;
	hv_handler *handler;
	unsigned kinds; /* KIND()s of connection that may ask for it */
} ops[HV_NR_OPS] = {
	[HV_OPEN] = {"open", op_open, KIND(HV_KIND_NONE)},
	[HV_GNTTAB_ATTACH] = {"gnttab-attach", op_gnttab_attach, KIND(HV_KIND_GNTTAB)},
	[HV_GNTTAB_MAP] = {"gnttab-map", op_gnttab_map, KIND(HV_KIND_GNTTAB)},
	[HV_GNTTAB_UNMAP] = {"gnttab-unmap", op_gnttab_unmap, KIND(HV_KIND_GNTTAB)},
	[HV_GNTTAB_LIMIT] = {"gnttab-limit", op_gnttab_limit, KIND(HV_KIND_GNTTAB)},
	[HV_GNTSHR_SHARE] = {"gntshr-share", op_gntshr_share, KIND(HV_KIND_GNTSHR)},
	[HV_GNTSHR_UNSHARE] = {"gntshr-unshare", op_gntshr_unshare, KIND(HV_KIND_GNTSHR)},
	[HV_UNMAP_NOTIFY] = {"unmap-notify", op_unmap_notify,
			     KIND(HV_KIND_GNTTAB) | KIND(HV_KIND_GNTSHR)},
	[HV_EVTCHN_ALLOC_UNBOUND] = {"evtchn-alloc-unbound", op_evtchn_alloc_unbound,
				     KIND(HV_KIND_EVTCHN)},
	[HV_EVTCHN_BIND_INTERDOMAIN] = {"evtchn-bind-interdomain", op_evtchn_bind_interdomain,
					KIND(HV_KIND_EVTCHN)},
	[HV_EVTCHN_BIND_VIRQ] = {"evtchn-bind-virq", op_evtchn_bind_virq, KIND(HV_KIND_EVTCHN)},
	[HV_EVTCHN_CLOSE] = {"evtchn-close", op_evtchn_close, KIND(HV_KIND_EVTCHN)},
	[HV_EVTCHN_RESTRICT] = {"evtchn-restrict", op_evtchn_restrict, KIND(HV_KIND_EVTCHN)},
	[HV_DOMAIN_CREATE] = {"domain-create", op_domain_create, KIND(HV_KIND_CONTROL)},
	[HV_DOMAIN_UNPAUSE] = {"domain-unpause", op_domain_unpause, KIND(HV_KIND_CONTROL)},
	[HV_DOMAIN_DESTROY] = {"domain-destroy", op_domain_destroy, KIND(HV_KIND_CONTROL)},
	[HV_DOMAIN_INFO] = {"domain-info", op_domain_info, KIND(HV_KIND_CONTROL)},
	[HV_DOMAIN_WAIT] = {"domain-wait", op_domain_wait, KIND(HV_KIND_CONTROL)},
	[HV_STATS] = {"stats", op_stats, KIND(HV_KIND_CONTROL)},
	[HV_FAULT] = {"fault", op_fault, KIND(HV_KIND_CONTROL)},
};

/* 1 is the daemon itself; a number is not used again before all others were. */
static int take_owner(struct conn *conn)
{
	struct xenemu_machine *machine = conn->machine;
	uint32_t owner = machine->owner_hint;

	for (uint32_t tries = 0; tries < HV_MAX_OWNER; tries++) {
		if (++owner > HV_MAX_OWNER)
			owner = HV_OWNER_DAEMON + 1;
		if (machine->owners[owner])
			continue;
		machine->owners[owner] = conn;
		machine->owner_hint = owner;
		conn->owner = owner;
		return 0;
	}
	return -EMFILE;
}

static int open_gnttab(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	int fd, err;
	void *journal;

	err = take_owner(conn);
	if (err)
		return err;
	fd = shared_fd_new("xen-journal", sizeof(*conn->journal));
	if (fd < 0)
		return fd;
	journal = mmap(NULL, sizeof(*conn->journal), PROT_READ, MAP_SHARED, fd, 0);
	if (journal == MAP_FAILED) {
		err = -errno;
		close(fd);
		return err;
	}
	conn->journal = journal;
	conn->max_mapped = HV_MAX_FRAMES;
	msg->u.open.owner = conn->owner;
	fds->fd[fds->nr++] = fd;
	return 0;
}

static int op_open(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain = conn->domain;
	uint32_t kind = msg->u.open.kind;
	int err, fd;

	if (kind == HV_KIND_NONE || kind >= HV_NR_KINDS)
		return -EINVAL;
	if (kind == HV_KIND_CONTROL && domain->domid)
		return -EPERM;
	memset(&msg->u, 0, sizeof(msg->u));
	msg->u.open.domid = domain->domid;
	msg->u.open.nr_entries = domain->view.nr_entries;
	msg->u.open.nr_frames = domain->view.nr_frames;
	/* The caller closes what is in @fds, so each is a duplicate. */
	fd = dup(conn->machine->page_fd);
	if (fd < 0)
		return -errno;
	fds->fd[fds->nr++] = fd;
	if (kind == HV_KIND_GNTTAB) {
		err = open_gnttab(conn, msg, fds);
		if (err)
			return err;
	} else if (kind == HV_KIND_GNTSHR) {
		fd = dup(domain->memory_fd);
		if (fd < 0)
			return -errno;
		fds->fd[fds->nr++] = fd;
	}
	conn->kind = (enum hv_kind)kind;
	return 0;
}

int conn_reply(struct conn *conn, struct hv_msg *msg, const struct reply_fds *fds)
{
	char control[CMSG_SPACE(sizeof(int) * HV_MAX_FDS)] = {0};
	struct iovec iov = {.iov_base = msg, .iov_len = HV_MSG_BYTES(msg->nr)};
	struct msghdr hdr = {.msg_iov = &iov, .msg_iovlen = 1};
	struct cmsghdr *cmsg;

	if (fds && fds->nr) {
		hdr.msg_control = control;
		hdr.msg_controllen = CMSG_SPACE(sizeof(int) * fds->nr);
		cmsg = CMSG_FIRSTHDR(&hdr);
		cmsg->cmsg_level = SOL_SOCKET;
		cmsg->cmsg_type = SCM_RIGHTS;
		cmsg->cmsg_len = CMSG_LEN(sizeof(int) * fds->nr);
		memcpy(CMSG_DATA(cmsg), fds->fd, sizeof(int) * fds->nr);
	}
	/* A client has one request under way: one that cannot take the reply does not read them. */
	if (sendmsg(conn->fd, &hdr, MSG_NOSIGNAL | MSG_DONTWAIT) < 0)
		return -errno;
	return 0;
}

static bool well_formed(const struct conn *conn, const struct hv_msg *msg, ssize_t len)
{
	if (len < (ssize_t)HV_MSG_BYTES(0) || msg->nr > HV_MAX_PAIRS)
		return false;
	if ((size_t)len != HV_MSG_BYTES(msg->nr) || msg->op >= HV_NR_OPS)
		return false;
	return (ops[msg->op].kinds & KIND(conn->kind)) != 0;
}

static void conn_readable(evutil_socket_t fd, short what, void *arg)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	static struct hv_msg msg; /* single thread; 8 KiB are too many for some stacks */
	struct reply_fds fds = {.nr = 0};
	struct conn *conn = arg;
	uint32_t op;
	ssize_t len;
	int err;

	memset(&msg, 0, HV_MSG_BYTES(0));
	len = recv(fd, &msg, sizeof(msg), MSG_DONTWAIT | MSG_TRUNC);
	if (len < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (len <= 0) {
		conn_destroy(conn);
		return;
	}
	if (!well_formed(conn, &msg, len)) {
		log_limited(&limit, LOG_LEVEL_WARN, "dom%u: malformed request, connection closed",
			    conn->domain->domid);
		conn_destroy(conn);
		return;
	}
	op = msg.op;
	/* A dead domain's processes are being killed; they get no more out of the machine. */
	err = conn->domain->dead ? -ESHUTDOWN : ops[op].handler(conn, &msg, &fds);
	if (err == -EINPROGRESS)
		return; /* the handler replies later */
	if (err)
		msg.nr = 0;
	msg.op = op;
	msg.status = err;
	err = conn_reply(conn, &msg, &fds);
	for (unsigned i = 0; i < fds.nr; i++)
		close(fds.fd[i]);
	if (err) {
		log_limited(&limit, LOG_LEVEL_WARN, "dom%u: %s: reply: %s, connection closed",
			    conn->domain->domid, ops[op].name, strerror(-err));
		conn_destroy(conn);
	}
}

void conn_accept(struct domain *domain, int fd)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	struct conn *conn = NULL;

	/* A guest must not use up the descriptors that others need. */
	if (domain->domid && domain->nr_conns >= MAX_GUEST_CONNS)
		goto fail;
	conn = calloc(1, sizeof(*conn));
	if (!conn)
		goto fail;
	conn->machine = domain->machine;
	conn->fd = fd;
	conn->restricted = DOMID_INVALID;
	conn->ev = event_new(domain->machine->base, fd, EV_READ | EV_PERSIST, conn_readable, conn);
	if (!conn->ev || event_add(conn->ev, NULL))
		goto fail;
	conn->domain = domain_get(domain);
	domain->nr_conns++;
	DL_APPEND(domain->machine->conns, conn);
	return;
fail:
	log_limited(&limit, LOG_LEVEL_ERROR, "dom%u: connection refused: %u are open, or no memory",
		    domain->domid, domain->nr_conns);
	if (conn && conn->ev)
		event_free(conn->ev);
	free(conn);
	close(fd);
}

void conn_destroy(struct conn *conn)
{
	struct domain *lifetime = conn->lifetime;

	DL_DELETE(conn->machine->conns, conn);
	event_free(conn->ev);
	grants_end(conn);
	ports_end(conn);
	if (conn->owner)
		conn->machine->owners[conn->owner] = NULL;
	if (conn->journal)
		munmap(conn->journal, sizeof(*conn->journal));
	domain_put(conn->waiting);
	conn->domain->nr_conns--;
	domain_put(conn->domain);
	/* Last: a client that waits for the end of file then knows that all is released. */
	close(conn->fd);
	free(conn);
	if (lifetime) {
		domain_destroy(lifetime);
		domain_put(lifetime);
	}
}
