/* SPDX-License-Identifier: MIT */
/* port.c: the table of port kinds, and the control thread's calls into it. */
#include "netback/port.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/port_ops.h"
#include "netback/queue.h"

static const struct port_ops *const kinds[] = {
	[PORT_TAP] = &port_tap_ops,
	[PORT_SINK] = &port_sink_ops,
	[PORT_SOURCE] = &port_source_ops,
	[PORT_ECHO] = &port_echo_ops,
};

int port_parse_kind(const char *name, enum port_kind *kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		if (!strcmp(name, kinds[i]->name)) {
			*kind = (enum port_kind)i;
			return 0;
		}
	}
	return -EINVAL;
}

const char *port_kind_name(enum port_kind kind)
{
	return (size_t)kind < ARRAY_SIZE(kinds) ? kinds[kind]->name : "invalid";
}

int port_open(const struct port_params *params, struct port **result)
{
	const struct port_ops *ops;
	struct port *port;
	int err;

	if ((size_t)params->kind >= ARRAY_SIZE(kinds) || !params->nr_queues_max ||
	    params->nr_queues_max > XENVIF_QUEUES_MAX)
		return -EINVAL;
	ops = kinds[params->kind];
	port = calloc(1, ops->size);
	if (!port)
		return -ENOMEM;
	port->ops = ops;
	port->kind = params->kind;
	port->params = *params;
	err = ops->open(port);
	if (err) {
		free(port);
		return err;
	}
	*result = port;
	return 0;
}

void port_close(struct port *port)
{
	if (!port)
		return;
	port->ops->close(port);
	free(port);
}

int port_set_queues(struct port *port, unsigned nr_queues, const struct xenvif_features *features)
{
	int err;

	if (!nr_queues || nr_queues > port->params.nr_queues_max)
		return -EINVAL;
	err = port->ops->set_queues(port, nr_queues, features);
	if (!err)
		port->nr_queues = nr_queues;
	return err;
}

void port_set_carrier(struct port *port, int up)
{
	if (port->ops->set_carrier)
		port->ops->set_carrier(port, up);
}

enum port_kind port_kind(const struct port *port)
{
	return port->kind;
}
