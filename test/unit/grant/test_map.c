/* SPDX-License-Identifier: MIT */
/* Mapping, sharing, what is in use, unmap notification, and what a killed process leaves. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "test/unit/grant/fixture.h"

static xengntshr_handle *shr;
static xengnttab_handle *tab;

static void setup(void)
{
	machine_setup();
	shr = gntshr_of(guest);
	tab = gnttab_of(0);
}

static void teardown(void)
{
	xengntshr_close(shr);
	xengnttab_close(tab);
	machine_teardown();
}

START_TEST(mapped_pages_are_the_guests_pages)
{
	uint32_t refs[3];
	char *mine = xengntshr_share_pages(shr, 0, 3, refs, 1), *theirs;

	ck_assert_ptr_nonnull(mine);
	theirs = xengnttab_map_domain_grant_refs(tab, 3, guest, refs, PROT_READ | PROT_WRITE);
	ck_assert_ptr_nonnull(theirs);
	strcpy(mine + 2 * PAGE, "to backend");
	strcpy(theirs + PAGE, "to frontend");
	ck_assert_str_eq(theirs + 2 * PAGE, "to backend");
	ck_assert_str_eq(mine + PAGE, "to frontend");
	ck_assert_uint_eq(stat_of("pins"), 3);
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 3), 0);
	ck_assert_uint_eq(stat_of("pins"), 0);
}
END_TEST

START_TEST(grants_of_several_domains_in_one_range)
{
	xengntshr_handle *shr2 = gntshr_of(other);
	uint32_t refs[2], domids[2] = {guest, other};
	char *a = xengntshr_share_pages(shr, 0, 1, &refs[0], 1);
	char *b = xengntshr_share_pages(shr2, 0, 1, &refs[1], 1), *both;

	strcpy(a, "A");
	strcpy(b, "B");
	both = xengnttab_map_grant_refs(tab, 2, domids, refs, PROT_READ);
	ck_assert_ptr_nonnull(both);
	ck_assert_str_eq(both, "A");
	ck_assert_str_eq(both + PAGE, "B");
	ck_assert_int_eq(xengnttab_unmap(tab, both, 2), 0);
	xengntshr_close(shr2);
}
END_TEST

START_TEST(more_pages_than_one_request_holds)
{
	static uint32_t refs[2500];
	char *mine = xengntshr_share_pages(shr, 0, 2500, refs, 1), *theirs;

	ck_assert_ptr_nonnull(mine);
	theirs = xengnttab_map_domain_grant_refs(tab, 2500, guest, refs, PROT_READ);
	ck_assert_ptr_nonnull(theirs);
	for (unsigned i = 0; i < 2500; i++)
		mine[i * PAGE] = (char)i;
	for (unsigned i = 0; i < 2500; i++)
		ck_assert_int_eq(theirs[i * PAGE], (char)i);
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 2500), 0);
	ck_assert_int_eq(xengntshr_unshare(shr, mine, 2500), 0);
	ck_assert_uint_eq(stat_of("shared_pages") + stat_of("pins"), 0);
}
END_TEST

START_TEST(partial_failure_maps_nothing)
{
	uint32_t refs[2];

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, refs, 1));
	refs[1] = 999;
	ck_assert_ptr_null(xengnttab_map_domain_grant_refs(tab, 2, guest, refs, PROT_READ));
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_uint_eq(stat_of("pins"), 0);
}
END_TEST

START_TEST(bad_arguments)
{
	uint32_t ref;
	char *mine = xengntshr_share_pages(shr, 0, 1, &ref, 1);
	char *theirs = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ);

	ck_assert_ptr_null(xengnttab_map_domain_grant_refs(tab, 0, guest, &ref, PROT_READ));
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 2), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(xengnttab_unmap(tab, theirs + PAGE, 1), -1);
	ck_assert_int_eq(xengntshr_unshare(shr, mine + PAGE, 1), -1);
	ck_assert_ptr_null(xengntshr_share_pages(shr, 0, 0, &ref, 1));
	ck_assert_ptr_null(xengntshr_share_pages(shr, DOMID_IO, 1, &ref, 1));
	ck_assert_ptr_null(xengntshr_share_pages(shr, 0, 1 << 20, &ref, 1));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 1), 0);
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 1), -1);
}
END_TEST

START_TEST(limit_of_a_handle)
{
	uint32_t refs[5];
	void *four;

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 5, refs, 1));
	ck_assert_int_eq(xengnttab_set_max_grants(tab, 4), 0);
	ck_assert_ptr_null(xengnttab_map_domain_grant_refs(tab, 5, guest, refs, PROT_READ));
	ck_assert_int_eq(errno, ENOMEM);
	four = xengnttab_map_domain_grant_refs(tab, 4, guest, refs, PROT_READ);
	ck_assert_ptr_nonnull(four);
	ck_assert_ptr_null(xengnttab_map_grant_ref(tab, guest, refs[4], PROT_READ));
	ck_assert_int_eq(xengnttab_unmap(tab, four, 4), 0);
	ck_assert_ptr_nonnull(xengnttab_map_grant_ref(tab, guest, refs[4], PROT_READ));
}
END_TEST

START_TEST(one_grant_mapped_too_often)
{
	void *pages[200];
	uint32_t ref;
	unsigned nr = 0;

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, &ref, 1));
	while (nr < ARRAY_SIZE(pages) &&
	       (pages[nr] = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ)))
		nr++;
	ck_assert_uint_eq(nr, 128); /* the counter's top bit, as in Xen */
	while (nr--)
		ck_assert_int_eq(xengnttab_unmap(tab, pages[nr], 1), 0);
	ck_assert_uint_eq(stat_of("pins"), 0);
}
END_TEST

START_TEST(marks_follow_readers_and_writers)
{
	struct xenemu_guest memory;
	char *ro, *rw, buf[8];
	uint32_t ref;
	uint16_t *flags;

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, &ref, 1));
	guest_memory(guest, &memory);
	flags = &memory.table[ref].flags;
	ro = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ);
	ck_assert_uint_eq(*flags, GTF_permit_access | GTF_reading);
	rw = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ | PROT_WRITE);
	ck_assert_uint_eq(*flags, GTF_permit_access | GTF_reading | GTF_writing);
	ck_assert_int_eq(copy_status(tab, guest, ref, 0, buf, 8, true), GNTST_okay);
	ck_assert_uint_eq(*flags, GTF_permit_access | GTF_reading | GTF_writing);
	xengnttab_unmap(tab, rw, 1);
	ck_assert_uint_eq(*flags, GTF_permit_access | GTF_reading);
	ck_assert_int_eq(copy_status(tab, guest, ref, 0, buf, 8, true), GNTST_okay);
	ck_assert_uint_eq(*flags, GTF_permit_access | GTF_reading);
	xengnttab_unmap(tab, ro, 1);
	ck_assert_uint_eq(*flags, GTF_permit_access);
	xenemu_guest_close(&memory);
}
END_TEST

START_TEST(guest_that_changes_a_mapped_entry_changes_nothing)
{
	struct xenemu_guest memory;
	uint32_t ref, frame;
	char *theirs, buf[8];

	strcpy(xengntshr_share_pages(shr, 0, 1, &ref, 1), "page");
	guest_memory(guest, &memory);
	theirs = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ | PROT_WRITE);
	frame = memory.table[ref].frame;
	memory.table[ref].frame = frame + 1;
	memory.table[ref].domid = other;
	ck_assert_int_eq(copy_status(tab, guest, ref, 0, buf, 8, false), GNTST_okay);
	ck_assert_str_eq(buf, "page");
	xengnttab_unmap(tab, theirs, 1);
	ck_assert_int_eq(copy_status(tab, guest, ref, 0, buf, 8, false), GNTST_general_error);
	xenemu_guest_close(&memory);
}
END_TEST

START_TEST(page_unshared_while_mapped_is_kept_until_unmapped)
{
	uint32_t refs[2], ref;
	char *mine = xengntshr_share_pages(shr, 0, 2, refs, 1), *theirs;

	theirs = xengnttab_map_grant_ref(tab, guest, refs[1], PROT_READ);
	strcpy(mine + PAGE, "kept");
	ck_assert_int_eq(xengntshr_unshare(shr, mine, 2), 0);
	ck_assert_uint_eq(stat_of("quarantined_pages"), 1);
	ck_assert_str_eq(theirs, "kept");
	for (unsigned i = 0; i < 100; i++) {
		ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, &ref, 1));
		ck_assert_uint_ne(ref, refs[1]);
	}
	xengnttab_unmap(tab, theirs, 1);
	ck_assert_uint_eq(stat_of("quarantined_pages"), 0);
}
END_TEST

START_TEST(pages_are_zero_when_handed_out_again)
{
	static uint32_t refs[16384 - 8];
	char *mine;

	for (unsigned i = 0; i < 3; i++) {
		mine = xengntshr_share_pages(shr, 0, 8000, refs, 1);
		ck_assert_ptr_nonnull(mine);
		for (unsigned p = 0; p < 8000; p++) {
			ck_assert_int_eq(mine[p * PAGE + 77], 0);
			mine[p * PAGE + 77] = 1;
		}
		ck_assert_int_eq(xengntshr_unshare(shr, mine, 8000), 0);
	}
}
END_TEST

START_TEST(out_of_frames)
{
	static uint32_t refs[16384];
	void *all;

	all = xengntshr_share_pages(shr, 0, 16384, refs, 1);
	ck_assert_ptr_nonnull(all);
	ck_assert_ptr_null(xengntshr_share_pages(shr, 0, 1, refs, 1));
	ck_assert_int_eq(errno, ENOSPC);
	ck_assert_int_eq(xengntshr_unshare(shr, all, 16384), 0);
	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, refs, 1));
}
END_TEST

/* ---- notification ---- */

START_TEST(unmap_clears_the_byte_and_signals)
{
	xenevtchn_handle *back = evtchn_of(0), *front = evtchn_of(guest);
	int port = xenevtchn_bind_unbound_port(front, 0);
	int back_port = xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port);
	uint32_t ref;
	char *mine, *theirs;

	ck_assert_int_gt(back_port, 0);
	mine = xengntshr_share_pages(shr, 0, 1, &ref, 1);
	theirs = xengnttab_map_grant_ref_notify(tab, guest, ref, PROT_READ | PROT_WRITE, 5,
						(evtchn_port_t)back_port);
	ck_assert_ptr_nonnull(theirs);
	mine[5] = 1;
	mine[6] = 1;
	ck_assert(!pending(front, 0));
	xengnttab_unmap(tab, theirs, 1);
	ck_assert(pending(front, 1000));
	ck_assert_int_eq(mine[5], 0);
	ck_assert_int_eq(mine[6], 1);
	ck_assert_ptr_null(xengnttab_map_grant_ref_notify(tab, guest, ref, PROT_READ, 5, 12345));
	ck_assert_ptr_null(xengnttab_map_grant_ref_notify(tab, guest, ref, PROT_READ, 5, -1U));
	ck_assert_ptr_null(
		xengnttab_map_grant_ref_notify(tab, guest, ref, PROT_READ | PROT_WRITE, 4096, -1U));
	ck_assert_uint_eq(stat_of("pins"), 0);
	xenevtchn_close(back);
	xenevtchn_close(front);
}
END_TEST

START_TEST(death_clears_the_byte_and_signals_after_the_port_was_closed)
{
	xenevtchn_handle *front = evtchn_of(guest);
	int port = xenevtchn_bind_unbound_port(front, 0);
	uint32_t ref;
	char *mine = xengntshr_share_pages(shr, 0, 1, &ref, 1);
	pid_t pid = fork();
	int status;

	if (!pid) {
		xenevtchn_handle *back = evtchn_of(0);
		xengnttab_handle *h = gnttab_of(0);
		int local = xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port);
		char *theirs = xengnttab_map_grant_ref_notify(h, guest, ref, PROT_READ | PROT_WRITE,
							      9, (evtchn_port_t)local);

		theirs[9] = 1;
		theirs[10] = 1;
		xenevtchn_close(back);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status));
	ck_assert(pending(front, 5000));
	ck_assert_int_eq(mine[9], 0);
	ck_assert_int_eq(mine[10], 1);
	wait_stat("pins", 0);
	ck_assert_uint_eq(stat_of("ports"), 1);
	xenevtchn_close(front);
}
END_TEST

START_TEST(unshare_clears_the_byte_and_signals)
{
	xenevtchn_handle *back = evtchn_of(0), *front = evtchn_of(guest);
	int port = xenevtchn_bind_unbound_port(front, 0);
	uint32_t ref;
	char *mine, *theirs;

	ck_assert_int_gt(xenevtchn_bind_interdomain(back, guest, (evtchn_port_t)port), 0);
	xenevtchn_unmask(back, (evtchn_port_t)xenevtchn_pending(back)); /* of the bind itself */
	mine = xengntshr_share_page_notify(shr, 0, &ref, 1, 3, (evtchn_port_t)port);
	ck_assert_ptr_nonnull(mine);
	mine[3] = 1;
	theirs = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ);
	ck_assert(!pending(back, 0));
	ck_assert_int_eq(xengntshr_unshare(shr, mine, 1), 0);
	ck_assert(pending(back, 1000));
	ck_assert_int_eq(theirs[3], 0);
	xenevtchn_close(back);
	xenevtchn_close(front);
}
END_TEST

/* ---- death ---- */

START_TEST(killed_process_leaves_no_map_share_or_port)
{
	struct xenemu_guest memory;
	uint32_t ref, connections = stat_of("connections");
	pid_t pid;
	int status;

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr, 0, 1, &ref, 1));
	guest_memory(guest, &memory);
	pid = fork();
	if (!pid) {
		uint32_t refs[8];

		xengnttab_map_grant_ref(gnttab_of(0), guest, ref, PROT_READ | PROT_WRITE);
		xengntshr_share_pages(gntshr_of(guest), 0, 8, refs, 1);
		xenevtchn_bind_unbound_port(evtchn_of(guest), 0);
		kill(getpid(), SIGKILL);
	}
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	wait_stat("connections", connections + 1); /* + guest_memory()'s */
	ck_assert_uint_eq(stat_of("pins"), 0);
	ck_assert_uint_eq(stat_of("ports"), 0);
	ck_assert_uint_eq(stat_of("shared_pages"), 1);
	ck_assert_uint_eq(memory.table[ref].flags, GTF_permit_access);
	for (uint32_t i = 8; i < memory.nr_entries; i++)
		ck_assert(i == ref || !memory.table[i].flags);
	xenemu_guest_close(&memory);
}
END_TEST

START_TEST(mapping_outlives_the_domain)
{
	uint32_t ref;
	char *mine = xengntshr_share_pages(shr, 0, 1, &ref, 1), *theirs;

	theirs = xengnttab_map_grant_ref(tab, guest, ref, PROT_READ | PROT_WRITE);
	strcpy(mine, "still here");
	ck_assert_int_eq(xenemu_domain_destroy(control, guest), 0);
	ck_assert_str_eq(theirs, "still here");
	ck_assert_uint_eq(stat_of("dying"), 1);
	ck_assert_ptr_null(xengnttab_map_grant_ref(tab, guest, ref, PROT_READ));
	ck_assert_int_eq(xengnttab_unmap(tab, theirs, 1), 0);
	ck_assert_uint_eq(stat_of("dying"), 0);
}
END_TEST

TCase *tcase_map(void)
{
	TCase *tc = tcase_create("map");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, mapped_pages_are_the_guests_pages);
	tcase_add_test(tc, grants_of_several_domains_in_one_range);
	tcase_add_test(tc, more_pages_than_one_request_holds);
	tcase_add_test(tc, partial_failure_maps_nothing);
	tcase_add_test(tc, bad_arguments);
	tcase_add_test(tc, limit_of_a_handle);
	tcase_add_test(tc, one_grant_mapped_too_often);
	tcase_add_test(tc, marks_follow_readers_and_writers);
	tcase_add_test(tc, guest_that_changes_a_mapped_entry_changes_nothing);
	tcase_add_test(tc, page_unshared_while_mapped_is_kept_until_unmapped);
	tcase_add_test(tc, pages_are_zero_when_handed_out_again);
	tcase_add_test(tc, out_of_frames);
	tcase_add_test(tc, unmap_clears_the_byte_and_signals);
	tcase_add_test(tc, death_clears_the_byte_and_signals_after_the_port_was_closed);
	tcase_add_test(tc, unshare_clears_the_byte_and_signals);
	tcase_add_test(tc, killed_process_leaves_no_map_share_or_port);
	tcase_add_test(tc, mapping_outlives_the_domain);
	return tc;
}
