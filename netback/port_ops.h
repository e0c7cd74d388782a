/* SPDX-License-Identifier: MIT */
/*
 * port_ops.h: the data path's half of a port, and what every kind of port implements.
 *
 * A port's queue q is used by one worker at a time, the one its vif's queue q is on; open, close,
 * set_queues and set_carrier are the control thread's. No verb of the data path blocks.
 */
#ifndef NETBACK_PORT_OPS_H
#define NETBACK_PORT_OPS_H

#include <linux/virtio_net.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "netback/port.h"

/**
 * One frame on its way. The header says what is left to do with it (blank checksum, segmentation)
 * in both directions.
 */
struct port_frame {
	struct virtio_net_hdr hdr;
	bool sent;	   /* by send_batch: the port took it */
	uint16_t nr_iov;   /* entries of iov */
	uint32_t len;	   /* bytes of the frame, without the header */
	struct iovec *iov; /* [0] is ->hdr, the others the frame's bytes */
};

struct port_ops {
	const char *name;
	size_t size; /* of the kind's own struct, whose first member is struct port */
	/* Called with ->params set; on failure nothing is left behind. */
	int (*open)(struct port *port);
	/* Let go of everything; the struct itself is the caller's. */
	void (*close)(struct port *port);
	int (*set_queues)(struct port *port, unsigned nr_queues,
			  const struct xenvif_features *features);
	void (*set_carrier)(struct port *port, int up);

	/* A descriptor that becomes readable when recv_batch() has something; -1: none is needed.
	 */
	int (*queue_fd)(const struct port *port, unsigned queue);
	/* Offer @nr frames; sets ->sent of each. What is not taken is the caller's to count. */
	void (*send_batch)(struct port *port, unsigned queue, struct port_frame *const frames[],
			   unsigned nr);
	/*
	 * Receive up to @nr frames. iov[1] of each is a buffer, whose iov_len is its room; sets
	 * ->hdr and ->len. A frame that fills its buffer may have been cut: the caller gives a
	 * byte more than it accepts.
	 * Return: how many; fewer than @nr means that there is nothing more for now.
	 */
	unsigned (*recv_batch)(struct port *port, unsigned queue, struct port_frame *const frames[],
			       unsigned nr);
	/* Has recv_batch() something without an event having come? NULL: never. */
	bool (*has_frames)(const struct port *port, unsigned queue);
};

/** A kind's own struct begins with this one. */
struct port {
	const struct port_ops *ops;
	enum port_kind kind;
	struct port_params params;
	unsigned nr_queues; /* of the connection; constant while queues are connected */
};

extern const struct port_ops port_tap_ops;
extern const struct port_ops port_sink_ops;
extern const struct port_ops port_source_ops;
extern const struct port_ops port_echo_ops;

#endif
