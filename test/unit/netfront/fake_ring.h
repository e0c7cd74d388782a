/* SPDX-License-Identifier: MIT */
/*
 * fake_ring.h: both rings of a frontend in ordinary memory, and a backend's half that says whatever
 * a test wants it to say.
 */
#ifndef TEST_UNIT_NETFRONT_FAKE_RING_H
#define TEST_UNIT_NETFRONT_FAKE_RING_H

#include "netfront/ring.h"

struct fake {
	netif_tx_sring_t *tx_page;
	netif_rx_sring_t *rx_page;
	uint8_t *tx_pages, *rx_pages;
	struct netfront_tx tx;
	struct netfront_rx rx;
	struct netfront_counters tx_counters, rx_counters;
	netif_tx_back_ring_t tx_back;
	netif_rx_back_ring_t rx_back;
};

/* What the grant reference of buffer i is in these tests. */
#define FAKE_TX_GREF(i) (1000u + (i))
#define FAKE_RX_GREF(i) (5000u + (i))

/* Rings that start at index @start, to test wrapping of the 32-bit indexes too. */
struct fake *fake_new(bool sg, bool rx_notify, RING_IDX start);
void fake_free(struct fake *fake);

/* The backend takes the next request; aborts the test if there is none. */
netif_tx_request_t fake_tx_take(struct fake *fake);
netif_rx_request_t fake_rx_take(struct fake *fake);
unsigned fake_tx_waiting(const struct fake *fake);
unsigned fake_rx_waiting(const struct fake *fake);

/* The backend answers, visible at once. */
void fake_tx_answer(struct fake *fake, uint16_t id, int16_t status);
void fake_rx_answer(struct fake *fake, uint16_t id, uint16_t offset, uint16_t flags,
		    int16_t status);
void fake_rx_extra(struct fake *fake, uint8_t type, uint8_t flags);

/* Take a buffer and answer it in its slot, as a proper backend does: @len bytes of @fill. */
void fake_rx_send(struct fake *fake, uint16_t len, uint8_t fill, uint16_t flags);

/* Queue and publish a frame of @len bytes; returns begin's or commit's error. */
int fake_send(struct fake *fake, size_t len);

#endif
