/* SPDX-License-Identifier: MIT */
/* options.c: netfront's command line, from a table: how an option is read and what --help says. */
#include "netfront/options.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

enum kind {
	KIND_FLAG,	/* bool := true */
	KIND_FLAG_OFF,	/* bool := false */
	KIND_U32,	/* unsigned in [min, max] */
	KIND_U64,	/* uint64_t in [min, max] */
	KIND_SIZE,	/* size_t in [min, max] */
	KIND_STRING,	/* const char *, not empty */
	KIND_MAC,	/* 6 bytes */
	KIND_LOG_LEVEL, /* enum log_level */
};

struct option_row {
	const char *name;
	const char *argument; /* NULL: takes none */
	enum kind kind;
	size_t offset;
	uint64_t min, max;
	const char *help;
};

#define AT(member) offsetof(struct options, member)
#define SEC_MAX	   86400

static const struct option_row rows[] = {
	{"--vif", "N", KIND_U32, AT(params.vif), 0, 65535, "device/vif/N of this domain (0)"},
	{"--tap", "NAME", KIND_STRING, AT(tap), 0, 0,
	 "create the network interface NAME, or attach to it"},
	{"--up", NULL, KIND_FLAG, AT(up), 0, 0, "bring the interface up once it has its address"},
	{"--source", NULL, KIND_FLAG, AT(load.source), 0, 0, "send numbered frames"},
	{"--sink", NULL, KIND_FLAG, AT(load.sink), 0, 0, "check numbered frames that arrive"},
	{"--echo", NULL, KIND_FLAG, AT(load.echo), 0, 0,
	 "send each frame back, addresses exchanged"},
	{"--size", "BYTES", KIND_SIZE, AT(load.size_bytes), 22, 65535,
	 "frame size of --source, header included (1500)"},
	{"--count", "N", KIND_U64, AT(load.nr_frames), 1, INT64_MAX,
	 "frames --source sends; then leave (no end)"},
	{"--rate", "PPS", KIND_U64, AT(load.rate_pps), 1, 1000000000,
	 "frames a second of --source (as fast as they go)"},
	{"--dst", "MAC", KIND_MAC, AT(load.dst), 0, 0,
	 "destination of --source (ff:ff:ff:ff:ff:ff)"},
	{"--no-sg", NULL, KIND_FLAG_OFF, AT(params.features.sg_rx), 0, 0,
	 "one slot a frame, both ways"},
	{"--no-rx-notify", NULL, KIND_FLAG_OFF, AT(params.features.rx_notify), 0, 0,
	 "never send an event for posted buffers"},
	{"--single-evtchn", NULL, KIND_FLAG_OFF, AT(params.features.split_evtchn), 0, 0,
	 "one event channel for both rings"},
	{"--poll", "USEC", KIND_U32, AT(params.poll_usec), 0, 1000000000,
	 "spin this long after the last work before sleeping (0)"},
	{"--wait", "SEC", KIND_U32, AT(params.wait_sec), 0, SEC_MAX,
	 "give up unless connected by then (0: never)"},
	{"--exit-after", "SEC", KIND_U32, AT(exit_after_sec), 1, SEC_MAX, "leave then"},
	{"--json", NULL, KIND_FLAG, AT(json), 0, 0, "statistics on stdout at the end"},
	{"--stats-file", "PATH", KIND_STRING, AT(stats_file), 0, 0,
	 "statistics there at the end and on SIGUSR1"},
	{"--stats-interval", "SEC", KIND_U32, AT(stats_interval_sec), 1, SEC_MAX,
	 "write the file this often; without one, a log line"},
	{"--log-level", "LEVEL", KIND_LOG_LEVEL, AT(log_level), 0, 0,
	 "error, warn, info or debug (info)"},
	{"--help", NULL, KIND_FLAG, AT(help), 0, 0, "this"},
	{"--version", NULL, KIND_FLAG, AT(version), 0, 0, "the version"},
};

static __printf(3, 4) int fail(char *error, size_t size, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(error, size, fmt, args);
	va_end(args);
	return -EINVAL;
}

/* Strict decimal: no sign, no space, no other base. */
static int parse_u64(const char *text, uint64_t min, uint64_t max, uint64_t *value)
{
	uint64_t sum = 0;

	if (!*text)
		return -EINVAL;
	for (; *text; text++) {
		if (*text < '0' || *text > '9' || sum > (UINT64_MAX - 9) / 10)
			return -EINVAL;
		sum = sum * 10 + (uint64_t)(*text - '0');
	}
	if (sum < min || sum > max)
		return -EINVAL;
	*value = sum;
	return 0;
}

static int set_number(const struct option_row *row, void *field, const char *text, char *error,
		      size_t size)
{
	uint64_t value;

	if (parse_u64(text, row->min, row->max, &value))
		return fail(error, size, "%s takes a number from %llu to %llu, not '%s'", row->name,
			    (unsigned long long)row->min, (unsigned long long)row->max, text);
	if (row->kind == KIND_U32)
		*(unsigned *)field = (unsigned)value;
	else if (row->kind == KIND_U64)
		*(uint64_t *)field = value;
	else
		*(size_t *)field = (size_t)value;
	return 0;
}

static int set_field(const struct option_row *row, struct options *options, const char *text,
		     char *error, size_t size)
{
	void *field = (char *)options + row->offset;

	switch (row->kind) {
	case KIND_FLAG:
	case KIND_FLAG_OFF:
		*(bool *)field = row->kind == KIND_FLAG;
		return 0;
	case KIND_U32:
	case KIND_U64:
	case KIND_SIZE:
		return set_number(row, field, text, error, size);
	case KIND_STRING:
		if (!*text)
			return fail(error, size, "%s takes a %s, not nothing", row->name,
				    row->argument);
		*(const char **)field = text;
		return 0;
	case KIND_MAC:
		if (netfront_parse_mac(text, field))
			return fail(error, size,
				    "%s takes an address like 00:16:3e:01:02:03, "
				    "not '%s'",
				    row->name, text);
		return 0;
	case KIND_LOG_LEVEL:
		if (log_parse_level(text, field))
			return fail(error, size, "%s takes error, warn, info or debug, not '%s'",
				    row->name, text);
		return 0;
	}
	return -EINVAL;
}

/* "--name" or "--name=value". */
static const struct option_row *find_row(const char *word, const char **value)
{
	size_t len = strcspn(word, "=");

	*value = word[len] ? word + len + 1 : NULL;
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		if (strlen(rows[i].name) == len && !strncmp(rows[i].name, word, len))
			return &rows[i];
	}
	return NULL;
}

static int read_words(int argc, char *const argv[], struct options *options, char *error,
		      size_t size)
{
	for (int i = 1; i < argc; i++) {
		const char *value;
		const struct option_row *row = find_row(argv[i], &value);
		int err;

		if (!row)
			return fail(error, size, "unknown option '%s' (see --help)", argv[i]);
		if (!row->argument && value)
			return fail(error, size, "%s takes no value", row->name);
		if (row->argument && !value && ++i < argc)
			value = argv[i];
		if (row->argument && !value)
			return fail(error, size, "%s needs a %s", row->name, row->argument);
		err = set_field(row, options, value, error, size);
		if (err)
			return err;
	}
	return 0;
}

static int check_together(const struct options *o, char *error, size_t size)
{
	bool load = o->load.source || o->load.sink || o->load.echo;

	if (!o->tap && !load)
		return fail(error, size,
			    "nothing to connect the vif to: give --tap NAME, or "
			    "--source, --sink or --echo (see --help)");
	if (o->tap && load)
		return fail(error, size, "--tap excludes --source, --sink and --echo");
	if (o->load.echo && (o->load.source || o->load.sink))
		return fail(error, size, "--echo excludes --source and --sink");
	if (o->up && !o->tap)
		return fail(error, size, "--up goes with --tap");
	if (!o->load.source && (o->load.nr_frames || o->load.rate_pps))
		return fail(error, size, "--count and --rate go with --source");
	if (!o->params.features.sg_rx && o->load.source && o->load.size_bytes > NETFRONT_PAGE_BYTES)
		return fail(error, size, "--no-sg allows frames of at most %u bytes",
			    NETFRONT_PAGE_BYTES);
	return 0;
}

int options_parse(int argc, char *const argv[], struct options *options, char *error,
		  size_t error_size)
{
	int err;

	*options = (struct options){
		.params.features = {.sg_tx = true,
				    .sg_rx = true,
				    .rx_notify = true,
				    .split_evtchn = true},
		.load = {.size_bytes = 1500, .dst = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff}},
		.log_level = LOG_LEVEL_INFO,
	};
	err = read_words(argc, argv, options, error, error_size);
	if (err)
		return err;
	options->params.features.sg_tx = options->params.features.sg_rx;
	if (options->help || options->version)
		return 0;
	return check_together(options, error, error_size);
}

void options_help(FILE *out)
{
	fputs("Usage: netfront [--vif N] --tap NAME [--up] | --source | --sink | --echo  "
	      "[OPTION...]\n"
	      "Drives a Xen virtual network interface of this domain from userspace.\n\n",
	      out);
	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		char left[32];

		snprintf(left, sizeof(left), "%s %s", rows[i].name,
			 rows[i].argument ? rows[i].argument : "");
		fprintf(out, "  %-22s %s\n", left, rows[i].help);
	}
}
