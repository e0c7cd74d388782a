/* SPDX-License-Identifier: MIT */
/*
 * queue.c: a queue's life: map, join a group, bind, start; stop, unbind, leave, unmap. The control
 * thread calls it; what has to happen on the worker goes there by worker_call(). Packets are in
 * tx.c and rx.c.
 */
#include "netback/group_private.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "common/log.h"
#include "common/placement.h"
#include "netback/counter.h"

BUILD_ASSERT(sizeof(struct xenvif_stats) % sizeof(uint64_t) == 0);

static const char *const drop_names[] = {
	[DROP_TX_TOO_MANY_SLOTS] = "tx_too_many_slots",
	[DROP_TX_SIZE_SUM] = "tx_size_sum",
	[DROP_TX_TOO_SHORT] = "tx_too_short",
	[DROP_TX_BAD_EXTRA] = "tx_bad_extra",
	[DROP_TX_COPY] = "tx_copy",
	[DROP_TX_PORT_FULL] = "tx_port_full",
	[DROP_TX_CSUM] = "tx_csum",
	[DROP_RX_TOO_BIG] = "rx_too_big",
	[DROP_RX_COPY] = "rx_copy",
};
BUILD_ASSERT(ARRAY_SIZE(drop_names) == NR_XENVIF_DROPS);

static const char *const fatal_names[] = {
	[FATAL_NONE] = "none",
	[FATAL_TX_PROD_OVERFLOW] = "TX ring: more requests published than the ring holds",
	[FATAL_TX_INCOMPLETE] = "TX ring: the last packet published is not complete",
	[FATAL_TX_TOO_MANY_SLOTS] = "TX ring: a packet of too many slots",
	[FATAL_TX_PAGE_CROSSING] = "TX ring: a slot that crosses its page's end",
	[FATAL_RX_PROD_OVERFLOW] = "RX ring: more requests published than the ring holds",
};
BUILD_ASSERT(ARRAY_SIZE(fatal_names) == NR_XENVIF_FATALS);

const char *xenvif_drop_name(enum xenvif_drop drop)
{
	return (unsigned)drop < ARRAY_SIZE(drop_names) ? drop_names[drop] : "invalid";
}

const char *xenvif_fatal_name(enum xenvif_fatal fatal)
{
	return (unsigned)fatal < ARRAY_SIZE(fatal_names) ? fatal_names[fatal] : "invalid";
}

/* ---- worker ---- */

static void unregister(struct xenvif_queue *queue)
{
	struct worker *worker = queue->netbk->worker;

	worker_unregister(worker, &queue->tx_work);
	worker_unregister(worker, &queue->rx_work);
	worker_disarm(worker, &queue->rx_timer);
	if (queue->port_fd.fd >= 0)
		worker_del_fd(worker, &queue->port_fd);
	queue->port_fd.fd = -1;
}

void xenvif_queue_fatal(struct xenvif_queue *queue, enum xenvif_fatal why)
{
	if (queue->stopped)
		return;
	queue->stopped = true;
	/* The event channels stay bound and, since nothing unmasks them any more, silent. */
	unregister(queue);
	queue->fatal_cb(queue, why, queue->fatal_arg);
}

static int bind_channels(struct xenvif_queue *queue)
{
	struct xenvif_channel *channels = queue->channels;
	int err;

	channels[0].wakes = queue->params.split ? CHANNEL_TX : CHANNEL_TX | CHANNEL_RX;
	channels[1].wakes = CHANNEL_RX;
	err = netbk_bind(queue->netbk, &channels[0], queue->params.tx_evtchn);
	if (err || !queue->params.split)
		return err;
	err = netbk_bind(queue->netbk, &channels[1], queue->params.rx_evtchn);
	if (err)
		netbk_unbind(queue->netbk, &channels[0]);
	return err;
}

static void unbind_channels(struct xenvif_queue *queue)
{
	netbk_unbind(queue->netbk, &queue->channels[1]);
	netbk_unbind(queue->netbk, &queue->channels[0]);
}

/*
 * Events from before the binding are lost on both sides: look at both rings, and kick the guest, by
 * way of the batch's end.
 */
static void look_and_kick(struct xenvif_queue *queue)
{
	struct xen_netbk *netbk = queue->netbk;

	for (unsigned i = 0; i < 2; i++) {
		if (queue->channels[i].port < 0)
			continue;
		queue->channels[i].notify = true;
		netbk_touch_channel(netbk, &queue->channels[i]);
	}
	worker_schedule(netbk->worker, &queue->tx_work);
	worker_schedule(netbk->worker, &queue->rx_work);
}

static int start(void *arg)
{
	struct xenvif_queue *queue = arg;
	struct worker *worker = queue->netbk->worker;
	int err;

	err = bind_channels(queue);
	if (err)
		return err;
	queue->port_fd.fd = queue->port->ops->queue_fd(queue->port, queue->id);
	queue->port_readable = queue->port_fd.fd >= 0 || xenvif_port_has_frames(queue);
	if (queue->stopped)
		queue->port_fd.fd = -1;
	if (queue->port_fd.fd >= 0) {
		err = worker_add_fd(worker, &queue->port_fd, EPOLLIN | EPOLLET);
		if (err)
			goto err_unbind;
	}
	if (queue->stopped)
		return 0;
	worker_register(worker, &queue->tx_work);
	worker_register(worker, &queue->rx_work);
	look_and_kick(queue);
	return 0;

err_unbind:
	queue->port_fd.fd = -1;
	unbind_channels(queue);
	return err;
}

/* Commands run between two rounds: the batch is empty, no channel is dirty, nothing is pending. */
static int stop(void *arg)
{
	struct xenvif_queue *queue = arg;

	netbk_flush(queue->netbk); /* unless a kick has not been delivered yet */
	unregister(queue);
	unbind_channels(queue);
	return 0;
}

/* ---- control thread ---- */

int xenvif_queue_create(const char *name, unsigned id,
			void (*fatal)(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg),
			void *arg, struct xenvif_queue **result)
{
	struct xenvif_queue *queue = calloc(1, sizeof(*queue));

	if (!queue)
		return -ENOMEM;
	snprintf(queue->name, sizeof(queue->name), "%s", name);
	queue->id = id;
	queue->log_limit = (struct log_limit)LOG_LIMIT_INIT;
	queue->fatal_cb = fatal;
	queue->fatal_arg = arg;
	queue->tx_work.run = xenvif_tx_run;
	queue->rx_work.run = xenvif_rx_run;
	queue->port_fd.fd = -1;
	queue->port_fd.ready = xenvif_rx_port_ready;
	queue->rx_timer.expired = xenvif_rx_poll;
	for (unsigned i = 0; i < 2; i++) {
		queue->channels[i].queue = queue;
		queue->channels[i].port = -1;
	}
	*result = queue;
	return 0;
}

void xenvif_queue_destroy(struct xenvif_queue *queue)
{
	if (!queue)
		return;
	xenvif_queue_disconnect(queue);
	free(queue);
}

static void *map_ring(struct xenvif_queue *queue, uint32_t ref)
{
	return xengnttab_map_grant_ref(queue->ring_handle, queue->params.domid, ref,
				       PROT_READ | PROT_WRITE);
}

/*
 * Take a ring up where it stands (never initialise it: that is the frontend's, and it may have
 * posted requests already). What was consumed but not answered by a former backend is consumed
 * again: responses are in order, so that req_cons = rsp_prod.
 */
static int attach_tx(struct xenvif_queue *queue, netif_tx_sring_t *sring)
{
	RING_IDX rsp_prod = READ_ONCE(sring->rsp_prod);

	BACK_RING_ATTACH(&queue->tx, sring, rsp_prod, TXPKT_PAGE_BYTES);
	return txpkt_prod_ok(&queue->tx, READ_ONCE(sring->req_prod)) ? 0 : -EINVAL;
}

static int attach_rx(struct xenvif_queue *queue, netif_rx_sring_t *sring)
{
	RING_IDX rsp_prod = READ_ONCE(sring->rsp_prod);

	BACK_RING_ATTACH(&queue->rx, sring, rsp_prod, RXPKT_PAGE_BYTES);
	return rxpkt_prod_ok(&queue->rx, READ_ONCE(sring->req_prod)) ? 0 : -EINVAL;
}

static void unmap_rings(struct xenvif_queue *queue)
{
	if (queue->rx.sring)
		xengnttab_unmap(queue->ring_handle, queue->rx.sring, 1);
	if (queue->tx.sring)
		xengnttab_unmap(queue->ring_handle, queue->tx.sring, 1);
	queue->rx.sring = NULL;
	queue->tx.sring = NULL;
}

static int map_rings(struct xenvif_queue *queue)
{
	const struct xenvif_queue_params *params = &queue->params;
	void *tx, *rx;
	int err;

	tx = map_ring(queue, params->tx_ring_ref);
	if (!tx) {
		err = -errno;
		log_limited(&queue->log_limit, LOG_LEVEL_ERROR,
			    "%s: cannot map the TX ring, reference %u of domain %u: %s",
			    queue->name, params->tx_ring_ref, params->domid, strerror(-err));
		return err;
	}
	err = attach_tx(queue, tx);
	if (err)
		goto err_indexes;
	rx = map_ring(queue, params->rx_ring_ref);
	if (!rx) {
		err = -errno;
		log_limited(&queue->log_limit, LOG_LEVEL_ERROR,
			    "%s: cannot map the RX ring, reference %u of domain %u: %s",
			    queue->name, params->rx_ring_ref, params->domid, strerror(-err));
		goto err_unmap;
	}
	err = attach_rx(queue, rx);
	if (err)
		goto err_indexes;
	return 0;

err_indexes:
	log_limited(&queue->log_limit, LOG_LEVEL_ERROR, "%s: the ring's indexes are impossible",
		    queue->name);
err_unmap:
	unmap_rings(queue);
	return err;
}

static void reset_connection(struct xenvif_queue *queue)
{
	queue->stopped = false;
	queue->rx_stalled = false;
	queue->rx_poll_usec = 0;
	queue->tx_work.deficit = queue->rx_work.deficit = 0;
	queue->rx_frame_max = rxpkt_frame_max(&queue->params.features);
}

int xenvif_queue_connect(struct xenvif_queue *queue, struct netbk_groups *groups,
			 xengnttab_handle *ring_handle, const struct xenvif_queue_params *params,
			 struct port *port)
{
	unsigned group;
	int err;

	if (queue->connected)
		return -EISCONN;
	if (queue->id >= port->nr_queues || params->domid > UINT16_MAX)
		return -EINVAL;
	queue->groups = groups;
	queue->ring_handle = ring_handle;
	queue->params = *params;
	queue->port = port;
	reset_connection(queue);
	err = map_rings(queue);
	if (err)
		return err;
	group = placement_join(groups->counts, groups->nr);
	queue->netbk = groups->groups[group];
	err = worker_call(queue->netbk->worker, start, queue);
	if (err) {
		log_limited(&queue->log_limit, LOG_LEVEL_ERROR,
			    "%s: cannot bind to event channel %u%s of domain %u: %s", queue->name,
			    params->tx_evtchn, params->split ? " or its RX one" : "", params->domid,
			    strerror(-err));
		goto err_leave;
	}
	queue->connected = true;
	return 0;

err_leave:
	placement_leave(&queue->netbk->netfront_count);
	queue->netbk = NULL;
	unmap_rings(queue);
	return err;
}

void xenvif_queue_disconnect(struct xenvif_queue *queue)
{
	if (!queue->connected)
		return;
	worker_call(queue->netbk->worker, stop, queue);
	placement_leave(&queue->netbk->netfront_count);
	queue->netbk = NULL;
	unmap_rings(queue);
	queue->connected = false;
}

/*
 * The guest may be given a port number anew by this, but its own stays, and so does the binding's
 * other end: closing ours makes the guest's port unbound, ready to be bound again.
 */
int xenvif_queue_move(struct xenvif_queue *queue, unsigned group)
{
	struct xen_netbk *from = queue->netbk, *to;
	int err;

	if (!queue->connected)
		return -ENOTCONN;
	if (group >= queue->groups->nr)
		return -EINVAL;
	to = queue->groups->groups[group];
	if (to == from)
		return 0;
	worker_call(from->worker, stop, queue);
	queue->netbk = to;
	err = worker_call(to->worker, start, queue);
	if (err) {
		queue->netbk = from;
		if (worker_call(from->worker, start, queue))
			log_err("%s: lost its event channel in a move", queue->name);
		return err;
	}
	atomic_fetch_add(&to->netfront_count, 1);
	placement_leave(&from->netfront_count);
	return 0;
}

bool xenvif_queue_connected(const struct xenvif_queue *queue)
{
	return queue->connected;
}

int xenvif_queue_group(const struct xenvif_queue *queue)
{
	return queue->connected ? (int)queue->netbk->index : -1;
}

void xenvif_queue_get_stats(const struct xenvif_queue *queue, struct xenvif_stats *stats)
{
	const uint64_t *from = (const uint64_t *)&queue->stats;
	uint64_t *to = (uint64_t *)stats;

	for (size_t i = 0; i < sizeof(*stats) / sizeof(*to); i++)
		to[i] = counter_read(&from[i]);
}

struct rings_query {
	const struct xenvif_queue *queue;
	struct xenvif_ring_info *tx, *rx;
};

static int query_rings(void *arg)
{
	const struct rings_query *query = arg;
	const struct xenvif_queue *queue = query->queue;

	*query->tx = (struct xenvif_ring_info){
		.req_prod = READ_ONCE(queue->tx.sring->req_prod),
		.req_cons = queue->tx.req_cons,
		.req_event = READ_ONCE(queue->tx.sring->req_event),
		.rsp_prod = READ_ONCE(queue->tx.sring->rsp_prod),
		.rsp_event = READ_ONCE(queue->tx.sring->rsp_event),
	};
	*query->rx = (struct xenvif_ring_info){
		.req_prod = READ_ONCE(queue->rx.sring->req_prod),
		.req_cons = queue->rx.req_cons,
		.req_event = READ_ONCE(queue->rx.sring->req_event),
		.rsp_prod = READ_ONCE(queue->rx.sring->rsp_prod),
		.rsp_event = READ_ONCE(queue->rx.sring->rsp_event),
	};
	return 0;
}

int xenvif_queue_rings(const struct xenvif_queue *queue, struct xenvif_ring_info *tx,
		       struct xenvif_ring_info *rx)
{
	struct rings_query query = {.queue = queue, .tx = tx, .rx = rx};

	if (!queue->connected)
		return -ENOTCONN;
	return worker_call(queue->netbk->worker, query_rings, &query);
}
