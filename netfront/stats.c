/* SPDX-License-Identifier: MIT */
/* stats.c: a frontend's counters as JSON; writes files, never touches a ring. */
#include "netfront/stats.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static json_t *counter(uint64_t value)
{
	return json_integer((json_int_t)value);
}

static json_t *counters_json(const struct netfront_counters *c)
{
	return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "packets", counter(c->packets), "bytes",
			 counter(c->bytes), "slots", counter(c->slots), "dropped",
			 counter(c->dropped), "errors", counter(c->errors), "notifies",
			 counter(c->notifies));
}

static json_t *rx_json(const struct netfront_counters *c, uint64_t bad, uint64_t missing)
{
	json_t *rx = counters_json(c);

	json_object_set_new(rx, "bad", counter(bad));
	json_object_set_new(rx, "missing", counter(missing));
	return rx;
}

static json_t *queue_json(const struct netfront_queue *queue)
{
	return json_pack("{s:o, s:o, s:o, s:o}", "id", counter(queue->id), "tx",
			 counters_json(&queue->tx_counters), "rx",
			 rx_json(&queue->rx_counters, queue->nr_rx_bad, queue->nr_rx_missing),
			 "events", counter(queue->nr_events));
}

static void add(struct netfront_counters *sum, const struct netfront_counters *c)
{
	sum->packets += c->packets;
	sum->bytes += c->bytes;
	sum->slots += c->slots;
	sum->dropped += c->dropped;
	sum->errors += c->errors;
	sum->notifies += c->notifies;
}

static json_t *totals_json(const struct netfront_queue *queues, unsigned nr_queues)
{
	struct netfront_counters tx = {0}, rx = {0};
	uint64_t bad = 0, missing = 0;

	for (unsigned i = 0; i < nr_queues; i++) {
		add(&tx, &queues[i].tx_counters);
		add(&rx, &queues[i].rx_counters);
		bad += queues[i].nr_rx_bad;
		missing += queues[i].nr_rx_missing;
	}
	return json_pack("{s:o, s:o}", "tx", counters_json(&tx), "rx", rx_json(&rx, bad, missing));
}

static json_t *features_json(const struct netfront_features *f)
{
	return json_pack("{s:b, s:b, s:b, s:b}", "sg", f->sg_rx, "backend-sg", f->sg_tx,
			 "rx-notify", f->rx_notify, "split-event-channels", f->split_evtchn);
}

json_t *stats_json(struct netfront *nf)
{
	unsigned nr_queues;
	struct netfront_queue *queues = netfront_queues(nf, &nr_queues);
	json_t *list = json_array();

	/* Answers not looked at yet count too: a reader compares with the backend's. */
	netfront_refresh(nf);
	for (unsigned i = 0; i < nr_queues; i++)
		json_array_append_new(list, queue_json(&queues[i]));
	return json_pack("{s:o, s:s, s:o, s:o, s:o}", "vif", counter(netfront_vif(nf)), "state",
			 xenbus_state_name(netfront_state(nf)), "features",
			 features_json(netfront_agreed(nf)), "queues", list, "totals",
			 totals_json(queues, nr_queues));
}

static int write_file(json_t *doc, int fd)
{
	if (json_dumpfd(doc, fd, JSON_INDENT(2)) || write(fd, "\n", 1) != 1)
		return errno ? -errno : -EIO;
	return 0;
}

int stats_write(struct netfront *nf, const char *path)
{
	json_t *doc = stats_json(nf);
	char tmp[4096];
	int fd, err;

	if (!doc)
		return -ENOMEM;
	err = snprintf(tmp, sizeof(tmp), "%s.XXXXXX", path) >= (int)sizeof(tmp) ? -ENAMETOOLONG : 0;
	fd = err ? -1 : mkstemp(tmp);
	if (fd < 0) {
		err = err ? err : -errno;
		goto out_doc;
	}
	err = write_file(doc, fd);
	if (close(fd) && !err)
		err = -errno;
	if (!err && rename(tmp, path))
		err = -errno;
	if (err)
		unlink(tmp);
out_doc:
	json_decref(doc);
	return err;
}

int stats_print(struct netfront *nf)
{
	json_t *doc = stats_json(nf);
	int err;

	if (!doc)
		return -ENOMEM;
	err = json_dumpf(doc, stdout, JSON_COMPACT) || putchar('\n') == EOF || fflush(stdout);
	json_decref(doc);
	return err ? -EIO : 0;
}
