/* SPDX-License-Identifier: MIT */
/*
 * xsd_main.c: the embedded xenstored alone, for tests: not installed.
 *
 * Prints "ready" when its sockets are there, and its statistics on SIGUSR1 and at the end.
 */
#include <errno.h>
#include <event2/event.h>
#include <getopt.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/log.h"
#include "xenstore/xsd.h"

static const char usage_text[] =
	"usage: xsd-standalone --socket PATH [--domain-socket D=PATH]... [options]\n"
	"  --socket PATH            dom0's socket\n"
	"  --domain-socket D=PATH   a socket of domain D\n"
	"  --eagain-every N         every Nth commit conflicts\n"
	"  --eacces-every N         every Nth read is refused\n"
	"  --delay-usec N           replies are held back\n";

static void print_stats(const struct xsd *xsd)
{
	struct xsd_stats stats;

	xsd_get_stats(xsd, &stats);
	printf("nodes %u watches %u transactions %u connections %u\n", stats.nr_nodes,
	       stats.nr_watches, stats.nr_transactions, stats.nr_connections);
	fflush(stdout);
}

static void on_stats(evutil_socket_t fd, short what, void *arg)
{
	print_stats(arg);
}

static void on_end(evutil_socket_t fd, short what, void *arg)
{
	event_base_loopbreak(arg);
}

static int usage(void)
{
	fputs(usage_text, stderr);
	return 2;
}

static int number(const char *text, unsigned *result)
{
	char *end;
	unsigned long n = strtoul(text, &end, 10);

	if (*text < '0' || *text > '9' || *end || n > 1000000000)
		return -EINVAL;
	*result = (unsigned)n;
	return 0;
}

static int listen_at(struct xsd *xsd, const char *path, unsigned domid)
{
	int ret = xsd_listen(xsd, path, domid);

	if (ret)
		fprintf(stderr, "xsd-standalone: %s: %s\n", path, strerror(-ret));
	return ret;
}

/* "D=PATH": the domain's socket, and the domain is up. */
static int add_domain(struct xsd *xsd, char *arg)
{
	char *path = strchr(arg, '=');
	unsigned domid;

	if (!path)
		return -EINVAL;
	*path++ = '\0';
	if (number(arg, &domid))
		return -EINVAL;
	if (listen_at(xsd, path, domid))
		exit(1);
	return xsd_introduce(xsd, domid);
}

static int parse(struct xsd *xsd, int argc, char **argv)
{
	static const struct option options[] = {
		{"socket", required_argument, NULL, 's'},
		{"domain-socket", required_argument, NULL, 'd'},
		{"eagain-every", required_argument, NULL, 'a'},
		{"eacces-every", required_argument, NULL, 'c'},
		{"delay-usec", required_argument, NULL, 'u'},
		{NULL, 0, NULL, 0},
	};
	struct xsd_faults faults = {0};
	bool listening = false;
	int opt, ret = 0;

	while (!ret && (opt = getopt_long(argc, argv, "", options, NULL)) != -1) {
		switch (opt) {
		case 's':
			if (listen_at(xsd, optarg, 0))
				exit(1);
			listening = true;
			break;
		case 'd':
			ret = add_domain(xsd, optarg);
			break;
		case 'a':
			ret = number(optarg, &faults.eagain_every);
			break;
		case 'c':
			ret = number(optarg, &faults.eacces_every);
			break;
		case 'u':
			ret = number(optarg, &faults.delay_usec);
			break;
		default:
			ret = -EINVAL;
		}
	}
	xsd_set_faults(xsd, &faults);
	return ret || optind != argc || !listening ? -EINVAL : 0;
}

int main(int argc, char **argv)
{
	static const int ends[] = {SIGTERM, SIGINT};
	struct event_base *base = event_base_new();
	const struct xsd_quota quota = XSD_QUOTA_DEFAULT;
	struct xsd *xsd = base ? xsd_new(base, &quota, NULL) : NULL;
	struct event *signals[3] = {NULL};
	unsigned i;
	int ret = 1;

	log_open("xsd-standalone", NULL);
	if (!xsd) {
		fputs("xsd-standalone: out of memory\n", stderr);
		goto out;
	}
	if (parse(xsd, argc, argv)) {
		ret = usage();
		goto out;
	}
	for (i = 0; i < ARRAY_SIZE(ends); i++)
		signals[i] = evsignal_new(base, ends[i], on_end, base);
	signals[i] = evsignal_new(base, SIGUSR1, on_stats, xsd);
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		event_add(signals[i], NULL);
	puts("ready");
	fflush(stdout);
	event_base_dispatch(base);
	print_stats(xsd);
	ret = 0;
out:
	for (i = 0; i < ARRAY_SIZE(signals); i++)
		if (signals[i])
			event_free(signals[i]);
	xsd_free(xsd);
	if (base)
		event_base_free(base);
	return ret;
}
