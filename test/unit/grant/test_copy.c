/* SPDX-License-Identifier: MIT */
/* xengnttab_grant_copy(): what is copied, when it is refused, what a death in it leaves behind. */
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "grant/gnttab.h"
#include "test/unit/grant/fixture.h"

static xengntshr_handle *shr;
static xengnttab_handle *tab;
static uint8_t *pages; /* of the guest, shared with dom0 */
static uint32_t refs[4];

static void setup(void)
{
	machine_setup();
	shr = gntshr_of(guest);
	pages = xengntshr_share_pages(shr, 0, ARRAY_SIZE(refs), refs, 1);
	ck_assert_ptr_nonnull(pages);
	tab = gnttab_of(0);
}

static void teardown(void)
{
	xengntshr_close(shr);
	xengnttab_close(tab);
	machine_teardown();
}

static void fill(uint8_t *mem, size_t len, unsigned seed)
{
	for (size_t i = 0; i < len; i++)
		mem[i] = (uint8_t)(i * 7 + seed);
}

START_TEST(both_ways_at_any_offset)
{
	static const struct {
		uint32_t offset, len;
	} rows[] = {{0, 1},    {0, 64},	    {1, 63},	  {0, 4096},
		    {4095, 1}, {100, 1514}, {2048, 2048}, {4096, 0}};
	uint8_t buf[PAGE];

	for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
		uint32_t offset = rows[i].offset, len = rows[i].len;

		fill(pages, PAGE, 1);
		memset(buf, 0xee, sizeof(buf));
		ck_assert_int_eq(copy_status(tab, guest, refs[0], offset, buf, len, false), 0);
		ck_assert_mem_eq(buf, pages + offset, len);
		if (len < PAGE)
			ck_assert_uint_eq(buf[len], 0xee);
		fill(buf, PAGE, 99);
		ck_assert_int_eq(copy_status(tab, guest, refs[1], offset, buf, len, true), 0);
		ck_assert_mem_eq(buf, pages + PAGE + offset, len);
	}
}
END_TEST

/* gntdev: -1 and EINVAL for the call, as xengnttab.h has it. */
START_TEST(page_crossing_fails_the_call)
{
	static const struct {
		uint16_t offset, len;
	} rows[] = {{1, 4096}, {4096, 1}, {4095, 2}, {0, 4097}, {65535, 65535}};
	xengnttab_grant_copy_segment_t seg;
	static uint8_t buf[65536];

	for (size_t i = 0; i < ARRAY_SIZE(rows) * 2; i++) {
		bool to_grant = i % 2;
		union xengnttab_copy_ptr *grant = to_grant ? &seg.dest : &seg.source;

		memset(&seg, 0, sizeof(seg));
		seg.flags = to_grant ? GNTCOPY_dest_gref : GNTCOPY_source_gref;
		seg.len = rows[i / 2].len;
		grant->foreign.ref = refs[0];
		grant->foreign.domid = guest;
		grant->foreign.offset = rows[i / 2].offset;
		*(to_grant ? &seg.source.virt : &seg.dest.virt) = buf;
		errno = 0;
		ck_assert_int_eq(xengnttab_grant_copy(tab, 1, &seg), -1);
		ck_assert_int_eq(errno, EINVAL);
	}
}
END_TEST

START_TEST(a_segment_needs_a_grant)
{
	char from[8] = "x", to[8];
	xengnttab_grant_copy_segment_t seg = {.source.virt = from, .dest.virt = to, .len = 8};

	ck_assert_int_eq(xengnttab_grant_copy(tab, 1, &seg), -1);
	ck_assert_int_eq(errno, EINVAL);
	ck_assert_int_eq(xengnttab_grant_copy(tab, 0, NULL), 0);
}
END_TEST

START_TEST(statuses_are_per_segment)
{
	xengnttab_grant_copy_segment_t segs[3];
	char buf[3][8] = {"", "", ""};

	strcpy((char *)pages, "first");
	strcpy((char *)pages + PAGE, "last");
	memset(segs, 0, sizeof(segs));
	for (unsigned i = 0; i < 3; i++) {
		segs[i].source.foreign.ref = i == 1 ? 500 : refs[i / 2];
		segs[i].source.foreign.domid = guest;
		segs[i].dest.virt = buf[i];
		segs[i].len = 8;
		segs[i].flags = GNTCOPY_source_gref;
		segs[i].status = 99;
	}
	ck_assert_int_eq(xengnttab_grant_copy(tab, 3, segs), 0);
	ck_assert_int_eq(segs[0].status, GNTST_okay);
	ck_assert_int_eq(segs[1].status, GNTST_general_error);
	ck_assert_int_eq(segs[2].status, GNTST_okay);
	ck_assert_str_eq(buf[0], "first");
	ck_assert_str_eq(buf[2], "last");
}
END_TEST

static int copy_grants(domid_t from_domid, uint32_t from, domid_t to_domid, uint32_t to)
{
	xengnttab_grant_copy_segment_t seg = {
		.source.foreign = {.ref = from, .domid = from_domid, .offset = 10},
		.dest.foreign = {.ref = to, .domid = to_domid, .offset = 20},
		.len = 1000,
		.flags = GNTCOPY_source_gref | GNTCOPY_dest_gref,
	};

	ck_assert_int_eq(xengnttab_grant_copy(tab, 1, &seg), 0);
	return seg.status;
}

START_TEST(from_guest_to_guest)
{
	xengntshr_handle *shr2 = gntshr_of(other);
	uint32_t ref2, readonly;
	uint8_t *page2 = xengntshr_share_pages(shr2, 0, 1, &ref2, 1);

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr2, 0, 1, &readonly, 0));
	fill(pages, PAGE, 5);
	/* both orders of domids, and two grants of one domain */
	ck_assert_int_eq(copy_grants(guest, refs[0], other, ref2), GNTST_okay);
	ck_assert_mem_eq(page2 + 20, pages + 10, 1000);
	ck_assert_int_eq(copy_grants(other, ref2, guest, refs[1]), GNTST_okay);
	ck_assert_mem_eq(pages + PAGE + 20, page2 + 10, 1000);
	ck_assert_int_eq(copy_grants(guest, refs[1], guest, refs[2]), GNTST_okay);
	ck_assert_mem_eq(pages + 2 * PAGE + 20, pages + PAGE + 10, 1000);
	/* the first end's error counts */
	ck_assert_int_eq(copy_grants(guest, refs[0], other, readonly), GNTST_general_error);
	ck_assert_int_eq(copy_grants(other, readonly, guest, refs[0]), GNTST_okay);
	ck_assert_int_eq(copy_grants(guest, 40000, other, readonly), GNTST_bad_gntref);
	ck_assert_int_eq(copy_grants(guest, refs[0], 99, 8), GNTST_bad_domain);
	xengntshr_close(shr2);
	ck_assert_uint_eq(stat_of("quarantined_pages"), 0);
}
END_TEST

START_TEST(source_and_dest_may_be_one_grant)
{
	fill(pages, PAGE, 3);
	ck_assert_int_eq(copy_grants(guest, refs[0], guest, refs[0]), GNTST_okay);
	ck_assert_uint_eq(pages[20], (uint8_t)(10 * 7 + 3));
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, &(uint8_t){1}, 1, true), 0);
}
END_TEST

START_TEST(domid_self_is_the_caller)
{
	xengntshr_handle *own = gntshr_of(0);
	uint32_t ref;
	char *page = xengntshr_share_pages(own, DOMID_SELF, 1, &ref, 1), buf[8];

	ck_assert_ptr_nonnull(page);
	strcpy(page, "myself");
	ck_assert_int_eq(copy_status(tab, DOMID_SELF, ref, 0, buf, 8, false), GNTST_okay);
	ck_assert_str_eq(buf, "myself");
	ck_assert_int_eq(copy_status(tab, 0, ref, 0, buf, 8, false), GNTST_okay);
	xengntshr_close(own);
}
END_TEST

START_TEST(revoked_grant_is_refused)
{
	char buf[8];

	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, false), GNTST_okay);
	ck_assert_int_eq(xengntshr_unshare(shr, pages, ARRAY_SIZE(refs)), 0);
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, false), GNTST_general_error);
}
END_TEST

START_TEST(guest_cannot_use_what_is_not_granted_to_it)
{
	xengnttab_handle *thief = gnttab_of(other);
	char buf[8];

	ck_assert_int_eq(copy_status(thief, guest, refs[0], 0, buf, 8, false), GNTST_general_error);
	ck_assert_ptr_null(xengnttab_map_grant_ref(thief, guest, refs[0], PROT_READ));
	xengnttab_close(thief);
}
END_TEST

START_TEST(dead_domain_is_bad_domain_and_a_new_one_of_its_number_is_not_confused)
{
	char buf[8];

	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, false), GNTST_okay);
	ck_assert_int_eq(xenemu_domain_destroy(control, guest), 0);
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, false), GNTST_bad_domain);
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, true), GNTST_bad_domain);
	/* its memory went with the handle's sight of its death, not with the handle */
	ck_assert_uint_eq(stat_of("dying"), 0);
}
END_TEST

START_TEST(injected_faults_fail_every_nth)
{
	unsigned nr_failed = 0;
	char buf[8];

	ck_assert_int_eq(xenemu_set_fault(control, "copy", 3), 0);
	for (unsigned i = 0; i < 9; i++)
		nr_failed += copy_status(tab, guest, refs[0], 0, buf, 8, false) != GNTST_okay;
	ck_assert_uint_eq(nr_failed, 3);
	ck_assert_int_eq(xenemu_set_fault(control, "copy", 0), 0);
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, false), GNTST_okay);
	ck_assert_int_eq(xenemu_set_fault(control, "no-such", 1), -EINVAL);
}
END_TEST

/* ---- concurrency and death ---- */

struct copier {
	xengnttab_handle *h;
	domid_t from, to;
	uint32_t from_ref, to_ref;
	unsigned nr_failed;
};

static void *copy_many(void *arg)
{
	struct copier *copier = arg;
	xengnttab_grant_copy_segment_t seg = {
		.source.foreign = {.ref = copier->from_ref, .domid = copier->from},
		.dest.foreign = {.ref = copier->to_ref, .domid = copier->to},
		.len = 4096,
		.flags = GNTCOPY_source_gref | GNTCOPY_dest_gref,
	};

	for (unsigned i = 0; i < 20000; i++) {
		if (xengnttab_grant_copy(copier->h, 1, &seg) || seg.status != GNTST_okay)
			copier->nr_failed++;
	}
	return NULL;
}

START_TEST(crossing_copies_of_two_processes_do_not_deadlock)
{
	xengntshr_handle *shr2 = gntshr_of(other);
	struct copier a = {tab, guest, other, refs[0], 0, 0}, b;
	pthread_t threads[2];

	ck_assert_ptr_nonnull(xengntshr_share_pages(shr2, 0, 1, &a.to_ref, 1));
	b = (struct copier){gnttab_of(0), other, guest, a.to_ref, refs[0], 0};
	ck_assert_int_eq(pthread_create(&threads[0], NULL, copy_many, &a), 0);
	ck_assert_int_eq(pthread_create(&threads[1], NULL, copy_many, &b), 0);
	pthread_join(threads[0], NULL);
	pthread_join(threads[1], NULL);
	ck_assert_uint_eq(a.nr_failed + b.nr_failed, 0);
	xengnttab_close(b.h);
	xengntshr_close(shr2);
	ck_assert_uint_eq(stat_of("quarantined_pages"), 0);
}
END_TEST

/*
 * A process is killed with entries locked and marked: what it has written to the journal, the
 * active words and the guest's entries is exactly what a kill between lock and release leaves.
 */
static void die_in_the_middle(unsigned nr)
{
	xengnttab_handle *h = gnttab_of(0);
	struct foreign *foreign;
	uint64_t word;
	uint32_t frame;

	if (foreign_attach(h, guest, refs[0], &foreign) != GNTST_okay)
		_exit(1);
	for (unsigned i = 0; i < nr; i++) {
		h->journal->slot[i] = HV_JOURNAL(guest, refs[i]);
		if (!active_lock(&foreign->view.active[refs[i]], h->owner, &word) ||
		    grant_claim(&foreign->view, refs[i], word, 0, false, false, &frame))
			_exit(1);
	}
	kill(getpid(), SIGKILL);
}

START_TEST(killed_in_the_middle_of_a_copy)
{
	struct xenemu_guest memory;
	uint16_t marks = GTF_reading | GTF_writing;
	char buf[8];
	pid_t pid;
	int status;

	guest_memory(guest, &memory);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid)
		die_in_the_middle(2);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	/* waits for the daemon to clear up, and no longer */
	for (unsigned i = 0; i < 2; i++) {
		ck_assert_int_eq(copy_status(tab, guest, refs[i], 0, buf, 8, true), GNTST_okay);
		ck_assert_uint_eq(memory.table[refs[i]].flags & marks, 0);
	}
	ck_assert_int_eq(xengntshr_unshare(shr, pages, ARRAY_SIZE(refs)), 0);
	ck_assert_uint_eq(stat_of("quarantined_pages"), 0);
	xenemu_guest_close(&memory);
}
END_TEST

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Whoever copies for many guests must not be held up by one of them again and again. */
START_TEST(words_locked_for_good_are_waited_for_once)
{
	xengnttab_handle *hog = gnttab_of(0);
	struct foreign *foreign;
	uint64_t words[ARRAY_SIZE(refs)];
	double start;
	char buf[8];

	ck_assert_int_eq(foreign_attach(hog, guest, refs[0], &foreign), GNTST_okay);
	for (unsigned i = 0; i < ARRAY_SIZE(refs); i++)
		ck_assert(active_lock(&foreign->view.active[refs[i]], hog->owner, &words[i]));
	start = now();
	for (unsigned i = 0; i < 20; i++)
		ck_assert_int_eq(
			copy_status(tab, guest, refs[i % ARRAY_SIZE(refs)], 0, buf, 8, i & 1),
			GNTST_general_error);
	ck_assert(now() - start < 5);
	for (unsigned i = 0; i < ARRAY_SIZE(refs); i++)
		active_unlock(&foreign->view.active[refs[i]], words[i]);
	ck_assert_int_eq(copy_status(tab, guest, refs[0], 0, buf, 8, true), GNTST_okay);
	xengnttab_close(hog);
}
END_TEST

/* And without knowing where: real copies, killed at random moments. */
START_TEST(killed_at_any_moment_of_many_copies)
{
	struct timespec pause = {.tv_nsec = 1000000};
	char buf[8];

	for (unsigned i = 0; i < 20; i++) {
		struct copier self = {NULL, guest, guest, refs[0], refs[1], 0};
		pid_t pid = fork();

		if (!pid) {
			self.h = gnttab_of(0);
			for (;;)
				copy_many(&self);
		}
		ck_assert_int_gt(pid, 0);
		pause.tv_nsec = 3000000 + rand() % 1000000;
		nanosleep(&pause, NULL);
		kill(pid, SIGKILL);
		ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
		for (unsigned r = 0; r < 2; r++)
			ck_assert_int_eq(copy_status(tab, guest, refs[r], 0, buf, 8, true),
					 GNTST_okay);
	}
	ck_assert_int_eq(xengntshr_unshare(shr, pages, ARRAY_SIZE(refs)), 0);
	wait_stat("quarantined_pages", 0);
}
END_TEST

/* A guest that changes its entry all the time gets an error or its copy, and marks are cleared. */
static atomic_bool flip_stop;

static void *flip_entry(void *arg)
{
	struct grant_entry_v1 *entry = arg;

	while (!atomic_load(&flip_stop)) {
		__atomic_fetch_xor(&entry->flags, GTF_PWT, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->frame, 0xffffffff, __ATOMIC_RELAXED);
		__atomic_store_n(&entry->frame, 3, __ATOMIC_RELAXED);
	}
	return NULL;
}

START_TEST(entry_that_changes_all_the_time)
{
	struct xenemu_guest memory;
	pthread_t thread;
	char buf[64];

	guest_memory(guest, &memory);
	atomic_store(&flip_stop, false);
	ck_assert_int_eq(pthread_create(&thread, NULL, flip_entry, &memory.table[refs[0]]), 0);
	for (unsigned i = 0; i < 20000; i++) {
		int status = copy_status(tab, guest, refs[0], 0, buf, 64, i % 2);

		ck_assert(status == GNTST_okay || status == GNTST_general_error ||
			  status == GNTST_bad_page);
	}
	atomic_store(&flip_stop, true);
	pthread_join(thread, NULL);
	ck_assert_uint_eq(memory.table[refs[0]].flags & (GTF_reading | GTF_writing), 0);
	memory.table[refs[0]].flags = 0;
	xenemu_guest_close(&memory);
}
END_TEST

TCase *tcase_copy(void)
{
	TCase *tc = tcase_create("copy");

	tcase_set_timeout(tc, 30);
	tcase_add_checked_fixture(tc, setup, teardown);
	tcase_add_test(tc, both_ways_at_any_offset);
	tcase_add_test(tc, page_crossing_fails_the_call);
	tcase_add_test(tc, a_segment_needs_a_grant);
	tcase_add_test(tc, statuses_are_per_segment);
	tcase_add_test(tc, from_guest_to_guest);
	tcase_add_test(tc, source_and_dest_may_be_one_grant);
	tcase_add_test(tc, domid_self_is_the_caller);
	tcase_add_test(tc, revoked_grant_is_refused);
	tcase_add_test(tc, guest_cannot_use_what_is_not_granted_to_it);
	tcase_add_test(tc, dead_domain_is_bad_domain_and_a_new_one_of_its_number_is_not_confused);
	tcase_add_test(tc, injected_faults_fail_every_nth);
	tcase_add_test(tc, crossing_copies_of_two_processes_do_not_deadlock);
	tcase_add_test(tc, killed_in_the_middle_of_a_copy);
	tcase_add_test(tc, words_locked_for_good_are_waited_for_once);
	tcase_add_test(tc, killed_at_any_moment_of_many_copies);
	tcase_add_test(tc, entry_that_changes_all_the_time);
	return tc;
}
