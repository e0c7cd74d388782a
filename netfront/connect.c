/* SPDX-License-Identifier: MIT */
/*
 * connect.c: the frontend's half of the handshake, and the loop that drives it and the queues.
 * One thread. Control work runs in event callbacks and may block on xenstored; queues run between
 * two turns of the event loop.
 *
 *   waiting ----> initialising(1) ----> connected(4) ----> closing(5) ----> closed(6) ----> done
 *      ^ device dir    ^ backend InitWait     |  backend        |  backend       |  only when
 *      |  appears      |                      |  Closing...     |  follows       |  leaving
 *      +--- device directory gone ------------+-----------------+----------------+
 *                      +---- backend back in InitWait (2) ------+----------------+
 *
 * Each phase has one handler; step() runs them until the phase no longer changes. What a handler
 * looks at is read afresh from the store each time: a watch event only says "look again".
 */
#include "netfront/netfront.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"

#define NR_QUEUES 1u
/* Watch events taken before anything else gets a turn. */
#define WATCH_BATCH 64
/* While spinning, look at the file descriptors only every so many passes. */
#define SPIN_PASSES 32

enum phase {
	PHASE_WAITING,	    /* no device directory */
	PHASE_INITIALISING, /* own state 1: for the backend to offer itself */
	PHASE_CONNECTED,    /* own state 4 */
	PHASE_CLOSING,	    /* own state 5: for the backend to let go */
	PHASE_CLOSED,	    /* own state 6 */
	PHASE_DONE,
	NR_PHASES
};

struct netfront {
	struct netfront_params params;
	struct event_base *base;
	struct netfront_side *side;
	struct xs_handle *xs;
	struct netfront_hv hv;
	struct event *xs_event, *evtchn_event, *close_timer, *wait_timer;
	char dir[XENBUS_PATH_BYTES];

	/* As last seen in the store. */
	struct netfront_backend backend; /* path "" if there is none */
	enum xenbus_state backend_state;
	char backend_watch[XENBUS_PATH_BYTES]; /* "" if not watched */

	enum phase phase;
	enum xenbus_state state; /* own, as last written */
	bool live;		 /* both ends Connected: queues may run */
	bool leaving;
	bool resetting; /* an earlier frontend left the backend in a state we must bring back */
	bool timed_out; /* the backend did not follow while closing */
	bool running;
	int result;

	struct netfront_features agreed;
	struct netfront_queue queues[NR_QUEUES];
	uint64_t last_work_usec;
};

static void step(struct netfront *nf);

/* ---- small parts ---- */

static void set_state(struct netfront *nf, enum xenbus_state state)
{
	int err = xenbus_switch_state(nf->xs, nf->dir, state);

	nf->state = state;
	log_debug("vif %u: own state %s", nf->params.vif, xenbus_state_name(state));
	/* -ENOENT: the toolstack removed the device; the watch tells. */
	if (err && err != -ENOENT)
		log_warn("vif %u: cannot write state %s: %s", nf->params.vif,
			 xenbus_state_name(state), strerror(-err));
}

static void set_phase(struct netfront *nf, enum phase phase)
{
	nf->phase = phase;
	nf->timed_out = false;
	evtimer_del(nf->close_timer);
}

static void arm_close_timer(struct netfront *nf)
{
	struct timeval wait = {NETFRONT_CLOSE_MSEC / 1000, NETFRONT_CLOSE_MSEC % 1000 * 1000};

	evtimer_add(nf->close_timer, &wait);
}

static void fail(struct netfront *nf, int err)
{
	nf->result = err;
	nf->phase = PHASE_DONE;
}

static void set_live(struct netfront *nf, bool live)
{
	if (nf->live == live)
		return;
	nf->live = live;
	if (nf->side->ops->link)
		nf->side->ops->link(nf->side, live);
}

static void disconnect(struct netfront *nf)
{
	set_live(nf, false);
	for (unsigned i = 0; i < NR_QUEUES; i++) {
		netfront_queue_drain(&nf->queues[i]);
		netfront_queue_close(&nf->queues[i], &nf->hv);
	}
}

static bool backend_is(const struct netfront *nf, unsigned mask)
{
	return mask & 1u << nf->backend_state;
}

#define STATE(name) (1u << XenbusState##name)

/* ---- connecting ---- */

static int configure_side(struct netfront *nf)
{
	uint8_t mac[NETFRONT_MAC_BYTES];
	uint32_t mtu;
	int err;

	err = netfront_read_mac(nf->xs, nf->dir, mac);
	if (err) {
		log_err("vif %u: no MAC address in %s/mac: %s", nf->params.vif, nf->dir,
			strerror(-err));
		return err;
	}
	if (xenbus_read_u32(nf->xs, XBT_NULL, nf->dir, "mtu", 68, 65535, &mtu))
		mtu = NETFRONT_MTU_DEFAULT;
	/* Without several slots a frame must fit in a page. */
	if (!nf->agreed.sg_tx || !nf->agreed.sg_rx)
		mtu = MIN(mtu, NETFRONT_MTU_DEFAULT);
	return nf->side->ops->configure ? nf->side->ops->configure(nf->side, mac, mtu) : 0;
}

static int open_queues(struct netfront *nf)
{
	int err = 0;

	for (unsigned i = 0; !err && i < NR_QUEUES; i++)
		err = netfront_queue_open(&nf->queues[i], &nf->hv, nf->backend.domid, &nf->agreed);
	return err;
}

static int connect_vif(struct netfront *nf)
{
	int err;

	nf->agreed = nf->params.features;
	netfront_read_features(nf->xs, &nf->backend, &nf->agreed);
	err = configure_side(nf);
	if (err)
		return err;
	err = open_queues(nf);
	if (err)
		goto err_close;
	err = netfront_publish_keys(nf->xs, nf->dir, nf->queues, NR_QUEUES, &nf->agreed);
	if (err) {
		log_err("vif %u: cannot write the keys in %s: %s", nf->params.vif, nf->dir,
			strerror(-err));
		goto err_close;
	}
	set_state(nf, XenbusStateConnected);
	return 0;

err_close:
	disconnect(nf);
	return err;
}

static void go_live(struct netfront *nf)
{
	log_info("vif %u: connected to %s", nf->params.vif, nf->backend.path);
	evtimer_del(nf->wait_timer);
	set_live(nf, true);
	/* What happened before the backend had bound its end is lost: both sides look once. */
	for (unsigned i = 0; i < NR_QUEUES; i++)
		netfront_queue_kick(&nf->queues[i], &nf->hv);
	netfront_schedule(nf);
}

static void begin_init(struct netfront *nf)
{
	nf->resetting = false;
	set_state(nf, XenbusStateInitialising);
	set_phase(nf, PHASE_INITIALISING);
}

static void begin_close(struct netfront *nf)
{
	set_live(nf, false);
	set_state(nf, XenbusStateClosing);
	set_phase(nf, PHASE_CLOSING);
	arm_close_timer(nf);
}

/* ---- the phases ---- */

static void waiting(struct netfront *nf)
{
	if (nf->leaving) {
		set_phase(nf, PHASE_DONE);
		return;
	}
	if (!nf->backend.path[0])
		return;
	nf->state = xenbus_read_state(nf->xs, XBT_NULL, nf->dir);
	/* A frontend before us did not close: bring the backend back step by step. */
	if (backend_is(nf, STATE(Connected) | STATE(Closing) | STATE(Reconfigured))) {
		nf->resetting = true;
		begin_close(nf);
		return;
	}
	begin_init(nf);
}

static void initialising(struct netfront *nf)
{
	int err;

	if (nf->leaving) {
		set_state(nf, XenbusStateClosed);
		set_phase(nf, PHASE_DONE);
		return;
	}
	if (!backend_is(nf, STATE(InitWait)))
		return;
	err = connect_vif(nf);
	if (err) {
		set_state(nf, XenbusStateClosed);
		fail(nf, err);
		return;
	}
	set_phase(nf, PHASE_CONNECTED);
}

static void connected(struct netfront *nf)
{
	if (nf->leaving) {
		begin_close(nf);
		return;
	}
	if (backend_is(nf, STATE(Connected))) {
		if (!nf->live)
			go_live(nf);
		return;
	}
	/* Not live yet, the backend is still on its way from InitWait. */
	if (backend_is(nf, STATE(Closing) | STATE(Closed))) {
		log_info("vif %u: the backend is closing", nf->params.vif);
		begin_close(nf);
		return;
	}
	if (backend_is(nf, STATE(Unknown)) || (nf->live && backend_is(nf, STATE(Initialising)))) {
		log_info("vif %u: the backend is gone", nf->params.vif);
		begin_close(nf);
		return;
	}
	if (nf->live && backend_is(nf, STATE(InitWait))) {
		log_info("vif %u: the backend started afresh", nf->params.vif);
		disconnect(nf);
		begin_init(nf);
	}
}

static void closing(struct netfront *nf)
{
	if (backend_is(nf, STATE(Connected) | STATE(Reconfigured)) && !nf->timed_out)
		return;
	if (nf->timed_out)
		log_warn("vif %u: the backend did not follow to Closing", nf->params.vif);
	disconnect(nf);
	set_state(nf, XenbusStateClosed);
	set_phase(nf, PHASE_CLOSED);
	arm_close_timer(nf);
}

static void closed(struct netfront *nf)
{
	bool gone = backend_is(nf, STATE(Unknown) | STATE(Closed));

	if (nf->leaving) {
		/* InitWait: it is ready for the next frontend already. */
		if (gone || backend_is(nf, STATE(InitWait)) || nf->timed_out)
			set_phase(nf, PHASE_DONE);
		return;
	}
	if (backend_is(nf, STATE(Initialising) | STATE(InitWait)) ||
	    (nf->resetting && (gone || nf->timed_out)))
		begin_init(nf);
}

static void done(struct netfront *nf)
{
	nf->running = false;
}

static const struct {
	const char *name;
	void (*step)(struct netfront *nf);
} phases[] = {
	[PHASE_WAITING] = {"waiting for the device", waiting},
	[PHASE_INITIALISING] = {"initialising", initialising},
	[PHASE_CONNECTED] = {"connected", connected},
	[PHASE_CLOSING] = {"closing", closing},
	[PHASE_CLOSED] = {"closed", closed},
	[PHASE_DONE] = {"done", done},
};
BUILD_ASSERT(ARRAY_SIZE(phases) == NR_PHASES);

/* ---- looking at the store ---- */

static void watch_backend(struct netfront *nf, const char *path)
{
	char state[XENBUS_PATH_BYTES];

	if (path[0] ? !strncmp(nf->backend_watch, path, strlen(path)) &&
			      !strcmp(nf->backend_watch + strlen(path), "/state")
		    : !nf->backend_watch[0])
		return;
	if (nf->backend_watch[0])
		xs_unwatch(nf->xs, nf->backend_watch, "backend");
	nf->backend_watch[0] = '\0';
	if (!path[0] || xenbus_path(state, "%s/state", path))
		return;
	if (xs_watch(nf->xs, state, "backend"))
		strcpy(nf->backend_watch, state);
	else
		log_warn("vif %u: cannot watch the backend's state: %s", nf->params.vif,
			 strerror(errno));
}

/* Device directory gone, or given to another backend: nothing more is to be written for the old. */
static void forget_backend(struct netfront *nf)
{
	if (nf->phase != PHASE_WAITING)
		log_info("vif %u: the device is gone", nf->params.vif);
	disconnect(nf);
	nf->resetting = false;
	set_phase(nf, PHASE_WAITING);
}

static bool same_backend(const struct netfront_backend *a, const struct netfront_backend *b)
{
	return a->domid == b->domid && !strcmp(a->path, b->path);
}

static void observe(struct netfront *nf)
{
	struct netfront_backend now = {.path = ""};

	if (netfront_find_backend(nf->xs, nf->dir, &now))
		now.path[0] = '\0';
	if (nf->backend.path[0] && !same_backend(&nf->backend, &now))
		forget_backend(nf);
	nf->backend = now;
	watch_backend(nf, now.path);
	nf->backend_state =
		now.path[0] ? xenbus_read_state(nf->xs, XBT_NULL, now.path) : XenbusStateUnknown;
}

static void step(struct netfront *nf)
{
	enum phase before;

	if (nf->phase != PHASE_DONE)
		observe(nf);
	do {
		before = nf->phase;
		phases[before].step(nf);
		if (nf->phase != before)
			log_debug("vif %u: %s -> %s (backend %s)", nf->params.vif,
				  phases[before].name, phases[nf->phase].name,
				  xenbus_state_name(nf->backend_state));
	} while (nf->phase != before);
}

/* ---- events ---- */

static void watch_fired(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;
	int left = WATCH_BATCH;
	bool any = false;
	char **event;

	errno = 0;
	while (left-- && (event = xs_check_watch(nf->xs))) {
		free(event);
		any = true;
	}
	if (!any && errno && errno != EAGAIN && errno != EINTR) {
		log_err("vif %u: the connection to xenstored broke: %s", nf->params.vif,
			strerror(errno));
		fail(nf, -EPIPE);
		nf->running = false;
		return;
	}
	step(nf);
}

static void close_timed_out(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;

	nf->timed_out = true;
	step(nf);
}

static void wait_timed_out(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;
	const char *be = xenbus_state_name(nf->backend_state);

	if (nf->live || nf->leaving)
		return;
	if (!nf->backend.path[0])
		log_err("vif %u: no device in %s after %u s: attach one (xl network-attach)",
			nf->params.vif, nf->dir, nf->params.wait_sec);
	else
		log_err("vif %u: the backend %s is in state %s after %u s: is netbackd running, "
			"and what do its log and hotplug-status say?",
			nf->params.vif, nf->backend.path, be, nf->params.wait_sec);
	disconnect(nf);
	if (nf->phase != PHASE_WAITING)
		set_state(nf, XenbusStateClosed);
	fail(nf, -ETIMEDOUT);
	nf->running = false;
}

static void take_event(struct netfront *nf, int port)
{
	for (unsigned i = 0; i < NR_QUEUES; i++) {
		struct netfront_queue *queue = &nf->queues[i];

		if (port != queue->tx_port && port != queue->rx_port)
			continue;
		if (port == queue->tx_port)
			queue->tx_masked = true;
		else
			queue->rx_masked = true;
		queue->nr_events++;
		queue->scheduled = true;
		return;
	}
	/* Left over from a channel closed meanwhile. */
}

static void event_fired(evutil_socket_t fd, short what, void *arg)
{
	struct pollfd pollfd = {.fd = fd, .events = POLLIN};
	struct netfront *nf = arg;
	int port;

	/* xenevtchn_pending() may block even on a non-blocking descriptor: ask before each. */
	do {
		port = xenevtchn_pending(nf->hv.evtchn);
		if (port < 0)
			return;
		take_event(nf, port);
	} while (poll(&pollfd, 1, 0) == 1);
}

/* ---- life ---- */

static int open_store(struct netfront *nf)
{
	int err;

	nf->xs = xs_open(0);
	if (!nf->xs) {
		err = errno ? -errno : -EIO;
		log_err("cannot reach xenstored: %s (in a Xen guest: is xenfs mounted; otherwise "
			"start this with xenemu, or set XENSTORED_PATH)",
			strerror(-err));
		return err;
	}
	if (!xs_watch(nf->xs, nf->dir, "device")) {
		err = errno ? -errno : -EIO;
		log_err("cannot watch %s: %s", nf->dir, strerror(-err));
		return err;
	}
	return 0;
}

static int open_events(struct netfront *nf)
{
	short flags = EV_READ | EV_PERSIST;

	nf->xs_event = event_new(nf->base, xs_fileno(nf->xs), flags, watch_fired, nf);
	nf->evtchn_event = event_new(nf->base, xenevtchn_fd(nf->hv.evtchn), flags, event_fired, nf);
	nf->close_timer = evtimer_new(nf->base, close_timed_out, nf);
	nf->wait_timer = evtimer_new(nf->base, wait_timed_out, nf);
	if (!nf->xs_event || !nf->evtchn_event || !nf->close_timer || !nf->wait_timer)
		return -ENOMEM;
	return event_add(nf->xs_event, NULL) || event_add(nf->evtchn_event, NULL) ? -ENOMEM : 0;
}

int netfront_new(const struct netfront_params *params, struct event_base *base,
		 struct netfront_side *side, struct netfront **nfp)
{
	struct netfront *nf = calloc(1, sizeof(*nf));
	int err;

	if (!nf)
		return -ENOMEM;
	nf->params = *params;
	nf->base = base;
	nf->side = side;
	side->nf = nf;
	for (unsigned i = 0; i < NR_QUEUES; i++) {
		nf->queues[i].id = i;
		nf->queues[i].side = side;
		nf->queues[i].tx_port = nf->queues[i].rx_port = -1;
	}
	err = xenbus_path(nf->dir, "device/vif/%u", params->vif);
	if (!err)
		err = open_store(nf);
	if (!err)
		err = netfront_hv_open(&nf->hv);
	if (!err)
		err = open_events(nf);
	if (err) {
		netfront_free(nf);
		return err;
	}
	*nfp = nf;
	return 0;
}

static void free_event(struct event *event)
{
	if (event)
		event_free(event);
}

void netfront_free(struct netfront *nf)
{
	if (!nf)
		return;
	disconnect(nf);
	free_event(nf->wait_timer);
	free_event(nf->close_timer);
	free_event(nf->evtchn_event);
	free_event(nf->xs_event);
	netfront_hv_close(&nf->hv);
	if (nf->xs)
		xs_close(nf->xs);
	free(nf);
}

static uint64_t now_usec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void lose_connection(struct netfront *nf)
{
	log_err("vif %u: the backend broke the ring protocol: closing", nf->params.vif);
	begin_close(nf);
	step(nf);
}

/* Return: true if some queue has more to do now. */
static bool run_queues(struct netfront *nf, bool spinning)
{
	bool more = false;

	for (unsigned i = 0; i < NR_QUEUES && nf->live; i++) {
		struct netfront_queue *queue = &nf->queues[i];
		int ret;

		if (!queue->scheduled && !spinning)
			continue;
		ret = netfront_queue_run(queue, &nf->hv, !spinning);
		if (ret < 0) {
			lose_connection(nf);
			return false;
		}
		queue->scheduled = ret > 0;
		more |= ret > 0;
		if (spinning && queue->worked)
			nf->last_work_usec = now_usec();
	}
	return more;
}

static bool is_spinning(struct netfront *nf)
{
	if (!nf->params.poll_usec || !nf->live)
		return false;
	if (now_usec() - nf->last_work_usec < nf->params.poll_usec)
		return true;
	/* Going to sleep: one last pass that asks for events. */
	for (unsigned i = 0; i < NR_QUEUES; i++)
		nf->queues[i].scheduled = true;
	return false;
}

int netfront_run(struct netfront *nf)
{
	struct timeval wait = {(time_t)nf->params.wait_sec, 0};
	unsigned pass = 0;

	nf->running = true;
	if (nf->params.wait_sec)
		evtimer_add(nf->wait_timer, &wait);
	step(nf);
	while (nf->running) {
		bool spinning = is_spinning(nf);
		bool more = run_queues(nf, spinning);

		if (spinning && ++pass % SPIN_PASSES)
			continue;
		if (!nf->running)
			break;
		event_base_loop(nf->base, more || spinning ? EVLOOP_NONBLOCK : EVLOOP_ONCE);
		if (nf->params.poll_usec && !spinning)
			nf->last_work_usec = now_usec();
	}
	return nf->result;
}

void netfront_leave(struct netfront *nf)
{
	if (nf->leaving)
		return;
	nf->leaving = true;
	if (nf->running)
		step(nf);
}

void netfront_schedule(struct netfront *nf)
{
	for (unsigned i = 0; i < NR_QUEUES; i++)
		nf->queues[i].scheduled = true;
}

void netfront_refresh(struct netfront *nf)
{
	netfront_schedule(nf);
	run_queues(nf, false);
	netfront_schedule(nf); /* that pass may have stopped at its budget */
}

struct event_base *netfront_event_base(const struct netfront *nf)
{
	return nf->base;
}

struct netfront_queue *netfront_queues(struct netfront *nf, unsigned *nr_queues)
{
	*nr_queues = NR_QUEUES;
	return nf->queues;
}

const struct netfront_features *netfront_agreed(const struct netfront *nf)
{
	return &nf->agreed;
}

unsigned netfront_vif(const struct netfront *nf)
{
	return nf->params.vif;
}

enum xenbus_state netfront_state(const struct netfront *nf)
{
	return nf->state;
}

bool netfront_is_live(const struct netfront *nf)
{
	return nf->live;
}
