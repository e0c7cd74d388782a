/* SPDX-License-Identifier: MIT */
/*
 * port_load.c: ports without a network behind them, for load and tests: sink swallows, source
 * generates (common/load_frame.h), echo returns what the guest sent with the addresses exchanged.
 * Queues share nothing, so that each worker's queue is its own.
 */
#include "netback/port_ops.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/load_frame.h"
#include "netback/queue.h"

#define MAC_BYTES	     6
#define SOURCE_BYTES_DEFAULT 1514
#define SOURCE_BYTES_MIN     60
#define SOURCE_BYTES_MAX     65535

static int any_set_queues(struct port *port, unsigned nr_queues,
			  const struct xenvif_features *features)
{
	return 0;
}

static int no_fd(const struct port *port, unsigned queue)
{
	return -1;
}

static void nothing_to_close(struct port *port)
{
}

static int nothing_to_open(struct port *port)
{
	return 0;
}

static void take_all(struct port *port, unsigned queue, struct port_frame *const frames[],
		     unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		frames[i]->sent = true;
}

/* ---- sink ---- */

static unsigned recv_nothing(struct port *port, unsigned queue, struct port_frame *const frames[],
			     unsigned nr)
{
	return 0;
}

const struct port_ops port_sink_ops = {
	.name = "sink",
	.size = sizeof(struct port),
	.open = nothing_to_open,
	.close = nothing_to_close,
	.set_queues = any_set_queues,
	.queue_fd = no_fd,
	.send_batch = take_all,
	.recv_batch = recv_nothing,
};

/* ---- source ---- */

struct port_source {
	struct port port;
	unsigned frame_bytes;
	/* Each of its queue's worker only; padded to a line, for it is written for every frame. */
	struct {
		uint64_t seq;
		uint8_t pad[CACHE_LINE_BYTES - sizeof(uint64_t)];
	} queues[XENVIF_QUEUES_MAX];
};

static int source_open(struct port *port)
{
	struct port_source *source = (struct port_source *)port;
	unsigned bytes = port->params.source_bytes;

	if (bytes && (bytes < SOURCE_BYTES_MIN || bytes > SOURCE_BYTES_MAX))
		return -EINVAL;
	source->frame_bytes = bytes ? bytes : SOURCE_BYTES_DEFAULT;
	return 0;
}

/* The source's own address is the guest's, made locally administered and given another last bit. */
static void source_fill(const struct port_source *source, uint8_t *frame, size_t len, uint64_t seq)
{
	memcpy(frame, source->port.params.mac, MAC_BYTES);
	memcpy(frame + MAC_BYTES, source->port.params.mac, MAC_BYTES);
	frame[MAC_BYTES] = (uint8_t)((frame[MAC_BYTES] | 0x02) & ~0x01);
	frame[2 * MAC_BYTES - 1] ^= 0x01;
	load_frame_fill(frame, len, seq);
}

static unsigned source_recv_batch(struct port *port, unsigned queue,
				  struct port_frame *const frames[], unsigned nr)
{
	struct port_source *source = (struct port_source *)port;

	for (unsigned i = 0; i < nr; i++) {
		struct port_frame *frame = frames[i];

		memset(&frame->hdr, 0, sizeof(frame->hdr));
		frame->len = source->frame_bytes;
		if (frame->len <= frame->iov[1].iov_len)
			source_fill(source, frame->iov[1].iov_base, frame->len,
				    source->queues[queue].seq);
		source->queues[queue].seq++;
	}
	return nr;
}

static bool source_has_frames(const struct port *port, unsigned queue)
{
	return true;
}

const struct port_ops port_source_ops = {
	.name = "source",
	.size = sizeof(struct port_source),
	.open = source_open,
	.close = nothing_to_close,
	.set_queues = any_set_queues,
	.queue_fd = no_fd,
	.send_batch = take_all,
	.recv_batch = source_recv_batch,
	.has_frames = source_has_frames,
};

/* ---- echo ---- */

/* What one queue may hold back for a guest that does not take it: full is a counted drop. */
#define ECHO_QUEUE_BYTES (256u << 10)
#define ECHO_ALIGN	 8u

/* In the queue before each frame. A length of 0 means: go on at the queue's start. */
struct echo_head {
	uint32_t len;
	struct virtio_net_hdr hdr;
};

/* A byte ring of whole frames; worker only. in and out run freely, frames never wrap. */
struct echo_queue {
	uint8_t *bytes;
	uint32_t in, out;
	uint8_t pad[CACHE_LINE_BYTES - 2 * sizeof(uint32_t) - sizeof(uint8_t *)];
};

struct port_echo {
	struct port port;
	struct echo_queue queues[XENVIF_QUEUES_MAX];
};

static struct port_echo *to_echo(struct port *port)
{
	return (struct port_echo *)port;
}

static void echo_close(struct port *port)
{
	for (unsigned i = 0; i < XENVIF_QUEUES_MAX; i++)
		free(to_echo(port)->queues[i].bytes);
}

/* A new connection starts with nothing left over from the old one. */
static int echo_set_queues(struct port *port, unsigned nr_queues,
			   const struct xenvif_features *features)
{
	for (unsigned i = 0; i < nr_queues; i++) {
		struct echo_queue *queue = &to_echo(port)->queues[i];

		queue->in = queue->out = 0;
		if (!queue->bytes)
			queue->bytes = malloc(ECHO_QUEUE_BYTES);
		if (!queue->bytes)
			return -ENOMEM;
	}
	return 0;
}

static uint32_t echo_entry_bytes(uint32_t len)
{
	return (uint32_t)(sizeof(struct echo_head) + len + ECHO_ALIGN - 1) & ~(ECHO_ALIGN - 1);
}

/* Room for @bytes in one piece. Return: where, or NULL. */
static uint8_t *echo_reserve(struct echo_queue *queue, uint32_t bytes)
{
	uint32_t at = queue->in % ECHO_QUEUE_BYTES;
	uint32_t to_end = ECHO_QUEUE_BYTES - at;
	uint32_t skip = to_end < bytes ? to_end : 0;

	if (ECHO_QUEUE_BYTES - (queue->in - queue->out) < skip + bytes)
		return NULL;
	if (skip) {
		if (skip >= sizeof(struct echo_head))
			memset(queue->bytes + at, 0, sizeof(struct echo_head));
		queue->in += skip;
		at = 0;
	}
	queue->in += bytes;
	return queue->bytes + at;
}

static bool echo_put(struct echo_queue *queue, const struct port_frame *frame)
{
	struct echo_head head = {.len = frame->len, .hdr = frame->hdr};
	uint8_t *at = echo_reserve(queue, echo_entry_bytes(frame->len));
	uint8_t *bytes;

	if (!at)
		return false;
	memcpy(at, &head, sizeof(head));
	bytes = at + sizeof(head);
	for (unsigned i = 1; i < frame->nr_iov; i++) {
		memcpy(bytes, frame->iov[i].iov_base, frame->iov[i].iov_len);
		bytes += frame->iov[i].iov_len;
	}
	return true;
}

static void echo_send_batch(struct port *port, unsigned queue, struct port_frame *const frames[],
			    unsigned nr)
{
	for (unsigned i = 0; i < nr; i++)
		frames[i]->sent = echo_put(&to_echo(port)->queues[queue], frames[i]);
}

/* The head of the oldest frame, past a jump to the queue's start. Return: NULL if empty. */
static const uint8_t *echo_peek(struct echo_queue *queue, struct echo_head *head)
{
	while (queue->in != queue->out) {
		uint32_t at = queue->out % ECHO_QUEUE_BYTES;
		uint32_t to_end = ECHO_QUEUE_BYTES - at;

		if (to_end >= sizeof(*head)) {
			memcpy(head, queue->bytes + at, sizeof(*head));
			if (head->len)
				return queue->bytes + at + sizeof(*head);
		}
		queue->out += to_end;
	}
	return NULL;
}

/* Exchange the addresses; a frame is at least an Ethernet header long, or it was not let in. */
static void echo_copy(uint8_t *dst, const uint8_t *src, uint32_t len)
{
	memcpy(dst, src + MAC_BYTES, MAC_BYTES);
	memcpy(dst + MAC_BYTES, src, MAC_BYTES);
	memcpy(dst + 2 * MAC_BYTES, src + 2 * MAC_BYTES, len - 2 * MAC_BYTES);
}

static unsigned echo_recv_batch(struct port *port, unsigned queue,
				struct port_frame *const frames[], unsigned nr)
{
	struct echo_queue *from = &to_echo(port)->queues[queue];
	struct echo_head head;
	const uint8_t *bytes;
	unsigned i;

	for (i = 0; i < nr && (bytes = echo_peek(from, &head)); i++) {
		frames[i]->hdr = head.hdr;
		frames[i]->len = head.len;
		if (head.len <= frames[i]->iov[1].iov_len)
			echo_copy(frames[i]->iov[1].iov_base, bytes, head.len);
		from->out += echo_entry_bytes(head.len);
	}
	return i;
}

static bool echo_has_frames(const struct port *port, unsigned queue)
{
	const struct echo_queue *from = &((const struct port_echo *)port)->queues[queue];

	return from->in != from->out;
}

const struct port_ops port_echo_ops = {
	.name = "echo",
	.size = sizeof(struct port_echo),
	.open = nothing_to_open,
	.close = echo_close,
	.set_queues = echo_set_queues,
	.queue_fd = no_fd,
	.send_batch = echo_send_batch,
	.recv_batch = echo_recv_batch,
	.has_frames = echo_has_frames,
};
