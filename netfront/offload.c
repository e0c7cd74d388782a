/* SPDX-License-Identifier: MIT */
/* offload.c: see offload.h. */
#include "netfront/offload.h"

#include <errno.h>

#include "common/csum.h"
#include "common/gso.h"

/* The pieces begin laid out for the largest frame; this one ends sooner. */
static unsigned trim(const struct iovec *iov, size_t len, struct iovec out[NETFRONT_SLOTS_MAX])
{
	unsigned nr = 0;

	for (; len; nr++) {
		out[nr].iov_base = iov[nr].iov_base;
		out[nr].iov_len = MIN(len, iov[nr].iov_len);
		len -= out[nr].iov_len;
	}
	return nr;
}

static int blank_to_ring(const struct virtio_net_hdr *hdr, const struct iovec *iov, size_t len,
			 struct netfront_offload *offload)
{
	struct iovec pieces[NETFRONT_SLOTS_MAX];
	unsigned nr = trim(iov, len, pieces);
	struct csum_place place = {.start = hdr->csum_start, .offset = hdr->csum_offset};

	if (!csum_find(iov[0].iov_base, pieces[0].iov_len, len, &place) &&
	    place.start == hdr->csum_start && place.offset == hdr->csum_offset) {
		offload->csum_blank = true;
		return 0;
	}
	/* An inner one, or another protocol's. */
	place = (struct csum_place){.start = hdr->csum_start, .offset = hdr->csum_offset};
	offload->data_validated = true;
	return csum_fill_pieces(pieces, nr, &place);
}

static int gso_to_ring(const struct virtio_net_hdr *hdr, const struct iovec *iov, size_t len,
		       struct netfront_offload *offload)
{
	bool ipv6 = (hdr->gso_type & ~VIRTIO_NET_HDR_GSO_ECN) == VIRTIO_NET_HDR_GSO_TCPV6;
	size_t head = MIN(iov[0].iov_len, len);
	struct gso gso;

	if (!hdr->gso_size || gso_find(iov[0].iov_base, head, len, ipv6, hdr->gso_size, &gso))
		return -EINVAL;
	if (!(hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM))
		csum_make_blank(iov[0].iov_base, len, &gso.place);
	offload->csum_blank = true;
	offload->gso_type = ipv6 ? XEN_NETIF_GSO_TYPE_TCPV6 : XEN_NETIF_GSO_TYPE_TCPV4;
	offload->gso_size = hdr->gso_size;
	return 0;
}

int offload_to_ring(const struct virtio_net_hdr *hdr, const struct iovec *iov, size_t len_bytes,
		    struct netfront_offload *offload)
{
	*offload = (struct netfront_offload){.gso_type = XEN_NETIF_GSO_TYPE_NONE};
	if (len_bytes < NETFRONT_FRAME_MIN_BYTES)
		return -EINVAL;
	if (hdr->gso_type != VIRTIO_NET_HDR_GSO_NONE)
		return gso_to_ring(hdr, iov, len_bytes, offload);
	if (hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
		return blank_to_ring(hdr, iov, len_bytes, offload);
	offload->data_validated = hdr->flags & VIRTIO_NET_HDR_F_DATA_VALID;
	return 0;
}

static void need_csum(struct virtio_net_hdr *hdr, const struct csum_place *place)
{
	hdr->flags = VIRTIO_NET_HDR_F_NEEDS_CSUM;
	hdr->csum_start = place->start;
	hdr->csum_offset = place->offset;
}

static int gso_to_kernel(const struct netfront_offload *offload, void *head, size_t head_bytes,
			 size_t len_bytes, struct virtio_net_hdr *hdr)
{
	bool ipv6 = offload->gso_type == XEN_NETIF_GSO_TYPE_TCPV6;
	struct gso gso;

	if (gso_find(head, head_bytes, len_bytes, ipv6, offload->gso_size, &gso))
		return -EINVAL;
	if (!offload->csum_blank)
		csum_make_blank(head, len_bytes, &gso.place);
	need_csum(hdr, &gso.place);
	if (gso_segments(&gso, len_bytes) == 1)
		return 0;
	hdr->gso_type = ipv6 ? VIRTIO_NET_HDR_GSO_TCPV6 : VIRTIO_NET_HDR_GSO_TCPV4;
	hdr->gso_size = gso.size;
	hdr->hdr_len = gso.hdr_len;
	return 0;
}

int offload_to_kernel(const struct netfront_offload *offload, void *head, size_t head_bytes,
		      size_t len_bytes, struct virtio_net_hdr *hdr)
{
	struct csum_place place;

	memset(hdr, 0, sizeof(*hdr));
	if (offload->gso_type != XEN_NETIF_GSO_TYPE_NONE)
		return gso_to_kernel(offload, head, head_bytes, len_bytes, hdr);
	if (!offload->csum_blank) {
		if (offload->data_validated)
			hdr->flags = VIRTIO_NET_HDR_F_DATA_VALID;
		return 0;
	}
	if (csum_find(head, head_bytes, len_bytes, &place))
		return -EINVAL;
	need_csum(hdr, &place);
	return 0;
}
