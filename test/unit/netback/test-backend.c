/* SPDX-License-Identifier: MIT */
/*
 * test-backend.c: the control part as a whole against a real xenstored (the embedded one, in a
 * process of its own) and a data path that moves nothing. The toolstack and the guests are played
 * by hand: what they write is in the tests.
 */
#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "netback/backend.h"
#include "netback/control.h"
#include "netback/report.h"
#include "test/unit/netback/fake_datapath.h"
#include "xenstore/xsd.h"

#define SOON_MSEC 2000

static char dir[32], socket_path[64];
static pid_t store_pid;
static struct xsd_stats *store_stats; /* shared with the store's process */
static struct xs_handle *xs;	      /* the toolstack's and the guests' */
static struct control control;

/* ---- the store ---- */

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
	xsd_get_stats(arg, store_stats);
}

static void run_store(const struct xsd_faults *faults)
{
	static const struct timeval often = {.tv_usec = 5000};
	struct event_base *base = event_base_new();
	struct xsd_quota quota = XSD_QUOTA_DEFAULT;
	struct xsd *xsd = xsd_new(base, &quota, NULL);

	if (xsd_listen(xsd, socket_path, 0))
		_exit(1);
	xsd_set_faults(xsd, faults);
	event_add(event_new(base, -1, EV_PERSIST, on_stats, xsd), &often);
	event_base_dispatch(base);
	_exit(0);
}

static void start_store(const struct xsd_faults *faults)
{
	strcpy(dir, "/tmp/nb-store.XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(socket_path, sizeof(socket_path), "%s/sock", dir);
	setenv("XENSTORED_PATH", socket_path, 1);
	store_stats = mmap(NULL, sizeof(*store_stats), PROT_READ | PROT_WRITE,
			   MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	store_pid = fork();
	if (store_pid == 0)
		run_store(faults);
	for (int i = 0; i < 400 && !xs; i++) {
		usleep(5000);
		xs = xs_open(0);
	}
	ck_assert_ptr_nonnull(xs);
	ck_assert(xs_write(xs, XBT_NULL, "/local/domain/0/domid", "0", 1));
}

static void start_control(void)
{
	struct conf conf = {.port = PORT_SINK, .groups.nr_groups = 2};

	ck_assert_int_eq(control_open(&control, &conf), 0);
	ck_assert_int_eq(control_start(&control), 0);
}

static void stop_control(void)
{
	control_close(&control);
	ck_assert_int_eq(fake.nr_ports, 0);
	ck_assert_int_eq(fake.nr_queues, 0);
	ck_assert_int_eq(fake.nr_groups, 0);
}

static void kill_store(void)
{
	kill(store_pid, SIGKILL);
	waitpid(store_pid, NULL, 0);
}

static void start_with(const struct xsd_faults *faults)
{
	log_set_level(LOG_LEVEL_ERROR);
	freopen("/dev/null", "w", stderr);
	memset(&fake, 0, sizeof(fake));
	start_store(faults);
	start_control();
}

static void setup(void)
{
	struct xsd_faults none = {0};

	start_with(&none);
}

static void setup_conflicts(void)
{
	struct xsd_faults faults = {.eagain_every = 2};

	start_with(&faults);
}

static void teardown(void)
{
	stop_control();
	xs_close(xs);
	kill_store();
	unlink(socket_path);
	rmdir(dir);
}

/* ---- the toolstack's and the guest's hands ---- */

static void put(const char *value, const char *fmt, ...) __printf(2, 3);
static void put(const char *value, const char *fmt, ...)
{
	char path[XENBUS_PATH_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	ck_assert_msg(xs_write(xs, XBT_NULL, path, value, (unsigned)strlen(value)), "%s", path);
}

static const char *get(const char *fmt, ...) __printf(1, 2);
static const char *get(const char *fmt, ...)
{
	static char value[XENBUS_VALUE_BYTES];
	char path[XENBUS_PATH_BYTES];
	va_list args;
	int ret;

	va_start(args, fmt);
	vsnprintf(path, sizeof(path), fmt, args);
	va_end(args);
	ret = xenbus_read(xs, XBT_NULL, path, NULL, value, sizeof(value));
	return ret < 0 ? "(none)" : value;
}

#define BE "/local/domain/0/backend/vif/%d/0"
#define FE "/local/domain/%d/device/vif/0"

static void remove_path(const char *fmt, int domid)
{
	char path[XENBUS_PATH_BYTES];

	snprintf(path, sizeof(path), fmt, domid);
	xs_rm(xs, XBT_NULL, path);
}

static void attach_with(int domid, const char *front, const char *script)
{
	char path[XENBUS_PATH_BYTES], number[16];

	snprintf(number, sizeof(number), "%d", domid);
	snprintf(path, sizeof(path), FE, domid);
	put(front, FE "/state", domid);
	put(path, BE "/frontend", domid);
	put(number, BE "/frontend-id", domid);
	put("0", BE "/handle", domid);
	put("00:16:3e:00:00:01", BE "/mac", domid);
	put("1", BE "/online", domid);
	if (script) {
		put(script, BE "/script", domid);
		put("", BE "/hotplug-status", domid);
	}
	put("1", BE "/state", domid);
}

static void attach(int domid)
{
	attach_with(domid, "1", NULL);
}

static void front_keys(int domid)
{
	put("8", FE "/tx-ring-ref", domid);
	put("9", FE "/rx-ring-ref", domid);
	put("5", FE "/event-channel", domid);
	put("1", FE "/request-rx-copy", domid);
	put("1", FE "/feature-rx-notify", domid);
}

static void front(int domid, const char *state)
{
	put(state, FE "/state", domid);
}

/* ---- time ---- */

static long now_msec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void pump(int msec)
{
	long end = now_msec() + msec;

	do {
		event_base_loop(control.base, EVLOOP_NONBLOCK);
		usleep(1000);
	} while (now_msec() < end);
}

static bool becomes(int domid, const char *state)
{
	long end = now_msec() + SOON_MSEC;

	do {
		pump(1);
		if (!strcmp(get(BE "/state", domid), state))
			return true;
	} while (now_msec() < end);
	return false;
}

#define ck_becomes(domid, state) \
	ck_assert_msg(becomes(domid, state), "state is %s, not " state, get(BE "/state", domid))

static void connect_vif(int domid)
{
	attach(domid);
	ck_becomes(domid, "2");
	front_keys(domid);
	front(domid, "4");
	ck_becomes(domid, "4");
}

static struct xenvif *vif_of(int domid)
{
	struct xenvif_key key = {(uint32_t)domid, 0};

	return vifs_find(&control.vifs, &key);
}

/* Writes of our state node since the last call: every published state is one. */
static int published(int domid)
{
	char path[XENBUS_PATH_BYTES];
	char **event;
	int nr = 0;

	snprintf(path, sizeof(path), BE "/state", domid);
	free(xs_read(xs, XBT_NULL, "/", NULL)); /* the events before its answer have arrived */
	while ((event = xs_check_watch(xs)) != NULL) {
		nr += !strcmp(event[XS_WATCH_PATH], path);
		free(event);
	}
	return nr;
}

static void watch_own_state(int domid)
{
	char path[XENBUS_PATH_BYTES];

	snprintf(path, sizeof(path), BE "/state", domid);
	ck_assert(xs_watch(xs, path, "t"));
	pump(20);
	published(domid);
}

/* ---- appearing ---- */

START_TEST(a_new_device_gets_its_features_and_InitWait)
{
	attach(1);
	ck_becomes(1, "2");
	for (const struct xenvif_feature *f = xenvif_features_offered; f->name; f++)
		ck_assert_int_eq(atoi(get(BE "/%s", 1, f->name)), (int)f->value);
	ck_assert_str_eq(get(BE "/feature-rx-copy", 1), "1");
	ck_assert_str_eq(get(BE "/feature-split-event-channels", 1), "1");
	ck_assert_int_eq(fake.nr_ports, 1);
	ck_assert_int_eq(fake.nr_connected, 0);
}
END_TEST

START_TEST(devices_older_than_the_daemon_are_served)
{
	stop_control();
	attach(1);
	attach_with(2, "4", NULL); /* MiniOS does not wait (6.3) */
	front_keys(2);
	start_control();
	ck_becomes(1, "2");
	ck_becomes(2, "4");
}
END_TEST

START_TEST(a_device_without_a_mac_waits_for_it)
{
	put("1", BE "/state", 1);
	pump(50);
	ck_assert_str_eq(get("/local/domain/0/error/backend/vif/1/0/error"),
			 "2 backend/vif/1/0/frontend-id: missing");
	attach(1);
	ck_becomes(1, "2");
	remove_path(BE, 1);
	pump(50);
	/* The error node goes with the device. */
	ck_assert_str_eq(get("/local/domain/0/error/backend/vif/1/0/error"), "(none)");
}
END_TEST

static const struct {
	const char *key, *value;
} bad_keys[] = {
	{"frontend-id", "-1"},
	{"frontend-id", "1x"},
	{"frontend-id", "32752"}, /* DOMID_FIRST_RESERVED */
	{"frontend-id", "2"},	  /* not whose directory it is */
	{"frontend", "/local/domain/2/device/vif/0"},
	{"frontend", "/local/domain/1/device/"},
	{"frontend", "/local/domain/1/device/vif//0"},
	{"frontend", "/local/domain/1/device/../../0"},
	{"frontend", "/local/domain/1/data"},
	{"frontend", "device/vif/0"},
	{"frontend", ""},
	{"frontend", "/local/domain/1/device/vif/%s%n"},
	{"handle", ""},
	{"handle", "-1"},
	{"handle", "4294967296"},
	{"handle", "4294967295"}, /* vif1.4294967295 has 15 characters: fits; see below */
	{"mac", "00:16:3e:00:00"},
	{"mac", "01:00:5e:00:00:01"},
	{"mac", "nonsense"},
};

START_TEST(a_device_whose_keys_make_no_sense_is_refused)
{
	bool fits = !strcmp(bad_keys[_i].value, "4294967295");

	attach(1);
	ck_becomes(1, "2");
	/* Made anew in its place, with the bad key. */
	put(bad_keys[_i].value, BE "/%s", 1, bad_keys[_i].key);
	put("1", BE "/state", 1);
	pump(60);
	ck_assert_str_eq(get(BE "/state", 1), fits ? "2" : "1");
	ck_assert_int_eq(fake.nr_ports, fits);
	if (!fits)
		ck_assert_ptr_nonnull(strstr(get("/local/domain/0/error/backend/vif/1/0/error"),
					     bad_keys[_i].key));
}
END_TEST

START_TEST(a_port_that_cannot_be_made_closes_the_device)
{
	fake.port_open_result = -EBUSY;
	attach(1);
	ck_becomes(1, "6");
	ck_assert_ptr_nonnull(strstr(get("/local/domain/0/error/backend/vif/1/0/error"), "port"));
	pump(50);
	ck_assert_uint_eq(vif_of(1)->nr_errors, 1);
}
END_TEST

/* Its frontend was at Initialising when that happened; coming back there is a new beginning. */
START_TEST(a_closed_device_is_tried_again_when_its_frontend_starts_anew)
{
	fake.port_open_result = -EBUSY;
	attach(1);
	front(1, "1");
	ck_becomes(1, "6");
	fake.port_open_result = 0;
	front(1, "4");
	pump(50);
	ck_assert_str_eq(get(BE "/state", 1), "6");
	front(1, "1");
	ck_becomes(1, "2");
}
END_TEST

/* ---- connecting ---- */

START_TEST(connected_waits_for_the_hotplug_script)
{
	attach_with(1, "1", "/etc/xen/scripts/vif-bridge");
	ck_becomes(1, "2");
	front_keys(1);
	front(1, "4");
	pump(60);
	ck_assert_int_eq(fake.nr_connected, 1);
	ck_assert_str_eq(get(BE "/state", 1), "2");
	put("error", BE "/hotplug-status", 1);
	pump(60);
	ck_assert_str_eq(get(BE "/state", 1), "2");
	ck_assert_uint_eq(vif_of(1)->nr_errors, 1);
	/* An administrator runs the script again. */
	put("connected", BE "/hotplug-status", 1);
	ck_becomes(1, "4");
	ck_assert_uint_eq(fake.nr_connects, 1);
	/* Kept across a reconnect, so that the guest comes back without the script. */
	front(1, "1");
	ck_becomes(1, "2");
	front(1, "4");
	ck_becomes(1, "4");
	ck_assert_str_eq(get(BE "/hotplug-status", 1), "connected");
}
END_TEST

START_TEST(keys_that_come_late_are_waited_for_once)
{
	attach(1);
	ck_becomes(1, "2");
	put("1", FE "/request-rx-copy", 1);
	front(1, "4"); /* iPXE: not in a transaction (6.2) */
	pump(5);
	front_keys(1);
	ck_becomes(1, "4");
	ck_assert_uint_eq(vif_of(1)->nr_errors, 0);
}
END_TEST

START_TEST(keys_that_never_come_disable_the_vif)
{
	attach(1);
	ck_becomes(1, "2");
	front(1, "4");
	ck_becomes(1, "6");
	ck_assert_str_eq(get("/local/domain/0/error/backend/vif/1/0/error"),
			 "2 frontend key request-rx-copy: missing");
	ck_assert_uint_eq(vif_of(1)->nr_errors, 1);
	/* Saying Connected again does not help, starting anew does. */
	front_keys(1);
	front(1, "4");
	pump(60);
	ck_assert_str_eq(get(BE "/state", 1), "6");
	front(1, "6");
	front(1, "1");
	ck_becomes(1, "2");
	front(1, "4");
	ck_becomes(1, "4");
}
END_TEST

START_TEST(rings_that_cannot_be_mapped_disable_the_vif)
{
	fake.connect_result = -EINVAL;
	attach(1);
	ck_becomes(1, "2");
	front_keys(1);
	front(1, "4");
	ck_becomes(1, "6");
	ck_assert_ptr_nonnull(
		strstr(get("/local/domain/0/error/backend/vif/1/0/error"), "queue 0"));
}
END_TEST

START_TEST(every_state_of_a_reset_is_published)
{
	connect_vif(1);
	watch_own_state(1);
	front(1, "1");
	ck_becomes(1, "2");
	pump(20);
	ck_assert_int_eq(published(1), 3); /* 5, 6, 2 */
	front(1, "1");
	front(1, "1");
	pump(60);
	ck_assert_int_eq(published(1), 0);
}
END_TEST

START_TEST(reconfiguring_is_answered)
{
	connect_vif(1);
	front(1, "7");
	ck_becomes(1, "8");
	front(1, "4");
	ck_becomes(1, "4");
	ck_assert_uint_eq(fake.nr_connects, 1);
}
END_TEST

START_TEST(nonsense_as_a_frontend_s_state_closes)
{
	connect_vif(1);
	front(1, "\xff"
		 "99999999999999999999999999999999");
	ck_becomes(1, "6");
	ck_assert_int_eq(fake.nr_connected, 0);
	front(1, "1");
	ck_becomes(1, "2");
}
END_TEST

/* ---- breaking the rules ---- */

START_TEST(a_worker_s_report_disables_the_vif)
{
	connect_vif(1);
	fake_report_fatal(fake.last_queue, FATAL_TX_PAGE_CROSSING);
	ck_becomes(1, "6");
	ck_assert_int_eq(fake.nr_connected, 0);
	ck_assert_ptr_nonnull(
		strstr(get("/local/domain/0/error/backend/vif/1/0/error"), "page crossing"));
	ck_assert_uint_eq(vif_of(1)->nr_errors, 1);
	front(1, "4");
	pump(50);
	ck_assert_str_eq(get(BE "/state", 1), "6");
	front(1, "5");
	front(1, "6");
	pump(50);
	front(1, "1");
	ck_becomes(1, "2");
	front(1, "4");
	ck_becomes(1, "4");
}
END_TEST

START_TEST(a_disabled_vif_is_removed_at_once)
{
	connect_vif(1);
	fake_report_fatal(fake.last_queue, FATAL_TX_PAGE_CROSSING);
	ck_becomes(1, "6");
	put("0", BE "/online", 1);
	put("5", BE "/state", 1);
	ck_becomes(1, "6");
	ck_assert_int_eq(fake.nr_ports, 0);
}
END_TEST

/* ---- going ---- */

START_TEST(removal_without_an_active_frontend_is_immediate)
{
	long start;

	attach(1);
	ck_becomes(1, "2");
	start = now_msec();
	put("0", BE "/online", 1);
	put("5", BE "/state", 1);
	ck_becomes(1, "6");
	ck_assert_int_lt(now_msec() - start, 500);
	ck_assert_int_eq(fake.nr_ports, 0);
}
END_TEST

START_TEST(removal_follows_an_active_frontend)
{
	connect_vif(1);
	put("0", BE "/online", 1);
	put("5", BE "/state", 1);
	pump(60);
	ck_assert_str_eq(get(BE "/state", 1), "5");
	ck_assert_int_eq(fake.nr_connected, 1);
	front(1, "5");
	pump(60);
	ck_assert_int_eq(fake.nr_connected, 0);
	front(1, "6");
	ck_becomes(1, "6");
	ck_assert_int_eq(fake.nr_ports, 0);
	remove_path(BE, 1);
	pump(60);
	ck_assert_ptr_null(vif_of(1));
}
END_TEST

START_TEST(a_removed_directory_is_never_written_again)
{
	connect_vif(1);
	remove_path(BE, 1);
	front(1, "5");
	pump(60);
	front(1, "6");
	front(1, "1");
	pump(60);
	ck_assert_str_eq(get(BE "/state", 1), "(none)");
	ck_assert_str_eq(get(BE, 1), "(none)");
	ck_assert_ptr_null(vif_of(1));
	ck_assert_int_eq(fake.nr_connected + fake.nr_ports + fake.nr_queues, 0);
}
END_TEST

START_TEST(all_directories_removed_at_once)
{
	connect_vif(1);
	connect_vif(2);
	remove_path("/local/domain/%d/backend", 0);
	pump(100);
	ck_assert_uint_eq(vifs_count(&control.vifs), 0);
	ck_assert_int_eq(fake.nr_ports, 0);
}
END_TEST

START_TEST(a_vanished_frontend_is_closed)
{
	connect_vif(1);
	remove_path("/local/domain/%d", 1);
	ck_becomes(1, "6");
	ck_assert_int_eq(fake.nr_connected, 0);
}
END_TEST

START_TEST(a_released_domain_is_let_go)
{
	ck_assert(xs_introduce_domain(xs, 1, 1, 1));
	ck_assert(xs_introduce_domain(xs, 2, 1, 1));
	connect_vif(1);
	connect_vif(2);
	/* The frontend's nodes still say Connected (6.32). */
	ck_assert(xs_release_domain(xs, 1));
	ck_becomes(1, "6");
	ck_assert_str_eq(get(BE "/state", 2), "4");
	ck_assert_int_eq(fake.nr_ports, 1);
}
END_TEST

START_TEST(a_device_left_over_from_a_destroyed_guest_is_closed)
{
	stop_control();
	attach(1); /* never introduced, and without a frontend */
	remove_path("/local/domain/%d", 1);
	ck_assert(xs_introduce_domain(xs, 2, 1, 1));
	attach(2); /* its frontend is not there yet */
	remove_path("/local/domain/%d", 2);
	start_control();
	ck_becomes(1, "6");
	ck_becomes(2, "2");
}
END_TEST

START_TEST(a_device_made_anew_in_its_place_starts_over)
{
	uint64_t generation;

	connect_vif(1);
	generation = vif_of(1)->generation;
	front(1, "1");
	put("1", BE "/state", 1);
	ck_becomes(1, "2");
	ck_assert_uint_gt(vif_of(1)->generation, generation);
	front(1, "4");
	ck_becomes(1, "4");
}
END_TEST

START_TEST(leaving_closes_in_order_and_coming_back_invites)
{
	connect_vif(1);
	attach(2);
	ck_becomes(2, "2");
	control_leave(&control);
	ck_assert_str_eq(get(BE "/state", 1), "6");
	ck_assert_str_eq(get(BE "/state", 2), "6");
	ck_assert_int_eq(fake.nr_connected, 0);
	stop_control();
	front(1, "6");
	start_control();
	ck_becomes(1, "2");
	ck_becomes(2, "2");
	pump(60); /* a frontend that has closed is not closing now */
	ck_assert_str_eq(get(BE "/state", 1), "2");
	front(1, "1");
	pump(20);
	front(1, "4");
	ck_becomes(1, "4");
}
END_TEST

/* ---- storms, leaks, faults ---- */

START_TEST(a_key_flood_does_not_starve_others)
{
	uint64_t before;
	long start;

	connect_vif(1);
	attach(2);
	ck_becomes(2, "2");
	front_keys(2);
	before = control.nr_evaluations;
	for (int i = 0; i < 3000; i++)
		front(1, "4");
	front(2, "4");
	start = now_msec();
	ck_becomes(2, "4");
	ck_assert_int_lt(now_msec() - start, 1000);
	pump(50);
	/* 3000 events, but few looks: they were coalesced. */
	ck_assert_uint_lt(control.nr_evaluations - before, 200);
	ck_assert_str_eq(get(BE "/state", 1), "4");
}
END_TEST

START_TEST(a_vif_costs_one_watch_and_nothing_when_it_is_gone)
{
	struct xsd_stats before, with;

	pump(50);
	before = *store_stats;
	for (int domid = 1; domid <= 20; domid++)
		connect_vif(domid);
	pump(50);
	with = *store_stats;
	ck_assert_uint_eq(with.nr_watches - before.nr_watches, 20);
	for (int round = 0; round < 5; round++) {
		for (int domid = 1; domid <= 20; domid++)
			front(domid, "1");
		for (int domid = 1; domid <= 20; domid++)
			ck_becomes(domid, "2");
		for (int domid = 1; domid <= 20; domid++)
			front(domid, "4");
		for (int domid = 1; domid <= 20; domid++)
			ck_becomes(domid, "4");
	}
	pump(50);
	ck_assert_uint_eq(store_stats->nr_watches, with.nr_watches);
	ck_assert_uint_eq(store_stats->nr_nodes, with.nr_nodes);
	for (int domid = 1; domid <= 20; domid++) {
		remove_path(BE, domid);
		remove_path("/local/domain/0/backend/vif/%d", domid);
		remove_path("/local/domain/%d", domid);
	}
	remove_path("/local/domain/%d/backend", 0);
	pump(100);
	ck_assert_uint_eq(store_stats->nr_watches, before.nr_watches);
	ck_assert_uint_eq(store_stats->nr_nodes, before.nr_nodes);
	ck_assert_uint_eq(vifs_count(&control.vifs), 0);
}
END_TEST

START_TEST(transactions_that_conflict_are_tried_again)
{
	connect_vif(1);
	front(1, "1");
	ck_becomes(1, "2");
	front(1, "4");
	ck_becomes(1, "4");
	front(1, "6");
	ck_becomes(1, "6");
}
END_TEST

START_TEST(a_lost_xenstored_ends_the_loop)
{
	connect_vif(1);
	kill_store();
	ck_assert_int_eq(control_run(&control), -ECONNRESET);
	control_leave(&control);
}
END_TEST

/* ---- what netbackctl sees ---- */

static json_t *command(const char *name, const char *vif, char *error, size_t size)
{
	json_t *args = vif ? json_pack("{s:s,s:i}", "vif", vif, "group", 1) : json_object();
	const struct ctl_command *entry = report_commands;
	json_t *result;

	while (strcmp(entry->name, name))
		entry++;
	result = entry->handler(&control, args, error, size);
	json_decref(args);
	return result;
}

START_TEST(reports_have_their_shape)
{
	char error[256];
	json_t *stats, *list, *show;
	int domid, group, slots, total;
	const char *name, *state, *own, *other;

	connect_vif(1);
	stats = command("stats", NULL, error, sizeof(error));
	ck_assert_int_eq(
		json_unpack(stats,
			    "{s:[{s:s,s:i,s:s,s:i,s:[{s:i,s:{s:i},s:{s:i}}],s:{s:i},s:i}],s:[{s:i}"
			    ",{s:i}]}",
			    "vifs", "name", &name, "domid", &domid, "state", &state, "group",
			    &group, "queues", "id", &slots, "tx", "slots", &slots, "drops", "d4",
			    &slots, "tx", "packets", &slots, "drops", &total, "groups", "group",
			    &group, "group", &group),
		0);
	ck_assert_str_eq(name, "vif1.0");
	ck_assert_str_eq(state, "Connected");
	ck_assert_int_eq(domid, 1);
	ck_assert_int_eq(slots, 3);
	ck_assert_int_eq(total, 2);
	list = command("list", NULL, error, sizeof(error));
	ck_assert_int_eq(json_unpack(list, "[{s:s,s:s}]", "frontend", &other, "backend", &own), 0);
	ck_assert_str_eq(own, "Connected");
	ck_assert_str_eq(other, "Connected");
	show = command("show", "vif1.0", error, sizeof(error));
	ck_assert_int_eq(json_unpack(show, "{s:{s:i},s:{s:b},s:[{s:{s:i}}]}", "offered",
				     "feature-sg", &slots, "agreed", "rx_notify", &group, "queues",
				     "tx_ring", "req_prod", &total),
			 0);
	ck_assert_int_eq(total, 11);
	json_decref(stats);
	json_decref(list);
	json_decref(show);
}
END_TEST

START_TEST(commands_refuse_what_is_not_there)
{
	char error[256];

	attach(1);
	ck_becomes(1, "2");
	ck_assert_ptr_null(command("show", "vif9.0", error, sizeof(error)));
	ck_assert_str_eq(error, "no vif 'vif9.0'; list shows them");
	ck_assert_ptr_null(command("show", "\x1b[2J", error, sizeof(error)));
	ck_assert_ptr_null(strchr(error, '\x1b'));
	ck_assert_ptr_null(command("show", NULL, error, sizeof(error)));
	ck_assert_ptr_null(command("move", "vif1.0", error, sizeof(error)));
	ck_assert_ptr_nonnull(strstr(error, "connected"));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("backend");
	TCase *tcase = tcase_create("backend"), *conflicts = tcase_create("conflicts");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_checked_fixture(conflicts, setup_conflicts, teardown);
	tcase_set_timeout(tcase, 30);
	tcase_add_test(tcase, a_new_device_gets_its_features_and_InitWait);
	tcase_add_test(tcase, devices_older_than_the_daemon_are_served);
	tcase_add_test(tcase, a_device_without_a_mac_waits_for_it);
	tcase_add_loop_test(tcase, a_device_whose_keys_make_no_sense_is_refused, 0,
			    ARRAY_SIZE(bad_keys));
	tcase_add_test(tcase, a_port_that_cannot_be_made_closes_the_device);
	tcase_add_test(tcase, a_closed_device_is_tried_again_when_its_frontend_starts_anew);
	tcase_add_test(tcase, connected_waits_for_the_hotplug_script);
	tcase_add_test(tcase, keys_that_come_late_are_waited_for_once);
	tcase_add_test(tcase, keys_that_never_come_disable_the_vif);
	tcase_add_test(tcase, rings_that_cannot_be_mapped_disable_the_vif);
	tcase_add_test(tcase, every_state_of_a_reset_is_published);
	tcase_add_test(tcase, reconfiguring_is_answered);
	tcase_add_test(tcase, nonsense_as_a_frontend_s_state_closes);
	tcase_add_test(tcase, a_worker_s_report_disables_the_vif);
	tcase_add_test(tcase, a_disabled_vif_is_removed_at_once);
	tcase_add_test(tcase, removal_without_an_active_frontend_is_immediate);
	tcase_add_test(tcase, removal_follows_an_active_frontend);
	tcase_add_test(tcase, a_removed_directory_is_never_written_again);
	tcase_add_test(tcase, all_directories_removed_at_once);
	tcase_add_test(tcase, a_vanished_frontend_is_closed);
	tcase_add_test(tcase, a_released_domain_is_let_go);
	tcase_add_test(tcase, a_device_left_over_from_a_destroyed_guest_is_closed);
	tcase_add_test(tcase, a_device_made_anew_in_its_place_starts_over);
	tcase_add_test(tcase, leaving_closes_in_order_and_coming_back_invites);
	tcase_add_test(tcase, a_key_flood_does_not_starve_others);
	tcase_add_test(tcase, a_vif_costs_one_watch_and_nothing_when_it_is_gone);
	tcase_add_test(tcase, a_lost_xenstored_ends_the_loop);
	tcase_add_test(tcase, reports_have_their_shape);
	tcase_add_test(tcase, commands_refuse_what_is_not_there);
	tcase_add_test(conflicts, transactions_that_conflict_are_tried_again);
	suite_add_tcase(suite, tcase);
	suite_add_tcase(suite, conflicts);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
