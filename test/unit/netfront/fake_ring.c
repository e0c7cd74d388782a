/* SPDX-License-Identifier: MIT */
/* fake_ring.c: see fake_ring.h. */
#include "test/unit/netfront/fake_ring.h"

#include <check.h>
#include <stdlib.h>
#include <sys/mman.h>

static void *pages(size_t nr)
{
	void *mem = mmap(NULL, nr * NETFRONT_PAGE_BYTES, PROT_READ | PROT_WRITE,
			 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	ck_assert_ptr_ne(mem, MAP_FAILED);
	return mem;
}

/* As if @start slots had been used and answered before. */
static void start_tx(struct fake *fake, RING_IDX start)
{
	fake->tx.ring.req_prod_pvt = fake->tx.ring.rsp_cons = fake->tx.pushed = start;
	fake->tx_page->req_prod = fake->tx_page->rsp_prod = start;
	fake->tx_page->req_event = fake->tx_page->rsp_event = start + 1;
	BACK_RING_ATTACH(&fake->tx_back, fake->tx_page, start, NETFRONT_PAGE_BYTES);
}

static void start_rx(struct fake *fake, RING_IDX start)
{
	struct netfront_rx *rx = &fake->rx;

	rx->ring.req_prod_pvt = rx->ring.rsp_cons = rx->pushed = rx->released = rx->seen = start;
	fake->rx_page->req_prod = fake->rx_page->rsp_prod = start;
	fake->rx_page->req_event = fake->rx_page->rsp_event = start + 1;
	BACK_RING_ATTACH(&fake->rx_back, fake->rx_page, start, NETFRONT_PAGE_BYTES);
	netfront_rx_post(rx);
	netfront_rx_publish(rx);
}

struct fake *fake_new(bool sg, bool rx_notify, RING_IDX start)
{
	struct fake *fake = calloc(1, sizeof(*fake));
	uint32_t tx_grefs[NETFRONT_RING_SLOTS], rx_grefs[NETFRONT_RING_SLOTS];

	ck_assert_ptr_nonnull(fake);
	for (unsigned i = 0; i < NETFRONT_RING_SLOTS; i++) {
		tx_grefs[i] = FAKE_TX_GREF(i);
		rx_grefs[i] = FAKE_RX_GREF(i);
	}
	fake->tx_page = pages(1);
	fake->rx_page = pages(1);
	fake->tx_pages = pages(NETFRONT_RING_SLOTS);
	fake->rx_pages = pages(NETFRONT_RING_SLOTS);
	netfront_tx_init(&fake->tx, fake->tx_page, fake->tx_pages, tx_grefs, sg,
			 &fake->tx_counters);
	netfront_rx_init(&fake->rx, fake->rx_page, fake->rx_pages, rx_grefs, rx_notify,
			 &fake->rx_counters);
	start_tx(fake, start);
	start_rx(fake, start);
	return fake;
}

void fake_free(struct fake *fake)
{
	munmap(fake->tx_page, NETFRONT_PAGE_BYTES);
	munmap(fake->rx_page, NETFRONT_PAGE_BYTES);
	munmap(fake->tx_pages, NETFRONT_RING_SLOTS * NETFRONT_PAGE_BYTES);
	munmap(fake->rx_pages, NETFRONT_RING_SLOTS * NETFRONT_PAGE_BYTES);
	free(fake);
}

unsigned fake_tx_waiting(const struct fake *fake)
{
	return fake->tx_page->req_prod - fake->tx_back.req_cons;
}

unsigned fake_rx_waiting(const struct fake *fake)
{
	return fake->rx_page->req_prod - fake->rx_back.req_cons;
}

netif_tx_request_t fake_tx_take(struct fake *fake)
{
	netif_tx_request_t req;

	ck_assert_uint_gt(fake_tx_waiting(fake), 0);
	RING_COPY_REQUEST(&fake->tx_back, fake->tx_back.req_cons, &req);
	fake->tx_back.req_cons++;
	return req;
}

netif_rx_request_t fake_rx_take(struct fake *fake)
{
	netif_rx_request_t req;

	ck_assert_uint_gt(fake_rx_waiting(fake), 0);
	RING_COPY_REQUEST(&fake->rx_back, fake->rx_back.req_cons, &req);
	fake->rx_back.req_cons++;
	return req;
}

void fake_tx_answer(struct fake *fake, uint16_t id, int16_t status)
{
	netif_tx_response_t *rsp = RING_GET_RESPONSE(&fake->tx_back, fake->tx_back.rsp_prod_pvt);

	rsp->id = id;
	rsp->status = status;
	fake->tx_back.rsp_prod_pvt++;
	RING_PUSH_RESPONSES(&fake->tx_back);
}

void fake_rx_answer(struct fake *fake, uint16_t id, uint16_t offset, uint16_t flags, int16_t status)
{
	netif_rx_response_t *rsp = RING_GET_RESPONSE(&fake->rx_back, fake->rx_back.rsp_prod_pvt);

	*rsp = (netif_rx_response_t){id, offset, flags, status};
	fake->rx_back.rsp_prod_pvt++;
	RING_PUSH_RESPONSES(&fake->rx_back);
}

void fake_rx_extra(struct fake *fake, uint8_t type, uint8_t flags)
{
	netif_extra_info_t extra = {.type = type, .flags = flags};

	fake_rx_take(fake);
	memcpy(RING_GET_RESPONSE(&fake->rx_back, fake->rx_back.rsp_prod_pvt), &extra,
	       sizeof(extra));
	fake->rx_back.rsp_prod_pvt++;
	RING_PUSH_RESPONSES(&fake->rx_back);
}

void fake_rx_send(struct fake *fake, uint16_t len, uint8_t fill, uint16_t flags)
{
	netif_rx_request_t req = fake_rx_take(fake);

	memset(fake->rx_pages + (req.gref - FAKE_RX_GREF(0)) * NETFRONT_PAGE_BYTES, fill, len);
	fake_rx_answer(fake, req.id, 0, flags, (int16_t)len);
}

int fake_send(struct fake *fake, size_t len)
{
	struct iovec iov[NETFRONT_SLOTS_MAX];
	int nr = netfront_tx_begin(&fake->tx, len, iov);
	int err;

	if (nr < 0)
		return nr;
	for (int i = 0; i < nr; i++)
		memset(iov[i].iov_base, 0x40 + i, iov[i].iov_len);
	err = netfront_tx_commit(&fake->tx, len);
	netfront_tx_publish(&fake->tx);
	return err;
}
