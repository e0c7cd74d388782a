/* SPDX-License-Identifier: MIT */
/*
 * xenemu_cmd.h: what the sub-commands of xenemu share. Each sub-command takes its own name as
 * argv[0] and returns the exit status.
 */
#ifndef GRANT_XENEMU_CMD_H
#define GRANT_XENEMU_CMD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"
#include "grant/xenemu.h"

#define EXIT_OK	    0
#define EXIT_FAILED 1
#define EXIT_USAGE  2

#define CMD_RUNDIR_BYTES 80

/* Options every sub-command knows, and the ones some do. */
struct cmd_args {
	char rundir[CMD_RUNDIR_BYTES]; /* absolute */
	bool json;
	bool daemon;
	bool driver_domain;
	struct xenemu_options machine;
	int argc; /* what is left */
	char **argv;
};

#define CMD_TAKES_JSON	 0x1U
#define CMD_TAKES_START	 0x2U
#define CMD_TAKES_CREATE 0x4U

/**
 * cmd_parse() - read the options
 * @takes: CMD_TAKES_*
 *
 * Return: true to go on; false with the exit status in *@status.
 */
bool cmd_parse(int argc, char **argv, unsigned takes, struct cmd_args *args, int *status);

/** cmd_fail() - one line on stderr: "xenemu: ...". Return: EXIT_FAILED. */
int cmd_fail(const char *fmt, ...) __printf(1, 2);
/** cmd_usage() - one line on stderr and how to get help. Return: EXIT_USAGE. */
int cmd_usage(const char *fmt, ...) __printf(1, 2);

/** cmd_connect() - the running machine; says what is wrong if there is none. 0 or EXIT_FAILED. */
int cmd_connect(const char *rundir, struct xenemu_control **control);

/** cmd_environment() - make this process one of @domid: socket paths and libraries. 0 or -errno. */
int cmd_environment(const char *rundir, domid_t domid);

/** cmd_exec() - become the command; returns only if that fails. */
int cmd_exec(char **argv);

int cmd_start(int argc, char **argv);
int cmd_dom0(int argc, char **argv);
int cmd_create(int argc, char **argv);
int cmd_list(int argc, char **argv);
int cmd_destroy(int argc, char **argv);
int cmd_domid(int argc, char **argv);
int cmd_stats(int argc, char **argv);
int cmd_fault(int argc, char **argv);

#endif
