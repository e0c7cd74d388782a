/* SPDX-License-Identifier: MIT */
/* stats.h: a frontend's counters as JSON. Same thread as the frontend. */
#ifndef NETFRONT_STATS_H
#define NETFRONT_STATS_H

#include <jansson.h>

#include "netfront/netfront.h"

/** stats_json() - a new reference, or NULL if memory ran out. */
json_t *stats_json(struct netfront *nf);

/** stats_write() - one document at @path, complete at any moment (written beside, then renamed). */
int stats_write(struct netfront *nf, const char *path);

/** stats_print() - one line on stdout. Return: 0 or -errno. */
int stats_print(struct netfront *nf);

#endif
