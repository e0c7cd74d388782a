/* SPDX-License-Identifier: MIT */
/*
 * toolstack.c: the store's side of attaching and detaching devices. The order of steps is that of
 * libxl_device.c and libxl_nic.c; the rules are in their comments here where they are not obvious.
 *
 * BE is /local/domain/B/backend/KIND/D/N (owned by the backend's domain B), FE is
 * /local/domain/D/device/KIND/N (owned by the guest D), LX is /libxl/D/device/KIND/N (the
 * toolstack's own record, which neither of them can write).
 */
#include "grant/toolstack.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/compiler.h"
#include "common/log.h"
#include "grant/hotplug.h"
#include "grant/vifspec.h"
#include "xenstore/xenbus.h"

#define NR_PERMS     2
#define DOMID_MAX    0x7fef /* DOMID_FIRST_RESERVED - 1 */
#define HANDLE_MAX   65535
#define STATE_MAX    XenbusStateReconfigured
#define VM_PATH_MARK "/vm/"

struct paths {
	char backend[XENBUS_PATH_BYTES];
	char frontend[XENBUS_PATH_BYTES];
	char libxl[XENBUS_PATH_BYTES];
};

static int make_paths(const struct toolstack_device *dev, struct paths *paths)
{
	int err;

	err = xenbus_path(paths->backend, "/local/domain/%u/backend/%s/%u/%u", dev->backend_domid,
			  dev->backend_kind, dev->domid, dev->handle);
	if (!err)
		err = xenbus_path(paths->frontend, "/local/domain/%u/device/%s/%u", dev->domid,
				  dev->kind, dev->handle);
	if (!err)
		err = xenbus_path(paths->libxl, "/libxl/%u/device/%s/%u", dev->domid, dev->kind,
				  dev->handle);
	return err;
}

static int64_t now_msec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* ---- waiting for a backend ---- */

/* Wait for any watch event, and take all there are. 0, -ETIMEDOUT or -errno. */
static int wait_event(struct xs_handle *xs, int64_t deadline_msec)
{
	struct pollfd pfd = {.fd = xs_fileno(xs), .events = POLLIN};
	int64_t left = deadline_msec - now_msec();
	char **event;
	int ready;

	if (left <= 0)
		return -ETIMEDOUT;
	ready = poll(&pfd, 1, (int)left);
	if (ready < 0)
		return errno == EINTR ? 0 : -errno;
	if (!ready)
		return -ETIMEDOUT;
	while ((event = xs_check_watch(xs)))
		free(event);
	return errno == EAGAIN ? 0 : -errno;
}

/* 0 once @dir/state is @wanted; -ENOENT if it is removed; -ETIMEDOUT. */
static int wait_state(struct xs_handle *xs, const char *dir, enum xenbus_state wanted,
		      int64_t deadline_msec)
{
	char path[XENBUS_PATH_BYTES];
	uint32_t state;
	int err;

	err = xenbus_path(path, "%s/state", dir);
	if (err)
		return err;
	if (!xs_watch(xs, path, path))
		return -errno;
	for (;;) {
		err = xenbus_read_u32(xs, XBT_NULL, path, NULL, 0, STATE_MAX, &state);
		if (err || state == wanted)
			break;
		err = wait_event(xs, deadline_msec);
		if (err)
			break;
	}
	xs_unwatch(xs, path, path);
	return err;
}

/* ---- reading what there is ---- */

static int compare_unsigned(const void *a, const void *b)
{
	unsigned first = *(const unsigned *)a, second = *(const unsigned *)b;

	return (first > second) - (first < second);
}

/* The children of @path that are numbers, in ascending order. How many, or -errno. */
static int list_numbers(struct xs_handle *xs, xs_transaction_t t, const char *path, uint32_t max,
			unsigned **numbers)
{
	unsigned nr_children, nr = 0;
	char **children;

	*numbers = NULL;
	children = xs_directory(xs, t, path, &nr_children);
	if (!children)
		return errno == ENOENT ? 0 : -errno;
	if (nr_children)
		*numbers = calloc(nr_children, sizeof(**numbers));
	if (nr_children && !*numbers) {
		free(children);
		return -ENOMEM;
	}
	for (unsigned i = 0; i < nr_children; i++) {
		uint32_t number;

		if (!xenbus_parse_u32(children[i], 0, max, &number))
			(*numbers)[nr++] = number;
	}
	free(children);
	if (nr)
		qsort(*numbers, nr, sizeof(**numbers), compare_unsigned);
	return (int)nr;
}

static int find_domain_by_name(struct xs_handle *xs, const char *name)
{
	char path[XENBUS_PATH_BYTES], found[XENBUS_VALUE_BYTES];
	unsigned *domids;
	int nr, domid = -ENOENT;

	nr = list_numbers(xs, XBT_NULL, "/local/domain", DOMID_MAX, &domids);
	for (int i = 0; i < nr; i++) {
		if (xenbus_path(path, "/local/domain/%u", domids[i]) ||
		    xenbus_read(xs, XBT_NULL, path, "name", found, sizeof(found)) < 0 ||
		    strcmp(found, name))
			continue;
		if (domid >= 0) {
			domid = -EEXIST;
			break;
		}
		domid = (int)domids[i];
	}
	free(domids);
	return nr < 0 ? nr : domid;
}

int toolstack_find_domain(struct xs_handle *xs, const char *name)
{
	char path[XENBUS_PATH_BYTES];
	uint32_t domid;

	/* As xl: what reads as a number is a domid, names come second. */
	if (xenbus_parse_u32(name, 0, DOMID_MAX, &domid))
		return find_domain_by_name(xs, name);
	if (xenbus_path(path, "/local/domain/%u", domid) ||
	    !xenbus_exists(xs, XBT_NULL, path, NULL))
		return -ENOENT;
	return (int)domid;
}

int toolstack_vif_list(struct xs_handle *xs, unsigned domid, unsigned **handles)
{
	char path[XENBUS_PATH_BYTES];
	int err;

	err = xenbus_path(path, "/libxl/%u/device/vif", domid);
	return err ? err : list_numbers(xs, XBT_NULL, path, HANDLE_MAX, handles);
}

/* Fill in the backend of @dev from its path in the toolstack's record. */
static int read_device(struct xs_handle *xs, const char *kind, unsigned domid, unsigned handle,
		       struct toolstack_device *dev)
{
	char path[XENBUS_PATH_BYTES], backend[XENBUS_VALUE_BYTES];
	int err;

	err = xenbus_path(path, "/libxl/%u/device/%s/%u", domid, kind, handle);
	if (err)
		return err;
	err = xenbus_read(xs, XBT_NULL, path, "backend", backend, sizeof(backend));
	if (err < 0)
		return err;
	*dev = (struct toolstack_device){.domid = domid, .handle = handle};
	snprintf(dev->kind, sizeof(dev->kind), "%s", kind);
	if (sscanf(backend, "/local/domain/%u/backend/%15[^/]/", &dev->backend_domid,
		   dev->backend_kind) != 2)
		return -EINVAL;
	return 0;
}

int toolstack_vif_find(struct xs_handle *xs, unsigned domid, unsigned handle,
		       struct toolstack_device *vif)
{
	return read_device(xs, "vif", domid, handle, vif);
}

/* ---- adding ---- */

struct add {
	const struct vifspec *spec;
	struct toolstack_device *vif;
	const char *script;
	struct paths paths;
	struct xs_permissions backend_perms[NR_PERMS];	/* the backend's, the guest may read */
	struct xs_permissions frontend_perms[NR_PERMS]; /* the guest's, the backend may read */
};

static int write_key(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
		     const char *value)
{
	return xenbus_printf(xs, t, dir, key, "%s", value);
}

static int write_number(struct xs_handle *xs, xs_transaction_t t, const char *dir, const char *key,
			unsigned number)
{
	return xenbus_printf(xs, t, dir, key, "%u", number);
}

static int write_mac(struct xs_handle *xs, xs_transaction_t t, const char *dir, const uint8_t *mac)
{
	return xenbus_printf(xs, t, dir, "mac", "%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1],
			     mac[2], mac[3], mac[4], mac[5]);
}

/* The settings a vif has only if the administrator named them. */
static int write_optional_keys(struct xs_handle *xs, xs_transaction_t t, const char *dir,
			       const struct vifspec *spec)
{
	const struct {
		const char *key, *value;
	} texts[] = {
		{"vifname", spec->vifname},
		{"ip", spec->ip},
		{"gatewaydev", spec->gatewaydev},
		{"vlan", spec->vlan},
	};
	int err = 0;

	for (size_t i = 0; !err && i < ARRAY_SIZE(texts); i++) {
		if (*texts[i].value)
			err = write_key(xs, t, dir, texts[i].key, texts[i].value);
	}
	if (!err && spec->rate_usec)
		err = xenbus_printf(xs, t, dir, "rate", "%u,%u", spec->rate_bytes, spec->rate_usec);
	if (!err && spec->mtu != VIFSPEC_MTU_DEFAULT)
		err = write_number(xs, t, dir, "mtu", spec->mtu);
	return err;
}

/* What BE and LX both hold. */
static int write_backend_keys(struct xs_handle *xs, xs_transaction_t t, const char *dir,
			      const struct add *add)
{
	const struct vifspec *spec = add->spec;
	int err;

	err = write_key(xs, t, dir, "frontend", add->paths.frontend);
	if (!err)
		err = write_number(xs, t, dir, "frontend-id", add->vif->domid);
	if (!err)
		err = write_key(xs, t, dir, "online", "1");
	if (!err)
		err = write_number(xs, t, dir, "state", XenbusStateInitialising);
	if (!err)
		err = write_key(xs, t, dir, "script", add->script);
	if (!err)
		err = write_mac(xs, t, dir, spec->mac);
	if (!err)
		err = write_optional_keys(xs, t, dir, spec);
	if (!err)
		err = write_key(xs, t, dir, "bridge", spec->bridge);
	if (!err)
		err = write_number(xs, t, dir, "handle", add->vif->handle);
	if (!err)
		err = write_key(xs, t, dir, "type", "vif");
	/* Empty, so that the backend waits for the script before it becomes Connected. */
	if (!err)
		err = write_key(xs, t, dir, "hotplug-status", "");
	return err;
}

static int write_frontend_keys(struct xs_handle *xs, xs_transaction_t t, const struct add *add)
{
	const char *dir = add->paths.frontend;
	char path[XENBUS_PATH_BYTES];
	int err;

	err = write_key(xs, t, dir, "backend", add->paths.backend);
	if (!err)
		err = write_number(xs, t, dir, "backend-id", add->vif->backend_domid);
	if (!err)
		err = write_number(xs, t, dir, "state", XenbusStateInitialising);
	if (!err)
		err = write_number(xs, t, dir, "handle", add->vif->handle);
	if (!err)
		err = write_mac(xs, t, dir, add->spec->mac);
	if (!err)
		err = write_key(xs, t, dir, "trusted", add->spec->trusted ? "1" : "0");
	if (!err)
		err = write_number(xs, t, dir, "mtu", add->spec->mtu);
	if (!err)
		err = xenbus_path(path, "%s/mtu", dir);
	/* The one node of FE that the guest may only read. */
	if (!err && !xs_set_permissions(xs, t, path, (void *)add->backend_perms, NR_PERMS))
		err = -errno;
	return err;
}

static int make_dir(struct xs_handle *xs, xs_transaction_t t, const char *dir,
		    const struct xs_permissions *perms)
{
	xs_rm(xs, t, dir); /* what a device of that number left behind, if anything */
	if (!xs_mkdir(xs, t, dir) || !xs_set_permissions(xs, t, dir, (void *)perms, NR_PERMS))
		return -errno;
	return 0;
}

/* libxl's rule: one more than the highest there is. */
static int choose_handle(struct xs_handle *xs, xs_transaction_t t, const struct vifspec *spec,
			 struct toolstack_device *vif)
{
	char path[XENBUS_PATH_BYTES];
	unsigned *handles;
	int nr, err = 0;

	err = xenbus_path(path, "/libxl/%u/device/vif", vif->domid);
	if (err)
		return err;
	nr = list_numbers(xs, t, path, HANDLE_MAX, &handles);
	if (nr < 0)
		return nr;
	vif->handle = spec->handle < 0 ? 0 : (unsigned)spec->handle;
	if (spec->handle < 0 && nr)
		vif->handle = handles[nr - 1] + 1;
	for (int i = 0; i < nr; i++) {
		if (handles[i] == vif->handle)
			err = -EEXIST;
	}
	free(handles);
	return vif->handle > HANDLE_MAX ? -ENOSPC : err;
}

static int add_nodes(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	struct add *add = arg;
	int err;

	err = choose_handle(xs, t, add->spec, add->vif);
	if (!err)
		err = make_paths(add->vif, &add->paths);
	if (err)
		return err;
	if (!xs_mkdir(xs, t, add->paths.libxl))
		return -errno;
	err = write_key(xs, t, add->paths.libxl, "backend", add->paths.backend);
	if (!err)
		err = make_dir(xs, t, add->paths.frontend, add->frontend_perms);
	if (!err)
		err = write_frontend_keys(xs, t, add);
	if (!err)
		err = make_dir(xs, t, add->paths.backend, add->backend_perms);
	if (!err)
		err = write_backend_keys(xs, t, add->paths.backend, add);
	if (!err)
		err = write_backend_keys(xs, t, add->paths.libxl, add);
	return err;
}

static void set_permissions_of(struct add *add)
{
	unsigned guest = add->vif->domid, backend = add->vif->backend_domid;

	add->frontend_perms[0] = (struct xs_permissions){.id = guest, .perms = XS_PERM_NONE};
	add->frontend_perms[1] = (struct xs_permissions){.id = backend, .perms = XS_PERM_READ};
	add->backend_perms[0] = (struct xs_permissions){.id = backend, .perms = XS_PERM_NONE};
	add->backend_perms[1] = (struct xs_permissions){.id = guest, .perms = XS_PERM_READ};
}

/* A text of the backend's, made printable; false if there is none. */
static bool read_text(struct xs_handle *xs, const char *dir, const char *key, char *text,
		      size_t size)
{
	char raw[XENBUS_VALUE_BYTES];
	int len;

	len = xenbus_read(xs, XBT_NULL, dir, key, raw, sizeof(raw));
	if (len <= 0)
		return false;
	log_escape(text, size, raw, (size_t)len);
	return true;
}

/* Where a backend says what is wrong with a device (xenbus_dev_error() of Linux and ours). */
static bool read_backend_error(struct xs_handle *xs, const struct toolstack_device *dev, char *text,
			       size_t size)
{
	char path[XENBUS_PATH_BYTES];

	return !xenbus_path(path, "/local/domain/%u/error/backend/%s/%u/%u", dev->backend_domid,
			    dev->backend_kind, dev->domid, dev->handle) &&
	       read_text(xs, path, "error", text, size);
}

static int run_script(struct xs_handle *xs, const struct toolstack_device *dev, const char *backend,
		      const char *action)
{
	char script[XENBUS_VALUE_BYTES], gatewaydev[XENBUS_VALUE_BYTES];
	struct hotplug_call call = {
		.script = script,
		.action = action,
		.gatewaydev = gatewaydev,
		.domid = dev->domid,
		.handle = dev->handle,
		.timeout_sec = HOTPLUG_TIMEOUT_SEC,
	};
	int err;

	err = xenbus_read(xs, XBT_NULL, backend, "script", script, sizeof(script));
	if (err < 0)
		return err;
	if (xenbus_read(xs, XBT_NULL, backend, "gatewaydev", gatewaydev, sizeof(gatewaydev)) < 0)
		*gatewaydev = '\0';
	return hotplug_run(&call);
}

static void explain_no_backend(struct xs_handle *xs, const struct add *add, int err, char *error)
{
	const struct toolstack_device *vif = add->vif;
	char text[XENBUS_VALUE_BYTES];

	if (read_backend_error(xs, vif, text, sizeof(text)))
		snprintf(error, TOOLSTACK_ERROR_BYTES, "the backend refused vif %u.%u: %s",
			 vif->domid, vif->handle, text);
	else if (err == -ETIMEDOUT)
		snprintf(
			error, TOOLSTACK_ERROR_BYTES,
			"no backend took vif %u.%u within %u s (is netbackd running in domain %u?)",
			vif->domid, vif->handle, TOOLSTACK_INIT_TIMEOUT_SEC, vif->backend_domid);
	else
		snprintf(error, TOOLSTACK_ERROR_BYTES, "waiting for the backend of vif %u.%u: %s",
			 vif->domid, vif->handle, strerror(-err));
}

static void explain_script(struct xs_handle *xs, const struct add *add, int err, char *error)
{
	char text[XENBUS_VALUE_BYTES];

	if (read_text(xs, add->paths.backend, "hotplug-error", text, sizeof(text)))
		snprintf(error, TOOLSTACK_ERROR_BYTES, "script: %s", text);
	else if (err == -ETIMEDOUT)
		snprintf(error, TOOLSTACK_ERROR_BYTES, "script %s did not end within %u s",
			 add->script, HOTPLUG_TIMEOUT_SEC);
	else
		snprintf(error, TOOLSTACK_ERROR_BYTES, "script %s failed", add->script);
}

/* The steps after the nodes are there. */
static int connect_vif(struct xs_handle *xs, const struct add *add, char *error)
{
	int err;

	err = wait_state(xs, add->paths.backend, XenbusStateInitWait,
			 now_msec() + TOOLSTACK_INIT_TIMEOUT_SEC * 1000);
	if (err) {
		explain_no_backend(xs, add, err, error);
		return err;
	}
	/* In a driver domain the script is the business of its own devd. */
	if (add->vif->backend_domid)
		return 0;
	err = run_script(xs, add->vif, add->paths.backend, "online");
	if (err)
		explain_script(xs, add, err, error);
	return err;
}

static int remove_nodes(struct xs_handle *xs, const struct toolstack_device *dev);

/* Undo a failed addition. A backend that never looked at the vif need not be waited for. */
static void undo_add(struct xs_handle *xs, const struct add *add)
{
	char error[TOOLSTACK_ERROR_BYTES];

	if (xenbus_read_state(xs, XBT_NULL, add->paths.backend) == XenbusStateInitialising)
		remove_nodes(xs, add->vif);
	else if (toolstack_device_remove(xs, add->vif, true, error))
		log_warn("%s", error);
}

static int find_backend(struct xs_handle *xs, const struct vifspec *spec, char *error)
{
	int domid = toolstack_find_domain(xs, spec->backend);

	if (domid < 0)
		snprintf(error, TOOLSTACK_ERROR_BYTES, "backend domain \"%s\": %s", spec->backend,
			 domid == -ENOENT ? "no such domain" : strerror(-domid));
	return domid;
}

static void explain_add_nodes(const struct toolstack_device *vif, int err, char *error)
{
	if (err == -EEXIST)
		snprintf(error, TOOLSTACK_ERROR_BYTES, "vif %u.%u exists already", vif->domid,
			 vif->handle);
	else
		snprintf(error, TOOLSTACK_ERROR_BYTES, "cannot write vif %u.%u to xenstore: %s",
			 vif->domid, vif->handle, strerror(-err));
}

int toolstack_vif_add(struct xs_handle *xs, unsigned domid, struct vifspec *spec,
		      struct toolstack_device *vif, char *error)
{
	struct add add = {.spec = spec, .vif = vif};
	char script[XENBUS_VALUE_BYTES];
	int err;

	*vif = (struct toolstack_device){.kind = "vif", .backend_kind = "vif", .domid = domid};
	err = find_backend(xs, spec, error);
	if (err < 0)
		return err;
	vif->backend_domid = (unsigned)err;
	err = hotplug_find(script, sizeof(script), spec->script);
	if (err) {
		snprintf(error, TOOLSTACK_ERROR_BYTES, "hotplug script \"%s\": %s", script,
			 err == -ENOENT ? "no such executable file" : strerror(-err));
		return err;
	}
	add.script = script;
	if (!spec->has_mac)
		err = vifspec_random_mac(spec);
	set_permissions_of(&add);
	if (!err)
		err = xenbus_transaction(xs, add_nodes, &add);
	if (err) {
		explain_add_nodes(vif, err, error);
		return err;
	}
	err = connect_vif(xs, &add, error);
	if (err)
		undo_add(xs, &add);
	return err;
}

/* ---- removing ---- */

/* Remove @path, and the directories above it that this leaves empty. */
static int remove_path(struct xs_handle *xs, xs_transaction_t t, const char *path)
{
	char above[XENBUS_PATH_BYTES];
	char *slash;

	if (!xs_rm(xs, t, path) && errno != ENOENT)
		return -errno;
	snprintf(above, sizeof(above), "%s", path);
	while ((slash = strrchr(above, '/')) && slash != above) {
		unsigned nr;
		char **children;

		*slash = '\0';
		children = xs_directory(xs, t, above, &nr);
		free(children);
		if (!children || nr)
			break;
		if (!xs_rm(xs, t, above))
			return -errno;
	}
	return 0;
}

static int remove_nodes_body(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	const struct paths *paths = arg;
	int err;

	err = remove_path(xs, t, paths->frontend);
	if (!err)
		err = remove_path(xs, t, paths->libxl);
	if (!err)
		err = remove_path(xs, t, paths->backend);
	return err;
}

static int remove_nodes(struct xs_handle *xs, const struct toolstack_device *dev)
{
	struct paths paths;
	int err;

	err = make_paths(dev, &paths);
	return err ? err : xenbus_transaction(xs, remove_nodes_body, &paths);
}

struct ask {
	struct paths paths;
	bool force;
	bool gone; /* result: there is no backend to wait for */
};

static int ask_close_body(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	struct ask *ask = arg;
	uint32_t state;
	int err = 0;

	ask->gone = false;
	if (ask->force)
		err = remove_path(xs, t, ask->paths.frontend);
	if (err)
		return err;
	err = xenbus_read_u32(xs, t, ask->paths.backend, "state", 0, STATE_MAX, &state);
	if (err == -ENOENT) {
		ask->gone = true;
		return 0;
	}
	if (err)
		state = XenbusStateUnknown;
	err = write_key(xs, t, ask->paths.backend, "online", "0");
	/* One that is Closed already stays so: to write Closing would wait for nobody. */
	if (!err && state != XenbusStateClosed)
		err = write_number(xs, t, ask->paths.backend, "state", XenbusStateClosing);
	return err;
}

static int ask_close(struct xs_handle *xs, const struct toolstack_device *dev, struct ask *ask)
{
	int err;

	err = make_paths(dev, &ask->paths);
	return err ? err : xenbus_transaction(xs, ask_close_body, ask);
}

/* After a wait that ended with @waited: the script, and the nodes. */
static int finish_remove(struct xs_handle *xs, const struct toolstack_device *dev,
			 const struct ask *ask, int waited)
{
	bool has_script = !strcmp(dev->kind, "vif") && !dev->backend_domid;
	int err;

	/* Its failure does not keep the device: libxl goes on as well. */
	if (!waited && !ask->gone && has_script)
		run_script(xs, dev, ask->paths.backend, "offline");
	err = remove_nodes(xs, dev);
	return waited ? waited : err;
}

static int wait_closed(struct xs_handle *xs, const struct ask *ask, int64_t deadline_msec)
{
	int err;

	if (ask->gone)
		return 0;
	err = wait_state(xs, ask->paths.backend, XenbusStateClosed, deadline_msec);
	return err == -ENOENT ? 0 : err; /* removed while we waited: as good as closed */
}

static int64_t destroy_deadline(void)
{
	return now_msec() + TOOLSTACK_DESTROY_TIMEOUT_SEC * 1000;
}

static void explain_remove(const struct toolstack_device *dev, int err, char *error)
{
	if (err == -ETIMEDOUT)
		snprintf(error, TOOLSTACK_ERROR_BYTES,
			 "the backend did not close %s %u.%u within %u s; its nodes are removed",
			 dev->kind, dev->domid, dev->handle, TOOLSTACK_DESTROY_TIMEOUT_SEC);
	else
		snprintf(error, TOOLSTACK_ERROR_BYTES, "cannot remove %s %u.%u: %s", dev->kind,
			 dev->domid, dev->handle, strerror(-err));
}

int toolstack_device_remove(struct xs_handle *xs, const struct toolstack_device *dev, bool force,
			    char *error)
{
	struct ask ask = {.force = force};
	int err;

	err = ask_close(xs, dev, &ask);
	if (err)
		goto out;
	err = wait_closed(xs, &ask, destroy_deadline());
	if (err == -ETIMEDOUT && !force) {
		/* The frontend did not follow: take its nodes away, which the backend notices. */
		ask.force = true;
		err = ask_close(xs, dev, &ask);
		if (!err)
			err = wait_closed(xs, &ask, destroy_deadline());
	}
	err = finish_remove(xs, dev, &ask, err);
out:
	if (err)
		explain_remove(dev, err, error);
	return err;
}

/* ---- a whole domain ---- */

struct device_list {
	struct toolstack_device *devices;
	struct ask *asks; /* of the same length */
	unsigned nr;
};

static int append_kind(struct xs_handle *xs, unsigned domid, const char *kind,
		       struct device_list *list)
{
	char path[XENBUS_PATH_BYTES];
	struct toolstack_device *devices;
	unsigned *handles;
	int nr, err;

	err = xenbus_path(path, "/libxl/%u/device/%s", domid, kind);
	if (err || strlen(kind) >= TOOLSTACK_KIND_BYTES)
		return err;
	nr = list_numbers(xs, XBT_NULL, path, UINT32_MAX, &handles);
	if (nr <= 0)
		return nr;
	devices = reallocarray(list->devices, list->nr + (unsigned)nr, sizeof(*devices));
	if (!devices) {
		free(handles);
		return -ENOMEM;
	}
	list->devices = devices;
	for (int i = 0; i < nr; i++) {
		if (!read_device(xs, kind, domid, handles[i], &list->devices[list->nr]))
			list->nr++;
	}
	free(handles);
	return 0;
}

static int list_devices(struct xs_handle *xs, unsigned domid, struct device_list *list)
{
	char path[XENBUS_PATH_BYTES];
	unsigned nr_kinds;
	char **kinds;
	int err;

	err = xenbus_path(path, "/libxl/%u/device", domid);
	if (err)
		return err;
	kinds = xs_directory(xs, XBT_NULL, path, &nr_kinds);
	if (!kinds)
		return errno == ENOENT ? 0 : -errno;
	for (unsigned i = 0; !err && i < nr_kinds; i++)
		err = append_kind(xs, domid, kinds[i], list);
	free(kinds);
	if (!err && list->nr) {
		list->asks = calloc(list->nr, sizeof(*list->asks));
		err = list->asks ? 0 : -ENOMEM;
	}
	return err;
}

static int destroy_devices(struct xs_handle *xs, struct device_list *list)
{
	int64_t deadline = destroy_deadline();
	char error[TOOLSTACK_ERROR_BYTES];
	int result = 0;

	for (unsigned i = 0; i < list->nr; i++) {
		list->asks[i].force = true;
		if (ask_close(xs, &list->devices[i], &list->asks[i]))
			list->asks[i].gone = true;
	}
	for (unsigned i = 0; i < list->nr; i++) {
		const struct toolstack_device *dev = &list->devices[i];
		int err = wait_closed(xs, &list->asks[i], deadline);

		err = finish_remove(xs, dev, &list->asks[i], err);
		if (err) {
			explain_remove(dev, err, error);
			log_warn("%s", error);
			result = err;
		}
	}
	return result;
}

static int remove_node(struct xs_handle *xs, xs_transaction_t t, const char *path)
{
	return xs_rm(xs, t, path) || errno == ENOENT ? 0 : -errno;
}

static bool is_vm_path(const char *path)
{
	size_t len = strlen(VM_PATH_MARK);

	return !strncmp(path, VM_PATH_MARK, len) && path[len] && !strchr(path + len, '/');
}

static int destroy_nodes_body(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	unsigned domid = *(unsigned *)arg;
	char domain[XENBUS_PATH_BYTES], libxl[XENBUS_PATH_BYTES], vm[XENBUS_PATH_BYTES];
	int err;

	err = xenbus_path(domain, "/local/domain/%u", domid);
	if (!err)
		err = xenbus_path(libxl, "/libxl/%u", domid);
	if (err)
		return err;
	/* The domain may have written this one: nothing but its own entry below /vm is removed. */
	if (xenbus_read(xs, t, domain, "vm", vm, sizeof(vm)) > 0 && is_vm_path(vm))
		err = remove_node(xs, t, vm);
	if (!err)
		err = remove_node(xs, t, domain);
	return err ? err : remove_node(xs, t, libxl);
}

int toolstack_domain_destroy(struct xs_handle *xs, unsigned domid)
{
	struct device_list list = {0};
	int err, nodes_err;

	err = list_devices(xs, domid, &list);
	if (!err)
		err = destroy_devices(xs, &list);
	nodes_err = xenbus_transaction(xs, destroy_nodes_body, &domid);
	free(list.asks);
	free(list.devices);
	return err ? err : nodes_err;
}
