/* SPDX-License-Identifier: MIT */
/* What a grant entry allows, for copies and for maps: one row a case. */
#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "grant/gnttab.h"
#include "test/unit/grant/fixture.h"

#define REF	  100
#define FRAME	  7
#define NR_FRAMES 16384

static const struct {
	const char *name;
	uint16_t flags;
	int domid; /* -1: other, -2: the granting guest itself */
	uint32_t frame;
	int read, write; /* status of a copy */
	bool map_ro, map_rw;
} rows[] = {
	{"writable grant", GTF_permit_access, 0, FRAME, GNTST_okay, GNTST_okay, true, true},
	{"read-only grant", GTF_permit_access | GTF_readonly, 0, FRAME, GNTST_okay,
	 GNTST_general_error, true, false},
	{"no grant", GTF_invalid, 0, FRAME, GNTST_general_error, GNTST_general_error, false, false},
	{"transfer grant", GTF_accept_transfer, 0, FRAME, GNTST_general_error, GNTST_general_error,
	 false, false},
	{"transitive grant", GTF_transitive, 0, FRAME, GNTST_general_error, GNTST_general_error,
	 false, false},
	{"sub-page grant", GTF_permit_access | GTF_sub_page, 0, FRAME, GNTST_okay, GNTST_okay,
	 false, false},
	{"granted to another domain", GTF_permit_access, -1, FRAME, GNTST_general_error,
	 GNTST_general_error, false, false},
	{"granted to itself", GTF_permit_access, -2, FRAME, GNTST_general_error,
	 GNTST_general_error, false, false},
	{"marked in use already", GTF_permit_access | GTF_reading | GTF_writing, 0, FRAME,
	 GNTST_okay, GNTST_okay, true, true},
	{"cache attributes", GTF_permit_access | GTF_PWT | GTF_PCD, 0, FRAME, GNTST_okay,
	 GNTST_okay, true, true},
	{"last frame", GTF_permit_access, 0, NR_FRAMES - 1, GNTST_okay, GNTST_okay, true, true},
	{"frame behind the last", GTF_permit_access, 0, NR_FRAMES, GNTST_bad_page, GNTST_bad_page,
	 false, false},
	{"frame that would wrap around", GTF_permit_access, 0, UINT32_MAX, GNTST_bad_page,
	 GNTST_bad_page, false, false},
};

static void write_entry(struct xenemu_guest *memory, int i)
{
	int domid = rows[i].domid;

	memory->table[REF].domid = domid == -1 ? other : domid == -2 ? guest : (domid_t)domid;
	memory->table[REF].frame = rows[i].frame;
	memory->table[REF].flags = rows[i].flags;
	/* So that the domain is one dom0 may attach to at all. */
	memory->table[REF + 1].domid = 0;
	memory->table[REF + 1].frame = FRAME;
	memory->table[REF + 1].flags = GTF_permit_access;
}

START_TEST(copy_is_judged_as_by_xen)
{
	struct xenemu_guest memory;
	xengnttab_handle *h = gnttab_of(0);
	uint16_t in_use = GTF_reading | GTF_writing;
	char buf[16] = "";

	guest_memory(guest, &memory);
	write_entry(&memory, _i);
	ck_assert_msg(copy_status(h, guest, REF, 0, buf, 16, false) == rows[_i].read, "read: %s",
		      rows[_i].name);
	write_entry(&memory, _i);
	ck_assert_msg(copy_status(h, guest, REF, 0, buf, 16, true) == rows[_i].write, "write: %s",
		      rows[_i].name);
	if (rows[_i].write == GNTST_okay)
		ck_assert_int_eq(memory.table[REF].flags, rows[_i].flags & ~in_use);
	else
		ck_assert_int_eq(memory.table[REF].flags & in_use, 0);
	xenemu_guest_close(&memory);
	xengnttab_close(h);
}
END_TEST

static void check_map(xengnttab_handle *h, struct xenemu_guest *memory, int prot, bool allowed,
		      const char *name)
{
	uint16_t marks = prot & PROT_WRITE ? GTF_reading | GTF_writing : GTF_reading;
	void *page;

	errno = 0;
	page = xengnttab_map_grant_ref(h, guest, REF, prot);
	ck_assert_msg((page != NULL) == allowed, "map: %s", name);
	if (!page) {
		ck_assert_int_eq(errno, EINVAL);
		return;
	}
	ck_assert_int_eq(memory->table[REF].flags & marks, marks);
	ck_assert_int_eq(xengnttab_unmap(h, page, 1), 0);
	ck_assert_int_eq(memory->table[REF].flags & (GTF_reading | GTF_writing), 0);
}

START_TEST(map_is_judged_as_by_xen)
{
	struct xenemu_guest memory;
	xengnttab_handle *h = gnttab_of(0);

	guest_memory(guest, &memory);
	write_entry(&memory, _i);
	check_map(h, &memory, PROT_READ, rows[_i].map_ro, rows[_i].name);
	write_entry(&memory, _i);
	check_map(h, &memory, PROT_READ | PROT_WRITE, rows[_i].map_rw, rows[_i].name);
	ck_assert_uint_eq(stat_of("pins"), 0);
	xenemu_guest_close(&memory);
	xengnttab_close(h);
}
END_TEST

START_TEST(references_and_domains_out_of_range)
{
	static const struct {
		domid_t domid;
		uint32_t ref;
		int status;
	} bad[] = {
		{1, 32768, GNTST_bad_gntref},
		{1, UINT32_MAX, GNTST_bad_gntref},
		{77, 8, GNTST_bad_domain},
		{DOMID_IO, 8, GNTST_bad_domain},
		{DOMID_XEN, 8, GNTST_bad_domain},
		{DOMID_INVALID, 8, GNTST_bad_domain},
		{1, 0, GNTST_general_error},
		{1, 32767, GNTST_general_error},
		/* the same of a domain that grants us nothing at all */
		{2, 32768, GNTST_bad_gntref},
		{2, 9, GNTST_general_error},
	};
	struct xenemu_guest memory;
	xengnttab_handle *h = gnttab_of(0);
	char buf[16];

	ck_assert_uint_eq(guest, 1);
	ck_assert_uint_eq(other, 2);
	guest_memory(guest, &memory);
	write_entry(&memory, 0);
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		ck_assert_int_eq(copy_status(h, bad[i].domid, bad[i].ref, 0, buf, 16, false),
				 bad[i].status);
		ck_assert_ptr_null(xengnttab_map_grant_ref(h, bad[i].domid, bad[i].ref, PROT_READ));
		ck_assert_int_eq(errno, EINVAL);
	}
	xenemu_guest_close(&memory);
	xengnttab_close(h);
}
END_TEST

START_TEST(reserved_references_are_ordinary_to_their_user)
{
	struct xenemu_guest memory;
	xengnttab_handle *h = gnttab_of(0);
	char buf[8];

	guest_memory(guest, &memory);
	strcpy((char *)memory.frames, "console");
	memory.table[GNTTAB_RESERVED_CONSOLE] = (struct grant_entry_v1){GTF_permit_access, 0, 0};
	ck_assert_int_eq(copy_status(h, guest, GNTTAB_RESERVED_CONSOLE, 0, buf, 8, false),
			 GNTST_okay);
	ck_assert_str_eq(buf, "console");
	xenemu_guest_close(&memory);
	xengnttab_close(h);
}
END_TEST

/*
 * A guest that grants itself something gets its own active table from the machine, and may write
 * what it likes there: that a frame behind its last one is in use by dom0, say.
 */
START_TEST(frames_in_a_forged_active_word_are_checked)
{
	static const uint64_t pins[] = {ACTIVE_READER, ACTIVE_WRITER,
					ACTIVE_READER | ACTIVE_WRITER};
	xengnttab_handle *self = gnttab_of(guest), *h = gnttab_of(0);
	struct xenemu_guest memory;
	struct foreign *foreign;
	char buf[8];

	guest_memory(guest, &memory);
	write_entry(&memory, 0);
	memory.table[REF + 2] = (struct grant_entry_v1){GTF_permit_access, guest, FRAME};
	ck_assert_int_eq(foreign_attach(self, guest, REF + 2, &foreign), GNTST_okay);
	for (unsigned i = 0; i < ARRAY_SIZE(pins); i++) {
		foreign->view.active[REF] = ACTIVE_MAKE(0, 0xffff) | pins[i];
		ck_assert_int_eq(copy_status(h, guest, REF, 0, buf, 8, false), GNTST_bad_page);
		ck_assert_int_eq(copy_status(h, guest, REF, 0, buf, 8, true), GNTST_bad_page);
		ck_assert_ptr_null(xengnttab_map_grant_ref(h, guest, REF, PROT_READ));
		ck_assert_ptr_null(xengnttab_map_grant_ref(h, guest, REF, PROT_READ | PROT_WRITE));
	}
	foreign->view.active[REF] = 0;
	ck_assert_int_eq(copy_status(h, guest, REF, 0, buf, 8, true), GNTST_okay);
	xenemu_guest_close(&memory);
	xengnttab_close(self);
	xengnttab_close(h);
}
END_TEST

TCase *tcase_entry(void)
{
	TCase *tc = tcase_create("entry");

	tcase_add_checked_fixture(tc, machine_setup, machine_teardown);
	tcase_add_loop_test(tc, copy_is_judged_as_by_xen, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tc, map_is_judged_as_by_xen, 0, ARRAY_SIZE(rows));
	tcase_add_test(tc, references_and_domains_out_of_range);
	tcase_add_test(tc, reserved_references_are_ordinary_to_their_user);
	tcase_add_test(tc, frames_in_a_forged_active_word_are_checked);
	return tc;
}
