/* SPDX-License-Identifier: MIT */
/* test-perms.c: who may do what, as a table. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_perms.h"

#define ALL (XSD_READ | XSD_WRITE | XSD_OWNER)
#define RW  (XSD_READ | XSD_WRITE)

static const struct {
	const char *perms;
	unsigned domid;
	int target;
	unsigned may;
} rows[] = {
	/* dom0 may do all, whatever is listed. */
	{"n5", 0, XSD_NO_TARGET, ALL},
	{"n5,n0", 0, XSD_NO_TARGET, ALL},
	/* So may the owner, whatever the first letter says. */
	{"n5", 5, XSD_NO_TARGET, ALL},
	{"r5,n5", 5, XSD_NO_TARGET, ALL},
	/* The first letter is for everybody not listed. */
	{"n5", 6, XSD_NO_TARGET, 0},
	{"r5", 6, XSD_NO_TARGET, XSD_READ},
	{"w5", 6, XSD_NO_TARGET, XSD_WRITE},
	{"b5", 6, XSD_NO_TARGET, RW},
	/* Who is listed has what is listed, more or less than the others. */
	{"n5,r6", 6, XSD_NO_TARGET, XSD_READ},
	{"n5,w6", 6, XSD_NO_TARGET, XSD_WRITE},
	{"n5,b6", 6, XSD_NO_TARGET, RW},
	{"b5,n6", 6, XSD_NO_TARGET, 0},
	{"n5,r7,b6", 6, XSD_NO_TARGET, RW},
	/* The first entry found counts. */
	{"n5,r6,b6", 6, XSD_NO_TARGET, XSD_READ},
	{"n5,r7,b8", 6, XSD_NO_TARGET, 0},
	/* A device model has the rights of its target as well. */
	{"n5", 9, 5, ALL},
	{"n4,b5", 9, 5, RW},
	{"n4", 9, 5, 0},
	/* No target is nobody's number. */
	{"n5,b6", 9, XSD_NO_TARGET, 0},
};

START_TEST(everybody_may_do_what_is_listed)
{
	struct xsd_cred cred = {.domid = rows[_i].domid, .target = rows[_i].target};
	char text[32];
	struct xsd_perms perms;
	unsigned nr = 1;
	char *comma;

	strcpy(text, rows[_i].perms);
	for (comma = text; (comma = strchr(comma, ',')); nr++)
		*comma++ = '\0';
	ck_assert_int_eq(xsd_perms_parse(&perms, text, nr), 0);
	ck_assert_uint_eq(xsd_perms_of(&perms, &cred), rows[_i].may);
	xsd_perms_free(&perms);
}
END_TEST

static const struct {
	const char *text;
	int ret;
} texts[] = {
	{"n0", 0},	   {"b65535", 0},    {"r1", 0},		{"w7", 0},
	{"", -EINVAL},	   {"n", -EINVAL},   {"x1", -EINVAL},	{"1", -EINVAL},
	{"r-1", -EINVAL},  {"r 1", -EINVAL}, {"r1 ", -EINVAL},	{"r65536", -EINVAL},
	{"r0x1", -EINVAL}, {"rr1", -EINVAL}, {"r1r2", -EINVAL}, {"r99999999", -EINVAL},
};

START_TEST(a_permission_is_a_letter_and_a_domid)
{
	char shown[XSD_PERM_BYTES];
	struct xsd_perms perms;

	ck_assert_int_eq(xsd_perms_parse(&perms, texts[_i].text, 1), texts[_i].ret);
	if (texts[_i].ret)
		return;
	ck_assert_uint_eq(xsd_perm_format(shown, &perms.list[0]), strlen(texts[_i].text));
	ck_assert_str_eq(shown, texts[_i].text);
	xsd_perms_free(&perms);
}
END_TEST

START_TEST(a_domain_that_is_gone_leaves_nothing_to_the_next_of_its_number)
{
	struct xsd_cred next = {.domid = 6, .target = XSD_NO_TARGET};
	struct xsd_perms perms;

	ck_assert_int_eq(xsd_perms_parse(&perms, "n5\0b6\0r7", 3), 0);
	xsd_perms_forget(&perms, 6);
	ck_assert_uint_eq(xsd_perms_of(&perms, &next), 0);
	next.domid = 7;
	ck_assert_uint_eq(xsd_perms_of(&perms, &next), XSD_READ);
	xsd_perms_free(&perms);
}
END_TEST

TCase *perms_tcase(void)
{
	TCase *tcase = tcase_create("perms");

	tcase_add_loop_test(tcase, everybody_may_do_what_is_listed, 0, ARRAY_SIZE(rows));
	tcase_add_loop_test(tcase, a_permission_is_a_letter_and_a_domid, 0, ARRAY_SIZE(texts));
	tcase_add_test(tcase, a_domain_that_is_gone_leaves_nothing_to_the_next_of_its_number);
	return tcase;
}
