/* SPDX-License-Identifier: MIT */
/*
 * xtl.h: what Xen's libraries have to say goes to our log, rate limited: a guest can provoke their
 * errors (a bad ring reference is one line each time).
 */
#ifndef NETBACK_XTL_H
#define NETBACK_XTL_H

#include <xentoollog.h>

/** netback_xtl() - the logger to open library handles with. Any thread; never destroyed. */
struct xentoollog_logger *netback_xtl(void);

#endif
