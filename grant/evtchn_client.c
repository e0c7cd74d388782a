/* SPDX-License-Identifier: MIT */
/*
 * evtchn_client.c: libxenevtchn. A handle's file descriptor is an epoll of one pipe for each of its
 * ports; a notification is a byte written to the peer's pipe, from process to process.
 *
 * EPOLLONESHOT is the mask: a port that xenevtchn_pending() returned stays silent until
 * xenevtchn_unmask() arms it again, which fires at once if the pipe was written to meanwhile.
 * Errors are those of Linux's evtchn device.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>
#include <xenevtchn.h>

#include "grant/client.h"

struct local_port {
	int own, peer; /* pipes: wakes us, wakes the peer; -1: not bound here */
};

struct xenevtchn_handle {
	struct client client;
	int epoll_fd;
	pthread_mutex_t lock; /* all below */
	struct local_port *ports;
	uint32_t nr_ports;     /* room in @ports */
	uint32_t notify_count; /* for injected faults */
};

static int fail(int err)
{
	errno = -err;
	return -1;
}

static int restrict_handle(struct xenevtchn_handle *xce, domid_t domid)
{
	struct hv_msg msg;

	memset(&msg, 0, HV_MSG_BYTES(0));
	msg.op = HV_EVTCHN_RESTRICT;
	msg.u.evtchn.domid = domid;
	return client_call(&xce->client, &msg, NULL);
}

static int restrict_callback(struct toolcore_handle *handle, domid_t domid)
{
	struct client *client = container_of(handle, struct client, toolcore);
	int err = restrict_handle(container_of(client, struct xenevtchn_handle, client), domid);

	return err ? fail(err) : 0;
}

xenevtchn_handle *xenevtchn_open(struct xentoollog_logger *logger, unsigned int flags)
{
	struct xenevtchn_handle *xce;
	struct client_fds fds;
	struct hv_msg msg;
	int err;

	if (flags & ~XENEVTCHN_NO_CLOEXEC) {
		errno = EINVAL;
		return NULL;
	}
	xce = calloc(1, sizeof(*xce));
	if (!xce)
		return NULL;
	err = client_open(&xce->client, HV_KIND_EVTCHN, logger, restrict_callback, &msg, &fds);
	if (err)
		goto fail;
	client_close_fds(&fds);
	xce->epoll_fd = epoll_create1(flags & XENEVTCHN_NO_CLOEXEC ? 0 : EPOLL_CLOEXEC);
	if (xce->epoll_fd < 0) {
		err = -errno;
		client_close(&xce->client);
		goto fail;
	}
	pthread_mutex_init(&xce->lock, NULL);
	return xce;
fail:
	free(xce);
	errno = -err;
	return NULL;
}

xenevtchn_handle *xenevtchn_fdopen(struct xentoollog_logger *logger, int fd, unsigned open_flags)
{
	errno = open_flags ? EINVAL : ENOSYS;
	return NULL;
}

int xenevtchn_close(xenevtchn_handle *xce)
{
	if (!xce)
		return 0;
	close(xce->epoll_fd);
	for (uint32_t i = 0; i < xce->nr_ports; i++) {
		if (xce->ports[i].own < 0)
			continue;
		close(xce->ports[i].own);
		close(xce->ports[i].peer);
	}
	client_close(&xce->client);
	pthread_mutex_destroy(&xce->lock);
	free(xce->ports);
	free(xce);
	return 0;
}

int xenevtchn_fd(xenevtchn_handle *xce)
{
	return xce->epoll_fd;
}

/* ---- binding ---- */

static int make_room(struct xenevtchn_handle *xce, uint32_t port)
{
	uint32_t nr = xce->nr_ports ? xce->nr_ports : 16;
	struct local_port *ports;

	while (nr <= port)
		nr *= 2;
	if (nr == xce->nr_ports)
		return 0;
	ports = realloc(xce->ports, nr * sizeof(*ports));
	if (!ports)
		return -ENOMEM;
	for (uint32_t i = xce->nr_ports; i < nr; i++)
		ports[i] = (struct local_port){-1, -1};
	xce->ports = ports;
	xce->nr_ports = nr;
	return 0;
}

static int port_add(struct xenevtchn_handle *xce, uint32_t port, const struct client_fds *fds)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = port};
	int err = make_room(xce, port);

	if (err)
		return err;
	if (epoll_ctl(xce->epoll_fd, EPOLL_CTL_ADD, fds->fd[0], &event))
		return -errno;
	xce->ports[port] = (struct local_port){fds->fd[0], fds->fd[1]};
	return 0;
}

static int close_port(struct xenevtchn_handle *xce, uint32_t port)
{
	struct hv_msg msg;

	memset(&msg, 0, HV_MSG_BYTES(0));
	msg.op = HV_EVTCHN_CLOSE;
	msg.u.evtchn.port = port;
	return client_call(&xce->client, &msg, NULL);
}

static int bind(struct xenevtchn_handle *xce, enum hv_op op, uint32_t domid, uint32_t remote_port)
{
	struct client_fds fds;
	struct hv_msg msg;
	uint32_t port;
	int err;

	memset(&msg, 0, HV_MSG_BYTES(0));
	msg.op = op;
	msg.u.evtchn.domid = domid;
	msg.u.evtchn.port = remote_port;
	err = client_call(&xce->client, &msg, &fds);
	if (err)
		return fail(err);
	port = msg.u.evtchn.port;
	pthread_mutex_lock(&xce->lock);
	err = fds.nr == 2 ? port_add(xce, port, &fds) : -EPROTO;
	pthread_mutex_unlock(&xce->lock);
	if (!err)
		return (int)port;
	client_close_fds(&fds);
	close_port(xce, port);
	return fail(err);
}

xenevtchn_port_or_error_t xenevtchn_bind_unbound_port(xenevtchn_handle *xce, uint32_t domid)
{
	return bind(xce, HV_EVTCHN_ALLOC_UNBOUND, domid, 0);
}

xenevtchn_port_or_error_t xenevtchn_bind_interdomain(xenevtchn_handle *xce, uint32_t domid,
						     evtchn_port_t remote_port)
{
	return bind(xce, HV_EVTCHN_BIND_INTERDOMAIN, domid, remote_port);
}

xenevtchn_port_or_error_t xenevtchn_bind_virq(xenevtchn_handle *xce, unsigned int virq)
{
	return bind(xce, HV_EVTCHN_BIND_VIRQ, virq, 0);
}

/* With the lock held. */
static struct local_port *port_find(const struct xenevtchn_handle *xce, uint32_t port)
{
	if (port >= xce->nr_ports || xce->ports[port].own < 0)
		return NULL;
	return &xce->ports[port];
}

int xenevtchn_unbind(xenevtchn_handle *xce, evtchn_port_t port)
{
	struct local_port *local;

	pthread_mutex_lock(&xce->lock);
	local = port_find(xce, port);
	if (local) {
		/* Others hold the same file: closing ours would not take it out of the epoll. */
		epoll_ctl(xce->epoll_fd, EPOLL_CTL_DEL, local->own, NULL);
		close(local->own);
		close(local->peer);
		*local = (struct local_port){-1, -1};
		close_port(xce, port);
	}
	pthread_mutex_unlock(&xce->lock);
	return local ? 0 : fail(-ENOTCONN);
}

/* ---- events ---- */

static bool injected_loss(struct xenevtchn_handle *xce)
{
	uint32_t every = READ_ONCE(xce->client.page->event_lost_every);

	return every && ++xce->notify_count % every == 0;
}

int xenevtchn_notify(xenevtchn_handle *xce, evtchn_port_t port)
{
	struct local_port *local;

	pthread_mutex_lock(&xce->lock);
	local = port_find(xce, port);
	if (local && !(unlikely(READ_ONCE(xce->client.page->faults)) && injected_loss(xce))) {
		/* A full pipe (EAGAIN) means that it is pending already. */
		ssize_t ignored = write(local->peer, "", 1);

		(void)ignored;
	}
	pthread_mutex_unlock(&xce->lock);
	return local ? 0 : fail(-ENOTCONN);
}

static void arm(const struct xenevtchn_handle *xce, const struct local_port *local, uint32_t port)
{
	struct epoll_event event = {.events = EPOLLIN | EPOLLONESHOT, .data.u32 = port};

	epoll_ctl(xce->epoll_fd, EPOLL_CTL_MOD, local->own, &event);
}

/* Clear the pending state; the port stays masked. False: it was not pending after all. */
static bool take_event(struct xenevtchn_handle *xce, uint32_t port)
{
	char signals[HV_PAGE_BYTES]; /* all there can be */
	struct local_port *local;
	bool taken = false;

	pthread_mutex_lock(&xce->lock);
	local = port_find(xce, port);
	if (local) {
		taken = read(local->own, signals, sizeof(signals)) > 0;
		if (!taken)
			arm(xce, local, port);
	}
	pthread_mutex_unlock(&xce->lock);
	return taken;
}

xenevtchn_port_or_error_t xenevtchn_pending(xenevtchn_handle *xce)
{
	struct epoll_event event;
	int nr, timeout = 0;

	for (;;) {
		nr = epoll_wait(xce->epoll_fd, &event, 1, timeout);
		if (nr < 0)
			return -1;
		if (nr && take_event(xce, event.data.u32))
			return (int)event.data.u32;
		if (nr)
			continue;
		/* Asked for only when there is nothing, as it costs a system call. */
		if (fcntl(xce->epoll_fd, F_GETFL) & O_NONBLOCK)
			return fail(-EAGAIN);
		timeout = -1;
	}
}

/* As the device: a port that is not ours, or not masked, is passed over in silence. */
int xenevtchn_unmask(xenevtchn_handle *xce, evtchn_port_t port)
{
	struct local_port *local;

	pthread_mutex_lock(&xce->lock);
	local = port_find(xce, port);
	if (local)
		arm(xce, local, port);
	pthread_mutex_unlock(&xce->lock);
	return 0;
}

int xenevtchn_restrict(xenevtchn_handle *xce, domid_t domid)
{
	int err = restrict_handle(xce, domid);

	return err ? fail(err) : 0;
}
