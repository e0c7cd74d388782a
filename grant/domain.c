/* SPDX-License-Identifier: MIT */
/*
 * domain.c: domains: their memory, sockets, main process, birth and death. The daemon's thread.
 */
#include "grant/machine.h"

#include <ctype.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/listener.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/log.h"
#include "xenstore/xsd.h"

#define LISTEN_BACKLOG	  64
#define ACCEPT_PAUSE_USEC 200000

int shared_fd_new(const char *name, size_t bytes)
{
	int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0)
		return -errno;
	/* No shrinking: nobody can make another process fault on what it has mapped. */
	if (ftruncate(fd, (off_t)bytes) ||
	    fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)) {
		int err = -errno;

		close(fd);
		return err;
	}
	return fd;
}

static void *map_shared(int fd, size_t bytes)
{
	void *mem = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

	return mem == MAP_FAILED ? NULL : mem;
}

static int memory_new(struct domain *domain)
{
	const struct xenemu_options *options = &domain->machine->options;
	struct grant_view *view = &domain->view;

	view->nr_entries = options->nr_grant_frames * (HV_PAGE_BYTES / 8);
	view->nr_frames = options->nr_frames;
	domain->memory_fd =
		shared_fd_new("xen-domain", hv_memory_bytes(view->nr_entries, view->nr_frames));
	if (domain->memory_fd < 0)
		return domain->memory_fd;
	domain->active_fd = shared_fd_new("xen-active", hv_active_bytes(view->nr_entries));
	if (domain->active_fd < 0)
		return domain->active_fd;
	domain->memory =
		map_shared(domain->memory_fd, hv_memory_bytes(view->nr_entries, view->nr_frames));
	domain->active_header = map_shared(domain->active_fd, hv_active_bytes(view->nr_entries));
	domain->ref_used = calloc(1, view->nr_entries);
	domain->frame_used = calloc(1, view->nr_frames);
	if (!domain->memory || !domain->active_header || !domain->ref_used || !domain->frame_used)
		return -ENOMEM;
	view->table = (struct grant_entry_v1 *)(void *)domain->memory;
	view->frames = domain->memory + hv_table_bytes(view->nr_entries);
	view->active = (uint64_t *)(void *)((uint8_t *)domain->active_header + HV_PAGE_BYTES);
	memset(domain->ref_used, 1, GNTTAB_NR_RESERVED_ENTRIES);
	domain->ref_hint = GNTTAB_NR_RESERVED_ENTRIES;
	return 0;
}

static void memory_free(struct domain *domain)
{
	struct grant_view *view = &domain->view;
	struct quarantined *page, *tmp;

	LL_FOREACH_SAFE (domain->quarantine, page, tmp)
		free(page);
	free(domain->ref_used);
	free(domain->frame_used);
	if (domain->memory)
		munmap(domain->memory, hv_memory_bytes(view->nr_entries, view->nr_frames));
	if (domain->active_header)
		munmap(domain->active_header, hv_active_bytes(view->nr_entries));
	if (domain->memory_fd >= 0)
		close(domain->memory_fd);
	if (domain->active_fd >= 0)
		close(domain->active_fd);
}

/* Out of descriptors: new clients wait a while, and the machine does not spin meanwhile. */
static void accept_again(evutil_socket_t fd, short what, void *arg)
{
	struct domain *domain = arg;

	if (domain->listener)
		evconnlistener_enable(domain->listener);
	domain_put(domain);
}

static void accept_failed(struct evconnlistener *listener, void *arg)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	struct timeval pause = {.tv_usec = ACCEPT_PAUSE_USEC};
	struct domain *domain = arg;

	log_limited(&limit, LOG_LEVEL_ERROR, "dom%u: client not accepted: %s", domain->domid,
		    strerror(errno));
	evconnlistener_disable(listener);
	if (event_base_once(domain->machine->base, -1, EV_TIMEOUT, accept_again, domain_get(domain),
			    &pause)) {
		evconnlistener_enable(listener);
		domain_put(domain);
	}
}

static void accepted(struct evconnlistener *listener, evutil_socket_t fd, struct sockaddr *addr,
		     int addr_len, void *arg)
{
	conn_accept(arg, fd);
}

static int socket_path(const struct domain *domain, const char *name, struct sockaddr_un *addr)
{
	int len;

	addr->sun_family = AF_UNIX;
	len = snprintf(addr->sun_path, sizeof(addr->sun_path), "%s/%s", domain->dir, name);
	return len < 0 || (size_t)len >= sizeof(addr->sun_path) ? -ENAMETOOLONG : 0;
}

/*
 * The socket appears under its name only when it is listening: a client that sees the file can
 * connect.
 */
static int listen_hypervisor(struct domain *domain)
{
	struct sockaddr_un addr, hidden;
	int fd, err;

	err = socket_path(domain, "hypervisor.sock", &addr);
	if (!err)
		err = socket_path(domain, ".hv.sock", &hidden);
	if (err)
		return err;
	fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	unlink(hidden.sun_path);
	if (bind(fd, (struct sockaddr *)&hidden, sizeof(hidden)) || listen(fd, LISTEN_BACKLOG) ||
	    rename(hidden.sun_path, addr.sun_path)) {
		err = -errno;
		goto fail;
	}
	domain->listener = evconnlistener_new(domain->machine->base, accepted, domain,
					      LEV_OPT_CLOSE_ON_FREE | LEV_OPT_CLOSE_ON_EXEC, 0, fd);
	if (domain->listener) {
		evconnlistener_set_error_cb(domain->listener, accept_failed);
		return 0;
	}
	err = -ENOMEM;
fail:
	close(fd);
	return err;
}

static int sockets_new(struct domain *domain)
{
	struct sockaddr_un addr;
	int err;

	if (mkdir(domain->dir, 0755) && errno != EEXIST)
		return -errno;
	err = socket_path(domain, "xenstored.sock", &addr);
	if (err)
		return err;
	err = xsd_listen(domain->machine->xsd, addr.sun_path, domain->domid);
	if (err)
		return err;
	return listen_hypervisor(domain);
}

static void sockets_free(struct domain *domain)
{
	struct sockaddr_un addr;

	if (domain->listener)
		evconnlistener_free(domain->listener);
	domain->listener = NULL;
	if (!socket_path(domain, "hypervisor.sock", &addr))
		unlink(addr.sun_path);
	rmdir(domain->dir);
}

static bool valid_name(const char *name)
{
	size_t len = strnlen(name, HV_NAME_BYTES);

	if (!len || len >= HV_NAME_BYTES || isdigit((unsigned char)name[0]))
		return false;
	for (size_t i = 0; i < len; i++) {
		if (!isalnum((unsigned char)name[i]) && !strchr("-_.+", name[i]))
			return false;
	}
	return true;
}

/* Numbers go up and round, so that one just freed is the last to be used again. */
static domid_t free_domid(struct xenemu_machine *machine)
{
	domid_t domid = machine->next_domid;

	for (unsigned tries = 0; tries < DOMID_FIRST_RESERVED; tries++) {
		if (domid == 0 || domid >= DOMID_FIRST_RESERVED)
			domid = 1;
		if (!domain_find(machine, domid)) {
			machine->next_domid = (domid_t)(domid + 1);
			return domid;
		}
		domid++;
	}
	return DOMID_INVALID;
}

int domain_create(struct xenemu_machine *machine, const char *name, domid_t want,
		  struct domain **result)
{
	struct domain *domain, *other;
	unsigned domid;
	int err;

	if (!valid_name(name))
		return -EINVAL;
	for (other = machine->domains; other; other = other->hh.next) {
		if (!strcmp(other->name, name))
			return -EEXIST;
	}
	domain = calloc(1, sizeof(*domain));
	if (!domain)
		return -ENOMEM;
	domain->machine = machine;
	domain->refs = 1;
	domain->memory_fd = domain->active_fd = domain->pidfd = -1;
	strcpy(domain->name, name);
	domain->domid = want == DOMID_INVALID ? free_domid(machine) : want;
	if (domain->domid == DOMID_INVALID) {
		free(domain);
		return -ENOSPC;
	}
	domid = domain->domid;
	snprintf(domain->dir, sizeof(domain->dir), "%s/dom%u", machine->rundir, domid);
	domain->nr_ports = machine->options.nr_ports + 1;
	domain->ports = calloc(domain->nr_ports, sizeof(*domain->ports));
	err = domain->ports ? memory_new(domain) : -ENOMEM;
	if (!err)
		err = sockets_new(domain);
	if (err) {
		sockets_free(domain);
		memory_free(domain);
		free(domain->ports);
		free(domain);
		return err;
	}
	HASH_ADD(hh, machine->domains, domid, sizeof(domain->domid), domain);
	*result = domain;
	log_info("domain %u (%s) created", domid, name);
	return 0;
}

struct domain *domain_find(struct xenemu_machine *machine, domid_t domid)
{
	struct domain *domain;

	HASH_FIND(hh, machine->domains, &domid, sizeof(domid), domain);
	return domain;
}

struct domain *domain_get(struct domain *domain)
{
	domain->refs++;
	return domain;
}

void domain_put(struct domain *domain)
{
	if (!domain || --domain->refs)
		return;
	if (domain->dead)
		domain->machine->nr_dying--;
	memory_free(domain);
	free(domain->ports);
	free(domain);
}

static void kill_main_process(struct domain *domain)
{
	if (domain->pidfd < 0)
		return;
	syscall(SYS_pidfd_send_signal, domain->pidfd, SIGKILL, NULL, 0);
	event_free(domain->pid_ev);
	close(domain->pidfd);
	domain->pidfd = -1;
}

static void answer_waiting(struct domain *domain)
{
	struct hv_msg msg = {.op = HV_DOMAIN_WAIT, .nr = 0};
	struct conn *conn;

	DL_FOREACH (domain->machine->conns, conn) {
		if (conn->waiting != domain)
			continue;
		conn->waiting = NULL;
		conn_reply(conn, &msg, NULL);
		domain_put(domain);
	}
}

void domain_destroy(struct domain *domain)
{
	struct xenemu_machine *machine = domain->machine;
	struct conn *conn, *tmp;
	struct domain *dom0;

	if (domain->dead)
		return;
	domain->dead = true;
	machine->nr_dying++;
	HASH_DEL(machine->domains, domain);
	__atomic_store_n(&domain->active_header->dead, 1, __ATOMIC_SEQ_CST);
	kill_main_process(domain);
	sockets_free(domain);
	DL_FOREACH_SAFE (machine->conns, conn, tmp) {
		if (conn->domain == domain)
			conn_destroy(conn);
	}
	ports_destroy(domain);
	log_info("domain %u (%s) is gone", domain->domid, domain->name);
	xsd_release(machine->xsd, domain->domid);
	rmdir(domain->dir);
	dom0 = domain_find(machine, 0);
	if (dom0)
		virq_raise(dom0, VIRQ_DOM_EXC);
	answer_waiting(domain);
	domain_put(domain);
}

static void main_process_ended(evutil_socket_t fd, short what, void *arg)
{
	domain_destroy(arg);
}

int domain_watch_pid(struct domain *domain, pid_t pid)
{
	int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -errno;
	fcntl(fd, F_SETFD, FD_CLOEXEC);
	domain->pid_ev = event_new(domain->machine->base, fd, EV_READ, main_process_ended, domain);
	if (!domain->pid_ev || event_add(domain->pid_ev, NULL)) {
		if (domain->pid_ev)
			event_free(domain->pid_ev);
		domain->pid_ev = NULL;
		close(fd);
		return -ENOMEM;
	}
	domain->pid = pid;
	domain->pidfd = fd;
	return 0;
}

static pid_t peer_pid(int fd)
{
	struct ucred cred;
	socklen_t len = sizeof(cred);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &cred, &len))
		return 0;
	return cred.pid;
}

/*
 * The process says best how long its domain lives: it may close what it does not know, and leave
 * children that keep what they inherit. One in a process namespace that we cannot see has no pid
 * here; then its connection must do.
 */
static int bind_lifetime(struct domain *domain, struct conn *conn)
{
	pid_t pid = peer_pid(conn->fd);

	if (pid > 0)
		return domain_watch_pid(domain, pid);
	conn->lifetime = domain_get(domain);
	return 0;
}

static void fill_info(struct hv_msg *msg, const struct domain *domain)
{
	memset(&msg->u, 0, sizeof(msg->u));
	msg->u.domain.domid = domain->domid;
	msg->u.domain.building = domain->building;
	msg->u.domain.pid = domain->pid;
	strcpy(msg->u.domain.name, domain->name);
	msg->nr = 0;
}

int op_domain_create(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain;
	int err;

	msg->u.domain.name[HV_NAME_BYTES - 1] = '\0';
	if (msg->u.domain.lifetime && conn->lifetime)
		return -EBUSY;
	err = domain_create(conn->machine, msg->u.domain.name, DOMID_INVALID, &domain);
	if (err)
		return err;
	if (msg->u.domain.lifetime) {
		domain->building = true;
		err = bind_lifetime(domain, conn);
		if (err) {
			domain_destroy(domain);
			return err;
		}
	}
	fill_info(msg, domain);
	return 0;
}

int op_domain_unpause(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain = NULL;

	if (msg->u.domain.domid < DOMID_FIRST_RESERVED)
		domain = domain_find(conn->machine, (domid_t)msg->u.domain.domid);
	if (!domain)
		return -ESRCH;
	domain->building = false;
	msg->nr = 0;
	return 0;
}

int op_domain_destroy(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain;

	if (msg->u.domain.domid >= DOMID_FIRST_RESERVED)
		return -ESRCH;
	if (!msg->u.domain.domid)
		return -EPERM;
	domain = domain_find(conn->machine, (domid_t)msg->u.domain.domid);
	if (!domain)
		return -ESRCH;
	domain_destroy(domain);
	msg->nr = 0;
	return 0;
}

int op_domain_info(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain, *best = NULL;

	for (domain = conn->machine->domains; domain; domain = domain->hh.next) {
		if (domain->domid >= msg->u.domain.domid && (!best || domain->domid < best->domid))
			best = domain;
	}
	if (!best)
		return -ESRCH;
	fill_info(msg, best);
	return 0;
}

int op_domain_wait(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *domain;

	msg->nr = 0;
	if (conn->waiting)
		return -EBUSY;
	if (msg->u.domain.domid >= DOMID_FIRST_RESERVED)
		return 0;
	domain = domain_find(conn->machine, (domid_t)msg->u.domain.domid);
	if (!domain)
		return 0;
	conn->waiting = domain_get(domain);
	return -EINPROGRESS;
}
