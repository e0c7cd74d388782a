/* SPDX-License-Identifier: MIT */
/*
 * cases.c: the cases, judged in dom0. What is expected is what Xen 4.17 with Linux's gntdev,
 * gntalloc and evtchn does; where they leave something open, nothing is expected.
 */
#include "test/conform/conform.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define EVENT_MSEC 1000	 /* an event comes within this time */
#define QUIET_MSEC 100	 /* none has come after this time */
#define NO_REF	   31000 /* far from any reference a small guest has in use, in its table or not */

static struct link peer;
static uint32_t peer_domid;
static xengnttab_handle *tab;
static xenevtchn_handle *xce;
static char why[256];

/* Fail the case, once. */
#define EXPECT(cond)                                                                          \
	do {                                                                                  \
		if (!(cond)) {                                                                \
			snprintf(why, sizeof(why), "line %d: %s (errno %d)", __LINE__, #cond, \
				 errno);                                                      \
			return false;                                                         \
		}                                                                             \
	} while (0)

struct answer {
	long value[5];
};

/* Have the server do it; value[0] is -1 if that failed. */
__attribute__((format(printf, 1, 2))) static struct answer tell(const char *fmt, ...)
{
	struct answer answer = {{-1, -1, -1, -1, -1}};
	char line[LINE_BYTES];
	va_list args;

	va_start(args, fmt);
	vsnprintf(line, sizeof(line), fmt, args);
	va_end(args);
	if (link_call(&peer, line))
		sscanf(line, "%ld %ld %ld %ld %ld", &answer.value[0], &answer.value[1],
		       &answer.value[2], &answer.value[3], &answer.value[4]);
	return answer;
}

static int copy(uint32_t domid, uint32_t ref, uint16_t offset, void *virt, uint16_t len,
		bool to_grant)
{
	xengnttab_grant_copy_segment_t seg;
	union xengnttab_copy_ptr *grant = to_grant ? &seg.dest : &seg.source;

	memset(&seg, 0, sizeof(seg));
	seg.flags = to_grant ? GNTCOPY_dest_gref : GNTCOPY_source_gref;
	seg.len = len;
	seg.status = 99;
	grant->foreign.ref = ref;
	grant->foreign.offset = offset;
	grant->foreign.domid = (uint16_t)domid;
	*(to_grant ? &seg.source.virt : &seg.dest.virt) = virt;
	return xengnttab_grant_copy(tab, 1, &seg) ? 1000 : seg.status;
}

/* ---- copies ---- */

static bool copy_from_guest(void)
{
	struct answer share = tell("share 2 0");
	static uint8_t buf[PAGE];

	EXPECT(share.value[0] >= 0);
	EXPECT(tell("fill %ld 3", share.value[0]).value[0] == 0);
	EXPECT(copy(peer_domid, (uint32_t)share.value[2], 100, buf, 1514, false) == GNTST_okay);
	for (unsigned i = 0; i < 1514; i++)
		EXPECT(buf[i] == (uint8_t)((PAGE + 100 + i) * 7 + 3));
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 0, buf, PAGE, false) == GNTST_okay);
	EXPECT(buf[PAGE - 1] == (uint8_t)((PAGE - 1) * 7 + 3));
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool copy_to_guest(void)
{
	struct answer share = tell("share 1 1");
	uint8_t buf[] = {11, 22, 33};

	EXPECT(share.value[0] >= 0);
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 4093, buf, 3, true) == GNTST_okay);
	EXPECT(tell("peek %ld 4095", share.value[0]).value[0] == 33);
	EXPECT(tell("peek %ld 4092", share.value[0]).value[0] == 0);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool copy_from_guest_to_guest(void)
{
	struct answer share = tell("share 2 1");
	xengnttab_grant_copy_segment_t seg;

	EXPECT(share.value[0] >= 0);
	EXPECT(tell("fill %ld 9", share.value[0]).value[0] == 0);
	memset(&seg, 0, sizeof(seg));
	seg.flags = GNTCOPY_source_gref | GNTCOPY_dest_gref;
	seg.source.foreign.ref = (uint32_t)share.value[1];
	seg.dest.foreign.ref = (uint32_t)share.value[2];
	seg.source.foreign.domid = seg.dest.foreign.domid = (uint16_t)peer_domid;
	seg.source.foreign.offset = 5;
	seg.dest.foreign.offset = 6;
	seg.len = 1000;
	EXPECT(!xengnttab_grant_copy(tab, 1, &seg) && seg.status == GNTST_okay);
	EXPECT(tell("peek %ld %d", share.value[0], PAGE + 6).value[0] == (uint8_t)(5 * 7 + 9));
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool copy_to_read_only_grant_is_refused(void)
{
	struct answer share = tell("share 1 0");
	uint8_t byte = 1;

	EXPECT(share.value[0] >= 0);
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 0, &byte, 1, true) ==
	       GNTST_general_error);
	EXPECT(tell("peek %ld 0", share.value[0]).value[0] == 0);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool copy_of_what_is_not_granted_is_refused(void)
{
	struct answer share = tell("share 1 0");
	uint8_t byte;
	int status;

	EXPECT(tell("unshare %ld", share.value[0]).value[0] == 0);
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 0, &byte, 1, false) ==
	       GNTST_general_error);
	status = copy(peer_domid, NO_REF, 0, &byte, 1, false);
	EXPECT(status == GNTST_general_error || status == GNTST_bad_gntref);
	EXPECT(copy(peer_domid, 0x7fffffff, 0, &byte, 1, false) == GNTST_bad_gntref);
	EXPECT(copy(0x7fe0, 8, 0, &byte, 1, false) == GNTST_bad_domain);
	return true;
}

static bool copy_over_the_page_fails_the_call(void)
{
	struct answer share = tell("share 1 1");
	static uint8_t buf[PAGE];

	EXPECT(share.value[0] >= 0);
	errno = 0;
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 1, buf, PAGE, false) == 1000);
	EXPECT(errno == EINVAL);
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 4096, buf, 1, true) == 1000);
	EXPECT(copy(peer_domid, (uint32_t)share.value[1], 4096, buf, 0, true) == GNTST_okay);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool one_bad_segment_does_not_hurt_the_others(void)
{
	struct answer share = tell("share 1 0");
	xengnttab_grant_copy_segment_t segs[3];
	uint8_t buf[3] = {0, 0, 0};

	EXPECT(share.value[0] >= 0);
	EXPECT(tell("fill %ld 1", share.value[0]).value[0] == 0);
	memset(segs, 0, sizeof(segs));
	for (unsigned i = 0; i < 3; i++) {
		segs[i].source.foreign.ref = i == 1 ? 0x7fffffff : (uint32_t)share.value[1];
		segs[i].source.foreign.domid = (uint16_t)peer_domid;
		segs[i].dest.virt = &buf[i];
		segs[i].len = 1;
		segs[i].flags = GNTCOPY_source_gref;
	}
	EXPECT(!xengnttab_grant_copy(tab, 3, segs));
	EXPECT(segs[0].status == GNTST_okay && segs[2].status == GNTST_okay);
	EXPECT(segs[1].status == GNTST_bad_gntref);
	EXPECT(buf[0] == 1 && buf[2] == 1);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

/* ---- maps ---- */

static bool map_is_the_same_page(void)
{
	struct answer share = tell("share 3 1");
	uint32_t refs[3];
	uint8_t *mem;

	for (unsigned i = 0; i < 3; i++)
		refs[i] = (uint32_t)share.value[1 + i];
	mem = xengnttab_map_domain_grant_refs(tab, 3, peer_domid, refs, PROT_READ | PROT_WRITE);
	EXPECT(mem != NULL);
	mem[2 * PAGE + 7] = 77;
	EXPECT(tell("peek %ld %d", share.value[0], 2 * PAGE + 7).value[0] == 77);
	EXPECT(tell("fill %ld 0", share.value[0]).value[0] == 0);
	EXPECT(mem[PAGE] == (uint8_t)(PAGE * 7));
	EXPECT(xengnttab_unmap(tab, mem, 3) == 0);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool map_of_read_only_grant(void)
{
	struct answer share = tell("share 1 0");
	uint32_t ref = (uint32_t)share.value[1];
	void *mem;

	EXPECT(!xengnttab_map_grant_ref(tab, peer_domid, ref, PROT_READ | PROT_WRITE));
	mem = xengnttab_map_grant_ref(tab, peer_domid, ref, PROT_READ);
	EXPECT(mem != NULL);
	EXPECT(xengnttab_unmap(tab, mem, 1) == 0);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool map_of_what_is_not_granted(void)
{
	errno = 0;
	EXPECT(!xengnttab_map_grant_ref(tab, peer_domid, 0x7fffffff, PROT_READ));
	EXPECT(errno == EINVAL);
	EXPECT(!xengnttab_map_grant_ref(tab, 0x7fe0, 8, PROT_READ));
	EXPECT(errno == EINVAL);
	return true;
}

static bool mapped_page_survives_unshare(void)
{
	struct answer share = tell("share 1 1");
	uint8_t *mem;

	mem = xengnttab_map_grant_ref(tab, peer_domid, (uint32_t)share.value[1],
				      PROT_READ | PROT_WRITE);
	EXPECT(mem != NULL);
	mem[0] = 5;
	EXPECT(tell("unshare %ld", share.value[0]).value[0] == 0);
	EXPECT(mem[0] == 5);
	EXPECT(xengnttab_unmap(tab, mem, 1) == 0);
	return true;
}

static bool unmap_of_another_size_is_refused(void)
{
	struct answer share = tell("share 2 1");
	uint32_t refs[2] = {(uint32_t)share.value[1], (uint32_t)share.value[2]};
	void *mem = xengnttab_map_domain_grant_refs(tab, 2, peer_domid, refs, PROT_READ);

	EXPECT(mem != NULL);
	EXPECT(xengnttab_unmap(tab, mem, 1) == -1 && errno == EINVAL);
	EXPECT(xengnttab_unmap(tab, mem, 2) == 0);
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

/* ---- event channels ---- */

static bool bind_pair(long *theirs, int *ours)
{
	*theirs = tell("alloc").value[0];
	*ours = *theirs > 0 ? xenevtchn_bind_interdomain(xce, peer_domid, (evtchn_port_t)*theirs)
			    : -1;
	if (*ours <= 0)
		return false;
	while (see_event(xce, QUIET_MSEC)) /* of the bind itself */
		;
	return true;
}

static bool close_pair(long theirs, int ours)
{
	return xenevtchn_unbind(xce, (evtchn_port_t)ours) == 0 &&
	       tell("close %ld", theirs).value[0] == 0;
}

static bool events_both_ways(void)
{
	long theirs;
	int ours;

	EXPECT(bind_pair(&theirs, &ours));
	EXPECT(tell("notify %ld", theirs).value[0] == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == ours);
	EXPECT(see_event(xce, QUIET_MSEC) == 0);
	EXPECT(xenevtchn_notify(xce, (evtchn_port_t)ours) == 0);
	EXPECT(tell("see %d", EVENT_MSEC).value[0] == theirs);
	EXPECT(tell("see %d", QUIET_MSEC).value[0] == 0);
	return close_pair(theirs, ours);
}

static bool masked_until_unmasked(void)
{
	long theirs;
	int ours;

	EXPECT(bind_pair(&theirs, &ours));
	EXPECT(tell("notify %ld", theirs).value[0] == 0);
	EXPECT(xenevtchn_pending(xce) == ours);
	EXPECT(tell("notify %ld", theirs).value[0] == 0);
	EXPECT(see_event(xce, QUIET_MSEC) == 0);
	EXPECT(xenevtchn_unmask(xce, (evtchn_port_t)ours) == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == ours);
	EXPECT(see_event(xce, QUIET_MSEC) == 0);
	return close_pair(theirs, ours);
}

static bool closed_end_can_be_bound_again(void)
{
	long theirs;
	int ours;

	EXPECT(bind_pair(&theirs, &ours));
	EXPECT(xenevtchn_unbind(xce, (evtchn_port_t)ours) == 0);
	EXPECT(tell("notify %ld", theirs).value[0] == 0); /* dropped */
	ours = xenevtchn_bind_interdomain(xce, peer_domid, (evtchn_port_t)theirs);
	EXPECT(ours > 0);
	while (see_event(xce, QUIET_MSEC))
		;
	EXPECT(tell("notify %ld", theirs).value[0] == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == ours);
	EXPECT(xenevtchn_notify(xce, (evtchn_port_t)ours) == 0);
	EXPECT(tell("see %d", EVENT_MSEC).value[0] == theirs);
	return close_pair(theirs, ours);
}

static bool notify_after_the_peer_closed_is_dropped(void)
{
	long theirs;
	int ours;

	EXPECT(bind_pair(&theirs, &ours));
	EXPECT(tell("close %ld", theirs).value[0] == 0);
	EXPECT(xenevtchn_notify(xce, (evtchn_port_t)ours) == 0);
	EXPECT(xenevtchn_unbind(xce, (evtchn_port_t)ours) == 0);
	return true;
}

static bool what_cannot_be_bound(void)
{
	long theirs;
	int ours;

	EXPECT(bind_pair(&theirs, &ours));
	errno = 0;
	EXPECT(xenevtchn_bind_interdomain(xce, peer_domid, (evtchn_port_t)theirs) == -1);
	EXPECT(errno == EINVAL);
	EXPECT(close_pair(theirs, ours));
	EXPECT(xenevtchn_bind_interdomain(xce, peer_domid, (evtchn_port_t)theirs) == -1);
	EXPECT(errno == EINVAL);
	EXPECT(xenevtchn_bind_interdomain(xce, 0x7fe0, 1) == -1);
	EXPECT(errno == ESRCH);
	return true;
}

static bool port_of_another_handle(void)
{
	xenevtchn_handle *second = xenevtchn_open(NULL, 0);
	long theirs;
	int ours;

	EXPECT(second != NULL);
	EXPECT(bind_pair(&theirs, &ours));
	errno = 0;
	EXPECT(xenevtchn_notify(second, (evtchn_port_t)ours) == -1);
	EXPECT(errno == ENOTCONN);
	EXPECT(xenevtchn_unbind(second, (evtchn_port_t)ours) == -1);
	EXPECT(errno == ENOTCONN);
	EXPECT(xenevtchn_unmask(second, (evtchn_port_t)ours) == 0);
	xenevtchn_close(second);
	return close_pair(theirs, ours);
}

static bool channel_within_one_domain(void)
{
	int a = xenevtchn_bind_unbound_port(xce, DOMID_SELF), b;

	EXPECT(a > 0);
	b = xenevtchn_bind_interdomain(xce, DOMID_SELF, (evtchn_port_t)a);
	EXPECT(b > 0);
	while (see_event(xce, QUIET_MSEC))
		;
	EXPECT(xenevtchn_notify(xce, (evtchn_port_t)a) == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == b);
	EXPECT(xenevtchn_notify(xce, (evtchn_port_t)b) == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == a);
	EXPECT(xenevtchn_unbind(xce, (evtchn_port_t)a) == 0);
	EXPECT(xenevtchn_unbind(xce, (evtchn_port_t)b) == 0);
	return true;
}

/* ---- notification at the end of a mapping ---- */

static bool unmap_clears_a_byte_and_signals(void)
{
	struct answer share = tell("share 1 1");
	long theirs;
	int ours;
	uint8_t *mem;

	EXPECT(bind_pair(&theirs, &ours));
	mem = xengnttab_map_grant_ref_notify(tab, peer_domid, (uint32_t)share.value[1],
					     PROT_READ | PROT_WRITE, 17, (evtchn_port_t)ours);
	EXPECT(mem != NULL);
	mem[17] = 1;
	mem[18] = 1;
	EXPECT(tell("see %d", QUIET_MSEC).value[0] == 0);
	EXPECT(xengnttab_unmap(tab, mem, 1) == 0);
	EXPECT(tell("see %d", EVENT_MSEC).value[0] == theirs);
	EXPECT(tell("peek %ld 17", share.value[0]).value[0] == 0);
	EXPECT(tell("peek %ld 18", share.value[0]).value[0] == 1);
	EXPECT(close_pair(theirs, ours));
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

static bool unshare_clears_a_byte_and_signals(void)
{
	struct answer share;
	long theirs;
	int ours;
	uint8_t *mem;

	EXPECT(bind_pair(&theirs, &ours));
	share = tell("share-notify 33 %ld", theirs);
	EXPECT(share.value[0] >= 0);
	mem = xengnttab_map_grant_ref(tab, peer_domid, (uint32_t)share.value[1], PROT_READ);
	EXPECT(mem != NULL);
	EXPECT(mem[33] == 1);
	EXPECT(tell("unshare %ld", share.value[0]).value[0] == 0);
	EXPECT(see_event(xce, EVENT_MSEC) == ours);
	EXPECT(mem[33] == 0);
	EXPECT(xengnttab_unmap(tab, mem, 1) == 0);
	return close_pair(theirs, ours);
}

static bool notify_offset_behind_the_page_is_refused(void)
{
	struct answer share = tell("share 1 1");

	EXPECT(share.value[0] >= 0);
	EXPECT(!xengnttab_map_grant_ref_notify(tab, peer_domid, (uint32_t)share.value[1],
					       PROT_READ | PROT_WRITE, 0, 100000));
	return tell("unshare %ld", share.value[0]).value[0] == 0;
}

#define CASE(name)          \
	{                   \
#name, name \
	}
static const struct {
	const char *name;
	bool (*run)(void);
} cases[] = {
	CASE(copy_from_guest),
	CASE(copy_to_guest),
	CASE(copy_from_guest_to_guest),
	CASE(copy_to_read_only_grant_is_refused),
	CASE(copy_of_what_is_not_granted_is_refused),
	CASE(copy_over_the_page_fails_the_call),
	CASE(one_bad_segment_does_not_hurt_the_others),
	CASE(map_is_the_same_page),
	CASE(map_of_read_only_grant),
	CASE(map_of_what_is_not_granted),
	CASE(mapped_page_survives_unshare),
	CASE(unmap_of_another_size_is_refused),
	CASE(events_both_ways),
	CASE(masked_until_unmasked),
	CASE(closed_end_can_be_bound_again),
	CASE(notify_after_the_peer_closed_is_dropped),
	CASE(what_cannot_be_bound),
	CASE(port_of_another_handle),
	CASE(channel_within_one_domain),
	CASE(unmap_clears_a_byte_and_signals),
	CASE(unshare_clears_a_byte_and_signals),
	CASE(notify_offset_behind_the_page_is_refused),
};

int run_cases(int domid, const char *only)
{
	int nr_run = 0, nr_failed = 0;
	char quit[LINE_BYTES] = "quit";

	peer_domid = (uint32_t)domid;
	tab = xengnttab_open(NULL, 0);
	xce = xenevtchn_open(NULL, 0);
	if (!tab || !xce || !link_open(&peer, domid)) {
		perror("conform client");
		return 1;
	}
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		bool passed;

		if (!strstr(cases[i].name, only))
			continue;
		snprintf(why, sizeof(why), "the server did not do as told");
		passed = cases[i].run();
		printf("%s %s%s%s\n", passed ? "ok" : "not ok", cases[i].name, passed ? "" : ": ",
		       passed ? "" : why);
		nr_run++;
		nr_failed += !passed;
	}
	printf("%d cases, %d failed\n", nr_run, nr_failed);
	link_call(&peer, quit);
	xenevtchn_close(xce);
	xengnttab_close(tab);
	link_close(&peer);
	return nr_run ? nr_failed : 1;
}
