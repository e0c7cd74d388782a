/* SPDX-License-Identifier: MIT */
/* control.c: the machine as a toolstack sees it: requests of the control connection, from dom0. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "grant/client.h"
#include "grant/xenemu.h"

struct xenemu_control {
	struct client client;
};

static const char *const fault_names[HV_NR_FAULTS] = {
	[HV_FAULT_COPY] = "copy",
	[HV_FAULT_MAP] = "map",
	[HV_FAULT_EVENT_LOST] = "event-lost",
	[HV_FAULT_EVENT_SPURIOUS] = "event-spurious",
	[HV_FAULT_STORE_EAGAIN] = "store-eagain",
	[HV_FAULT_STORE_EACCES] = "store-eacces",
	[HV_FAULT_STORE_DELAY] = "store-delay",
};

/* In the order of struct hv_stats. */
static const char *const stat_names[] = {
	"domains",     "dying",		"connections",	      "ports",
	"map_groups",  "pins",		"shared_pages",	      "quarantined_pages",
	"store_nodes", "store_watches", "store_transactions", "store_connections",
};
BUILD_ASSERT(ARRAY_SIZE(stat_names) == XENEMU_NR_STATS);
BUILD_ASSERT(sizeof(struct hv_stats) == XENEMU_NR_STATS * sizeof(uint32_t));

int xenemu_control_open(const char *rundir, struct xenemu_control **result)
{
	struct xenemu_control *control = calloc(1, sizeof(*control));
	struct client_fds fds;
	int err;

	if (!control)
		return -ENOMEM;
	err = client_open_control(&control->client, rundir, &fds);
	if (err) {
		free(control);
		return err;
	}
	client_close_fds(&fds);
	*result = control;
	return 0;
}

void xenemu_control_close(struct xenemu_control *control)
{
	if (!control)
		return;
	client_close(&control->client);
	free(control);
}

int xenemu_control_fd(const struct xenemu_control *control)
{
	return control->client.fd;
}

static int call(struct xenemu_control *control, struct hv_msg *msg, enum hv_op op)
{
	msg->op = op;
	msg->nr = 0;
	return client_call(&control->client, msg, NULL);
}

int xenemu_domain_create(struct xenemu_control *control, const char *name, bool lifetime,
			 domid_t *domid)
{
	struct hv_msg msg = {.u.domain = {.lifetime = lifetime}};
	int err;

	if (strlen(name) >= sizeof(msg.u.domain.name))
		return -EINVAL;
	strcpy(msg.u.domain.name, name);
	err = call(control, &msg, HV_DOMAIN_CREATE);
	if (!err)
		*domid = (domid_t)msg.u.domain.domid;
	return err;
}

int xenemu_domain_unpause(struct xenemu_control *control, domid_t domid)
{
	struct hv_msg msg = {.u.domain = {.domid = domid}};

	return call(control, &msg, HV_DOMAIN_UNPAUSE);
}

int xenemu_domain_destroy(struct xenemu_control *control, domid_t domid)
{
	struct hv_msg msg = {.u.domain = {.domid = domid}};

	return call(control, &msg, HV_DOMAIN_DESTROY);
}

int xenemu_domain_wait(struct xenemu_control *control, domid_t domid)
{
	struct hv_msg msg = {.u.domain = {.domid = domid}};

	return call(control, &msg, HV_DOMAIN_WAIT);
}

int xenemu_domain_next(struct xenemu_control *control, domid_t from,
		       struct xenemu_domain_info *info)
{
	struct hv_msg msg = {.u.domain = {.domid = from}};
	int err = call(control, &msg, HV_DOMAIN_INFO);

	if (err)
		return err;
	info->domid = (domid_t)msg.u.domain.domid;
	info->pid = msg.u.domain.pid;
	info->building = msg.u.domain.building;
	msg.u.domain.name[sizeof(msg.u.domain.name) - 1] = '\0';
	strcpy(info->name, msg.u.domain.name);
	return 0;
}

int xenemu_domain_find(struct xenemu_control *control, const char *name,
		       struct xenemu_domain_info *info)
{
	char *end;
	unsigned long domid = strtoul(name, &end, 10);
	bool number = *name && !*end && domid < DOMID_FIRST_RESERVED;
	unsigned from = number ? (unsigned)domid : 0;

	while (!xenemu_domain_next(control, (domid_t)from, info)) {
		if (number)
			return info->domid == domid ? 0 : -ESRCH;
		if (!strcmp(info->name, name) && !info->building)
			return 0;
		from = info->domid + 1U;
	}
	return -ESRCH;
}

int xenemu_get_stats(struct xenemu_control *control, struct xenemu_stats stats[XENEMU_NR_STATS])
{
	struct hv_msg msg = {.nr = 0};
	uint32_t values[XENEMU_NR_STATS];
	int err = call(control, &msg, HV_STATS);

	if (err)
		return err;
	memcpy(values, &msg.u.stats, sizeof(values));
	for (unsigned i = 0; i < XENEMU_NR_STATS; i++)
		stats[i] = (struct xenemu_stats){stat_names[i], values[i]};
	return 0;
}

const char *xenemu_fault_name(unsigned fault)
{
	return fault < HV_NR_FAULTS ? fault_names[fault] : NULL;
}

int xenemu_set_fault(struct xenemu_control *control, const char *name, uint32_t value)
{
	struct hv_msg msg = {.u.fault = {.value = value}};

	while (msg.u.fault.fault < HV_NR_FAULTS && strcmp(fault_names[msg.u.fault.fault], name))
		msg.u.fault.fault++;
	if (msg.u.fault.fault == HV_NR_FAULTS)
		return -EINVAL;
	return call(control, &msg, HV_FAULT);
}
