/* SPDX-License-Identifier: MIT */
/*
 * xenemu.h: the emulated Xen machine as a C library (libxenemu).
 *
 * libxenemu implements Xen's public libraries libxengnttab and libxenevtchn (xengnttab.h,
 * xenevtchn.h) on one Linux machine without a hypervisor. What is declared here is only what has no
 * counterpart there: making a machine and domains, saying which domain this process is, and what
 * tests and hostile frontends need of a guest's own memory.
 *
 * FIDELITY. Where the emulated machine differs from Xen on Linux:
 *
 *  - Only grant table version 1: no sub-page or transitive grants, no transfer. The table has its
 *    full size from the start (Xen grows it on demand).
 *  - xengnttab_grant_copy(): a segment's virt pointer that is not mapped is a SIGSEGV of the
 * caller, not EFAULT. DOMID_IO, DOMID_XEN and DOMID_COW are GNTST_bad_domain.
 *  - A domain that may use one grant of another gets that domain's whole memory mapped: what it may
 *    touch is checked by the library in its process, so a *backend* is trusted as Xen is. A guest
 *    gets its own memory only. A read-only mapping is read-only by the library's mmap().
 *  - xengnttab_set_max_grants() is honoured (current Linux ignores it); the limit is of mapped
 * pages per handle, 65536 unless set.
 *  - xengntshr: as many pages as the domain has frames or references, not gntalloc's limit of 1024.
 *  - Ports are limited to 4095 a domain (the two-level ABI). There is no ring of pending ports, so
 *    there is no EFBIG overflow; the order in which xenevtchn_pending() returns ports is epoll's.
 *  - The two ends of a channel share the open file that wakes each of them: a peer that changes
 *    that file's flags on purpose can make a notification to itself block.
 *  - Of the VIRQs only VIRQ_DOM_EXC (in dom0, at a domain's death) is ever raised.
 *  - xenevtchn_fdopen() fails with ENOSYS: the handle is more than its file descriptor.
 *  - The dmabuf calls fail with ENOSYS... as the library answers where there is no support.
 *  - xengnttab_close(), and the death of a process, let go of mappings even if a forked child still
 *    has them in its address space.
 *  - A copied reference stays locked for the length of the copy; two processes that copy the same
 *    reference at the same time wait for each other.
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
	pid_t pid; /* main process, 0: none */
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
/** xenemu_domain_destroy() - end it at once. 0, -ESRCH, -EPERM (domain 0). */
int xenemu_domain_destroy(struct xenemu_control *control, domid_t domid);
/** xenemu_domain_wait() - until the domain is gone. 0 or -errno. */
int xenemu_domain_wait(struct xenemu_control *control, domid_t domid);
/** xenemu_domain_next() - the first domain with at least @from. 0 or -ESRCH. */
int xenemu_domain_next(struct xenemu_control *control, domid_t from,
		       struct xenemu_domain_info *info);
/** xenemu_domain_find() - by name or decimal domid. 0 or -ESRCH. */
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
