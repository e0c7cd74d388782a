/* SPDX-License-Identifier: MIT */
/*
 * ctl.c: server side of the control socket, on libevent's buffered events.
 *
 * Every client is bounded: in number, in the length of its request line, in the time it may be
 * silent or leave its answer unread. While an answer is under way no further request of that
 * client is looked at, so at most one answer is held for it.
 */
#include "netback/ctl.h"

#include <errno.h>
#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>
#include <utlist.h>

#include "common/compiler.h"
#include "common/log.h"

#define ERROR_BYTES 256
#define BACKLOG	    16

struct client {
	struct ctl *ctl;
	struct bufferevent *bev;
	bool ended; /* it will send no more: what it has asked is answered still */
	bool last;  /* close when the answer is out */
	struct client *prev, *next;
};

struct ctl {
	struct event_base *base;
	const struct ctl_command *commands;
	void *arg;
	int fd;
	struct event *accept_event;
	struct client *clients;
	unsigned nr_clients;
	struct sockaddr_un address;
};

static char *dump(json_t *answer)
{
	char *text = answer ? json_dumps(answer, JSON_COMPACT) : NULL;

	json_decref(answer);
	return text;
}

static json_t *refuse(const char *error)
{
	return json_pack("{s:b,s:s}", "ok", 0, "error", error);
}

static json_t *run_command(const struct ctl_command *commands, void *arg, const json_t *request)
{
	const char *name = json_string_value(json_object_get(request, "cmd"));
	char error[ERROR_BYTES] = "it failed";
	json_t *result;

	if (!name)
		return refuse("no \"cmd\" in the request");
	for (; commands->name; commands++) {
		if (strcmp(commands->name, name))
			continue;
		result = commands->handler(arg, request, error, sizeof(error));
		if (!result)
			return refuse(error);
		return json_pack("{s:b,s:o}", "ok", 1, "result", result);
	}
	return refuse("no such command");
}

/* jansson recurses: depth is checked before parsing, not after. Brackets in strings count too. */
static bool too_deep(const char *line, size_t len)
{
	unsigned depth = 0;

	for (size_t i = 0; i < len; i++) {
		if ((line[i] == '{' || line[i] == '[') && ++depth > CTL_DEPTH_MAX)
			return true;
	}
	return false;
}

char *ctl_answer(const struct ctl_command *commands, void *arg, const char *line, size_t len)
{
	json_t *request;
	char *text;

	if (len > CTL_REQUEST_BYTES || too_deep(line, len))
		return dump(refuse("the request is too long or too deep"));
	request = json_loadb(line, len, JSON_REJECT_DUPLICATES, NULL);
	if (!json_is_object(request)) {
		json_decref(request);
		return dump(refuse("the request is not a JSON object"));
	}
	text = dump(run_command(commands, arg, request));
	json_decref(request);
	return text;
}

static void drop(struct client *client)
{
	DL_DELETE(client->ctl->clients, client);
	client->ctl->nr_clients--;
	bufferevent_free(client->bev); /* closes the socket */
	free(client);
}

/* The client may be gone afterwards. */
static void send_answer(struct client *client, char *text)
{
	if (!text || bufferevent_write(client->bev, text, strlen(text)) ||
	    bufferevent_write(client->bev, "\n", 1))
		drop(client);
	free(text);
}

/* One request at a time: the next one when the last one's answer is out. */
static void serve(struct client *client)
{
	struct evbuffer *input = bufferevent_get_input(client->bev);
	struct ctl *ctl = client->ctl;
	size_t len;
	char *line;

	if (evbuffer_get_length(bufferevent_get_output(client->bev)))
		return;
	if (client->last) {
		drop(client);
		return;
	}
	line = evbuffer_readln(input, &len, EVBUFFER_EOL_LF);
	if (line) {
		char *text = ctl_answer(ctl->commands, ctl->arg, line, len);

		free(line);
		send_answer(client, text);
	} else if (evbuffer_get_length(input) > CTL_REQUEST_BYTES) {
		client->last = true;
		send_answer(client, dump(refuse("the request is too long or too deep")));
	} else if (client->ended) {
		drop(client);
	}
}

static void on_read(struct bufferevent *bev, void *arg)
{
	serve(arg);
}

static void on_written(struct bufferevent *bev, void *arg)
{
	serve(arg);
}

static void on_event(struct bufferevent *bev, short what, void *arg)
{
	struct client *client = arg;

	if (!(what & BEV_EVENT_EOF)) {
		drop(client);
		return;
	}
	client->ended = true;
	bufferevent_disable(bev, EV_READ);
	serve(client);
}

static void add_client(struct ctl *ctl, int fd)
{
	static const struct timeval idle = {.tv_sec = CTL_IDLE_SEC};
	struct client *client = calloc(1, sizeof(*client));

	if (client)
		client->bev = bufferevent_socket_new(ctl->base, fd, BEV_OPT_CLOSE_ON_FREE);
	if (!client || !client->bev) {
		free(client);
		close(fd);
		return;
	}
	client->ctl = ctl;
	DL_APPEND(ctl->clients, client);
	ctl->nr_clients++;
	bufferevent_setcb(client->bev, on_read, on_written, on_event, client);
	bufferevent_setwatermark(client->bev, EV_READ, 0, CTL_REQUEST_BYTES + 1);
	bufferevent_set_timeouts(client->bev, &idle, &idle);
	if (bufferevent_enable(client->bev, EV_READ | EV_WRITE))
		drop(client);
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	struct ctl *ctl = arg;
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);

	if (fd < 0)
		return;
	if (ctl->nr_clients >= CTL_CLIENTS_MAX)
		close(fd);
	else
		add_client(ctl, fd);
}

static int listen_on(const struct sockaddr_un *address)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	mode_t mask;
	int ret;

	if (fd < 0)
		return -errno;
	unlink(address->sun_path); /* of a daemon that died: we hold the lock */
	mask = umask(0177);
	ret = bind(fd, (const struct sockaddr *)address, sizeof(*address));
	umask(mask);
	if (ret || listen(fd, BACKLOG)) {
		ret = -errno;
		close(fd);
		return ret;
	}
	return fd;
}

int ctl_create(struct event_base *base, const char *path, const struct ctl_command *commands,
	       void *arg, struct ctl **ctl)
{
	struct ctl *made = calloc(1, sizeof(*made));
	int ret = -ENOMEM;

	if (!made)
		return -ENOMEM;
	made->base = base;
	made->commands = commands;
	made->arg = arg;
	made->address.sun_family = AF_UNIX;
	if (strlen(path) >= sizeof(made->address.sun_path)) {
		ret = -ENAMETOOLONG;
		goto err_free;
	}
	strcpy(made->address.sun_path, path);
	made->fd = listen_on(&made->address);
	if (made->fd < 0) {
		ret = made->fd;
		goto err_free;
	}
	made->accept_event = event_new(base, made->fd, EV_READ | EV_PERSIST, on_accept, made);
	if (!made->accept_event || event_add(made->accept_event, NULL))
		goto err_close;
	*ctl = made;
	return 0;
err_close:
	if (made->accept_event)
		event_free(made->accept_event);
	close(made->fd);
	unlink(path);
err_free:
	free(made);
	return ret;
}

void ctl_destroy(struct ctl *ctl)
{
	struct client *client, *next;

	if (!ctl)
		return;
	DL_FOREACH_SAFE (ctl->clients, client, next)
		drop(client);
	event_free(ctl->accept_event);
	close(ctl->fd);
	unlink(ctl->address.sun_path);
	free(ctl);
}

#define LOCK_PATH_BYTES (sizeof(((struct sockaddr_un *)NULL)->sun_path) + sizeof(".lock"))

static bool lock_path(char out[LOCK_PATH_BYTES], const char *path)
{
	int len = snprintf(out, LOCK_PATH_BYTES, "%s.lock", path);

	return len > 0 && (size_t)len < LOCK_PATH_BYTES;
}

/* Is the file locked still the one under its name? The last holder may have removed it. */
static bool same_file(int fd, const char *path)
{
	struct stat ours, named;

	return !fstat(fd, &ours) && !stat(path, &named) && ours.st_dev == named.st_dev &&
	       ours.st_ino == named.st_ino;
}

int ctl_lock(const char *path)
{
	char name[LOCK_PATH_BYTES];
	int fd, ret;

	if (!lock_path(name, path))
		return -ENAMETOOLONG;
	for (;;) {
		fd = open(name, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
		if (fd < 0)
			return -errno;
		if (flock(fd, LOCK_EX | LOCK_NB)) {
			ret = errno == EWOULDBLOCK ? -EBUSY : -errno;
			close(fd);
			return ret;
		}
		if (same_file(fd, name))
			return fd;
		close(fd);
	}
}

void ctl_unlock(int fd, const char *path)
{
	char name[LOCK_PATH_BYTES];

	if (fd < 0)
		return;
	if (lock_path(name, path))
		unlink(name);
	close(fd);
}
