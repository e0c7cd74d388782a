/* SPDX-License-Identifier: MIT */
/*
 * side_load.c: load instead of a network stack: a source, a sink that checks what it gets, both, or
 * an echo. Runs in the thread of netfront_run(); touches rings through their stages only.
 */
#include "netfront/side.h"

#include <errno.h>
#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/load_frame.h"
#include "common/log.h"

#define NSEC 1000000000ull
/* How far a paced source may fall behind before it gives up catching up. */
#define BURST_NSEC (NSEC / 100)
/* With an end: nothing came back for this long, so nothing more will. */
#define QUIET_SEC 2
/* Senders whose sequence numbers are followed; more of them share, and are then not followed. */
#define NR_SENDERS 64u

struct sender {
	uint8_t mac[NETFRONT_MAC_BYTES];
	bool used;
	uint64_t next_seq;
};

struct side_load {
	struct netfront_side side;
	struct side_load_params params;
	uint8_t mac[NETFRONT_MAC_BYTES];
	bool up;
	uint64_t seq;	    /* of the next frame to send */
	uint64_t nr_back;   /* frames received */
	uint64_t next_nsec; /* a paced source may send its next frame then */
	struct event *pace, *quiet;
	struct sender senders[NR_SENDERS];
	uint8_t scratch[NETFRONT_SLOTS_MAX * NETFRONT_PAGE_BYTES];
};

static struct side_load *load_of(struct netfront_side *side)
{
	return container_of(side, struct side_load, side);
}

static uint64_t now_nsec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * NSEC + (uint64_t)now.tv_nsec;
}

/* ---- frames in pieces ---- */

static void copy_pieces(const struct iovec *to, const struct iovec *pieces, unsigned nr_pieces)
{
	size_t at = 0;

	for (unsigned i = 0; i < nr_pieces; i++) {
		const uint8_t *from = pieces[i].iov_base;
		size_t left = pieces[i].iov_len;

		while (left) {
			size_t take = MIN(left, to->iov_len - at);

			memcpy((uint8_t *)to->iov_base + at, from, take);
			from += take;
			left -= take;
			at += take;
			if (at == to->iov_len) {
				to++;
				at = 0;
			}
		}
	}
}

/* The frame in one piece; what is checked there cannot change any more. */
static const uint8_t *gather(struct side_load *load, const struct netfront_frame *frame)
{
	struct iovec to = {load->scratch, sizeof(load->scratch)};

	copy_pieces(&to, frame->iov, frame->nr_iov);
	return load->scratch;
}

/* ---- sending ---- */

static void pace_fired(evutil_socket_t fd, short what, void *arg)
{
	struct side_load *load = arg;

	netfront_schedule(load->side.nf);
}

static void quiet_fired(evutil_socket_t fd, short what, void *arg)
{
	struct side_load *load = arg;

	netfront_leave(load->side.nf);
}

static int load_configure(struct netfront_side *side, const uint8_t mac[NETFRONT_MAC_BYTES],
			  unsigned mtu_bytes)
{
	struct side_load *load = load_of(side);
	struct event_base *base = netfront_event_base(side->nf);

	memcpy(load->mac, mac, sizeof(load->mac));
	if (!load->pace)
		load->pace = evtimer_new(base, pace_fired, load);
	if (!load->quiet)
		load->quiet = evtimer_new(base, quiet_fired, load);
	if (!load->pace || !load->quiet)
		return -ENOMEM;
	if (load->params.source && load->params.size_bytes > NETFRONT_PAGE_BYTES &&
	    !netfront_agreed(side->nf)->sg_tx) {
		log_err("frames of %zu bytes take several slots, and there is no feature-sg: at "
			"most %u",
			load->params.size_bytes, NETFRONT_PAGE_BYTES);
		return -EMSGSIZE;
	}
	return 0;
}

static void load_link(struct netfront_side *side, bool up)
{
	struct side_load *load = load_of(side);

	load->up = up;
	load->next_nsec = now_nsec();
}

/* How many frames the rate allows now; arms the timer for the next if none. */
static unsigned allowance(struct side_load *load, unsigned budget)
{
	uint64_t gap, now, due;
	struct timeval wait;

	if (!load->params.rate_pps)
		return budget;
	gap = MAX(NSEC / load->params.rate_pps, 1);
	now = now_nsec();
	if (now >= load->next_nsec) {
		if (now - load->next_nsec > BURST_NSEC + gap)
			load->next_nsec = now - BURST_NSEC;
		due = (now - load->next_nsec) / gap + 1;
		return (unsigned)MIN(due, budget);
	}
	wait.tv_sec = (time_t)((load->next_nsec - now) / NSEC);
	wait.tv_usec = (suseconds_t)((load->next_nsec - now) % NSEC / 1000 + 1);
	evtimer_add(load->pace, &wait);
	return 0;
}

/* A frame of one slot is made in place, a longer one beside and then cut into its pieces. */
static void write_frame(struct side_load *load, const struct iovec *iov, int nr)
{
	size_t len = load->params.size_bytes;
	uint8_t *frame = nr == 1 ? iov[0].iov_base : load->scratch;
	struct iovec whole = {frame, len};

	memcpy(frame, load->params.dst, NETFRONT_MAC_BYTES);
	memcpy(frame + NETFRONT_MAC_BYTES, load->mac, NETFRONT_MAC_BYTES);
	load_frame_fill(frame, len, load->seq);
	if (nr > 1)
		copy_pieces(iov, &whole, 1);
}

static bool send_one(struct side_load *load, struct netfront_queue *queue)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];
	int nr = netfront_tx_begin(&queue->tx, load->params.size_bytes, iov);

	if (nr < 0)
		return false;
	write_frame(load, iov, nr);
	load->seq++;
	netfront_tx_commit(&queue->tx, load->params.size_bytes);
	if (load->params.rate_pps)
		load->next_nsec += MAX(NSEC / load->params.rate_pps, 1);
	return true;
}

static bool all_sent(const struct side_load *load)
{
	return load->params.nr_frames && load->seq >= load->params.nr_frames;
}

/* Every frame was sent and answered: leave, or wait for what comes back. */
static void end_if_through(struct side_load *load, const struct netfront_queue *queue)
{
	struct timeval quiet = {QUIET_SEC, 0};

	if (netfront_tx_in_flight(&queue->tx))
		return;
	if (!load->params.sink || load->nr_back >= load->params.nr_frames)
		event_active(load->quiet, EV_TIMEOUT, 0);
	else if (!evtimer_pending(load->quiet, NULL))
		evtimer_add(load->quiet, &quiet);
}

static bool load_fill(struct netfront_side *side, struct netfront_queue *queue, unsigned budget)
{
	struct side_load *load = load_of(side);

	if (!load->params.source || !load->up)
		return false;
	if (load->params.nr_frames)
		budget = (unsigned)MIN(budget, load->params.nr_frames - load->seq);
	if (all_sent(load)) {
		end_if_through(load, queue);
		return false;
	}
	budget = allowance(load, budget);
	if (!budget)
		return false;
	while (budget--) {
		if (!send_one(load, queue))
			return false; /* full: the answers start us again */
	}
	return true;
}

/* ---- receiving ---- */

static void follow(struct side_load *load, struct netfront_queue *queue, const uint8_t *mac,
		   uint64_t seq)
{
	struct sender *sender = &load->senders[(mac[3] ^ mac[4] ^ mac[5]) % NR_SENDERS];

	if (!sender->used || memcmp(sender->mac, mac, sizeof(sender->mac)) || !seq) {
		memcpy(sender->mac, mac, sizeof(sender->mac));
		sender->used = true;
	} else if (seq < sender->next_seq) {
		queue->nr_rx_bad++; /* again, or out of order: a queue does neither */
		return;
	} else {
		queue->nr_rx_missing += seq - sender->next_seq;
	}
	sender->next_seq = seq + 1;
}

static bool is_load_frame(const uint8_t *frame, size_t len)
{
	return len >= LOAD_FRAME_MIN_BYTES && frame[12] == LOAD_FRAME_ETHERTYPE >> 8 &&
	       frame[13] == (LOAD_FRAME_ETHERTYPE & 0xff);
}

static void check(struct side_load *load, struct netfront_queue *queue,
		  const struct netfront_frame *pieces)
{
	struct timeval quiet = {QUIET_SEC, 0};
	const uint8_t *frame = gather(load, pieces);

	if (!is_load_frame(frame, pieces->len_bytes))
		return;
	if (load_frame_check(frame, pieces->len_bytes))
		follow(load, queue, frame + NETFRONT_MAC_BYTES, load_frame_seq(frame));
	else
		queue->nr_rx_bad++;
	load->nr_back++;
	if (evtimer_pending(load->quiet, NULL))
		evtimer_add(load->quiet, &quiet);
}

/* In the transmit buffer, which the backend cannot write: the first piece holds both addresses. */
static void swap_addresses(uint8_t *head)
{
	uint8_t dst[NETFRONT_MAC_BYTES];

	memcpy(dst, head, sizeof(dst));
	memcpy(head, head + NETFRONT_MAC_BYTES, NETFRONT_MAC_BYTES);
	memcpy(head + NETFRONT_MAC_BYTES, dst, sizeof(dst));
}

static bool echo(struct netfront_queue *queue, const struct netfront_frame *frame)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];
	int nr = netfront_tx_begin(&queue->tx, frame->len_bytes, iov);

	if (nr == -ENOBUFS)
		return false;
	if (nr < 0) {
		netfront_tx_drop(&queue->tx);
		return true;
	}
	copy_pieces(iov, frame->iov, frame->nr_iov);
	swap_addresses(iov[0].iov_base);
	netfront_tx_commit(&queue->tx, frame->len_bytes);
	return true;
}

static bool load_deliver(struct netfront_side *side, struct netfront_queue *queue,
			 const struct netfront_frame *frame)
{
	struct side_load *load = load_of(side);

	if (load->params.echo)
		return echo(queue, frame);
	if (load->params.sink)
		check(load, queue, frame);
	return true;
}

static void load_free(struct netfront_side *side)
{
	struct side_load *load = load_of(side);

	if (load->pace)
		event_free(load->pace);
	if (load->quiet)
		event_free(load->quiet);
	free(load);
}

static const struct netfront_side_ops load_ops = {
	.name = "load",
	.configure = load_configure,
	.link = load_link,
	.deliver = load_deliver,
	.fill = load_fill,
	.free = load_free,
};

int side_load_new(const struct side_load_params *params, struct netfront_side **side)
{
	struct side_load *load = calloc(1, sizeof(*load));

	if (!load)
		return -ENOMEM;
	load->side.ops = &load_ops;
	load->params = *params;
	*side = &load->side;
	return 0;
}
