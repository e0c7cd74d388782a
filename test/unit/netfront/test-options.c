/* SPDX-License-Identifier: MIT */
/* test-options.c: the command line and the MAC address. */
#include "netfront/options.h"
#include "test/unit/netfront/tests.h"

#include <errno.h>
#include <string.h>

static struct options options;
static char error[256];

#define PARSE(...)                                         \
	parse((char *[]){(char *)"netfront", __VA_ARGS__}, \
	      (int)ARRAY_SIZE(((char *[]){(char *)"netfront", __VA_ARGS__})))

static int parse(char *argv[], int argc)
{
	error[0] = '\0';
	return options_parse(argc, argv, &options, error, sizeof(error));
}

#define W(word) ((char *)(word))

START_TEST(defaults)
{
	ck_assert_int_eq(PARSE(W("--sink")), 0);
	ck_assert_uint_eq(options.params.vif, 0);
	ck_assert(options.params.features.sg_tx && options.params.features.sg_rx);
	ck_assert(options.params.features.rx_notify && options.params.features.split_evtchn);
	ck_assert_uint_eq(options.load.size_bytes, 1500);
	ck_assert_uint_eq(options.load.nr_frames, 0);
	ck_assert_uint_eq(options.load.dst[5], 0xff);
	ck_assert_uint_eq(options.log_level, LOG_LEVEL_INFO);
}
END_TEST

START_TEST(value_in_the_same_or_the_next_word)
{
	ck_assert_int_eq(PARSE(W("--vif=3"), W("--tap"), W("eth0"), W("--up")), 0);
	ck_assert_uint_eq(options.params.vif, 3);
	ck_assert_str_eq(options.tap, "eth0");
	ck_assert(options.up);
}
END_TEST

START_TEST(features_can_be_turned_off)
{
	ck_assert_int_eq(
		PARSE(W("--echo"), W("--no-sg"), W("--no-rx-notify"), W("--single-evtchn")), 0);
	ck_assert(!options.params.features.sg_tx && !options.params.features.sg_rx);
	ck_assert(!options.params.features.rx_notify);
	ck_assert(!options.params.features.split_evtchn);
}
END_TEST

START_TEST(source_and_sink_go_together)
{
	ck_assert_int_eq(PARSE(W("--source"), W("--sink"), W("--size"), W("65535"), W("--count"),
			       W("10"), W("--rate"), W("1000"), W("--dst"), W("00:16:3e:aB:cd:Ef")),
			 0);
	ck_assert(options.load.source && options.load.sink);
	ck_assert_uint_eq(options.load.size_bytes, 65535);
	ck_assert_uint_eq(options.load.nr_frames, 10);
	ck_assert_mem_eq(options.load.dst, "\x00\x16\x3e\xab\xcd\xef", 6);
}
END_TEST

START_TEST(help_needs_nothing_else)
{
	ck_assert_int_eq(PARSE(W("--help")), 0);
	ck_assert(options.help);
	ck_assert_int_eq(PARSE(W("--version")), 0);
	ck_assert(options.version);
}
END_TEST

/* Each names the option in its one line. */
START_TEST(bad_command_lines_say_what_is_wrong)
{
	static char *const bad[][4] = {
		{W("--bogus"), W("--bogus"), NULL},
		{W("vif"), W("vif"), NULL},
		{W("--tap"), W("--tap"), NULL},
		{W("--vif"), W("--vif"), W("-1"), W("--sink")},
		{W("--vif"), W("--vif"), W("1x"), W("--sink")},
		{W("--vif"), W("--vif"), W(""), W("--sink")},
		{W("--vif"), W("--vif"), W("65536"), W("--sink")},
		{W("--vif"), W("--vif"), W("99999999999999999999999"), W("--sink")},
		{W("--size"), W("--source"), W("--size"), W("21")},
		{W("--size"), W("--source"), W("--size"), W("65536")},
		{W("--rate"), W("--source"), W("--rate"), W("0")},
		{W("--dst"), W("--source"), W("--dst"), W("00:16:3e")},
		{W("--log-level"), W("--sink"), W("--log-level"), W("loud")},
		{W("--up"), W("--sink"), W("--up=yes"), NULL},
		{W("--up"), W("--sink"), W("--up"), NULL},
		{W("--tap"), W("--up"), NULL},
		{W("--tap"), W("--tap=x"), W("--sink"), NULL},
		{W("--echo"), W("--echo"), W("--sink"), NULL},
		{W("--count"), W("--sink"), W("--count"), W("5")},
		{W("--stats-file"), W("--sink"), W("--stats-file="), NULL},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		char *argv[] = {W("netfront"), bad[i][1], bad[i][2], bad[i][3]};
		int argc = 1;

		while (argc < 4 && argv[argc])
			argc++;
		ck_assert_msg(parse(argv, argc) == -EINVAL, "row %zu was accepted", i);
		ck_assert_msg(strstr(error, bad[i][0]), "row %zu: %s", i, error);
		ck_assert_ptr_null(strchr(error, '\n'));
	}
}
END_TEST

START_TEST(no_sg_limits_the_size)
{
	ck_assert_int_eq(PARSE(W("--source"), W("--no-sg"), W("--size=4096")), 0);
	ck_assert_int_eq(PARSE(W("--source"), W("--no-sg"), W("--size=4097")), -EINVAL);
}
END_TEST

START_TEST(every_option_is_in_the_help)
{
	char text[8192] = "";
	FILE *out = fmemopen(text, sizeof(text), "w");

	options_help(out);
	fclose(out);
	ck_assert_ptr_nonnull(strstr(text, "--stats-interval SEC"));
	ck_assert_ptr_nonnull(strstr(text, "--version"));
}
END_TEST

START_TEST(mac_addresses)
{
	uint8_t mac[NETFRONT_MAC_BYTES];

	ck_assert_int_eq(netfront_parse_mac("00:16:3e:12:Ab:cF", mac), 0);
	ck_assert_mem_eq(mac, "\x00\x16\x3e\x12\xab\xcf", 6);
	ck_assert_int_eq(netfront_parse_mac("", mac), -EINVAL);
	ck_assert_int_eq(netfront_parse_mac("00:16:3e:12:ab", mac), -EINVAL);
	ck_assert_int_eq(netfront_parse_mac("00:16:3e:12:ab:c", mac), -EINVAL);
	ck_assert_int_eq(netfront_parse_mac("00:16:3e:12:ab:cd:", mac), -EINVAL);
	ck_assert_int_eq(netfront_parse_mac("00-16-3e-12-ab-cd", mac), -EINVAL);
	ck_assert_int_eq(netfront_parse_mac("0g:16:3e:12:ab:cd", mac), -EINVAL);
}
END_TEST

TCase *case_options(void)
{
	TCase *tc = tcase_create("options");

	tcase_add_test(tc, defaults);
	tcase_add_test(tc, value_in_the_same_or_the_next_word);
	tcase_add_test(tc, features_can_be_turned_off);
	tcase_add_test(tc, source_and_sink_go_together);
	tcase_add_test(tc, help_needs_nothing_else);
	tcase_add_test(tc, bad_command_lines_say_what_is_wrong);
	tcase_add_test(tc, no_sg_limits_the_size);
	tcase_add_test(tc, every_option_is_in_the_help);
	tcase_add_test(tc, mac_addresses);
	return tc;
}
