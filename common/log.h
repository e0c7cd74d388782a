/* SPDX-License-Identifier: MIT */
/*
 * log.h: one log per process, to stderr, a file or syslog.
 *
 * Safe from any thread. Text that came from a guest must be passed through log_escape() first: a
 * guest's bytes never reach the log raw. Anything a guest can trigger repeatedly uses
 * log_limited(), so that a guest cannot fill the disk.
 */
#ifndef COMMON_LOG_H
#define COMMON_LOG_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/compiler.h"

enum log_level {
	LOG_LEVEL_ERROR,
	LOG_LEVEL_WARN,
	LOG_LEVEL_INFO,
	LOG_LEVEL_DEBUG,
};

/** One call site's allowance: at most @burst lines each @interval seconds. */
struct log_limit {
	unsigned burst;
	unsigned interval_sec;
	/* Atomic: the window's start in seconds, and the lines printed and suppressed in it. */
	uint32_t window_sec;
	unsigned printed;
	unsigned suppressed;
};

#define LOG_LIMIT_INIT                                                                            \
	{                                                                                          \
		.burst = 10, .interval_sec = 5                                                     \
	}

/**
 * log_open() - say where log lines go
 * @ident: program name, in front of each line (not copied: a literal, or argv[0])
 * @path: file to append to; NULL for stderr; "syslog" for the system's log
 *
 * Return: 0, or -errno of open(2). Not needed before the first line: the default is stderr.
 */
int log_open(const char *ident, const char *path);

/** log_reopen() - open the log file again under its name (SIGHUP after rotation). 0 or -errno. */
int log_reopen(void);

/** log_close() - flush and close; lines logged later go to stderr. */
void log_close(void);

void log_set_level(enum log_level level);
enum log_level log_get_level(void);

/** log_parse_level() - "error", "warn", "info", "debug". Return: 0 or -EINVAL. */
int log_parse_level(const char *name, enum log_level *level);

void log_at(enum log_level level, const char *fmt, ...) __printf(2, 3);

/**
 * log_limited() - log at most @limit->burst lines a window; the next line of a later window says
 * how many were left out.
 */
void log_limited(struct log_limit *limit, enum log_level level, const char *fmt, ...)
	__printf(3, 4);

#define log_err(...)   log_at(LOG_LEVEL_ERROR, __VA_ARGS__)
#define log_warn(...)  log_at(LOG_LEVEL_WARN, __VA_ARGS__)
#define log_info(...)  log_at(LOG_LEVEL_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_LEVEL_DEBUG, __VA_ARGS__)

/**
 * log_escape() - make hostile text printable
 * @dst: result, always terminated; unprintable bytes appear as \xNN
 * @size: size of @dst in bytes, at least 1; the text is cut to fit
 * @src: @len bytes, need not be terminated
 *
 * Return: @dst.
 */
char *log_escape(char *dst, size_t size, const char *src, size_t len);

#endif
