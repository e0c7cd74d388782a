/* SPDX-License-Identifier: MIT */
/* xtl.c: a xentoollog consumer that forwards to common/log. See xtl.h. */
#include "netback/xtl.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/log.h"

static enum log_level level_of(xentoollog_level level)
{
	if (level >= XTL_ERROR)
		return LOG_LEVEL_ERROR;
	if (level >= XTL_WARN)
		return LOG_LEVEL_WARN;
	return level >= XTL_PROGRESS ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
}

static void forward(struct xentoollog_logger *logger, xentoollog_level level, int errnoval,
		    const char *context, const char *format, va_list args)
{
	static struct log_limit limit = LOG_LIMIT_INIT;
	char text[512];

	vsnprintf(text, sizeof(text), format, args);
	log_limited(&limit, level_of(level), "%s: %s%s%s", context ? context : "xen", text,
		    errnoval > 0 ? ": " : "", errnoval > 0 ? strerror(errnoval) : "");
}

static void keep(struct xentoollog_logger *logger)
{
}

struct xentoollog_logger *netback_xtl(void)
{
	static struct xentoollog_logger logger = {.vmessage = forward, .destroy = keep};

	return &logger;
}
