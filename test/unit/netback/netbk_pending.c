/* SPDX-License-Identifier: MIT */
/* netbk_pending.c: pending pages and their tags. */
#include "netbk_suites.h"

#include "netback/pending.h"

static struct pending pool;

static void setup(void)
{
	ck_assert_int_eq(pending_init(&pool, 3, 5), 0);
}

static void teardown(void)
{
	pending_fini(&pool);
}

START_TEST(all_pages_are_free_at_first_and_differ)
{
	bool seen[32] = {false};

	ck_assert_uint_eq(pool.nr_free, 32);
	for (unsigned i = 0; i < 32; i++) {
		union page_ext tag = pending_get(&pool);

		ck_assert_uint_lt(tag.e.idx, 32);
		ck_assert(!seen[tag.e.idx]);
		seen[tag.e.idx] = true;
	}
	ck_assert_uint_eq(pool.nr_free, 0);
}
END_TEST

START_TEST(the_page_given_back_last_is_taken_first)
{
	union page_ext a = pending_get(&pool), b = pending_get(&pool);

	ck_assert(pending_put(&pool, a, pending_page(&pool, a.e.idx)));
	ck_assert(pending_put(&pool, b, pending_page(&pool, b.e.idx)));
	ck_assert_uint_eq(pending_get(&pool).word, b.word);
	ck_assert_uint_eq(pending_get(&pool).word, a.word);
}
END_TEST

START_TEST(the_tag_holds_the_group_plus_one)
{
	union page_ext tag = pending_get(&pool);

	ck_assert_uint_eq(tag.e.group, 4);
	ck_assert_uint_ne(page_ext_make(0, 0).word, 0);
	ck_assert_uint_ne(page_ext_make(1023, 65535).word, page_ext_make(1022, 65535).word);
}
END_TEST

START_TEST(the_owner_is_found_from_the_tag)
{
	struct pending other, *pools[4] = {&other, &other, &other, &pool};
	union page_ext tag = pending_get(&pool);
	void *page = pending_page(&pool, tag.e.idx);

	ck_assert_int_eq(pending_init(&other, 0, 5), 0);
	ck_assert_ptr_eq(pending_owner(pools, 4, tag, page), &pool);
	pending_fini(&other);
}
END_TEST

START_TEST(a_zero_word_is_not_ours)
{
	struct pending *pools[4] = {&pool, &pool, &pool, &pool};

	ck_assert_ptr_null(pending_owner(pools, 4, (union page_ext){.word = 0}, pool.pages));
}
END_TEST

START_TEST(a_group_beyond_the_last_is_not_ours)
{
	struct pending *pools[4] = {&pool, &pool, &pool, &pool};
	union page_ext tag = page_ext_make(4, 0);

	ck_assert_ptr_null(pending_owner(pools, 4, tag, pool.pages));
	ck_assert_ptr_null(
		pending_owner(pools, 4, (union page_ext){.word = UINT64_MAX}, pool.pages));
}
END_TEST

START_TEST(the_strong_check_refuses_another_page)
{
	union page_ext a = pending_get(&pool), b = pending_get(&pool);
	struct pending *pools[4] = {&pool, &pool, &pool, &pool};

	ck_assert(!pending_put(&pool, a, pending_page(&pool, b.e.idx)));
	ck_assert(!pending_put(&pool, a, (char *)pending_page(&pool, a.e.idx) + 1));
	ck_assert(!pending_put(&pool, page_ext_make(2, a.e.idx), pending_page(&pool, a.e.idx)));
	ck_assert(!pending_put(&pool, page_ext_make(3, 32), pool.pages + 32 * 4096));
	ck_assert_ptr_null(pending_owner(pools, 4, a, pending_page(&pool, b.e.idx)));
	/* Group 2's slot is this pool too, but the pool says it is group 3's. */
	ck_assert_ptr_null(
		pending_owner(pools, 4, page_ext_make(2, a.e.idx), pending_page(&pool, a.e.idx)));
	ck_assert_uint_eq(pool.nr_free, 30);
}
END_TEST

START_TEST(a_page_is_given_back_only_once)
{
	union page_ext tag = pending_get(&pool);

	ck_assert(pending_put(&pool, tag, pending_page(&pool, tag.e.idx)));
	ck_assert(!pending_put(&pool, tag, pending_page(&pool, tag.e.idx)));
	ck_assert_uint_eq(pool.nr_free, 32);
}
END_TEST

START_TEST(every_tx_shift_gives_its_number_of_pages)
{
	struct pending p;

	ck_assert_int_eq(pending_init(&p, 0, (unsigned)_i), 0);
	ck_assert_uint_eq(p.nr_pages, 1u << _i);
	ck_assert_uint_eq(p.nr_free, 1u << _i);
	for (unsigned i = 0; i < p.nr_pages; i++)
		ck_assert_uint_eq(pending_get(&p).e.idx, i);
	for (uint32_t i = p.nr_pages; i--;)
		ck_assert(pending_put(&p, page_ext_make(0, i), pending_page(&p, i)));
	ck_assert_uint_eq(p.nr_free, p.nr_pages);
	pending_fini(&p);
}
END_TEST

Suite *pending_suite(void)
{
	Suite *suite = suite_create("pending pages");
	TCase *tcase = tcase_create("pending");

	tcase_set_timeout(tcase, 30);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, all_pages_are_free_at_first_and_differ);
	tcase_add_test(tcase, the_page_given_back_last_is_taken_first);
	tcase_add_test(tcase, the_tag_holds_the_group_plus_one);
	tcase_add_test(tcase, the_owner_is_found_from_the_tag);
	tcase_add_test(tcase, a_zero_word_is_not_ours);
	tcase_add_test(tcase, a_group_beyond_the_last_is_not_ours);
	tcase_add_test(tcase, the_strong_check_refuses_another_page);
	tcase_add_test(tcase, a_page_is_given_back_only_once);
	tcase_add_loop_test(tcase, every_tx_shift_gives_its_number_of_pages, 5, 17);
	suite_add_tcase(suite, tcase);
	return suite;
}
