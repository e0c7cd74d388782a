/* SPDX-License-Identifier: MIT */
/*
 * privileges.h: what the process may do, and giving up what it need not. Capabilities are a
 * thread's: this comes before any thread is made, which then has no more than its maker.
 */
#ifndef NETBACK_PRIVILEGES_H
#define NETBACK_PRIVILEGES_H

#include <stdbool.h>

/** privileges_may_make_taps() - has the process CAP_NET_ADMIN (in its network's namespace)? */
bool privileges_may_make_taps(void);

/**
 * privileges_drop() - keep CAP_NET_ADMIN, if it is there and @taps; drop every other capability
 * for good, and with it the way to get one back by exec
 *
 * What a root without capabilities may still do is what root's files allow: open Xen's devices,
 * xenstored's socket, its own log. Return: 0 or -errno.
 */
int privileges_drop(bool taps);

#endif
