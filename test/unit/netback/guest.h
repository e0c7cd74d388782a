/* SPDX-License-Identifier: MIT */
/*
 * guest.h: the other end of one queue, for the flow tests: a minimal frontend on fake_xen.h's
 * memory, in the test's thread. It keeps the rules of xen/io/netif.h unless a test breaks them.
 */
#ifndef TEST_GUEST_H
#define TEST_GUEST_H

#include <stdbool.h>
#include <stdint.h>
#include <xen/xen.h>

#include "common/xen_barrier.h"
#include <xen/io/netif.h>

#include "netback/queue.h"

#define GUEST_TX_PAGES 64
#define GUEST_RX_PAGES 256
#define GUEST_PAGES    (2 + GUEST_TX_PAGES + GUEST_RX_PAGES)

struct guest {
	netif_tx_front_ring_t tx;
	netif_rx_front_ring_t rx;
	uint32_t base; /* its first page: TX ring, RX ring, TX buffers, RX buffers */
	uint32_t tx_port, rx_port;
	bool split;
	unsigned next_tx_page;
	unsigned tx_ok, tx_failed, tx_null; /* responses by status */
	uint16_t tx_next_id;		    /* of the response expected next: they come in order */
};

/** guest_init() - guest number @n (pages and ports of its own): empty rings. */
void guest_init(struct guest *guest, unsigned n, bool split);
/** guest_params() - what it publishes. */
struct xenvif_queue_params guest_params(const struct guest *guest);

uint32_t guest_tx_gref(const struct guest *guest, unsigned page);
uint32_t guest_rx_gref(const struct guest *guest, unsigned page);

/** guest_put_slot() - write one TX slot; not published. */
void guest_put_slot(struct guest *guest, uint32_t gref, unsigned offset, unsigned size,
		    unsigned flags);
/** guest_publish_tx() - publish what was put, and kick if the ring says so. */
void guest_publish_tx(struct guest *guest);
/**
 * guest_send() - put a frame of @len bytes, in slots of at most @slot_bytes, at offset @offset of
 * their pages. Return: false if the ring has no room (nothing put).
 */
bool guest_send(struct guest *guest, const void *frame, unsigned len, unsigned slot_bytes,
		unsigned offset, unsigned flags);
/** guest_reap_tx() - take the TX responses there are; checks that they are in order. */
void guest_reap_tx(struct guest *guest);
/** guest_wait_tx() - reap until @nr slots in all were answered, or the test fails. */
void guest_wait_tx(struct guest *guest, unsigned nr);

/** guest_post_rx() - post @nr buffers and kick if the ring says so and @notify. */
void guest_post_rx(struct guest *guest, unsigned nr, bool notify);

/** One frame received. */
struct guest_frame {
	unsigned len, slots;
	uint16_t flags; /* of the first response */
	int status;	/* negative: some slot was in error */
	uint8_t bytes[65536];
};
/**
 * guest_recv() - take one whole frame; its buffers are not posted again
 *
 * Checks the same-slot rule, offset 0 and the consistency of more_data. Return: false if none.
 */
bool guest_recv(struct guest *guest, struct guest_frame *frame);
/** guest_wait_rx() - guest_recv(), waiting up to 20 s. */
bool guest_wait_rx(struct guest *guest, struct guest_frame *frame);

/** wait_until() - poll @cond for up to 20 s. */
#define wait_until(cond)                                                   \
	do {                                                               \
		for (int tries_ = 0; !(cond) && tries_ < 200000; tries_++) \
			usleep(100);                                       \
		ck_assert(cond);                                           \
	} while (0)

#endif
