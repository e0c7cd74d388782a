/* SPDX-License-Identifier: MIT */
/* xen_logger.c: a xentoollog consumer that forwards to common/log. See xen_logger.h. */
#include "common/xen_logger.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

static void forward(struct xentoollog_logger *logger, xentoollog_level level, int errnoval,
		    const char *context, const char *format, va_list args)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	log_limited(&limit, LOG_LEVEL_DEBUG, "%s: %s%s%s", context ? context : "xen", text,
		    errnoval > 0 ? ": " : "", errnoval > 0 ? strerror(errnoval) : "");
}

static void keep(struct xentoollog_logger *logger)
{
}

struct xentoollog_logger *xen_logger(void)
{
	static struct xentoollog_logger logger = {.vmessage = forward, .destroy = keep};

	return &logger;
}
