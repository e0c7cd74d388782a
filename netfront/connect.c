/* SPDX-License-Identifier: MIT */
/*
 * connect.c: the frontend's half of the handshake. Runs in event callbacks of the one thread, and
 * may block on xenstored. Never runs a queue.
 *
 *   waiting ----> initialising(1) ----> connected(4) ----> closing(5) ----> closed(6) ----> done
 *      ^ device dir    ^ backend InitWait     |  backend        |  backend       |  only when
 *      |  appears      |                      |  Closing...     |  follows       |  leaving
 *      +--- device directory gone ------------+-----------------+----------------+
 *                      +---- backend back in InitWait (2) ------+----------------+
 *
 * Each phase has one handler; netfront_step() runs them until the phase no longer changes. What a
 * handler looks at is read afresh from the store each time: a watch event only says "look again".
 */
#include "netfront/frontend.h"

#include <errno.h>
#include <event2/event.h>
#include <string.h>

#include "common/log.h"

/* ---- small parts ---- */

void netfront_set_state(struct netfront *nf, enum xenbus_state state)
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
	unsigned msec = nf->params.close_msec ? nf->params.close_msec : NETFRONT_CLOSE_MSEC;
	struct timeval wait = {msec / 1000, msec % 1000 * 1000};

	evtimer_add(nf->close_timer, &wait);
}

void netfront_fail(struct netfront *nf, int err)
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

void netfront_disconnect(struct netfront *nf)
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
	netfront_set_state(nf, XenbusStateConnected);
	return 0;

err_close:
	netfront_disconnect(nf);
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
	netfront_set_state(nf, XenbusStateInitialising);
	set_phase(nf, PHASE_INITIALISING);
}

void netfront_begin_close(struct netfront *nf)
{
	set_live(nf, false);
	netfront_set_state(nf, XenbusStateClosing);
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
		netfront_begin_close(nf);
		return;
	}
	begin_init(nf);
}

/* Device directory gone, or given to another backend: nothing more is to be written for the old. */
static void forget_backend(struct netfront *nf)
{
	if (nf->phase != PHASE_WAITING)
		log_info("vif %u: the device is gone", nf->params.vif);
	netfront_disconnect(nf);
	nf->resetting = false;
	set_phase(nf, PHASE_WAITING);
}

static void initialising(struct netfront *nf)
{
	int err;

	if (nf->leaving) {
		netfront_set_state(nf, XenbusStateClosed);
		set_phase(nf, PHASE_DONE);
		return;
	}
	if (!backend_is(nf, STATE(InitWait)))
		return;
	err = connect_vif(nf);
	if (!err) {
		set_phase(nf, PHASE_CONNECTED);
	} else if (!xenbus_exists(nf->xs, XBT_NULL, nf->dir, "backend")) {
		/* Removed while we were at it, as after a failed hotplug script: no fault of ours.
		 */
		nf->backend.path[0] = '\0';
		forget_backend(nf);
	} else {
		netfront_set_state(nf, XenbusStateClosed);
		netfront_fail(nf, err);
	}
}

static void connected(struct netfront *nf)
{
	if (nf->leaving) {
		netfront_begin_close(nf);
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
		netfront_begin_close(nf);
		return;
	}
	if (backend_is(nf, STATE(Unknown)) || (nf->live && backend_is(nf, STATE(Initialising)))) {
		log_info("vif %u: the backend is gone", nf->params.vif);
		netfront_begin_close(nf);
		return;
	}
	if (nf->live && backend_is(nf, STATE(InitWait))) {
		log_info("vif %u: the backend started afresh", nf->params.vif);
		netfront_disconnect(nf);
		begin_init(nf);
	}
}

static void closing(struct netfront *nf)
{
	if (backend_is(nf, STATE(Connected) | STATE(Reconfigured)) && !nf->timed_out)
		return;
	if (nf->timed_out)
		log_warn("vif %u: the backend did not follow to Closing", nf->params.vif);
	netfront_disconnect(nf);
	netfront_set_state(nf, XenbusStateClosed);
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

void netfront_step(struct netfront *nf)
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
