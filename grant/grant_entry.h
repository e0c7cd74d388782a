/* SPDX-License-Identifier: MIT */
/*
 * grant_entry.h: claim and release of one grant entry, the checks Xen makes in Xen's order. Used
 * by the daemon (map, unmap) and by the process that copies; no state of its own, no system call
 * on the way that is not contended.
 *
 * The guest may change its entry at any moment: every check is made on a private copy, which the
 * compare-and-swap then confirms, and that is tried a bounded number of times.
 */
#ifndef GRANT_GRANT_ENTRY_H
#define GRANT_GRANT_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "grant/hypercall.h"

/* One domain's grant table as its users see it. */
struct grant_view {
	struct grant_entry_v1 *table; /* guest writes: hostile */
	uint64_t *active;
	uint8_t *frames;
	uint32_t nr_entries;
	uint32_t nr_frames;
};

union grant_word {
	uint32_t raw;
	struct {
		uint16_t flags;
		domid_t domid;
	} half;
};

/* _set_status_v1() of xen/common/grant_table.c gives up after as many. */
#define GRANT_CLAIM_TRIES 5

/** active_trylock() - lock it if that takes a few milliseconds at most: the daemon's way. */
bool active_trylock(uint64_t *active, uint32_t owner, uint64_t *word);

/** active_lock_slow() - the word is locked by somebody else: wait. False: for too long. */
bool active_lock_slow(uint64_t *active, uint32_t owner, uint64_t *word);

/** active_try() - lock it if nobody has it just now. */
static inline bool active_try(uint64_t *active, uint32_t owner, uint64_t *word)
{
	uint64_t old = __atomic_load_n(active, __ATOMIC_RELAXED);

	if (unlikely(ACTIVE_OWNER(old)) ||
	    unlikely(!__atomic_compare_exchange_n(active, &old, old | ACTIVE_LOCK(owner), false,
						  __ATOMIC_ACQ_REL, __ATOMIC_RELAXED)))
		return false;
	*word = old;
	return true;
}

/**
 * active_lock() - lock an active word
 * @word: the word as it was, unlocked
 *
 * Bounded: a holder that is stopped for good (or hostile) costs a second, not for ever. Return:
 * true if locked.
 */
static inline bool active_lock(uint64_t *active, uint32_t owner, uint64_t *word)
{
	return likely(active_try(active, owner, word)) || active_lock_slow(active, owner, word);
}

/** active_unlock() - unlock and store what @word says. */
static inline void active_unlock(uint64_t *active, uint64_t word)
{
	__atomic_store_n(active, ACTIVE_UNLOCKED(word), __ATOMIC_RELEASE);
}

/**
 * grant_set_status() - check a guest's entry and mark it in use
 * @domid: who wants it; @mask: bits of flags that must equal GTF_permit_access
 * @pinned: it has been checked before and is in use
 *
 * The active word is locked. Return: GNTST_*.
 */
static inline int16_t grant_set_status(struct grant_entry_v1 *entry, domid_t domid, uint16_t mask,
				       bool readonly, bool pinned)
{
	uint32_t *shared = (uint32_t *)(void *)entry;
	union grant_word seen, want;

	seen.raw = __atomic_load_n(shared, __ATOMIC_RELAXED);
	for (unsigned tries = 0; tries < GRANT_CLAIM_TRIES; tries++) {
		if (!pinned && unlikely((seen.half.flags & mask) != GTF_permit_access ||
					seen.half.domid != domid))
			return GNTST_general_error;
		if (!readonly && unlikely(seen.half.flags & GTF_readonly))
			return GNTST_general_error;
		want = seen;
		want.half.flags |= readonly ? GTF_reading : GTF_reading | GTF_writing;
		if (likely(__atomic_compare_exchange_n(shared, &seen.raw, want.raw, false,
						       __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)))
			return GNTST_okay;
	}
	return GNTST_general_error;
}

/**
 * grant_claim() - may @domid use this reference, and which frame is it
 * @word: the locked active word's content
 * @for_map: mapping: sub-page grants are refused
 * @frame: the frame, in range
 *
 * On success the guest's entry is marked as in use. Return: GNTST_*.
 */
static inline int16_t grant_claim(const struct grant_view *view, uint32_t ref, uint64_t word,
				  domid_t domid, bool readonly, bool for_map, uint32_t *frame)
{
	struct grant_entry_v1 *entry = &view->table[ref];
	uint16_t mask = for_map ? GTF_type_mask | GTF_sub_page : GTF_type_mask;
	bool pinned = ACTIVE_PINS(word) != 0;
	int16_t status;

	if (unlikely(pinned) && (ACTIVE_DOMID(word) != domid || ACTIVE_OVERFLOW(word)))
		return GNTST_general_error;
	if (unlikely(pinned) && (readonly || ACTIVE_WRITERS(word))) {
		/* A guest that grants itself something may write its own active table. */
		*frame = ACTIVE_FRAME(word);
		return likely(*frame < view->nr_frames) ? GNTST_okay : GNTST_bad_page;
	}
	status = grant_set_status(entry, domid, mask, readonly, pinned);
	if (unlikely(status != GNTST_okay))
		return status;
	*frame = pinned ? ACTIVE_FRAME(word) : READ_ONCE(entry->frame);
	if (likely(*frame < view->nr_frames))
		return GNTST_okay;
	__atomic_fetch_and(&entry->flags, (uint16_t) ~(GTF_reading | GTF_writing),
			   __ATOMIC_SEQ_CST);
	return GNTST_bad_page;
}

/**
 * grant_release() - clear the marks in the guest's entry that no pin in @word needs any longer
 *
 * The active word is locked, and @word no longer counts what is being released.
 */
static inline void grant_release(const struct grant_view *view, uint32_t ref, uint64_t word)
{
	uint16_t clear = 0;

	if (likely(!ACTIVE_PINS(word)))
		clear = GTF_reading | GTF_writing;
	else if (!ACTIVE_WRITERS(word))
		clear = GTF_writing;
	if (clear)
		__atomic_fetch_and(&view->table[ref].flags, (uint16_t)~clear, __ATOMIC_SEQ_CST);
}

static inline uint8_t *grant_frame(const struct grant_view *view, uint32_t frame)
{
	return view->frames + ((size_t)frame << HV_PAGE_SHIFT);
}

#endif
