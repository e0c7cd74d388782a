/* SPDX-License-Identifier: MIT */
/* xenemu_query.c: the sub-commands that ask the machine, or tell it, one thing. */
#include "grant/xenemu_cmd.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "xenstore/xenbus.h"

#define CLEAN_POLL_USEC 10000
#define CLEAN_WAIT_SEC	30

/* Options, at least @min and at most @max arguments, and a connection. */
static bool begin(int argc, char **argv, unsigned takes, int min, int max, struct cmd_args *args,
		  struct xenemu_control **control, int *status)
{
	if (!cmd_parse(argc, argv, takes, args, status))
		return false;
	if (args->argc < min || args->argc > max) {
		*status = cmd_usage("%s: %s", argv[0],
				    args->argc < min ? "an argument is missing"
						     : "too many arguments");
		return false;
	}
	*status = cmd_connect(args->rundir, control);
	return *status == EXIT_OK;
}

static int print_json(json_t *json)
{
	int err = json_dumpf(json, stdout, JSON_INDENT(1));

	putchar('\n');
	json_decref(json);
	return err ? cmd_fail("cannot write JSON") : EXIT_OK;
}

static const char *state(const struct xenemu_domain_info *info)
{
	return info->building ? "building" : "running";
}

static json_t *domain_json(const struct xenemu_domain_info *info)
{
	return json_pack("{s:i, s:s, s:s, s:i}", "domid", (int)info->domid, "name", info->name,
			 "state", state(info), "pid", (int)info->pid);
}

int cmd_list(int argc, char **argv)
{
	struct xenemu_control *control;
	struct xenemu_domain_info info;
	json_t *array = json_array();
	struct cmd_args args;
	unsigned from = 0;
	int status;

	if (!begin(argc, argv, CMD_TAKES_JSON, 0, 0, &args, &control, &status)) {
		json_decref(array);
		return status;
	}
	if (!args.json)
		printf("%-40s %5s %8s %s\n", "Name", "ID", "PID", "State");
	while (from < DOMID_FIRST_RESERVED && !xenemu_domain_next(control, (domid_t)from, &info)) {
		if (args.json)
			json_array_append_new(array, domain_json(&info));
		else
			printf("%-40s %5u %8d %s\n", info.name, info.domid, (int)info.pid,
			       state(&info));
		from = info.domid + 1U;
	}
	xenemu_control_close(control);
	if (args.json)
		return print_json(array);
	json_decref(array);
	return EXIT_OK;
}

static int find(struct xenemu_control *control, const char *name, struct xenemu_domain_info *info)
{
	if (!xenemu_domain_find(control, name, info))
		return EXIT_OK;
	return cmd_fail("there is no domain %s: xenemu list shows those there are", name);
}

int cmd_domid(int argc, char **argv)
{
	struct xenemu_control *control;
	struct xenemu_domain_info info;
	struct cmd_args args;
	int status;

	if (!begin(argc, argv, 0, 1, 1, &args, &control, &status))
		return status;
	status = find(control, args.argv[0], &info);
	if (!status)
		printf("%u\n", info.domid);
	xenemu_control_close(control);
	return status;
}

/*
 * xl's destroy returns when the domain's nodes are gone; here that is the work of the process that
 * create left behind, so it is waited for.
 */
static void wait_cleaned(const char *rundir, domid_t domid)
{
	time_t end = time(NULL) + CLEAN_WAIT_SEC;
	char path[XENBUS_PATH_BYTES];
	struct xs_handle *xs;

	if (cmd_environment(rundir, 0) || xenbus_path(path, "/local/domain/%u", domid))
		return;
	xs = xs_open(0);
	while (xs && xenbus_exists(xs, XBT_NULL, path, NULL) && time(NULL) < end)
		usleep(CLEAN_POLL_USEC);
	if (xs)
		xs_close(xs);
}

int cmd_destroy(int argc, char **argv)
{
	struct xenemu_control *control;
	struct xenemu_domain_info info;
	struct cmd_args args;
	int status, err;

	if (!begin(argc, argv, 0, 1, 1, &args, &control, &status))
		return status;
	status = find(control, args.argv[0], &info);
	if (!status) {
		err = xenemu_domain_destroy(control, info.domid);
		if (err == -EPERM)
			status = cmd_fail("domain 0 cannot be destroyed: stop the machine instead");
		else if (err)
			status = cmd_fail("domain %s: %s", args.argv[0], strerror(-err));
		else
			wait_cleaned(args.rundir, info.domid);
	}
	xenemu_control_close(control);
	return status;
}

int cmd_stats(int argc, char **argv)
{
	struct xenemu_stats stats[XENEMU_NR_STATS];
	struct xenemu_control *control;
	struct cmd_args args;
	int status, err;

	if (!begin(argc, argv, CMD_TAKES_JSON, 0, 0, &args, &control, &status))
		return status;
	err = xenemu_get_stats(control, stats);
	xenemu_control_close(control);
	if (err)
		return cmd_fail("no statistics: %s", strerror(-err));
	if (args.json) {
		json_t *json = json_object();

		for (size_t i = 0; i < XENEMU_NR_STATS; i++)
			json_object_set_new(json, stats[i].name, json_integer(stats[i].value));
		return print_json(json);
	}
	for (size_t i = 0; i < XENEMU_NR_STATS; i++)
		printf("%-20s %u\n", stats[i].name, stats[i].value);
	return EXIT_OK;
}

int cmd_fault(int argc, char **argv)
{
	struct xenemu_control *control;
	struct cmd_args args;
	uint32_t value = 0;
	int status, err;

	if (!begin(argc, argv, 0, 0, 2, &args, &control, &status))
		return status;
	if (!args.argc) {
		for (unsigned i = 0; xenemu_fault_name(i); i++)
			puts(xenemu_fault_name(i));
	} else if (args.argc == 1 || xenbus_parse_u32(args.argv[1], 0, UINT32_MAX, &value)) {
		status = cmd_usage("fault: NAME and a number: every so many, 0 for never");
	} else {
		err = xenemu_set_fault(control, args.argv[0], value);
		if (err == -EINVAL)
			status = cmd_usage("fault: there is no %s: xenemu fault lists them",
					   args.argv[0]);
		else if (err)
			status = cmd_fail("fault: %s", strerror(-err));
	}
	xenemu_control_close(control);
	return status;
}
