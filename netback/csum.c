/* SPDX-License-Identifier: MIT */
/* csum.c: finding and completing transport checksums. See csum.h. */
#include "netback/csum.h"

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

static int skip_network(struct cursor *c, bool *ipv6)
{
	int type = skip_ethernet(c);

	*ipv6 = type == ETHERTYPE_IPV6;
	if (type < 0)
		return type;
	if (type == ETHERTYPE_IPV4)
		return skip_ipv4(c);
	return *ipv6 ? skip_ipv6(c) : -EPROTONOSUPPORT;
}

int csum_find(const void *head, size_t head_len, size_t len, struct csum_place *place)
{
	struct cursor c = {.bytes = head, .len = head_len < len ? head_len : len};
	int protocol = skip_network(&c, &place->ipv6);
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
static uint16_t ones_sum(const uint8_t *bytes, size_t len)
{
	uint64_t sum = 0;
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
	while (sum >> 16)
		sum = (sum & 0xffff) + (sum >> 16);
	return (uint16_t)sum;
}

void csum_fill(void *frame, size_t len, const struct csum_place *place)
{
	uint8_t *start = (uint8_t *)frame + place->start;
	uint16_t sum = (uint16_t)~ones_sum(start, len - place->start);

	if (place->udp && !sum) /* 0 says that there is no checksum (RFC 768) */
		sum = 0xffff;
	memcpy(start + place->offset, &sum, sizeof(sum));
}
