/* SPDX-License-Identifier: MIT */
/*
 * ctl.h: the control socket: a UNIX stream socket on which each request is a line of JSON (an
 * object) and so is each answer. Control thread only; never blocks it, whatever a client does.
 *
 *	{"cmd": "show", "vif": "vif1.0"}
 *	{"ok": true, "result": ...}  or  {"ok": false, "error": "no vif1.0"}
 */
#ifndef NETBACK_CTL_H
#define NETBACK_CTL_H

#include <event2/event.h>
#include <jansson.h>
#include <stddef.h>

#define CTL_REQUEST_BYTES 1024 /* longest request line */
#define CTL_CLIENTS_MAX	  16   /* further ones are closed at once */
#define CTL_IDLE_SEC	  10   /* a client that says nothing, or takes no answer, this long goes */
#define CTL_DEPTH_MAX	  4    /* nesting of a request */

struct ctl;

/**
 * A command: @args is the request's object, hostile.
 * Return: the result (a new reference), or NULL with a line of text in @error.
 */
typedef json_t *(*ctl_handler)(void *arg, const json_t *args, char *error, size_t size);

struct ctl_command {
	const char *name;
	ctl_handler handler;
};

/**
 * ctl_lock() - make sure that we are the only daemon on the control socket @path
 *
 * Return: a descriptor to keep until ctl_unlock(); -EBUSY if there is another; other -errno.
 */
int ctl_lock(const char *path);
/** ctl_unlock() - remove the lock. @fd below 0: nothing. */
void ctl_unlock(int fd, const char *path);

/**
 * ctl_create() - listen on @path (mode 0600; a stale socket is replaced: hold the lock)
 * @commands: ends with a NULL name; @arg is handed to each handler
 *
 * Return: 0; -errno.
 */
int ctl_create(struct event_base *base, const char *path, const struct ctl_command *commands,
	       void *arg, struct ctl **ctl);

/** ctl_destroy() - drop clients, remove the socket. Accepts NULL. */
void ctl_destroy(struct ctl *ctl);

/**
 * ctl_answer() - the answer to one request line (without its newline)
 *
 * Return: a string to free(3), without newline; NULL if out of memory.
 */
char *ctl_answer(const struct ctl_command *commands, void *arg, const char *line, size_t len);

#endif
