/* SPDX-License-Identifier: MIT */
/*
 * fake_datapath.h: groups, queues and ports that move nothing, for tests of the control part: they
 * count what exists, and fail or report on demand.
 */
#ifndef TEST_UNIT_NETBACK_FAKE_DATAPATH_H
#define TEST_UNIT_NETBACK_FAKE_DATAPATH_H

#include "netback/queue.h"

struct fake_datapath {
	/* To set. */
	int port_open_result, connect_result;
	/* What there is now. */
	int nr_ports, nr_queues, nr_connected, nr_groups;
	/* What has been. */
	unsigned nr_connects;
	struct xenvif_queue_params last;
	struct xenvif_queue *last_queue;
};
extern struct fake_datapath fake;

/* As a worker would: the frontend of @queue broke the rules. */
void fake_report_fatal(struct xenvif_queue *queue, enum xenvif_fatal why);

#endif
