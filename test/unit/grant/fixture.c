/* SPDX-License-Identifier: MIT */
#include "test/unit/grant/fixture.h"

#include <dirent.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <xentoollog.h>

#include "common/log.h"

char rundir[64];
struct xenemu_control *control;
domid_t guest, other;

static struct event_base *base;
static struct xenemu_machine *machine;
static pthread_t thread;
static xentoollog_logger *quiet; /* refusals are what is tested here */

static void *run(void *arg)
{
	event_base_loop(base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

void machine_setup(void)
{
	evthread_use_pthreads();
	log_set_level(LOG_LEVEL_ERROR);
	quiet = (xentoollog_logger *)xtl_createlogger_stdiostream(stderr, XTL_CRITICAL, 0);
	strcpy(rundir, "/tmp/xenemu-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rundir));
	base = event_base_new();
	ck_assert_int_eq(xenemu_machine_new(base, rundir, NULL, &machine), 0);
	ck_assert_int_eq(pthread_create(&thread, NULL, run, NULL), 0);
	ck_assert_int_eq(xenemu_control_open(rundir, &control), 0);
	ck_assert_int_eq(xenemu_domain_create(control, "guest", false, &guest), 0);
	ck_assert_int_eq(xenemu_domain_create(control, "other", false, &other), 0);
}

void machine_teardown(void)
{
	char path[96];

	xenemu_control_close(control);
	event_base_loopbreak(base);
	pthread_join(thread, NULL);
	xenemu_machine_free(machine);
	event_base_free(base);
	xtl_logger_destroy(quiet);
	snprintf(path, sizeof(path), "%s/lock", rundir);
	unlink(path);
	ck_assert_msg(!rmdir(rundir), "something was left in %s", rundir);
	libevent_global_shutdown();
}

static void enter(domid_t domid)
{
	ck_assert_int_eq(xenemu_enter(rundir, domid), 0);
}

xengnttab_handle *gnttab_of(domid_t domid)
{
	xengnttab_handle *h;

	enter(domid);
	h = xengnttab_open(quiet, 0);
	ck_assert_ptr_nonnull(h);
	return h;
}

xengntshr_handle *gntshr_of(domid_t domid)
{
	xengntshr_handle *h;

	enter(domid);
	h = xengntshr_open(quiet, 0);
	ck_assert_ptr_nonnull(h);
	return h;
}

xenevtchn_handle *evtchn_of(domid_t domid)
{
	xenevtchn_handle *xce;

	enter(domid);
	xce = xenevtchn_open(quiet, 0);
	ck_assert_ptr_nonnull(xce);
	return xce;
}

void guest_memory(domid_t domid, struct xenemu_guest *memory)
{
	enter(domid);
	ck_assert_int_eq(xenemu_guest_open(memory), 0);
}

uint32_t stat_of(const char *name)
{
	struct xenemu_stats stats[XENEMU_NR_STATS];

	ck_assert_int_eq(xenemu_get_stats(control, stats), 0);
	for (unsigned i = 0; i < XENEMU_NR_STATS; i++) {
		if (!strcmp(stats[i].name, name))
			return stats[i].value;
	}
	ck_abort_msg("no counter %s", name);
	return 0;
}

void wait_stat(const char *name, uint32_t value)
{
	struct timespec pause = {.tv_nsec = 5000000};

	for (unsigned tries = 0; tries < 1000; tries++) {
		if (stat_of(name) == value)
			return;
		nanosleep(&pause, NULL);
	}
	ck_abort_msg("%s is %u, not %u", name, stat_of(name), value);
}

int copy_status(xengnttab_handle *h, domid_t domid, uint32_t ref, uint32_t offset, void *virt,
		uint32_t len, bool to_grant)
{
	xengnttab_grant_copy_segment_t seg = {
		.len = (uint16_t)len,
		.flags = to_grant ? GNTCOPY_dest_gref : GNTCOPY_source_gref,
		.status = 99,
	};
	union xengnttab_copy_ptr *grant = to_grant ? &seg.dest : &seg.source;

	grant->foreign.ref = ref;
	grant->foreign.offset = (uint16_t)offset;
	grant->foreign.domid = domid;
	*(to_grant ? &seg.source.virt : &seg.dest.virt) = virt;
	ck_assert_int_eq(xengnttab_grant_copy(h, 1, &seg), 0);
	return seg.status;
}

bool pending(xenevtchn_handle *xce, int msec)
{
	struct pollfd pfd = {.fd = xenevtchn_fd(xce), .events = POLLIN};

	return poll(&pfd, 1, msec) == 1;
}

unsigned open_fds(void)
{
	DIR *dir = opendir("/proc/self/fd");
	unsigned nr = 0;

	ck_assert_ptr_nonnull(dir);
	while (readdir(dir))
		nr++;
	closedir(dir);
	return nr;
}
