/* SPDX-License-Identifier: MIT */
/*
 * rogue.c: plays one row of the tables of misbehaviour, looks at what the backend does, comes back
 * as an honest frontend, and reports. Single-threaded, blocking, polls the store: nothing here is
 * fast.
 */
#include "netfront/rogue.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/load_frame.h"
#include "common/log.h"

#define EXIT_USAGE   2
#define EXIT_SKIPPED 77 /* the row cannot be played here */
#define POLL_MSEC    5
#define SETTLE_MSEC  200
#define FRAME_BYTES  60
#define WAIT_SEC     5

#define STATE(name) (1u << XenbusState##name)

static const struct rogue_row *const tables[] = {rogue_ring_rows, rogue_key_rows};

static const char *const outcome_names[] = {
	[ROGUE_SERVED] = "served",
	[ROGUE_LOST] = "lost",
	[ROGUE_REFUSED] = "refused",
	[ROGUE_EITHER] = "either",
};

const char *rogue_outcome_name(enum rogue_outcome outcome)
{
	return outcome_names[outcome];
}

/* ---- time and states ---- */

void rogue_sleep_msec(unsigned msec)
{
	struct timespec wait = {msec / 1000, (long)(msec % 1000) * 1000000};

	nanosleep(&wait, NULL);
}

static uint64_t now_msec(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

enum xenbus_state rogue_backend_state(const struct rogue *rogue)
{
	return xenbus_read_state(rogue->xs, XBT_NULL, rogue->backend.path);
}

bool rogue_wait_backend(const struct rogue *rogue, unsigned states, unsigned msec)
{
	uint64_t end = now_msec() + msec;

	while (!(states >> rogue_backend_state(rogue) & 1)) {
		if (now_msec() >= end)
			return false;
		rogue_sleep_msec(POLL_MSEC);
	}
	return true;
}

int rogue_write(const struct rogue *rogue, const char *key, const void *value, unsigned len)
{
	char path[XENBUS_PATH_BYTES];
	int err = xenbus_path(path, "%s/%s", rogue->dir, key);

	if (err)
		return err;
	return xs_write(rogue->xs, XBT_NULL, path, value, len) ? 0 : -errno;
}

static void set_state(const struct rogue *rogue, enum xenbus_state state)
{
	xenbus_switch_state(rogue->xs, rogue->dir, state);
}

/* The way a kexec'd Linux takes: each state is waited for. */
static int close_in_order(struct rogue *rogue)
{
	set_state(rogue, XenbusStateClosing);
	rogue_wait_backend(rogue, STATE(Closing) | STATE(Closed), rogue->wait_msec);
	set_state(rogue, XenbusStateClosed);
	if (!rogue_wait_backend(rogue, STATE(Closed) | STATE(InitWait), rogue->wait_msec))
		return -ETIMEDOUT;
	return 0;
}

int rogue_reset(struct rogue *rogue)
{
	unsigned fresh = STATE(Initialising) | STATE(InitWait);
	int err = fresh >> rogue_backend_state(rogue) & 1 ? 0 : close_in_order(rogue);

	netfront_queue_close(&rogue->queue, &rogue->hv);
	if (err)
		return err;
	set_state(rogue, XenbusStateInitialising);
	return rogue_wait_backend(rogue, STATE(InitWait), rogue->wait_msec) ? 0 : -ETIMEDOUT;
}

/* ---- connecting ---- */

static int connect_vif(struct rogue *rogue)
{
	int err = rogue_reset(rogue);

	if (err)
		return err;
	rogue->features = (struct netfront_features){
		.sg_tx = true, .sg_rx = true, .rx_notify = true, .split_evtchn = true};
	netfront_read_features(rogue->xs, &rogue->backend, &rogue->features);
	err = netfront_queue_open(&rogue->queue, &rogue->hv, rogue->backend.domid,
				  &rogue->features);
	if (err)
		return err;
	err = netfront_publish_keys(rogue->xs, rogue->dir, &rogue->queue, 1, &rogue->features);
	if (!err && !rogue->honest && !rogue->row->connected)
		err = rogue->row->act(rogue);
	if (err)
		return err;
	set_state(rogue, XenbusStateConnected);
	rogue_wait_backend(rogue, STATE(Connected) | STATE(Closing) | STATE(Closed),
			   rogue->wait_msec);
	if (rogue_backend_state(rogue) == XenbusStateConnected)
		netfront_queue_kick(&rogue->queue, &rogue->hv);
	return 0;
}

/* ---- transmit ring, without netfront's care ---- */

void rogue_slot(struct rogue *rogue, unsigned page, unsigned offset, unsigned size, unsigned flags)
{
	netif_tx_front_ring_t *ring = &rogue->queue.tx.ring;
	netif_tx_request_t *req = RING_GET_REQUEST(ring, ring->req_prod_pvt);

	*req = (netif_tx_request_t){.gref = rogue->queue.tx.grefs[page],
				    .offset = (uint16_t)offset,
				    .flags = (uint16_t)flags,
				    .id = (uint16_t)page,
				    .size = (uint16_t)size};
	ring->req_prod_pvt++;
	rogue->nr_pushed++;
}

void rogue_publish(struct rogue *rogue)
{
	RING_PUSH_REQUESTS(&rogue->queue.tx.ring);
	netfront_queue_kick(&rogue->queue, &rogue->hv);
}

static void count_answer(struct rogue *rogue, const netif_tx_response_t *rsp)
{
	switch (rsp->status) {
	case NETIF_RSP_OKAY:
		rogue->answers.okay++;
		break;
	case NETIF_RSP_DROPPED:
		rogue->answers.dropped++;
		break;
	case NETIF_RSP_NULL:
		rogue->answers.null++;
		break;
	default:
		rogue->answers.error++;
	}
}

void rogue_collect(struct rogue *rogue, unsigned msec)
{
	netif_tx_front_ring_t *ring = &rogue->queue.tx.ring;
	uint64_t end = now_msec() + msec;
	netif_tx_response_t rsp;

	while (rogue->nr_pushed && now_msec() < end) {
		RING_IDX prod = READ_ONCE(ring->sring->rsp_prod);

		xen_rmb();
		for (; ring->rsp_cons != prod && rogue->nr_pushed; rogue->nr_pushed--) {
			RING_COPY_RESPONSE(ring, ring->rsp_cons++, &rsp);
			count_answer(rogue, &rsp);
		}
		if (rogue->nr_pushed)
			rogue_sleep_msec(1);
	}
}

static void write_frame(struct rogue *rogue)
{
	uint8_t *frame = rogue->queue.tx_pages;

	memset(frame, 0xff, NETFRONT_MAC_BYTES);
	netfront_read_mac(rogue->xs, rogue->dir, frame + NETFRONT_MAC_BYTES);
	load_frame_fill(frame, FRAME_BYTES, 0);
}

bool rogue_honest_frame(struct rogue *rogue)
{
	struct rogue_answers before = rogue->answers;
	bool answered;

	write_frame(rogue);
	rogue_slot(rogue, 0, 0, FRAME_BYTES, 0);
	rogue_publish(rogue);
	rogue_collect(rogue, rogue->wait_msec);
	/* A port that is down or full drops it: the backend's answer is what counts. */
	answered = rogue->answers.okay + rogue->answers.dropped > before.okay + before.dropped;
	rogue->answers = before;
	return answered;
}

/* ---- one play ---- */

static enum rogue_outcome look(struct rogue *rogue, bool was_connected)
{
	if (!was_connected)
		return ROGUE_REFUSED;
	/* Only the honest frame proves that it is served still, once the backend had its time. */
	rogue_wait_backend(rogue, ~STATE(Connected),
			   rogue->row->expect == ROGUE_LOST ? rogue->wait_msec : SETTLE_MSEC);
	rogue_collect(rogue, rogue->wait_msec / 4);
	rogue->nr_pushed = 0;
	if (rogue_backend_state(rogue) == XenbusStateConnected && rogue_honest_frame(rogue))
		return ROGUE_SERVED;
	return ROGUE_LOST;
}

static int play(struct rogue *rogue, enum rogue_outcome *outcome)
{
	bool connected;
	int err = connect_vif(rogue);

	if (err)
		return err;
	connected = rogue_backend_state(rogue) == XenbusStateConnected;
	if (rogue->row->connected) {
		if (!connected)
			return -ENOTCONN;
		write_frame(rogue);
		err = rogue->row->act(rogue);
		if (err)
			return err;
	}
	*outcome = look(rogue, connected);
	return 0;
}

/* The vif must be usable again whatever was done to it. */
static bool recover(struct rogue *rogue)
{
	rogue->honest = true;
	rogue->nr_pushed = 0;
	return !connect_vif(rogue) && rogue_backend_state(rogue) == XenbusStateConnected &&
	       rogue_honest_frame(rogue);
}

static bool as_expected(const struct rogue *rogue, enum rogue_outcome outcome)
{
	const struct rogue_row *row = rogue->row;

	if (row->expect == ROGUE_EITHER)
		return outcome != ROGUE_REFUSED;
	if (outcome != row->expect)
		return false;
	return outcome != ROGUE_SERVED || row->any_answers ||
	       !memcmp(&rogue->answers, &row->answers, sizeof(row->answers));
}

/* Where the backend says why; a guest may not be allowed to read it. */
static json_t *error_node(const struct rogue *rogue)
{
	char text[XENBUS_VALUE_BYTES], path[XENBUS_PATH_BYTES], clean[4 * XENBUS_VALUE_BYTES];
	const char *name = strstr(rogue->backend.path, "/backend/");
	int len;

	if (!name || xenbus_path(path, "/local/domain/%u/error%s", rogue->backend.domid, name))
		return json_null();
	len = xenbus_read(rogue->xs, XBT_NULL, path, "error", text, sizeof(text));
	if (len < 0)
		return json_null();
	return json_string(log_escape(clean, sizeof(clean), text, (size_t)len));
}

static bool report(struct rogue *rogue, enum rogue_outcome outcome, enum xenbus_state state,
		   bool recovered)
{
	const struct rogue_row *row = rogue->row;
	bool pass = as_expected(rogue, outcome) && recovered;
	json_t *doc =
		json_pack("{s:s, s:s, s:s, s:s, s:{s:i, s:i, s:i, s:i}, s:s?, s:o, s:b, s:b}",
			  "name", row->name, "expected", rogue_outcome_name(row->expect), "outcome",
			  rogue_outcome_name(outcome), "backend_state", xenbus_state_name(state),
			  "answers", "okay", (int)rogue->answers.okay, "error",
			  (int)rogue->answers.error, "dropped", (int)rogue->answers.dropped, "null",
			  (int)rogue->answers.null, "counter", row->counter, "backend_error",
			  error_node(rogue), "recovered", recovered, "pass", pass);

	json_dumpf(doc, stdout, JSON_COMPACT);
	putchar('\n');
	json_decref(doc);
	return pass;
}

static int run(struct rogue *rogue)
{
	enum rogue_outcome outcome = ROGUE_REFUSED;
	enum xenbus_state state;
	int err = play(rogue, &outcome);

	if (err == -EOPNOTSUPP) {
		log_warn("%s cannot be played here", rogue->row->name);
		return EXIT_SKIPPED;
	}
	if (err) {
		log_err("%s: %s (backend %s is in state %s)", rogue->row->name, strerror(-err),
			rogue->backend.path, xenbus_state_name(rogue_backend_state(rogue)));
		return EXIT_FAILURE;
	}
	state = rogue_backend_state(rogue);
	return report(rogue, outcome, state, recover(rogue)) ? EXIT_SUCCESS : EXIT_FAILURE;
}

/* ---- life ---- */

static int open_all(struct rogue *rogue)
{
	int err;

	rogue->queue.tx_port = rogue->queue.rx_port = -1;
	rogue->xs = xs_open(0);
	if (!rogue->xs) {
		err = errno ? -errno : -EIO;
		log_err("cannot reach xenstored: %s", strerror(-err));
		return err;
	}
	err = xenbus_path(rogue->dir, "device/vif/%u", rogue->vif);
	if (!err)
		err = netfront_find_backend(rogue->xs, rogue->dir, &rogue->backend);
	if (err) {
		log_err("no device in %s: %s (attach a vif first)", rogue->dir, strerror(-err));
		return err;
	}
	return netfront_hv_open(&rogue->hv);
}

static void close_all(struct rogue *rogue)
{
	if (rogue->xs && rogue->hv.gntshr) {
		set_state(rogue, XenbusStateClosing);
		rogue_wait_backend(rogue, ~STATE(Connected), rogue->wait_msec);
		netfront_queue_close(&rogue->queue, &rogue->hv);
		set_state(rogue, XenbusStateClosed);
		rogue_wait_backend(rogue, STATE(Closed) | STATE(Unknown), rogue->wait_msec);
	}
	netfront_hv_close(&rogue->hv);
	if (rogue->xs)
		xs_close(rogue->xs);
}

static void list_rows(void)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct rogue_row *row = tables[t]; row->name; row++)
			printf("%-24s %-8s %-20s %s\n", row->name, rogue_outcome_name(row->expect),
			       row->counter ? row->counter : "-", row->what);
	}
}

static const struct rogue_row *find_row(const char *name)
{
	for (size_t t = 0; t < ARRAY_SIZE(tables); t++) {
		for (const struct rogue_row *row = tables[t]; row->name; row++) {
			if (!strcmp(row->name, name))
				return row;
		}
	}
	return NULL;
}

static int usage(void)
{
	fputs("usage: rogue --list | rogue NAME [--vif N] [--wait SEC]\n", stderr);
	return EXIT_USAGE;
}

static int parse(int argc, char *argv[], struct rogue *rogue)
{
	uint32_t value;

	rogue->wait_msec = WAIT_SEC * 1000;
	rogue->row = find_row(argv[1]);
	if (!rogue->row) {
		fprintf(stderr, "rogue: no row '%s' (see --list)\n", argv[1]);
		return -EINVAL;
	}
	for (int i = 2; i < argc; i += 2) {
		if (i + 1 == argc || xenbus_parse_u32(argv[i + 1], 0, 65535, &value))
			return -EINVAL;
		if (!strcmp(argv[i], "--vif"))
			rogue->vif = value;
		else if (!strcmp(argv[i], "--wait") && value)
			rogue->wait_msec = value * 1000;
		else
			return -EINVAL;
	}
	return 0;
}

int main(int argc, char *argv[])
{
	struct rogue rogue = {.vif = 0};
	int status = EXIT_FAILURE;

	if (argc == 2 && !strcmp(argv[1], "--list")) {
		list_rows();
		return EXIT_SUCCESS;
	}
	if (argc < 2 || parse(argc, argv, &rogue))
		return usage();
	log_open("rogue", NULL);
	if (!open_all(&rogue))
		status = run(&rogue);
	close_all(&rogue);
	return status;
}
