/* SPDX-License-Identifier: MIT */
/*
 * hotplug.h: runs a network hotplug script the way libxl does, with its environment and its limit.
 */
#ifndef GRANT_HOTPLUG_H
#define GRANT_HOTPLUG_H

#include <stddef.h>

/* LIBXL_HOTPLUG_TIMEOUT of libxl_internal.h. */
#define HOTPLUG_TIMEOUT_SEC 40

struct hotplug_call {
	const char *script;	/* absolute path */
	const char *action;	/* "online" or "offline" */
	const char *gatewaydev; /* "" for none */
	unsigned domid;
	unsigned handle;
	unsigned timeout_sec;
};

/**
 * hotplug_run() - run the script and wait for its end
 *
 * The script inherits the caller's environment, XENSTORED_PATH among it, and stderr as its stdout.
 * When the limit is over, it and what it started is killed. Blocks.
 * Return: 0; -ETIMEDOUT; -ECHILD if it ended with a status other than 0 (or a signal); -errno.
 */
int hotplug_run(const struct hotplug_call *call);

/**
 * hotplug_find() - the absolute path of @script
 * @script: a path, or a name to look for; "" is vif-bridge
 *
 * A name is looked for in the build tree this program runs from, if it runs from one, then among
 * the installed scripts, then in Xen's /etc/xen/scripts. Return: 0, -ENOENT or -ENAMETOOLONG.
 */
int hotplug_find(char *path, size_t size, const char *script);

#endif
