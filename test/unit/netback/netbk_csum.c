/* SPDX-License-Identifier: MIT */
/* netbk_csum.c: finding blank checksums in frames of all kinds, also cut ones, and filling them. */
#include "netbk_suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/csum.h"

#define ETH "\1\2\3\4\5\6\7\10\11\12\13\14"
#define TCP "\0\1\0\2....____\x50\0\0\0CC\0\0"
#define UDP              \
	"\0\1\0\2\0\x0a" \
	"CCdd"
#define IP4(proto) "\x45\0\0\x28\0\0\x40\0\x40" proto "\0\0\12\0\0\1\12\0\0\2"
#define IP6(next)                      \
	"\x60\0\0\0\0\x14" next "\x40" \
	"aaaaaaaaaaaaaaaabbbbbbbbbbbbbbbb"

struct row {
	const char *name;
	const char *bytes;
	size_t len;
	int err;
	uint16_t start, offset;
	bool ipv6;
};
#define BYTES(s) (s), sizeof(s) - 1

static const struct row rows[] = {
	{"IPv4 TCP", BYTES(ETH "\x08\0" IP4("\6") TCP), 0, 34, 16, false},
	{"IPv4 UDP", BYTES(ETH "\x08\0" IP4("\x11") UDP), 0, 34, 6, false},
	{"IPv4 ICMP", BYTES(ETH "\x08\0" IP4("\1") UDP), -EPROTONOSUPPORT, 0, 0, false},
	{"IPv4 options", BYTES(ETH "\x08\0\x46\0\0\x2c\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\10OPTS" TCP),
	 0, 38, 16, false},
	{"IPv4 header length 4",
	 BYTES(ETH "\x08\0\x44\0\0\x2c\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\10" TCP), -EINVAL, 0, 0,
	 false},
	{"IPv4 header longer than the frame",
	 BYTES(ETH "\x08\0\x4f\0\0\x2c\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\10" TCP), -EINVAL, 0, 0,
	 false},
	{"IPv4 of version 5",
	 BYTES(ETH "\x08\0\x55\0\0\x2c\0\0\0\0\x40\6\0\0\1\2\3\4\5\6\7\10" TCP), -EINVAL, 0, 0,
	 false},
	{"IPv4 first fragment",
	 BYTES(ETH "\x08\0\x45\0\0\x2c\0\0\x20\0\x40\6\0\0\1\2\3\4\5\6\7\10" TCP), -EPROTONOSUPPORT,
	 0, 0, false},
	{"IPv4 later fragment",
	 BYTES(ETH "\x08\0\x45\0\0\x2c\0\0\0\1\x40\6\0\0\1\2\3\4\5\6\7\10" TCP), -EPROTONOSUPPORT,
	 0, 0, false},
	{"one VLAN tag", BYTES(ETH "\x81\0\0\5\x08\0" IP4("\6") TCP), 0, 38, 16, false},
	{"two VLAN tags", BYTES(ETH "\x88\xa8\0\5\x81\0\0\6\x08\0" IP4("\6") TCP), 0, 42, 16,
	 false},
	{"three VLAN tags", BYTES(ETH "\x81\0\0\5\x81\0\0\6\x81\0\0\7\x08\0" IP4("\6") TCP),
	 -EPROTONOSUPPORT, 0, 0, false},
	{"a VLAN tag cut", BYTES(ETH "\x81\0\0"), -EINVAL, 0, 0, false},
	{"IPv6 TCP", BYTES(ETH "\x86\xdd" IP6("\6") TCP), 0, 54, 16, true},
	{"IPv6 UDP", BYTES(ETH "\x86\xdd" IP6("\x11") UDP), 0, 54, 6, true},
	{"IPv6 hop-by-hop then TCP", BYTES(ETH "\x86\xdd" IP6("\0") "\6\0pppppp" TCP), 0, 62, 16,
	 true},
	{"IPv6 long destination options then UDP",
	 BYTES(ETH "\x86\xdd" IP6("\x3c") "\x11\1pppppppppppppp" UDP), 0, 70, 6, true},
	{"IPv6 extension longer than the frame", BYTES(ETH "\x86\xdd" IP6("\0") "\6\xffpppppp" TCP),
	 -EINVAL, 0, 0, true},
	{"IPv6 extension cut", BYTES(ETH "\x86\xdd" IP6("\0") "\6\0pp"), -EINVAL, 0, 0, true},
	{"IPv6 fragment", BYTES(ETH "\x86\xdd" IP6("\x2c") "\6\0\0\1pppp" TCP), -EPROTONOSUPPORT, 0,
	 0, true},
	{"IPv6 eight extensions then TCP",
	 BYTES(ETH "\x86\xdd" IP6("\0") "\0\0pppppp\0\0pppppp\0\0pppppp\0\0pppppp"
					"\0\0pppppp\0\0pppppp\0\0pppppp\0\0pppppp" TCP),
	 -EPROTONOSUPPORT, 0, 0, true},
	{"IPv6 of version 4",
	 BYTES(ETH "\x86\xdd\x45"
		   "0000000000000000000000000000000000000000000" TCP),
	 -EINVAL, 0, 0, true},
	{"ARP", BYTES(ETH "\x08\x06" IP4("\6") TCP), -EPROTONOSUPPORT, 0, 0, false},
	{"an empty frame", BYTES(""), -EINVAL, 0, 0, false},
};

static int find(const char *bytes, size_t head_len, size_t len, struct csum_place *place)
{
	/* In memory of exactly that size, so that a sanitizer sees a read beyond it. */
	char *exact = malloc(head_len ? head_len : 1);
	int ret;

	memcpy(exact, bytes, head_len);
	ret = csum_find(exact, head_len, len, place);
	free(exact);
	return ret;
}

START_TEST(where_the_checksum_is)
{
	const struct row *row = &rows[_i];
	struct csum_place place;

	ck_assert_msg(find(row->bytes, row->len, row->len, &place) == row->err, "%s", row->name);
	if (row->err)
		return;
	ck_assert_msg(place.start == row->start && place.offset == row->offset &&
			      place.ipv6 == row->ipv6,
		      "%s", row->name);
}
END_TEST

START_TEST(a_frame_cut_anywhere_is_refused)
{
	const struct row *row = &rows[_i];
	struct csum_place place;
	size_t header = row->start + (row->offset == 16 ? 20u : 8u);

	if (row->err)
		return;
	for (size_t len = 0; len < header; len++)
		ck_assert_msg(find(row->bytes, len, row->len, &place) < 0, "%s at %zu", row->name,
			      len);
	ck_assert_int_eq(find(row->bytes, header, row->len, &place), 0);
}
END_TEST

static uint16_t be16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

/* The receiver's check (RFC 1071): everything summed, the checksum included, is all ones. */
static uint32_t sum_bytes(const uint8_t *p, size_t len, uint32_t sum)
{
	for (size_t i = 0; i < len; i++)
		sum += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return sum;
}

START_TEST(a_filled_checksum_satisfies_the_receiver)
{
	static const uint8_t head[] = ETH "\x08\0" IP4("\x11");
	size_t payload = (size_t)_i, udp_len = 8 + payload, len = 34 + udp_len;
	uint8_t *frame = malloc(len), *udp = frame + 34;
	struct csum_place place;
	uint32_t pseudo;

	memcpy(frame, head, 34);
	memcpy(udp, "\0\1\0\2", 4);
	udp[4] = (uint8_t)(udp_len >> 8);
	udp[5] = (uint8_t)udp_len;
	for (size_t i = 0; i < payload; i++)
		udp[8 + i] = (uint8_t)(i * 37 + payload);
	pseudo = sum_bytes(frame + 26, 8, (uint32_t)(17 + udp_len));
	udp[6] = (uint8_t)(pseudo >> 8);
	udp[7] = (uint8_t)pseudo;
	ck_assert_int_eq(csum_find(frame, len, len, &place), 0);
	csum_fill(frame, len, &place);
	ck_assert_uint_eq(sum_bytes(udp, udp_len, pseudo), 0xffff);
	ck_assert_uint_ne(be16(udp + 6), 0);
	free(frame);
}
END_TEST

START_TEST(a_udp_checksum_of_zero_is_sent_as_ones)
{
	uint8_t frame[42] = {0};
	struct csum_place place = {.start = 34, .offset = 6, .udp = true};

	memset(frame + 34, 0xff, 2); /* sums to 0xffff, whose complement is 0 */
	csum_fill(frame, sizeof(frame), &place);
	ck_assert_uint_eq(be16(frame + 40), 0xffff);
	memset(frame + 34, 0, 8);
	memset(frame + 34, 0xff, 2);
	place.udp = false;
	csum_fill(frame, sizeof(frame), &place);
	ck_assert_uint_eq(be16(frame + 40), 0);
}
END_TEST

Suite *csum_suite(void)
{
	Suite *suite = suite_create("checksums");
	TCase *tcase = tcase_create("csum");

	tcase_set_timeout(tcase, 30);
	tcase_add_loop_test(tcase, where_the_checksum_is, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tcase, a_frame_cut_anywhere_is_refused, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tcase, a_filled_checksum_satisfies_the_receiver, 0, 40);
	tcase_add_test(tcase, a_udp_checksum_of_zero_is_sent_as_ones);
	suite_add_tcase(suite, tcase);
	return suite;
}
