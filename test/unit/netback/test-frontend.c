/* SPDX-License-Identifier: MIT */
/* test-frontend.c: a frontend's keys, sane, partial, left over and nonsensical. */
#include "test/unit/netback/suites.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/frontend.h"

#define KEYS_MAX 16

struct pair {
	const char *key, *value;
};

/* A directory: pairs up to one without a key; later ones of the same key win. */
struct directory {
	const struct pair *first, *second;
};

static const char *find(const struct pair *pairs, const char *key)
{
	for (; pairs && pairs->key; pairs++) {
		if (!strcmp(pairs->key, key))
			return pairs->value;
	}
	return NULL;
}

static int read_key(void *arg, const char *key, char *value, size_t size)
{
	const struct directory *dir = arg;
	const char *text = find(dir->second, key);

	if (!text)
		text = find(dir->first, key);
	if (!text || !strcmp(text, "(absent)"))
		return -ENOENT;
	if (!strcmp(text, "(denied)"))
		return -EACCES;
	if (strlen(text) >= size)
		return -E2BIG;
	strcpy(value, text);
	return (int)strlen(text);
}

static const struct pair linux_keys[] = {
	{"tx-ring-ref", "768"},
	{"rx-ring-ref", "769"},
	{"event-channel-tx", "11"},
	{"event-channel-rx", "12"},
	{"request-rx-copy", "1"},
	{"feature-rx-notify", "1"},
	{"feature-sg", "1"},
	{"feature-gso-tcpv4", "1"},
	{"feature-gso-tcpv6", "1"},
	{"feature-ipv6-csum-offload", "1"},
	{NULL, NULL},
};

static int read_with(const struct pair *first, const struct pair *second, unsigned max_queues,
		     struct xenvif_queue_params *queues, unsigned *nr, char *error, size_t size)
{
	struct directory dir = {first, second};
	struct frontend_source source = {read_key, &dir};
	struct frontend_offer offer = {
		.max_queues = max_queues, .split = true, .domid = 7, .mtu = 1500};

	memset(queues, 0, max_queues * sizeof(*queues));
	*error = '\0';
	return frontend_read(&source, &offer, queues, nr, error, size);
}

START_TEST(linux_is_read)
{
	struct xenvif_queue_params queue;
	char error[128];
	unsigned nr = 0;

	ck_assert_int_eq(read_with(linux_keys, NULL, 1, &queue, &nr, error, sizeof(error)), 0);
	ck_assert_uint_eq(nr, 1);
	ck_assert_uint_eq(queue.domid, 7);
	ck_assert_uint_eq(queue.tx_ring_ref, 768);
	ck_assert_uint_eq(queue.rx_ring_ref, 769);
	ck_assert(queue.split);
	ck_assert_uint_eq(queue.tx_evtchn, 11);
	ck_assert_uint_eq(queue.rx_evtchn, 12);
	ck_assert(queue.features.sg && queue.features.rx_notify);
	ck_assert(queue.features.csum_ipv4 && queue.features.csum_ipv6);
	/* Not offered, so not agreed, whatever the frontend can do. */
	ck_assert(!queue.features.gso_tcpv4 && !queue.features.gso_tcpv6);
	ck_assert_uint_eq(queue.features.mtu, 1500);
}
END_TEST

/* {name, what differs from Linux's keys, result, text in the error} */
static const struct {
	const char *name;
	struct pair change[4];
	int ret;
	const char *error;
} rows[] = {
	{"6.6 one queue said explicitly", {{"multi-queue-num-queues", "1"}}, 0, ""},
	{"CVE-2026-45890: no queues",
	 {{"multi-queue-num-queues", "0"}},
	 -ERANGE,
	 "multi-queue-num-queues: out of range"},
	{"more queues than offered", {{"multi-queue-num-queues", "2"}}, -ERANGE, "out of range"},
	{"a negative number of queues",
	 {{"multi-queue-num-queues", "-1"}},
	 -EINVAL,
	 "not a decimal number"},
	{"an empty number of queues", {{"multi-queue-num-queues", ""}}, -EINVAL, "not a decimal"},
	{"number of queues cannot be read",
	 {{"multi-queue-num-queues", "(denied)"}},
	 -EACCES,
	 "multi-queue-num-queues: Permission denied"},
	{"6.4 keys of the other layout left over",
	 {{"queue-0/tx-ring-ref", "x"}, {"queue-0/event-channel", "x"}},
	 0,
	 ""},
	{"6.5 a single channel left over beside the split ones", {{"event-channel", "99"}}, 0, ""},
	{"6.2 tx-ring-ref not there yet",
	 {{"tx-ring-ref", "(absent)"}},
	 -ENOENT,
	 "tx-ring-ref: missing"},
	{"6.2 rx-ring-ref not there yet",
	 {{"rx-ring-ref", "(absent)"}},
	 -ENOENT,
	 "rx-ring-ref: missing"},
	{"6.2 no channel there yet",
	 {{"event-channel-tx", "(absent)"}, {"event-channel-rx", "(absent)"}},
	 -ENOENT,
	 "event-channel: missing"},
	{"6.2 request-rx-copy not there yet",
	 {{"request-rx-copy", "(absent)"}},
	 -ENOENT,
	 "request-rx-copy: missing"},
	{"6.11 flipping wanted", {{"request-rx-copy", "0"}}, -EOPNOTSUPP, "must be 1"},
	{"6.11 request-rx-copy is nonsense",
	 {{"request-rx-copy", "yes"}},
	 -EINVAL,
	 "not a decimal"},
	{"6.39 reference in hexadecimal", {{"tx-ring-ref", "0x300"}}, -EINVAL, "tx-ring-ref: not"},
	{"6.39 reference in octal", {{"tx-ring-ref", "01400"}}, -EINVAL, "not a decimal"},
	{"6.39 reference with a sign", {{"rx-ring-ref", "+769"}}, -EINVAL, "rx-ring-ref: not"},
	{"6.39 reference with a space", {{"rx-ring-ref", " 769"}}, -EINVAL, "not a decimal"},
	{"6.39 reference of 33 bits", {{"rx-ring-ref", "4294967296"}}, -ERANGE, "out of range"},
	{"6.39 reference that wraps 64 bits",
	 {{"tx-ring-ref", "18446744073709552384"}},
	 -ERANGE,
	 "out of range"},
	{"6.39 bytes, not text", {{"tx-ring-ref", "\xff\x80\x01"}}, -EINVAL, "not a decimal"},
	{"6.39 a value longer than any number",
	 {{"tx-ring-ref", "0000000000000000000000000000000000000000000000000000000000000000000"}},
	 -EINVAL,
	 "tx-ring-ref: too long"},
	{"a format string as a value", {{"tx-ring-ref", "%s%n"}}, -EINVAL, "not a decimal"},
	{"channel 0", {{"event-channel-tx", "0"}}, -ERANGE, "event-channel-tx: out of range"},
	{"a channel beyond all there are",
	 {{"event-channel-rx", "131072"}},
	 -ERANGE,
	 "event-channel-rx: out of range"},
	{"the last channel there is", {{"event-channel-rx", "131071"}}, 0, ""},
	{"a nonsense split channel is not passed over",
	 {{"event-channel-tx", "x"}},
	 -EINVAL,
	 "event-channel-tx: not"},
};

START_TEST(frontend_keys)
{
	struct xenvif_queue_params queue;
	char error[128];
	unsigned nr = 0;
	int ret = read_with(linux_keys, rows[_i].change, 1, &queue, &nr, error, sizeof(error));

	ck_assert_msg(ret == rows[_i].ret, "%s: %d, '%s'", rows[_i].name, ret, error);
	if (ret)
		ck_assert_msg(strstr(error, rows[_i].error), "%s: '%s' lacks '%s'", rows[_i].name,
			      error, rows[_i].error);
	else
		ck_assert(queue.split && queue.tx_evtchn == 11);
}
END_TEST

START_TEST(a_single_channel_serves_both_rings)
{
	const struct pair single[] = {{"event-channel-tx", "(absent)"},
				      {"event-channel-rx", "(absent)"},
				      {"event-channel", "5"},
				      {NULL, NULL}};
	const struct pair half[] = {
		{"event-channel-rx", "(absent)"}, {"event-channel", "5"}, {NULL, NULL}};
	const struct pair *const both[] = {single, half};
	struct xenvif_queue_params queue;
	char error[128];
	unsigned nr;

	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		ck_assert_int_eq(
			read_with(linux_keys, both[i], 1, &queue, &nr, error, sizeof(error)), 0);
		ck_assert(!queue.split);
		ck_assert_uint_eq(queue.tx_evtchn, 5);
		ck_assert_uint_eq(queue.rx_evtchn, 5);
	}
}
END_TEST

START_TEST(split_channels_not_offered_are_not_used)
{
	const struct pair single[] = {{"event-channel", "5"}, {NULL, NULL}};
	struct directory dir = {linux_keys, single};
	struct frontend_source source = {read_key, &dir};
	struct frontend_offer offer = {.max_queues = 1, .split = false};
	struct xenvif_queue_params queue = {0};
	char error[128];
	unsigned nr;

	ck_assert_int_eq(frontend_read(&source, &offer, &queue, &nr, error, sizeof(error)), 0);
	ck_assert(!queue.split);
	ck_assert_uint_eq(queue.tx_evtchn, 5);
}
END_TEST

START_TEST(several_queues_have_directories)
{
	const struct pair keys[] = {
		{"multi-queue-num-queues", "2"},
		{"request-rx-copy", "1"},
		{"tx-ring-ref", "1"}, /* left over */
		{"queue-0/tx-ring-ref", "10"},
		{"queue-0/rx-ring-ref", "11"},
		{"queue-0/event-channel", "12"},
		{"queue-1/tx-ring-ref", "20"},
		{"queue-1/rx-ring-ref", "21"},
		{"queue-1/event-channel-tx", "22"},
		{"queue-1/event-channel-rx", "23"},
		{NULL, NULL},
	};
	struct xenvif_queue_params queues[4];
	char error[128];
	unsigned nr;

	ck_assert_int_eq(read_with(keys, NULL, 4, queues, &nr, error, sizeof(error)), 0);
	ck_assert_uint_eq(nr, 2);
	ck_assert_uint_eq(queues[0].tx_ring_ref, 10);
	ck_assert(!queues[0].split);
	ck_assert_uint_eq(queues[1].rx_ring_ref, 21);
	ck_assert(queues[1].split);
	ck_assert_uint_eq(queues[1].rx_evtchn, 23);
}
END_TEST

/* Flags: absent and nonsense are no; 10 is yes; the sense of no-csum-offload is inverted. */
START_TEST(minios_and_ipxe_have_few_features)
{
	const struct pair few[] = {{"feature-rx-notify", "(absent)"},
				   {"feature-sg", "yes"},
				   {"feature-no-csum-offload", "1"},
				   {"feature-ipv6-csum-offload", "0"},
				   {NULL, NULL}};
	struct xenvif_queue_params queue;
	char error[128];
	unsigned nr;

	ck_assert_int_eq(read_with(linux_keys, few, 1, &queue, &nr, error, sizeof(error)), 0);
	ck_assert(!queue.features.rx_notify && !queue.features.sg);
	ck_assert(!queue.features.csum_ipv4 && !queue.features.csum_ipv6);
}
END_TEST

static const struct {
	const char *text;
	bool good;
} macs[] = {
	{"00:16:3e:00:00:01", true},
	{"00:16:3E:AB:cd:EF", true},
	{"", false},
	{"00:16:3e:00:00", false},
	{"00:16:3e:00:00:01:02", false},
	{"0:16:3e:0:0:1", false},
	{"00-16-3e-00-00-01", false},
	{"00:16:3e:00:00:0g", false},
	{"00:16:3e:00:00:01 ", false},
	{"01:00:5e:00:00:01", false},
	{"ff:ff:ff:ff:ff:ff", false},
	{" 0:16:3e:00:00:01", false},
	{"0x:16:3e:00:00:01", false},
};

START_TEST(macs_are_strict)
{
	uint8_t mac[6] = {9, 9, 9, 9, 9, 9};
	int ret = frontend_parse_mac(macs[_i].text, mac);

	ck_assert_msg(ret == (macs[_i].good ? 0 : -EINVAL), "'%s'", macs[_i].text);
	ck_assert_uint_eq(mac[1], macs[_i].good ? 0x16 : 9);
}
END_TEST

static const struct {
	const char *text;
	bool good;
	uint32_t bytes, usec;
} rates[] = {
	{"1250000,50000", true, 1250000, 50000},
	{"4294967295,1", true, 4294967295, 1},
	{"", false, 0, 0},
	{"1250000", false, 0, 0},
	{",50000", false, 0, 0},
	{"1250000,", false, 0, 0},
	{"0,50000", false, 0, 0},
	{"1250000,0", false, 0, 0},
	{"4294967296,50000", false, 0, 0},
	{"1,2,3", false, 0, 0},
	{"1, 2", false, 0, 0},
	{"-1,50000", false, 0, 0},
	{"11111111111111111111111111111111111111111111111111111111111111111111111,1", false, 0, 0},
};

START_TEST(rates_are_strict)
{
	struct frontend_rate rate = {1, 2};
	int ret = frontend_parse_rate(rates[_i].text, &rate);

	ck_assert_msg(ret == (rates[_i].good ? 0 : -EINVAL), "'%s'", rates[_i].text);
	ck_assert_uint_eq(rate.bytes, rates[_i].good ? rates[_i].bytes : 1);
	ck_assert_uint_eq(rate.interval_usec, rates[_i].good ? rates[_i].usec : 2);
}
END_TEST

TCase *frontend_tcase(void)
{
	TCase *tcase = tcase_create("frontend");

	tcase_add_test(tcase, linux_is_read);
	tcase_add_loop_test(tcase, frontend_keys, 0, ARRAY_SIZE(rows));
	tcase_add_test(tcase, a_single_channel_serves_both_rings);
	tcase_add_test(tcase, split_channels_not_offered_are_not_used);
	tcase_add_test(tcase, several_queues_have_directories);
	tcase_add_test(tcase, minios_and_ipxe_have_few_features);
	tcase_add_loop_test(tcase, macs_are_strict, 0, ARRAY_SIZE(macs));
	tcase_add_loop_test(tcase, rates_are_strict, 0, ARRAY_SIZE(rates));
	return tcase;
}
