/* SPDX-License-Identifier: MIT */
/* test-xenbus.c: the parts of xenbus.c that need no xenstored. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xenbus.h"

static const struct {
	const char *text;
	uint32_t min, max;
	int ret;
	uint32_t value;
} numbers[] = {
	{"0", 0, UINT32_MAX, 0, 0},
	{"1", 0, UINT32_MAX, 0, 1},
	{"4294967295", 0, UINT32_MAX, 0, UINT32_MAX},
	{"8", 1, 8, 0, 8},
	{"1", 1, 8, 0, 1},
	{"0", 1, 8, -ERANGE, 0},
	{"9", 1, 8, -ERANGE, 0},
	{"4294967296", 0, UINT32_MAX, -ERANGE, 0},
	{"18446744073709551616", 0, UINT32_MAX, -ERANGE, 0},
	{"18446744073709551617", 1, 1, -ERANGE, 0},
	{"99999999999999999999999999999999999999", 0, UINT32_MAX, -ERANGE, 0},
	{"", 0, UINT32_MAX, -EINVAL, 0},
	{" 1", 0, UINT32_MAX, -EINVAL, 0},
	{"1 ", 0, UINT32_MAX, -EINVAL, 0},
	{"1\n", 0, UINT32_MAX, -EINVAL, 0},
	{"+1", 0, UINT32_MAX, -EINVAL, 0},
	{"-1", 0, UINT32_MAX, -EINVAL, 0},
	{"-0", 0, UINT32_MAX, -EINVAL, 0},
	{"0x10", 0, UINT32_MAX, -EINVAL, 0},
	{"010", 0, UINT32_MAX, -EINVAL, 0},
	{"00", 0, UINT32_MAX, -EINVAL, 0},
	{"1e3", 0, UINT32_MAX, -EINVAL, 0},
	{"99999999999999999999x", 0, UINT32_MAX, -EINVAL, 0},
	{"\xd9\xa1", 0, UINT32_MAX, -EINVAL, 0},
};

START_TEST(numbers_are_strict_decimal_in_range)
{
	uint32_t value = 0xdeadU;
	int ret = xenbus_parse_u32(numbers[_i].text, numbers[_i].min, numbers[_i].max, &value);

	ck_assert_int_eq(ret, numbers[_i].ret);
	ck_assert_uint_eq(value, ret ? 0xdeadU : numbers[_i].value);
}
END_TEST

START_TEST(states_have_names)
{
	ck_assert_str_eq(xenbus_state_name(XenbusStateUnknown), "Unknown");
	ck_assert_str_eq(xenbus_state_name(XenbusStateInitWait), "InitWait");
	ck_assert_str_eq(xenbus_state_name(XenbusStateReconfigured), "Reconfigured");
	ck_assert_str_eq(xenbus_state_name((enum xenbus_state)9), "invalid");
	ck_assert_str_eq(xenbus_state_name((enum xenbus_state) - 1), "invalid");
}
END_TEST

START_TEST(a_path_fits_or_is_refused)
{
	char path[XENBUS_PATH_BYTES];
	char longest[XENBUS_PATH_BYTES];

	ck_assert_int_eq(xenbus_path(path, "%s/%u", "/local/domain", 7U), 0);
	ck_assert_str_eq(path, "/local/domain/7");
	memset(longest, 'a', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	ck_assert_int_eq(xenbus_path(path, "%s", longest), 0);
	ck_assert_str_eq(path, longest);
	ck_assert_int_eq(xenbus_path(path, "/%s", longest), -ENAMETOOLONG);
}
END_TEST

START_TEST(a_path_too_long_reaches_no_server)
{
	char dir[XENBUS_PATH_BYTES];
	char value[XENBUS_VALUE_BYTES];

	memset(dir, 'a', sizeof(dir) - 1);
	dir[sizeof(dir) - 1] = '\0';
	/* No handle: a request would crash. */
	ck_assert_int_eq(xenbus_read(NULL, 0, dir, "k", value, sizeof(value)), -ENAMETOOLONG);
	ck_assert_int_eq(xenbus_printf(NULL, 0, dir, "k", "1"), -ENAMETOOLONG);
	ck_assert_int_eq(xenbus_dev_error(NULL, 0, dir, EIO, "x"), -ENAMETOOLONG);
	ck_assert(!xenbus_exists(NULL, 0, dir, "k"));
}
END_TEST

START_TEST(a_value_too_long_is_not_written)
{
	char text[XENBUS_VALUE_BYTES + 1];

	memset(text, 'v', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(xenbus_printf(NULL, 0, "/d", "k", "%s", text), -E2BIG);
}
END_TEST

TCase *xenbus_tcase(void)
{
	TCase *tcase = tcase_create("xenbus");

	tcase_add_loop_test(tcase, numbers_are_strict_decimal_in_range, 0, ARRAY_SIZE(numbers));
	tcase_add_test(tcase, states_have_names);
	tcase_add_test(tcase, a_path_fits_or_is_refused);
	tcase_add_test(tcase, a_path_too_long_reaches_no_server);
	tcase_add_test(tcase, a_value_too_long_is_not_written);
	return tcase;
}
