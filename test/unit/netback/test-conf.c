/* SPDX-License-Identifier: MIT */
/* test-conf.c: netbackd's options, good and bad. */
#include "test/unit/netback/suites.h"

#include <errno.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/conf.h"

#define ARGS_MAX 4

static int parse(char *const args[], struct conf *conf, enum conf_verdict *verdict, char *error,
		 size_t size)
{
	char *argv[ARGS_MAX + 2] = {(char *)(uintptr_t) "netbackd"};
	int argc = 1;

	while (args[argc - 1]) {
		argv[argc] = args[argc - 1];
		argc++;
	}
	return conf_parse(conf, argc, argv, verdict, error, size);
}

#define LONG_PATH                                                                                       \
	"/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa" \
	"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

/* Each is refused with a line that contains this. */
static const struct {
	const char *args[ARGS_MAX];
	const char *error;
} bad[] = {
	{{"--groups", "0"}, "--groups '0': expected a number from 1 to 1024"},
	{{"--groups", "1025"}, "--groups '1025': expected a number from 1 to 1024"},
	{{"--groups", "-1"}, "expected a number"},
	{{"--groups", "2x"}, "expected a number"},
	{{"--groups", ""}, "expected a number"},
	{{"--groups", "0x2"}, "expected a number"},
	{{"--groups", "99999999999999999999"}, "expected a number"},
	{{"--groups"}, "--groups needs an argument: N"},
	{{"--tx-shift", "4"}, "--tx-shift '4': expected a number from 5 to 16"},
	{{"--tx-shift", "17"}, "expected a number from 5 to 16"},
	{{"--tx-shift"}, "--tx-shift needs an argument: N"},
	{{"--worker", "kthread"}, "--worker 'kthread': expected thread or poll"},
	{{"--worker", ""}, "expected thread or poll"},
	{{"--worker"}, "--worker needs an argument: KIND"},
	{{"--port", "eth0"}, "--port 'eth0': expected tap, sink, source or echo"},
	{{"--port"}, "--port needs an argument: KIND"},
	{{"--log-level", "loud"}, "--log-level 'loud': expected error, warn, info or debug"},
	{{"--log-level"}, "--log-level needs an argument"},
	{{"--log-file", ""}, "--log-file '': expected a path"},
	{{"--pid-file", ""}, "--pid-file '': expected a path"},
	{{"--pid-file"}, "--pid-file needs an argument: PATH"},
	{{"--ctl-socket", ""}, "--ctl-socket '': expected a path"},
	{{"--ctl-socket", LONG_PATH}, "expected a path of at most 107 characters"},
	{{"--ctl-socket"}, "--ctl-socket needs an argument: PATH"},
	{{"--foreground=yes"}, "--foreground takes no argument"},
	{{"--no-such-thing"}, "unknown option '--no-such-thing'"},
	{{"-x"}, "unknown option '-x'"},
	{{"--p", "tap"}, "unknown option '--p'"}, /* ambiguous: port, pid-file */
	{{"vif1.0"}, "unexpected argument 'vif1.0'"},
	{{"--foreground", "extra"}, "unexpected argument 'extra'"},
	{{"--", "extra"}, "unexpected argument 'extra'"},
};

START_TEST(a_bad_option_is_one_line)
{
	enum conf_verdict verdict;
	struct conf conf;
	char error[256] = "";
	int ret = parse((char *const *)(uintptr_t)bad[_i].args, &conf, &verdict, error,
			sizeof(error));

	ck_assert_int_eq(ret, -EINVAL);
	ck_assert_msg(strstr(error, bad[_i].error), "'%s' lacks '%s'", error, bad[_i].error);
	ck_assert_ptr_null(strchr(error, '\n'));
}
END_TEST

START_TEST(defaults)
{
	char *const none[] = {NULL};
	enum conf_verdict verdict;
	struct conf conf;
	char error[256];

	ck_assert_int_eq(parse(none, &conf, &verdict, error, sizeof(error)), 0);
	ck_assert_int_eq(verdict, CONF_RUN);
	ck_assert_uint_eq(conf.groups.nr_groups, 0);
	ck_assert_uint_eq(conf.groups.tx_shift, NETBK_TX_SHIFT_DEFAULT);
	ck_assert_int_eq(conf.groups.kind, WORKER_THREAD);
	ck_assert_int_eq(conf.port, PORT_TAP);
	ck_assert(!conf.foreground);
	ck_assert_int_eq(conf.log_level, LOG_LEVEL_INFO);
	ck_assert_str_eq(conf.ctl_socket, CONF_CTL_SOCKET_DEFAULT);
	ck_assert_ptr_null(conf.pid_file);
	ck_assert_ptr_null(conf.log_file);
}
END_TEST

START_TEST(every_option_arrives)
{
	char *argv[] = {(char *)(uintptr_t) "netbackd",
			(char *)(uintptr_t) "--groups",
			(char *)(uintptr_t) "1024",
			(char *)(uintptr_t) "--worker=poll",
			(char *)(uintptr_t) "--tx-shift=16",
			(char *)(uintptr_t) "--port",
			(char *)(uintptr_t) "echo",
			(char *)(uintptr_t) "--foreground",
			(char *)(uintptr_t) "--pid-file=/p",
			(char *)(uintptr_t) "--log-file=/l",
			(char *)(uintptr_t) "--log-level=debug",
			(char *)(uintptr_t) "--ctl-socket=/c",
			NULL};
	enum conf_verdict verdict;
	struct conf conf;
	char error[256];

	ck_assert_int_eq(
		conf_parse(&conf, ARRAY_SIZE(argv) - 1, argv, &verdict, error, sizeof(error)), 0);
	ck_assert_uint_eq(conf.groups.nr_groups, 1024);
	ck_assert_int_eq(conf.groups.kind, WORKER_POLL);
	ck_assert_uint_eq(conf.groups.tx_shift, 16);
	ck_assert_int_eq(conf.port, PORT_ECHO);
	ck_assert(conf.foreground);
	ck_assert_str_eq(conf.pid_file, "/p");
	ck_assert_str_eq(conf.log_file, "/l");
	ck_assert_int_eq(conf.log_level, LOG_LEVEL_DEBUG);
	ck_assert_str_eq(conf.ctl_socket, "/c");
}
END_TEST

START_TEST(help_and_version_come_before_later_mistakes)
{
	char *const help[] = {(char *)(uintptr_t) "--help", (char *)(uintptr_t) "--bad", NULL};
	char *const version[] = {(char *)(uintptr_t) "--version", NULL};
	enum conf_verdict verdict;
	struct conf conf;
	char error[256];

	ck_assert_int_eq(parse(help, &conf, &verdict, error, sizeof(error)), 0);
	ck_assert_int_eq(verdict, CONF_HELP);
	ck_assert_int_eq(parse(version, &conf, &verdict, error, sizeof(error)), 0);
	ck_assert_int_eq(verdict, CONF_VERSION);
}
END_TEST

TCase *conf_tcase(void)
{
	TCase *tcase = tcase_create("conf");

	tcase_add_loop_test(tcase, a_bad_option_is_one_line, 0, ARRAY_SIZE(bad));
	tcase_add_test(tcase, defaults);
	tcase_add_test(tcase, every_option_arrives);
	tcase_add_test(tcase, help_and_version_come_before_later_mistakes);
	return tcase;
}
