/* SPDX-License-Identifier: MIT */
/* fake_datapath.c: the data path's interfaces (group.h, port.h, queue.h) and Xen's handles. */
#include "test/unit/netback/fake_datapath.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"

struct fake_datapath fake;

struct netbk_groups {
	unsigned nr;
};

struct port {
	enum port_kind kind;
};

struct xenvif_queue {
	void (*fatal)(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg);
	void *arg;
	bool connected;
};

void fake_report_fatal(struct xenvif_queue *queue, enum xenvif_fatal why)
{
	queue->fatal(queue, why, queue->arg);
}

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned flags)
{
	return calloc(1, 1);
}

int xengnttab_close(xengnttab_handle *handle)
{
	free(handle);
	return 0;
}

xenevtchn_handle *xenevtchn_open(struct xentoollog_logger *logger, unsigned flags)
{
	return calloc(1, 1);
}

int xenevtchn_close(xenevtchn_handle *handle)
{
	free(handle);
	return 0;
}

int netbk_groups_create(const struct netbk_groups_params *params, struct netbk_groups **groups)
{
	*groups = calloc(1, sizeof(**groups));
	(*groups)->nr = params->nr_groups ? params->nr_groups : 1;
	fake.nr_groups++;
	return 0;
}

void netbk_groups_destroy(struct netbk_groups *groups)
{
	fake.nr_groups -= groups != NULL;
	free(groups);
}

unsigned netbk_groups_count(const struct netbk_groups *groups)
{
	return groups->nr;
}

void netbk_group_info(const struct netbk_groups *groups, unsigned group,
		      struct netbk_group_info *info)
{
	*info = (struct netbk_group_info){.group = group, .cpu = -1};
}

static const char *const port_names[] = {
	[PORT_TAP] = "tap", [PORT_SINK] = "sink", [PORT_SOURCE] = "source", [PORT_ECHO] = "echo"};

int port_parse_kind(const char *name, enum port_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(port_names); i++) {
		if (!strcmp(name, port_names[i])) {
			*kind = (enum port_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *port_kind_name(enum port_kind kind)
{
	return port_names[kind];
}

int port_open(const struct port_params *params, struct port **port)
{
	if (fake.port_open_result)
		return fake.port_open_result;
	*port = calloc(1, sizeof(**port));
	(*port)->kind = params->kind;
	fake.nr_ports++;
	return 0;
}

void port_close(struct port *port)
{
	fake.nr_ports -= port != NULL;
	free(port);
}

int port_set_queues(struct port *port, unsigned nr_queues, const struct xenvif_features *features)
{
	return 0;
}

void port_set_carrier(struct port *port, int up)
{
}

enum port_kind port_kind(const struct port *port)
{
	return port->kind;
}

const char *xenvif_drop_name(enum xenvif_drop drop)
{
	static const char *const names[] = {"d0", "d1", "d2", "d3", "d4",
					    "d5", "d6", "d7", "d8", "d9"};

	return names[drop % ARRAY_SIZE(names)];
}

const char *xenvif_fatal_name(enum xenvif_fatal fatal)
{
	return fatal == FATAL_TX_PAGE_CROSSING ? "page crossing" : "fatal";
}

int xenvif_queue_create(const char *name, unsigned id,
			void (*fatal)(struct xenvif_queue *queue, enum xenvif_fatal why, void *arg),
			void *arg, struct xenvif_queue **queue)
{
	*queue = calloc(1, sizeof(**queue));
	(*queue)->fatal = fatal;
	(*queue)->arg = arg;
	fake.nr_queues++;
	return 0;
}

void xenvif_queue_destroy(struct xenvif_queue *queue)
{
	if (!queue)
		return;
	xenvif_queue_disconnect(queue);
	fake.nr_queues--;
	free(queue);
}

int xenvif_queue_connect(struct xenvif_queue *queue, struct netbk_groups *groups,
			 xengnttab_handle *ring_handle, const struct xenvif_queue_params *params,
			 struct port *port)
{
	if (fake.connect_result)
		return fake.connect_result;
	queue->connected = true;
	fake.nr_connected++;
	fake.nr_connects++;
	fake.last = *params;
	fake.last_queue = queue;
	return 0;
}

void xenvif_queue_disconnect(struct xenvif_queue *queue)
{
	fake.nr_connected -= queue->connected;
	queue->connected = false;
}

int xenvif_queue_move(struct xenvif_queue *queue, unsigned group)
{
	return queue->connected ? 0 : -ENOTCONN;
}

bool xenvif_queue_connected(const struct xenvif_queue *queue)
{
	return queue->connected;
}

int xenvif_queue_group(const struct xenvif_queue *queue)
{
	return queue->connected ? 0 : -1;
}

void xenvif_queue_get_stats(const struct xenvif_queue *queue, struct xenvif_stats *stats)
{
	memset(stats, 0, sizeof(*stats));
	stats->tx_packets = 3;
	stats->drops[DROP_TX_COPY] = 2;
}

int xenvif_queue_rings(const struct xenvif_queue *queue, struct xenvif_ring_info *tx,
		       struct xenvif_ring_info *rx)
{
	if (!queue->connected)
		return -ENOTCONN;
	*tx = (struct xenvif_ring_info){.req_prod = 11};
	*rx = (struct xenvif_ring_info){.req_prod = 12};
	return 0;
}
