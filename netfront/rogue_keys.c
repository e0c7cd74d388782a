/* SPDX-License-Identifier: MIT */
/* rogue_keys.c: what a hostile frontend writes into its device directory. */
#include "netfront/rogue.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#define FLOOD_WRITES	2000
#define LONG_DIGITS	300
#define JUMP_PAUSE_MSEC 50

#define STATE(name) (1u << XenbusState##name)

/* The key of the row (text: "KEY=VALUE") with that value; no "=": removed. */
static int set_key(struct rogue *rogue)
{
	char key[64], path[XENBUS_PATH_BYTES];
	const char *value = strchr(rogue->row->text, '=');
	int err;

	if (value) {
		snprintf(key, sizeof(key), "%.*s", (int)(value - rogue->row->text),
			 rogue->row->text);
		return rogue_write(rogue, key, value + 1, (unsigned)strlen(value + 1));
	}
	err = xenbus_path(path, "%s/%s", rogue->dir, rogue->row->text);
	if (err)
		return err;
	return xs_rm(rogue->xs, XBT_NULL, path) ? 0 : -errno;
}

static int long_ref(struct rogue *rogue)
{
	char digits[LONG_DIGITS];

	memset(digits, '1', sizeof(digits));
	return rogue_write(rogue, "tx-ring-ref", digits, sizeof(digits));
}

static int binary_ref(struct rogue *rogue)
{
	static const char bytes[] = "\x01\x00\xff\x1b[31m%s%n\n";

	return rogue_write(rogue, "tx-ring-ref", bytes, sizeof(bytes));
}

/* Both layouts at once is legal: only the number of queues decides. */
static int bad_channel(struct rogue *rogue)
{
	const char *port = rogue->row->text;
	unsigned len = (unsigned)strlen(port);
	int err;

	if (!rogue->features.split_evtchn)
		return rogue_write(rogue, "event-channel", port, len);
	err = rogue_write(rogue, "event-channel-tx", port, len);
	return err ? err : rogue_write(rogue, "event-channel-rx", port, len);
}

/* A channel that exists and is somebody else's end: ours, but bound already. */
static int channel_twice(struct rogue *rogue)
{
	char port[16];
	unsigned len = (unsigned)snprintf(port, sizeof(port), "%d", rogue->queue.tx_port);

	if (!rogue->features.split_evtchn)
		return -EOPNOTSUPP;
	return rogue_write(rogue, "event-channel-rx", port, len);
}

static int key_flood(struct rogue *rogue)
{
	int err = 0;

	for (int i = 0; !err && i < FLOOD_WRITES; i++) {
		err = rogue_write(rogue, "state", "4", 1);
		if (!err)
			err = rogue_write(rogue, "feature-rx-notify", i % 2 ? "1" : "0", 1);
	}
	return err;
}

/* A proper frontend's way to each state from which a jump starts. */
static int go_to(struct rogue *rogue, const char *from)
{
	int err = rogue_reset(rogue);

	if (!err && *from != '1')
		err = rogue_write(rogue, "state", from, 1);
	rogue_sleep_msec(JUMP_PAUSE_MSEC);
	return err;
}

/* Every value from every state a frontend can be in; what counts is that the vif can be had back.
 */
static int state_jumps(struct rogue *rogue)
{
	static const char *const values[] = {"0", "1", "2", "3",  "4",	"5", "6",
					     "7", "8", "9", "-1", "4x", "",  "4294967300"};
	static const char *const from[] = {"1", "3", "5", "6", "7"};
	int err;

	for (size_t f = 0; f < ARRAY_SIZE(from); f++) {
		for (size_t v = 0; v < ARRAY_SIZE(values); v++) {
			err = go_to(rogue, from[f]);
			if (!err)
				err = rogue_write(rogue, "state", values[v],
						  (unsigned)strlen(values[v]));
			if (err)
				return err;
			rogue_sleep_msec(JUMP_PAUSE_MSEC);
		}
	}
	return rogue_reset(rogue);
}

/* From a connection: the row's value, then nothing more. The keys stay those of a live one. */
static int jump_from_connected(struct rogue *rogue)
{
	return rogue_write(rogue, "state", rogue->row->text, (unsigned)strlen(rogue->row->text));
}

/* What Linux does when an XDP program comes or goes. */
static int reconfigure(struct rogue *rogue)
{
	int err = rogue_write(rogue, "state", "7", 1);

	if (err)
		return err;
	if (!rogue_wait_backend(rogue, STATE(Reconfigured), rogue->wait_msec))
		return -ETIMEDOUT;
	err = rogue_write(rogue, "state", "4", 1);
	if (!err && !rogue_wait_backend(rogue, STATE(Connected), rogue->wait_msec))
		err = -ETIMEDOUT;
	return err;
}

static int state_removed(struct rogue *rogue)
{
	char path[XENBUS_PATH_BYTES];
	int err = xenbus_path(path, "%s/state", rogue->dir);
	bool closed;

	if (err)
		return err;
	if (!xs_rm(rogue->xs, XBT_NULL, path))
		return -errno;
	closed = rogue_wait_backend(rogue, ~STATE(Connected), rogue->wait_msec);
	/* Without the node no state can be written honestly afterwards. */
	err = rogue_write(rogue, "state", "6", 1);
	return closed ? err : -ETIMEDOUT;
}

#define BAD_KEY(label, describes, assignment)                                                 \
	{                                                                                     \
		label, describes, false, set_key, .expect = ROGUE_REFUSED, .text = assignment \
	}
#define JUMP(value, outcome)                                                      \
	{                                                                         \
		"state-4-to-" value, "state " value " out of a connection", true, \
			jump_from_connected, .expect = outcome, .text = value     \
	}

const struct rogue_row rogue_key_rows[] = {
	BAD_KEY("ref-negative", "ring reference -1", "tx-ring-ref=-1"),
	BAD_KEY("ref-hex", "ring reference in hexadecimal", "rx-ring-ref=0x8"),
	BAD_KEY("ref-empty", "empty ring reference", "tx-ring-ref="),
	BAD_KEY("ref-space", "ring reference after a space", "tx-ring-ref= 8"),
	BAD_KEY("ref-missing", "no receive ring reference", "rx-ring-ref"),
	BAD_KEY("ref-nobody", "a reference that is not granted", "tx-ring-ref=4294967295"),
	BAD_KEY("ref-too-large", "a reference beyond 32 bits", "tx-ring-ref=4294967304"),
	{"ref-long", "ring reference of 300 digits", false, long_ref, .expect = ROGUE_REFUSED},
	{"ref-binary", "ring reference of control bytes", false, binary_ref,
	 .expect = ROGUE_REFUSED},
	{"channel-nobody", "an event channel that does not exist", false, bad_channel,
	 .expect = ROGUE_REFUSED, .text = "99999"},
	{"channel-zero", "event channel 0", false, bad_channel, .expect = ROGUE_REFUSED,
	 .text = "0"},
	{"channel-junk", "an event channel in words", false, bad_channel, .expect = ROGUE_REFUSED,
	 .text = "seven"},
	{"channel-twice", "one event channel as both", false, channel_twice,
	 .expect = ROGUE_REFUSED},
	BAD_KEY("queues-zero", "no queue (CVE-2026-45890)", "multi-queue-num-queues=0"),
	BAD_KEY("queues-4000", "4000 queues", "multi-queue-num-queues=4000"),
	BAD_KEY("queues-2-absent", "two queues, keys for none", "multi-queue-num-queues=2"),
	BAD_KEY("rx-flip", "receive by page flipping", "request-rx-copy=0"),
	{"queues-1", "one queue, said explicitly, as Windows does", false, set_key,
	 .expect = ROGUE_SERVED, .text = "multi-queue-num-queues=1"},
	{"key-flood", "4000 writes into the device directory", true, key_flood,
	 .expect = ROGUE_SERVED},
	{"state-jumps", "every state from every state before connecting", false, state_jumps,
	 .expect = ROGUE_REFUSED},
	JUMP("0", ROGUE_LOST),
	JUMP("1", ROGUE_LOST),
	JUMP("2", ROGUE_SERVED),
	JUMP("3", ROGUE_SERVED),
	JUMP("5", ROGUE_LOST),
	JUMP("6", ROGUE_LOST),
	{"state-4-to-7", "reconfiguring, and back", true, reconfigure, .expect = ROGUE_SERVED},
	JUMP("8", ROGUE_SERVED),
	JUMP("9", ROGUE_LOST),
	{"state-4-to-junk", "a state that is no number", true, jump_from_connected,
	 .expect = ROGUE_LOST, .text = "4x"},
	{"state-removed", "the state node removed", true, state_removed, .expect = ROGUE_LOST},
	{.name = NULL},
};
