/* SPDX-License-Identifier: MIT */
/* main.c: netfront's life: options, signals, timers, statistics. Everything else is the library's.
 */
#include <config.h>

#include <errno.h>
#include <event2/event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "netfront/options.h"
#include "netfront/stats.h"

#define EXIT_USAGE 2

enum { ON_TERM, ON_INT, ON_USR1, ON_END, ON_INTERVAL, NR_EVENTS };

struct program {
	struct options options;
	struct event_base *base;
	struct netfront_side *side;
	struct netfront *nf;
	struct event *events[NR_EVENTS];
};

static void leave(evutil_socket_t fd, short what, void *arg)
{
	struct program *program = arg;

	netfront_leave(program->nf);
}

static int save_stats(struct program *program)
{
	const char *path = program->options.stats_file;
	int err = path ? stats_write(program->nf, path) : 0;

	if (err)
		log_err("cannot write statistics to %s: %s", path, strerror(-err));
	return err;
}

static void asked_for_stats(evutil_socket_t fd, short what, void *arg)
{
	save_stats(arg);
}

static void log_stats(struct program *program)
{
	unsigned nr_queues;
	const struct netfront_queue *queue = netfront_queues(program->nf, &nr_queues);

	for (unsigned i = 0; i < nr_queues; i++, queue++)
		log_info("queue %u: tx %llu packets %llu bytes, rx %llu packets %llu bytes", i,
			 (unsigned long long)queue->tx_counters.packets,
			 (unsigned long long)queue->tx_counters.bytes,
			 (unsigned long long)queue->rx_counters.packets,
			 (unsigned long long)queue->rx_counters.bytes);
}

static void interval(evutil_socket_t fd, short what, void *arg)
{
	struct program *program = arg;

	if (program->options.stats_file)
		save_stats(program);
	else
		log_stats(program);
}

static int add_event(struct program *program, int which, int signal_nr, short what, unsigned sec,
		     event_callback_fn fn)
{
	struct timeval tv = {(time_t)sec, 0};
	struct event *event = event_new(program->base, signal_nr, what, fn, program);

	program->events[which] = event;
	return event && !event_add(event, sec ? &tv : NULL) ? 0 : -ENOMEM;
}

static int add_events(struct program *program)
{
	const struct options *o = &program->options;
	int err = add_event(program, ON_TERM, SIGTERM, EV_SIGNAL | EV_PERSIST, 0, leave);

	if (!err)
		err = add_event(program, ON_INT, SIGINT, EV_SIGNAL | EV_PERSIST, 0, leave);
	if (!err)
		err = add_event(program, ON_USR1, SIGUSR1, EV_SIGNAL | EV_PERSIST, 0,
				asked_for_stats);
	if (!err && o->exit_after_sec)
		err = add_event(program, ON_END, -1, 0, o->exit_after_sec, leave);
	if (!err && o->stats_interval_sec)
		err = add_event(program, ON_INTERVAL, -1, EV_PERSIST, o->stats_interval_sec,
				interval);
	return err;
}

static int start(struct program *program)
{
	const struct options *o = &program->options;
	int err;

	program->base = event_base_new();
	if (!program->base)
		return -ENOMEM;
	if (o->tap)
		err = side_tap_new(o->tap, o->up, &program->side);
	else
		err = side_load_new(&o->load, &program->side);
	if (!err)
		err = netfront_new(&o->params, program->base, program->side, &program->nf);
	return err ? err : add_events(program);
}

static void stop(struct program *program)
{
	for (int i = 0; i < NR_EVENTS; i++) {
		if (program->events[i])
			event_free(program->events[i]);
	}
	netfront_free(program->nf);
	netfront_side_free(program->side);
	if (program->base)
		event_base_free(program->base);
}

/* Return: the exit status. */
static int run(struct program *program)
{
	int err = start(program);

	if (err == -ENOMEM)
		log_err("out of memory");
	if (!err) {
		err = netfront_run(program->nf);
		if (save_stats(program) && !err)
			err = -EIO;
		if (program->options.json && stats_print(program->nf) && !err)
			err = -EIO;
	}
	stop(program);
	return err ? EXIT_FAILURE : EXIT_SUCCESS;
}

int main(int argc, char *argv[])
{
	struct program program = {.base = NULL};
	char error[256];

	if (options_parse(argc, argv, &program.options, error, sizeof(error))) {
		fprintf(stderr, "netfront: %s\n", error);
		return EXIT_USAGE;
	}
	if (program.options.help) {
		options_help(stdout);
		return EXIT_SUCCESS;
	}
	if (program.options.version) {
		puts("netfront (" PACKAGE_NAME ") " PACKAGE_VERSION);
		return EXIT_SUCCESS;
	}
	signal(SIGPIPE, SIG_IGN);
	log_open("netfront", NULL);
	log_set_level(program.options.log_level);
	return run(&program);
}
