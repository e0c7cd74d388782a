/* SPDX-License-Identifier: MIT */
/*
 * gso.h: TCP packets larger than the wire takes, which somebody further on cuts into segments
 * (XEN_NETIF_EXTRA_TYPE_GSO, virtio_net_hdr.gso_type). Here they are checked, and cut where nobody
 * further on does it. Pure; every read is bounded by the bytes at hand.
 */
#ifndef COMMON_GSO_H
#define COMMON_GSO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/csum.h"

/** What a GSO packet is made of. */
struct gso {
	struct csum_place place; /* of its TCP checksum */
	uint16_t hdr_len;	 /* bytes up to the TCP payload */
	uint16_t size;		 /* TCP payload of every segment but the last */
};

/**
 * gso_find() - read the headers of a packet that is said to be TCP over IPv4 or IPv6
 * @head: the frame's first @head_len bytes; all headers must lie in them (XSA-423)
 * @len: the whole frame's length
 * @ipv6: what it is said to be; @size: the payload of a segment, not 0
 *
 * Return: 0; -EPROTONOSUPPORT: something else than is said, a fragment included; -EINVAL: a header
 * that does not fit.
 */
int gso_find(const void *head, size_t head_len, size_t len, bool ipv6, uint16_t size,
	     struct gso *gso);

/** gso_segments() - how many segments a frame of @len bytes makes; at least 1. */
unsigned gso_segments(const struct gso *gso, size_t len);

/** gso_segment_len() - bytes of segment @idx, headers included. */
size_t gso_segment_len(const struct gso *gso, size_t len, unsigned idx);

/**
 * gso_cut() - write segment @idx of the packet at @frame
 * @out: room for gso_segment_len() bytes
 *
 * Lengths, IPv4 id and header checksum, sequence number and flags are the segment's own; its TCP
 * checksum is left blank (the sum of the pseudo header), at @gso->place.
 */
void gso_cut(const struct gso *gso, const void *frame, size_t len, unsigned idx, void *out);

#endif
