/* SPDX-License-Identifier: MIT */
/*
 * evtchn.c: the daemon's side of event channels: who is bound to whom. Notifications do not come
 * here: each end holds a pipe that wakes the other. The daemon's thread.
 *
 * A channel is born with both its pipes when a port is allocated, and is handed from peer to peer:
 * when one end closes, the other becomes unbound with the channel still its own, and who binds next
 * gets the closed end's side. Whoever gets an end of a pipe gets an open file of its own: what he
 * does to its flags (O_NONBLOCK above all) makes neither the peer nor the daemon wait. What was
 * signalled in between is not lost but also not seen twice: binding makes the local port pending
 * anyway (evtchn_bind_interdomain() of Xen).
 */
#include "grant/machine.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The pipe behind @fd as an open file of its own. For both ways: nobody sees an end of file. */
static int open_anew(int fd)
{
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/* As small as can be: a signal is there or not, and one read(2) takes all there are. */
static int pipe_new(void)
{
	int ends[2], fd;

	if (pipe2(ends, O_CLOEXEC | O_NONBLOCK))
		return -errno;
	fcntl(ends[0], F_SETPIPE_SZ, HV_PAGE_BYTES);
	fd = open_anew(ends[0]);
	close(ends[0]);
	close(ends[1]);
	return fd;
}

static struct channel *channel_new(void)
{
	struct channel *channel = calloc(1, sizeof(*channel));

	if (!channel)
		return NULL;
	channel->refs = 1;
	channel->fd[0] = pipe_new();
	channel->fd[1] = pipe_new();
	if (channel->fd[0] >= 0 && channel->fd[1] >= 0)
		return channel;
	for (unsigned i = 0; i < 2; i++) {
		if (channel->fd[i] >= 0)
			close(channel->fd[i]);
	}
	free(channel);
	return NULL;
}

static void channel_put(struct channel *channel)
{
	if (--channel->refs)
		return;
	close(channel->fd[0]);
	close(channel->fd[1]);
	free(channel);
}

/* A full pipe means that the port is pending already. */
static void signal_side(struct channel *channel, unsigned side)
{
	ssize_t ignored = write(channel->fd[side], "", 1);

	(void)ignored;
}

static struct port *port_find(const struct domain *domain, uint32_t number)
{
	return number < domain->nr_ports ? domain->ports[number] : NULL;
}

/* The lowest free port, as Xen's get_free_port(). Takes over @channel's reference on success. */
static int port_new(struct conn *conn, struct channel *channel, unsigned side, struct port **result)
{
	struct domain *domain = conn->domain;
	struct port *port;
	uint32_t number = 1;

	while (number < domain->nr_ports && domain->ports[number])
		number++;
	if (number == domain->nr_ports)
		return -ENOSPC;
	port = calloc(1, sizeof(*port));
	if (!port)
		return -ENOMEM;
	port->number = number;
	port->owner = conn;
	port->domain = domain;
	port->channel = channel;
	port->side = side;
	domain->ports[number] = port;
	*result = port;
	return 0;
}

static void port_free(struct port *port)
{
	struct port *peer = port->peer;

	if (peer) {
		peer->state = PORT_UNBOUND;
		peer->remote_domid = port->domain->domid;
		peer->peer = NULL;
	}
	channel_put(port->channel);
	port->domain->ports[port->number] = NULL;
	free(port);
}

/* The owner is done with it; it lives on while an unmap notification needs it (evtchn_get()). */
static void port_release(struct port *port)
{
	port->owner = NULL;
	if (!port->notify_refs)
		port_free(port);
}

static int reply_port(struct port *port, struct hv_msg *msg, struct reply_fds *fds)
{
	for (fds->nr = 0; fds->nr < 2; fds->nr++) {
		unsigned side = fds->nr ? !port->side : port->side;

		fds->fd[fds->nr] = open_anew(port->channel->fd[side]);
		if (fds->fd[fds->nr] < 0)
			return fds->fd[fds->nr];
	}
	msg->u.evtchn.port = port->number;
	msg->nr = 0;
	return 0;
}

static int new_unbound(struct conn *conn, struct port **port)
{
	struct channel *channel = channel_new();
	int err;

	if (!channel)
		return -ENOMEM;
	err = port_new(conn, channel, 0, port);
	if (err)
		channel_put(channel);
	return err;
}

static struct domain *resolve(struct conn *conn, uint32_t domid)
{
	if (domid == DOMID_SELF)
		return conn->domain;
	if (domid >= DOMID_FIRST_RESERVED)
		return NULL;
	return domain_find(conn->machine, (domid_t)domid);
}

int op_evtchn_alloc_unbound(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	uint32_t domid = msg->u.evtchn.domid;
	struct port *port;
	int err;

	if (conn->restricted != DOMID_INVALID)
		return -EACCES;
	/* Xen does not ask whether the remote domain exists (yet). */
	if (domid >= DOMID_FIRST_RESERVED && domid != DOMID_SELF)
		return -ESRCH;
	err = new_unbound(conn, &port);
	if (err)
		return err;
	port->state = PORT_UNBOUND;
	port->remote_domid = domid == DOMID_SELF ? conn->domain->domid : (domid_t)domid;
	err = reply_port(port, msg, fds);
	if (err)
		port_free(port);
	return err;
}

int op_evtchn_bind_interdomain(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct domain *remote_domain = resolve(conn, msg->u.evtchn.domid);
	struct port *remote, *port;
	int err;

	if (conn->restricted != DOMID_INVALID && conn->restricted != msg->u.evtchn.domid)
		return -EACCES;
	if (!remote_domain)
		return -ESRCH;
	remote = port_find(remote_domain, msg->u.evtchn.port);
	if (!remote || remote->state != PORT_UNBOUND || remote->remote_domid != conn->domain->domid)
		return -EINVAL;
	err = port_new(conn, remote->channel, !remote->side, &port);
	if (err)
		return err;
	remote->channel->refs++;
	err = reply_port(port, msg, fds);
	if (err) {
		port->state = PORT_UNBOUND;
		port_free(port);
		return err;
	}
	port->state = remote->state = PORT_INTERDOMAIN;
	port->peer = remote;
	remote->peer = port;
	/* In case the peer signalled before we were there. */
	signal_side(port->channel, port->side);
	return 0;
}

int op_evtchn_bind_virq(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	unsigned virq = msg->u.evtchn.domid;
	struct domain *domain = conn->domain;
	struct port *port;
	int err;

	if (conn->restricted != DOMID_INVALID)
		return -EACCES;
	if (virq >= NR_VIRQS)
		return -EINVAL;
	for (uint32_t i = 1; i < domain->nr_ports; i++) {
		port = domain->ports[i];
		if (port && port->state == PORT_VIRQ && port->virq == virq)
			return -EEXIST;
	}
	err = new_unbound(conn, &port);
	if (err)
		return err;
	port->state = PORT_VIRQ;
	port->virq = virq;
	err = reply_port(port, msg, fds);
	if (err)
		port_free(port);
	return err;
}

int op_evtchn_close(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct port *port = port_find(conn->domain, msg->u.evtchn.port);

	if (!port || port->owner != conn)
		return -ENOTCONN;
	port_release(port);
	msg->nr = 0;
	return 0;
}

int op_evtchn_restrict(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	uint32_t domid = msg->u.evtchn.domid;

	if (conn->restricted != DOMID_INVALID)
		return -EACCES;
	if (!domid || domid >= DOMID_FIRST_RESERVED)
		return -EINVAL;
	conn->restricted = domid;
	msg->nr = 0;
	return 0;
}

void ports_end(struct conn *conn)
{
	struct domain *domain = conn->domain;

	if (conn->kind != HV_KIND_EVTCHN)
		return;
	for (uint32_t i = 1; i < domain->nr_ports; i++) {
		if (domain->ports[i] && domain->ports[i]->owner == conn)
			port_release(domain->ports[i]);
	}
}

void ports_destroy(struct domain *domain)
{
	for (uint32_t i = 1; i < domain->nr_ports; i++) {
		if (domain->ports[i])
			port_free(domain->ports[i]);
	}
}

struct port *port_get(struct domain *domain, uint32_t number)
{
	struct port *port = port_find(domain, number);

	/* One kept by references only is closed for everybody else. */
	if (!port || !port->owner)
		return NULL;
	port->notify_refs++;
	return port;
}

void port_drop_ref(struct domain *domain, uint32_t number)
{
	struct port *port = port_find(domain, number);

	if (!port || !port->notify_refs)
		return;
	port->notify_refs--;
	if (!port->owner && !port->notify_refs)
		port_free(port);
}

void port_notify_put(struct domain *domain, uint32_t number)
{
	struct port *port = port_find(domain, number);

	if (port && port->peer)
		signal_side(port->channel, !port->side);
	port_drop_ref(domain, number);
}

void ports_signal_all(struct domain *domain)
{
	for (uint32_t i = 1; i < domain->nr_ports; i++) {
		if (domain->ports[i])
			signal_side(domain->ports[i]->channel, domain->ports[i]->side);
	}
}

void virq_raise(struct domain *domain, unsigned virq)
{
	for (uint32_t i = 1; i < domain->nr_ports; i++) {
		struct port *port = domain->ports[i];

		if (port && port->state == PORT_VIRQ && port->virq == virq)
			signal_side(port->channel, port->side);
	}
}

unsigned ports_count(const struct domain *domain)
{
	unsigned nr = 0;

	for (uint32_t i = 1; i < domain->nr_ports; i++)
		nr += domain->ports[i] != NULL;
	return nr;
}
