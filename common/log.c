/* SPDX-License-Identifier: MIT */
/*
 * log.c: the process's log. A line is formatted on the caller's stack and leaves in one write(2),
 * so lines of different threads do not mix and no lock is held.
 */
#include "common/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#define LINE_BYTES 1024

static struct {
	const char *ident;
	char path[256];
	int fd; /* atomic: log_reopen() swaps it */
	bool syslog;
	enum log_level level; /* atomic */
} log_state = { .ident = "", .fd = STDERR_FILENO, .level = LOG_LEVEL_INFO };

static const char *const level_names[] = {
	[LOG_LEVEL_ERROR] = "error",
	[LOG_LEVEL_WARN] = "warn",
	[LOG_LEVEL_INFO] = "info",
	[LOG_LEVEL_DEBUG] = "debug",
};

static const int level_priorities[] = {
	[LOG_LEVEL_ERROR] = LOG_ERR,
	[LOG_LEVEL_WARN] = LOG_WARNING,
	[LOG_LEVEL_INFO] = LOG_INFO,
	[LOG_LEVEL_DEBUG] = LOG_DEBUG,
};
BUILD_ASSERT(ARRAY_SIZE(level_names) == ARRAY_SIZE(level_priorities));

static int open_path(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);

	return fd < 0 ? -errno : fd;
}

int log_open(const char *ident, const char *path)
{
	int fd;

	log_state.ident = ident;
	if (!path)
		return 0;
	if (!strcmp(path, "syslog")) {
		openlog(ident, LOG_PID | LOG_NDELAY, LOG_DAEMON);
		log_state.syslog = true;
		return 0;
	}
	if (strlen(path) >= sizeof(log_state.path))
		return -ENAMETOOLONG;
	fd = open_path(path);
	if (fd < 0)
		return fd;
	strcpy(log_state.path, path);
	__atomic_store_n(&log_state.fd, fd, __ATOMIC_RELEASE);
	return 0;
}

int log_reopen(void)
{
	int fd, old;

	if (!log_state.path[0])
		return 0;
	fd = open_path(log_state.path);
	if (fd < 0)
		return fd;
	/* dup3() over the old number: a thread in the middle of a line writes to one file or the
	 * other, never to a closed number. */
	old = __atomic_load_n(&log_state.fd, __ATOMIC_ACQUIRE);
	if (dup3(fd, old, O_CLOEXEC) < 0) {
		int err = errno;

		close(fd);
		return -err;
	}
	close(fd);
	return 0;
}

void log_close(void)
{
	int old = __atomic_exchange_n(&log_state.fd, STDERR_FILENO, __ATOMIC_ACQ_REL);

	if (old != STDERR_FILENO)
		close(old);
	if (log_state.syslog)
		closelog();
	log_state.syslog = false;
	log_state.path[0] = '\0';
}

void log_set_level(enum log_level level)
{
	__atomic_store_n(&log_state.level, level, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
	return __atomic_load_n(&log_state.level, __ATOMIC_RELAXED);
}

int log_parse_level(const char *name, enum log_level *level)
{
	for (size_t i = 0; i < ARRAY_SIZE(level_names); i++) {
		if (!strcasecmp(name, level_names[i])) {
			*level = (enum log_level)i;
			return 0;
		}
	}
	return -EINVAL;
}

/* Files get a time stamp; stderr is read by somebody who sees the time, syslog has its own. */
static size_t line_start(char *line, size_t size, enum log_level level, bool stamp)
{
	struct timespec now;
	struct tm tm;
	size_t used = 0;

	if (stamp) {
		clock_gettime(CLOCK_REALTIME, &now);
		gmtime_r(&now.tv_sec, &tm);
		used = strftime(line, size, "%Y-%m-%dT%H:%M:%S", &tm);
		used += (size_t)snprintf(line + used, size - used, ".%03ldZ ",
					 now.tv_nsec / 1000000);
	}
	used += (size_t)snprintf(line + used, size - used, "%s%s%s: ", log_state.ident,
				 *log_state.ident ? ": " : "", level_names[level]);
	return used;
}

static void emit(enum log_level level, const char *fmt, va_list args)
{
	char line[LINE_BYTES];
	int fd = __atomic_load_n(&log_state.fd, __ATOMIC_ACQUIRE);
	size_t used, room;
	ssize_t ignored;
	int len;

	if (log_state.syslog) {
		vsyslog(level_priorities[level], fmt, args);
		return;
	}
	used = line_start(line, sizeof(line), level, fd != STDERR_FILENO);
	room = sizeof(line) - used - 1;
	len = vsnprintf(line + used, room, fmt, args);
	if (len < 0)
		return;
	used += MIN((size_t)len, room - 1);
	line[used++] = '\n';
	ignored = write(fd, line, used); /* nowhere to report a log that cannot be written */
	(void)ignored;
}

void log_at(enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	va_list args;

	if (level > log_get_level())
		return;
	va_start(args, fmt);
	emit(level, fmt, args);
	va_end(args);
	errno = saved;
}

static uint32_t now_sec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
	return (uint32_t)now.tv_sec;
}

/* Two threads that both start a window may print a line too many; that is all that can go wrong. */
static bool may_print(struct log_limit *limit, unsigned *suppressed)
{
	uint32_t start = __atomic_load_n(&limit->window_sec, __ATOMIC_RELAXED);
	uint32_t now = now_sec();

	*suppressed = 0;
	if (!start || now - start >= limit->interval_sec) {
		__atomic_store_n(&limit->window_sec, now ? now : 1, __ATOMIC_RELAXED);
		__atomic_store_n(&limit->printed, 0, __ATOMIC_RELAXED);
		*suppressed = __atomic_exchange_n(&limit->suppressed, 0, __ATOMIC_RELAXED);
	}
	if (__atomic_fetch_add(&limit->printed, 1, __ATOMIC_RELAXED) < limit->burst)
		return true;
	__atomic_fetch_add(&limit->suppressed, 1, __ATOMIC_RELAXED);
	return false;
}

void log_limited(struct log_limit *limit, enum log_level level, const char *fmt, ...)
{
	int saved = errno;
	unsigned suppressed;
	va_list args;

	if (level > log_get_level())
		return;
	if (may_print(limit, &suppressed)) {
		if (suppressed)
			log_at(level, "%u lines like the next one were left out", suppressed);
		va_start(args, fmt);
		emit(level, fmt, args);
		va_end(args);
	}
	errno = saved;
}

char *log_escape(char *dst, size_t size, const char *src, size_t len)
{
	size_t used = 0;

	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)src[i];
		bool plain = c >= 0x20 && c < 0x7f && c != '\\';

		if (used + (plain ? 1 : 4) >= size)
			break;
		if (plain)
			dst[used++] = (char)c;
		else
			used += (size_t)snprintf(dst + used, size - used, "\\x%02x", c);
	}
	dst[used] = '\0';
	return dst;
}
