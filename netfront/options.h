/* SPDX-License-Identifier: MIT */
/* options.h: netfront's command line. Pure: prints nothing, opens nothing. */
#ifndef NETFRONT_OPTIONS_H
#define NETFRONT_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

#include "common/log.h"
#include "netfront/side.h"

struct options {
	struct netfront_params params;
	const char *tap; /* NULL: load */
	bool up;
	struct side_load_params load;
	const char *stats_file;
	unsigned stats_interval_sec;
	unsigned exit_after_sec;
	bool json;
	enum log_level log_level;
	bool help, version;
};

/**
 * options_parse() - read the command line
 * @error: what is wrong, one line, if this fails
 *
 * Return: 0 or -EINVAL. Strings of @argv are kept, not copied.
 */
int options_parse(int argc, char *const argv[], struct options *options, char *error,
		  size_t error_size);

/** options_help() - all options, as the table has them. */
void options_help(FILE *out);

#endif
