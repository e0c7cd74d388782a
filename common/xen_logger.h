/* SPDX-License-Identifier: MIT */
/*
 * xen_logger.h: what Xen's libraries have to say goes to our log, at level debug and rate limited:
 * whoever called them reports the error in words of its own, and a guest can provoke theirs (a bad
 * ring reference is one line each time). Without it they write to stderr, unbounded.
 */
#ifndef COMMON_XEN_LOGGER_H
#define COMMON_XEN_LOGGER_H

#include <xentoollog.h>

/** xen_logger() - the logger to open library handles with. Any thread; never destroyed. */
struct xentoollog_logger *xen_logger(void);

#endif
