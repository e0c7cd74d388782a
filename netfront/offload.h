/* SPDX-License-Identifier: MIT */
/*
 * offload.h: blank checksums and GSO packets between the kernel's terms (struct virtio_net_hdr) and
 * the ring's. Pure; the bytes looked at must not change meanwhile.
 */
#ifndef NETFRONT_OFFLOAD_H
#define NETFRONT_OFFLOAD_H

#include <linux/virtio_net.h>

#include "netfront/ring.h"

/* Headers longer than this are none of TCP or UDP that anybody sends. */
#define OFFLOAD_HEAD_BYTES 512u

/**
 * offload_to_ring() - what the backend is told of a frame the kernel gave us
 * @iov: the frame's pieces, as netfront_tx_begin() laid them out; @len_bytes: of the frame
 *
 * A checksum that the backend would not find is completed here.
 * Return: 0; -EINVAL: it makes no sense, and the frame is to be dropped.
 */
int offload_to_ring(const struct virtio_net_hdr *hdr, const struct iovec *iov, size_t len_bytes,
		    struct netfront_offload *offload);

/**
 * offload_to_kernel() - what the kernel is told of a frame the backend gave us
 * @head: a private copy of the frame's first bytes, @head_bytes of them; of a GSO packet without a
 *	blank checksum the checksum is blanked in it
 *
 * Return: 0 or -EINVAL as above.
 */
int offload_to_kernel(const struct netfront_offload *offload, void *head, size_t head_bytes,
		      size_t len_bytes, struct virtio_net_hdr *hdr);

#endif
