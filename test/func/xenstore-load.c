/* SPDX-License-Identifier: MIT */
/*
 * xenstore-load.c: clients for test/func/xenstore-clients: good ones that count and measure, and
 * bad ones that do what no client should. Each is a process of its own and ends by itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "common/compiler.h"
#include "xenstore/xenbus.h"

#define XSD_HEADER_BYTES sizeof(struct xsd_sockmsg)

static const char usage_text[] =
	"usage: xenstore-load counter PATH N     add N to PATH, in N transactions\n"
	"       xenstore-load steady PATH SECONDS write and read PATH, tell the longest time taken\n"
	"       xenstore-load garbage|half|huge|mute|storm SOCKET SECONDS   misbehave\n";

static double now_sec(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int complain(const char *what, int ret)
{
	fprintf(stderr, "xenstore-load: %s: %s\n", what, strerror(-ret));
	return 1;
}

static struct xs_handle *open_store(void)
{
	struct xs_handle *xs = xs_open(0);

	if (!xs)
		exit(complain("xs_open", -errno));
	return xs;
}

/* ---- good clients ---- */

static int add_one(struct xs_handle *xs, xs_transaction_t t, void *path)
{
	uint32_t n = 0;
	int ret = xenbus_read_u32(xs, t, path, NULL, 0, UINT32_MAX - 1, &n);

	return ret ? ret : xenbus_printf(xs, t, path, NULL, "%u", n + 1);
}

static int counter(char *path, unsigned long n)
{
	struct xs_handle *xs = open_store();
	int ret = 0;

	/* So many at once may conflict more often than xenbus_transaction() tries. */
	while (n && (!ret || ret == -EAGAIN)) {
		ret = xenbus_transaction(xs, add_one, path);
		n -= !ret;
	}
	xs_close(xs);
	return ret ? complain(path, ret) : 0;
}

static int steady(char *path, unsigned long seconds)
{
	struct xs_handle *xs = open_store();
	double end = now_sec() + (double)seconds, start, worst = 0;
	uint32_t n = 0, back;
	int ret = 0;

	while ((start = now_sec()) < end) {
		ret = xenbus_printf(xs, XBT_NULL, path, NULL, "%u", ++n);
		if (!ret)
			ret = xenbus_read_u32(xs, XBT_NULL, path, NULL, n, n, &back);
		if (ret)
			break;
		worst = MAX(worst, now_sec() - start);
	}
	xs_close(xs);
	if (ret)
		return complain(path, ret);
	printf("%u rounds, worst %.0f ms\n", n, worst * 1000);
	/* Two clients' turn between ours, on a busy machine. */
	return worst < 2.0 && n > 50 * seconds ? 0 : 1;
}

/* ---- bad clients ---- */

static int connect_to(const char *path)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s", path);
	if (fd < 0 || connect(fd, (struct sockaddr *)&addr, sizeof(addr)) < 0)
		exit(complain(path, -errno));
	fcntl(fd, F_SETFL, O_NONBLOCK);
	return fd;
}

static void wait_ms(int ms)
{
	poll(NULL, 0, ms);
}

static void send_frame(int fd, uint32_t type, uint32_t len, const void *payload, size_t payload_len)
{
	struct xsd_sockmsg head = {.type = type, .len = len};
	char bytes[XSD_HEADER_BYTES + XENSTORE_PAYLOAD_MAX];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), payload, payload_len);
	send(fd, bytes, sizeof(head) + payload_len, MSG_NOSIGNAL);
}

/* Random bytes, half of them behind a header that is almost right. */
static void garbage(const char *path)
{
	char bytes[512];
	int fd = connect_to(path);
	unsigned i;

	for (i = 0; i < sizeof(bytes); i++)
		bytes[i] = (char)random();
	if (random() % 2)
		send(fd, bytes, (size_t)random() % sizeof(bytes), MSG_NOSIGNAL);
	else
		send_frame(fd, (uint32_t)random() % 30, (uint32_t)random() % sizeof(bytes), bytes,
			   sizeof(bytes));
	close(fd);
}

/* Clients that begin a request and stay. */
static void half(const char *path)
{
	static int fds[40];
	unsigned i = (unsigned)random() % ARRAY_SIZE(fds);

	if (fds[i] > 0)
		close(fds[i]);
	fds[i] = connect_to(path);
	send_frame(fds[i], XS_WRITE, 4000, "a", (size_t)random() % 2);
	wait_ms(1);
}

/* Lengths over the limit. */
static void huge(const char *path)
{
	int fd = connect_to(path);
	char payload[XENSTORE_PAYLOAD_MAX] = {0};

	send_frame(fd, XS_WRITE,
		   random() % 2 ? UINT32_MAX - (uint32_t)random() % 32 : XENSTORE_PAYLOAD_MAX + 1,
		   payload, sizeof(payload));
	close(fd);
}

/* Asks for ever and reads nothing. */
static void mute(const char *path)
{
	static int fd;
	struct pollfd pfd = {.events = POLLOUT};
	unsigned i;

	if (!fd)
		fd = connect_to(path);
	pfd.fd = fd;
	if (poll(&pfd, 1, 10) == 1)
		for (i = 0; i < 100; i++)
			send_frame(fd, XS_GET_DOMAIN_PATH, 2, "1", 2);
}

/* As many watches as it gets, on what it then changes; reads nothing. */
static void storm(const char *path)
{
	static int fd;
	struct pollfd pfd = {.events = POLLOUT};
	char payload[64];
	unsigned i;
	int len;

	if (fd == 0) {
		fd = connect_to(path);
		for (i = 0; i < 200; i++) {
			len = sprintf(payload, "storm%c%u", 0, i) + 1;
			send_frame(fd, XS_WATCH, (uint32_t)len, payload, (size_t)len);
		}
	}
	pfd.fd = fd;
	if (poll(&pfd, 1, 10) != 1)
		return;
	if (pfd.revents & (POLLHUP | POLLERR)) {
		close(fd);
		fd = 0;
		return;
	}
	len = sprintf(payload, "storm/%ld%cx", random() % 500, 0);
	send_frame(fd, XS_WRITE, (uint32_t)len, payload, (size_t)len);
}

static int misbehave(void (*how)(const char *path), const char *path, unsigned long seconds)
{
	double end = now_sec() + (double)seconds;

	srandom((unsigned)getpid());
	while (now_sec() < end)
		how(path);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*good)(char *path, unsigned long n);
		void (*bad)(const char *path);
	} modes[] = {
		{"counter", counter, NULL}, {"steady", steady, NULL}, {"garbage", NULL, garbage},
		{"half", NULL, half},	    {"huge", NULL, huge},     {"mute", NULL, mute},
		{"storm", NULL, storm},
	};
	unsigned long n;
	unsigned i;

	if (argc != 4)
		goto usage;
	n = strtoul(argv[3], NULL, 10);
	for (i = 0; i < ARRAY_SIZE(modes); i++) {
		if (strcmp(argv[1], modes[i].name) != 0)
			continue;
		if (modes[i].good)
			return modes[i].good(argv[2], n);
		return misbehave(modes[i].bad, argv[2], n);
	}
usage:
	fputs(usage_text, stderr);
	return 2;
}
