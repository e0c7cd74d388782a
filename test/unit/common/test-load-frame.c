/* SPDX-License-Identifier: MIT */
/* test-load-frame.c: a frame proves its every byte. */
#include "suites.h"

#include <stdint.h>
#include <string.h>

#include "common/compiler.h"
#include "common/load_frame.h"

static const size_t lens[] = {22, 23, 29, 30, 31, 60, 64, 1514, 4096, 9000, 65535};
static uint8_t frame[65536];

START_TEST(what_is_filled_is_found_good)
{
	load_frame_fill(frame, lens[_i], 0x0123456789abcdefULL);
	ck_assert(load_frame_check(frame, lens[_i]));
	ck_assert_uint_eq(load_frame_seq(frame), 0x0123456789abcdefULL);
	ck_assert_mem_eq(frame + 12, "\x88\xb5\x01\x23\x45\x67\x89\xab\xcd\xef", 10);
}
END_TEST

START_TEST(the_addresses_are_left_alone_and_nothing_beyond_is_written)
{
	memset(frame, 0x5a, sizeof(frame));
	load_frame_fill(frame, lens[_i], 7);
	for (size_t i = 0; i < 12; i++)
		ck_assert_uint_eq(frame[i], 0x5a);
	ck_assert_uint_eq(frame[lens[_i]], 0x5a);
}
END_TEST

START_TEST(any_byte_changed_is_noticed)
{
	size_t step = lens[_i] / 64 + 1;

	load_frame_fill(frame, lens[_i], 99);
	for (size_t i = 12; i < lens[_i]; i += i < 40 ? 1 : step) {
		/* With no payload, another sequence number is just another good frame. */
		if (lens[_i] == LOAD_FRAME_MIN_BYTES && i >= 14)
			break;
		frame[i] ^= 0x10;
		ck_assert_msg(!load_frame_check(frame, lens[_i]), "byte %zu", i);
		frame[i] ^= 0x10;
	}
	frame[lens[_i] - 1] ^= 1;
	if (lens[_i] > LOAD_FRAME_MIN_BYTES)
		ck_assert(!load_frame_check(frame, lens[_i]));
}
END_TEST

START_TEST(a_frame_too_short_is_not_good)
{
	load_frame_fill(frame, 60, 1);
	for (size_t len = 0; len < 22; len++)
		ck_assert(!load_frame_check(frame, len));
}
END_TEST

START_TEST(neighbours_differ)
{
	static uint8_t other[1514];

	load_frame_fill(frame, sizeof(other), 1);
	load_frame_fill(other, sizeof(other), 2);
	for (size_t i = 22; i + 8 <= sizeof(other); i += 8)
		ck_assert_mem_ne(frame + i, other + i, 8);
}
END_TEST

Suite *load_frame_suite(void)
{
	Suite *suite = suite_create("load frames");
	TCase *tcase = tcase_create("load frame");

	tcase_add_loop_test(tcase, what_is_filled_is_found_good, 0, ARRAY_SIZE(lens));
	tcase_add_loop_test(tcase, the_addresses_are_left_alone_and_nothing_beyond_is_written, 0,
			    ARRAY_SIZE(lens));
	tcase_add_loop_test(tcase, any_byte_changed_is_noticed, 0, ARRAY_SIZE(lens));
	tcase_add_test(tcase, a_frame_too_short_is_not_good);
	tcase_add_test(tcase, neighbours_differ);
	suite_add_tcase(suite, tcase);
	return suite;
}
