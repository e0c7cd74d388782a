/* SPDX-License-Identifier: MIT */
/*
 * fake_backend.h: an emulated machine with one guest, a frontend that runs there in a thread of its
 * own, and the test as toolstack and backend: it writes what keys and answers it likes.
 */
#ifndef TEST_UNIT_NETFRONT_FAKE_BACKEND_H
#define TEST_UNIT_NETFRONT_FAKE_BACKEND_H

#include <stdatomic.h>
#include <stdbool.h>
#include <xenevtchn.h>
#include <xengnttab.h>

#include "netfront/netfront.h"

/* Of the device directory and the backend directories 0 and 1, once fake_start() was called. */
extern char front_dir[XENBUS_PATH_BYTES], back_dir[2][XENBUS_PATH_BYTES];
extern struct xs_handle *dom0;

void machine_up(void);
void machine_down(void);

/* Toolstack: the device with backend directory @which, both sides' states as given. */
void device_create(unsigned which, enum xenbus_state front, enum xenbus_state back);
void device_remove(void);
void back_state(unsigned which, enum xenbus_state state);
void back_key(unsigned which, const char *key, const char *value);

/* Frontend. */
void front_start(const struct netfront_params *params);
/* Ask it to leave. */
void front_leave(void);
/* Wait for its end. Return: what netfront_run() did. */
int front_end(void);
extern atomic_uint nr_link_up, nr_link_down; /* what its host side was told */
extern atomic_uint nr_delivered;

/* Wait (5 s at most, then the test fails). */
void front_wait(enum xenbus_state state);
enum xenbus_state front_state(void);
/* Return: a number from the device directory; fails the test if there is none. */
uint32_t front_key(const char *key);
bool front_has(const char *key);

/* Backend: map the rings that the frontend published, and bind its channels. */
struct fake_connection {
	xengnttab_handle *gnttab;
	xenevtchn_handle *evtchn;
	netif_tx_back_ring_t tx;
	netif_rx_back_ring_t rx;
	int tx_port, rx_port;
};
void back_connect(struct fake_connection *c);
void back_disconnect(struct fake_connection *c);
/* Is an event of ours there within 5 s? Takes it. */
bool back_event(struct fake_connection *c);

uint32_t machine_stat(const char *name);

#endif
