/* SPDX-License-Identifier: MIT */
/*
 * conf.c: netbackd's options, one table row each: name, argument, help, setter. The help text, the
 * parser and the error lines all come from the table.
 */
#include "netback/conf.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <sys/un.h>

#include "common/compiler.h"
#include "xenstore/xenbus.h"

/* A setter returns NULL, or what would have been right. */
static const char *set_groups(struct conf *conf, const char *arg)
{
	if (xenbus_parse_u32(arg, 1, NETBK_GROUPS_MAX, &conf->groups.nr_groups))
		return "a number from 1 to 1024";
	return NULL;
}
BUILD_ASSERT(NETBK_GROUPS_MAX == 1024);

static const char *set_tx_shift(struct conf *conf, const char *arg)
{
	if (xenbus_parse_u32(arg, NETBK_TX_SHIFT_MIN, NETBK_TX_SHIFT_MAX, &conf->groups.tx_shift))
		return "a number from 5 to 16";
	return NULL;
}
BUILD_ASSERT(NETBK_TX_SHIFT_MIN == 5 && NETBK_TX_SHIFT_MAX == 16);

static const char *set_worker(struct conf *conf, const char *arg)
{
	return worker_parse_kind(arg, &conf->groups.kind) ? "thread or poll" : NULL;
}

static const char *set_port(struct conf *conf, const char *arg)
{
	return port_parse_kind(arg, &conf->port) ? "tap, sink, source or echo" : NULL;
}

static const char *set_log_level(struct conf *conf, const char *arg)
{
	return log_parse_level(arg, &conf->log_level) ? "error, warn, info or debug" : NULL;
}

static const char *set_log_file(struct conf *conf, const char *arg)
{
	conf->log_file = arg;
	return *arg ? NULL : "a path, or syslog";
}

static const char *set_pid_file(struct conf *conf, const char *arg)
{
	conf->pid_file = arg;
	return *arg ? NULL : "a path";
}

static const char *set_ctl_socket(struct conf *conf, const char *arg)
{
	conf->ctl_socket = arg;
	if (!*arg || strlen(arg) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		return "a path of at most 107 characters";
	return NULL;
}

static const char *set_foreground(struct conf *conf, const char *arg)
{
	conf->foreground = true;
	return NULL;
}

static const struct row {
	const char *name;
	const char *arg; /* NULL: takes none */
	const char *help;
	const char *(*set)(struct conf *conf, const char *arg);
	enum conf_verdict verdict;
} rows[] = {
	{"groups", "N", "worker groups, 1 to 1024 (default: one for each CPU)", set_groups,
	 CONF_RUN},
	{"worker", "KIND", "thread (sleeps when idle, the default) or poll (never sleeps)",
	 set_worker, CONF_RUN},
	{"tx-shift", "N", "a group has 2^N pending pages, N from 5 to 16 (default: 8)",
	 set_tx_shift, CONF_RUN},
	{"port", "KIND", "host side of each vif: tap (default), sink, source or echo", set_port,
	 CONF_RUN},
	{"foreground", NULL, "do not become a daemon; log to stderr", set_foreground, CONF_RUN},
	{"pid-file", "PATH", "write the process id there", set_pid_file, CONF_RUN},
	{"log-file", "PATH", "append the log to PATH, or to \"syslog\" (the default of a daemon)",
	 set_log_file, CONF_RUN},
	{"log-level", "LEVEL", "error, warn, info (default) or debug", set_log_level, CONF_RUN},
	{"ctl-socket", "PATH", "netbackctl's socket (default: " CONF_CTL_SOCKET_DEFAULT ")",
	 set_ctl_socket, CONF_RUN},
	{"help", NULL, "show this text", NULL, CONF_HELP},
	{"version", NULL, "show the version", NULL, CONF_VERSION},
};

static void make_long_options(struct option options[ARRAY_SIZE(rows) + 1])
{
	memset(options, 0, (ARRAY_SIZE(rows) + 1) * sizeof(*options));
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		options[i].name = rows[i].name;
		options[i].has_arg = rows[i].arg ? required_argument : no_argument;
		options[i].val = (int)i;
	}
}

static int complain(char *error, size_t size, int c, char *const argv[])
{
	const char *word = argv[optind - 1];

	if (c == ':' && optopt >= 0 && (size_t)optopt < ARRAY_SIZE(rows))
		snprintf(error, size, "--%s needs an argument: %s", rows[optopt].name,
			 rows[optopt].arg);
	else if (optopt >= 0 && (size_t)optopt < ARRAY_SIZE(rows) && !strncmp(word, "--", 2) &&
		 strchr(word, '='))
		snprintf(error, size, "--%s takes no argument", rows[optopt].name);
	else
		snprintf(error, size, "unknown option '%s'; --help lists them", word);
	return -EINVAL;
}

static int apply(struct conf *conf, const struct row *row, char *error, size_t size)
{
	const char *expected = row->set(conf, optarg);

	if (!expected)
		return 0;
	snprintf(error, size, "--%s '%s': expected %s", row->name, optarg, expected);
	return -EINVAL;
}

int conf_parse(struct conf *conf, int argc, char *const argv[], enum conf_verdict *verdict,
	       char *error, size_t size)
{
	struct option options[ARRAY_SIZE(rows) + 1];
	int c, ret;

	*conf = (struct conf){
		.groups = {.tx_shift = NETBK_TX_SHIFT_DEFAULT, .kind = WORKER_THREAD},
		.port = PORT_TAP,
		.log_level = LOG_LEVEL_INFO,
		.ctl_socket = CONF_CTL_SOCKET_DEFAULT,
	};
	*verdict = CONF_RUN;
	make_long_options(options);
	optind = 0; /* glibc: start anew, whoever parsed before */
	opterr = 0;
	while ((c = getopt_long(argc, argv, "+:", options, NULL)) != -1) {
		if (c == '?' || c == ':')
			return complain(error, size, c, argv);
		if (rows[c].verdict != CONF_RUN) {
			*verdict = rows[c].verdict;
			return 0;
		}
		ret = apply(conf, &rows[c], error, size);
		if (ret)
			return ret;
	}
	if (optind < argc) {
		snprintf(error, size, "unexpected argument '%s'; --help shows the usage",
			 argv[optind]);
		return -EINVAL;
	}
	return 0;
}

void conf_usage(FILE *out)
{
	char left[40];

	fputs("Usage: netbackd [OPTION]...\n"
	      "Xen network backend: serves the vifs that the toolstack writes to xenstore.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		snprintf(left, sizeof(left), "--%s%s%s", rows[i].name, rows[i].arg ? " " : "",
			 rows[i].arg ? rows[i].arg : "");
		fprintf(out, "  %-20s %s\n", left, rows[i].help);
	}
	fputs("\nSignals: TERM and INT leave in order, HUP opens the log file anew.\n"
	      "Exit status: 0; 1 if something is missing or failed; 2 for a wrong option.\n",
	      out);
}
