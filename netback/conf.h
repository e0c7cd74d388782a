/* SPDX-License-Identifier: MIT */
/*
 * conf.h: netbackd's command line. Parsed once, before anything is opened; constant afterwards.
 */
#ifndef NETBACK_CONF_H
#define NETBACK_CONF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "common/log.h"
#include "netback/group.h"
#include "netback/port.h"

#define CONF_CTL_SOCKET_DEFAULT RUNSTATEDIR "/netbackd/ctl.sock"

struct conf {
	struct netbk_groups_params groups;
	enum port_kind port;
	bool foreground;
	enum log_level log_level;
	/* These point into argv. */
	const char *ctl_socket;
	const char *pid_file; /* NULL: none */
	const char *log_file; /* NULL: stderr in the foreground, else syslog */
};

enum conf_verdict {
	CONF_RUN,
	CONF_HELP,    /* --help was asked for */
	CONF_VERSION, /* --version was asked for */
};

/**
 * conf_parse() - fill @conf from the command line
 * @verdict: what the caller is to do
 * @error: one line without newline, for people, if this fails
 *
 * Return: 0, or -EINVAL.
 */
int conf_parse(struct conf *conf, int argc, char *const argv[], enum conf_verdict *verdict,
	       char *error, size_t size);

/** conf_usage() - the text of --help. */
void conf_usage(FILE *out);

#endif
