/* SPDX-License-Identifier: MIT */
/*
 * machine.c: the machine as a whole: its directory and lock, domain 0, counters, injected faults.
 * Runs in one event base, in the daemon or in a thread of a unit test.
 */
#include "grant/machine.h"

#include <dirent.h>
#include <errno.h>
#include <event2/event.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/log.h"
#include "xenstore/xsd.h"

#define RETRY_USEC 20000

static bool domain_exists(void *arg, unsigned domid)
{
	return domid < DOMID_FIRST_RESERVED && domain_find(arg, (domid_t)domid);
}

static int lock_rundir(struct xenemu_machine *machine)
{
	char path[96];

	if (mkdir(machine->rundir, 0755) && errno != EEXIST)
		return -errno;
	snprintf(path, sizeof(path), "%s/lock", machine->rundir);
	machine->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (machine->lock_fd < 0)
		return -errno;
	if (flock(machine->lock_fd, LOCK_EX | LOCK_NB))
		return errno == EWOULDBLOCK ? -EALREADY : -errno;
	/* For people and scripts; nothing here reads it. */
	if (ftruncate(machine->lock_fd, 0) || dprintf(machine->lock_fd, "pid %d\n", getpid()) < 0)
		return -errno;
	return 0;
}

/* What a machine that was killed left: its sockets answer nobody, and their names are needed. */
static void remove_stale(const struct xenemu_machine *machine)
{
	char path[96 + NAME_MAX + 32];
	struct dirent *entry;
	DIR *dir = opendir(machine->rundir);

	while (dir && (entry = readdir(dir))) {
		if (strncmp(entry->d_name, "dom", 3))
			continue;
		snprintf(path, sizeof(path), "%s/%s/hypervisor.sock", machine->rundir,
			 entry->d_name);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s/xenstored.sock", machine->rundir,
			 entry->d_name);
		unlink(path);
		snprintf(path, sizeof(path), "%s/%s", machine->rundir, entry->d_name);
		rmdir(path);
	}
	if (dir)
		closedir(dir);
}

/* A read-only page for all: the daemon's own mapping is made before the seal forbids new ones. */
static int machine_page_new(struct xenemu_machine *machine)
{
	void *page;

	machine->page_fd = memfd_create("xen-machine", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (machine->page_fd < 0)
		return -errno;
	if (ftruncate(machine->page_fd, HV_PAGE_BYTES))
		return -errno;
	page = mmap(NULL, HV_PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, machine->page_fd, 0);
	if (page == MAP_FAILED)
		return -errno;
	machine->page = page;
	if (fcntl(machine->page_fd, F_ADD_SEALS,
		  F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_FUTURE_WRITE | F_SEAL_SEAL))
		return -errno;
	return 0;
}

static void retry_timer(evutil_socket_t fd, short what, void *arg)
{
	struct xenemu_machine *machine = arg;
	struct domain *domain;
	bool left = late_unpins_retry(machine, false);

	for (domain = machine->domains; domain; domain = domain->hh.next)
		left |= quarantine_retry(domain);
	if (left)
		machine_retry_soon(machine);
}

void machine_retry_soon(struct xenemu_machine *machine)
{
	struct timeval soon = {.tv_usec = RETRY_USEC};

	event_add(machine->retry_timer, &soon);
}

static void spurious_timer(evutil_socket_t fd, short what, void *arg)
{
	struct xenemu_machine *machine = arg;
	struct domain *domain;

	for (domain = machine->domains; domain; domain = domain->hh.next)
		ports_signal_all(domain);
}

/* Each channel and each handle is a few descriptors here; ask for as many as we may have. */
static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	limit.rlim_cur = limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

static int parts_new(struct xenemu_machine *machine)
{
	struct xsd_quota quota = XSD_QUOTA_DEFAULT;
	struct xsd_ops ops = {.domain_exists = domain_exists, .arg = machine};

	machine->retry_timer = event_new(machine->base, -1, EV_TIMEOUT, retry_timer, machine);
	machine->spurious_timer = event_new(machine->base, -1, EV_PERSIST, spurious_timer, machine);
	machine->xsd = xsd_new(machine->base, &quota, &ops);
	if (!machine->retry_timer || !machine->spurious_timer || !machine->xsd)
		return -ENOMEM;
	return machine_page_new(machine);
}

static bool valid_options(const struct xenemu_options *options)
{
	return options->first_domid && options->first_domid < DOMID_FIRST_RESERVED &&
	       options->nr_grant_frames && options->nr_grant_frames <= 1024 && options->nr_frames &&
	       options->nr_frames <= HV_MAX_FRAMES && options->nr_ports &&
	       options->nr_ports < 131072;
}

int xenemu_machine_new(struct event_base *base, const char *rundir,
		       const struct xenemu_options *options, struct xenemu_machine **result)
{
	struct xenemu_machine *machine;
	struct domain *dom0;
	int err;

	if (strlen(rundir) >= sizeof(machine->rundir))
		return -ENAMETOOLONG;
	machine = calloc(1, sizeof(*machine));
	if (!machine)
		return -ENOMEM;
	machine->base = base;
	machine->options = options ? *options : XENEMU_OPTIONS_DEFAULT;
	machine->next_domid = machine->options.first_domid;
	machine->owner_hint = HV_OWNER_DAEMON;
	machine->lock_fd = machine->page_fd = -1;
	strcpy(machine->rundir, rundir);
	raise_fd_limit();
	err = valid_options(&machine->options) ? lock_rundir(machine) : -EINVAL;
	if (!err) {
		remove_stale(machine);
		err = parts_new(machine);
	}
	/* What xen-init-dom0 writes; before there is a socket, so that nobody finds it missing. */
	if (!err)
		err = xsd_write(machine->xsd, "/local/domain/0/domid", "0");
	if (!err)
		err = xsd_write(machine->xsd, "/local/domain/0/name", "Domain-0");
	if (!err)
		err = domain_create(machine, "Domain-0", 0, &dom0);
	if (err) {
		xenemu_machine_free(machine);
		return err;
	}
	*result = machine;
	return 0;
}

static void destroy_domains(struct xenemu_machine *machine)
{
	struct domain *domain, *tmp, *dom0 = domain_find(machine, 0);

	HASH_ITER (hh, machine->domains, domain, tmp) {
		if (domain != dom0)
			domain_destroy(domain);
	}
	if (dom0)
		domain_destroy(dom0);
}

/* Its store's socket goes with the store, after the domain. */
static void remove_dom0_dir(const struct xenemu_machine *machine)
{
	char path[96];

	snprintf(path, sizeof(path), "%s/dom0", machine->rundir);
	rmdir(path);
}

void xenemu_machine_free(struct xenemu_machine *machine)
{
	if (!machine)
		return;
	destroy_domains(machine);
	late_unpins_retry(machine, true);
	xsd_free(machine->xsd);
	remove_dom0_dir(machine);
	if (machine->retry_timer)
		event_free(machine->retry_timer);
	if (machine->spurious_timer)
		event_free(machine->spurious_timer);
	if (machine->page)
		munmap(machine->page, HV_PAGE_BYTES);
	if (machine->page_fd >= 0)
		close(machine->page_fd);
	/* The lock file stays: removing it would let two machines lock two files of one name. */
	if (machine->lock_fd >= 0)
		close(machine->lock_fd);
	free(machine);
}

static unsigned quarantined_count(const struct domain *domain)
{
	const struct quarantined *page;
	unsigned nr = 0;

	LL_FOREACH (domain->quarantine, page)
		nr++;
	return nr;
}

int op_stats(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	struct xenemu_machine *machine = conn->machine;
	struct hv_stats *stats = &msg->u.stats;
	struct xsd_stats store = {0};
	struct domain *domain;
	struct conn *other;

	memset(stats, 0, sizeof(*stats));
	for (domain = machine->domains; domain; domain = domain->hh.next) {
		stats->domains++;
		stats->ports += ports_count(domain);
		stats->quarantined_pages += quarantined_count(domain);
	}
	stats->dying = machine->nr_dying;
	DL_FOREACH (machine->conns, other) {
		stats->connections++;
		grants_count(other, stats);
	}
	xsd_get_stats(machine->xsd, &store);
	stats->store_nodes = store.nr_nodes;
	stats->store_watches = store.nr_watches;
	stats->store_transactions = store.nr_transactions;
	stats->store_connections = store.nr_connections;
	msg->nr = 0;
	return 0;
}

static void apply_faults(struct xenemu_machine *machine)
{
	const uint32_t *faults = machine->faults;
	uint32_t ms = faults[HV_FAULT_EVENT_SPURIOUS];
	struct timeval every = {.tv_sec = ms / 1000, .tv_usec = (ms % 1000) * 1000};
	struct xsd_faults store = {.eagain_every = faults[HV_FAULT_STORE_EAGAIN],
				   .eacces_every = faults[HV_FAULT_STORE_EACCES],
				   .delay_usec = faults[HV_FAULT_STORE_DELAY]};

	WRITE_ONCE(machine->page->copy_every, faults[HV_FAULT_COPY]);
	WRITE_ONCE(machine->page->event_lost_every, faults[HV_FAULT_EVENT_LOST]);
	__atomic_store_n(&machine->page->faults,
			 faults[HV_FAULT_COPY] || faults[HV_FAULT_EVENT_LOST], __ATOMIC_RELEASE);
	if (ms)
		event_add(machine->spurious_timer, &every);
	else
		event_del(machine->spurious_timer);
	xsd_set_faults(machine->xsd, &store);
}

int op_fault(struct conn *conn, struct hv_msg *msg, struct reply_fds *fds)
{
	if (msg->u.fault.fault >= HV_NR_FAULTS)
		return -EINVAL;
	conn->machine->faults[msg->u.fault.fault] = msg->u.fault.value;
	apply_faults(conn->machine);
	msg->nr = 0;
	return 0;
}
