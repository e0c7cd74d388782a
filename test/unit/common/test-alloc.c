/* SPDX-License-Identifier: MIT */
/* test-alloc.c: big memory comes zeroed, aligned, and whole, with huge pages or without. */
#include "suites.h"

#include <errno.h>
#include <stdint.h>

#include "common/compiler.h"
#include "common/fallback_alloc.h"

static const size_t sizes[] = {1, 4096, 4097, (2u << 20) - 1, 2u << 20, (2u << 20) + 1, 9u << 20};

START_TEST(memory_is_zeroed_aligned_and_writable_to_its_end)
{
	uint8_t *mem = fallback_alloc(sizes[_i]);

	ck_assert_ptr_nonnull(mem);
	ck_assert_uint_eq((uintptr_t)mem % 4096, 0);
	for (size_t i = 0; i < sizes[_i]; i += 511)
		ck_assert_uint_eq(mem[i], 0);
	mem[0] = mem[sizes[_i] - 1] = 1;
	fallback_free(mem, sizes[_i]);
}
END_TEST

START_TEST(without_huge_pages_ordinary_ones_do_and_it_is_counted)
{
	unsigned long before = fallback_alloc_fallbacks(), nr_failed;
	void *small = fallback_alloc(4096);

	ck_assert_uint_eq(fallback_alloc_fallbacks(), before); /* none were wanted */
	fallback_free(small, 4096);
	for (nr_failed = 0; nr_failed < 4; nr_failed++) {
		void *mem = fallback_alloc((size_t)1 << 40); /* more than huge pages exist */

		if (!mem) {
			ck_assert_int_eq(errno, ENOMEM);
			return; /* not even ordinary address space: refused, not crashed */
		}
		fallback_free(mem, (size_t)1 << 40);
		ck_assert_uint_gt(fallback_alloc_fallbacks(), before);
	}
}
END_TEST

START_TEST(nothing_is_freed_quietly)
{
	fallback_free(NULL, 4096);
}
END_TEST

Suite *alloc_suite(void)
{
	Suite *suite = suite_create("fallback allocator");
	TCase *tcase = tcase_create("alloc");

	tcase_add_loop_test(tcase, memory_is_zeroed_aligned_and_writable_to_its_end, 0,
			    ARRAY_SIZE(sizes));
	tcase_add_test(tcase, without_huge_pages_ordinary_ones_do_and_it_is_counted);
	tcase_add_test(tcase, nothing_is_freed_quietly);
	suite_add_tcase(suite, tcase);
	return suite;
}
