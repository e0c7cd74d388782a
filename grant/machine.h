/* SPDX-License-Identifier: MIT */
/*
 * machine.h: the inside of the machine's daemon: its domains, connections and their resources.
 * Everything here belongs to the one thread that runs the machine's event base.
 *
 * OWNERSHIP. A connection (one library handle of one process) owns map groups, share groups and
 * ports; when it ends, they end. A domain owns its grant table, memory, port table and sockets.
 * A destroyed domain is dying, as in Xen, until the last mapping of its memory by others is gone:
 * map groups and interdomain ports hold references to it.
 */
#ifndef GRANT_MACHINE_H
#define GRANT_MACHINE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <uthash.h>
#include <utlist.h>

#include "grant/grant_entry.h"
#include "grant/hypercall.h"
#include "grant/xenemu.h"

struct event;
struct event_base;
struct evconnlistener;
struct xsd;
struct domain;
struct conn;

/* What is done when a group ends (xengnttab_map_grant_ref_notify() and its like). */
struct unmap_notify {
	uint32_t offset; /* byte of the first page to clear; UINT32_MAX: none */
	uint32_t port;	 /* of the connection's domain, with a reference; UINT32_MAX: none */
};

struct grant_use {
	struct domain *domain; /* with a reference */
	uint32_t ref;
	uint32_t frame;
};

/* A pin that could not be taken back at once, as somebody had its word locked for too long. */
struct late_unpin {
	struct grant_use use;
	bool readonly;
	struct late_unpin *next;
};

struct map_group {
	uint32_t id;
	bool readonly;
	struct unmap_notify notify;
	UT_hash_handle hh;
	uint32_t nr;
	struct grant_use uses[];
};

struct share_group {
	uint32_t id;
	struct unmap_notify notify;
	UT_hash_handle hh;
	uint32_t nr;
	struct hv_pair pages[]; /* ref, frame */
};

struct conn {
	struct xenemu_machine *machine;
	struct domain *domain; /* with a reference */
	enum hv_kind kind;
	int fd;
	struct event *ev;
	uint32_t next_group;
	/* gnttab */
	struct map_group *maps;
	struct hv_journal *journal;
	uint32_t owner;
	uint32_t nr_mapped, max_mapped;
	/* gntshr */
	struct share_group *shares;
	/* evtchn */
	uint32_t restricted; /* to this domid; DOMID_INVALID: not */
	/* control: a domain that lives as long as this connection (if there is no pid), one waited
	 * for */
	struct domain *lifetime;
	struct domain *waiting;
	struct conn *prev, *next;
};

/* The two pipes of a channel: [0] wakes the end that allocated it, [1] the one that bound. These
 * open files are the daemon's alone; each end has its own. */
struct channel {
	int fd[2];
	unsigned refs;
};

enum port_state { PORT_UNBOUND, PORT_INTERDOMAIN, PORT_VIRQ };

struct port {
	enum port_state state;
	uint32_t number;
	struct conn *owner;   /* NULL: kept by notify references only */
	unsigned notify_refs; /* unmap notifications that will use it */
	struct channel *channel;
	unsigned side;	      /* which of channel->fd wakes us */
	domid_t remote_domid; /* unbound: who may bind */
	struct port *peer;    /* interdomain */
	struct domain *domain;
	unsigned virq;
};

/* A page no longer shared whose reference a peer still has pinned. */
struct quarantined {
	uint32_t ref, frame;
	struct quarantined *next;
};

struct domain {
	struct xenemu_machine *machine;
	domid_t domid;
	char name[HV_NAME_BYTES];
	unsigned refs;
	unsigned nr_conns;
	bool dead;
	bool building; /* its toolstack has not written its nodes yet */
	pid_t pid;     /* main process, 0: none known */
	int pidfd;
	struct event *pid_ev;
	/* memory */
	int memory_fd, active_fd;
	uint8_t *memory;
	struct hv_active_header *active_header;
	struct grant_view view;
	uint8_t *ref_used, *frame_used; /* handed out by us: one byte each */
	uint32_t ref_hint, frame_hint;
	struct quarantined *quarantine;
	/* ports, by number; 0 is never used */
	struct port **ports;
	uint32_t nr_ports;
	/* sockets */
	char dir[96];
	struct evconnlistener *listener;
	UT_hash_handle hh;
};

struct xenemu_machine {
	struct event_base *base;
	struct xenemu_options options;
	char rundir[80];
	int lock_fd;
	struct domain *domains; /* by domid; alive ones */
	unsigned nr_dying;
	domid_t next_domid;
	struct conn *conns;
	struct conn *owners[HV_MAX_OWNER + 1];
	uint32_t owner_hint;
	int page_fd;
	struct hv_machine_page *page;
	uint32_t faults[HV_NR_FAULTS];
	uint32_t map_count; /* for HV_FAULT_MAP */
	struct late_unpin *late;
	struct event *retry_timer, *spurious_timer;
	struct xsd *xsd;
};

/* ---- hypervisor.c: connections and dispatch ---- */

struct reply_fds {
	int fd[HV_MAX_FDS];
	unsigned nr;
};

/** A handler fills the reply in place of the request. Return: 0 or -errno for the client. */
typedef int hv_handler(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds);

/** conn_accept() - a client connected to @domain's socket; takes @fd. */
void conn_accept(struct domain *domain, int fd);
/** conn_destroy() - end the connection and all it owns. */
void conn_destroy(struct conn *conn);
/** conn_reply() - send @msg; the connection may be gone afterwards if its client does not read. */
int conn_reply(struct conn *conn, struct hv_msg *msg, const struct reply_fds *fds);

/* ---- domain.c ---- */

/** domain_create() - @want: the domid, or DOMID_INVALID for the next free one. 0 or -errno. */
int domain_create(struct xenemu_machine *machine, const char *name, domid_t want,
		  struct domain **domain);
/** domain_destroy() - kill it: idempotent; references keep the memory, not the domain. */
void domain_destroy(struct domain *domain);
struct domain *domain_find(struct xenemu_machine *machine, domid_t domid);
struct domain *domain_get(struct domain *domain);
void domain_put(struct domain *domain);
/** domain_watch_pid() - @domain dies with process @pid and the other way round. 0 or -errno. */
int domain_watch_pid(struct domain *domain, pid_t pid);
/** shared_fd_new() - a memfd of fixed size. Return: fd or -errno. */
int shared_fd_new(const char *name, size_t bytes);

hv_handler op_domain_create, op_domain_unpause, op_domain_destroy, op_domain_info, op_domain_wait;

/* ---- grant_table.c ---- */

hv_handler op_gnttab_attach, op_gnttab_map, op_gnttab_unmap, op_gnttab_limit;
hv_handler op_gntshr_share, op_gntshr_unshare, op_unmap_notify;

/** grants_end() - end all groups of @conn and what its journal says it was in the middle of. */
void grants_end(struct conn *conn);
/** late_unpins_retry() - true if some are left; @last: give up on what is. */
bool late_unpins_retry(struct xenemu_machine *machine, bool last);
/** quarantine_retry() - free the pages peers have let go of meanwhile; true if some are left. */
bool quarantine_retry(struct domain *domain);
void grants_count(const struct conn *conn, struct hv_stats *stats);

/* ---- evtchn.c ---- */

hv_handler op_evtchn_alloc_unbound, op_evtchn_bind_interdomain, op_evtchn_bind_virq;
hv_handler op_evtchn_close, op_evtchn_restrict;

/** ports_end() - close what @conn bound. */
void ports_end(struct conn *conn);
/** ports_destroy() - close every port of a dead domain. */
void ports_destroy(struct domain *domain);
/** port_get() - a reference for a later notification. NULL: no such port. */
struct port *port_get(struct domain *domain, uint32_t number);
/** port_notify_put() - signal the peer, if any, and drop the reference. */
void port_notify_put(struct domain *domain, uint32_t number);
/** port_drop_ref() - drop the reference only. */
void port_drop_ref(struct domain *domain, uint32_t number);
/** ports_signal_all() - a spurious event on every port of @domain. */
void ports_signal_all(struct domain *domain);
/** virq_raise() - signal the port of @domain bound to @virq, if any. */
void virq_raise(struct domain *domain, unsigned virq);
unsigned ports_count(const struct domain *domain);

/* ---- machine.c ---- */

hv_handler op_stats, op_fault;
/** machine_retry_soon() - look at quarantined pages and late unpins again. */
void machine_retry_soon(struct xenemu_machine *machine);

#endif
