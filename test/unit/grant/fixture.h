/* SPDX-License-Identifier: MIT */
/*
 * fixture.h: a machine with three domains in a thread of the test, and handles of each of them.
 */
#ifndef TEST_UNIT_GRANT_FIXTURE_H
#define TEST_UNIT_GRANT_FIXTURE_H

#include <check.h>
#include <stdbool.h>
#include <stdint.h>
#include <xenevtchn.h>
#include <xengnttab.h>

#include "common/compiler.h"
#include "grant/xenemu.h"

#define PAGE 4096

/* Set up by machine_setup(). */
extern char rundir[64];
extern struct xenemu_control *control;
extern domid_t guest, other; /* two domains beside 0 */

void machine_setup(void);
void machine_teardown(void);

xengnttab_handle *gnttab_of(domid_t domid);
xengntshr_handle *gntshr_of(domid_t domid);
xenevtchn_handle *evtchn_of(domid_t domid);
void guest_memory(domid_t domid, struct xenemu_guest *memory);

/** stat_of() - one of xenemu_get_stats(). */
uint32_t stat_of(const char *name);
/** wait_stat() - until it has that value; fails the test after 5 s. */
void wait_stat(const char *name, uint32_t value);

/** copy_status() - copy @len bytes between @virt and one grant; the segment's status. */
int copy_status(xengnttab_handle *h, domid_t domid, uint32_t ref, uint32_t offset, void *virt,
		uint32_t len, bool to_grant);

/** pending() - is an event there within @msec? */
bool pending(xenevtchn_handle *xce, int msec);

unsigned open_fds(void);

TCase *tcase_entry(void);
TCase *tcase_copy(void);
TCase *tcase_map(void);
TCase *tcase_evtchn(void);
TCase *tcase_life(void);

#endif
