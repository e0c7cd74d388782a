/* SPDX-License-Identifier: MIT */
/*
 * netbk_offload.c: checksum and segmentation offloads through groups, queues and an echo port: what
 * a guest sends with which flags, and what a guest that takes this or that gets of it. The packets
 * that come back are read by a checker of its own.
 */
#include "netbk_suites.h"

#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "fake_xen.h"
#include "guest.h"
#include "netback/group.h"
#include "netback/port.h"

#define SEQ 0xffffff00u

#define BLANK	  NETTXF_csum_blank
#define VALID	  NETTXF_data_validated
#define RX_BLANK  (NETRXF_csum_blank | NETRXF_data_validated)
#define RX_VALID  NETRXF_data_validated
#define RX_GSO	  (RX_BLANK | NETRXF_extra_info)
#define GSO_NONE  XEN_NETIF_GSO_TYPE_NONE
#define GSO_TCPV4 XEN_NETIF_GSO_TYPE_TCPV4
#define GSO_TCPV6 XEN_NETIF_GSO_TYPE_TCPV6

/* What a guest takes. */
#define CSUM4 1u
#define CSUM6 2u
#define GSO4  4u
#define GSO6  8u
#define ALL   (CSUM4 | CSUM6 | GSO4 | GSO6)

enum kind { TCP4, TCP6, TCP6_EXT, UDP4, UDP6, ICMP4, FRAGMENT4, FRAGMENT6, ARP };

static struct netbk_groups *groups;
static struct port *port;
static struct xenvif_queue *queue;
static struct guest guest;
static struct guest_frame frame;

static void no_fatal(struct xenvif_queue *q, enum xenvif_fatal why, void *arg)
{
	ck_abort_msg("fatal: %s", xenvif_fatal_name(why));
}

static void setup(void)
{
	struct netbk_groups_params params = {.nr_groups = 1, .tx_shift = 8, .kind = WORKER_THREAD};

	fake_reset();
	ck_assert_int_eq(netbk_groups_create(&params, &groups), 0);
	ck_assert_int_eq(xenvif_queue_create("vif7.0-q0", 0, no_fatal, NULL, &queue), 0);
	guest_init(&guest, 0, true);
}

static void teardown(void)
{
	xenvif_queue_destroy(queue);
	port_close(port);
	netbk_groups_destroy(groups);
	port = NULL;
}

static void connect_guest(unsigned takes, bool refused)
{
	struct port_params port_params = {.kind = PORT_ECHO, .name = "vif7.0", .nr_queues_max = 1};
	struct xenvif_queue_params params = guest_params(&guest);

	params.features.csum_ipv4 = takes & CSUM4;
	params.features.csum_ipv6 = takes & CSUM6;
	params.features.gso_tcpv4 = takes & GSO4;
	params.features.gso_tcpv6 = takes & GSO6;
	params.features.csum_refused = refused;
	ck_assert_int_eq(port_open(&port_params, &port), 0);
	ck_assert_int_eq(port_set_queues(port, 1, &params.features), 0);
	ck_assert_int_eq(xenvif_queue_connect(queue, groups, NULL, &params, port), 0);
}

static struct xenvif_stats stats_of_queue(void)
{
	struct xenvif_stats stats;

	xenvif_queue_get_stats(queue, &stats);
	return stats;
}

/* ---- packets ---- */

static uint8_t packet[66000];

static void put16(uint8_t *p, size_t v)
{
	p[0] = (uint8_t)(v >> 8);
	p[1] = (uint8_t)v;
}

static unsigned get16(const uint8_t *p)
{
	return (unsigned)(p[0] << 8 | p[1]);
}

static uint32_t sum(const uint8_t *p, size_t len, uint32_t from)
{
	for (size_t i = 0; i < len; i++) {
		from += i % 2 ? p[i] : (uint32_t)p[i] << 8;
		from = (from & 0xffff) + (from >> 16);
	}
	return from;
}

static bool is_ipv6(enum kind kind)
{
	return kind == TCP6 || kind == TCP6_EXT || kind == UDP6 || kind == FRAGMENT6;
}

static bool is_udp(enum kind kind)
{
	return kind == UDP4 || kind == UDP6;
}

static unsigned transport_at(enum kind kind)
{
	if (!is_ipv6(kind))
		return 34;
	return kind == TCP6 || kind == UDP6 ? 54 : 62;
}

static unsigned header_len(enum kind kind)
{
	return transport_at(kind) + (is_udp(kind) ? 8 : 20);
}

static uint32_t pseudo_sum(enum kind kind, const uint8_t *bytes, unsigned len)
{
	unsigned transport_len = len - transport_at(kind);

	return sum(bytes + (is_ipv6(kind) ? 22 : 26), is_ipv6(kind) ? 32 : 8,
		   (is_udp(kind) ? 17 : 6) + transport_len);
}

static void make_ip(enum kind kind, unsigned len)
{
	uint8_t *ip = packet + 14;

	if (is_ipv6(kind)) {
		ip[0] = 0x60;
		put16(ip + 4, len - 54);
		ip[6] = is_udp(kind) ? 17 : kind == TCP6 ? 6 : kind == FRAGMENT6 ? 44 : 60;
		ip[7] = 64;
		memset(ip + 8, 0x20, 32);
		if (transport_at(kind) == 62)
			memcpy(ip + 40, kind == FRAGMENT6 ? "\6\0\0\1\0\0\0\1" : "\6\0\1\4\0\0\0\0",
			       8);
		return;
	}
	ip[0] = 0x45;
	put16(ip + 2, len - 14);
	put16(ip + 4, 0x1234);
	ip[6] = kind == FRAGMENT4 ? 0x20 : 0x40;
	ip[8] = 64;
	ip[9] = kind == ICMP4 ? 1 : is_udp(kind) ? 17 : 6;
	memcpy(ip + 12, "\12\0\0\1\12\0\0\2", 8);
	put16(ip + 10, (uint16_t)~sum(ip, 20, 0));
}

static uint8_t payload_byte(uint32_t i)
{
	return (uint8_t)(i * 31 + (i >> 8));
}

/* Return: its length. With a checksum that is blank, complete, or (0xbad) neither. */
static unsigned make(enum kind kind, unsigned payload, unsigned flags)
{
	unsigned at = transport_at(kind), len = header_len(kind) + payload;
	uint8_t *transport = packet + at, *field = transport + (is_udp(kind) ? 6 : 16);
	uint32_t pseudo;

	memset(packet, 0, len);
	memcpy(packet, "\2\1\1\1\1\1\2\2\2\2\2\2", 12);
	put16(packet + 12, kind == ARP ? 0x0806 : is_ipv6(kind) ? 0x86dd : 0x0800);
	make_ip(kind, len);
	put16(transport, 1000);
	put16(transport + 2, 2000);
	if (is_udp(kind)) {
		put16(transport + 4, 8 + payload);
	} else {
		put16(transport + 4, SEQ >> 16);
		put16(transport + 6, SEQ & 0xffff);
		transport[12] = 0x50;
		transport[13] = 0x18;
	}
	for (unsigned i = 0; i < payload; i++)
		packet[header_len(kind) + i] = payload_byte(i);
	pseudo = pseudo_sum(kind, packet, len);
	if (flags & BLANK)
		put16(field, pseudo);
	else
		put16(field, (uint16_t)~sum(transport, len - at, pseudo));
	return len;
}

/* A frame that came back: addresses exchanged, checksums right or blank as said, payload in place.
 */
static void check_frame(enum kind kind, unsigned *covered)
{
	unsigned at = transport_at(kind), payload = frame.len - header_len(kind);
	const uint8_t *bytes = frame.bytes, *transport = bytes + at;
	uint32_t pseudo = pseudo_sum(kind, bytes, frame.len);

	ck_assert_int_eq(frame.status, 0);
	ck_assert_mem_eq(bytes, "\2\2\2\2\2\2\2\1\1\1\1\1", 12);
	if (is_ipv6(kind)) {
		ck_assert_uint_eq(get16(bytes + 18), frame.len - 54);
	} else {
		ck_assert_uint_eq(get16(bytes + 16), frame.len - 14);
		ck_assert_uint_eq(sum(bytes + 14, 20, 0), 0xffff);
	}
	if (frame.flags & NETRXF_csum_blank)
		ck_assert_uint_eq(get16(transport + (is_udp(kind) ? 6 : 16)), pseudo);
	else
		ck_assert_uint_eq(sum(transport, frame.len - at, pseudo), 0xffff);
	if (!is_udp(kind))
		ck_assert_uint_eq((uint32_t)get16(transport + 4) << 16 | get16(transport + 6),
				  SEQ + *covered);
	for (unsigned i = 0; i < payload; i++)
		ck_assert_uint_eq(bytes[header_len(kind) + i], payload_byte(*covered + i));
	*covered += payload;
}

/* ---- the matrix ---- */

#define COUNTER(name) offsetof(struct xenvif_stats, name)
#define NO_COUNTER    SIZE_MAX

static const struct row {
	const char *name;
	enum kind kind;
	unsigned payload;
	unsigned flags;	   /* sent */
	uint8_t gso;	   /* sent: type */
	uint16_t gso_size; /* sent */
	unsigned takes;
	unsigned frames; /* that come back; 0: dropped */
	uint16_t rx_flags;
	size_t counter; /* that must be ->frames, or 1 */
} rows[] = {
	{"plain TCP", TCP4, 1000, 0, GSO_NONE, 0, ALL, 1, 0, NO_COUNTER},
	{"validated TCP", TCP4, 1000, VALID, GSO_NONE, 0, ALL, 1, RX_VALID, NO_COUNTER},
	{"blank and validated", TCP4, 1000, BLANK | VALID, GSO_NONE, 0, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},
	{"blank alone", TCP4, 1000, BLANK, GSO_NONE, 0, ALL, 1, RX_BLANK, COUNTER(tx_csum_blank)},
	{"blank TCP over IPv6", TCP6, 1000, BLANK | VALID, GSO_NONE, 0, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},
	{"blank behind an extension header", TCP6_EXT, 999, BLANK, GSO_NONE, 0, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},
	{"blank UDP", UDP4, 1001, BLANK | VALID, GSO_NONE, 0, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},
	{"blank UDP over IPv6", UDP6, 1001, BLANK, GSO_NONE, 0, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},

	{"blank, IPv4 not taken", TCP4, 1000, BLANK | VALID, GSO_NONE, 0, CSUM6 | GSO6, 1, RX_VALID,
	 COUNTER(rx_csum_filled)},
	{"blank, IPv6 not taken", TCP6, 1000, BLANK | VALID, GSO_NONE, 0, CSUM4 | GSO4, 1, RX_VALID,
	 COUNTER(rx_csum_filled)},
	{"blank UDP, not taken", UDP4, 1001, BLANK, GSO_NONE, 0, 0, 1, RX_VALID,
	 COUNTER(rx_csum_filled)},
	{"blank UDP over IPv6, not taken", UDP6, 33, BLANK, GSO_NONE, 0, CSUM4, 1, RX_VALID,
	 COUNTER(rx_csum_filled)},

	{"blank ICMP", ICMP4, 100, BLANK, GSO_NONE, 0, ALL, 0, 0, COUNTER(drops[DROP_TX_CSUM])},
	{"blank ARP", ARP, 100, BLANK, GSO_NONE, 0, ALL, 0, 0, COUNTER(drops[DROP_TX_CSUM])},
	{"blank fragment", FRAGMENT4, 100, BLANK, GSO_NONE, 0, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_CSUM])},
	{"blank IPv6 fragment", FRAGMENT6, 100, BLANK, GSO_NONE, 0, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_CSUM])},

	{"GSO", TCP4, 9000, BLANK | VALID, GSO_TCPV4, 1460, ALL, 1, RX_GSO, COUNTER(rx_gso)},
	{"GSO over IPv6", TCP6, 9000, BLANK | VALID, GSO_TCPV6, 1440, ALL, 1, RX_GSO,
	 COUNTER(tx_gso)},
	{"GSO of 64 KiB", TCP4, 65481, BLANK, GSO_TCPV4, 1460, ALL, 1, RX_GSO, COUNTER(rx_gso)},
	{"GSO behind an extension header", TCP6_EXT, 9000, BLANK, GSO_TCPV6, 1000, ALL, 1, RX_GSO,
	 COUNTER(rx_gso)},
	{"GSO without a blank checksum", TCP4, 9000, 0, GSO_TCPV4, 1460, ALL, 1, RX_GSO,
	 COUNTER(tx_gso_csum_fixups)},
	{"GSO over IPv6 without a blank checksum", TCP6, 9000, VALID, GSO_TCPV6, 1440, ALL, 1,
	 RX_GSO, COUNTER(tx_gso_csum_fixups)},
	{"GSO of one segment", TCP4, 1460, BLANK, GSO_TCPV4, 1460, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},
	{"GSO without payload", TCP4, 0, BLANK, GSO_TCPV4, 1460, ALL, 1, RX_BLANK,
	 COUNTER(rx_csum_blank)},

	{"GSO to a guest without", TCP4, 9000, BLANK, GSO_TCPV4, 1460, CSUM4, 7, RX_BLANK,
	 COUNTER(rx_segments)},
	{"GSO over IPv6 to a guest with IPv4's", TCP6, 9000, BLANK, GSO_TCPV6, 1440, ALL & ~GSO6, 7,
	 RX_BLANK, COUNTER(rx_segments)},
	{"GSO over IPv4 to a guest with IPv6's", TCP4, 2921, BLANK, GSO_TCPV4, 1460, ALL & ~GSO4, 3,
	 RX_BLANK, COUNTER(rx_segments)},
	{"GSO to a guest with nothing", TCP4, 9000, BLANK, GSO_TCPV4, 1000, 0, 9, RX_VALID,
	 COUNTER(rx_csum_filled)},
	{"GSO over IPv6 to a guest with nothing", TCP6_EXT, 9000, 0, GSO_TCPV6, 999, 0, 10,
	 RX_VALID, COUNTER(rx_csum_filled)},
	{"GSO of 64 KiB to a guest without", TCP6, 65461, BLANK, GSO_TCPV6, 1428, CSUM6, 46,
	 RX_BLANK, COUNTER(rx_segments)},
	{"GSO in tiny segments to a guest without", TCP4, 800, BLANK, GSO_TCPV4, 8, CSUM4, 100,
	 RX_BLANK, COUNTER(rx_segments)},

	{"GSO of size 0", TCP4, 9000, BLANK, GSO_TCPV4, 0, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of no type", TCP4, 9000, BLANK, GSO_NONE, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of type 3", TCP4, 9000, BLANK, 3, 1460, ALL, 0, 0, COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of UDP", UDP4, 9000, BLANK, GSO_TCPV4, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of IPv6 that is IPv4", TCP4, 9000, BLANK, GSO_TCPV6, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of IPv4 that is IPv6", TCP6, 9000, BLANK, GSO_TCPV4, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of a fragment", FRAGMENT4, 9000, BLANK, GSO_TCPV4, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of an IPv6 fragment", FRAGMENT6, 9000, BLANK, GSO_TCPV6, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
	{"GSO of ARP", ARP, 9000, BLANK, GSO_TCPV4, 1460, ALL, 0, 0,
	 COUNTER(drops[DROP_TX_BAD_GSO])},
};

static bool has_extra(const struct row *row)
{
	return row->gso != GSO_NONE || row->gso_size;
}

static void send_row(const struct row *row)
{
	unsigned len = make(row->kind, row->payload, row->flags);

	if (has_extra(row))
		guest_send_gso(&guest, packet, len, row->flags, row->gso, row->gso_size);
	else
		ck_assert(guest_send(&guest, packet, len, 4096, 0, row->flags));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, guest.tx.req_prod_pvt);
}

START_TEST(what_becomes_of_flags_and_extra_infos)
{
	const struct row *row = &rows[_i];
	unsigned covered = 0;
	struct xenvif_stats stats;
	uint64_t count;

	connect_guest(row->takes, false);
	guest_post_rx(&guest, 200, true);
	send_row(row);
	for (unsigned i = 0; i < row->frames; i++) {
		ck_assert_msg(guest_wait_rx(&guest, &frame), "%s: %u", row->name, i);
		ck_assert_msg((frame.flags & ~NETRXF_more_data) == row->rx_flags, "%s: flags %x",
			      row->name, frame.flags);
		ck_assert_uint_eq(frame.gso_type, row->rx_flags == RX_GSO ? row->gso : GSO_NONE);
		if (frame.gso_type != GSO_NONE)
			ck_assert_uint_eq(frame.gso_size, row->gso_size);
		else
			ck_assert_uint_le(frame.len, 1518);
		ck_assert_uint_eq(frame.slots,
				  DIV_ROUND_UP(frame.len, 4096) + (frame.gso_type != GSO_NONE));
		check_frame(row->kind, &covered);
	}
	ck_assert_uint_eq(covered, row->frames ? row->payload : 0);
	ck_assert(!guest_recv(&guest, &frame));
	ck_assert_uint_eq(guest.tx_null, has_extra(row));
	ck_assert_uint_eq(guest.tx_failed == 0, row->frames != 0);
	stats = stats_of_queue();
	ck_assert_uint_eq(stats.tx_packets, row->frames != 0);
	ck_assert_uint_eq(stats.rx_packets, row->frames);
	ck_assert_uint_eq(stats.tx_csum_unasked, 0);
	if (row->counter == NO_COUNTER)
		return;
	count = *(uint64_t *)((char *)&stats + row->counter);
	ck_assert_msg(count == (row->frames ? row->frames : 1), "%s: counter is %llu", row->name,
		      (unsigned long long)count);
}
END_TEST

START_TEST(headers_have_to_lie_in_the_first_page)
{
	unsigned len = make(TCP4, 9000, BLANK);

	/* An IPv6 packet whose extension headers fill more than a page. */
	put16(packet + 12, 0x86dd);
	memset(packet + 14, 0, 5000);
	packet[14] = 0x60;
	packet[54 + 1] = 255;
	packet[54 + 2048 + 1] = 255;
	packet[54 + 4096] = 6;
	connect_guest(ALL, false);
	guest_send_gso(&guest, packet, len, BLANK, GSO_TCPV6, 1000);
	ck_assert(guest_send(&guest, packet, len, 4096, 0, BLANK));
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, guest.tx.req_prod_pvt);
	ck_assert_uint_eq(stats_of_queue().drops[DROP_TX_BAD_GSO], 1);
	ck_assert_uint_eq(stats_of_queue().drops[DROP_TX_CSUM], 1);
}
END_TEST

/* The first slots of an honest packet may be as small as they like (XSA-423, XSA-432). */
START_TEST(headers_may_come_in_crumbs)
{
	unsigned len = make(TCP4, 3000, BLANK), at = 0, covered = 0;

	connect_guest(ALL, false);
	guest_post_rx(&guest, 64, true);
	for (unsigned i = 0; i < 18; i++) {
		unsigned part = i < 17 ? 1 + i % 7 : len - at;
		uint32_t gref = guest_tx_gref(&guest, i);

		memcpy(fake_page(gref), packet + at, part);
		guest_put_slot(&guest, gref, 0, i ? part : len,
			       (i ? 0 : BLANK | NETTXF_extra_info) |
				       (i < 17 ? NETTXF_more_data : 0));
		if (!i)
			guest_put_gso(&guest, GSO_TCPV4, 1000);
		at += part;
	}
	guest_publish_tx(&guest);
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(frame.gso_size, 1000);
	check_frame(TCP4, &covered);
	ck_assert_uint_eq(covered, 3000);
}
END_TEST

START_TEST(blank_although_refused_is_done_and_counted)
{
	unsigned covered = 0;

	connect_guest(0, true);
	guest_post_rx(&guest, 64, true);
	ck_assert(guest_send(&guest, packet, make(TCP6, 500, BLANK), 4096, 0, BLANK));
	guest_publish_tx(&guest);
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(frame.flags, RX_VALID);
	check_frame(TCP6, &covered);
	ck_assert_uint_eq(stats_of_queue().tx_csum_unasked, 1);
}
END_TEST

/* 18 buffers are the most a packet can need, and less is not waited for. */
START_TEST(eighteen_buffers_are_enough_for_anything)
{
	unsigned len = make(TCP4, 65481, BLANK), covered = 0;

	connect_guest(ALL, false);
	guest_post_rx(&guest, 17, true);
	guest_send_gso(&guest, packet, len, BLANK, GSO_TCPV4, 1460);
	guest_publish_tx(&guest);
	guest_wait_tx(&guest, 17);
	wait_until(stats_of_queue().rx_stalls == 1);
	ck_assert(!guest_recv(&guest, &frame));
	guest_post_rx(&guest, 1, true);
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_uint_eq(frame.slots, 17);
	check_frame(TCP4, &covered);
	ck_assert_uint_eq(stats_of_queue().rx_slots, 17);
}
END_TEST

START_TEST(segments_wait_for_buffers)
{
	unsigned len = make(TCP4, 14600, BLANK), covered = 0;

	connect_guest(CSUM4, false);
	guest_post_rx(&guest, 3, true);
	guest_send_gso(&guest, packet, len, BLANK, GSO_TCPV4, 1460);
	guest_publish_tx(&guest);
	for (unsigned i = 0; i < 10; i++) {
		if (i >= 3)
			guest_post_rx(&guest, 1, true);
		ck_assert(guest_wait_rx(&guest, &frame));
		check_frame(TCP4, &covered);
	}
	ck_assert_uint_eq(covered, 14600);
	ck_assert_uint_eq(stats_of_queue().rx_segments, 10);
}
END_TEST

/* Large and small ones mixed: none is lost or damaged, whatever shares a batch. */
START_TEST(large_and_small_packets_share_a_batch)
{
	connect_guest(ALL, false);
	guest_post_rx(&guest, 200, true);
	for (unsigned round = 0; round < 40; round++) {
		for (unsigned i = 0; i < 6; i++) {
			unsigned payload = i % 3 ? 100 * i : 25000 + round;

			guest_send_gso(&guest, packet, make(TCP4, payload, BLANK), BLANK, GSO_TCPV4,
				       1460);
		}
		guest_publish_tx(&guest);
		for (unsigned i = 0; i < 6; i++) {
			unsigned covered = 0;

			ck_assert(guest_wait_rx(&guest, &frame));
			check_frame(TCP4, &covered);
			ck_assert_uint_eq(covered, i % 3 ? 100 * i : 25000 + round);
			guest_post_rx(&guest, frame.slots, true);
		}
	}
	ck_assert_uint_eq(stats_of_queue().rx_gso, 80);
}
END_TEST

START_TEST(a_revoked_buffer_spoils_a_gso_packet_only)
{
	unsigned covered = 0;

	connect_guest(ALL, false);
	fake_revoke(guest_rx_gref(&guest, 2), true); /* after the extra info's */
	guest_post_rx(&guest, 60, true);
	for (unsigned i = 0; i < 2; i++)
		guest_send_gso(&guest, packet, make(TCP4, 9000, BLANK), BLANK, GSO_TCPV4, 1460);
	guest_publish_tx(&guest);
	ck_assert(guest_wait_rx(&guest, &frame));
	ck_assert_int_lt(frame.status, 0);
	ck_assert_uint_eq(frame.slots, 4);
	ck_assert(guest_wait_rx(&guest, &frame));
	check_frame(TCP4, &covered);
	ck_assert_uint_eq(covered, 9000);
	ck_assert_uint_eq(stats_of_queue().drops[DROP_RX_COPY], 1);
}
END_TEST

/* The buffer an extra info takes the place of may be any: it is not written to. */
START_TEST(the_buffer_of_an_extra_info_is_not_touched)
{
	unsigned covered = 0;

	connect_guest(ALL, false);
	fake_revoke(guest_rx_gref(&guest, 1), true);
	guest_post_rx(&guest, 60, true);
	guest_send_gso(&guest, packet, make(TCP4, 9000, BLANK), BLANK, GSO_TCPV4, 1460);
	guest_publish_tx(&guest);
	ck_assert(guest_wait_rx(&guest, &frame));
	check_frame(TCP4, &covered);
	ck_assert_uint_eq(covered, 9000);
}
END_TEST

Suite *offload_suite(void)
{
	Suite *suite = suite_create("offloads");
	TCase *tcase = tcase_create("offloads");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 60);
	tcase_add_loop_test(tcase, what_becomes_of_flags_and_extra_infos, 0, ARRAY_SIZE(rows));
	tcase_add_test(tcase, headers_have_to_lie_in_the_first_page);
	tcase_add_test(tcase, headers_may_come_in_crumbs);
	tcase_add_test(tcase, blank_although_refused_is_done_and_counted);
	tcase_add_test(tcase, eighteen_buffers_are_enough_for_anything);
	tcase_add_test(tcase, segments_wait_for_buffers);
	tcase_add_test(tcase, large_and_small_packets_share_a_batch);
	tcase_add_test(tcase, a_revoked_buffer_spoils_a_gso_packet_only);
	tcase_add_test(tcase, the_buffer_of_an_extra_info_is_not_touched);
	suite_add_tcase(suite, tcase);
	return suite;
}
