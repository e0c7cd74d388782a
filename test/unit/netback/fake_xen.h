/* SPDX-License-Identifier: MIT */
/*
 * fake_xen.h: the few calls of libxengnttab and libxenevtchn that the data path makes, for one
 * guest whose memory is an array of pages in this process: grant reference n is page n. Linked in
 * place of the libraries, so that a test decides what each call does. Real grant semantics are
 * libxenemu's and test/conform's business, not this file's.
 */
#ifndef TEST_FAKE_XEN_H
#define TEST_FAKE_XEN_H

#include <stdbool.h>
#include <stdint.h>

#define FAKE_DOMID	7
#define FAKE_PAGES	1024
#define FAKE_PORTS	512
#define FAKE_PAGE_BYTES 4096

/** fake_reset() - all pages granted and zeroed, no port bound, no fault injected. */
void fake_reset(void);

/** fake_page() - the guest's page behind reference @gref. */
void *fake_page(uint32_t gref);
/** fake_revoke() - maps and copies of @gref fail from now on. */
void fake_revoke(uint32_t gref, bool revoked);
/** fake_fail_calls() - the next @nr grant copy calls of more than one segment fail as a whole. */
void fake_fail_calls(unsigned nr);
/** fake_fail_binds() - binding to the guest's port @remote fails. */
void fake_fail_binds(uint32_t remote, bool fail);
/** fake_nr_mapped() - pages mapped now; fake_nr_bound() - ports bound now. */
unsigned fake_nr_mapped(void);
unsigned fake_nr_bound(void);

/** fake_guest_notify() - the guest kicks its port @remote. Any thread. */
void fake_guest_notify(uint32_t remote);
/** fake_guest_events() - events the backend sent to the guest's port @remote so far. */
uint64_t fake_guest_events(uint32_t remote);

#endif
