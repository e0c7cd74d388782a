/* SPDX-License-Identifier: MIT */
/*
 * packet-check: reads the TCP packets that arrive at a network interface, as the device handed them
 * to the kernel, and checks each: lengths, checksums (complete, or blank as said), segment sizes.
 * Ends when a file appears; prints what it saw as one line of JSON. Knows nothing of the code
 * tested.
 *
 * Usage: packet-check INTERFACE STOP_FILE
 */
#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#define WAIT_USEC 50000

struct counts {
	unsigned long packets, ipv6, gso, blank, bad_len, bad_csum, bad_gso;
	unsigned largest_segment; /* TCP payload */
};

struct packet {
	struct virtio_net_hdr hdr;
	uint8_t bytes[70000];
	size_t len;
	size_t ip, tcp, payload; /* offsets */
	bool ipv6;
};

static unsigned get16(const uint8_t *p)
{
	return (unsigned)(p[0] << 8 | p[1]);
}

static uint32_t sum(const uint8_t *p, size_t len, uint32_t from)
{
	for (; len > 1; p += 2, len -= 2) {
		from += get16(p);
		from = (from & 0xffff) + (from >> 16);
	}
	if (len)
		from += (uint32_t)p[0] << 8;
	return (from & 0xffff) + (from >> 16);
}

/* Is it TCP over IP, without options of IP or VLAN? Then where its parts are. */
static bool parse(struct packet *p)
{
	unsigned type = get16(p->bytes + 12);

	if (p->len < 14 + 40)
		return false;
	p->ip = 14;
	p->ipv6 = type == ETH_P_IPV6;
	if (type == ETH_P_IP && p->bytes[14] == 0x45 && p->bytes[23] == IPPROTO_TCP)
		p->tcp = 34;
	else if (p->ipv6 && p->len >= 14 + 60 && p->bytes[20] == IPPROTO_TCP)
		p->tcp = 54;
	else
		return false;
	p->payload = p->tcp + (size_t)(p->bytes[p->tcp + 12] >> 4) * 4;
	return p->payload <= p->len;
}

static bool lengths_fit(const struct packet *p)
{
	const uint8_t *ip = p->bytes + p->ip;
	size_t said = p->ipv6 ? 40 + get16(ip + 4) : get16(ip + 2);

	return said == p->len - p->ip;
}

static bool csum_fits(const struct packet *p)
{
	size_t tcp_len = p->len - p->tcp;
	const uint8_t *addresses = p->bytes + p->ip + (p->ipv6 ? 8 : 12);
	uint32_t pseudo = sum(addresses, p->ipv6 ? 32 : 8, (uint32_t)(IPPROTO_TCP + tcp_len));

	if (!p->ipv6 && sum(p->bytes + p->ip, 20, 0) != 0xffff)
		return false;
	if (p->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		return get16(p->bytes + p->tcp + 16) == pseudo && p->hdr.csum_start == p->tcp &&
		       p->hdr.csum_offset == 16;
	return sum(p->bytes + p->tcp, tcp_len, pseudo) == 0xffff;
}

static bool gso_fits(const struct packet *p)
{
	uint8_t type = p->hdr.gso_type & (uint8_t)~VIRTIO_NET_HDR_GSO_ECN;

	return type == (p->ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4) &&
	       p->hdr.gso_size && p->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM;
}

static void count(const struct packet *p, struct counts *c)
{
	bool gso = p->hdr.gso_type != VIRTIO_NET_HDR_GSO_NONE;
	unsigned segment = gso ? p->hdr.gso_size : (unsigned)(p->len - p->payload);

	c->packets++;
	c->ipv6 += p->ipv6;
	c->gso += gso;
	c->blank += !!(p->hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM);
	c->bad_len += !lengths_fit(p);
	c->bad_csum += !csum_fits(p);
	c->bad_gso += gso && !gso_fits(p);
	if (segment > c->largest_segment)
		c->largest_segment = segment;
}

static int open_interface(const char *name)
{
	struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL)};
	struct timeval wait = {.tv_usec = WAIT_USEC};
	int fd = socket(AF_PACKET, SOCK_RAW, htons(ETH_P_ALL)), on = 1, room = 16 << 20;

	address.sll_ifindex = (int)if_nametoindex(name);
	if (fd < 0 || !address.sll_ifindex ||
	    setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof(wait)) ||
	    bind(fd, (struct sockaddr *)&address, sizeof(address))) {
		perror(name);
		return -1;
	}
	setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &room, sizeof(room));
	return fd;
}

int main(int argc, char *argv[])
{
	static struct packet packet;
	struct counts c = {0};
	struct sockaddr_ll from;
	struct iovec iov[2] = {{&packet.hdr, sizeof(packet.hdr)},
			       {packet.bytes, sizeof(packet.bytes)}};
	int fd;

	if (argc != 3) {
		fputs("usage: packet-check INTERFACE STOP_FILE\n", stderr);
		return 2;
	}
	fd = open_interface(argv[1]);
	if (fd < 0)
		return 1;
	for (;;) {
		struct msghdr msg = {.msg_name = &from,
				     .msg_namelen = sizeof(from),
				     .msg_iov = iov,
				     .msg_iovlen = 2};
		ssize_t len = recvmsg(fd, &msg, 0);

		if (len < 0 && errno != EAGAIN && errno != EINTR && errno != ENETDOWN)
			break;
		if (len < 0 && !access(argv[2], F_OK))
			break;
		packet.len = len < 0 ? 0 : (size_t)len - sizeof(packet.hdr);
		if (len > 0 && from.sll_pkttype != PACKET_OUTGOING && parse(&packet))
			count(&packet, &c);
	}
	printf("{\"packets\": %lu, \"ipv6\": %lu, \"gso\": %lu, \"blank\": %lu, \"bad_len\": %lu, "
	       "\"bad_csum\": %lu, \"bad_gso\": %lu, \"largest_segment\": %u}\n",
	       c.packets, c.ipv6, c.gso, c.blank, c.bad_len, c.bad_csum, c.bad_gso,
	       c.largest_segment);
	return 0;
}
