/* SPDX-License-Identifier: MIT */
/*
 * server.h: the whole server in a thread of the test, with sockets in a directory of its own, and
 * clients that speak the wire's bytes or use libxenstore.
 */
#ifndef TEST_UNIT_XENSTORE_SERVER_H
#define TEST_UNIT_XENSTORE_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <xenstore.h>

#include "xenstore/xsd.h"
#include "xenstore/xsd_wire.h"

/* Fixture: dom0's socket, those of domains 5 and 6 (introduced). Teardown checks the store. */
void server_setup(void);
void server_teardown(void);

/* Quota for servers to come; reset by server_setup() after use. */
extern struct xsd_quota server_quota;

const char *server_socket(unsigned domid);

/** server_call() - run @fn in the server's thread, wait for its result. */
int server_call(int (*fn)(struct xsd *xsd, void *arg), void *arg);
struct xsd_stats server_stats(void);
int server_release(unsigned domid);
void server_faults(struct xsd_faults faults);
/** server_wait_connections() - until that many are left; fails the test after 2 s. */
void server_wait_connections(unsigned nr);

/** server_open() - a libxenstore handle. server_connect() - a raw socket. */
struct xs_handle *server_open(unsigned domid);
int server_connect(unsigned domid);

struct reply {
	struct xsd_sockmsg head;
	char payload[XENSTORE_PAYLOAD_MAX + 1]; /* with an end */
};

void wire_send(int fd, uint32_t type, uint32_t tx_id, const void *payload, uint32_t len);
/** wire_recv() - false: the server has closed. */
bool wire_recv(int fd, struct reply *reply);
/** wire_call() - request, then its reply. An error is returned as its name, success as "". */
const char *wire_call(int fd, uint32_t type, uint32_t tx_id, const void *payload, uint32_t len,
		      struct reply *reply);

#endif
