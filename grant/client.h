/* SPDX-License-Identifier: MIT */
/*
 * client.h: what the library's handles have in common: one connection to the machine each, calls on
 * it, and the errors they log. Part of libxengnttab, libxenevtchn and libxenemu; hidden in the
 * shared ones.
 */
#ifndef GRANT_CLIENT_H
#define GRANT_CLIENT_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "grant/hypercall.h"

struct xentoollog_logger;

/* libxentoolcore's interface to the libraries of Xen's own tree: versioned, but without a header.
 */
struct toolcore_handle {
	int (*restrict_callback)(struct toolcore_handle *handle, domid_t domid);
	struct {
		struct toolcore_handle *next, **prev;
	} entry;
};

struct client {
	int fd;
	pid_t pid;	      /* who opened it: a forked child must not end it for its parent */
	pthread_mutex_t lock; /* one call at a time */
	enum hv_kind kind;
	const struct hv_machine_page *page;
	domid_t domid;
	struct xentoollog_logger *logger, *own_logger;
	struct toolcore_handle toolcore;
	bool restricted; /* xentoolcore_restrict_all(): no new operation */
	bool registered;
};

/* File descriptors that came with a reply; the caller owns them. */
struct client_fds {
	int fd[HV_MAX_FDS];
	unsigned nr;
};

/**
 * client_open() - connect and say what for
 * @restrict_callback: for xentoolcore_restrict_all()
 * @reply: HV_OPEN's; @fds: without the machine page
 *
 * May block. Logs. Return: 0 or -errno.
 */
int client_open(struct client *client, enum hv_kind kind, struct xentoollog_logger *logger,
		int (*restrict_callback)(struct toolcore_handle *handle, domid_t domid),
		struct hv_msg *reply, struct client_fds *fds);

/** client_open_control() - a control connection of dom0; never logs. 0 or -errno. */
int client_open_control(struct client *client, const char *rundir, struct client_fds *fds);

/** client_close() - end the connection; back when the machine has released all. */
void client_close(struct client *client);

/**
 * client_call() - one request and its reply, in place
 * @fds: NULL: none expected (and closed if they come)
 *
 * May block. Return: the reply's status, or -errno of the connection.
 */
int client_call(struct client *client, struct hv_msg *msg, struct client_fds *fds);

void client_log(const struct client *client, int err, const char *fmt, ...) __printf(3, 4);

void client_close_fds(struct client_fds *fds);

/** client_restrict() - the callback of handles that do nothing more once restricted. */
int client_restrict(struct toolcore_handle *handle, domid_t domid);

#endif
