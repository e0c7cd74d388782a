/* SPDX-License-Identifier: MIT */
/*
 * group.c: the groups, their workers and what happens around the packets: the end of a round, event
 * channels in and out. The upper half runs on the group's worker, the lower half on the control
 * thread. Knows nothing of rings.
 */
#include "netback/group_private.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/fallback_alloc.h"
#include "common/log.h"
#include "netback/counter.h"
#include "common/xen_logger.h"

/* Xen hands out ports below this with either of its event channel interfaces. */
#define LOCAL_PORTS_MAX (1u << 17)

/* ---- event channels; worker ---- */

void netbk_touch_channel(struct xen_netbk *netbk, struct xenvif_channel *channel)
{
	if (channel->dirty)
		return;
	channel->dirty = true;
	channel->dirty_next = netbk->dirty;
	netbk->dirty = channel;
}

static void finish_channels(struct xen_netbk *netbk)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	struct xenvif_channel *channel;

	while ((channel = netbk->dirty)) {
		netbk->dirty = channel->dirty_next;
		channel->dirty = false;
		if (channel->notify && xenevtchn_notify(netbk->xce, (evtchn_port_t)channel->port))
			log_limited(&limit, LOG_LEVEL_WARN, "%s: cannot notify: %s",
				    channel->queue->name, strerror(errno));
		if (channel->unmask && !channel->queue->stopped &&
		    xenevtchn_unmask(netbk->xce, (evtchn_port_t)channel->port))
			log_limited(&limit, LOG_LEVEL_WARN, "%s: cannot unmask: %s",
				    channel->queue->name, strerror(errno));
		channel->notify = channel->unmask = false;
	}
}

/* An event stays masked until the queue has had its turn: a storm is one event a round. */
static void take_event(struct xen_netbk *netbk, struct xenvif_channel *channel)
{
	struct xenvif_queue *queue = channel->queue;

	counter_add(&queue->stats.events, 1);
	if (queue->stopped)
		return; /* and stays masked */
	channel->unmask = true;
	netbk_touch_channel(netbk, channel);
	if (channel->wakes & CHANNEL_TX)
		worker_schedule(netbk->worker, &queue->tx_work);
	if (channel->wakes & CHANNEL_RX)
		worker_schedule(netbk->worker, &queue->rx_work);
}

/* Events were lost (the device's own queue overran): look at everything. */
static void take_all_events(struct xen_netbk *netbk)
{
	for (unsigned port = 0; port < netbk->nr_channels; port++) {
		if (netbk->channels[port])
			take_event(netbk, netbk->channels[port]);
	}
}

static bool is_readable(int fd)
{
	struct pollfd pfd = {.fd = fd, .events = POLLIN};

	return poll(&pfd, 1, 0) == 1 && pfd.revents & POLLIN;
}

/* The library's call may block, so each is preceded by the kernel's word that it will not. */
static void events_ready(struct worker_fd *wfd, uint32_t events)
{
	struct xen_netbk *netbk = container_of(wfd, struct xen_netbk, events_fd);
	static struct log_limit limit = LOG_LIMIT_INIT;

	for (unsigned i = 0; i < NETBK_EVENTS_MAX; i++) {
		xenevtchn_port_or_error_t port = xenevtchn_pending(netbk->xce);

		if (port < 0) {
			if (errno == EAGAIN || errno == EINTR)
				return;
			log_limited(&limit, LOG_LEVEL_ERROR, "netback/%u: cannot read events: %s",
				    netbk->index, strerror(errno));
			take_all_events(netbk);
			return;
		}
		if ((unsigned)port < netbk->nr_channels && netbk->channels[port])
			take_event(netbk, netbk->channels[port]);
		if (!is_readable(wfd->fd))
			return;
	}
}

static int reserve_port(struct xen_netbk *netbk, unsigned port)
{
	unsigned nr = MAX(netbk->nr_channels, 64u);
	struct xenvif_channel **channels;

	if (port < netbk->nr_channels)
		return 0;
	if (port >= LOCAL_PORTS_MAX)
		return -ENOSPC;
	while (nr <= port)
		nr *= 2;
	channels = realloc(netbk->channels, nr * sizeof(struct xenvif_channel *));
	if (!channels)
		return -ENOMEM;
	memset(channels + netbk->nr_channels, 0,
	       (nr - netbk->nr_channels) * sizeof(struct xenvif_channel *));
	netbk->channels = channels;
	netbk->nr_channels = nr;
	return 0;
}

int netbk_bind(struct xen_netbk *netbk, struct xenvif_channel *channel, evtchn_port_t remote)
{
	uint32_t domid = channel->queue->params.domid;
	xenevtchn_port_or_error_t port = xenevtchn_bind_interdomain(netbk->xce, domid, remote);
	int err;

	if (port < 0)
		return -errno;
	err = reserve_port(netbk, (unsigned)port);
	if (err) {
		xenevtchn_unbind(netbk->xce, (evtchn_port_t)port);
		return err;
	}
	channel->port = port;
	netbk->channels[port] = channel;
	return 0;
}

void netbk_unbind(struct xen_netbk *netbk, struct xenvif_channel *channel)
{
	if (channel->port < 0)
		return;
	netbk->channels[channel->port] = NULL;
	xenevtchn_unbind(netbk->xce, (evtchn_port_t)channel->port);
	channel->port = -1;
}

/* ---- the batch; worker ---- */

void netbk_flush(struct xen_netbk *netbk)
{
	counter_add(&netbk->nr_pending,
		    netbk->pending.nr_pages - netbk->pending.nr_free - netbk->nr_pending);
	copy_run(&netbk->copy, netbk->xgt);
	xenvif_tx_finish(netbk);
	xenvif_rx_finish(netbk);
	copy_reset(&netbk->copy);
	finish_channels(netbk);
}

static void end_round(void *arg)
{
	struct xen_netbk *netbk = arg;

	netbk_flush(netbk);
	netbk->nr_tx_queues_last = netbk->nr_tx_queues;
	netbk->nr_tx_queues = 0;
	counter_add(&netbk->rounds, 1);
}

static int open_handles(void *arg)
{
	struct xen_netbk *netbk = arg;
	int err;

	netbk->xgt = xengnttab_open(xen_logger(), 0);
	if (!netbk->xgt) {
		err = errno;
		log_err("netback/%u: cannot open the grant device: %s", netbk->index,
			strerror(err));
		return -err;
	}
	netbk->xce = xenevtchn_open(xen_logger(), 0);
	if (!netbk->xce) {
		err = errno;
		log_err("netback/%u: cannot open the event channel device: %s", netbk->index,
			strerror(err));
		xengnttab_close(netbk->xgt);
		return -err;
	}
	return 0;
}

static void close_handles(void *arg)
{
	struct xen_netbk *netbk = arg;

	xenevtchn_close(netbk->xce);
	xengnttab_close(netbk->xgt);
}

static int watch_events(void *arg)
{
	struct xen_netbk *netbk = arg;

	netbk->events_fd.fd = xenevtchn_fd(netbk->xce);
	netbk->events_fd.ready = events_ready;
	return worker_add_fd(netbk->worker, &netbk->events_fd, EPOLLIN);
}

/* ---- control thread ---- */

static void destroy_group(struct xen_netbk *netbk)
{
	if (!netbk)
		return;
	worker_destroy(netbk->worker);
	pending_fini(&netbk->pending);
	free(netbk->channels);
	fallback_free(netbk, sizeof(*netbk));
}

/* The @n-th CPU of the process's mask, counted round and round; -1 if the mask is not known. */
static int nth_cpu(unsigned n)
{
	cpu_set_t cpus;
	int nr;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return -1;
	nr = CPU_COUNT(&cpus);
	n %= (unsigned)nr;
	for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++) {
		if (CPU_ISSET(cpu, &cpus) && !n--)
			return (int)cpu;
	}
	return -1;
}

static int start_worker(struct xen_netbk *netbk, const struct netbk_groups_params *params)
{
	char name[16];
	struct worker_params worker = {
		.name = name,
		.cpu = nth_cpu(netbk->index),
		.kind = params->kind,
		.quantum = NETBK_QUANTUM_BYTES,
		.flush = end_round,
		.start = open_handles,
		.stop = close_handles,
		.arg = netbk,
	};
	int err;

	snprintf(name, sizeof(name), "netback/%u", netbk->index);
	err = worker_create(&worker, &netbk->worker);
	return err ? err : worker_call(netbk->worker, watch_events, netbk);
}

static int create_group(const struct netbk_groups_params *params, unsigned index,
			struct xen_netbk **result)
{
	struct xen_netbk *netbk = fallback_alloc(sizeof(*netbk));
	int err;

	if (!netbk)
		return -ENOMEM;
	netbk->index = index;
	err = pending_init(&netbk->pending, index, params->tx_shift);
	if (!err)
		err = start_worker(netbk, params);
	if (err) {
		destroy_group(netbk);
		return err;
	}
	*result = netbk;
	return 0;
}

static unsigned nr_cpus(void)
{
	cpu_set_t cpus;

	if (sched_getaffinity(0, sizeof(cpus), &cpus))
		return 1;
	return (unsigned)CPU_COUNT(&cpus);
}

int netbk_groups_create(const struct netbk_groups_params *params, struct netbk_groups **result)
{
	unsigned nr = params->nr_groups ? params->nr_groups : MIN(nr_cpus(), NETBK_GROUPS_MAX);
	struct netbk_groups *groups;
	int err = -ENOMEM;

	if (nr > NETBK_GROUPS_MAX || params->tx_shift < NETBK_TX_SHIFT_MIN ||
	    params->tx_shift > NETBK_TX_SHIFT_MAX)
		return -EINVAL;
	groups = calloc(1, sizeof(*groups));
	if (!groups)
		return -ENOMEM;
	groups->kind = params->kind;
	groups->groups = calloc(nr, sizeof(struct xen_netbk *));
	groups->counts = calloc(nr, sizeof(atomic_uint *));
	if (!groups->groups || !groups->counts)
		goto err_destroy;
	for (; groups->nr < nr; groups->nr++) {
		err = create_group(params, groups->nr, &groups->groups[groups->nr]);
		if (err)
			goto err_destroy;
		groups->counts[groups->nr] = &groups->groups[groups->nr]->netfront_count;
	}
	*result = groups;
	return 0;

err_destroy:
	log_err("cannot make group %u of %u: %s", groups->nr, nr, strerror(-err));
	netbk_groups_destroy(groups);
	return err;
}

void netbk_groups_destroy(struct netbk_groups *groups)
{
	if (!groups)
		return;
	while (groups->nr)
		destroy_group(groups->groups[--groups->nr]);
	free(groups->counts);
	free(groups->groups);
	free(groups);
}

unsigned netbk_groups_count(const struct netbk_groups *groups)
{
	return groups->nr;
}

void netbk_group_info(const struct netbk_groups *groups, unsigned group,
		      struct netbk_group_info *info)
{
	const struct xen_netbk *netbk = groups->groups[group];

	*info = (struct netbk_group_info){
		.group = group,
		.cpu = worker_cpu(netbk->worker),
		.kind = groups->kind,
		.netfront_count = atomic_load(&netbk->netfront_count),
		.nr_pending = (unsigned)counter_read(&netbk->nr_pending),
		.nr_pending_max = netbk->pending.nr_pages,
		.copy_batches = counter_read(&netbk->copy.nr_calls),
		.copy_segments = counter_read(&netbk->copy.nr_segs),
		.rounds = counter_read(&netbk->rounds),
	};
}
