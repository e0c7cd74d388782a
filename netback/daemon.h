/* SPDX-License-Identifier: MIT */
/*
 * daemon.h: a process's way into the background, and its pid file. Before and after everything
 * else; knows nothing of networking or Xen.
 */
#ifndef NETBACK_DAEMON_H
#define NETBACK_DAEMON_H

/**
 * daemon_fork() - become a daemon whose start can still fail
 *
 * The caller goes on in the child, in a session of its own, with stderr still the terminal's. The
 * parent waits: it exits 0 when the child calls daemon_ready(), 1 if the child ends before.
 * Return: in the child, a descriptor for daemon_ready(); -errno in the one process there is then.
 */
int daemon_fork(void);

/** daemon_ready() - let the parent exit with 0; standard streams become /dev/null. */
int daemon_ready(int fd);

/** daemon_write_pid() - create or replace @path. Return: 0 or -errno. */
int daemon_write_pid(const char *path);

#endif
