/* SPDX-License-Identifier: MIT */
/*
 * ring_rx.c: backend to guest. Checks the answers, puts packets together without copying them,
 * posts the buffers again. Touches the ring page and its own state only; never reads a frame's
 * contents.
 */
#include "netfront/ring.h"

#include <errno.h>

#define IDX_MASK (NETFRONT_RING_SLOTS - 1)

/* One of each type is all a packet can mean. */
#define EXTRAS_MAX (XEN_NETIF_EXTRA_TYPE_MAX - 1)

BUILD_ASSERT(sizeof(netif_rx_request_t) == 8);
BUILD_ASSERT(sizeof(netif_rx_response_t) == 8);
BUILD_ASSERT(sizeof(netif_extra_info_t) == sizeof(netif_rx_response_t));
BUILD_ASSERT(__CONST_RING_SIZE(netif_rx, NETFRONT_PAGE_BYTES) == NETFRONT_RING_SLOTS);

void netfront_rx_init(struct netfront_rx *rx, netif_rx_sring_t *sring, uint8_t *pages,
		      const uint32_t *grefs, bool notify, struct netfront_counters *counters)
{
	memset(rx, 0, sizeof(*rx));
	XEN_FRONT_RING_INIT(&rx->ring, sring, NETFRONT_PAGE_BYTES);
	rx->notify = notify;
	rx->pages = pages;
	rx->counters = counters;
	memcpy(rx->grefs, grefs, sizeof(rx->grefs));
	netfront_rx_post(rx);
}

static void begin_packet(struct netfront_rx *rx)
{
	rx->first = rx->ring.rsp_cons;
	rx->frame.nr_iov = 0;
	rx->frame.len_bytes = 0;
	rx->frame.csum_blank = false;
	rx->nr_extras = 0;
	rx->failed = false;
}

static int take_extra(struct netfront_rx *rx, const netif_extra_info_t *extra)
{
	if (++rx->nr_extras > EXTRAS_MAX)
		return -EPROTO;
	/* What an unknown one says about the packet is unknown too: not this packet, then. */
	if (extra->type == XEN_NETIF_EXTRA_TYPE_NONE || extra->type >= XEN_NETIF_EXTRA_TYPE_MAX)
		rx->failed = true;
	else
		rx->nr_extras_skipped++;
	rx->in_extra = extra->flags & XEN_NETIF_EXTRA_FLAG_MORE;
	return 0;
}

static void add_piece(struct netfront_rx *rx, unsigned idx, const netif_rx_response_t *rsp)
{
	struct netfront_frame *frame = &rx->frame;
	uint8_t *page = rx->pages + (size_t)idx * NETFRONT_PAGE_BYTES;

	if (!rsp->status)
		return; /* an empty piece is legal and says nothing */
	frame->iov[frame->nr_iov].iov_base = page + rsp->offset;
	frame->iov[frame->nr_iov].iov_len = (size_t)rsp->status;
	frame->nr_iov++;
	frame->len_bytes += (size_t)rsp->status;
}

static int take_data(struct netfront_rx *rx, unsigned idx, const netif_rx_response_t *rsp)
{
	if (rsp->id != idx || rx->nr_slots == NETFRONT_SLOTS_MAX)
		return -EPROTO;
	if (rsp->status > 0 && (unsigned)rsp->offset + (unsigned)rsp->status > NETFRONT_PAGE_BYTES)
		return -EPROTO;
	if (!rx->nr_slots++) {
		rx->frame.csum_blank = rsp->flags & NETRXF_csum_blank;
		rx->in_extra = rsp->flags & NETRXF_extra_info;
	}
	rx->more_data = rsp->flags & NETRXF_more_data;
	if (rsp->status < 0)
		rx->failed = true; /* any negative: Linux answers with raw GNTST codes */
	else
		add_piece(rx, idx, rsp);
	return 0;
}

static int take_slot(struct netfront_rx *rx)
{
	union {
		netif_rx_response_t rsp;
		netif_extra_info_t extra;
	} slot;
	unsigned idx = rx->ring.rsp_cons & IDX_MASK;

	RING_COPY_RESPONSE(&rx->ring, rx->ring.rsp_cons, &slot.rsp);
	if (!rx->nr_slots)
		begin_packet(rx);
	rx->ring.rsp_cons++;
	if (rx->in_extra)
		return take_extra(rx, &slot.extra);
	return take_data(rx, idx, &slot.rsp);
}

/* The packet is complete. Return: true if it is a frame to hand on. */
static bool end_packet(struct netfront_rx *rx)
{
	struct netfront_counters *counters = rx->counters;

	counters->slots += rx->nr_slots + rx->nr_extras;
	rx->nr_slots = 0;
	if (rx->failed || rx->frame.len_bytes < NETFRONT_FRAME_MIN_BYTES) {
		counters->errors++;
		return false;
	}
	counters->packets++;
	counters->bytes += rx->frame.len_bytes;
	rx->nr_csum_blank += rx->frame.csum_blank;
	return true;
}

static int see_answers(struct netfront_rx *rx)
{
	RING_IDX prod;

	if (rx->seen != rx->ring.rsp_cons)
		return 0;
	prod = READ_ONCE(rx->ring.sring->rsp_prod);
	xen_rmb(); /* the answers before the index are complete */
	if (prod - rx->ring.rsp_cons > rx->pushed - rx->ring.rsp_cons)
		return -EPROTO;
	rx->seen = prod;
	return 0;
}

int netfront_rx_next(struct netfront_rx *rx, const struct netfront_frame **frame)
{
	int err = see_answers(rx);

	while (!err && rx->ring.rsp_cons != rx->seen) {
		err = take_slot(rx);
		if (!err && !rx->in_extra && !rx->more_data && end_packet(rx)) {
			*frame = &rx->frame;
			return 1;
		}
	}
	return err;
}

void netfront_rx_release(struct netfront_rx *rx)
{
	rx->released = rx->nr_slots ? rx->first : rx->ring.rsp_cons;
}

unsigned netfront_rx_post(struct netfront_rx *rx)
{
	RING_IDX end = rx->released + NETFRONT_RING_SLOTS;
	unsigned nr = end - rx->ring.req_prod_pvt;
	netif_rx_request_t *req;

	for (; rx->ring.req_prod_pvt != end; rx->ring.req_prod_pvt++) {
		unsigned idx = rx->ring.req_prod_pvt & IDX_MASK;

		req = RING_GET_REQUEST(&rx->ring, rx->ring.req_prod_pvt);
		req->id = (uint16_t)idx;
		req->pad = 0;
		req->gref = rx->grefs[idx];
	}
	return nr;
}

bool netfront_rx_publish(struct netfront_rx *rx)
{
	bool notify = false;

	if (rx->pushed == rx->ring.req_prod_pvt)
		return false;
	if (rx->notify)
		RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&rx->ring, notify);
	else
		RING_PUSH_REQUESTS(&rx->ring);
	rx->pushed = rx->ring.req_prod_pvt;
	return notify;
}

bool netfront_rx_arm(struct netfront_rx *rx)
{
	netif_rx_sring_t *sring = rx->ring.sring;

	if (rx->seen != rx->ring.rsp_cons)
		return true;
	WRITE_ONCE(sring->rsp_event, rx->ring.rsp_cons + 1);
	xen_mb(); /* the index is asked for before the answers are looked at */
	return READ_ONCE(sring->rsp_prod) != rx->ring.rsp_cons;
}
