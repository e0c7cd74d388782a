/* SPDX-License-Identifier: MIT */
/* copy.c: gathering and doing grant copies. See copy.h. */
#include "netback/copy.h"

#include <xen/xen.h>
#include <xen/grant_table.h>

#include "netback/counter.h"

void copy_from_guest(struct copy_batch *batch, uint16_t domid, uint32_t gref, uint16_t offset,
		     void *dst, uint16_t len)
{
	xengnttab_grant_copy_segment_t *seg = &batch->segs[batch->nr++];

	seg->source.foreign.ref = gref;
	seg->source.foreign.offset = offset;
	seg->source.foreign.domid = domid;
	seg->dest.virt = dst;
	seg->len = len;
	seg->flags = GNTCOPY_source_gref;
	seg->status = GNTST_general_error;
}

void copy_to_guest(struct copy_batch *batch, uint16_t domid, uint32_t gref, uint16_t offset,
		   const void *src, uint16_t len)
{
	xengnttab_grant_copy_segment_t *seg = &batch->segs[batch->nr++];

	seg->source.virt = (void *)(uintptr_t)src; /* the library only reads it */
	seg->dest.foreign.ref = gref;
	seg->dest.foreign.offset = offset;
	seg->dest.foreign.domid = domid;
	seg->len = len;
	seg->flags = GNTCOPY_dest_gref;
	seg->status = GNTST_general_error;
}

static void run_one_by_one(struct copy_batch *batch, xengnttab_handle *xgt)
{
	for (unsigned i = 0; i < batch->nr; i++) {
		batch->segs[i].status = GNTST_general_error;
		if (xengnttab_grant_copy(xgt, 1, &batch->segs[i]))
			batch->segs[i].status = GNTST_general_error;
	}
	counter_add(&batch->nr_calls, batch->nr);
}

void copy_run(struct copy_batch *batch, xengnttab_handle *xgt)
{
	if (!batch->nr)
		return;
	counter_add(&batch->nr_calls, 1);
	counter_add(&batch->nr_segs, batch->nr);
	if (xengnttab_grant_copy(xgt, batch->nr, batch->segs))
		run_one_by_one(batch, xgt);
}

bool copy_ok(const struct copy_batch *batch, unsigned first, unsigned nr)
{
	int bad = 0;

	for (unsigned i = first; i < first + nr; i++)
		bad |= batch->segs[i].status; /* GNTST_okay is 0 */
	return !bad;
}
