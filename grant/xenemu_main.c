/* SPDX-License-Identifier: MIT */
/*
 * xenemu_main.c: the xenemu command: its table of sub-commands, and the options they share. It
 * mirrors xl where xl has the like.
 */
#include "grant/xenemu_cmd.h"

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "config.h"
#include "grant/cmd_network.h"

static const struct {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *usage;
	const char *summary;
} commands[] = {
	{"start", cmd_start,
	 "[--daemon] [--domid-base N] [--grant-frames N] [--frames N] [--ports N]",
	 "run the machine (in the foreground unless told otherwise)"},
	{"dom0", cmd_dom0, "-- COMMAND...", "run a command in domain 0"},
	{"create", cmd_create, "[--driver-domain] NAME -- COMMAND...",
	 "make a domain that lives as long as the command"},
	{"list", cmd_list, "[--json]", "list domains"},
	{"domid", cmd_domid, "NAME", "print a domain's number"},
	{"destroy", cmd_destroy, "DOMAIN", "end a domain at once"},
	{"network-attach", cmd_network_attach, "DOMAIN [KEY=VALUE[,KEY=VALUE...]]...",
	 "give a domain a network interface"},
	{"network-list", cmd_network_list, "[--json] [DOMAIN...]",
	 "list a domain's network interfaces"},
	{"network-detach", cmd_network_detach, "[--force] DOMAIN HANDLE|MAC",
	 "take a network interface away"},
	{"stats", cmd_stats, "[--json]", "print what is in use: what a leak test compares"},
	{"fault", cmd_fault, "[NAME VALUE]", "inject a fault, or list those there are"},
};

int cmd_fail(const char *fmt, ...)
{
	va_list args;

	fputs("xenemu: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	return EXIT_FAILED;
}

int cmd_usage(const char *fmt, ...)
{
	va_list args;

	fputs("xenemu: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputs(" (xenemu --help says how)\n", stderr);
	return EXIT_USAGE;
}

static void print_help(void)
{
	puts("Usage: xenemu COMMAND [--rundir DIR] [OPTION...] [ARGUMENT...]\n\n"
	     "An emulated Xen machine: domains, grant tables, event channels and xenstored.\n");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++)
		printf("  %s %s\n      %s\n", commands[i].name, commands[i].usage,
		       commands[i].summary);
	puts("\nThe machine's directory is --rundir, else $XENEMU_RUNDIR, else\n"
	     "$XDG_RUNTIME_DIR/xenemu, else /run/xenemu. See xenemu(1).");
}

static int command_help(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, name))
			printf("Usage: xenemu %s [--rundir DIR] %s\n%s\n", name, commands[i].usage,
			       commands[i].summary);
	}
	return EXIT_OK;
}

static bool parse_number(const char *text, unsigned long max, unsigned *value)
{
	unsigned long number;
	char *end;

	errno = 0;
	number = strtoul(text, &end, 10);
	if (errno || end == text || *end || *text == '-' || !number || number > max)
		return false;
	*value = (unsigned)number;
	return true;
}

static int set_rundir(struct cmd_args *args, const char *rundir)
{
	char cwd[PATH_MAX];
	int len;

	if (rundir[0] == '/')
		len = snprintf(args->rundir, sizeof(args->rundir), "%s", rundir);
	else if (!getcwd(cwd, sizeof(cwd)))
		return cmd_fail("cannot tell the current directory: %s; give --rundir an absolute "
				"path",
				strerror(errno));
	else
		len = snprintf(args->rundir, sizeof(args->rundir), "%s/%s", cwd, rundir);
	if (len < (int)sizeof(args->rundir))
		return EXIT_OK;
	return cmd_usage("the directory %s is too long for socket names (at most %zu characters): "
			 "choose another --rundir",
			 rundir, sizeof(args->rundir) - 1);
}

enum {
	OPT_RUNDIR = 256,
	OPT_JSON,
	OPT_DAEMON,
	OPT_DRIVER,
	OPT_BASE,
	OPT_TABLE,
	OPT_FRAMES,
	OPT_PORTS,
	OPT_HELP
};

static const struct {
	struct option option;
	unsigned takes;
} known[] = {
	{{"rundir", required_argument, NULL, OPT_RUNDIR}, ~0U},
	{{"help", no_argument, NULL, OPT_HELP}, ~0U},
	{{"json", no_argument, NULL, OPT_JSON}, CMD_TAKES_JSON},
	{{"daemon", no_argument, NULL, OPT_DAEMON}, CMD_TAKES_START},
	{{"domid-base", required_argument, NULL, OPT_BASE}, CMD_TAKES_START},
	{{"grant-frames", required_argument, NULL, OPT_TABLE}, CMD_TAKES_START},
	{{"frames", required_argument, NULL, OPT_FRAMES}, CMD_TAKES_START},
	{{"ports", required_argument, NULL, OPT_PORTS}, CMD_TAKES_START},
	{{"driver-domain", no_argument, NULL, OPT_DRIVER}, CMD_TAKES_CREATE},
};

static bool apply_option(int opt, const char *value, struct cmd_args *args)
{
	unsigned number;

	switch (opt) {
	case OPT_JSON:
		args->json = true;
		return true;
	case OPT_DAEMON:
		args->daemon = true;
		return true;
	case OPT_DRIVER:
		args->driver_domain = true;
		return true;
	case OPT_BASE:
		if (!parse_number(value, DOMID_FIRST_RESERVED - 1, &number))
			return false;
		args->machine.first_domid = (domid_t)number;
		return true;
	case OPT_TABLE:
		return parse_number(value, 1024, &args->machine.nr_grant_frames);
	case OPT_FRAMES:
		return parse_number(value, 65536, &args->machine.nr_frames);
	case OPT_PORTS:
		return parse_number(value, 131071, &args->machine.nr_ports);
	}
	return false;
}

bool cmd_parse(int argc, char **argv, unsigned takes, struct cmd_args *args, int *status)
{
	struct option options[ARRAY_SIZE(known) + 1] = {{NULL, 0, NULL, 0}};
	const char *rundir = xenemu_rundir();
	unsigned nr = 0;
	int opt;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		if (known[i].takes == ~0U || (known[i].takes & takes))
			options[nr++] = known[i].option;
	}
	memset(args, 0, sizeof(*args));
	args->machine = XENEMU_OPTIONS_DEFAULT;
	*status = EXIT_USAGE;
	opterr = 0;
	optind = 1;
	while ((opt = getopt_long(argc, argv, "+:h", options, NULL)) != -1) {
		if (opt == OPT_HELP || opt == 'h') {
			*status = command_help(argv[0]);
			return false;
		}
		if (opt == '?' || opt == ':') {
			cmd_usage("%s: %s %s", argv[0],
				  opt == ':' ? "a value is missing after" : "unknown option",
				  argv[optind - 1]);
			return false;
		}
		if (opt == OPT_RUNDIR) {
			rundir = optarg;
		} else if (!apply_option(opt, optarg, args)) {
			cmd_usage("%s: bad value in %s: not a number in range", argv[0], optarg);
			return false;
		}
	}
	*status = set_rundir(args, rundir);
	args->argc = argc - optind;
	args->argv = argv + optind;
	return *status == EXIT_OK;
}

int cmd_connect(const char *rundir, struct xenemu_control **control)
{
	int err = xenemu_control_open(rundir, control);

	if (!err)
		return EXIT_OK;
	if (err == -ENOENT || err == -ECONNREFUSED)
		return cmd_fail("no machine runs in %s: start one with xenemu start --rundir %s",
				rundir, rundir);
	return cmd_fail("cannot talk to the machine in %s: %s", rundir, strerror(-err));
}

int main(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : NULL;

	log_open("xenemu", NULL);
	if (!name)
		return cmd_usage("which command?");
	if (!strcmp(name, "--help") || !strcmp(name, "-h") || !strcmp(name, "help")) {
		print_help();
		return EXIT_OK;
	}
	if (!strcmp(name, "--version")) {
		puts("xenemu " PACKAGE_VERSION);
		return EXIT_OK;
	}
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, name))
			return commands[i].run(argc - 1, argv + 1);
	}
	return cmd_usage("%s is not a command", name);
}
