/* SPDX-License-Identifier: MIT */
/*
 * loop.c: a frontend's life and its loop: store and event channel events, time-outs, and the
 * queues, which run between two turns of the event loop. One thread; what the events mean for the
 * handshake is connect.c's business.
 */
#include "netfront/frontend.h"

#include <errno.h>
#include <event2/event.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/log.h"

/* Watch events taken before anything else gets a turn. */
#define WATCH_BATCH 64
#define ALIVE_SEC   2
/* While spinning, look at the file descriptors only every so many passes. */
#define SPIN_PASSES 32

/* ---- events ---- */

static void store_lost(struct netfront *nf, int err)
{
	log_err("vif %u: lost the connection to xenstored: %s", nf->params.vif, strerror(-err));
	netfront_fail(nf, err);
	nf->running = false;
}

static void watch_fired(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;
	int left = WATCH_BATCH;
	char **event;

	while (left && (event = xs_check_watch(nf->xs))) {
		free(event);
		left--;
	}
	if (left && errno != EAGAIN) {
		store_lost(nf, -errno);
		return;
	}
	/* There may be more without the descriptor saying so again. */
	if (!left)
		event_active(nf->xs_event, EV_READ, 0);
	netfront_step(nf);
}

/*
 * When xenstored goes away libxenstore closes its socket, but the pipe it has us wait for stays
 * silent. So ask for something now and then.
 */
static void check_store(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;
	int err = xenbus_domid(nf->xs);

	if (err < 0 && err != -ENOENT && err != -EACCES && err != -EAGAIN && err != -ENOMEM)
		store_lost(nf, err);
}

static void close_timed_out(evutil_socket_t fd, short what, void *arg)
{
	struct netfront *nf = arg;

	nf->timed_out = true;
	netfront_step(nf);
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
	netfront_disconnect(nf);
	if (nf->phase != PHASE_WAITING)
		netfront_set_state(nf, XenbusStateClosed);
	netfront_fail(nf, -ETIMEDOUT);
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
	static const struct timeval alive = {.tv_sec = ALIVE_SEC};
	short flags = EV_READ | EV_PERSIST;

	nf->xs_event = event_new(nf->base, xs_fileno(nf->xs), flags, watch_fired, nf);
	nf->evtchn_event = event_new(nf->base, xenevtchn_fd(nf->hv.evtchn), flags, event_fired, nf);
	nf->close_timer = evtimer_new(nf->base, close_timed_out, nf);
	nf->wait_timer = evtimer_new(nf->base, wait_timed_out, nf);
	nf->alive_timer = event_new(nf->base, -1, EV_PERSIST, check_store, nf);
	if (!nf->xs_event || !nf->evtchn_event || !nf->close_timer || !nf->wait_timer ||
	    !nf->alive_timer)
		return -ENOMEM;
	if (event_add(nf->xs_event, NULL) || event_add(nf->evtchn_event, NULL) ||
	    event_add(nf->alive_timer, &alive))
		return -ENOMEM;
	return 0;
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
	netfront_disconnect(nf);
	free_event(nf->alive_timer);
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
	netfront_begin_close(nf);
	netfront_step(nf);
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
	netfront_step(nf);
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
		netfront_step(nf);
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
