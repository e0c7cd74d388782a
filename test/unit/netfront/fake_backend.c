/* SPDX-License-Identifier: MIT */
/* fake_backend.c: see fake_backend.h. Three threads: the machine, the frontend, the test. */
#include "test/unit/netfront/fake_backend.h"

#include <check.h>
#include <errno.h>
#include <event2/event.h>
#include <event2/thread.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "common/log.h"
#include "grant/xenemu.h"

#define WAIT_TRIES 1000
#define PAUSE_NSEC 5000000
#define BIND_MSEC  20
#define EVENT_MSEC 5000

char front_dir[XENBUS_PATH_BYTES], back_dir[2][XENBUS_PATH_BYTES];
struct xs_handle *dom0;
atomic_uint nr_link_up, nr_link_down, nr_delivered;

static char rundir[64];
static domid_t guest;
static struct xenemu_control *control;
static struct xenemu_machine *machine;
static struct event_base *machine_base, *front_base;
static struct event *leave_event;
static pthread_t machine_thread, front_thread;
static struct netfront *front;
static int front_result;

static void pause_briefly(void)
{
	struct timespec pause = {.tv_nsec = PAUSE_NSEC};

	nanosleep(&pause, NULL);
}

/* ---- machine ---- */

static void *run_machine(void *arg)
{
	event_base_loop(machine_base, EVLOOP_NO_EXIT_ON_EMPTY);
	return NULL;
}

static struct xs_handle *store_of(domid_t domid)
{
	struct xs_handle *xs;
	char path[128];

	snprintf(path, sizeof(path), "%s/dom%u/xenstored.sock", rundir, domid);
	setenv("XENSTORED_PATH", path, 1);
	ck_assert_int_eq(xenemu_enter(rundir, domid), 0);
	xs = xs_open(0);
	ck_assert_ptr_nonnull(xs);
	return xs;
}

void machine_up(void)
{
	evthread_use_pthreads();
	log_set_level(LOG_LEVEL_ERROR);
	strcpy(rundir, "/tmp/netfront-test-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(rundir));
	machine_base = event_base_new();
	ck_assert_int_eq(xenemu_machine_new(machine_base, rundir, NULL, &machine), 0);
	ck_assert_int_eq(pthread_create(&machine_thread, NULL, run_machine, NULL), 0);
	ck_assert_int_eq(xenemu_control_open(rundir, &control), 0);
	ck_assert_int_eq(xenemu_domain_create(control, "guest", false, &guest), 0);
	dom0 = store_of(0);
	xenbus_path(front_dir, "/local/domain/%u/device/vif/0", guest);
	xenbus_path(back_dir[0], "/local/domain/0/backend/vif/%u/0", guest);
	xenbus_path(back_dir[1], "/local/domain/0/backend/other/%u/0", guest);
	nr_link_up = nr_link_down = nr_delivered = 0;
}

void machine_down(void)
{
	char path[96];

	xs_close(dom0);
	xenemu_control_close(control);
	event_base_loopbreak(machine_base);
	pthread_join(machine_thread, NULL);
	xenemu_machine_free(machine);
	event_base_free(machine_base);
	snprintf(path, sizeof(path), "%s/lock", rundir);
	unlink(path);
	ck_assert_msg(!rmdir(rundir), "something was left in %s", rundir);
	libevent_global_shutdown();
}

uint32_t machine_stat(const char *name)
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

/* ---- toolstack ---- */

struct device {
	unsigned which;
	enum xenbus_state front, back;
};

static int write_device(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	struct xs_permissions front_perms[] = {{guest, XS_PERM_NONE}, {0, XS_PERM_READ}};
	struct xs_permissions back_perms[] = {{0, XS_PERM_NONE}, {guest, XS_PERM_READ}};
	const struct device *device = arg;
	const char *dir = back_dir[device->which];

	ck_assert(xs_mkdir(xs, t, front_dir));
	ck_assert(xs_set_permissions(xs, t, front_dir, front_perms, 2));
	ck_assert(xs_mkdir(xs, t, dir));
	ck_assert(xs_set_permissions(xs, t, dir, back_perms, 2));
	xenbus_printf(xs, t, dir, "state", "%d", device->back);
	xenbus_printf(xs, t, dir, "feature-sg", "1");
	xenbus_printf(xs, t, dir, "feature-split-event-channels", "1");
	xenbus_printf(xs, t, front_dir, "backend", "%s", dir);
	xenbus_printf(xs, t, front_dir, "backend-id", "0");
	xenbus_printf(xs, t, front_dir, "mac", "00:16:3e:00:00:01");
	return xenbus_printf(xs, t, front_dir, "state", "%d", device->front);
}

void device_create(unsigned which, enum xenbus_state front_was, enum xenbus_state back)
{
	struct device device = {which, front_was, back};

	ck_assert_int_eq(xenbus_transaction(dom0, write_device, &device), 0);
}

static int remove_device(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	xs_rm(xs, t, front_dir);
	xs_rm(xs, t, back_dir[0]);
	xs_rm(xs, t, back_dir[1]);
	return 0;
}

void device_remove(void)
{
	ck_assert_int_eq(xenbus_transaction(dom0, remove_device, NULL), 0);
}

void back_state(unsigned which, enum xenbus_state state)
{
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, back_dir[which], "state", "%d", state), 0);
}

void back_key(unsigned which, const char *key, const char *value)
{
	ck_assert_int_eq(xenbus_printf(dom0, XBT_NULL, back_dir[which], key, "%s", value), 0);
}

/* ---- frontend ---- */

static void stub_link(struct netfront_side *side, bool up)
{
	atomic_fetch_add(up ? &nr_link_up : &nr_link_down, 1);
}

static bool stub_deliver(struct netfront_side *side, struct netfront_queue *queue,
			 const struct netfront_frame *frame)
{
	atomic_fetch_add(&nr_delivered, 1);
	return true;
}

static bool stub_fill(struct netfront_side *side, struct netfront_queue *queue, unsigned budget)
{
	return false;
}

static const struct netfront_side_ops stub_ops = {
	.name = "stub",
	.link = stub_link,
	.deliver = stub_deliver,
	.fill = stub_fill,
};
static struct netfront_side stub = {.ops = &stub_ops};

static void leave_now(evutil_socket_t fd, short what, void *arg)
{
	netfront_leave(front);
}

static void *run_front(void *arg)
{
	front_result = netfront_run(front);
	return NULL;
}

void front_start(const struct netfront_params *params)
{
	struct xs_handle *xs = store_of(guest); /* the frontend opens its own the same way */

	xs_close(xs);
	front_base = event_base_new();
	ck_assert_int_eq(netfront_new(params, front_base, &stub, &front), 0);
	leave_event = event_new(front_base, -1, 0, leave_now, NULL);
	ck_assert_int_eq(pthread_create(&front_thread, NULL, run_front, NULL), 0);
}

void front_leave(void)
{
	event_active(leave_event, EV_TIMEOUT, 0);
}

int front_end(void)
{
	pthread_join(front_thread, NULL);
	event_free(leave_event);
	netfront_free(front);
	event_base_free(front_base);
	return front_result;
}

enum xenbus_state front_state(void)
{
	return xenbus_read_state(dom0, XBT_NULL, front_dir);
}

void front_wait(enum xenbus_state state)
{
	for (int i = 0; i < WAIT_TRIES; i++) {
		if (front_state() == state)
			return;
		pause_briefly();
	}
	ck_abort_msg("the frontend is in state %s, not %s", xenbus_state_name(front_state()),
		     xenbus_state_name(state));
}

uint32_t front_key(const char *key)
{
	uint32_t value;

	ck_assert_msg(!xenbus_read_u32(dom0, XBT_NULL, front_dir, key, 0, UINT32_MAX, &value),
		      "no number in %s", key);
	return value;
}

bool front_has(const char *key)
{
	return xenbus_exists(dom0, XBT_NULL, front_dir, key);
}

/* ---- backend ---- */

static void *map(xengnttab_handle *gnttab, const char *key)
{
	void *page = xengnttab_map_grant_ref(gnttab, guest, front_key(key), PROT_READ | PROT_WRITE);

	ck_assert_ptr_nonnull(page);
	return page;
}

static int bind_channel(xenevtchn_handle *evtchn, const char *key)
{
	int port = xenevtchn_bind_interdomain(evtchn, guest, front_key(key));

	ck_assert_int_gt(port, 0);
	return port;
}

static bool take_event(struct fake_connection *c, int msec)
{
	struct pollfd pollfd = {.fd = xenevtchn_fd(c->evtchn), .events = POLLIN};

	if (poll(&pollfd, 1, msec) != 1)
		return false;
	return !xenevtchn_unmask(c->evtchn, (evtchn_port_t)xenevtchn_pending(c->evtchn));
}

void back_connect(struct fake_connection *c)
{
	ck_assert_int_eq(xenemu_enter(rundir, 0), 0);
	c->gnttab = xengnttab_open(NULL, 0);
	c->evtchn = xenevtchn_open(NULL, 0);
	ck_assert(c->gnttab && c->evtchn);
	BACK_RING_INIT(&c->tx, (netif_tx_sring_t *)map(c->gnttab, "tx-ring-ref"),
		       NETFRONT_PAGE_BYTES);
	BACK_RING_INIT(&c->rx, (netif_rx_sring_t *)map(c->gnttab, "rx-ring-ref"),
		       NETFRONT_PAGE_BYTES);
	c->tx_port = bind_channel(c->evtchn, "event-channel-tx");
	c->rx_port = bind_channel(c->evtchn, "event-channel-rx");
	/* Binding raises an event at both ends: it says nothing about the frontend. */
	while (take_event(c, BIND_MSEC))
		;
}

void back_disconnect(struct fake_connection *c)
{
	xengnttab_unmap(c->gnttab, c->tx.sring, 1);
	xengnttab_unmap(c->gnttab, c->rx.sring, 1);
	xenevtchn_close(c->evtchn);
	xengnttab_close(c->gnttab);
}

bool back_event(struct fake_connection *c)
{
	return take_event(c, EVENT_MSEC);
}
