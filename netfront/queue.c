/* SPDX-License-Identifier: MIT */
/*
 * queue.c: one queue's shared pages, event channels, and its pass over both rings. Runs in the
 * thread of netfront_run(). Never touches xenstore.
 */
#include "netfront/netfront.h"

#include <errno.h>
#include <string.h>
#include <xentoollog.h>

#include "common/log.h"

int netfront_hv_open(struct netfront_hv *hv)
{
	int err;

	/* The libraries' own error lines would only repeat ours. */
	hv->logger =
		(struct xentoollog_logger *)xtl_createlogger_stdiostream(stderr, XTL_CRITICAL, 0);
	hv->gntshr = xengntshr_open(hv->logger, 0);
	if (!hv->gntshr) {
		err = errno ? -errno : -EIO;
		log_err("cannot share pages: %s (is this a Xen guest with the module xen-gntalloc "
			"loaded, or a program started by xenemu?)",
			strerror(-err));
		goto err_close;
	}
	hv->evtchn = xenevtchn_open(hv->logger, 0);
	if (!hv->evtchn) {
		err = errno ? -errno : -EIO;
		log_err("cannot open event channels: %s (is the module xen-evtchn loaded?)",
			strerror(-err));
		goto err_close;
	}
	return 0;

err_close:
	netfront_hv_close(hv);
	return err;
}

void netfront_hv_close(struct netfront_hv *hv)
{
	if (hv->evtchn)
		xenevtchn_close(hv->evtchn);
	if (hv->gntshr)
		xengntshr_close(hv->gntshr);
	if (hv->logger)
		xtl_logger_destroy(hv->logger);
	memset(hv, 0, sizeof(*hv));
}

void netfront_side_free(struct netfront_side *side)
{
	if (side && side->ops->free)
		side->ops->free(side);
}

static void *share(const struct netfront_hv *hv, uint32_t domid, int nr_pages, uint32_t *refs,
		   bool writable)
{
	return xengntshr_share_pages(hv->gntshr, domid, nr_pages, refs, writable);
}

static void unshare(const struct netfront_hv *hv, void **pages, uint32_t nr_pages)
{
	if (*pages)
		xengntshr_unshare(hv->gntshr, *pages, nr_pages);
	*pages = NULL;
}

static int share_all(struct netfront_queue *queue, const struct netfront_hv *hv, uint32_t domid,
		     const struct netfront_features *features)
{
	uint32_t tx_refs[NETFRONT_RING_SLOTS], rx_refs[NETFRONT_RING_SLOTS];

	queue->tx_ring_page = share(hv, domid, 1, &queue->tx_ring_ref, true);
	queue->rx_ring_page = share(hv, domid, 1, &queue->rx_ring_ref, true);
	/* What we send, the backend only reads. */
	queue->tx_pages = share(hv, domid, NETFRONT_RING_SLOTS, tx_refs, false);
	queue->rx_pages = share(hv, domid, NETFRONT_RING_SLOTS, rx_refs, true);
	if (!queue->tx_ring_page || !queue->rx_ring_page || !queue->tx_pages || !queue->rx_pages)
		return errno ? -errno : -ENOSPC;
	netfront_tx_init(&queue->tx, queue->tx_ring_page, queue->tx_pages, tx_refs, features->sg_tx,
			 &queue->tx_counters);
	netfront_rx_init(&queue->rx, queue->rx_ring_page, queue->rx_pages, rx_refs,
			 features->rx_notify, &queue->rx_counters);
	netfront_rx_publish(&queue->rx);
	return 0;
}

static int open_ports(struct netfront_queue *queue, const struct netfront_hv *hv, uint32_t domid,
		      bool split)
{
	queue->tx_port = xenevtchn_bind_unbound_port(hv->evtchn, domid);
	if (queue->tx_port < 0)
		return -errno;
	queue->rx_port = queue->tx_port;
	if (!split)
		return 0;
	queue->rx_port = xenevtchn_bind_unbound_port(hv->evtchn, domid);
	return queue->rx_port < 0 ? -errno : 0;
}

int netfront_queue_open(struct netfront_queue *queue, const struct netfront_hv *hv,
			uint32_t backend_domid, const struct netfront_features *features)
{
	int err;

	queue->tx_port = queue->rx_port = -1;
	queue->tx_masked = queue->rx_masked = false;
	queue->held = NULL;
	err = share_all(queue, hv, backend_domid, features);
	if (err) {
		log_err("queue %u: cannot share %u pages with domain %u: %s (is gntalloc's "
			"parameter 'limit' large enough?)",
			queue->id, 2 * NETFRONT_RING_SLOTS + 2, backend_domid, strerror(-err));
		goto err_close;
	}
	err = open_ports(queue, hv, backend_domid, features->split_evtchn);
	if (err) {
		log_err("queue %u: no event channel to domain %u: %s", queue->id, backend_domid,
			strerror(-err));
		goto err_close;
	}
	return 0;

err_close:
	netfront_queue_close(queue, hv);
	return err;
}

void netfront_queue_close(struct netfront_queue *queue, const struct netfront_hv *hv)
{
	if (queue->rx_port >= 0 && queue->rx_port != queue->tx_port)
		xenevtchn_unbind(hv->evtchn, (evtchn_port_t)queue->rx_port);
	if (queue->tx_port >= 0)
		xenevtchn_unbind(hv->evtchn, (evtchn_port_t)queue->tx_port);
	queue->tx_port = queue->rx_port = -1;
	queue->held = NULL;
	queue->scheduled = false;
	unshare(hv, &queue->rx_pages, NETFRONT_RING_SLOTS);
	unshare(hv, &queue->tx_pages, NETFRONT_RING_SLOTS);
	unshare(hv, &queue->rx_ring_page, 1);
	unshare(hv, &queue->tx_ring_page, 1);
}

void netfront_queue_kick(struct netfront_queue *queue, const struct netfront_hv *hv)
{
	xenevtchn_notify(hv->evtchn, (evtchn_port_t)queue->tx_port);
	queue->tx_counters.notifies++;
	if (queue->rx_port == queue->tx_port)
		return;
	xenevtchn_notify(hv->evtchn, (evtchn_port_t)queue->rx_port);
	queue->rx_counters.notifies++;
}

/* Return: 1 if the budget ended it, 0 if the ring or the side did, -EPROTO. */
static int receive(struct netfront_queue *queue)
{
	struct netfront_side *side = queue->side;
	unsigned budget = NETFRONT_BUDGET;
	int ret = 1;

	while (budget--) {
		if (!queue->held) {
			ret = netfront_rx_next(&queue->rx, &queue->held);
			if (ret <= 0)
				break;
		}
		if (!side->ops->deliver(side, queue, queue->held))
			return 0; /* its buffers stay ours until the side takes it */
		queue->held = NULL;
	}
	netfront_rx_release(&queue->rx);
	netfront_rx_post(&queue->rx);
	return ret;
}

void netfront_queue_drain(struct netfront_queue *queue)
{
	unsigned passes = NETFRONT_RING_SLOTS / NETFRONT_BUDGET;

	if (!queue->tx_ring_page || netfront_tx_reap(&queue->tx) < 0)
		return;
	while (passes-- && receive(queue) > 0)
		;
}

static void publish(struct netfront_queue *queue, const struct netfront_hv *hv)
{
	bool tx = netfront_tx_publish(&queue->tx);
	bool rx = netfront_rx_publish(&queue->rx);

	if (tx || (rx && queue->rx_port == queue->tx_port)) {
		xenevtchn_notify(hv->evtchn, (evtchn_port_t)queue->tx_port);
		queue->tx_counters.notifies++;
	}
	if (rx && queue->rx_port != queue->tx_port) {
		xenevtchn_notify(hv->evtchn, (evtchn_port_t)queue->rx_port);
		queue->rx_counters.notifies++;
	}
}

static void unmask(struct netfront_queue *queue, const struct netfront_hv *hv)
{
	if (queue->tx_masked)
		xenevtchn_unmask(hv->evtchn, (evtchn_port_t)queue->tx_port);
	if (queue->rx_masked)
		xenevtchn_unmask(hv->evtchn, (evtchn_port_t)queue->rx_port);
	queue->tx_masked = queue->rx_masked = false;
}

/* Return: true if there is something to do after all. */
static bool arm_events(struct netfront_queue *queue, const struct netfront_hv *hv)
{
	bool more = netfront_tx_arm(&queue->tx);

	/* While a frame is held, only an answer to what we sent can bring us on. */
	if (!queue->held)
		more |= netfront_rx_arm(&queue->rx);
	if (!more)
		unmask(queue, hv);
	return more;
}

/* Everything the pass moved: answers taken, slots received, requests shown. */
static uint32_t progress_of(const struct netfront_queue *queue)
{
	return queue->tx.ring.rsp_cons + queue->rx.ring.rsp_cons + queue->tx.pushed;
}

int netfront_queue_run(struct netfront_queue *queue, const struct netfront_hv *hv, bool arm)
{
	uint32_t before = progress_of(queue);
	bool more;
	int ret;

	ret = netfront_tx_reap(&queue->tx);
	if (ret < 0)
		return ret;
	ret = receive(queue);
	if (ret < 0)
		return ret;
	more = queue->side->ops->fill(queue->side, queue, NETFRONT_BUDGET) || ret > 0;
	publish(queue, hv);
	if (!more && arm)
		more = arm_events(queue, hv);
	queue->worked = progress_of(queue) != before;
	return more;
}
