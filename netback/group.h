/* SPDX-License-Identifier: MIT */
/*
 * group.h: struct xen_netbk, the group: one worker and everything it touches.
 *
 * Each group has its own pending ring and pages, copy arrays, xengnttab and xenevtchn handles and
 * list of queues. Groups share nothing on the data path. The functions here are for the control
 * thread; what the worker does inside a group is private to netback/ (group_private.h).
 */
#ifndef NETBACK_GROUP_H
#define NETBACK_GROUP_H

#include <stdint.h>

#include "common/worker.h"

struct xen_netbk;
struct netbk_groups;

/* Pending entries (and pages) of a group: 1 << tx_shift (the 2010 TX shift: 5..16, default 8). */
#define NETBK_TX_SHIFT_MIN     5
#define NETBK_TX_SHIFT_MAX     16
#define NETBK_TX_SHIFT_DEFAULT 8
#define NETBK_GROUPS_MAX       1024

struct netbk_groups_params {
	unsigned nr_groups; /* 1..NETBK_GROUPS_MAX; 0: one for each CPU this process may use */
	unsigned tx_shift;
	enum worker_kind kind;
};

/**
 * netbk_groups_create() - make the groups and start their workers
 *
 * Group g is pinned to the g-th CPU of the process's affinity mask (modulo their number) and its
 * thread is named netback/g. Opens an xengnttab and an xenevtchn handle for each group, on the
 * worker's own thread. Return: 0; -errno with nothing left behind, logged.
 */
int netbk_groups_create(const struct netbk_groups_params *params, struct netbk_groups **groups);

/** netbk_groups_destroy() - every queue must have been disconnected. Accepts NULL. */
void netbk_groups_destroy(struct netbk_groups *groups);

unsigned netbk_groups_count(const struct netbk_groups *groups);

/* What `netbackctl groups` shows. A snapshot, taken without stopping the worker. */
struct netbk_group_info {
	unsigned group;
	int cpu; /* -1: not pinned */
	enum worker_kind kind;
	unsigned netfront_count;
	unsigned nr_pending, nr_pending_max; /* pending pages in use / in all */
	uint64_t copy_batches, copy_segments; /* grant copy calls and segments in all */
	uint64_t rounds;
};
void netbk_group_info(const struct netbk_groups *groups, unsigned group,
		      struct netbk_group_info *info);

#endif
