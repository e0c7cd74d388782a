/* SPDX-License-Identifier: MIT */
/*
 * notify.h: tells the service manager what the daemon is about (sd_notify(3) describes the
 * protocol: one datagram of NAME=VALUE lines to the socket that NOTIFY_SOCKET names). Where there
 * is none these calls do nothing. Control thread only; never block.
 */
#ifndef NETBACK_NOTIFY_H
#define NETBACK_NOTIFY_H

/** notify_ready() - it serves; also the end of notify_reloading(). @status: for people. */
void notify_ready(const char *status);
/** notify_reloading() - it opens its log anew. */
void notify_reloading(void);
/** notify_stopping() - it has begun to leave. */
void notify_stopping(void);

#endif
