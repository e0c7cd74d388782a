/* SPDX-License-Identifier: MIT */
/* test-path.c: names of nodes. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_path.h"

static const struct {
	const char *path;
	bool valid;
} names[] = {
	{"/", true},
	{"/a", true},
	{"/a/b-c_d@e/F9", true},
	{"/@introduceDomain", true},
	{"", false},
	{"a", false},
	{"//", false},
	{"/a/", false},
	{"/a//b", false},
	{"//a", false},
	{"/a b", false},
	{"/a.b", false},
	{"/a\\b", false},
	{"/a:b", false},
	{"/a\n", false},
	{"/\xc3\xa4", false},
	{"/..", false},
	{"/a*", false},
	{"@introduceDomain", false},
};

START_TEST(names_are_valid_or_not)
{
	ck_assert_int_eq(xsd_path_valid(names[_i].path, 2048), names[_i].valid);
}
END_TEST

START_TEST(the_length_limit_does_not_count_the_domains_own_directory)
{
	char path[XSD_PATH_BYTES + 64];
	const char *own = "/local/domain/65535/";

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[1024] = '\0';
	ck_assert(xsd_path_valid(path, 1024));
	ck_assert(!xsd_path_valid(path, 1023));

	memset(path, 'a', sizeof(path));
	memcpy(path, own, strlen(own));
	path[strlen(own) + 1024] = '\0';
	ck_assert(xsd_path_valid(path, 1024));
	ck_assert(!xsd_path_valid(path, 1023));
	/* Whatever the limit, the protocol's own holds. */
	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[XENSTORE_ABS_PATH_MAX] = '\0';
	ck_assert(xsd_path_valid(path, 100000));
	path[XENSTORE_ABS_PATH_MAX] = 'a';
	path[XENSTORE_ABS_PATH_MAX + 1] = '\0';
	ck_assert(!xsd_path_valid(path, 100000));
}
END_TEST

START_TEST(relative_names_are_below_the_domains_directory)
{
	char out[XSD_PATH_BYTES];
	char name[XENSTORE_PAYLOAD_MAX];

	ck_assert_int_eq(xsd_path_canonical(out, "device/vif", 12), 0);
	ck_assert_str_eq(out, "/local/domain/12/device/vif");
	ck_assert_int_eq(xsd_path_canonical(out, "/x", 12), 0);
	ck_assert_str_eq(out, "/x");
	ck_assert_int_eq(xsd_path_canonical(out, "@releaseDomain", 12), 0);
	ck_assert_str_eq(out, "@releaseDomain");
	memset(name, 'a', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	ck_assert_int_eq(xsd_path_canonical(out, name, 12), -EINVAL);
}
END_TEST

static const struct {
	const char *path, *top;
	bool below;
} pairs[] = {
	{"/a", "/a", true}, {"/a/b", "/a", true}, {"/a/b/c", "/a", true}, {"/a", "/", true},
	{"/", "/", true},   {"/ab", "/a", false}, {"/a", "/a/b", false},  {"/b", "/a", false},
	{"@x", "/", false}, {"/", "/a", false},
};

START_TEST(below_means_the_node_or_under_it)
{
	ck_assert_int_eq(xsd_path_below(pairs[_i].path, pairs[_i].top), pairs[_i].below);
}
END_TEST

START_TEST(up_goes_to_the_root_and_no_further)
{
	char path[] = "/a/bc/d";

	ck_assert_str_eq(xsd_path_base(path), "d");
	ck_assert(xsd_path_up(path));
	ck_assert_str_eq(path, "/a/bc");
	ck_assert(xsd_path_up(path));
	ck_assert(xsd_path_up(path));
	ck_assert_str_eq(path, "/");
	ck_assert(!xsd_path_up(path));
	ck_assert_str_eq(path, "/");
}
END_TEST

START_TEST(a_domains_own_directory_is_known)
{
	ck_assert_uint_eq(xsd_path_own("/local/domain/0/x"), 16);
	ck_assert_uint_eq(xsd_path_own("/local/domain/12345/x"), 20);
	ck_assert_uint_eq(xsd_path_own("/local/domain/123456/x"), 0);
	ck_assert_uint_eq(xsd_path_own("/local/domain//x"), 0);
	ck_assert_uint_eq(xsd_path_own("/local/domain/7"), 0);
	ck_assert_uint_eq(xsd_path_own("/local/domain/a/x"), 0);
	ck_assert_uint_eq(xsd_path_own("/a"), 0);
}
END_TEST

TCase *path_tcase(void)
{
	TCase *tcase = tcase_create("path");

	tcase_add_loop_test(tcase, names_are_valid_or_not, 0, ARRAY_SIZE(names));
	tcase_add_test(tcase, the_length_limit_does_not_count_the_domains_own_directory);
	tcase_add_test(tcase, relative_names_are_below_the_domains_directory);
	tcase_add_loop_test(tcase, below_means_the_node_or_under_it, 0, ARRAY_SIZE(pairs));
	tcase_add_test(tcase, up_goes_to_the_root_and_no_further);
	tcase_add_test(tcase, a_domains_own_directory_is_known);
	return tcase;
}
