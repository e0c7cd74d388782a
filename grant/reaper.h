/* SPDX-License-Identifier: MIT */
/* reaper.h: what the process that `xl create` leaves behind does for its domain. */
#ifndef GRANT_REAPER_H
#define GRANT_REAPER_H

#include <stdint.h>
#include <xen/xen.h>

/**
 * reaper_fork() - leave a process in dom0 that cleans the store up when the domain is gone
 * @close_fd: a descriptor the reaper must not keep
 *
 * The reaper is nobody's child afterwards. Return: 0 or -errno.
 */
int reaper_fork(const char *rundir, domid_t domid, int close_fd);

#endif
