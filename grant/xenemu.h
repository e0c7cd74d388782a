/* SPDX-License-Identifier: MIT */
/*
 * xenemu.h: the emulated Xen machine as a C library (libxenemu).
 *
 * libxenemu implements Xen's public libraries libxengnttab and libxenevtchn (xengnttab.h,
 * xenevtchn.h) on one Linux machine without a hypervisor. What is declared here is only what has no
 * counterpart there: making a machine and domains, saying which domain this process is, and what
 * tests and hostile frontends need of a guest's own memory.
 *
 * FIDELITY. Where the emulated machine differs from Xen on Linux, with the test in test/unit/grant
 * that pins it (none: it cannot be seen, or would end the test):
 *
 *  - Only grant table version 1: no transitive grants, no transfer. The table has its full size from
 *    the start, where Xen grows it on demand: a reference behind what a guest has set up is a bad
 *    entry here (general_error), not a bad reference. [entry: copy_is_judged_as_by_xen,
 *    references_and_domains_out_of_range]
 *  - xengnttab_grant_copy(): a segment's virt pointer that is not mapped is a SIGSEGV of the
 * caller, not EFAULT. A reference stays locked for the length of a copy; two processes that copy it
 * at the same time wait for each other. [copy: crossing_copies_of_two_processes_do_not_deadlock]
 *  - A domain that may use one grant of another gets that domain's whole memory: what it may touch
 *    is checked by the library in its process. A backend is trusted here as Xen is; a guest that
 *    grants nothing to another guest is out of its reach, and no guest can make another process
 *    fault. [copy: guest_cannot_use_what_is_not_granted_to_it;
 *    life: memory_cannot_be_shrunk_by_its_guest]
 *  - xengnttab_set_max_grants() is honoured (current Linux ignores it), with ENOMEM; a handle may
 *    map 65536 pages unless told otherwise. [map: limit_of_a_handle]
 *  - xengntshr shares as many pages as the domain has frames, references permitting, where gntalloc
 *    stops at 1024 unless its module is told otherwise. [map: out_of_frames]
 *  - The end of a handle lets go of its mappings even if a forked child still has them in its
 *    address space.
 *  - A domain has 4095 ports, as with the two-level ABI. [evtchn: port_limit]
 *  - Pending ports are not queued in a ring: there is no EFBIG, and the order in which
 *    xenevtchn_pending() returns them is epoll's.
 *  - Of the VIRQs only VIRQ_DOM_EXC (in dom0, at a domain's death) is ever raised.
 *    [evtchn: virq_of_a_domains_death]
 *  - xenevtchn_fdopen() fails with ENOSYS: a handle is more than its file descriptor. The dmabuf
 *    calls fail with ENOTTY, as on a kernel without them. [evtchn: what_is_not_supported]
 *  - The death of a domain's main process is the death of the domain; its other processes live on,
 *    without the machine. [life: domain_dies_with_its_process]
 *  - Of the hypercalls, libxencall answers getdomaininfo, getdomaininfolist and the version.
 *    libxenforeignmemory and libxendevicemodel open and do nothing. (test/conform/run-vchan)
 */
#ifndef GRANT_XENEMU_H
#define GRANT_XENEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <xen/xen.h>
#include <xen/grant_table.h>

struct event_base;
struct xenemu_machine;

/* Environment by which `xenemu dom0|create` tells a program where it runs. */
#define XENEMU_ENV_RUNDIR "XENEMU_RUNDIR"
#define XENEMU_ENV_DOMID  "XENEMU_DOMID"

/**
 * xenemu_enter() - which domain the handles this process opens next belong to
 * @rundir: the machine's directory; @domid: the domain
 *
 * Without a call the environment decides (XENEMU_RUNDIR, XENEMU_DOMID). Per process, not per thread
 * safe against concurrent opens: tests that hold several domains call it before each open.
 * Return: 0 or -errno.
 */
int xenemu_enter(const char *rundir, domid_t domid);

/** xenemu_rundir() - the directory in effect: xenemu_enter()'s, the environment's or the default.
 */
const char *xenemu_rundir(void);

/* ---- a machine inside this process (the daemon, or a thread of a unit test) ---- */

struct xenemu_options {
	domid_t first_domid;	  /* of created domains: 1 */
	unsigned nr_grant_frames; /* pages of grant table a domain: 64 (512 entries each) */
	unsigned nr_frames;	  /* pages of memory a domain can share: 16384, at most 65536 */
	unsigned nr_ports;	  /* event channels a domain: 4095 */
};

#define XENEMU_OPTIONS_DEFAULT                                                                \
	(struct xenemu_options)                                                               \
	{                                                                                     \
		.first_domid = 1, .nr_grant_frames = 64, .nr_frames = 16384, .nr_ports = 4095 \
	}

/**
 * xenemu_machine_new() - start the machine with domain 0
 * @base: runs it; used by one thread only, which also calls xenemu_machine_free()
 * @rundir: made if it is not there; holds domD/hypervisor.sock and domD/xenstored.sock
 * @options: NULL for the default
 *
 * Return: 0; -EALREADY: another machine runs in @rundir; -ENAMETOOLONG; other -errno.
 */
int xenemu_machine_new(struct event_base *base, const char *rundir,
		       const struct xenemu_options *options, struct xenemu_machine **machine);

/** xenemu_machine_free() - destroy all domains (killing their processes), remove the sockets. */
void xenemu_machine_free(struct xenemu_machine *machine);

/* ---- a running machine seen from dom0, as a toolstack does. All may block. ---- */

struct xenemu_control;

struct xenemu_domain_info {
	domid_t domid;
	pid_t pid;     /* main process, 0: none */
	bool building; /* not yet xenemu_domain_unpause()d */
	char name[64];
};

/** xenemu_control_open() - connect to the machine in @rundir. 0; -ENOENT, -ECONNREFUSED: none. */
int xenemu_control_open(const char *rundir, struct xenemu_control **control);
void xenemu_control_close(struct xenemu_control *control);

/**
 * xenemu_domain_create() - make a domain
 * @lifetime: it lives as long as this process: and its death is that of this process. Where the
 *	machine cannot see our process (xenemu_domain_next() tells no pid), this connection decides.
 *
 * Return: 0; -EEXIST: the name is taken; -EINVAL: not a name; -ENOSPC.
 */
int xenemu_domain_create(struct xenemu_control *control, const char *name, bool lifetime,
			 domid_t *domid);
/** xenemu_domain_unpause() - a domain with a lifetime is built: it can be found by its name now. */
int xenemu_domain_unpause(struct xenemu_control *control, domid_t domid);
/** xenemu_domain_destroy() - end it at once. 0, -ESRCH, -EPERM (domain 0). */
int xenemu_domain_destroy(struct xenemu_control *control, domid_t domid);
/** xenemu_domain_wait() - until the domain is gone. 0 or -errno. */
int xenemu_domain_wait(struct xenemu_control *control, domid_t domid);
/** xenemu_domain_next() - the first domain with at least @from. 0 or -ESRCH. */
int xenemu_domain_next(struct xenemu_control *control, domid_t from,
		       struct xenemu_domain_info *info);
/** xenemu_domain_find() - by name (once it is built) or decimal domid. 0 or -ESRCH. */
int xenemu_domain_find(struct xenemu_control *control, const char *name,
		       struct xenemu_domain_info *info);
/** xenemu_control_fd() - the connection, for one that must outlive an exec(2). */
int xenemu_control_fd(const struct xenemu_control *control);

/* What a leak test compares. */
struct xenemu_stats {
	const char *name;
	uint32_t value;
};
#define XENEMU_NR_STATS 12
/** xenemu_get_stats() - XENEMU_NR_STATS named counters. 0 or -errno. */
int xenemu_get_stats(struct xenemu_control *control, struct xenemu_stats stats[XENEMU_NR_STATS]);

/**
 * xenemu_set_fault() - inject a fault
 * @name: "copy", "map", "event-lost", "event-spurious", "store-eagain", "store-eacces",
 *	"store-delay"; @value: every Nth (or ms, or usec); 0: off
 *
 * Return: 0; -EINVAL: no such fault.
 */
int xenemu_set_fault(struct xenemu_control *control, const char *name, uint32_t value);
/** xenemu_fault_name() - names by number from 0; NULL after the last. */
const char *xenemu_fault_name(unsigned fault);

/* ---- a guest's own memory, for tests and hostile frontends ---- */

struct xenemu_guest {
	struct grant_entry_v1 *table; /* nr_entries */
	uint8_t *frames;	      /* nr_frames pages of 4096 bytes */
	uint32_t nr_entries, nr_frames;
	domid_t domid;
	void *handle;
};

/**
 * xenemu_guest_open() - map the memory of the domain this process is (see xenemu_enter())
 *
 * The caller writes what it likes where it likes; references from 8 up and frames are also handed
 * out by xengntshr_share_pages(), from low to high. Return: 0 or -errno.
 */
int xenemu_guest_open(struct xenemu_guest *guest);
void xenemu_guest_close(struct xenemu_guest *guest);

#endif
