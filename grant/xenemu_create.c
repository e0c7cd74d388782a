/* SPDX-License-Identifier: MIT */
/*
 * xenemu_create.c: xenemu create: what libxl_create.c does of a domain that has no devices yet, and
 * then this process becomes the domain's command, whose end is the domain's.
 */
#include "grant/xenemu_cmd.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <xenstore.h>

#include "grant/reaper.h"
#include "xenstore/xenbus.h"

struct new_domain {
	const char *name;
	domid_t domid;
	bool driver_domain;
	char uuid[37];
	char dir[XENBUS_PATH_BYTES], vm[XENBUS_PATH_BYTES], libxl[XENBUS_PATH_BYTES];
};

/* Version 4, as libxl makes one. */
static void random_uuid(char text[37])
{
	uint8_t b[16];

	if (getrandom(b, sizeof(b), 0) != sizeof(b))
		memset(b, 0, sizeof(b));
	b[6] = (uint8_t)((b[6] & 0x0f) | 0x40);
	b[8] = (uint8_t)((b[8] & 0x3f) | 0x80);
	snprintf(text, 37, "%02x%02x%02x%02x-%02x%02x-%02x%02x-%02x%02x-%02x%02x%02x%02x%02x%02x",
		 b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7], b[8], b[9], b[10], b[11], b[12],
		 b[13], b[14], b[15]);
}

/* Directories of the domain, and whether it may write in them. From libxl__domain_make(). */
static const struct {
	const char *name;
	bool writable;
	bool driver_domain_only;
} directories[] = {
	{"cpu", false, false},
	{"memory", false, false},
	{"device", false, false},
	{"control", false, false},
	{"control/shutdown", true, false},
	{"data", true, false},
	{"drivers", true, false},
	{"feature", true, false},
	{"attr", true, false},
	{"error", true, false},
	{"libxl", true, true},
	{"device-model", true, true},
	{"backend", true, true},
};

static int make_directory(struct xs_handle *xs, xs_transaction_t t, const char *path,
			  struct xs_permissions *perms, unsigned nr_perms)
{
	if (!xs_mkdir(xs, t, path) || !xs_set_permissions(xs, t, path, perms, nr_perms))
		return -errno;
	return 0;
}

static int make_directories(struct xs_handle *xs, xs_transaction_t t, const struct new_domain *dom)
{
	struct xs_permissions readable[] = {{.id = 0, .perms = XS_PERM_NONE},
					    {.id = dom->domid, .perms = XS_PERM_READ}};
	struct xs_permissions writable[] = {{.id = dom->domid, .perms = XS_PERM_NONE}};
	struct xs_permissions private[] = {{.id = 0, .perms = XS_PERM_NONE}};
	char path[XENBUS_PATH_BYTES];
	int err;

	xs_rm(xs, t, dom->dir); /* what an earlier domain of that number left behind */
	err = make_directory(xs, t, dom->dir, readable, 2);
	if (!err)
		err = make_directory(xs, t, dom->vm, readable, 2);
	if (!err)
		err = make_directory(xs, t, dom->libxl, private, 1);
	for (size_t i = 0; i < ARRAY_SIZE(directories) && !err; i++) {
		if (directories[i].driver_domain_only && !dom->driver_domain)
			continue;
		err = xenbus_path(path, "%s/%s", dom->dir, directories[i].name);
		if (!err && directories[i].writable)
			err = make_directory(xs, t, path, writable, 1);
		else if (!err)
			err = make_directory(xs, t, path, readable, 2);
	}
	return err;
}

static int write_domain(struct xs_handle *xs, xs_transaction_t t, void *arg)
{
	const struct new_domain *dom = arg;
	int err;

	err = make_directories(xs, t, dom);
	if (!err)
		err = xenbus_printf(xs, t, dom->dir, "vm", "%s", dom->vm);
	if (!err)
		err = xenbus_printf(xs, t, dom->dir, "name", "%s", dom->name);
	if (!err)
		err = xenbus_printf(xs, t, dom->dir, "domid", "%u", dom->domid);
	if (!err)
		err = xenbus_printf(xs, t, dom->vm, "name", "%s", dom->name);
	if (!err)
		err = xenbus_printf(xs, t, dom->vm, "uuid", "%s", dom->uuid);
	if (!err)
		err = xenbus_printf(xs, t, dom->vm, "start_time", "%lld", (long long)time(NULL));
	if (!err)
		err = xenbus_printf(xs, t, dom->libxl, "type", "pvh");
	return err;
}

/* The page and port of the guest's xenstore ring: its socket is that ring here, so any will do. */
#define STORE_FRAME 1
#define STORE_PORT  1

static int build_domain(struct new_domain *dom)
{
	struct xs_handle *xs = xs_open(0);
	int err;

	if (!xs)
		return -errno;
	random_uuid(dom->uuid);
	xenbus_path(dom->dir, "/local/domain/%u", dom->domid);
	xenbus_path(dom->vm, "/vm/%s", dom->uuid);
	xenbus_path(dom->libxl, "/libxl/%u", dom->domid);
	err = xenbus_transaction(xs, write_domain, dom);
	if (!err && !xs_introduce_domain(xs, dom->domid, STORE_FRAME, STORE_PORT))
		err = -errno;
	xs_close(xs);
	return err;
}

static int explain(const char *name, int err)
{
	if (err == -EEXIST)
		return cmd_fail("there is a domain %s already: choose another name, or destroy it",
				name);
	if (err == -EINVAL)
		return cmd_usage(
			"create: %s is no name: at most 63 letters, digits, -, _, . and +, "
			"the first not a digit",
			name);
	return cmd_fail("domain %s: %s", name, strerror(-err));
}

/* Across exec, if it is what keeps the domain alive. */
static int keep_connection(struct xenemu_control *control, domid_t domid)
{
	struct xenemu_domain_info info;
	int err = xenemu_domain_next(control, domid, &info);

	if (!err && !info.pid && fcntl(xenemu_control_fd(control), F_SETFD, 0))
		err = -errno;
	return err;
}

static int make(const struct cmd_args *args, struct xenemu_control *control, struct new_domain *dom)
{
	int err, fd = xenemu_control_fd(control);

	err = xenemu_domain_create(control, dom->name, true, &dom->domid);
	if (err)
		return explain(dom->name, err);
	err = cmd_environment(args->rundir, 0);
	/* Before there is anything to clean up, so that nothing is left if we fail half-way. */
	if (!err)
		err = reaper_fork(args->rundir, dom->domid, fd);
	if (!err)
		err = build_domain(dom);
	if (!err)
		err = keep_connection(control, dom->domid);
	if (!err)
		err = cmd_environment(args->rundir, dom->domid);
	if (!err)
		err = xenemu_domain_unpause(control, dom->domid);
	if (err)
		return cmd_fail("domain %s could not be built: %s", dom->name, strerror(-err));
	return EXIT_OK;
}

int cmd_create(int argc, char **argv)
{
	struct xenemu_control *control;
	struct new_domain dom;
	struct cmd_args args;
	int status;

	if (!cmd_parse(argc, argv, CMD_TAKES_CREATE, &args, &status))
		return status;
	memset(&dom, 0, sizeof(dom));
	dom.name = args.argc ? args.argv[0] : NULL;
	dom.driver_domain = args.driver_domain;
	if (args.argc && !strcmp(args.argv[1] ? args.argv[1] : "", "--")) {
		args.argc--;
		args.argv++;
	}
	if (args.argc < 2)
		return cmd_usage("create: a name and a command are needed");
	status = cmd_connect(args.rundir, &control);
	if (status)
		return status;
	status = make(&args, control, &dom);
	if (!status)
		status = cmd_exec(args.argv + 1);
	xenemu_control_close(control);
	return status;
}
