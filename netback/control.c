/* SPDX-License-Identifier: MIT */
/*
 * control.c: the event loop of the control thread.
 *
 * THEORY. Watches: one on backend/vif covers the own directories of all vifs, each vif has one on
 * its frontend's state, and @releaseDomain tells of guests that are gone; so a vif costs one watch,
 * whatever it does. An event only marks its vif dirty. A pass then looks at each dirty vif once,
 * and a bounded number of events and vifs is taken before the loop turns to its other sources: a
 * guest that floods its nodes (XSA-349) is looked at once a pass, as everybody else.
 */
#include "netback/control.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>
#include <xenevtchn.h>

#include "common/compiler.h"
#include "common/xen_logger.h"
#include "netback/backend.h"

#define BACKEND_ROOT  "backend/vif"
#define TOKEN_BACKEND "backend"
#define TOKEN_RELEASE "release"

#define EVENTS_MAX 512 /* watch events taken before other sources get their turn */
#define PASS_MAX   64  /* vifs looked at likewise */
#define RETRY_MSEC 20
#define ALIVE_SEC  2
#define LEAVE_SEC  5

static void schedule_pass(struct control *control)
{
	if (control->vifs.dirty)
		event_active(control->pass_event, 0, 0);
}

static void mark(struct control *control, const struct xenvif_key *key)
{
	struct xenvif *vif = vifs_find(&control->vifs, key);

	if (!vif) {
		vif = xenvif_create(&control->host, key);
		if (!vif) {
			log_err("no memory for vif %u/%u", key->domid, key->devid);
			return;
		}
		vifs_add(&control->vifs, vif);
	}
	vifs_mark(&control->vifs, vif);
}

static void mark_domain(struct control *control, const char *domid)
{
	char path[XENBUS_PATH_BYTES];
	struct xenvif_key key = {0, 0};
	char **devids;
	unsigned nr;

	if (xenbus_parse_u32(domid, 0, UINT32_MAX, &key.domid) ||
	    xenbus_path(path, BACKEND_ROOT "/%s", domid))
		return;
	devids = xs_directory(control->host.xs, XBT_NULL, path, &nr);
	for (unsigned i = 0; devids && i < nr; i++) {
		if (!xenbus_parse_u32(devids[i], 0, UINT32_MAX, &key.devid))
			mark(control, &key);
	}
	free(devids);
}

/* At the start, and when a directory came or went as a whole. These are the toolstack's to write.
 */
static void scan(struct control *control)
{
	struct xenvif *vif;
	char **domids;
	unsigned nr;

	for (vif = control->vifs.table; vif; vif = vif->hh.next)
		vifs_mark(&control->vifs, vif);
	domids = xs_directory(control->host.xs, XBT_NULL, BACKEND_ROOT, &nr);
	for (unsigned i = 0; domids && i < nr; i++)
		mark_domain(control, domids[i]);
	free(domids);
}

/* Some domain is gone; which, the event does not say. One question for each vif not known to be. */
static void domain_released(struct control *control)
{
	struct xenvif *vif;

	for (vif = control->vifs.table; vif; vif = vif->hh.next) {
		if (!vif->identified || vif->view.domain_gone || !backend_domain_gone(vif))
			continue;
		log_info("%s: its domain is gone", vif->name);
		vif->view.domain_gone = true;
		vifs_mark(&control->vifs, vif);
	}
}

static void watch_fired(struct control *control, const char *path, const char *token)
{
	struct xenvif_key key;
	struct xenvif *vif;

	control->nr_watch_events++;
	if (!strcmp(token, TOKEN_BACKEND)) {
		switch (vifs_parse_event(path, &key)) {
		case VIFS_EVENT_VIF:
			mark(control, &key);
			break;
		case VIFS_EVENT_SUBTREE:
			scan(control);
			break;
		case VIFS_EVENT_NONE:
			break;
		}
	} else if (!strcmp(token, TOKEN_RELEASE)) {
		domain_released(control);
	} else {
		vif = vifs_find_token(&control->vifs, token);
		if (vif)
			vifs_mark(&control->vifs, vif);
	}
}

static void xenstore_lost(struct control *control, int err)
{
	log_err("lost the connection to xenstored: %s; leaving, the vifs stay as they are in "
		"xenstore",
		strerror(err));
	control->failed = true;
	event_base_loopbreak(control->base);
}

static void on_xenstore(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;
	char **event;
	int i;

	for (i = 0; i < EVENTS_MAX; i++) {
		event = xs_check_watch(control->host.xs);
		if (!event)
			break;
		watch_fired(control, event[XS_WATCH_PATH], event[XS_WATCH_TOKEN]);
		free(event);
	}
	if (i < EVENTS_MAX && errno != EAGAIN) {
		xenstore_lost(control, errno);
		return;
	}
	/* There may be more without the descriptor saying so again (xenstore.h). */
	if (i == EVENTS_MAX)
		event_active(control->xs_event, EV_READ, 0);
	schedule_pass(control);
}

/*
 * When xenstored goes away libxenstore closes its socket, but the descriptor it has us wait for (a
 * pipe of its own) stays silent. So ask for something now and then.
 */
static void on_alive(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;
	int ret = xenbus_domid(control->host.xs);

	if (ret < 0 && ret != -ENOENT && ret != -EACCES && ret != -EAGAIN && ret != -ENOMEM)
		xenstore_lost(control, -ret);
}

static void look_at(struct control *control, struct xenvif *vif)
{
	static const struct timeval pause = {.tv_usec = RETRY_MSEC * 1000};

	control->nr_evaluations++;
	switch (backend_evaluate(vif, &control->next_generation)) {
	case BACKEND_KEEP:
		break;
	case BACKEND_RETRY:
		vif->retry = true;
		event_add(control->retry_event, &pause);
		break;
	case BACKEND_GONE:
		if (vif->identified)
			log_info("%s: removed", vif->name);
		vifs_remove(&control->vifs, vif);
		xenvif_destroy(vif);
		break;
	}
}

static void on_pass(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;
	struct xenvif *vif;

	control->nr_passes++;
	for (int i = 0; i < PASS_MAX; i++) {
		vif = vifs_take(&control->vifs);
		if (!vif)
			return;
		look_at(control, vif);
	}
	schedule_pass(control);
}

static void on_retry(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;
	struct xenvif *vif;

	for (vif = control->vifs.table; vif; vif = vif->hh.next) {
		if (vif->retry)
			vifs_mark(&control->vifs, vif);
		vif->retry = false;
	}
	schedule_pass(control);
}

/* A worker has found that some frontend broke the rules: look which. */
static void on_fatal(evutil_socket_t fd, short what, void *arg)
{
	struct control *control = arg;
	struct xenvif *vif;
	uint64_t count;
	ssize_t ignored;

	ignored = read(fd, &count, sizeof(count));
	(void)ignored;
	for (vif = control->vifs.table; vif; vif = vif->hh.next) {
		if (atomic_load(&vif->fatal) != FATAL_NONE)
			vifs_mark(&control->vifs, vif);
	}
	schedule_pass(control);
}

static void on_leave(evutil_socket_t sig, short what, void *arg)
{
	struct control *control = arg;

	log_info("signal %d: leaving", (int)sig);
	event_base_loopbreak(control->base);
}

static void on_hangup(evutil_socket_t sig, short what, void *arg)
{
	int ret = log_reopen();

	if (ret)
		log_err("cannot open the log file anew: %s; going on with the old one",
			strerror(-ret));
}

static int open_xenstore(struct control *control)
{
	int ret;

	/* Without XS_UNWATCH_FILTER: a late event finds no vif with its token anyway, and
	 * libxenstore leaks the bodies of events it filters. */
	control->host.xs = xs_open(0);
	if (!control->host.xs) {
		ret = errno ? -errno : -EIO;
		log_err("cannot reach xenstored: %s; is it running, and may this user connect? "
			"(Without Xen: run netbackd by 'xenemu dom0 --')",
			strerror(-ret));
		return ret;
	}
	ret = xenbus_domid(control->host.xs);
	if (ret < 0) {
		log_err("cannot read this domain's id from xenstore: %s; is xenstored set up "
			"(xen-init-dom0)?",
			strerror(-ret));
		return ret;
	}
	control->host.domid = (uint32_t)ret;
	return 0;
}

static int device_error(const char *device, const char *module, int err)
{
	log_err("cannot open the %s device: %s; %s", device, strerror(err),
		err == EACCES || err == EPERM
			? "run netbackd as root, or give its user access to it"
			: module);
	return -err;
}

static int open_xen(struct control *control)
{
	xenevtchn_handle *probe;

	control->host.ring_handle = xengnttab_open(xen_logger(), 0);
	if (!control->host.ring_handle)
		return device_error("grant",
				    "'modprobe xen-gntdev' on a Xen host; without Xen run "
				    "netbackd by 'xenemu dom0 --'",
				    errno ? errno : EIO);
	/* The workers open their own; this one is to say what is wrong before they start. */
	probe = xenevtchn_open(xen_logger(), 0);
	if (!probe)
		return device_error("event channel",
				    "'modprobe xen-evtchn' on a Xen host; without "
				    "Xen run netbackd by 'xenemu dom0 --'",
				    errno ? errno : EIO);
	xenevtchn_close(probe);
	return 0;
}

int control_open(struct control *control, const struct conf *conf)
{
	int ret;

	memset(control, 0, sizeof(*control));
	control->host.fatal_fd = -1;
	control->host.port = conf->port;
	control->next_generation = 1;
	ret = open_xenstore(control);
	if (!ret)
		ret = open_xen(control);
	if (!ret) {
		control->host.fatal_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
		if (control->host.fatal_fd < 0) {
			ret = -errno;
			log_err("cannot make an eventfd: %s", strerror(errno));
		}
	}
	if (!ret)
		ret = netbk_groups_create(&conf->groups, &control->host.groups);
	if (ret)
		control_close(control);
	return ret;
}

static struct event *new_event(struct control *control, evutil_socket_t fd, short what,
			       event_callback_fn callback, bool add)
{
	struct event *event = event_new(control->base, fd, what, callback, control);

	if (event && add && event_add(event, NULL)) {
		event_free(event);
		event = NULL;
	}
	return event;
}

static bool make_events(struct control *control)
{
	static const struct timeval alive = {.tv_sec = ALIVE_SEC};
	static const int leave_signals[] = {SIGTERM, SIGINT};

	control->base = event_base_new();
	if (!control->base)
		return false;
	control->pass_event = new_event(control, -1, 0, on_pass, false);
	control->retry_event = new_event(control, -1, 0, on_retry, false);
	control->alive_event = new_event(control, -1, EV_PERSIST, on_alive, false);
	control->xs_event = new_event(control, xs_fileno(control->host.xs), EV_READ | EV_PERSIST,
				      on_xenstore, true);
	control->fatal_event =
		new_event(control, control->host.fatal_fd, EV_READ | EV_PERSIST, on_fatal, true);
	for (size_t i = 0; i < ARRAY_SIZE(leave_signals); i++)
		control->signals[i] = new_event(control, leave_signals[i], EV_SIGNAL | EV_PERSIST,
						on_leave, true);
	control->signals[2] = new_event(control, SIGHUP, EV_SIGNAL | EV_PERSIST, on_hangup, true);
	return control->pass_event && control->retry_event && control->alive_event &&
	       !event_add(control->alive_event, &alive) && control->xs_event &&
	       control->fatal_event && control->signals[0] && control->signals[1] &&
	       control->signals[2];
}

int control_start(struct control *control)
{
	int err;

	if (!make_events(control)) {
		log_err("cannot make the event loop: %s", strerror(errno));
		return -ENOMEM;
	}
	/* The first event of this watch comes at once: the devices there are already. */
	if (!xs_watch(control->host.xs, BACKEND_ROOT, TOKEN_BACKEND) ||
	    !xs_watch(control->host.xs, "@releaseDomain", TOKEN_RELEASE)) {
		err = errno ? errno : EIO;
		log_err("cannot watch xenstore: %s", strerror(err));
		return -err;
	}
	return 0;
}

int control_run(struct control *control)
{
	if (event_base_dispatch(control->base) < 0)
		return -EIO;
	return control->failed ? -ECONNRESET : 0;
}

static time_t now_sec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec;
}

void control_leave(struct control *control)
{
	time_t end = now_sec() + LEAVE_SEC;
	struct xenvif *vif;
	unsigned left = 0;

	if (control->failed) /* nobody to publish to */
		return;
	for (vif = control->vifs.table; vif; vif = vif->hh.next) {
		if (now_sec() < end)
			backend_leave(vif);
		else
			left++;
	}
	if (left)
		log_warn("xenstored is slow: %u vifs left as they are in xenstore", left);
}

static void free_event(struct event **event)
{
	if (*event)
		event_free(*event);
	*event = NULL;
}

void control_close(struct control *control)
{
	struct xenvif *vif, *next;

	for (vif = control->vifs.table; vif; vif = next) {
		next = vif->hh.next;
		vifs_remove(&control->vifs, vif);
		xenvif_destroy(vif);
	}
	for (size_t i = 0; i < ARRAY_SIZE(control->signals); i++)
		free_event(&control->signals[i]);
	free_event(&control->alive_event);
	free_event(&control->retry_event);
	free_event(&control->pass_event);
	free_event(&control->fatal_event);
	free_event(&control->xs_event);
	if (control->base)
		event_base_free(control->base);
	netbk_groups_destroy(control->host.groups);
	if (control->host.fatal_fd >= 0)
		close(control->host.fatal_fd);
	if (control->host.ring_handle)
		xengnttab_close(control->host.ring_handle);
	xs_close(control->host.xs);
	memset(control, 0, sizeof(*control));
	control->host.fatal_fd = -1;
}
