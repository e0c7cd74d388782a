/* SPDX-License-Identifier: MIT */
/*
 * cmd_network.c: xenemu network-attach, network-detach and network-list. Options and output only;
 * what is done to the store is in toolstack.c. They run in dom0 of the machine.
 */
#include "grant/cmd_network.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/un.h>

#include "common/compiler.h"
#include "grant/toolstack.h"
#include "grant/vifspec.h"
#include "grant/xenemu.h"
#include "xenstore/xenbus.h"

#define DOMID_MAX      0x7fef
#define HANDLE_MAX     65535

enum exit_status {
	STATUS_OK = 0,
	STATUS_FAILED = 1,
	STATUS_USAGE = 2,
};

struct command {
	const char *name;
	const char *usage;
	const char *rundir;
	bool force;
	bool json;
	struct xs_handle *xs;
};

enum {
	OPT_RUNDIR = 256,
	OPT_HELP,
};

static const struct option options[] = {
	{"rundir", required_argument, NULL, OPT_RUNDIR},
	{"force", no_argument, NULL, 'f'},
	{"json", no_argument, NULL, 'j'},
	{"help", no_argument, NULL, OPT_HELP},
	{NULL, 0, NULL, 0},
};

static int fail(const struct command *cmd, enum exit_status status, const char *fmt, ...)
	__printf(3, 4);

static int fail(const struct command *cmd, enum exit_status status, const char *fmt, ...)
{
	va_list args;

	fprintf(stderr, "xenemu %s: ", cmd->name);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	if (status == STATUS_USAGE)
		fprintf(stderr, " (usage: xenemu %s)", cmd->usage);
	fputc('\n', stderr);
	return status;
}

/* -1 to go on, or the status to exit with. */
static int parse_options(struct command *cmd, const char *allowed, int argc, char **argv)
{
	int opt;

	cmd->rundir = xenemu_rundir();
	opterr = 0;
	optind = 0;
	while ((opt = getopt_long(argc, argv, "+:fj", options, NULL)) != -1) {
		if (opt == OPT_RUNDIR) {
			cmd->rundir = optarg;
		} else if (opt == OPT_HELP) {
			printf("usage: xenemu %s\n", cmd->usage);
			return STATUS_OK;
		} else if (opt == 'f' && strchr(allowed, 'f')) {
			cmd->force = true;
		} else if (opt == 'j' && strchr(allowed, 'j')) {
			cmd->json = true;
		} else if (opt == ':') {
			return fail(cmd, STATUS_USAGE, "%s needs a value", argv[optind - 1]);
		} else {
			return fail(cmd, STATUS_USAGE, "unknown option %s", argv[optind - 1]);
		}
	}
	return -1;
}

/* Connect to the machine's xenstored as its dom0. STATUS_OK or the status to exit with. */
static int connect_store(struct command *cmd)
{
	char path[sizeof(((struct sockaddr_un *)NULL)->sun_path)];

	if ((size_t)snprintf(path, sizeof(path), "%s/dom0/xenstored.sock", cmd->rundir) >=
	    sizeof(path))
		return fail(cmd, STATUS_USAGE, "the path %s is too long for a socket", cmd->rundir);
	/* libxenstore reads this, here and in the hotplug scripts. */
	setenv("XENSTORED_PATH", path, 1);
	cmd->xs = xs_open(0);
	if (!cmd->xs)
		return fail(cmd, STATUS_FAILED,
			    "no machine runs in %s: %s (start one: xenemu start --rundir %s)",
			    cmd->rundir, strerror(errno), cmd->rundir);
	return STATUS_OK;
}

static int find_domain(const struct command *cmd, const char *name, unsigned *domid)
{
	int found = toolstack_find_domain(cmd->xs, name);

	if (found == -ENOENT)
		return fail(cmd, STATUS_FAILED, "there is no domain \"%s\"", name);
	if (found == -EEXIST)
		return fail(cmd, STATUS_FAILED, "several domains are called \"%s\": use the domid",
			    name);
	if (found < 0)
		return fail(cmd, STATUS_FAILED, "cannot look for domain \"%s\": %s", name,
			    strerror(-found));
	*domid = (unsigned)found;
	return STATUS_OK;
}

/* ---- network-attach ---- */

static int attach(const struct command *cmd, const char *domain, struct vifspec *spec)
{
	char error[TOOLSTACK_ERROR_BYTES] = "";
	struct toolstack_device vif;
	unsigned domid;
	int status;

	status = find_domain(cmd, domain, &domid);
	if (status)
		return status;
	if (!domid)
		return fail(cmd, STATUS_FAILED, "domain 0 is the backend's and gets no vif");
	if (toolstack_vif_add(cmd->xs, domid, spec, &vif, error))
		return fail(cmd, STATUS_FAILED, "%s", error);
	return STATUS_OK;
}

int cmd_network_attach(int argc, char **argv)
{
	struct command cmd = {
		.name = "network-attach",
		.usage = "network-attach [--rundir DIR] DOMAIN [KEY=VALUE[,KEY=VALUE...]]...",
	};
	char error[TOOLSTACK_ERROR_BYTES];
	struct vifspec spec;
	int status;

	status = parse_options(&cmd, "", argc, argv);
	if (status >= 0)
		return status;
	if (optind >= argc)
		return fail(&cmd, STATUS_USAGE, "which domain?");
	vifspec_init(&spec);
	for (int i = optind + 1; i < argc; i++) {
		if (vifspec_parse(&spec, argv[i], error, sizeof(error)))
			return fail(&cmd, STATUS_USAGE, "%s", error);
	}
	status = connect_store(&cmd);
	if (status)
		return status;
	status = attach(&cmd, argv[optind], &spec);
	xs_close(cmd.xs);
	return status;
}

/* ---- network-detach ---- */

static bool has_mac(struct xs_handle *xs, unsigned domid, unsigned handle, const char *mac)
{
	char path[XENBUS_PATH_BYTES], found[XENBUS_VALUE_BYTES];

	return !xenbus_path(path, "/libxl/%u/device/vif/%u", domid, handle) &&
	       xenbus_read(xs, XBT_NULL, path, "mac", found, sizeof(found)) > 0 &&
	       !strcasecmp(found, mac);
}

/* The handle of the vif called @name: its handle, or its MAC address. */
static int find_handle(const struct command *cmd, unsigned domid, const char *name,
		       unsigned *handle)
{
	unsigned *handles;
	uint32_t number;
	int nr, status = STATUS_FAILED;

	nr = toolstack_vif_list(cmd->xs, domid, &handles);
	if (xenbus_parse_u32(name, 0, HANDLE_MAX, &number))
		number = UINT32_MAX;
	for (int i = 0; i < nr && status; i++) {
		if (handles[i] == number || has_mac(cmd->xs, domid, handles[i], name)) {
			*handle = handles[i];
			status = STATUS_OK;
		}
	}
	free(handles);
	if (status)
		fail(cmd, status, "domain %u has no vif \"%s\" (see xenemu network-list)", domid,
		     name);
	return status;
}

static int detach(const struct command *cmd, const char *domain, const char *name)
{
	char error[TOOLSTACK_ERROR_BYTES] = "";
	struct toolstack_device vif;
	unsigned domid, handle;
	int status, err;

	status = find_domain(cmd, domain, &domid);
	if (!status)
		status = find_handle(cmd, domid, name, &handle);
	if (status)
		return status;
	err = toolstack_vif_find(cmd->xs, domid, handle, &vif);
	if (err)
		return fail(cmd, STATUS_FAILED, "cannot read vif %u.%u: %s", domid, handle,
			    strerror(-err));
	if (toolstack_device_remove(cmd->xs, &vif, cmd->force, error))
		return fail(cmd, STATUS_FAILED, "%s", error);
	return STATUS_OK;
}

int cmd_network_detach(int argc, char **argv)
{
	struct command cmd = {
		.name = "network-detach",
		.usage = "network-detach [--rundir DIR] [--force] DOMAIN HANDLE|MAC",
	};
	int status;

	status = parse_options(&cmd, "f", argc, argv);
	if (status >= 0)
		return status;
	if (argc - optind != 2)
		return fail(&cmd, STATUS_USAGE, "which domain, and which vif of it?");
	status = connect_store(&cmd);
	if (status)
		return status;
	status = detach(&cmd, argv[optind], argv[optind + 1]);
	xs_close(cmd.xs);
	return status;
}

/* ---- network-list ---- */

struct row {
	struct toolstack_device vif;
	char mac[XENBUS_VALUE_BYTES];
	char backend[XENBUS_PATH_BYTES];
	enum xenbus_state frontend_state, backend_state;
	uint32_t evtchn, tx_ref, rx_ref;
};

static uint32_t read_number(struct xs_handle *xs, const char *dir, const char *key)
{
	uint32_t number;

	return xenbus_read_u32(xs, XBT_NULL, dir, key, 0, UINT32_MAX - 1, &number) ? UINT32_MAX
										   : number;
}

static int read_row(struct xs_handle *xs, unsigned domid, unsigned handle, struct row *row)
{
	char frontend[XENBUS_PATH_BYTES], libxl[XENBUS_PATH_BYTES];
	int err;

	err = toolstack_vif_find(xs, domid, handle, &row->vif);
	if (!err)
		err = xenbus_path(frontend, "/local/domain/%u/device/vif/%u", domid, handle);
	if (!err)
		err = xenbus_path(libxl, "/libxl/%u/device/vif/%u", domid, handle);
	if (!err)
		err = xenbus_path(row->backend, "/local/domain/%u/backend/vif/%u/%u",
				  row->vif.backend_domid, domid, handle);
	if (err)
		return err;
	if (xenbus_read(xs, XBT_NULL, libxl, "mac", row->mac, sizeof(row->mac)) < 0)
		*row->mac = '\0';
	row->frontend_state = xenbus_read_state(xs, XBT_NULL, frontend);
	row->backend_state = xenbus_read_state(xs, XBT_NULL, row->backend);
	row->evtchn = read_number(xs, frontend, "event-channel-tx");
	if (row->evtchn == UINT32_MAX)
		row->evtchn = read_number(xs, frontend, "event-channel");
	row->tx_ref = read_number(xs, frontend, "tx-ring-ref");
	row->rx_ref = read_number(xs, frontend, "rx-ring-ref");
	return 0;
}

static void print_row(const struct row *row)
{
	/* Like xl, -1 is a number that is not there. */
	printf("%-3u %-2u %-17s %-6u %-5d %-6d %5d/%-11d %s\n", row->vif.handle,
	       row->vif.backend_domid, row->mac, row->vif.handle, (int)row->frontend_state,
	       (int)row->evtchn, (int)row->tx_ref, (int)row->rx_ref, row->backend);
}

static int append_row(json_t *array, const struct row *row)
{
	return json_array_append_new(
		array,
		json_pack("{s:i, s:i, s:i, s:s, s:s, s:s, s:s}", "domid", (int)row->vif.domid,
			  "handle", (int)row->vif.handle, "backend_domid",
			  (int)row->vif.backend_domid, "mac", row->mac, "backend", row->backend,
			  "frontend_state", xenbus_state_name(row->frontend_state), "backend_state",
			  xenbus_state_name(row->backend_state)));
}

static int list_domain(const struct command *cmd, unsigned domid, json_t *array)
{
	int nr, status = STATUS_OK;
	unsigned *handles;
	struct row row;

	nr = toolstack_vif_list(cmd->xs, domid, &handles);
	if (nr < 0)
		return fail(cmd, STATUS_FAILED, "cannot list the vifs of domain %u: %s", domid,
			    strerror(-nr));
	for (int i = 0; i < nr && !status; i++) {
		/* One that is removed while we look is not there any more: no error. */
		if (read_row(cmd->xs, domid, handles[i], &row))
			continue;
		if (!array)
			print_row(&row);
		else if (append_row(array, &row))
			status = fail(cmd, STATUS_FAILED, "out of memory");
	}
	free(handles);
	return status;
}

static int list_all(const struct command *cmd, json_t *array)
{
	unsigned nr;
	char **domains = xs_directory(cmd->xs, XBT_NULL, "/libxl", &nr);
	int status = STATUS_OK;

	for (unsigned i = 0; domains && i < nr && !status; i++) {
		uint32_t domid;

		if (!xenbus_parse_u32(domains[i], 0, DOMID_MAX, &domid))
			status = list_domain(cmd, domid, array);
	}
	free(domains);
	return status;
}

static int list(const struct command *cmd, int nr_domains, char **domains, json_t *array)
{
	int status = STATUS_OK;

	if (!array)
		printf("%-3s %-2s %-17s %-6s %-5s %-6s %5s/%-11s %s\n", "Idx", "BE", "Mac Addr.",
		       "handle", "state", "evt-ch", "tx-", "rx-ring-ref", "BE-path");
	if (!nr_domains)
		return list_all(cmd, array);
	for (int i = 0; i < nr_domains && !status; i++) {
		unsigned domid;

		status = find_domain(cmd, domains[i], &domid);
		if (!status)
			status = list_domain(cmd, domid, array);
	}
	return status;
}

int cmd_network_list(int argc, char **argv)
{
	struct command cmd = {
		.name = "network-list",
		.usage = "network-list [--rundir DIR] [--json] [DOMAIN...]",
	};
	json_t *array = NULL;
	int status;

	status = parse_options(&cmd, "j", argc, argv);
	if (status >= 0)
		return status;
	status = connect_store(&cmd);
	if (status)
		return status;
	if (cmd.json)
		array = json_array();
	if (cmd.json && !array)
		status = fail(&cmd, STATUS_FAILED, "out of memory");
	else
		status = list(&cmd, argc - optind, argv + optind, array);
	if (array && !status) {
		json_dumpf(array, stdout, JSON_INDENT(2));
		putchar('\n');
	}
	json_decref(array);
	xs_close(cmd.xs);
	return status;
}
