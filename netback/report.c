/* SPDX-License-Identifier: MIT */
/*
 * report.c: what netbackctl shows, as JSON. tx is what the guest transmits, rx what it receives.
 */
#include "netback/report.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/control.h"

static json_t *state_json(enum xenbus_state state)
{
	return json_string(xenbus_state_name(state));
}

static json_t *mac_json(const uint8_t mac[6])
{
	return json_sprintf("%02x:%02x:%02x:%02x:%02x:%02x", mac[0], mac[1], mac[2], mac[3], mac[4],
			    mac[5]);
}

/* Counters are 64 bits wide and JSON's integers here are signed: they do not get that far. */
static json_t *counter_json(uint64_t value)
{
	return json_integer((json_int_t)value);
}

/* The first connected queue's group, or -1. */
static int vif_group(const struct xenvif *vif)
{
	for (unsigned i = 0; i < vif->nr_queues; i++) {
		int group = xenvif_queue_group(vif->queues[i]);

		if (group >= 0)
			return group;
	}
	return -1;
}

static json_t *vif_groups_json(const struct xenvif *vif)
{
	json_t *groups = json_array();

	for (unsigned i = 0; i < vif->nr_queues; i++) {
		int group = xenvif_queue_group(vif->queues[i]);

		if (group >= 0)
			json_array_append_new(groups, json_integer(group));
	}
	return groups;
}

static json_t *drops_json(const struct xenvif_stats *stats)
{
	json_t *drops = json_object();

	for (unsigned i = 0; i < NR_XENVIF_DROPS; i++)
		json_object_set_new(drops, xenvif_drop_name((enum xenvif_drop)i),
				    counter_json(stats->drops[i]));
	return drops;
}

static uint64_t total_drops(const struct xenvif_stats *stats)
{
	uint64_t total = 0;

	for (unsigned i = 0; i < NR_XENVIF_DROPS; i++)
		total += stats->drops[i];
	return total;
}

static json_t *flow_json(uint64_t packets, uint64_t bytes, uint64_t slots, uint64_t notifies)
{
	return json_pack("{s:o,s:o,s:o,s:o}", "packets", counter_json(packets), "bytes",
			 counter_json(bytes), "slots", counter_json(slots), "notifies",
			 counter_json(notifies));
}

static json_t *queue_stats_json(const struct xenvif *vif, unsigned id)
{
	const struct xenvif_queue *queue = vif->queues[id];
	struct xenvif_stats stats;

	xenvif_queue_get_stats(queue, &stats);
	return json_pack(
		"{s:i,s:i,s:o,s:o,s:o,s:o,s:o}", "id", (int)id, "group", xenvif_queue_group(queue),
		"tx",
		flow_json(stats.tx_packets, stats.tx_bytes, stats.tx_slots, stats.tx_notifies),
		"rx",
		flow_json(stats.rx_packets, stats.rx_bytes, stats.rx_slots, stats.rx_notifies),
		"drops", drops_json(&stats), "events", counter_json(stats.events), "rx_stalls",
		counter_json(stats.rx_stalls));
}

static json_t *vif_stats_json(const struct xenvif *vif)
{
	struct xenvif_stats sum;
	json_t *queues = json_array();

	for (unsigned i = 0; i < vif->nr_queues; i++)
		json_array_append_new(queues, queue_stats_json(vif, i));
	xenvif_sum_stats(vif, &sum);
	return json_pack(
		"{s:s,s:I,s:I,s:o,s:i,s:o,s:{s:o,s:o},s:{s:o,s:o},s:o,s:i}", "name", vif->name,
		"domid", (json_int_t)vif->domid, "handle", (json_int_t)vif->handle, "state",
		state_json(vif->view.own), "group", vif_group(vif), "queues", queues, "tx",
		"packets", counter_json(sum.tx_packets), "bytes", counter_json(sum.tx_bytes), "rx",
		"packets", counter_json(sum.rx_packets), "bytes", counter_json(sum.rx_bytes),
		"drops", counter_json(total_drops(&sum)), "errors", (int)vif->nr_errors);
}

static json_t *group_json(const struct netbk_groups *groups, unsigned group)
{
	struct netbk_group_info info;

	netbk_group_info(groups, group, &info);
	return json_pack("{s:i,s:i,s:s,s:i,s:i,s:i,s:o,s:o,s:o}", "group", (int)info.group, "cpu",
			 info.cpu, "worker", worker_kind_name(info.kind), "netfront_count",
			 (int)info.netfront_count, "pending", (int)info.nr_pending, "pending_max",
			 (int)info.nr_pending_max, "copy_batches", counter_json(info.copy_batches),
			 "copy_segments", counter_json(info.copy_segments), "rounds",
			 counter_json(info.rounds));
}

static json_t *report_groups(void *arg, const json_t *args, char *error, size_t size)
{
	const struct control *control = arg;
	json_t *groups = json_array();

	for (unsigned i = 0; i < netbk_groups_count(control->host.groups); i++)
		json_array_append_new(groups, group_json(control->host.groups, i));
	return groups;
}

static json_t *control_json(const struct control *control)
{
	return json_pack(
		"{s:o,s:o,s:o,s:i}", "watch_events", counter_json(control->nr_watch_events),
		"passes", counter_json(control->nr_passes), "evaluations",
		counter_json(control->nr_evaluations), "vifs", (int)vifs_count(&control->vifs));
}

static json_t *report_stats(void *arg, const json_t *args, char *error, size_t size)
{
	const struct control *control = arg;
	json_t *vifs = json_array();

	for (struct xenvif *vif = control->vifs.table; vif; vif = vif->hh.next) {
		if (vif->identified)
			json_array_append_new(vifs, vif_stats_json(vif));
	}
	return json_pack("{s:o,s:o,s:o}", "vifs", vifs, "groups",
			 report_groups(arg, args, error, size), "control", control_json(control));
}

/* A directory that cannot be served yet (a key is missing) is listed too, by its path. */
static json_t *list_entry(const struct xenvif *vif)
{
	return json_pack("{s:s,s:I,s:o,s:o,s:o,s:o,s:s,s:s}", "name",
			 vif->identified ? vif->name : vif->nodename, "domid",
			 (json_int_t)(vif->identified ? vif->domid : vif->key.domid), "frontend",
			 state_json(vif->view.front), "backend", state_json(vif->view.own),
			 "groups", vif_groups_json(vif), "mac", mac_json(vif->mac), "port",
			 port_kind_name(vif->host->port), "error",
			 vif->view.disabled || !vif->identified ? vif->error : "");
}

static json_t *report_list(void *arg, const json_t *args, char *error, size_t size)
{
	const struct control *control = arg;
	json_t *list = json_array();

	for (struct xenvif *vif = control->vifs.table; vif; vif = vif->hh.next)
		json_array_append_new(list, list_entry(vif));
	return list;
}

static json_t *ring_json(const struct xenvif_ring_info *ring)
{
	return json_pack("{s:I,s:I,s:I,s:I,s:I}", "req_prod", (json_int_t)ring->req_prod,
			 "req_cons", (json_int_t)ring->req_cons, "req_event",
			 (json_int_t)ring->req_event, "rsp_prod", (json_int_t)ring->rsp_prod,
			 "rsp_event", (json_int_t)ring->rsp_event);
}

static json_t *queue_show_json(const struct xenvif *vif, unsigned id)
{
	const struct xenvif_queue_params *params = &vif->params[id];
	struct xenvif_ring_info tx, rx;
	json_t *queue = queue_stats_json(vif, id);

	json_object_set_new(queue, "split_event_channels", json_boolean(params->split));
	json_object_set_new(queue, "tx_ring_ref", counter_json(params->tx_ring_ref));
	json_object_set_new(queue, "rx_ring_ref", counter_json(params->rx_ring_ref));
	json_object_set_new(queue, "event_channel_tx", counter_json(params->tx_evtchn));
	json_object_set_new(queue, "event_channel_rx", counter_json(params->rx_evtchn));
	if (!xenvif_queue_rings(vif->queues[id], &tx, &rx)) {
		json_object_set_new(queue, "tx_ring", ring_json(&tx));
		json_object_set_new(queue, "rx_ring", ring_json(&rx));
	}
	return queue;
}

static json_t *offered_json(void)
{
	json_t *offered = json_object();
	const struct xenvif_feature *feature;

	for (feature = xenvif_features_offered; feature->name; feature++)
		json_object_set_new(offered, feature->name, json_integer(feature->value));
	return offered;
}

/* Of the connection there is; null without one. */
static json_t *agreed_json(const struct xenvif *vif)
{
	const struct xenvif_features *features;

	if (!vif->view.connected)
		return json_null();
	features = &vif->params[0].features;
	return json_pack("{s:b,s:b,s:b,s:b,s:b,s:b,s:b,s:i}", "sg", features->sg, "rx_notify",
			 features->rx_notify, "split_event_channels", vif->params[0].split,
			 "csum_ipv4", features->csum_ipv4, "csum_ipv6", features->csum_ipv6,
			 "gso_tcpv4", features->gso_tcpv4, "gso_tcpv6", features->gso_tcpv6, "mtu",
			 (int)features->mtu);
}

static const char *const hotplug_names[] = {
	[HOTPLUG_WAIT] = "waiting",
	[HOTPLUG_READY] = "connected",
	[HOTPLUG_ERROR] = "error",
};

static json_t *show_vif(const struct xenvif *vif)
{
	json_t *show = list_entry(vif);
	json_t *queues = json_array();

	for (unsigned i = 0; i < vif->nr_queues; i++)
		json_array_append_new(queues, queue_show_json(vif, i));
	json_object_set_new(show, "handle", counter_json(vif->handle));
	json_object_set_new(show, "backend_path", json_string(vif->path));
	json_object_set_new(show, "frontend_path", json_string(vif->frontend));
	json_object_set_new(show, "online", json_boolean(vif->view.online));
	json_object_set_new(show, "disabled", json_boolean(vif->view.disabled));
	json_object_set_new(show, "hotplug", json_string(hotplug_names[vif->view.hotplug]));
	json_object_set_new(show, "mtu", counter_json(vif->mtu));
	json_object_set_new(show, "rate_bytes", counter_json(vif->rate.bytes));
	json_object_set_new(show, "rate_interval_usec", counter_json(vif->rate.interval_usec));
	json_object_set_new(show, "connects", counter_json(vif->nr_connects));
	json_object_set_new(show, "errors", counter_json(vif->nr_errors));
	json_object_set_new(show, "last_error", json_string(vif->error));
	json_object_set_new(show, "offered", offered_json());
	json_object_set_new(show, "agreed", agreed_json(vif));
	json_object_set_new(show, "queues", queues);
	return show;
}

static struct xenvif *find(struct control *control, const json_t *args, char *error, size_t size)
{
	const char *name = json_string_value(json_object_get(args, "vif"));
	struct xenvif *vif = name ? vifs_find_name(&control->vifs, name) : NULL;
	char text[64];

	if (!name)
		snprintf(error, size, "which vif?");
	else if (!vif)
		snprintf(error, size, "no vif '%s'; list shows them",
			 log_escape(text, sizeof(text), name, strlen(name)));
	return vif;
}

static json_t *report_show(void *arg, const json_t *args, char *error, size_t size)
{
	struct xenvif *vif = find(arg, args, error, size);

	return vif ? show_vif(vif) : NULL;
}

static json_t *report_move(void *arg, const json_t *args, char *error, size_t size)
{
	struct control *control = arg;
	struct xenvif *vif = find(control, args, error, size);
	const json_t *queue = json_object_get(args, "queue");
	json_int_t group = -1, only = -1;
	int ret = -ENOTCONN;

	if (!vif)
		return NULL;
	if (json_is_integer(json_object_get(args, "group")))
		group = json_integer_value(json_object_get(args, "group"));
	if (group < 0 || group >= (json_int_t)netbk_groups_count(control->host.groups)) {
		snprintf(error, size, "there are groups 0 to %u",
			 netbk_groups_count(control->host.groups) - 1);
		return NULL;
	}
	if (json_is_integer(queue))
		only = json_integer_value(queue);
	for (unsigned i = 0; i < vif->nr_queues; i++) {
		if (only >= 0 && only != (json_int_t)i)
			continue;
		ret = xenvif_queue_move(vif->queues[i], (unsigned)group);
		if (ret)
			break;
	}
	if (ret) {
		snprintf(error, size, "cannot move %s: %s", vif->name,
			 ret == -ENOTCONN ? "no such queue is connected" : strerror(-ret));
		return NULL;
	}
	return list_entry(vif);
}

const struct ctl_command report_commands[] = {
	{"list", report_list},	 {"show", report_show}, {"groups", report_groups},
	{"stats", report_stats}, {"move", report_move}, {NULL, NULL},
};
