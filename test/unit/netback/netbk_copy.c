/* SPDX-License-Identifier: MIT */
/* netbk_copy.c: the batch of grant copies, with every way a copy can fail. */
#include "netbk_suites.h"

#include <string.h>
#include <xen/xen.h>
#include <xen/grant_table.h>

#include "fake_xen.h"
#include "netback/copy.h"

static struct copy_batch batch;
static char local[4][4096];

static void setup(void)
{
	fake_reset();
	memset(&batch, 0, sizeof(batch));
	memset(local, 0, sizeof(local));
}

START_TEST(an_empty_batch_makes_no_call)
{
	copy_run(&batch, NULL);
	ck_assert_uint_eq(batch.nr_calls, 0);
	ck_assert(copy_ok(&batch, 0, 0));
}
END_TEST

START_TEST(both_directions_go_in_one_call)
{
	strcpy((char *)fake_page(5) + 100, "from the guest");
	strcpy(local[1], "to the guest");
	copy_from_guest(&batch, FAKE_DOMID, 5, 100, local[0], 15);
	copy_to_guest(&batch, FAKE_DOMID, 6, 0, local[1], 13);
	copy_run(&batch, NULL);
	ck_assert_uint_eq(batch.nr_calls, 1);
	ck_assert_uint_eq(batch.nr_segs, 2);
	ck_assert(copy_ok(&batch, 0, 2));
	ck_assert_str_eq(local[0], "from the guest");
	ck_assert_str_eq(fake_page(6), "to the guest");
}
END_TEST

START_TEST(a_bad_reference_fails_alone)
{
	fake_revoke(6, true);
	for (uint32_t ref = 5; ref < 8; ref++)
		copy_from_guest(&batch, FAKE_DOMID, ref, 0, local[0], 8);
	copy_run(&batch, NULL);
	ck_assert(copy_ok(&batch, 0, 1));
	ck_assert(!copy_ok(&batch, 1, 1));
	ck_assert(copy_ok(&batch, 2, 1));
	ck_assert(!copy_ok(&batch, 0, 3));
	ck_assert_int_eq(batch.segs[1].status, GNTST_bad_gntref);
}
END_TEST

START_TEST(another_domain_is_not_served)
{
	copy_from_guest(&batch, FAKE_DOMID + 1, 5, 0, local[0], 8);
	copy_run(&batch, NULL);
	ck_assert(!copy_ok(&batch, 0, 1));
}
END_TEST

START_TEST(a_call_that_fails_as_a_whole_is_repeated_one_by_one)
{
	fake_fail_calls(1);
	fake_revoke(6, true);
	strcpy(fake_page(7), "seven");
	for (uint32_t ref = 5; ref < 8; ref++)
		copy_from_guest(&batch, FAKE_DOMID, ref, 0, local[ref - 5], 8);
	copy_run(&batch, NULL);
	ck_assert(copy_ok(&batch, 0, 1));
	ck_assert(!copy_ok(&batch, 1, 1));
	ck_assert(copy_ok(&batch, 2, 1));
	ck_assert_str_eq(local[2], "seven");
}
END_TEST

START_TEST(a_full_batch_is_one_call)
{
	ck_assert_uint_ge(COPY_SEGS_MAX, 64);
	while (copy_room(&batch))
		copy_from_guest(&batch, FAKE_DOMID, 1, 0, local[0], 1);
	copy_run(&batch, NULL);
	ck_assert_uint_eq(batch.nr_calls, 1);
	ck_assert_uint_eq(batch.nr_segs, COPY_SEGS_MAX);
	ck_assert(copy_ok(&batch, 0, COPY_SEGS_MAX));
	copy_reset(&batch);
	ck_assert_uint_eq(copy_room(&batch), COPY_SEGS_MAX);
}
END_TEST

Suite *copy_suite(void)
{
	Suite *suite = suite_create("grant copies");
	TCase *tcase = tcase_create("copy");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, setup, NULL);
	tcase_add_test(tcase, an_empty_batch_makes_no_call);
	tcase_add_test(tcase, both_directions_go_in_one_call);
	tcase_add_test(tcase, a_bad_reference_fails_alone);
	tcase_add_test(tcase, another_domain_is_not_served);
	tcase_add_test(tcase, a_call_that_fails_as_a_whole_is_repeated_one_by_one);
	tcase_add_test(tcase, a_full_batch_is_one_call);
	suite_add_tcase(suite, tcase);
	return suite;
}
