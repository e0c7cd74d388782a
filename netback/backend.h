/* SPDX-License-Identifier: MIT */
/*
 * backend.h: one vif and xenstore: looks at both ends' nodes, asks the state machine (state.h) for
 * the next step, takes it, publishes it. The only place that writes a state node.
 */
#ifndef NETBACK_BACKEND_H
#define NETBACK_BACKEND_H

#include <stdbool.h>
#include <stdint.h>

struct xenvif;

enum backend_verdict {
	BACKEND_KEEP,  /* nothing more to do until something changes */
	BACKEND_RETRY, /* look again in a moment, even if nothing changes */
	BACKEND_GONE,  /* its directory was removed: destroy the vif */
};

/**
 * backend_evaluate() - bring @vif to where xenstore wants it
 * @next_generation: the source of identity numbers, counted up for each
 *
 * Everything is re-read: what the caller thinks has changed is not asked for. Blocks on xenstored
 * and on the workers, and takes a bounded number of steps.
 */
enum backend_verdict backend_evaluate(struct xenvif *vif, uint64_t *next_generation);

/**
 * backend_leave() - the daemon ends: disconnect, publish 5 and 6
 *
 * The frontend sees an orderly close and can come back when a daemon is there again. Blocks.
 */
void backend_leave(struct xenvif *vif);

/** backend_domain_gone() - does the guest of @vif not exist any more? Blocks on xenstored. */
bool backend_domain_gone(const struct xenvif *vif);

#endif
