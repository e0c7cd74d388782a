/* SPDX-License-Identifier: MIT */
/*
 * backend.c: carries out the state machine of state.c for one vif. Control thread only.
 *
 * THEORY. A vif is evaluated whenever something about it may have changed: a watch fired, a worker
 * reported, a timer ran out. Evaluation never trusts the reason; it reads both ends' nodes anew
 * into vif->view, and takes steps until state.c has no more. So events may be coalesced, repeated
 * or lost in a later one, and the result is the same. A step that fails ends the evaluation.
 */
#include "netback/backend.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/vif.h"

static void set_published(struct xenvif *vif, enum xenbus_state state)
{
	vif->view.own = state;
	vif->published = state;
}

/*
 * 0; -ENOENT: the directory is gone and nothing may be written into it any more; -EAGAIN: not now.
 */
static int publish(struct xenvif *vif, enum xenbus_state state)
{
	int ret = xenbus_switch_state(vif->host->xs, vif->path, state);

	if (!ret) {
		set_published(vif, state);
		log_debug("%s: state %s", vif->name, xenbus_state_name(state));
		return 0;
	}
	if (ret == -ENOENT)
		return ret;
	log_limited(&vif->log_limit, LOG_LEVEL_WARN, "%s: cannot write state %s: %s", vif->name,
		    xenbus_state_name(state), strerror(-ret));
	return -EAGAIN;
}

/* vif->error has the reason. Lasts until the frontend comes back through Closed or Initialising. */
static void disable(struct xenvif *vif, int err)
{
	vif->view.disabled = true;
	xenvif_report_error(vif, err);
}

static int step_init_wait(struct xenvif *vif)
{
	int ret = xenvif_open_port(vif);

	if (!ret) {
		vif->view.port = true;
		ret = xenvif_write_features(vif);
		if (ret == -ENOENT || ret == -EAGAIN)
			return ret;
	}
	if (ret) {
		disable(vif, ret);
		return 0;
	}
	return publish(vif, XenbusStateInitWait);
}

/* A frontend that writes its keys one by one may be seen between two of them: wait once. */
static int step_connect(struct xenvif *vif)
{
	int ret = xenvif_connect(vif);

	if (ret == -ENOENT && !vif->keys_retried) {
		vif->keys_retried = true;
		return -EAGAIN;
	}
	vif->keys_retried = false;
	if (ret) {
		disable(vif, ret);
		return 0;
	}
	vif->view.connected = true;
	return 0;
}

static int step_publish(struct xenvif *vif)
{
	int ret = publish(vif, XenbusStateConnected);

	if (!ret)
		log_limited(&vif->log_limit, LOG_LEVEL_INFO, "%s: connected", vif->name);
	return ret;
}

static int step_reconfigured(struct xenvif *vif)
{
	return publish(vif, XenbusStateReconfigured);
}

static void disconnect(struct xenvif *vif)
{
	if (vif->view.connected)
		log_limited(&vif->log_limit, LOG_LEVEL_INFO, "%s: disconnected", vif->name);
	xenvif_disconnect(vif);
	vif->view.connected = false;
}

static int step_closing(struct xenvif *vif)
{
	disconnect(vif);
	return publish(vif, XenbusStateClosing);
}

static int step_release(struct xenvif *vif)
{
	xenvif_close_port(vif);
	vif->view.port = false;
	return 0;
}

static int step_closed(struct xenvif *vif)
{
	return publish(vif, XenbusStateClosed);
}

static int (*const steps[])(struct xenvif *vif) = {
	[STEP_INIT_WAIT] = step_init_wait, [STEP_CONNECT] = step_connect,
	[STEP_PUBLISH] = step_publish,	   [STEP_RECONFIGURED] = step_reconfigured,
	[STEP_CLOSING] = step_closing,	   [STEP_RELEASE] = step_release,
	[STEP_CLOSED] = step_closed,
};
BUILD_ASSERT(ARRAY_SIZE(steps) == NR_BACKEND_STEPS);

static enum backend_verdict take_steps(struct xenvif *vif)
{
	for (int i = 0; i < BACKEND_STEPS_MAX; i++) {
		enum backend_step step = backend_next(&vif->view);
		int ret;

		if (step == STEP_NONE)
			return BACKEND_KEEP;
		log_debug("%s: own %s, frontend %s: %s", vif->name,
			  xenbus_state_name(vif->view.own), xenbus_state_name(vif->view.front),
			  backend_step_name(step));
		ret = steps[step](vif);
		if (ret == -ENOENT)
			return BACKEND_GONE;
		if (ret)
			return BACKEND_RETRY;
	}
	return BACKEND_RETRY;
}

/* Our own state node. 0; -ENOENT: removed; other -errno: cannot be read now. */
static int read_own(const struct xenvif *vif, enum xenbus_state *state)
{
	char text[XENBUS_VALUE_BYTES];
	uint32_t value;
	int ret = xenbus_read(vif->host->xs, XBT_NULL, vif->path, "state", text, sizeof(text));

	if (ret < 0 && ret != -E2BIG && ret != -EINVAL)
		return ret;
	*state = XenbusStateUnknown;
	if (ret >= 0 && !xenbus_parse_u32(text, 0, XenbusStateReconfigured, &value))
		*state = (enum xenbus_state)value;
	return 0;
}

/*
 * The frontend's state node is the guest's to write. Nonsense in it counts as Closed; a node that
 * cannot be read for another reason than that it is missing says nothing, and what we saw last
 * stands.
 */
static enum xenbus_state read_front(const struct xenvif *vif)
{
	char text[XENBUS_VALUE_BYTES];
	uint32_t value;
	int ret = xenbus_read(vif->host->xs, XBT_NULL, vif->frontend, "state", text, sizeof(text));

	if (ret == -ENOENT)
		return XenbusStateUnknown;
	if (ret == -E2BIG || ret == -EINVAL)
		return XenbusStateClosed;
	if (ret < 0)
		return vif->view.front;
	if (xenbus_parse_u32(text, 0, XenbusStateReconfigured, &value))
		return XenbusStateClosed;
	return (enum xenbus_state)value;
}

/*
 * A frontend that is Closed already when the vif is first seen (we were away, it closed) is not
 * closing now: it counts as not there yet, so that InitWait stands and invites it back.
 */
static void refresh_front(struct xenvif *vif, bool first)
{
	enum xenbus_state front = read_front(vif);

	if (first)
		vif->front_moved = front != XenbusStateClosed;
	else if (front != XenbusStateClosed)
		vif->front_moved = true;
	vif->view.front = vif->front_moved ? front : XenbusStateUnknown;
	if (vif->view.front != XenbusStateUnknown)
		vif->view.front_seen = true;
	if (vif->view.front != XenbusStateConnected)
		vif->keys_retried = false;
	if (front == vif->last_front)
		return;
	vif->last_front = front;
	if (front == XenbusStateInitialising || front == XenbusStateClosed)
		vif->view.disabled = false;
}

static enum backend_hotplug read_hotplug(const struct xenvif *vif)
{
	char text[XENBUS_VALUE_BYTES];
	int ret = xenbus_read(vif->host->xs, XBT_NULL, vif->path, "hotplug-status", text,
			      sizeof(text));

	if (ret == -ENOENT)
		return vif->has_script ? HOTPLUG_WAIT : HOTPLUG_READY;
	if (ret < 0)
		return HOTPLUG_WAIT;
	if (!strcmp(text, "connected"))
		return HOTPLUG_READY;
	return !strcmp(text, "error") ? HOTPLUG_ERROR : HOTPLUG_WAIT;
}

static void report_hotplug_error(struct xenvif *vif)
{
	char raw[XENBUS_VALUE_BYTES], text[XENVIF_ERROR_BYTES / 2];
	int ret =
		xenbus_read(vif->host->xs, XBT_NULL, vif->path, "hotplug-error", raw, sizeof(raw));

	log_escape(text, sizeof(text), raw, ret > 0 ? (size_t)ret : 0);
	xenvif_set_error(vif, "its hotplug script failed%s%s", *text ? ": " : "", text);
	xenvif_report_error(vif, EIO);
}

/* What the toolstack and its scripts say. An absent "online" means it is wanted. */
static void refresh_toolstack(struct xenvif *vif)
{
	struct backend_view *view = &vif->view;
	enum backend_hotplug hotplug = read_hotplug(vif);
	uint32_t online;
	int ret = xenbus_read_u32(vif->host->xs, XBT_NULL, vif->path, "online", 0, UINT32_MAX,
				  &online);

	view->online = ret == -ENOENT || (!ret && online);
	if (hotplug == HOTPLUG_ERROR && view->hotplug != HOTPLUG_ERROR)
		report_hotplug_error(vif);
	view->hotplug = hotplug;
	xenvif_refresh(vif);
}

/* A new device, or one that was there before us: it starts at Initialising either way. */
static int begin(struct xenvif *vif, enum xenbus_state stored, uint64_t *next_generation)
{
	char before[XENVIF_ERROR_BYTES];
	int ret;

	memcpy(before, vif->error, sizeof(before));
	ret = xenvif_identify(vif, (*next_generation)++);
	if (ret) {
		/* Each further key that appears brings us here again: say it once. */
		if (strcmp(before, vif->error))
			xenvif_report_error(vif, ret);
		return ret;
	}
	memset(&vif->view, 0, sizeof(vif->view));
	vif->keys_retried = false;
	refresh_toolstack(vif);
	refresh_front(vif, true);
	/* Left over from a guest that was destroyed while nobody served it. */
	if (vif->view.front == XenbusStateUnknown && vif->front_moved)
		vif->view.domain_gone = backend_domain_gone(vif);
	vif->published = stored;
	vif->view.own = vif->view.online ? XenbusStateInitialising : stored;
	log_info("%s: found, frontend %s", vif->name, vif->frontend);
	return 0;
}

/* The state node says what we did not write. */
static void adopt(struct xenvif *vif, enum xenbus_state stored)
{
	/* The toolstack asks for removal: the connection lasts until the frontend answers. */
	if (stored != XenbusStateClosing)
		disconnect(vif);
	set_published(vif, stored == XenbusStateUnknown ? XenbusStateClosed : stored);
}

static void take_fatal(struct xenvif *vif)
{
	enum xenvif_fatal why = (enum xenvif_fatal)atomic_exchange(&vif->fatal, FATAL_NONE);

	if (why == FATAL_NONE || !vif->view.connected)
		return;
	xenvif_set_error(vif, "the frontend broke the rules: %s; vif disabled",
			 xenvif_fatal_name(why));
	disable(vif, EPROTO);
}

enum backend_verdict backend_evaluate(struct xenvif *vif, uint64_t *next_generation)
{
	enum xenbus_state stored;
	int ret = read_own(vif, &stored);

	if (ret == -ENOENT)
		return BACKEND_GONE;
	if (ret)
		return BACKEND_RETRY;
	/* The directory was made anew in its old place. */
	if (vif->identified && stored == XenbusStateInitialising && vif->published != stored)
		xenvif_forget(vif);
	if (!vif->identified)
		return begin(vif, stored, next_generation) ? BACKEND_KEEP : take_steps(vif);
	if (stored != vif->published)
		adopt(vif, stored);
	refresh_toolstack(vif);
	refresh_front(vif, false);
	take_fatal(vif);
	return take_steps(vif);
}

void backend_leave(struct xenvif *vif)
{
	enum xenbus_state own = vif->view.own;

	/* A device still at Initialising is left for the next daemon as it is. */
	if (!vif->identified || own == XenbusStateInitialising)
		return;
	disconnect(vif);
	if (own != XenbusStateClosed && own != XenbusStateClosing &&
	    publish(vif, XenbusStateClosing))
		return;
	if (own != XenbusStateClosed)
		publish(vif, XenbusStateClosed);
}

bool backend_domain_gone(const struct xenvif *vif)
{
	/* Where asking is not allowed (a driver domain), errno says so, and the removal of the
	 * frontend's directory will tell. */
	errno = 0;
	return !xs_is_domain_introduced(vif->host->xs, vif->domid) && !errno;
}
