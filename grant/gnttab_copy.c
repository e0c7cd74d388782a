/* SPDX-License-Identifier: MIT */
/*
 * gnttab_copy.c: xengnttab_grant_copy(), the hot path of everything. Runs in the calling process:
 * no system call, no daemon, no allocation once a domain is attached.
 *
 * Each segment is what GNTTABOP_copy does of it: find the domain, lock the entry's active word,
 * check and mark the guest's entry, copy, clear the mark, unlock. The journal says which entries
 * that may be, for the case that this process is killed in between.
 *
 * Arguments are judged as Linux's gntdev judges them: a segment without a grant reference, or one
 * that runs over the end of a granted page, fails the whole call with EINVAL.
 */
#include <errno.h>
#include <string.h>
#include <xengnttab.h>

#include "grant/gnttab.h"

/* One end of a segment, if it is a grant. */
struct end {
	struct foreign *foreign;
	uint64_t *active;
	uint64_t word;
	uint32_t ref;
	uint32_t offset;
};

static inline int16_t end_find(struct xengntdev_handle *h, const union xengnttab_copy_ptr *ptr,
			       struct end *end)
{
	struct foreign *foreign = h->last;
	int16_t status;

	if (unlikely(!foreign || foreign->domid != ptr->foreign.domid ||
		     READ_ONCE(foreign->header->dead))) {
		status = foreign_attach(h, ptr->foreign.domid, ptr->foreign.ref, &foreign);
		if (status != GNTST_okay)
			return status;
	}
	if (unlikely(ptr->foreign.ref >= foreign->view.nr_entries))
		return GNTST_bad_gntref;
	end->foreign = foreign;
	end->active = &foreign->view.active[ptr->foreign.ref];
	end->ref = ptr->foreign.ref;
	end->offset = ptr->foreign.offset;
	return GNTST_okay;
}

/*
 * A guest can have words of its own table locked for good (it grants itself something, attaches,
 * and is stopped in a copy): that costs us one wait, and from then on only its own copies.
 */
static bool lock_contended(struct xengntdev_handle *h, struct end *end)
{
	if (end->foreign->stuck)
		return false;
	if (active_lock_slow(end->active, h->owner, &end->word))
		return true;
	end->foreign->stuck = true;
	return false;
}

/*
 * A stale journal slot says no harm: the daemon looks at it only to see whether we are the owner
 * of that word. So it is not cleared, but overwritten by the next segment.
 */
static inline bool end_lock(struct xengntdev_handle *h, unsigned slot, struct end *end)
{
	WRITE_ONCE(h->journal->slot[slot], HV_JOURNAL(end->foreign->domid, end->ref));
	return likely(active_try(end->active, h->owner, &end->word)) || lock_contended(h, end);
}

static inline int16_t end_claim(const struct xengntdev_handle *h, const struct end *end,
				bool readonly, uint8_t **mem)
{
	const struct grant_view *view = &end->foreign->view;
	uint32_t frame;
	int16_t status =
		grant_claim(view, end->ref, end->word, h->client.domid, readonly, false, &frame);

	if (likely(status == GNTST_okay))
		*mem = grant_frame(view, frame) + end->offset;
	return status;
}

static inline void end_release(const struct end *end)
{
	grant_release(&end->foreign->view, end->ref, end->word);
}

/* Between our memory and one grant: nearly every segment. */
static int16_t copy_local(struct xengntdev_handle *h, const union xengnttab_copy_ptr *ptr,
			  void *virt, uint32_t len, bool to_grant)
{
	struct end end;
	int16_t status;
	uint8_t *mem;

	status = end_find(h, ptr, &end);
	if (unlikely(status != GNTST_okay))
		return status;
	if (unlikely(!end_lock(h, 0, &end)))
		return GNTST_general_error;
	status = end_claim(h, &end, !to_grant, &mem);
	if (likely(status == GNTST_okay)) {
		if (to_grant)
			memcpy(mem, virt, len);
		else
			memcpy(virt, mem, len);
		end_release(&end);
	}
	active_unlock(end.active, end.word);
	return status;
}

static int16_t copy_claimed(struct xengntdev_handle *h, const struct end *source,
			    const struct end *dest, uint32_t len)
{
	uint8_t *from, *to;
	int16_t status;

	status = end_claim(h, source, true, &from);
	if (status != GNTST_okay)
		return status;
	status = end_claim(h, dest, false, &to);
	if (status == GNTST_okay) {
		memmove(to, from, len); /* both may be of one page */
		end_release(dest);
	}
	if (source->active != dest->active || status != GNTST_okay)
		end_release(source);
	return status;
}

/* Everybody takes two locks in the same order, so that two processes cannot wait for each other. */
static bool goes_first(const struct end *a, const struct end *b)
{
	if (a->foreign->domid != b->foreign->domid)
		return a->foreign->domid < b->foreign->domid;
	return a->ref < b->ref;
}

static int16_t copy_foreign(struct xengntdev_handle *h, const xengnttab_grant_copy_segment_t *seg)
{
	struct end source, dest, *first = &source, *second = &dest;
	int16_t status;

	status = end_find(h, &seg->source, &source);
	if (status == GNTST_okay)
		status = end_find(h, &seg->dest, &dest);
	if (status != GNTST_okay)
		return status;
	if (goes_first(&dest, &source)) {
		first = &dest;
		second = &source;
	}
	if (!end_lock(h, 0, first))
		return GNTST_general_error;
	if (first->active == second->active) {
		second->word = first->word;
	} else if (!end_lock(h, 1, second)) {
		active_unlock(first->active, first->word);
		return GNTST_general_error;
	}
	status = copy_claimed(h, &source, &dest, seg->len);
	if (first->active != second->active)
		active_unlock(second->active, second->word);
	active_unlock(first->active, first->word);
	return status;
}

static bool crosses_page(const union xengnttab_copy_ptr *ptr, uint32_t len)
{
	return (uint32_t)ptr->foreign.offset + len > HV_PAGE_BYTES;
}

static bool injected_fault(struct xengntdev_handle *h)
{
	uint32_t every = READ_ONCE(h->client.page->copy_every);

	return every && ++h->copy_count % every == 0;
}

/* Return: 0 with seg->status set, or -EINVAL for the whole call. */
static inline int copy_segment(struct xengntdev_handle *h, xengnttab_grant_copy_segment_t *seg)
{
	bool from_grant = seg->flags & GNTCOPY_source_gref;
	bool to_grant = seg->flags & GNTCOPY_dest_gref;

	if (unlikely(!from_grant && !to_grant))
		return -EINVAL;
	if (unlikely((from_grant && crosses_page(&seg->source, seg->len)) ||
		     (to_grant && crosses_page(&seg->dest, seg->len))))
		return -EINVAL;
	if (unlikely(!seg->len)) /* gntdev makes no operation of it */
		seg->status = GNTST_okay;
	else if (unlikely(READ_ONCE(h->client.page->faults)) && injected_fault(h))
		seg->status = GNTST_general_error;
	else if (!to_grant)
		seg->status = copy_local(h, &seg->source, seg->dest.virt, seg->len, false);
	else if (!from_grant)
		seg->status = copy_local(h, &seg->dest, seg->source.virt, seg->len, true);
	else
		seg->status = copy_foreign(h, seg);
	return 0;
}

int xengnttab_grant_copy(xengnttab_handle *xgt, uint32_t count,
			 xengnttab_grant_copy_segment_t *segs)
{
	int err = xgt->client.restricted ? -EACCES : 0;

	pthread_mutex_lock(&xgt->lock);
	if (unlikely(xgt->buried))
		foreign_bury(xgt);
	for (uint32_t i = 0; i < count && !err; i++)
		err = copy_segment(xgt, &segs[i]);
	pthread_mutex_unlock(&xgt->lock);
	if (!err)
		return 0;
	errno = -err;
	return -1;
}
