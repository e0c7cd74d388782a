/* SPDX-License-Identifier: MIT */
/* gso.c: checking and cutting large TCP packets. See gso.h. */
#include "common/gso.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"

/* Offsets in the headers of RFC 791, 8200 and 9293. */
#define IPV4_TOTAL_LEN	 2
#define IPV4_ID		 4
#define IPV6_PAYLOAD_LEN 4
#define IPV6_BYTES	 40
#define TCP_SEQ		 4
#define TCP_DATA_OFFSET	 12
#define TCP_FLAGS	 13
#define TCP_BYTES	 20

#define TCP_FIN 0x01
#define TCP_PSH 0x08
#define TCP_CWR 0x80

static uint16_t get16(const uint8_t *p)
{
	return (uint16_t)(p[0] << 8 | p[1]);
}

static void put16(uint8_t *p, size_t value)
{
	p[0] = (uint8_t)(value >> 8);
	p[1] = (uint8_t)value;
}

static uint32_t get32(const uint8_t *p)
{
	return (uint32_t)get16(p) << 16 | get16(p + 2);
}

static void put32(uint8_t *p, uint32_t value)
{
	put16(p, value >> 16);
	put16(p + 2, value & 0xffff);
}

int gso_find(const void *head, size_t head_len, size_t len, bool ipv6, uint16_t size,
	     struct gso *gso)
{
	const uint8_t *bytes = head;
	size_t header;
	int err = csum_find(head, head_len, len, &gso->place);

	if (err)
		return err;
	if (gso->place.udp || gso->place.ipv6 != ipv6)
		return -EPROTONOSUPPORT;
	header = (size_t)(bytes[gso->place.start + TCP_DATA_OFFSET] >> 4) * 4;
	if (header < TCP_BYTES || gso->place.start + header > MIN(head_len, len))
		return -EINVAL;
	gso->hdr_len = (uint16_t)(gso->place.start + header);
	gso->size = size;
	return 0;
}

unsigned gso_segments(const struct gso *gso, size_t len)
{
	size_t payload = len - gso->hdr_len;

	return payload ? (unsigned)DIV_ROUND_UP(payload, gso->size) : 1;
}

size_t gso_segment_len(const struct gso *gso, size_t len, unsigned idx)
{
	size_t left = len - gso->hdr_len - (size_t)idx * gso->size;

	return gso->hdr_len + MIN(left, (size_t)gso->size);
}

static void fix_network(const struct gso *gso, uint8_t *out, size_t len, unsigned idx)
{
	uint8_t *ip = out + gso->place.network;
	size_t network_len = len - gso->place.network;

	if (gso->place.ipv6) {
		put16(ip + IPV6_PAYLOAD_LEN, network_len - IPV6_BYTES);
		return;
	}
	put16(ip + IPV4_TOTAL_LEN, network_len);
	put16(ip + IPV4_ID, get16(ip + IPV4_ID) + idx);
	csum_ipv4_header(ip, (size_t)(ip[0] & 0x0f) * 4);
}

/* "The window shrank" is said once, at the beginning; "that is all", once, at the end. */
static void fix_tcp(const struct gso *gso, uint8_t *out, unsigned idx, bool last)
{
	uint8_t *tcp = out + gso->place.start;

	put32(tcp + TCP_SEQ, get32(tcp + TCP_SEQ) + idx * (uint32_t)gso->size);
	if (idx)
		tcp[TCP_FLAGS] &= (uint8_t)~TCP_CWR;
	if (!last)
		tcp[TCP_FLAGS] &= (uint8_t) ~(TCP_FIN | TCP_PSH);
}

void gso_cut(const struct gso *gso, const void *frame, size_t len, unsigned idx, void *out)
{
	const uint8_t *payload = (const uint8_t *)frame + gso->hdr_len;
	size_t own = gso_segment_len(gso, len, idx);

	memcpy(out, frame, gso->hdr_len);
	memcpy((uint8_t *)out + gso->hdr_len, payload + (size_t)idx * gso->size,
	       own - gso->hdr_len);
	fix_network(gso, out, own, idx);
	fix_tcp(gso, out, idx, idx + 1 == gso_segments(gso, len));
	csum_make_blank(out, own, &gso->place);
}
