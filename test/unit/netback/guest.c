/* SPDX-License-Identifier: MIT */
/* guest.c: see guest.h. */
#include "guest.h"

#include <check.h>
#include <string.h>
#include <unistd.h>

#include "common/compiler.h"
#include "fake_xen.h"

void guest_init(struct guest *guest, unsigned n, bool split)
{
	memset(guest, 0, sizeof(*guest));
	guest->base = n * GUEST_PAGES;
	guest->split = split;
	guest->tx_port = 1 + 2 * n;
	guest->rx_port = split ? 2 + 2 * n : guest->tx_port;
	XEN_FRONT_RING_INIT(&guest->tx, (netif_tx_sring_t *)fake_page(guest->base), 4096);
	XEN_FRONT_RING_INIT(&guest->rx, (netif_rx_sring_t *)fake_page(guest->base + 1), 4096);
}

struct xenvif_queue_params guest_params(const struct guest *guest)
{
	return (struct xenvif_queue_params){
		.domid = FAKE_DOMID,
		.tx_ring_ref = guest->base,
		.rx_ring_ref = guest->base + 1,
		.tx_evtchn = guest->tx_port,
		.rx_evtchn = guest->rx_port,
		.split = guest->split,
		.features = {.sg = true, .rx_notify = true, .csum_ipv4 = true, .mtu = 1500},
	};
}

uint32_t guest_tx_gref(const struct guest *guest, unsigned page)
{
	return guest->base + 2 + page % GUEST_TX_PAGES;
}

uint32_t guest_rx_gref(const struct guest *guest, unsigned page)
{
	return guest->base + 2 + GUEST_TX_PAGES + page % GUEST_RX_PAGES;
}

void guest_put_slot(struct guest *guest, uint32_t gref, unsigned offset, unsigned size,
		    unsigned flags)
{
	RING_IDX i = guest->tx.req_prod_pvt++;

	*RING_GET_REQUEST(&guest->tx, i) = (netif_tx_request_t){
		.gref = gref,
		.offset = (uint16_t)offset,
		.size = (uint16_t)size,
		.flags = (uint16_t)flags,
		.id = (uint16_t)i,
	};
}

void guest_publish_tx(struct guest *guest)
{
	int notify;

	RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&guest->tx, notify);
	if (notify)
		fake_guest_notify(guest->tx_port);
}

bool guest_send(struct guest *guest, const void *frame, unsigned len, unsigned slot_bytes,
		unsigned offset, unsigned flags)
{
	unsigned slots = DIV_ROUND_UP(len, slot_bytes);

	guest_reap_tx(guest);
	if (RING_FREE_REQUESTS(&guest->tx) < slots ||
	    guest->tx.req_prod_pvt - guest->tx.rsp_cons + slots > GUEST_TX_PAGES)
		return false;
	for (unsigned i = 0; i < slots; i++) {
		unsigned part = MIN(slot_bytes, len - i * slot_bytes);
		uint32_t gref = guest_tx_gref(guest, guest->next_tx_page++);

		memcpy((char *)fake_page(gref) + offset, (const char *)frame + i * slot_bytes,
		       part);
		guest_put_slot(guest, gref, offset, i ? part : len,
			       (i ? 0 : flags) | (i + 1 < slots ? NETTXF_more_data : 0));
	}
	return true;
}

void guest_reap_tx(struct guest *guest)
{
	RING_IDX prod = READ_ONCE(guest->tx.sring->rsp_prod);

	xen_rmb();
	ck_assert_uint_le(prod - guest->tx.rsp_cons, 256);
	for (; guest->tx.rsp_cons != prod; guest->tx.rsp_cons++) {
		netif_tx_response_t rsp = *RING_GET_RESPONSE(&guest->tx, guest->tx.rsp_cons);

		if (rsp.status == NETIF_RSP_NULL) {
			guest->tx_null++;
			continue;
		}
		ck_assert_uint_eq(rsp.id, (uint16_t)guest->tx.rsp_cons);
		if (rsp.status == NETIF_RSP_OKAY)
			guest->tx_ok++;
		else
			guest->tx_failed++;
	}
}

void guest_wait_tx(struct guest *guest, unsigned nr)
{
	for (int tries = 0; tries < 200000; tries++) {
		guest_reap_tx(guest);
		if (guest->tx_ok + guest->tx_failed + guest->tx_null >= nr)
			break;
		usleep(100);
	}
	ck_assert_uint_eq(guest->tx_ok + guest->tx_failed + guest->tx_null, nr);
}

void guest_post_rx(struct guest *guest, unsigned nr, bool notify)
{
	int kick;

	for (; nr; nr--) {
		RING_IDX i = guest->rx.req_prod_pvt++;

		*RING_GET_REQUEST(&guest->rx, i) = (netif_rx_request_t){
			.id = (uint16_t)(i & 0xff), .gref = guest_rx_gref(guest, i)};
	}
	RING_PUSH_REQUESTS_AND_CHECK_NOTIFY(&guest->rx, kick);
	if (kick && notify)
		fake_guest_notify(guest->rx_port);
}

bool guest_recv(struct guest *guest, struct guest_frame *frame)
{
	RING_IDX prod = READ_ONCE(guest->rx.sring->rsp_prod);
	netif_rx_response_t rsp;

	xen_rmb();
	if (prod == guest->rx.rsp_cons)
		return false;
	frame->len = frame->slots = 0;
	frame->status = 0;
	do {
		RING_IDX i = guest->rx.rsp_cons++;

		ck_assert_uint_ne(i, prod); /* a frame is published whole */
		rsp = *RING_GET_RESPONSE(&guest->rx, i);
		ck_assert_uint_eq(rsp.id, i & 0xff);
		ck_assert_uint_eq(rsp.offset, 0);
		if (!frame->slots++)
			frame->flags = rsp.flags;
		if (rsp.status < 0) {
			frame->status = rsp.status;
			continue;
		}
		ck_assert_int_le(rsp.status, 4096);
		memcpy(frame->bytes + frame->len, fake_page(guest_rx_gref(guest, i)),
		       (size_t)rsp.status);
		frame->len += (unsigned)rsp.status;
	} while (rsp.flags & NETRXF_more_data);
	return true;
}

bool guest_wait_rx(struct guest *guest, struct guest_frame *frame)
{
	for (int tries = 0; tries < 200000; tries++) {
		if (guest_recv(guest, frame))
			return true;
		usleep(100);
	}
	return false;
}
