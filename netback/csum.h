/* SPDX-License-Identifier: MIT */
/*
 * csum.h: blank checksums. A guest may leave the TCP or UDP checksum to us (NETTXF_csum_blank): the
 * field then holds the sum of the pseudo header. Here is found where it is, and, where nobody
 * further on will do it, what it must be. Pure; every read is bounded by the bytes at hand.
 */
#ifndef NETBACK_CSUM_H
#define NETBACK_CSUM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

/** Where a frame's checksum is, in the terms of struct virtio_net_hdr. */
struct csum_place {
	uint16_t start;	 /* first byte summed: the transport header, from the frame's start */
	uint16_t offset; /* the field, from start */
	bool ipv6;
	bool udp;
};

/**
 * csum_find() - locate the TCP or UDP checksum of an Ethernet frame
 * @head: the frame's first @head_len bytes; headers must lie in them
 * @len: the whole frame's length
 *
 * Understands up to two VLAN tags, IPv4 options and IPv6 extension headers.
 * Return: 0; -EPROTONOSUPPORT for anything else, a fragment included; -EINVAL for a header that
 * does not fit.
 */
int csum_find(const void *head, size_t head_len, size_t len, struct csum_place *place);

/** csum_fill() - complete the blank checksum at @place of the @len bytes at @frame. */
void csum_fill(void *frame, size_t len, const struct csum_place *place);

#endif
