/* SPDX-License-Identifier: MIT */
/*
 * hypercall.h: what passes between the machine's daemon and a library handle: the messages of
 * domD/hypervisor.sock (SOCK_SEQPACKET, one request and one reply, file descriptors by SCM_RIGHTS)
 * and the layout of the memory they share. Both ends are of one build, so there is no versioning;
 * but the daemon trusts no message and nothing in memory a guest can write.
 *
 * Which domain a client belongs to is said by the socket it connected to, never by a message.
 */
#ifndef GRANT_HYPERCALL_H
#define GRANT_HYPERCALL_H

#include <stdint.h>
#include <xen/xen.h>
#include <xen/grant_table.h>

#include "common/compiler.h"

/* Xen's page, whatever the machine's. */
#define HV_PAGE_SHIFT 12
#define HV_PAGE_BYTES (1U << HV_PAGE_SHIFT)

/* Array elements in one message; the library splits longer calls. */
#define HV_MAX_PAIRS  1024
#define HV_MAX_FDS    4
#define HV_NAME_BYTES 64

/* What a connection is for. It says so once, in HV_OPEN; each kind has its own requests. */
enum hv_kind {
	HV_KIND_NONE,
	HV_KIND_GNTTAB,
	HV_KIND_GNTSHR,
	HV_KIND_EVTCHN,
	HV_KIND_CONTROL, /* dom0 only */
	HV_NR_KINDS
};

enum hv_op {
	HV_OPEN,
	HV_GNTTAB_ATTACH,  /* the memory of a domain that grants us something */
	HV_GNTTAB_MAP,	   /* pairs: domid, ref; replies domid, frame */
	HV_GNTTAB_UNMAP,   /* one group */
	HV_GNTTAB_LIMIT,   /* xengnttab_set_max_grants() */
	HV_GNTSHR_SHARE,   /* replies pairs: ref, frame */
	HV_GNTSHR_UNSHARE, /* one group */
	HV_UNMAP_NOTIFY,   /* action at the end of a group, either kind */
	HV_EVTCHN_ALLOC_UNBOUND,
	HV_EVTCHN_BIND_INTERDOMAIN,
	HV_EVTCHN_BIND_VIRQ,
	HV_EVTCHN_CLOSE,
	HV_EVTCHN_RESTRICT,
	HV_DOMAIN_CREATE,
	HV_DOMAIN_UNPAUSE, /* it is built: show it to those who look for it by name */
	HV_DOMAIN_DESTROY,
	HV_DOMAIN_INFO, /* the first domain with at least this domid */
	HV_DOMAIN_WAIT, /* the reply comes when the domain is gone */
	HV_STATS,
	HV_FAULT,
	HV_NR_OPS
};

struct hv_pair {
	uint32_t a, b;
};

struct hv_stats {
	uint32_t domains; /* alive, dom0 included */
	uint32_t dying;	  /* destroyed, but somebody still maps their memory */
	uint32_t connections;
	uint32_t ports;
	uint32_t map_groups;
	uint32_t pins;
	uint32_t shared_pages;
	uint32_t quarantined_pages; /* no longer shared, but a peer still uses them */
	uint32_t store_nodes, store_watches, store_transactions, store_connections;
};

/* Kinds of injected fault (HV_FAULT). Each has one number; 0 switches it off. */
enum hv_fault {
	HV_FAULT_COPY,		 /* every Nth copied segment fails */
	HV_FAULT_MAP,		 /* every Nth map fails */
	HV_FAULT_EVENT_LOST,	 /* every Nth notification is lost */
	HV_FAULT_EVENT_SPURIOUS, /* all ports are signalled each N milliseconds */
	HV_FAULT_STORE_EAGAIN,	 /* every Nth commit */
	HV_FAULT_STORE_EACCES,	 /* every Nth read */
	HV_FAULT_STORE_DELAY,	 /* microseconds each reply is held back */
	HV_NR_FAULTS
};

struct hv_msg {
	uint32_t op;
	int32_t status; /* reply: 0 or -errno */
	union {
		struct {
			uint32_t kind;
			uint32_t domid; /* reply */
			uint32_t owner; /* reply, gnttab: what goes into a locked active word */
			uint32_t nr_entries, nr_frames; /* reply: of this domain */
		} open; /* fds: machine page; then gnttab: journal; gntshr: own memory */
		struct {
			uint32_t domid;
			uint32_t nr_entries, nr_frames; /* reply */
		} attach; /* fds: memory, active table; none: nothing there is granted to us */
		struct {
			uint32_t readonly;
			uint32_t group;	    /* reply */
			int32_t gnt_status; /* reply: GNTST_* of the first that failed */
		} map;
		struct {
			uint32_t count;
			uint32_t group; /* reply */
		} share;
		struct {
			uint32_t group;
			uint32_t offset, port; /* UINT32_MAX: none */
		} notify;
		struct {
			uint32_t domid; /* or the virq */
			uint32_t port;	/* remote port in, local port out */
		} evtchn; /* fds: the one that wakes us, the one that wakes the peer */
		struct {
			uint32_t domid;
			uint32_t building;
			uint32_t lifetime; /* create: destroy it when this connection ends */
			int32_t pid;
			char name[HV_NAME_BYTES];
		} domain;
		struct {
			uint32_t fault;
			uint32_t value;
		} fault;
		uint32_t count;
		struct hv_stats stats;
	} u;
	uint32_t nr; /* pairs used */
	struct hv_pair pairs[HV_MAX_PAIRS];
};

#define HV_MSG_BYTES(nr) (offsetof(struct hv_msg, pairs) + (nr) * sizeof(struct hv_pair))

/*
 * One page for the whole machine, written by the daemon, read by every handle.
 */
struct hv_machine_page {
	uint32_t faults; /* any of the ones below is set: the one word a fast path looks at */
	uint32_t copy_every;
	uint32_t event_lost_every;
};

/*
 * A gnttab handle's journal: which entries it may hold locked at this moment. Written by the
 * handle's owner before it takes a lock and after it has let it go, read by the daemon when the
 * connection ends: a process killed in the middle of a copy leaves nothing locked or marked.
 */
#define HV_JOURNAL_SLOTS 2
struct hv_journal {
	uint64_t slot[HV_JOURNAL_SLOTS]; /* 0, or HV_JOURNAL() */
};
#define HV_JOURNAL(domid, ref) (((uint64_t)1 << 63) | (uint64_t)(domid) << 32 | (ref))

/*
 * The active table: the machine's side of a grant table (Xen's active_grant_entry). One page of
 * header, then a word for each grant reference. It is shared by the daemon and the processes that
 * use grants of that domain; the granting domain never sees it.
 */
struct hv_active_header {
	uint32_t dead; /* the domain is gone: use nothing of it */
};

/*
 * An active word. The owner is who has it locked; pins count mappings by @domid. While nothing is
 * pinned, domid and frame have no meaning. A copy keeps the word locked while it lasts: it costs
 * one locked instruction less than to pin, and copies of one reference by two processes are rare.
 *
 * Xen counts pins in 8 bits and refuses one more when the top bit is set; so do we.
 */
#define ACTIVE_DOMID(w)		  ((domid_t)(w))
#define ACTIVE_READERS(w)	  ((unsigned)((w) >> 16) & 0xff)
#define ACTIVE_WRITERS(w)	  ((unsigned)((w) >> 24) & 0xff)
#define ACTIVE_PINS(w)		  ((unsigned)((w) >> 16) & 0xffff)
#define ACTIVE_OVERFLOW(w)	  ((w)&0x80800000U)
#define ACTIVE_FRAME(w)		  ((uint32_t)((w) >> 32) & 0xffff)
#define ACTIVE_OWNER(w)		  ((uint32_t)((w) >> 48))
#define ACTIVE_READER		  ((uint64_t)1 << 16)
#define ACTIVE_WRITER		  ((uint64_t)1 << 24)
#define ACTIVE_LOCK(owner)	  ((uint64_t)(owner) << 48)
#define ACTIVE_UNLOCKED(w)	  ((w) & (((uint64_t)1 << 48) - 1))
#define ACTIVE_MAKE(domid, frame) ((uint64_t)(frame) << 32 | (domid))

/* Frames a domain may have: what fits into an active word. */
#define HV_MAX_FRAMES 0x10000U
/* Owners: 1 is the daemon, handles have the rest. */
#define HV_OWNER_DAEMON 1U
#define HV_MAX_OWNER	0xffffU

/* A domain's memory: the grant table, then nr_frames data frames. */
static inline size_t hv_table_bytes(uint32_t nr_entries)
{
	return (size_t)nr_entries * sizeof(struct grant_entry_v1);
}

static inline size_t hv_memory_bytes(uint32_t nr_entries, uint32_t nr_frames)
{
	return hv_table_bytes(nr_entries) + ((size_t)nr_frames << HV_PAGE_SHIFT);
}

static inline size_t hv_active_bytes(uint32_t nr_entries)
{
	return HV_PAGE_BYTES + (size_t)nr_entries * sizeof(uint64_t);
}

BUILD_ASSERT(sizeof(struct grant_entry_v1) == 8);
BUILD_ASSERT(offsetof(struct grant_entry_v1, domid) == 2);
BUILD_ASSERT(offsetof(struct grant_entry_v1, frame) == 4);

#endif
