/* SPDX-License-Identifier: MIT */
/* csum.c: finding and completing transport checksums. See csum.h. */
#include "common/csum.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

#define ETH_BYTES	    14
#define VLAN_BYTES	    4
#define VLAN_TAGS_MAX	    2
#define IPV6_BYTES	    40
#define IPV6_EXTENSIONS_MAX 8

#define ETHERTYPE_IPV4 0x0800
#define ETHERTYPE_IPV6 0x86dd
#define ETHERTYPE_VLAN 0x8100
#define ETHERTYPE_QINQ 0x88a8

/* The bytes that may be looked at, and how far we are. */
struct cursor {
	const uint8_t *bytes;
	size_t len;
	size_t at;
};

static bool has(const struct cursor *c, size_t n)
{
	return c->len - c->at >= n;
}

static uint16_t be16_at(const struct cursor *c, size_t offset)
{
	return (uint16_t)(c->bytes[c->at + offset] << 8 | c->bytes[c->at + offset + 1]);
}

/* Past the Ethernet header. Return: the ethertype, or -errno. */
static int skip_ethernet(struct cursor *c)
{
	uint16_t type;

	if (!has(c, ETH_BYTES))
		return -EINVAL;
	type = be16_at(c, 12);
	c->at += ETH_BYTES;
	for (int tags = 0; type == ETHERTYPE_VLAN || type == ETHERTYPE_QINQ; tags++) {
		if (tags == VLAN_TAGS_MAX)
			return -EPROTONOSUPPORT;
		if (!has(c, VLAN_BYTES))
			return -EINVAL;
		type = be16_at(c, 2);
		c->at += VLAN_BYTES;
	}
	return type;
}

/* Past the IPv4 header. Return: the protocol, or -errno. */
static int skip_ipv4(struct cursor *c)
{
	size_t header;
	int protocol;

	if (!has(c, 20))
		return -EINVAL;
	header = (size_t)(c->bytes[c->at] & 0x0f) * 4;
	if (c->bytes[c->at] >> 4 != 4 || header < 20 || !has(c, header))
		return -EINVAL;
	if (be16_at(c, 6) & 0x3fff) /* more fragments, or not the first */
		return -EPROTONOSUPPORT;
	protocol = c->bytes[c->at + 9];
	c->at += header;
	return protocol;
}

/* Past the IPv6 header and its extensions. Return: the protocol, or -errno. */
static int skip_ipv6(struct cursor *c)
{
	int next;

	if (!has(c, IPV6_BYTES) || c->bytes[c->at] >> 4 != 6)
		return -EINVAL;
	next = c->bytes[c->at + 6];
	c->at += IPV6_BYTES;
	for (int i = 0; i < IPV6_EXTENSIONS_MAX; i++) {
		size_t bytes;

		if (next != IPPROTO_HOPOPTS && next != IPPROTO_ROUTING && next != IPPROTO_DSTOPTS)
			return next;
		if (!has(c, 8))
			return -EINVAL;
		bytes = 8 + (size_t)c->bytes[c->at + 1] * 8;
		if (!has(c, bytes))
			return -EINVAL;
		next = c->bytes[c->at];
		c->at += bytes;
	}
	return -EPROTONOSUPPORT;
}

static int skip_network(struct cursor *c, struct csum_place *place)
{
	int type = skip_ethernet(c);

	place->ipv6 = type == ETHERTYPE_IPV6;
	place->network = (uint16_t)c->at; /* two tags at most: it is small */
	if (type < 0)
		return type;
	if (type == ETHERTYPE_IPV4)
		return skip_ipv4(c);
	return place->ipv6 ? skip_ipv6(c) : -EPROTONOSUPPORT;
}

int csum_find(const void *head, size_t head_len, size_t len, struct csum_place *place)
{
	struct cursor c = {.bytes = head, .len = head_len < len ? head_len : len};
	int protocol = skip_network(&c, place);
	size_t header;

	if (protocol < 0)
		return protocol;
	if (protocol != IPPROTO_TCP && protocol != IPPROTO_UDP)
		return -EPROTONOSUPPORT;
	place->udp = protocol == IPPROTO_UDP;
	header = place->udp ? 8 : 20;
	if (!has(&c, header) || c.at > UINT16_MAX)
		return -EINVAL;
	place->start = (uint16_t)c.at;
	place->offset = place->udp ? 6 : 16;
	return 0;
}

/* RFC 1071: one's complement sum of 16-bit words, in memory order throughout. */
static uint64_t add_bytes(uint64_t sum, const uint8_t *bytes, size_t len)
{
	uint32_t word;
	uint16_t tail = 0;

	for (; len >= 4; bytes += 4, len -= 4) {
		memcpy(&word, bytes, 4);
		sum += word;
	}
	if (len >= 2) {
		memcpy(&tail, bytes, 2);
		sum += tail;
		bytes += 2;
		len -= 2;
	}
	if (len) {
		tail = 0;
		memcpy(&tail, bytes, 1);
		sum += tail;
	}
	return sum;
}

static uint16_t fold(uint64_t sum)
{
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

static void put(uint8_t *field, uint16_t sum)
{
	memcpy(field, &sum, sizeof(sum));
}

/* 0 says that a UDP packet has no checksum (RFC 768). */
static uint16_t complement(uint16_t sum, bool udp)
{
	sum = (uint16_t)~sum;
	return udp && !sum ? 0xffff : sum;
}

void csum_fill(void *frame, size_t len, const struct csum_place *place)
{
	uint8_t *start = (uint8_t *)frame + place->start;
	uint16_t sum = fold(add_bytes(0, start, len - place->start));

	put(start + place->offset, complement(sum, place->udp));
}

int csum_fill_pieces(const struct iovec *iov, size_t nr_iov, const struct csum_place *place)
{
	size_t skip = place->start;
	uint8_t *start;
	uint64_t sum = 0;
	bool odd = false;

	if (!nr_iov || (size_t)place->start + place->offset + sizeof(uint16_t) > iov[0].iov_len)
		return -EINVAL;
	start = (uint8_t *)iov[0].iov_base + place->start;
	for (size_t i = 0; i < nr_iov; i++, skip = 0) {
		size_t len = iov[i].iov_len - skip;
		uint16_t part = fold(add_bytes(0, (uint8_t *)iov[i].iov_base + skip, len));

		/* A piece that begins at an odd byte has its words the other way round. */
		sum += odd ? (uint16_t)(part << 8 | part >> 8) : part;
		odd ^= len & 1;
	}
	put(start + place->offset, complement(fold(sum), place->udp));
	return 0;
}

void csum_make_blank(void *frame, size_t len, const struct csum_place *place)
{
	uint8_t *bytes = frame, *network = bytes + place->network;
	size_t addresses = place->ipv6 ? 8 : 12;
	size_t transport_len = len - place->start;
	uint8_t tail[4] = {0, place->udp ? IPPROTO_UDP : IPPROTO_TCP, (uint8_t)(transport_len >> 8),
			   (uint8_t)transport_len};
	uint64_t sum = add_bytes(0, network + addresses, place->ipv6 ? 32 : 8);

	put(bytes + place->start + place->offset, fold(add_bytes(sum, tail, sizeof(tail))));
}

void csum_ipv4_header(void *header, size_t len)
{
	uint8_t *bytes = header;

	put(bytes + 10, 0);
	put(bytes + 10, (uint16_t)~fold(add_bytes(0, bytes, len)));
}
