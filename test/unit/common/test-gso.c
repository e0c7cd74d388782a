/* SPDX-License-Identifier: MIT */
/*
 * test-gso.c: large TCP packets cut into segments. What comes out is read by a checker of its own,
 * which knows nothing of common/gso.c and common/csum.c.
 */
#include "suites.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "common/gso.h"

#define FIN 0x01
#define PSH 0x08
#define ACK 0x10
#define CWR 0x80

#define SEQ   0xfffff000u /* wraps within a large packet */
#define IP_ID 0xfffe

struct shape {
	const char *name;
	unsigned vlan_tags;
	bool ipv6;
	unsigned ip_options;  /* bytes: IPv4 options, or an IPv6 hop-by-hop header */
	unsigned tcp_options; /* bytes */
	unsigned payload, mss;
	uint8_t flags;
};

static const struct shape shapes[] = {
	{"IPv4, two and a bit", 0, false, 0, 0, 3000, 1460, ACK},
	{"IPv4, exact multiple", 0, false, 0, 0, 2920, 1460, ACK | PSH},
	{"IPv4, one segment", 0, false, 0, 0, 1460, 1460, ACK | PSH | CWR},
	{"IPv4, less than a segment", 0, false, 0, 0, 1, 1460, ACK},
	{"IPv4, no payload", 0, false, 0, 0, 0, 1460, ACK | FIN},
	{"IPv4, 64 KiB", 0, false, 0, 12, 65469, 1448, ACK | PSH | FIN | CWR},
	{"IPv4, options of both kinds", 0, false, 40, 40, 9000, 999, ACK},
	{"IPv4, VLAN", 1, false, 0, 12, 9000, 1448, ACK},
	{"IPv4, two VLAN tags", 2, false, 4, 12, 9000, 1448, ACK},
	{"IPv4, segments of 8 bytes", 0, false, 0, 0, 1001, 8, ACK | PSH},
	{"IPv6, two and a bit", 0, true, 0, 0, 3000, 1440, ACK},
	{"IPv6, 64 KiB", 0, true, 0, 12, 65449, 1428, ACK | PSH | FIN | CWR},
	{"IPv6, hop-by-hop header", 0, true, 16, 20, 9001, 1400, ACK | PSH},
	{"IPv6, VLAN", 1, true, 8, 12, 9001, 1400, ACK},
};

/* ---- a packet ---- */

static uint8_t frame[70000], out[70000];

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)(p[0] << 8 | p[1]);
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static uint8_t payload_byte(size_t i)
{
	return (uint8_t)(i * 167 + (i >> 8) * 13 + 5);
}

static size_t network_at(const struct shape *s)
{
	return 14 + 4 * s->vlan_tags;
}

static size_t transport_at(const struct shape *s)
{
	return network_at(s) + (s->ipv6 ? 40 : 20) + s->ip_options;
}

static size_t header_len(const struct shape *s)
{
	return transport_at(s) + 20 + s->tcp_options;
}

static void make_network(const struct shape *s, uint8_t *ip, size_t len)
{
	if (s->ipv6) {
		ip[0] = 0x60;
		put16(ip + 4, len - 40);
		ip[6] = s->ip_options ? 0 : 6;
		ip[7] = 64;
		for (unsigned i = 8; i < 40; i++)
			ip[i] = (uint8_t)(i * 3);
		if (s->ip_options) {
			ip[40] = 6;
			ip[41] = (uint8_t)(s->ip_options / 8 - 1);
		}
		return;
	}
	ip[0] = (uint8_t)(0x45 + s->ip_options / 4);
	put16(ip + 2, len);
	put16(ip + 4, IP_ID);
	ip[6] = 0x40;
	ip[8] = 64;
	ip[9] = 6;
	memcpy(ip + 12, "\12\0\0\1\12\0\0\2", 8);
	memset(ip + 20, 1, s->ip_options);
}

static size_t make(const struct shape *s)
{
	size_t len = header_len(s) + s->payload;
	uint8_t *tcp = frame + transport_at(s);

	memset(frame, 0, header_len(s));
	memcpy(frame, "\1\2\3\4\5\6\2\2\2\2\2\2", 12);
	for (unsigned i = 0; i < s->vlan_tags; i++)
		put16(frame + 12 + 4 * i, i + 1 == s->vlan_tags ? 0x8100 : 0x88a8);
	put16(frame + network_at(s) - 2, s->ipv6 ? 0x86dd : 0x0800);
	make_network(s, frame + network_at(s), len - network_at(s));
	put16(tcp, 1234);
	put16(tcp + 2, 80);
	put16(tcp + 4, SEQ >> 16);
	put16(tcp + 6, SEQ & 0xffff);
	tcp[12] = (uint8_t)((20 + s->tcp_options) / 4 << 4);
	tcp[13] = s->flags;
	put16(tcp + 14, 5000);
	memset(tcp + 20, 1, s->tcp_options);
	for (size_t i = 0; i < s->payload; i++)
		frame[header_len(s) + i] = payload_byte(i);
	return len;
}

/* ---- the checker ---- */

static uint32_t sum(const uint8_t *p, size_t len, uint32_t from)
{
	for (size_t i = 0; i < len; i++)
		from += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (from >> 16)
		from = (from & 0xffff) + (from >> 16);
	return from;
}

static void check_network(const struct shape *s, const uint8_t *ip, size_t len, unsigned idx)
{
	const uint8_t *old = frame + network_at(s);

	if (s->ipv6) {
		ck_assert_uint_eq(get16(ip + 4), len - 40);
		ck_assert_mem_eq(ip, old, 4);
		ck_assert_mem_eq(ip + 6, old + 6, 34 + s->ip_options);
		return;
	}
	ck_assert_uint_eq(get16(ip + 2), len);
	ck_assert_uint_eq(get16(ip + 4), (IP_ID + idx) & 0xffff);
	ck_assert_uint_eq(sum(ip, 20 + s->ip_options, 0), 0xffff);
	ck_assert_mem_eq(ip + 6, old + 6, 4);
	ck_assert_mem_eq(ip + 12, old + 12, 8 + s->ip_options);
}

static uint32_t pseudo_sum(const struct shape *s, const uint8_t *ip, size_t tcp_len)
{
	return sum(ip + (s->ipv6 ? 8 : 12), s->ipv6 ? 32 : 8, (uint32_t)(6 + tcp_len));
}

static void check_tcp(const struct shape *s, const uint8_t *tcp, size_t len, unsigned idx,
		      bool last)
{
	const uint8_t *old = frame + transport_at(s);
	uint8_t flags = s->flags;

	if (idx)
		flags &= (uint8_t)~CWR;
	if (!last)
		flags &= (uint8_t) ~(FIN | PSH);
	ck_assert_mem_eq(tcp, old, 4);
	ck_assert_uint_eq(get32(tcp + 4), SEQ + idx * s->mss);
	ck_assert_mem_eq(tcp + 8, old + 8, 5);
	ck_assert_uint_eq(tcp[13], flags);
	ck_assert_mem_eq(tcp + 14, old + 14, 2);
	ck_assert_mem_eq(tcp + 18, old + 18, 2 + s->tcp_options);
	for (size_t i = 20 + s->tcp_options; i < len; i++)
		ck_assert_uint_eq(tcp[i], payload_byte(idx * s->mss + i - 20 - s->tcp_options));
}

START_TEST(segments_are_what_a_sender_would_have_sent)
{
	const struct shape *s = &shapes[_i];
	size_t len = make(s), covered = 0;
	unsigned nr = s->payload ? DIV_ROUND_UP(s->payload, s->mss) : 1;
	struct gso gso;

	ck_assert_int_eq(gso_find(frame, header_len(s), len, s->ipv6, (uint16_t)s->mss, &gso), 0);
	ck_assert_uint_eq(gso.hdr_len, header_len(s));
	ck_assert_uint_eq(gso_segments(&gso, len), nr);
	for (unsigned idx = 0; idx < nr; idx++) {
		size_t own = gso_segment_len(&gso, len, idx), tcp_len = own - transport_at(s);
		uint8_t *ip = out + network_at(s), *tcp = out + transport_at(s);
		uint32_t pseudo;

		memset(out + own, 0xee, 8);
		gso_cut(&gso, frame, len, idx, out);
		ck_assert_uint_eq(out[own], 0xee); /* not a byte too many */
		ck_assert_mem_eq(out, frame, network_at(s));
		check_network(s, ip, own - network_at(s), idx);
		check_tcp(s, tcp, tcp_len, idx, idx + 1 == nr);
		/* Left blank, and right once filled in. */
		pseudo = pseudo_sum(s, ip, tcp_len);
		ck_assert_uint_eq(get16(tcp + 16), pseudo);
		csum_fill(out, own, &gso.place);
		ck_assert_uint_eq(sum(tcp, tcp_len, pseudo), 0xffff);
		ck_assert_uint_le(own - header_len(s), s->mss);
		covered += own - header_len(s);
	}
	ck_assert_uint_eq(covered, s->payload);
}
END_TEST

/* ---- what is refused ---- */

static int find_exact(size_t head_len, size_t len, bool ipv6)
{
	/* In memory of exactly that size, so that a sanitizer sees a read beyond it. */
	uint8_t *exact = malloc(head_len ? head_len : 1);
	struct gso gso;
	int ret;

	memcpy(exact, frame, head_len);
	ret = gso_find(exact, head_len, len, ipv6, 1000, &gso);
	free(exact);
	return ret;
}

START_TEST(headers_cut_anywhere_are_refused)
{
	const struct shape *s = &shapes[_i];
	size_t len = make(s);

	for (size_t head = 0; head < header_len(s); head++)
		ck_assert_msg(find_exact(head, len, s->ipv6) < 0, "%s at %zu", s->name, head);
	ck_assert_int_eq(find_exact(header_len(s), len, s->ipv6), 0);
}
END_TEST

START_TEST(the_other_ip_version_is_refused)
{
	const struct shape *s = &shapes[_i];
	size_t len = make(s);

	ck_assert_int_eq(find_exact(header_len(s), len, !s->ipv6), -EPROTONOSUPPORT);
}
END_TEST

static const struct {
	const char *name;
	unsigned at;
	uint8_t value;
	int err;
} damages[] = {
	{"UDP", 23, 17, -EPROTONOSUPPORT},
	{"ICMP", 23, 1, -EPROTONOSUPPORT},
	{"a first fragment", 20, 0x20, -EPROTONOSUPPORT},
	{"a later fragment", 21, 1, -EPROTONOSUPPORT},
	{"ARP", 13, 6, -EPROTONOSUPPORT},
	{"a TCP header of 16 bytes", 46, 0x40, -EINVAL},
	{"a TCP header of 0 bytes", 46, 0, -EINVAL},
	{"an IP header of 16 bytes", 14, 0x44, -EINVAL},
	{"IP of version 5", 14, 0x55, -EINVAL},
};

START_TEST(what_is_no_tcp_packet_is_refused)
{
	size_t len = make(&shapes[0]);

	frame[damages[_i].at] = damages[_i].value;
	ck_assert_msg(find_exact(4096, len, false) == damages[_i].err, "%s", damages[_i].name);
}
END_TEST

START_TEST(a_tcp_header_longer_than_the_packet_is_refused)
{
	size_t len = make(&shapes[4]);

	frame[46] = 0xf0;
	ck_assert_int_eq(find_exact(len, len, false), -EINVAL);
}
END_TEST

/* ---- checksums ---- */

START_TEST(a_blanked_checksum_is_the_sum_of_the_pseudo_header)
{
	const struct shape *s = &shapes[_i];
	size_t len = make(s), tcp_len = len - transport_at(s);
	struct csum_place place;

	ck_assert_int_eq(csum_find(frame, header_len(s), len, &place), 0);
	ck_assert_uint_eq(place.network, network_at(s));
	csum_make_blank(frame, len, &place);
	ck_assert_uint_eq(get16(frame + transport_at(s) + 16),
			  pseudo_sum(s, frame + network_at(s), tcp_len));
}
END_TEST

START_TEST(pieces_of_any_length_make_the_same_checksum)
{
	size_t len = make(&shapes[6]), head = header_len(&shapes[6]);
	struct csum_place place;
	struct iovec iov[8];

	srand((unsigned)_i);
	ck_assert_int_eq(csum_find(frame, len, len, &place), 0);
	csum_make_blank(frame, len, &place);
	memcpy(out, frame, len);
	for (size_t i = 0, at = 0; i < 8; i++) {
		size_t left = len - at, cut = (size_t)rand() % 2500;
		size_t part = i == 7 ? left : MIN(left, cut);

		if (!i)
			part = head + part % 100;
		iov[i] = (struct iovec){out + at, part};
		at += part;
	}
	ck_assert_int_eq(csum_fill_pieces(iov, 8, &place), 0);
	csum_fill(frame, len, &place);
	ck_assert_mem_eq(frame, out, len);
}
END_TEST

START_TEST(a_field_beyond_the_first_piece_is_refused)
{
	struct csum_place place = {.start = 34, .offset = 16};
	struct iovec iov[2] = {{frame, 51}, {frame + 51, 100}};

	ck_assert_int_eq(csum_fill_pieces(iov, 2, &place), -EINVAL);
	iov[0].iov_len = 52;
	ck_assert_int_eq(csum_fill_pieces(iov, 2, &place), 0);
	ck_assert_int_eq(csum_fill_pieces(iov, 0, &place), -EINVAL);
}
END_TEST

Suite *gso_suite(void)
{
	Suite *suite = suite_create("gso");
	TCase *tcase = tcase_create("gso");
	int nr = ARRAY_SIZE(shapes);

	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, segments_are_what_a_sender_would_have_sent, 0, nr);
	tcase_add_loop_test(tcase, headers_cut_anywhere_are_refused, 0, nr);
	tcase_add_loop_test(tcase, the_other_ip_version_is_refused, 0, nr);
	tcase_add_loop_test(tcase, what_is_no_tcp_packet_is_refused, 0, ARRAY_SIZE(damages));
	tcase_add_test(tcase, a_tcp_header_longer_than_the_packet_is_refused);
	tcase_add_loop_test(tcase, a_blanked_checksum_is_the_sum_of_the_pseudo_header, 0, nr);
	tcase_add_loop_test(tcase, pieces_of_any_length_make_the_same_checksum, 0, 30);
	tcase_add_test(tcase, a_field_beyond_the_first_piece_is_refused);
	suite_add_tcase(suite, tcase);
	return suite;
}
