/* SPDX-License-Identifier: MIT */
/*
 * netbackctl.c: asks a running netbackd and shows the answer, as tables for people or as the JSON
 * that came. One request, one answer; nothing of Xen is opened.
 */
#include "config.h"

#include <errno.h>
#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/compiler.h"

#define EXIT_USAGE     2
#define SOCKET_DEFAULT RUNSTATEDIR "/netbackd/ctl.sock"
#define ANSWER_SEC     10
#define ANSWER_BYTES   (256U << 20)

static const char *socket_path = SOCKET_DEFAULT;
static bool want_json;

__attribute__((noreturn)) static void __printf(2, 3) fail(int status, const char *fmt, ...)
{
	va_list args;

	fputs("netbackctl: ", stderr);
	va_start(args, fmt);
	vfprintf(stderr, fmt, args);
	va_end(args);
	fputc('\n', stderr);
	exit(status);
}

static int connect_daemon(void)
{
	static const struct timeval limit = {.tv_sec = ANSWER_SEC};
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		fail(EXIT_FAILURE, "cannot make a socket: %s", strerror(errno));
	strcpy(address.sun_path, socket_path); /* its length was checked */
	setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof(limit));
	if (connect(fd, (const struct sockaddr *)&address, sizeof(address)))
		fail(EXIT_FAILURE, "cannot reach netbackd on %s: %s; %s", socket_path,
		     strerror(errno),
		     errno == EACCES ? "only the daemon's user may"
				     : "is it running, with this --ctl-socket?");
	return fd;
}

static void send_request(int fd, json_t *request)
{
	char *text = json_dumps(request, JSON_COMPACT);
	size_t len, done = 0;

	if (!text || !(text = realloc(text, (len = strlen(text)) + 2)))
		fail(EXIT_FAILURE, "out of memory");
	text[len++] = '\n';
	while (done < len) {
		ssize_t sent = send(fd, text + done, len - done, MSG_NOSIGNAL);

		if (sent < 0 && errno == EINTR)
			continue;
		if (sent <= 0)
			fail(EXIT_FAILURE, "netbackd took no request: %s", strerror(errno));
		done += (size_t)sent;
	}
	free(text);
}

/* The whole line. The daemon is trusted, but its answer is bounded all the same. */
static char *read_line(int fd, size_t *len)
{
	size_t size = 65536, used = 0;
	char *line = malloc(size);

	while (line) {
		ssize_t got = recv(fd, line + used, size - used, 0);

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			fail(EXIT_FAILURE, "no answer from netbackd: %s", strerror(errno));
		if (got == 0)
			fail(EXIT_FAILURE, "netbackd closed the connection: too many clients?");
		used += (size_t)got;
		if (line[used - 1] == '\n') {
			*len = used - 1;
			return line;
		}
		if (used == size) {
			size *= 2;
			line = size > ANSWER_BYTES ? NULL : realloc(line, size);
		}
	}
	fail(EXIT_FAILURE, "out of memory");
}

/* Ask; return the result of an answer that says ok. */
static json_t *ask(json_t *request)
{
	int fd = connect_daemon();
	json_t *answer, *result;
	size_t len;
	char *line;

	send_request(fd, request);
	json_decref(request);
	line = read_line(fd, &len);
	close(fd);
	answer = json_loadb(line, len, 0, NULL);
	free(line);
	if (!json_is_object(answer))
		fail(EXIT_FAILURE, "netbackd's answer makes no sense");
	if (!json_is_true(json_object_get(answer, "ok"))) {
		const char *error = json_string_value(json_object_get(answer, "error"));

		fail(EXIT_FAILURE, "%s", error ? error : "netbackd refused");
	}
	result = json_incref(json_object_get(answer, "result"));
	json_decref(answer);
	if (!result)
		fail(EXIT_FAILURE, "netbackd's answer makes no sense");
	return result;
}

static void print_json(const json_t *value)
{
	json_dumpf(value, stdout, JSON_INDENT(2) | JSON_ENCODE_ANY);
	putchar('\n');
}

static const char *text_of(const json_t *object, const char *key)
{
	const char *text = json_string_value(json_object_get(object, key));

	return text ? text : "-";
}

static long long number_of(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* "0,1": the groups of a vif's queues; "-": not connected. */
static const char *groups_text(const json_t *vif, char *text, size_t size)
{
	const json_t *groups = json_object_get(vif, "groups");
	size_t used = 0, i;
	json_t *group;

	snprintf(text, size, "-");
	json_array_foreach(groups, i, group)
	{
		int len = snprintf(text + used, size - used, "%s%lld", used ? "," : "",
				   (long long)json_integer_value(group));

		if (len < 0 || (size_t)len >= size - used)
			break;
		used += (size_t)len;
	}
	return text;
}

static void print_list(const json_t *list)
{
	char groups[64];
	json_t *vif;
	size_t i;

	printf("%-15s %6s %-13s %-13s %-8s %-17s %s\n", "VIF", "DOMID", "FRONTEND", "BACKEND",
	       "GROUP", "MAC", "PORT");
	json_array_foreach(list, i, vif)
	{
		const char *error = text_of(vif, "error");

		printf("%-15s %6lld %-13s %-13s %-8s %-17s %s%s%s\n", text_of(vif, "name"),
		       number_of(vif, "domid"), text_of(vif, "frontend"), text_of(vif, "backend"),
		       groups_text(vif, groups, sizeof(groups)), text_of(vif, "mac"),
		       text_of(vif, "port"), *error ? "  " : "", error);
	}
}

static void print_groups(const json_t *list)
{
	json_t *group;
	size_t i;

	printf("%5s %4s %-8s %7s %13s %14s %14s\n", "GROUP", "CPU", "WORKER", "QUEUES", "PENDING",
	       "COPY-BATCHES", "COPY-SEGMENTS");
	json_array_foreach(list, i, group)
	{
		char pending[32];

		snprintf(pending, sizeof(pending), "%lld/%lld", number_of(group, "pending"),
			 number_of(group, "pending_max"));
		printf("%5lld %4lld %-8s %7lld %13s %14lld %14lld\n", number_of(group, "group"),
		       number_of(group, "cpu"), text_of(group, "worker"),
		       number_of(group, "netfront_count"), pending,
		       number_of(group, "copy_batches"), number_of(group, "copy_segments"));
	}
}

static void print_drops(const json_t *vif)
{
	json_t *queue, *count;
	const char *reason;
	size_t i;

	json_array_foreach(json_object_get(vif, "queues"), i, queue)
	{
		json_object_foreach(json_object_get(queue, "drops"), reason, count)
		{
			if (json_integer_value(count))
				printf("    queue %zu dropped %lld: %s\n", i,
				       (long long)json_integer_value(count), reason);
		}
	}
}

static void print_stats(const json_t *stats)
{
	json_t *vif;
	size_t i;

	printf("%-15s %-13s %5s %12s %15s %12s %15s %8s\n", "VIF", "STATE", "GROUP", "TX-PACKETS",
	       "TX-BYTES", "RX-PACKETS", "RX-BYTES", "DROPS");
	json_array_foreach(json_object_get(stats, "vifs"), i, vif)
	{
		const json_t *tx = json_object_get(vif, "tx"), *rx = json_object_get(vif, "rx");

		printf("%-15s %-13s %5lld %12lld %15lld %12lld %15lld %8lld\n",
		       text_of(vif, "name"), text_of(vif, "state"), number_of(vif, "group"),
		       number_of(tx, "packets"), number_of(tx, "bytes"), number_of(rx, "packets"),
		       number_of(rx, "bytes"), number_of(vif, "drops"));
		print_drops(vif);
	}
	printf("\n");
	print_groups(json_object_get(stats, "groups"));
}

/* Scalars as "key value", objects and arrays indented below their key. */
static void print_tree(const char *key, const json_t *value, int indent)
{
	const char *name;
	json_t *member;
	size_t i;

	printf("%*s%-*s", indent, "", MAX(24 - indent, 1), key);
	if (json_is_object(value)) {
		putchar('\n');
		json_object_foreach((json_t *)(uintptr_t)value, name, member)
			print_tree(name, member, indent + 2);
		return;
	}
	if (json_is_array(value)) {
		putchar('\n');
		json_array_foreach(value, i, member)
		{
			char label[32];

			snprintf(label, sizeof(label), "[%zu]", i);
			print_tree(label, member, indent + 2);
		}
		return;
	}
	if (json_is_string(value))
		printf(" %s\n", json_string_value(value));
	else if (json_is_integer(value))
		printf(" %lld\n", (long long)json_integer_value(value));
	else
		printf(" %s\n", json_is_null(value) ? "-" : json_is_true(value) ? "yes" : "no");
}

static void print_show(const json_t *show)
{
	const char *name;
	json_t *member;

	json_object_foreach((json_t *)(uintptr_t)show, name, member) print_tree(name, member, 0);
}

/* "vif1.0.2" is queue 2 of vif1.0. */
static json_t *move_request(const char *target, const char *group)
{
	json_t *request = json_pack("{s:s}", "cmd", "move");
	char name[64];
	unsigned domid, handle, queue;
	char end;
	int nr = sscanf(target, "vif%u.%u.%u%c", &domid, &handle, &queue, &end);
	char *rest;
	long number = strtol(group, &rest, 10);

	if ((nr != 2 && nr != 3) || !*group || *rest)
		fail(EXIT_USAGE, "usage: netbackctl move VIF[.QUEUE] GROUP, as in 'move vif1.0 2'");
	snprintf(name, sizeof(name), "vif%u.%u", domid, handle);
	json_object_set_new(request, "vif", json_string(name));
	json_object_set_new(request, "group", json_integer(number));
	if (nr == 3)
		json_object_set_new(request, "queue", json_integer(queue));
	return request;
}

static json_t *plain_request(char *const args[], const char *name)
{
	return json_pack("{s:s}", "cmd", name);
}

static json_t *show_request(char *const args[], const char *name)
{
	json_t *request = json_pack("{s:s,s:s}", "cmd", name, "vif", args[0]);

	if (!request)
		fail(EXIT_USAGE, "that is no vif's name");
	return request;
}

static json_t *make_move(char *const args[], const char *name)
{
	return move_request(args[0], args[1]);
}

static void print_nothing(const json_t *result)
{
}

static const struct command {
	const char *name;
	const char *args;
	const char *help;
	int nr_args;
	json_t *(*request)(char *const args[], const char *name);
	void (*print)(const json_t *result);
} commands[] = {
	{"list", "", "every vif, one a line", 0, plain_request, print_list},
	{"show", " VIF", "all there is to know of one vif", 1, show_request, print_show},
	{"groups", "", "the worker groups", 0, plain_request, print_groups},
	{"stats", "", "packets, bytes, drops by reason", 0, plain_request, print_stats},
	{"move", " VIF[.QUEUE] GROUP", "move queues to another group", 2, make_move, print_nothing},
};

static void usage(FILE *out)
{
	char left[48];

	fputs("Usage: netbackctl [--ctl-socket PATH] [--json] COMMAND\n\n", out);
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		snprintf(left, sizeof(left), "%s%s", commands[i].name, commands[i].args);
		fprintf(out, "  %-26s %s\n", left, commands[i].help);
	}
	fputs("\n  --ctl-socket PATH          the daemon's socket (default: " SOCKET_DEFAULT ")\n"
	      "  --json                     print the answer as JSON\n"
	      "  --help, --version\n",
	      out);
}

static int run(const struct command *command, char *const args[], int nr_args)
{
	json_t *result;

	if (nr_args != command->nr_args)
		fail(EXIT_USAGE, "usage: netbackctl %s%s", command->name, command->args);
	result = ask(command->request(args, command->name));
	if (want_json)
		print_json(result);
	else
		command->print(result);
	json_decref(result);
	if (fflush(stdout) || ferror(stdout))
		fail(EXIT_FAILURE, "cannot write: %s", strerror(errno));
	return EXIT_SUCCESS;
}

/* Options may stand before and after the command. */
static void parse_options(int argc, char *argv[])
{
	static const struct option options[] = {
		{"ctl-socket", required_argument, NULL, 's'},
		{"json", no_argument, NULL, 'j'},
		{"help", no_argument, NULL, 'h'},
		{"version", no_argument, NULL, 'v'},
		{NULL, 0, NULL, 0},
	};
	int c;

	opterr = 0;
	while ((c = getopt_long(argc, argv, ":", options, NULL)) != -1) {
		switch (c) {
		case 's':
			socket_path = optarg;
			break;
		case 'j':
			want_json = true;
			break;
		case 'h':
			usage(stdout);
			exit(EXIT_SUCCESS);
		case 'v':
			puts("netbackctl " PACKAGE_VERSION);
			exit(EXIT_SUCCESS);
		default:
			fail(EXIT_USAGE, "wrong option '%s'; --help lists them", argv[optind - 1]);
		}
	}
	if (!*socket_path || strlen(socket_path) >= sizeof(((struct sockaddr_un *)NULL)->sun_path))
		fail(EXIT_USAGE, "--ctl-socket: expected a path of at most 107 characters");
}

int main(int argc, char *argv[])
{
	parse_options(argc, argv);
	if (optind == argc)
		fail(EXIT_USAGE, "no command; --help lists them");
	for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
		if (!strcmp(commands[i].name, argv[optind]))
			return run(&commands[i], argv + optind + 1, argc - optind - 1);
	}
	fail(EXIT_USAGE, "no command '%s'; --help lists them", argv[optind]);
}
