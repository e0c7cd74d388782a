/* SPDX-License-Identifier: MIT */
/*
 * copy.h: the batch of grant copies of one round. Every queue of the group adds its segments, then
 * all go to Xen in one call. Only this file calls xengnttab_grant_copy(). Worker only.
 */
#ifndef NETBACK_COPY_H
#define NETBACK_COPY_H

#include <stdbool.h>
#include <stdint.h>
#include <xengnttab.h>

/* Segments of one call. Three of the existing copying backends settled on 64 as the point from
 * which the call's own cost no longer shows; a round of several queues goes beyond it. */
#define COPY_SEGS_MAX 512

struct copy_batch {
	unsigned nr;
	uint64_t nr_calls, nr_segs; /* counters; read by any thread, relaxed */
	xengnttab_grant_copy_segment_t segs[COPY_SEGS_MAX];
};

static inline unsigned copy_room(const struct copy_batch *batch)
{
	return COPY_SEGS_MAX - batch->nr;
}

/**
 * copy_from_guest() - add a segment guest page -> @dst
 *
 * @offset + @len must not exceed 4096 and there must be room: the callers' checks, made on their
 * private copy of the guest's request.
 */
void copy_from_guest(struct copy_batch *batch, uint16_t domid, uint32_t gref, uint16_t offset,
		     void *dst, uint16_t len);

/** copy_to_guest() - add a segment @src -> guest page. As copy_from_guest(). */
void copy_to_guest(struct copy_batch *batch, uint16_t domid, uint32_t gref, uint16_t offset,
		   const void *src, uint16_t len);

/**
 * copy_run() - do the copies; the segments stay for copy_ok() until copy_reset()
 *
 * A call that fails as a whole (not by a segment's status) is repeated segment by segment, so that
 * no guest's segment spoils another guest's.
 */
void copy_run(struct copy_batch *batch, xengnttab_handle *xgt);

/** copy_ok() - did all of segments @first .. @first + @nr - 1 succeed? True of none. */
bool copy_ok(const struct copy_batch *batch, unsigned first, unsigned nr);

static inline void copy_reset(struct copy_batch *batch)
{
	batch->nr = 0;
}

#endif
