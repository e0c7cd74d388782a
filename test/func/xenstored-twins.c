/* SPDX-License-Identifier: MIT */
/*
 * xenstored-twins.c: sends the same random requests to Xen's own xenstored and to the embedded one,
 * and compares every answer, every watch event and the tree at the end.
 *
 * Four clients: two of dom0 and domains 5 and 6. Of domains, Xen's xenstored is spoken to through
 * the pages xenstored-host.c gives it; a dom0 client (the waker) makes it look at them. Requests
 * that meet one of the differences listed in xsd.h are not made, or end that transaction on both
 * sides.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/compiler.h"
#include "common/xen_barrier.h"
#include "xenstore/xsd_wire.h"

#define NR_CLIENTS  4
#define NR_TXNS	    8
#define POKES	    20000 /* that a ring may need before it is given up */
#define EVENT_BYTES 65536

enum side { REAL, OURS, NR_SIDES };

struct link {
	int fd; /* -1: the page */
	struct xenstore_domain_interface *page;
	char events[EVENT_BYTES]; /* "path token" and a line's end each */
};

struct answer {
	struct xsd_sockmsg head;
	char payload[XENSTORE_PAYLOAD_MAX + 1];
};

static const unsigned domids[NR_CLIENTS] = {0, 0, 5, 6};
static struct link links[NR_SIDES][NR_CLIENTS];
static struct link waker;
static uint32_t txns[NR_CLIENTS][NR_TXNS][NR_SIDES]; /* 0: none */
static const char *host_dir, *our_dir;
static uint64_t random_state;

static void die(const char *what)
{
	fprintf(stderr, "xenstored-twins: %s: %s\n", what, strerror(errno));
	exit(1);
}

static unsigned pick(unsigned n)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return (unsigned)(random_state >> 33) % n;
}

/* ---- links ---- */

static void connect_link(struct link *link, const char *dir, const char *name)
{
	struct sockaddr_un addr = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = 20};
	unsigned tries = 0;

	snprintf(addr.sun_path, sizeof(addr.sun_path), "%s/%s", dir, name);
	link->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (link->fd < 0)
		die("socket");
	/* The name is there a moment before the server listens. */
	while (connect(link->fd, (struct sockaddr *)&addr, sizeof(addr)) < 0) {
		if (errno != ECONNREFUSED || tries++ == 100)
			die(addr.sun_path);
		usleep(10000);
	}
	setsockopt(link->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
}

static void map_link(struct link *link, unsigned domid)
{
	char path[256];
	int fd;

	snprintf(path, sizeof(path), "%s/ring%u", host_dir, domid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	link->fd = -1;
	link->page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fd < 0 || link->page == MAP_FAILED)
		die(path);
	close(fd);
}

static void send_all(int fd, const void *data, size_t len)
{
	if (send(fd, data, len, MSG_NOSIGNAL) != (ssize_t)len)
		die("send");
}

static void recv_all(int fd, void *data, size_t len)
{
	if (len && recv(fd, data, len, MSG_WAITALL) != (ssize_t)len)
		die("recv");
}

/* Makes Xen's xenstored go round its loop once. */
static void poke(void)
{
	struct xsd_sockmsg head = {.type = XS_GET_DOMAIN_PATH, .len = 2};
	char bytes[64];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), "1", 2);
	send_all(waker.fd, bytes, sizeof(head) + 2);
	recv_all(waker.fd, &head, sizeof(head));
	recv_all(waker.fd, bytes, MIN(head.len, sizeof(bytes)));
}

static void link_send(struct link *link, const char *data, size_t len)
{
	struct xenstore_domain_interface *page = link->page;
	unsigned pokes = 0;

	if (link->fd >= 0) {
		send_all(link->fd, data, len);
		return;
	}
	while (len) {
		uint32_t prod = page->req_prod;

		if (prod - READ_ONCE(page->req_cons) < XENSTORE_RING_SIZE) {
			page->req[MASK_XENSTORE_IDX(prod)] = *data++;
			xen_wmb();
			page->req_prod = prod + 1;
			len--;
			continue;
		}
		if (pokes++ == POKES)
			die("ring is not read");
		poke();
	}
	poke();
}

static void link_recv(struct link *link, char *data, size_t len)
{
	struct xenstore_domain_interface *page = link->page;
	unsigned pokes = 0;

	if (link->fd >= 0) {
		recv_all(link->fd, data, len);
		return;
	}
	while (len) {
		uint32_t cons = page->rsp_cons;

		if (READ_ONCE(page->rsp_prod) != cons) {
			xen_rmb();
			*data++ = page->rsp[MASK_XENSTORE_IDX(cons)];
			page->rsp_cons = cons + 1;
			len--;
			continue;
		}
		if (pokes++ == POKES)
			die("ring is not answered");
		poke();
	}
}

static void receive(struct link *link, struct answer *answer)
{
	link_recv(link, (char *)&answer->head, sizeof(answer->head));
	if (answer->head.len > XENSTORE_PAYLOAD_MAX)
		die("answer too long");
	link_recv(link, answer->payload, answer->head.len);
	answer->payload[answer->head.len] = '\0';
}

static void note_event(struct link *link, const struct answer *event)
{
	size_t len = strlen(link->events);

	snprintf(link->events + len, sizeof(link->events) - len, "%s %s\n", event->payload,
		 event->payload + strlen(event->payload) + 1);
}

static void call(struct link *link, uint32_t type, uint32_t tx_id, const char *payload, size_t len,
		 struct answer *answer)
{
	struct xsd_sockmsg head = {.type = type, .tx_id = tx_id, .len = (uint32_t)len};
	char bytes[XSD_FRAME_BYTES];

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), payload, len);
	link_send(link, bytes, sizeof(head) + len);
	for (;;) {
		receive(link, answer);
		if (answer->head.type != XS_WATCH_EVENT)
			return;
		note_event(link, answer);
	}
}

/* ---- requests ---- */

struct request {
	unsigned client;
	uint32_t type;
	unsigned txn; /* an index, or NR_TXNS */
	char payload[XENSTORE_PAYLOAD_MAX];
	size_t len;
};

static void add_string(struct request *req, const char *text)
{
	size_t len = strlen(text) + 1;

	memcpy(req->payload + req->len, text, len);
	req->len += len;
}

static void add_path(struct request *req)
{
	static const char *const odd[] = {
		"/",
		"//",
		"/a/",
		"a//b",
		"",
		"/a.b",
		"@x",
		"/tool",
		"/local",
		"/local/domain/5",
		"/local/domain/6",
		"@releaseDomain",
	};
	char path[64] = "";
	unsigned depth;

	if (pick(10) == 0) {
		add_string(req, odd[pick(ARRAY_SIZE(odd))]);
		return;
	}
	if (pick(4) == 0)
		sprintf(path, "/local/domain/%u/", 5 + pick(2));
	else if (pick(3))
		strcpy(path, "/");
	for (depth = 1 + pick(4); depth; depth--)
		sprintf(path + strlen(path), "%c%s", 'a' + (char)pick(3), depth > 1 ? "/" : "");
	add_string(req, path);
}

static void add_value(struct request *req)
{
	static const unsigned sizes[] = {0, 1, 5, 100, 1900};
	unsigned size = sizes[pick(ARRAY_SIZE(sizes))];

	/* About the quota of a node's size; in a transaction it is a listed difference. */
	if (req->txn == NR_TXNS && pick(5) == 0)
		size = 2000 + pick(40);
	memset(req->payload + req->len, pick(8) ? 'v' : 0, size);
	req->len += size;
}

static void add_perms(struct request *req)
{
	static const unsigned owners[] = {0, 5, 6};
	unsigned nr = 1 + pick(3);
	char text[8];

	if (pick(10) == 0)
		nr = 5 + pick(2);
	while (nr--) {
		sprintf(text, "%c%u", "nrwb"[pick(4)], owners[pick(3)]);
		add_string(req, text);
	}
}

static void add_number(struct request *req, const unsigned *numbers, unsigned nr)
{
	char text[16];

	sprintf(text, "%u", numbers[pick(nr)]);
	add_string(req, text);
}

static void make_request(struct request *req)
{
	static const uint8_t types[] = {
		XS_READ,
		XS_READ,
		XS_READ,
		XS_WRITE,
		XS_WRITE,
		XS_WRITE,
		XS_WRITE,
		XS_WRITE,
		XS_MKDIR,
		XS_MKDIR,
		XS_RM,
		XS_RM,
		XS_DIRECTORY,
		XS_DIRECTORY,
		XS_GET_PERMS,
		XS_SET_PERMS,
		XS_SET_PERMS,
		XS_SET_PERMS,
		XS_WATCH,
		XS_WATCH,
		XS_UNWATCH,
		XS_TRANSACTION_START,
		XS_TRANSACTION_END,
		XS_TRANSACTION_END,
		XS_DIRECTORY_PART,
		XS_IS_DOMAIN_INTRODUCED,
		XS_RESUME,
		XS_GET_DOMAIN_PATH,
		XS_INTRODUCE,
		XS_RELEASE,
		XS_TYPE_COUNT,
		XS_ERROR,
	};
	static const unsigned some_domids[] = {0, 5, 6, 9};
	static const unsigned offsets[] = {0, 0, 2, 4, 1000};

	req->len = 0;
	req->client = pick(NR_CLIENTS);
	req->type = types[pick(ARRAY_SIZE(types))];
	req->txn = pick(2) ? NR_TXNS : pick(NR_TXNS);
	if (req->txn < NR_TXNS && !txns[req->client][req->txn][REAL])
		req->txn = NR_TXNS;
	switch (req->type) {
	case XS_WRITE:
		add_path(req);
		add_value(req);
		break;
	case XS_SET_PERMS:
		add_path(req);
		/* Special names of a domain that may not: 4.17 answers an error left over. */
		if (req->payload[0] == '@')
			req->payload[0] = '/';
		add_perms(req);
		break;
	case XS_WATCH:
	case XS_UNWATCH:
		add_path(req);
		add_string(req, pick(2) ? "t" : "u");
		break;
	case XS_TRANSACTION_START:
		req->txn = NR_TXNS;
		add_string(req, "");
		break;
	case XS_TRANSACTION_END:
		add_string(req, pick(8) ? (pick(4) ? "T" : "F") : "X");
		break;
	case XS_DIRECTORY_PART:
		add_path(req);
		add_number(req, offsets, ARRAY_SIZE(offsets));
		break;
	case XS_INTRODUCE:
	case XS_RELEASE:
		/* What they do to their own domain's channel is for its own tests. */
		add_string(req, pick(2) ? "0" : "9");
		break;
	case XS_IS_DOMAIN_INTRODUCED:
	case XS_RESUME:
	case XS_GET_DOMAIN_PATH:
		add_number(req, some_domids, ARRAY_SIZE(some_domids));
		break;
	default:
		add_path(req);
	}
}

/* ---- comparing ---- */

static void describe(const struct request *req, const struct answer answers[NR_SIDES])
{
	unsigned i;

	printf("domain %u, type %u, transaction %d:", domids[req->client], req->type,
	       req->txn == NR_TXNS ? -1 : (int)req->txn);
	for (i = 0; i < MIN(req->len, 80U); i++)
		putchar(req->payload[i] ? req->payload[i] : '|');
	printf("\n  Xen's answers type %u: %.80s\n  ours answers type %u: %.80s\n",
	       answers[REAL].head.type, answers[REAL].payload, answers[OURS].head.type,
	       answers[OURS].payload);
}

static bool same_answer(const struct request *req, const struct answer answers[NR_SIDES])
{
	const struct answer *real = &answers[REAL], *ours = &answers[OURS];
	size_t skip_real = 0, skip_ours = 0;

	if (real->head.type != ours->head.type)
		return false;
	if (real->head.type == XS_TRANSACTION_START)
		return true;
	if (real->head.type == XS_DIRECTORY_PART) {
		/* The generation is each one's own. */
		skip_real = strlen(real->payload) + 1;
		skip_ours = strlen(ours->payload) + 1;
	}
	return real->head.len - skip_real == ours->head.len - skip_ours &&
	       memcmp(real->payload + skip_real, ours->payload + skip_ours,
		      real->head.len - skip_real) == 0;
}

/* A removal in a transaction whose view is no longer one: EIO there, EAGAIN at its end here. */
static bool listed_difference(const struct request *req, const struct answer answers[NR_SIDES])
{
	return req->type == XS_RM && req->txn < NR_TXNS && answers[REAL].head.type == XS_ERROR &&
	       strcmp(answers[REAL].payload, "EIO") == 0;
}

static void end_txn(const struct request *req)
{
	struct answer answer;
	unsigned side;

	for (side = 0; side < NR_SIDES; side++)
		call(&links[side][req->client], XS_TRANSACTION_END,
		     txns[req->client][req->txn][side], "F", 2, &answer);
	memset(txns[req->client][req->txn], 0, sizeof(txns[0][0]));
}

/* Keeps the book of open transactions. */
static void note_txn(const struct request *req, const struct answer answers[NR_SIDES])
{
	uint32_t(*mine)[NR_SIDES] = txns[req->client];
	unsigned i, side;

	if (answers[REAL].head.type == XS_TRANSACTION_START) {
		for (i = 0; i < NR_TXNS - 1 && mine[i][REAL]; i++)
			;
		for (side = 0; side < NR_SIDES; side++)
			mine[i][side] = (uint32_t)atoi(answers[side].payload);
	}
	if (req->type == XS_TRANSACTION_END && req->txn < NR_TXNS && req->payload[0] != 'X')
		memset(mine[req->txn], 0, sizeof(mine[0]));
}

/* Every client is asked something harmless: what comes before the answer are its events. */
static bool same_events(void)
{
	struct answer answer;
	unsigned client, side;
	bool same = true;

	for (client = 0; client < NR_CLIENTS; client++) {
		for (side = 0; side < NR_SIDES; side++)
			call(&links[side][client], XS_GET_DOMAIN_PATH, 0, "1", 2, &answer);
		if (strcmp(links[REAL][client].events, links[OURS][client].events) != 0) {
			printf("events of client %u (domain %u)\nXen's:\n%sours:\n%s", client,
			       domids[client], links[REAL][client].events,
			       links[OURS][client].events);
			same = false;
		}
		for (side = 0; side < NR_SIDES; side++)
			links[side][client].events[0] = '\0';
	}
	return same;
}

static bool step(void)
{
	static struct request req;
	static struct answer answers[NR_SIDES];
	unsigned side;

	make_request(&req);
	/* No more than both allow. */
	if (req.type == XS_TRANSACTION_START && txns[req.client][NR_TXNS - 1][REAL])
		return true;
	for (side = 0; side < NR_SIDES; side++)
		call(&links[side][req.client], req.type,
		     req.txn < NR_TXNS ? txns[req.client][req.txn][side] : 0, req.payload, req.len,
		     &answers[side]);
	if (listed_difference(&req, answers)) {
		end_txn(&req);
	} else if (!same_answer(&req, answers)) {
		describe(&req, answers);
		return false;
	} else {
		note_txn(&req, answers);
	}
	if (same_events())
		return true;
	describe(&req, answers);
	return false;
}

/* Both have the same below @path, names in the same order. */
static bool same_tree(const char *path)
{
	static const uint32_t questions[] = {XS_READ, XS_GET_PERMS, XS_DIRECTORY};
	struct answer *answers = calloc(NR_SIDES, sizeof(*answers));
	struct request req = {.type = 0};
	char child[256];
	bool same = true;
	unsigned i, side;
	size_t off;

	if (!answers)
		die("memory");
	for (i = 0; i < ARRAY_SIZE(questions) && same; i++) {
		for (side = 0; side < NR_SIDES; side++)
			call(&links[side][0], questions[i], 0, path, strlen(path) + 1,
			     &answers[side]);
		same = same_answer(&req, answers);
	}
	if (!same)
		printf("the trees differ at %s\n", path);
	for (off = 0; same && off < answers[REAL].head.len;
	     off += strlen(answers[REAL].payload + off) + 1) {
		snprintf(child, sizeof(child), "%s/%s", path[1] ? path : "",
			 answers[REAL].payload + off);
		same = same_tree(child);
	}
	free(answers);
	return same;
}

static void set_up(void)
{
	static const char *const introductions[] = {"5\0001\0001", "6\0001\0001"};
	struct answer answer;
	unsigned i;

	for (i = 0; i < 2; i++) {
		connect_link(&links[REAL][i], host_dir, "sock");
		connect_link(&links[OURS][i], our_dir, "0");
	}
	connect_link(&waker, host_dir, "sock");
	for (i = 0; i < 2; i++)
		call(&links[REAL][0], XS_INTRODUCE, 0, introductions[i], 6, &answer);
	map_link(&links[REAL][2], 5);
	map_link(&links[REAL][3], 6);
	connect_link(&links[OURS][2], our_dir, "5");
	connect_link(&links[OURS][3], our_dir, "6");
	/* Ours begins with it. */
	call(&links[REAL][0], XS_MKDIR, 0, "/local/domain", sizeof("/local/domain"), &answer);
}

int main(int argc, char **argv)
{
	unsigned long steps, i;

	if (argc != 5) {
		fputs("usage: xenstored-twins XENS-DIR OUR-DIR SEED STEPS\n", stderr);
		return 2;
	}
	host_dir = argv[1];
	our_dir = argv[2];
	random_state = strtoul(argv[3], NULL, 10) * 0x9e3779b97f4a7c15UL + 1;
	steps = strtoul(argv[4], NULL, 10);
	setvbuf(stdout, NULL, _IOLBF, 0);
	set_up();
	for (i = 0; i < steps; i++) {
		if (!step()) {
			printf("difference at step %lu of seed %s\n", i, argv[3]);
			return 1;
		}
	}
	return same_tree("/") ? 0 : 1;
}
