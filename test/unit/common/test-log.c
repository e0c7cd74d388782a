/* SPDX-License-Identifier: MIT */
/* test-log.c: where lines go, which go, and what a guest's bytes look like in them. */
#include "suites.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"

static char dir[64], path[96], text[65536];

static void setup(void)
{
	strcpy(dir, "/tmp/test-log-XXXXXX");
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/log", dir);
	ck_assert_int_eq(log_open("prog", path), 0);
}

static void teardown(void)
{
	log_close();
	unlink(path);
	rmdir(dir);
}

static const char *read_log(const char *name)
{
	int fd = open(name, O_RDONLY);
	ssize_t n;

	ck_assert_int_ge(fd, 0);
	n = read(fd, text, sizeof(text) - 1);
	ck_assert_int_ge(n, 0);
	text[n] = '\0';
	close(fd);
	return text;
}

static unsigned nr_lines(const char *s)
{
	unsigned nr = 0;

	for (; *s; s++)
		nr += *s == '\n';
	return nr;
}

START_TEST(a_line_names_program_level_and_time)
{
	log_warn("answer %d", 42);
	ck_assert_ptr_nonnull(strstr(read_log(path), "Z prog: warn: answer 42\n"));
	ck_assert_int_eq(text[10], 'T');
}
END_TEST

START_TEST(levels_below_the_set_one_are_left_out)
{
	log_set_level(LOG_LEVEL_WARN);
	log_debug("d");
	log_info("i");
	log_warn("w");
	log_err("e");
	ck_assert_uint_eq(nr_lines(read_log(path)), 2);
	log_set_level(LOG_LEVEL_DEBUG);
	log_debug("d");
	ck_assert_uint_eq(nr_lines(read_log(path)), 3);
}
END_TEST

START_TEST(levels_have_names)
{
	enum log_level level;

	ck_assert_int_eq(log_parse_level("error", &level), 0);
	ck_assert_int_eq(level, LOG_LEVEL_ERROR);
	ck_assert_int_eq(log_parse_level("debug", &level), 0);
	ck_assert_int_eq(level, LOG_LEVEL_DEBUG);
	ck_assert_int_eq(log_parse_level("loud", &level), -EINVAL);
	ck_assert_int_eq(log_parse_level("", &level), -EINVAL);
}
END_TEST

START_TEST(a_limited_call_site_prints_its_burst_only)
{
	struct log_limit limit = {.burst = 3, .interval_sec = 1};

	for (int i = 0; i < 1000; i++)
		log_limited(&limit, LOG_LEVEL_WARN, "guest says %d", i);
	ck_assert_uint_le(nr_lines(read_log(path)), 6); /* a second may have begun meanwhile */
	usleep(2100 * 1000);
	log_limited(&limit, LOG_LEVEL_WARN, "later");
	ck_assert_ptr_nonnull(strstr(read_log(path), "lines like the next one were left out"));
	ck_assert_ptr_nonnull(strstr(text, "later"));
}
END_TEST

START_TEST(a_long_line_is_cut_and_still_a_line)
{
	char *big = malloc(5000);

	memset(big, 'x', 4999);
	big[4999] = '\0';
	log_info("%s", big);
	log_info("next");
	read_log(path);
	ck_assert_uint_eq(nr_lines(text), 2);
	ck_assert_uint_lt(strlen(text), 2000);
	free(big);
}
END_TEST

START_TEST(the_log_follows_its_name_when_reopened)
{
	char old[128];

	log_info("one");
	snprintf(old, sizeof(old), "%s.1", path);
	ck_assert_int_eq(rename(path, old), 0);
	log_info("two");
	ck_assert_int_eq(log_reopen(), 0);
	log_info("three");
	ck_assert_uint_eq(nr_lines(read_log(old)), 2);
	ck_assert_uint_eq(nr_lines(read_log(path)), 1);
	unlink(old);
}
END_TEST

START_TEST(a_file_that_cannot_be_opened_is_told)
{
	ck_assert_int_eq(log_open("prog", "/nonexistent/dir/log"), -ENOENT);
}
END_TEST

START_TEST(errno_survives_a_line)
{
	errno = EDOM;
	log_info("x");
	ck_assert_int_eq(errno, EDOM);
}
END_TEST

static const struct {
	const char *src;
	size_t len, size;
	const char *want;
} escapes[] = {
	{"plain text", 10, 64, "plain text"},
	{"", 0, 64, ""},
	{"a\nb", 3, 64, "a\\x0ab"},
	{"\x1b[31m", 5, 64, "\\x1b[31m"},
	{"a\0b", 3, 64, "a\\x00b"},
	{"\xff\x80", 2, 64, "\\xff\\x80"},
	{"back\\slash", 10, 64, "back\\x5cslash"},
	{"abcdef", 6, 4, "abc"},
	{"ab\n", 3, 6, "ab"}, /* never half an escape */
	{"ab\n", 3, 7, "ab\\x0a"},
	{"abc", 3, 1, ""},
};

START_TEST(hostile_text_is_made_printable)
{
	char dst[64];

	memset(dst, 'Z', sizeof(dst));
	ck_assert_str_eq(log_escape(dst, escapes[_i].size, escapes[_i].src, escapes[_i].len),
			 escapes[_i].want);
	for (size_t i = escapes[_i].size; i < sizeof(dst); i++)
		ck_assert_int_eq(dst[i], 'Z');
}
END_TEST

Suite *log_suite(void)
{
	Suite *suite = suite_create("log");
	TCase *tcase = tcase_create("log");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_set_timeout(tcase, 20);
	tcase_add_test(tcase, a_line_names_program_level_and_time);
	tcase_add_test(tcase, levels_below_the_set_one_are_left_out);
	tcase_add_test(tcase, levels_have_names);
	tcase_add_test(tcase, a_limited_call_site_prints_its_burst_only);
	tcase_add_test(tcase, a_long_line_is_cut_and_still_a_line);
	tcase_add_test(tcase, the_log_follows_its_name_when_reopened);
	tcase_add_test(tcase, a_file_that_cannot_be_opened_is_told);
	tcase_add_test(tcase, errno_survives_a_line);
	tcase_add_loop_test(tcase, hostile_text_is_made_printable, 0, ARRAY_SIZE(escapes));
	suite_add_tcase(suite, tcase);
	return suite;
}
