/* SPDX-License-Identifier: MIT */
/* test-wire.c: framing, arguments, error names and numbers of the wire protocol. */
#include <errno.h>

#include "test/unit/xenstore/suites.h"

#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "xenstore/xsd_wire.h"

static size_t frame(char *bytes, uint32_t type, const void *payload, uint32_t len)
{
	struct xsd_sockmsg head = {.type = type, .req_id = 7, .tx_id = 9, .len = len};

	memcpy(bytes, &head, sizeof(head));
	memcpy(bytes + sizeof(head), payload, len);
	return sizeof(head) + len;
}

START_TEST(a_frame_split_anywhere_waits_for_the_rest)
{
	char bytes[64];
	struct xsd_request req;
	size_t len = frame(bytes, XS_WRITE, "/a\0value", 8);
	size_t i;

	for (i = 0; i < len; i++)
		ck_assert_int_eq(xsd_wire_parse(bytes, i, &req), 0);
	ck_assert_int_eq(xsd_wire_parse(bytes, len, &req), (ssize_t)len);
	ck_assert_uint_eq(req.head.type, XS_WRITE);
	ck_assert_uint_eq(req.head.req_id, 7);
	ck_assert_uint_eq(req.head.tx_id, 9);
}
END_TEST

START_TEST(many_frames_at_once_come_one_by_one)
{
	char bytes[256];
	struct xsd_request req;
	size_t first = frame(bytes, XS_READ, "/a", 3);
	size_t all = first + frame(bytes + first, XS_RM, "/bb", 4);

	ck_assert_int_eq(xsd_wire_parse(bytes, all, &req), (ssize_t)first);
	ck_assert_str_eq(req.arg[0], "/a");
	ck_assert_int_eq(xsd_wire_parse(bytes + first, all - first, &req), (ssize_t)(all - first));
	ck_assert_uint_eq(req.head.type, XS_RM);
	ck_assert_str_eq(req.arg[0], "/bb");
}
END_TEST

START_TEST(the_longest_payload_is_taken_and_one_more_is_not)
{
	static char bytes[XSD_FRAME_BYTES + 1];
	static char payload[XENSTORE_PAYLOAD_MAX + 1];
	struct xsd_request req;
	size_t len = frame(bytes, XS_WRITE, payload, XENSTORE_PAYLOAD_MAX);

	ck_assert_int_eq(xsd_wire_parse(bytes, len, &req), (ssize_t)len);
	len = frame(bytes, XS_WRITE, payload, XENSTORE_PAYLOAD_MAX + 1);
	ck_assert_int_eq(xsd_wire_parse(bytes, sizeof(struct xsd_sockmsg), &req), -EPROTO);
	((struct xsd_sockmsg *)(void *)bytes)->len = UINT32_MAX;
	ck_assert_int_eq(xsd_wire_parse(bytes, sizeof(bytes), &req), -EPROTO);
}
END_TEST

static const struct {
	const char *payload;
	uint32_t len;
	unsigned nr_args;
	size_t args_len;
} splits[] = {
	{"", 0, 0, 0},
	{"a", 1, 0, 0},
	{"a", 2, 1, 2},
	{"", 1, 1, 1},
	{"a\0b", 3, 1, 2},
	{"a\0b", 4, 2, 4},
	{"a\0b\0c\0d\0e", 10, 5, 10},
	{"\0\0\0\0\0\0\0", 8, 8, 8},
	{"a\0\0b", 4, 2, 3},
};

START_TEST(arguments_are_the_strings_that_end)
{
	char bytes[64];
	struct xsd_request req;

	frame(bytes, XS_CONTROL, splits[_i].payload, splits[_i].len);
	ck_assert_int_gt(xsd_wire_parse(bytes, sizeof(bytes), &req), 0);
	ck_assert_uint_eq(req.nr_args, splits[_i].nr_args);
	ck_assert_uint_eq(req.args_len, splits[_i].args_len);
}
END_TEST

START_TEST(garbage_is_a_frame_or_an_error_and_never_longer_than_it_is)
{
	char bytes[2 * XSD_FRAME_BYTES];
	struct xsd_request req;
	unsigned round;
	size_t i, len;
	ssize_t ret;

	srandom(1);
	for (round = 0; round < 20000; round++) {
		len = (size_t)random() % sizeof(bytes);
		for (i = 0; i < MIN(len, 64U); i++)
			bytes[i] = (char)random();
		/* Half the time a length that can be right. */
		if (len >= 16 && round % 2)
			bytes[14] = bytes[15] = 0;
		ret = xsd_wire_parse(bytes, len, &req);
		ck_assert(ret == -EPROTO || (ret >= 0 && (size_t)ret <= len));
		if (ret > 0)
			ck_assert_uint_le(req.args_len, req.head.len);
	}
}
END_TEST

START_TEST(every_error_of_the_protocol_has_its_name)
{
	unsigned i;

	for (i = 0; i < ARRAY_SIZE(xsd_errors); i++)
		ck_assert_str_eq(xsd_wire_error(-xsd_errors[i].errnum), xsd_errors[i].errstring);
	ck_assert_str_eq(xsd_wire_error(-E2BIG), "E2BIG");
	ck_assert_str_eq(xsd_wire_error(-ENAMETOOLONG), "EINVAL");
}
END_TEST

START_TEST(numbers_are_decimal_and_bounded)
{
	unsigned n;

	ck_assert_int_eq(xsd_wire_number("0", 10, &n), 0);
	ck_assert_uint_eq(n, 0);
	ck_assert_int_eq(xsd_wire_number("10", 10, &n), 0);
	ck_assert_uint_eq(n, 10);
	ck_assert_int_eq(xsd_wire_number("11", 10, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number("99999999999999999999999", 10, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number("4294967296", UINT32_MAX, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number("", 10, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number("-1", 10, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number("1x", 10, &n), -EINVAL);
	ck_assert_int_eq(xsd_wire_number(" 1", 10, &n), -EINVAL);
}
END_TEST

TCase *wire_tcase(void)
{
	TCase *tcase = tcase_create("wire");

	tcase_add_test(tcase, a_frame_split_anywhere_waits_for_the_rest);
	tcase_add_test(tcase, many_frames_at_once_come_one_by_one);
	tcase_add_test(tcase, the_longest_payload_is_taken_and_one_more_is_not);
	tcase_add_loop_test(tcase, arguments_are_the_strings_that_end, 0, ARRAY_SIZE(splits));
	tcase_add_test(tcase, garbage_is_a_frame_or_an_error_and_never_longer_than_it_is);
	tcase_add_test(tcase, every_error_of_the_protocol_has_its_name);
	tcase_add_test(tcase, numbers_are_decimal_and_bounded);
	return tcase;
}
