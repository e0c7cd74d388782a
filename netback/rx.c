/* SPDX-License-Identifier: MIT */
/*
 * rx.c: host to guest. Runs on the group's worker: receives frames from the port, never more than
 * the guest has posted buffers for, into the group's batch; when the batch's copies are done,
 * answers them. What the guest does not take stays in the port, whose queue is bounded: a guest
 * that posts nothing costs no memory here (XSA-392).
 */
#include "netback/group_private.h"

#include <netinet/udp.h>

#include "netback/counter.h"
#include "netback/csum.h"

/* Frames start on a cache line of their own in the batch. */
#define FRAME_ALIGN CACHE_LINE_BYTES

/* ---- receive ---- */

/* The buffer of one frame: a byte more than is accepted, to tell a frame that was cut. */
static unsigned buffer_bytes(const struct xenvif_queue *queue)
{
	return (queue->rx_frame_max + 1 + FRAME_ALIGN - 1) & ~(FRAME_ALIGN - 1u);
}

/* How many frames of the largest size fit into the batch as it stands. */
static unsigned batch_room(const struct xen_netbk *netbk, const struct xenvif_queue *queue)
{
	unsigned jobs = NETBK_PACKETS_MAX - netbk->nr_rx_jobs;
	unsigned buffers = (NETBK_RX_BYTES - netbk->rx_used_bytes) / buffer_bytes(queue);
	unsigned segs = copy_room(&netbk->copy) / rxpkt_slots(queue->rx_frame_max);

	return MIN(jobs, MIN(buffers, segs));
}

/* The place of the frame's blank checksum as the port says; false if that is not in the frame. */
static bool blank_place(const struct port_frame *frame, struct csum_place *place)
{
	const struct virtio_net_hdr *hdr = &frame->hdr;

	place->start = hdr->csum_start;
	place->offset = hdr->csum_offset;
	place->udp = hdr->csum_offset == offsetof(struct udphdr, check);
	return (size_t)place->start + place->offset + sizeof(uint16_t) <= frame->len;
}

/* Would the guest find the same checksum blank (not an inner one, say), and does it take that? */
static bool guest_takes_blank(const struct xenvif_queue *queue, const struct port_frame *frame)
{
	const struct xenvif_features *features = &queue->params.features;
	struct csum_place place;

	if (csum_find(frame->iov[1].iov_base, frame->len, frame->len, &place) ||
	    place.start != frame->hdr.csum_start || place.offset != frame->hdr.csum_offset)
		return false;
	return place.ipv6 ? features->csum_ipv6 : features->csum_ipv4;
}

/* What the guest is told of the frame's checksum. One it would not take blank is filled in here. */
static uint16_t rx_flags(const struct xenvif_queue *queue, struct port_frame *frame)
{
	struct csum_place place;

	if (frame->hdr.flags & VIRTIO_NET_HDR_F_DATA_VALID)
		return NETRXF_data_validated;
	if (!(frame->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) || !blank_place(frame, &place))
		return 0;
	if (guest_takes_blank(queue, frame))
		return NETRXF_csum_blank | NETRXF_data_validated;
	csum_fill(frame->iov[1].iov_base, frame->len, &place);
	return NETRXF_data_validated;
}

static void plan(struct xenvif_queue *queue, struct port_frame *frame)
{
	struct xen_netbk *netbk = queue->netbk;
	struct rx_job *job = &netbk->rx_jobs[netbk->nr_rx_jobs];

	if (frame->len > queue->rx_frame_max || frame->len < TXPKT_ETH_BYTES) {
		counter_add(&queue->stats.drops[DROP_RX_TOO_BIG], 1);
		return;
	}
	job->queue = queue;
	job->len = frame->len;
	job->flags = rx_flags(queue, frame);
	job->first_seg = (uint16_t)netbk->copy.nr;
	job->nr_segs = (uint16_t)rxpkt_plan(&queue->rx, (uint16_t)queue->params.domid,
					    frame->iov[1].iov_base, frame->len,
					    &netbk->rx_ids[job->first_seg], &netbk->copy);
	netbk->nr_rx_jobs++;
}

/* Receive up to @nr frames, for which there is room. Return: whether so many came. */
static bool receive(struct xenvif_queue *queue, unsigned nr, int64_t *deficit)
{
	struct xen_netbk *netbk = queue->netbk;
	unsigned stride = buffer_bytes(queue), got;
	struct port_frame frames[NETBK_PACKETS_MAX], *list[NETBK_PACKETS_MAX];
	struct iovec iov[NETBK_PACKETS_MAX][2];

	for (unsigned i = 0; i < nr; i++) {
		iov[i][0] = (struct iovec){&frames[i].hdr, sizeof(frames[i].hdr)};
		iov[i][1] = (struct iovec){netbk->rx_bytes + netbk->rx_used_bytes + i * stride,
					   queue->rx_frame_max + 1};
		frames[i].iov = iov[i];
		frames[i].nr_iov = 2;
		list[i] = &frames[i];
	}
	got = queue->port->ops->recv_batch(queue->port, queue->id, list, nr);
	netbk->rx_used_bytes += got * stride;
	for (unsigned i = 0; i < got; i++) {
		*deficit -= MIN(frames[i].len, queue->rx_frame_max);
		plan(queue, &frames[i]);
	}
	return got == nr;
}

/* Look again soon, and less and less soon while nothing comes. */
static void arm_poll(struct xenvif_queue *queue)
{
	unsigned usec =
		MIN(MAX(queue->rx_poll_usec * 2, NETBK_RX_POLL_USEC_MIN), NETBK_RX_POLL_USEC_MAX);

	queue->rx_poll_usec = usec;
	worker_arm(queue->netbk->worker, &queue->rx_timer, usec);
}

/*
 * The guest has posted less than the largest frame takes. Ask for an event when it is enough, not
 * at the next buffer: a guest posts them one by one. Then look again, for they may have come.
 * Return: is it enough now?
 */
static bool wait_for_buffers(struct xenvif_queue *queue, unsigned need)
{
	RING_IDX prod;

	queue->rx.sring->req_event = queue->rx.req_cons + need;
	xen_mb();
	prod = READ_ONCE(queue->rx.sring->req_prod);
	if (prod - queue->rx.req_cons >= need)
		return true;
	if (!queue->rx_stalled)
		counter_add(&queue->stats.rx_stalls, 1);
	queue->rx_stalled = true;
	if (!queue->params.features.rx_notify)
		arm_poll(queue);
	return false;
}

/* Frames that may be received now: limited by posted buffers, the batch and the turn. */
static unsigned may_receive(struct xenvif_queue *queue, unsigned posted, int64_t deficit)
{
	unsigned by_slots = posted / rxpkt_slots(queue->rx_frame_max);
	unsigned by_turn = (unsigned)MIN(deficit / queue->rx_frame_max + 1, NETBK_PACKETS_MAX);

	return MIN(by_slots, by_turn);
}

bool xenvif_rx_run(struct work *work, int64_t *deficit)
{
	struct xenvif_queue *queue = container_of(work, struct xenvif_queue, rx_work);
	unsigned need = rxpkt_slots(queue->rx_frame_max);
	RING_IDX prod;

	while (queue->port_readable) {
		unsigned nr;

		if (*deficit <= 0)
			return true;
		prod = READ_ONCE(queue->rx.sring->req_prod);
		xen_rmb(); /* requests are read after the index that says they are there */
		if (!rxpkt_prod_ok(&queue->rx, prod)) {
			xenvif_queue_fatal(queue, FATAL_RX_PROD_OVERFLOW);
			return false;
		}
		if (prod - queue->rx.req_cons < need) {
			if (wait_for_buffers(queue, need))
				continue;
			return false;
		}
		queue->rx_stalled = false;
		queue->rx_poll_usec = 0;
		if (!batch_room(queue->netbk, queue))
			netbk_flush(queue->netbk);
		nr = MIN(may_receive(queue, prod - queue->rx.req_cons, *deficit),
			 batch_room(queue->netbk, queue));
		queue->port_readable = receive(queue, nr, deficit);
	}
	return false;
}

void xenvif_rx_port_ready(struct worker_fd *wfd, uint32_t events)
{
	struct xenvif_queue *queue = container_of(wfd, struct xenvif_queue, port_fd);

	queue->port_readable = true;
	/* Stalled: the guest's event or the timer goes on; a wake-up per arriving frame would not
	 * help. */
	if (!queue->rx_stalled)
		worker_schedule(queue->netbk->worker, &queue->rx_work);
}

void xenvif_rx_poll(struct worker_timer *timer)
{
	struct xenvif_queue *queue = container_of(timer, struct xenvif_queue, rx_timer);

	worker_schedule(queue->netbk->worker, &queue->rx_work);
}

/* ---- finish ---- */

static void respond(struct xen_netbk *netbk, const struct rx_job *job)
{
	struct xenvif_stats *stats = &job->queue->stats;
	bool ok = copy_ok(&netbk->copy, job->first_seg, job->nr_segs);

	counter_add(&stats->rx_slots, job->nr_segs);
	if (ok) {
		counter_add(&stats->rx_packets, 1);
		counter_add(&stats->rx_bytes, job->len);
	} else {
		counter_add(&stats->drops[DROP_RX_COPY], 1);
	}
	rxpkt_respond(&job->queue->rx, &netbk->rx_ids[job->first_seg], job->len, job->flags, ok);
}

static void push(struct xen_netbk *netbk, struct xenvif_queue *queue)
{
	int notify;

	RING_PUSH_RESPONSES_AND_CHECK_NOTIFY(&queue->rx, notify);
	if (!notify)
		return;
	counter_add(&queue->stats.rx_notifies, 1);
	rx_channel(queue)->notify = true;
	netbk_touch_channel(netbk, rx_channel(queue));
}

void xenvif_rx_finish(struct xen_netbk *netbk)
{
	for (unsigned i = 0; i < netbk->nr_rx_jobs; i++) {
		const struct rx_job *job = &netbk->rx_jobs[i];

		respond(netbk, job);
		if (i + 1 == netbk->nr_rx_jobs || job[1].queue != job->queue)
			push(netbk, job->queue);
	}
	netbk->nr_rx_jobs = 0;
	netbk->rx_used_bytes = 0;
}
