/* SPDX-License-Identifier: MIT */
/*
 * tx.c: guest to host. Runs on the group's worker: takes packets off the TX ring into the group's
 * batch, and, when the batch's copies are done, hands the frames to the port and answers them.
 * Touches its queue, its group and its port's queue; never xenstore, never another group.
 */
#include "netback/group_private.h"

#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "netback/counter.h"
#include "netback/csum.h"

/* Extra info a guest may send now. The hash is advice, taken from anybody. */
static unsigned offered_extras(const struct xenvif_queue *queue)
{
	return 1u << XEN_NETIF_EXTRA_TYPE_HASH;
}

/* ---- take ---- */

static bool batch_has_room(const struct xen_netbk *netbk)
{
	return netbk->nr_tx_jobs < NETBK_PACKETS_MAX && netbk->pending.nr_free >= TXPKT_PAGES_MAX &&
	       NETBK_TX_IOVS - netbk->nr_tx_iov > TXPKT_PAGES_MAX &&
	       copy_room(&netbk->copy) >= TXPKT_SEGS_MAX;
}

/* Pages one queue may fill in its turn, so that its mates find some in theirs. */
static unsigned page_share(const struct xen_netbk *netbk)
{
	unsigned mates = MAX(netbk->nr_tx_queues, netbk->nr_tx_queues_last);

	return MAX(netbk->pending.nr_pages / MAX(mates, 1u), (unsigned)TXPKT_PAGES_MAX);
}

/* Pages for a packet that is to be delivered, and the copies into them. */
static void plan(struct xen_netbk *netbk, struct tx_job *job)
{
	struct iovec *iov = &netbk->tx_iov[job->first_iov];
	union page_ext *tags = &netbk->tx_tags[job->first_iov];
	unsigned nr_pages = txpkt_pages(&job->pkt);

	iov[0].iov_base = &job->frame.hdr;
	iov[0].iov_len = sizeof(job->frame.hdr);
	for (unsigned i = 1; i <= nr_pages; i++) {
		tags[i] = pending_get(&netbk->pending);
		iov[i].iov_base = pending_page(&netbk->pending, tags[i].e.idx);
	}
	job->frame.iov = iov;
	job->frame.nr_iov = (uint16_t)(1 + nr_pages);
	job->frame.len = job->pkt.total;
	netbk->nr_tx_iov += 1 + nr_pages;
	job->nr_segs = (uint16_t)txpkt_plan(&job->pkt, (uint16_t)job->queue->params.domid, iov + 1,
					    &netbk->copy);
}

/* Take one packet. Return: its cost in bytes; 0 if the frontend just lost its vif. */
static unsigned take_packet(struct xenvif_queue *queue, RING_IDX prod)
{
	struct xen_netbk *netbk = queue->netbk;
	struct tx_job *job = &netbk->tx_jobs[netbk->nr_tx_jobs];
	enum xenvif_fatal fatal = txpkt_parse(&queue->tx, prod, offered_extras(queue), &job->pkt);

	if (fatal) {
		xenvif_queue_fatal(queue, fatal);
		return 0;
	}
	job->queue = queue;
	job->drop = job->pkt.drop;
	job->first_iov = netbk->nr_tx_iov;
	job->first_seg = (uint16_t)netbk->copy.nr;
	job->nr_segs = 0;
	job->frame.nr_iov = 0;
	job->frame.sent = false;
	if (job->drop == TXPKT_KEEP)
		plan(netbk, job);
	netbk->nr_tx_jobs++;
	return MAX(job->pkt.total, (unsigned)TXPKT_ETH_BYTES);
}

/* To be looked at again, and re-armed, once the batch is answered. */
static void note_drained(struct xenvif_queue *queue)
{
	if (queue->tx_drained)
		return;
	queue->tx_drained = true;
	queue->tx_drained_next = queue->netbk->tx_drained;
	queue->netbk->tx_drained = queue;
}

bool xenvif_tx_run(struct work *work, int64_t *deficit)
{
	struct xenvif_queue *queue = container_of(work, struct xenvif_queue, tx_work);
	struct xen_netbk *netbk = queue->netbk;
	RING_IDX prod = READ_ONCE(queue->tx.sring->req_prod);
	unsigned share = page_share(netbk), pages = 0, cost;

	xen_rmb(); /* slots are read after the index that says they are there */
	if (!txpkt_prod_ok(&queue->tx, prod)) {
		xenvif_queue_fatal(queue, FATAL_TX_PROD_OVERFLOW);
		return false;
	}
	netbk->nr_tx_queues++;
	while (queue->tx.req_cons != prod) {
		if (*deficit <= 0 || pages >= share)
			return true;
		if (!batch_has_room(netbk))
			netbk_flush(netbk);
		if (!batch_has_room(netbk))
			return true; /* pages are still in flight: never a reason to drop */
		cost = take_packet(queue, prod);
		if (!cost)
			return false;
		*deficit -= cost;
		pages += DIV_ROUND_UP(cost, TXPKT_PAGE_BYTES);
	}
	note_drained(queue);
	return false;
}

/* ---- finish ---- */

/*
 * What the guest said about the checksum, in the port's terms. A blank checksum is the protocol's
 * default for IPv4, and accepted for IPv6 from guests that were not told to.
 */
static bool set_csum(struct tx_job *job)
{
	struct virtio_net_hdr *hdr = &job->frame.hdr;
	const struct iovec *head = &job->frame.iov[1];
	struct csum_place place;

	memset(hdr, 0, sizeof(*hdr));
	if (!(job->pkt.flags & NETTXF_csum_blank)) {
		if (job->pkt.flags & NETTXF_data_validated)
			hdr->flags = VIRTIO_NET_HDR_F_DATA_VALID;
		return true;
	}
	if (csum_find(head->iov_base, head->iov_len, job->frame.len, &place))
		return false;
	hdr->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	hdr->csum_start = place.start;
	hdr->csum_offset = place.offset;
	return true;
}

/* Is the job's frame fit to be sent? */
static bool ready(struct xen_netbk *netbk, struct tx_job *job)
{
	if (job->drop != TXPKT_KEEP)
		return false;
	if (!copy_ok(&netbk->copy, job->first_seg, job->nr_segs))
		job->drop = DROP_TX_COPY;
	else if (!set_csum(job))
		job->drop = DROP_TX_CSUM;
	return job->drop == TXPKT_KEEP;
}

/* A page that is not where its tag says would be written by two packets at once: never go on. */
static void put_pages(struct xen_netbk *netbk, const struct tx_job *job)
{
	for (unsigned i = job->first_iov + 1; i < job->first_iov + job->frame.nr_iov; i++) {
		if (unlikely(!pending_put(&netbk->pending, netbk->tx_tags[i],
					  netbk->tx_iov[i].iov_base))) {
			log_err("netback/%u: pending page %u is not its tag's", netbk->index,
				netbk->tx_tags[i].e.idx);
			abort();
		}
	}
}

/* The job is over: count it, answer it, give its pages back. */
static void respond(struct xen_netbk *netbk, struct tx_job *job)
{
	struct xenvif_queue *queue = job->queue;
	struct xenvif_stats *stats = &queue->stats;
	struct netif_status status = {NETIF_RSP_OKAY};

	if (job->drop == TXPKT_KEEP && !job->frame.sent)
		job->drop = DROP_TX_PORT_FULL;
	counter_add(&stats->tx_slots, job->pkt.nr_slots + job->pkt.nr_extras);
	if (job->drop == TXPKT_KEEP) {
		counter_add(&stats->tx_packets, 1);
		counter_add(&stats->tx_bytes, job->pkt.total);
	} else {
		counter_add(&stats->drops[job->drop], 1);
		/* Full is our side's trouble, and what a real wire would have dropped as well. */
		status.wire = job->drop == DROP_TX_PORT_FULL ? NETIF_RSP_DROPPED : NETIF_RSP_ERROR;
	}
	txpkt_respond(&queue->tx, &job->pkt, status);
	put_pages(netbk, job);
}

/* One queue's jobs, which are @nr neighbours: to the port in one call, then answered in order. */
static void finish_queue(struct xen_netbk *netbk, struct tx_job *jobs, unsigned nr)
{
	struct port_frame *frames[NETBK_PACKETS_MAX];
	struct xenvif_queue *queue = jobs[0].queue;
	unsigned nr_frames = 0;
	int notify;

	for (unsigned i = 0; i < nr; i++) {
		if (ready(netbk, &jobs[i]))
			frames[nr_frames++] = &jobs[i].frame;
	}
	if (nr_frames)
		queue->port->ops->send_batch(queue->port, queue->id, frames, nr_frames);
	for (unsigned i = 0; i < nr; i++)
		respond(netbk, &jobs[i]);
	RING_PUSH_RESPONSES_AND_CHECK_NOTIFY(&queue->tx, notify);
	if (notify) {
		counter_add(&queue->stats.tx_notifies, 1);
		tx_channel(queue)->notify = true;
		netbk_touch_channel(netbk, tx_channel(queue));
	}
	/* An echo has its frame ready at once, and no descriptor to say so. */
	if (xenvif_port_has_frames(queue) && !queue->rx_stalled) {
		queue->port_readable = true;
		worker_schedule(netbk->worker, &queue->rx_work);
	}
}

/* Ask for an event at the next packet; look once more, for it may have come meanwhile. */
static void rearm(struct xen_netbk *netbk)
{
	struct xenvif_queue *queue;
	int more;

	while ((queue = netbk->tx_drained)) {
		netbk->tx_drained = queue->tx_drained_next;
		queue->tx_drained = false;
		if (queue->stopped)
			continue;
		RING_FINAL_CHECK_FOR_REQUESTS(&queue->tx, more);
		if (more)
			worker_schedule(netbk->worker, &queue->tx_work);
	}
}

void xenvif_tx_finish(struct xen_netbk *netbk)
{
	unsigned first = 0, end;

	for (; first < netbk->nr_tx_jobs; first = end) {
		for (end = first + 1; end < netbk->nr_tx_jobs; end++) {
			if (netbk->tx_jobs[end].queue != netbk->tx_jobs[first].queue)
				break;
		}
		finish_queue(netbk, &netbk->tx_jobs[first], end - first);
	}
	netbk->nr_tx_jobs = netbk->nr_tx_iov = 0;
	rearm(netbk);
}
