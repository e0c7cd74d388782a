/* SPDX-License-Identifier: MIT */
/*
 * test-offload.c: blank checksums and GSO packets over both rings, and between the kernel's terms
 * and the ring's.
 */
#include "netfront/offload.h"
#include "test/unit/netfront/fake_ring.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>
#include <stdlib.h>

static struct fake *fake;
static const struct netfront_frame *frame;

static const struct netfront_offload gso = {
	.csum_blank = true,
	.gso_type = XEN_NETIF_GSO_TYPE_TCPV4,
	.gso_size = 1448,
};

static void setup(void)
{
	fake = fake_new(true, true, 0xffffff80u);
	fake->tx.gso = true;
}

static void teardown(void)
{
	fake_free(fake);
}

/* ---- rings ---- */

static const struct {
	struct netfront_offload offload;
	uint16_t flags;
} flag_rows[] = {
	{{false, false, XEN_NETIF_GSO_TYPE_NONE, 0}, 0},
	{{false, true, XEN_NETIF_GSO_TYPE_NONE, 0}, NETTXF_data_validated},
	{{true, false, XEN_NETIF_GSO_TYPE_NONE, 0}, NETTXF_csum_blank | NETTXF_data_validated},
	{{true, true, XEN_NETIF_GSO_TYPE_NONE, 0}, NETTXF_csum_blank | NETTXF_data_validated},
};

START_TEST(flags_say_what_is_left_to_the_backend)
{
	ck_assert_int_eq(fake_send_offload(fake, 5000, &flag_rows[_i].offload), 0);
	ck_assert_uint_eq(fake_tx_take(fake).flags, flag_rows[_i].flags | NETTXF_more_data);
	ck_assert_uint_eq(fake_tx_take(fake).flags, 0);
	ck_assert_uint_eq(fake->tx_counters.csum_blank, flag_rows[_i].offload.csum_blank);
}
END_TEST

START_TEST(a_gso_packet_has_its_extra_info_after_the_first_slot)
{
	netif_tx_request_t first, second;
	netif_extra_info_t extra;

	ck_assert_int_eq(fake_send_offload(fake, 5000, &gso), 0);
	first = fake_tx_take(fake);
	extra = fake_tx_take_extra(fake);
	second = fake_tx_take(fake);
	ck_assert_uint_eq(first.flags, NETTXF_csum_blank | NETTXF_data_validated |
					       NETTXF_more_data | NETTXF_extra_info);
	ck_assert_uint_eq(extra.type, XEN_NETIF_EXTRA_TYPE_GSO);
	ck_assert_uint_eq(extra.flags, 0);
	ck_assert_uint_eq(extra.u.gso.type, XEN_NETIF_GSO_TYPE_TCPV4);
	ck_assert_uint_eq(extra.u.gso.size, 1448);
	ck_assert_uint_eq(second.size, 5000 - 4096);
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
	fake_tx_answer(fake, first.id, NETIF_RSP_OKAY);
	fake_tx_answer(fake, 0, NETIF_RSP_NULL);
	fake_tx_answer(fake, second.id, NETIF_RSP_OKAY);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 3);
	ck_assert_uint_eq(fake->tx_counters.packets, 1);
	ck_assert_uint_eq(fake->tx_counters.slots, 3);
	ck_assert_uint_eq(fake->tx_counters.gso, 1);
	ck_assert_uint_eq(fake->tx.nr_free, 256);
}
END_TEST

START_TEST(hostile_answer_to_an_extra_info_that_was_not_sent)
{
	netif_tx_request_t req;

	ck_assert_int_eq(fake_send_offload(fake, 60, &gso), 0);
	req = fake_tx_take(fake);
	fake_tx_take_extra(fake);
	fake_tx_answer(fake, req.id, NETIF_RSP_NULL);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 1);
	fake_tx_answer(fake, req.id, NETIF_RSP_NULL);
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), -EPROTO);
}
END_TEST

/* Extra infos take slots of the ring, and buffers none: the ring fills up before the buffers do. */
START_TEST(the_ring_never_overflows)
{
	unsigned sent = 0;

	while (!fake_send_offload(fake, 60, &gso))
		sent++;
	ck_assert_uint_eq(sent, 128);
	ck_assert_uint_eq(fake_tx_waiting(fake), 256);
	for (unsigned i = 0; i < 2 * sent; i++) {
		netif_tx_request_t req = fake_tx_take(fake);

		fake_tx_answer(fake, i % 2 ? 0 : req.id, i % 2 ? NETIF_RSP_NULL : NETIF_RSP_OKAY);
	}
	ck_assert_int_eq(netfront_tx_reap(&fake->tx), 256);
	ck_assert_uint_eq(fake->tx_counters.packets, 128);
	ck_assert_int_eq(fake_send_offload(fake, 65535, &gso), 0);
	ck_assert_uint_eq(fake_tx_waiting(fake), 17);
}
END_TEST

START_TEST(without_gso_agreed_none_is_sent)
{
	fake->tx.gso = false;
	ck_assert_int_eq(fake_send_offload(fake, 5000, &gso), -EINVAL);
	ck_assert_uint_eq(fake->tx_counters.dropped, 1);
	ck_assert_uint_eq(fake_tx_waiting(fake), 0);
	ck_assert_uint_eq(fake->tx.nr_free, 256);
}
END_TEST

START_TEST(a_received_gso_packet_is_put_together)
{
	fake_rx_send(fake, 4096, 1,
		     NETRXF_extra_info | NETRXF_more_data | NETRXF_csum_blank |
			     NETRXF_data_validated);
	fake_rx_gso(fake, XEN_NETIF_GSO_TYPE_TCPV6, 1428);
	fake_rx_send(fake, 904, 2, 0);
	ck_assert_int_eq(netfront_rx_next(&fake->rx, &frame), 1);
	ck_assert_uint_eq(frame->len_bytes, 5000);
	ck_assert(frame->offload.csum_blank && frame->offload.data_validated);
	ck_assert_uint_eq(frame->offload.gso_type, XEN_NETIF_GSO_TYPE_TCPV6);
	ck_assert_uint_eq(frame->offload.gso_size, 1428);
	ck_assert_uint_eq(fake->rx_counters.gso, 1);
	ck_assert_uint_eq(fake->rx_counters.slots, 3);
	/* What the next one is told is its own. */
	fake_rx_send(fake, 60, 1, 0);
	ck_assert_int_eq(netfront_rx_next(&fake->rx, &frame), 1);
	ck_assert(!frame->offload.csum_blank && !frame->offload.data_validated);
	ck_assert_uint_eq(frame->offload.gso_type, XEN_NETIF_GSO_TYPE_NONE);
	netfront_rx_release(&fake->rx);
	ck_assert_uint_eq(netfront_rx_post(&fake->rx), 4);
}
END_TEST

static const struct {
	uint8_t type;
	uint16_t size;
} bad_gso[] = {{XEN_NETIF_GSO_TYPE_TCPV4, 0}, {XEN_NETIF_GSO_TYPE_NONE, 1448}, {3, 1448}, {255, 1}};

START_TEST(received_gso_nonsense_drops_the_packet_only)
{
	fake_rx_send(fake, 60, 1, NETRXF_extra_info | NETRXF_csum_blank);
	fake_rx_gso(fake, bad_gso[_i].type, bad_gso[_i].size);
	fake_rx_send(fake, 70, 1, 0);
	ck_assert_int_eq(netfront_rx_next(&fake->rx, &frame), 1);
	ck_assert_uint_eq(frame->len_bytes, 70);
	ck_assert_uint_eq(fake->rx_counters.errors, 1);
}
END_TEST

/* ---- the kernel's terms ---- */

static const uint8_t tcp4[54] =
	"\1\2\3\4\5\6\2\2\2\2\2\2\x08\0\x45\0\x0f\x9a\0\1\x40\0\x40\6\0\0\12\0\0\1\12\0\0\2"
	"\0\1\0\2\0\0\0\1\0\0\0\1\x50\x10\x10\0\xab\xcd\0";
static const uint8_t udp4[42] =
	"\1\2\3\4\5\6\2\2\2\2\2\2\x08\0\x45\0\x0f\x9a\0\1\x40\0\x40\x11\0\0\12\0\0\1\12\0\0\2"
	"\0\1\0\2\x0f\x86\xab\xcd";

#define LEN 4008u /* what the headers say */

static uint8_t bytes[8192];

static const struct row {
	const char *name;
	const uint8_t *headers;
	size_t headers_len;
	struct virtio_net_hdr hdr;
	int err;
	struct netfront_offload offload;
} to_ring[] = {
	{"nothing", tcp4, sizeof(tcp4), {0}, 0, {false, false, XEN_NETIF_GSO_TYPE_NONE, 0}},
	{"validated",
	 tcp4,
	 sizeof(tcp4),
	 {.flags = VIRTIO_NET_HDR_F_DATA_VALID},
	 0,
	 {false, true, XEN_NETIF_GSO_TYPE_NONE, 0}},
	{"blank TCP",
	 tcp4,
	 sizeof(tcp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16},
	 0,
	 {true, false, XEN_NETIF_GSO_TYPE_NONE, 0}},
	{"blank UDP",
	 udp4,
	 sizeof(udp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6},
	 0,
	 {true, false, XEN_NETIF_GSO_TYPE_NONE, 0}},
	{"an inner one is completed",
	 udp4,
	 sizeof(udp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 84, .csum_offset = 16},
	 0,
	 {false, true, XEN_NETIF_GSO_TYPE_NONE, 0}},
	{"a field beyond the frame",
	 udp4,
	 sizeof(udp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 4007, .csum_offset = 0},
	 -EINVAL,
	 {false, false, 0, 0}},
	{"GSO",
	 tcp4,
	 sizeof(tcp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	  .csum_start = 34,
	  .csum_offset = 16,
	  .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
	  .gso_size = 1448,
	  .hdr_len = 54},
	 0,
	 {true, false, XEN_NETIF_GSO_TYPE_TCPV4, 1448}},
	{"GSO whose window shrank",
	 tcp4,
	 sizeof(tcp4),
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	  .csum_start = 34,
	  .csum_offset = 16,
	  .gso_type = VIRTIO_NET_HDR_GSO_TCPV4 | VIRTIO_NET_HDR_GSO_ECN,
	  .gso_size = 1000},
	 0,
	 {true, false, XEN_NETIF_GSO_TYPE_TCPV4, 1000}},
	{"GSO without a blank checksum",
	 tcp4,
	 sizeof(tcp4),
	 {.gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .gso_size = 1448},
	 0,
	 {true, false, XEN_NETIF_GSO_TYPE_TCPV4, 1448}},
	{"GSO of size 0",
	 tcp4,
	 sizeof(tcp4),
	 {.gso_type = VIRTIO_NET_HDR_GSO_TCPV4},
	 -EINVAL,
	 {false, false, 0, 0}},
	{"GSO of UDP",
	 udp4,
	 sizeof(udp4),
	 {.gso_type = VIRTIO_NET_HDR_GSO_UDP, .gso_size = 1000},
	 -EINVAL,
	 {false, false, 0, 0}},
	{"GSO of IPv6 that is IPv4",
	 tcp4,
	 sizeof(tcp4),
	 {.gso_type = VIRTIO_NET_HDR_GSO_TCPV6, .gso_size = 1000},
	 -EINVAL,
	 {false, false, 0, 0}},
};

static void fill_bytes(const struct row *row)
{
	for (size_t i = 0; i < sizeof(bytes); i++)
		bytes[i] = (uint8_t)(i * 7);
	memcpy(bytes, row->headers, row->headers_len);
}

START_TEST(what_the_kernel_says_goes_to_the_ring)
{
	const struct row *row = &to_ring[_i];
	struct iovec iov[NETFRONT_SLOTS_MAX] = {{bytes, 4096}, {bytes + 4096, 4096}};
	struct netfront_offload offload;
	int err;

	fill_bytes(row);
	err = offload_to_ring(&row->hdr, iov, LEN, &offload);
	ck_assert_msg(err == row->err, "%s: %d", row->name, err);
	if (err)
		return;
	ck_assert_msg(offload.csum_blank == row->offload.csum_blank, "%s", row->name);
	ck_assert_msg(offload.data_validated == row->offload.data_validated, "%s", row->name);
	ck_assert_msg(offload.gso_type == row->offload.gso_type, "%s", row->name);
	ck_assert_msg(offload.gso_size == row->offload.gso_size, "%s", row->name);
}
END_TEST

static uint32_t sum(const uint8_t *p, size_t len, uint32_t from)
{
	for (size_t i = 0; i < len; i++)
		from += i % 2 ? p[i] : (uint32_t)p[i] << 8;
	while (from >> 16)
		from = (from & 0xffff) + (from >> 16);
	return from;
}

START_TEST(a_checksum_the_backend_would_not_find_is_complete)
{
	struct virtio_net_hdr hdr = {
		.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 85, .csum_offset = 16};
	struct iovec iov[NETFRONT_SLOTS_MAX] = {{bytes, 4096}, {bytes + 4096, 4096}};
	struct netfront_offload offload;
	uint32_t before;

	fill_bytes(&to_ring[4]);
	before = sum(bytes + 85, 5000 - 85, 0);
	ck_assert_int_eq(offload_to_ring(&hdr, iov, 5000, &offload), 0);
	/* What the field held is part of the sum, as that of a pseudo header is. */
	ck_assert_uint_eq((uint16_t)~before, (uint16_t)(bytes[101] << 8 | bytes[102]));
}
END_TEST

static const struct {
	const char *name;
	struct netfront_offload offload;
	const uint8_t *headers;
	size_t head;
	int err;
	struct virtio_net_hdr hdr;
} to_kernel[] = {
	{"nothing", {.gso_type = XEN_NETIF_GSO_TYPE_NONE}, tcp4, 0, 0, {0}},
	{"validated", {.data_validated = true}, tcp4, 0, 0, {.flags = VIRTIO_NET_HDR_F_DATA_VALID}},
	{"blank",
	 {.csum_blank = true, .data_validated = true},
	 tcp4,
	 54,
	 0,
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16}},
	{"blank UDP",
	 {.csum_blank = true},
	 udp4,
	 42,
	 0,
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 6}},
	{"blank, cut in the header", {.csum_blank = true}, tcp4, 53, -EINVAL, {0}},
	{"blank garbage", {.csum_blank = true}, tcp4 + 10, 44, -EPROTONOSUPPORT, {0}},
	{"GSO",
	 {true, true, XEN_NETIF_GSO_TYPE_TCPV4, 1448},
	 tcp4,
	 54,
	 0,
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	  .csum_start = 34,
	  .csum_offset = 16,
	  .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
	  .gso_size = 1448,
	  .hdr_len = 54}},
	{"GSO without a blank checksum",
	 {false, true, XEN_NETIF_GSO_TYPE_TCPV4, 1448},
	 tcp4,
	 54,
	 0,
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
	  .csum_start = 34,
	  .csum_offset = 16,
	  .gso_type = VIRTIO_NET_HDR_GSO_TCPV4,
	  .gso_size = 1448,
	  .hdr_len = 54}},
	{"GSO of one segment",
	 {true, true, XEN_NETIF_GSO_TYPE_TCPV4, 4000},
	 tcp4,
	 54,
	 0,
	 {.flags = VIRTIO_NET_HDR_F_NEEDS_CSUM, .csum_start = 34, .csum_offset = 16}},
	{"GSO of UDP", {true, true, XEN_NETIF_GSO_TYPE_TCPV4, 1448}, udp4, 42, -EINVAL, {0}},
	{"GSO of the other version",
	 {true, true, XEN_NETIF_GSO_TYPE_TCPV6, 1448},
	 tcp4,
	 54,
	 -EINVAL,
	 {0}},
};

START_TEST(what_the_ring_says_goes_to_the_kernel)
{
	size_t len = to_kernel[_i].head;
	uint8_t *head = malloc(len ? len : 1);
	struct virtio_net_hdr hdr;
	int err;

	memcpy(head, to_kernel[_i].headers, len);
	err = offload_to_kernel(&to_kernel[_i].offload, head, len, LEN, &hdr);
	ck_assert_msg(!err == !to_kernel[_i].err, "%s: %d", to_kernel[_i].name, err);
	if (!err)
		ck_assert_msg(!memcmp(&hdr, &to_kernel[_i].hdr, sizeof(hdr)), "%s",
			      to_kernel[_i].name);
	if (!err && to_kernel[_i].offload.gso_type && !to_kernel[_i].offload.csum_blank)
		ck_assert_uint_eq(head[50] << 8 | head[51], sum(head + 26, 8, 6 + LEN - 34));
	free(head);
}
END_TEST

TCase *case_offload(void)
{
	TCase *tc = tcase_create("offload");

	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_loop_test(tc, flags_say_what_is_left_to_the_backend, 0, ARRAY_SIZE(flag_rows));
	tcase_add_test(tc, a_gso_packet_has_its_extra_info_after_the_first_slot);
	tcase_add_test(tc, hostile_answer_to_an_extra_info_that_was_not_sent);
	tcase_add_test(tc, the_ring_never_overflows);
	tcase_add_test(tc, without_gso_agreed_none_is_sent);
	tcase_add_test(tc, a_received_gso_packet_is_put_together);
	tcase_add_loop_test(tc, received_gso_nonsense_drops_the_packet_only, 0,
			    ARRAY_SIZE(bad_gso));
	tcase_add_loop_test(tc, what_the_kernel_says_goes_to_the_ring, 0, ARRAY_SIZE(to_ring));
	tcase_add_test(tc, a_checksum_the_backend_would_not_find_is_complete);
	tcase_add_loop_test(tc, what_the_ring_says_goes_to_the_kernel, 0, ARRAY_SIZE(to_kernel));
	return tc;
}
