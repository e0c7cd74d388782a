/* SPDX-License-Identifier: MIT */
/*
 * test_vifspec.c: the vif specifications xl takes, and those it refuses.
 */
#include "grant/vifspec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <check.h>

#include "common/compiler.h"

static struct vifspec spec;
static char error[256];

static void setup(void)
{
	vifspec_init(&spec);
	*error = '\0';
}

static int parse(const char *text)
{
	return vifspec_parse(&spec, text, error, sizeof(error));
}

START_TEST(nothing_said_gives_the_defaults_of_xl)
{
	ck_assert_int_eq(parse(""), 0);
	ck_assert(!spec.has_mac);
	ck_assert_int_eq(spec.handle, -1);
	ck_assert_uint_eq(spec.mtu, 1500);
	ck_assert_str_eq(spec.bridge, "xenbr0");
	ck_assert_str_eq(spec.backend, "0");
	ck_assert_str_eq(spec.script, "");
	ck_assert_uint_eq(spec.rate_usec, 0);
	ck_assert(spec.trusted);
}
END_TEST

START_TEST(every_key_is_taken)
{
	const uint8_t mac[] = {0x00, 0x16, 0x3e, 0x0a, 0xBC, 0xff};

	ck_assert_int_eq(parse("mac=00:16:3e:0a:BC:ff, bridge=br0 ,script=vif-route,vifname=web0,"
			       "ip=10.0.0.1 10.0.0.2,gatewaydev=eth0,vlan=5,backend=net-vm,"
			       "mtu=9000,rate=1MB/s@20ms,devid=7,trusted=0,type=vif,model=e1000"),
			 0);
	ck_assert(spec.has_mac);
	ck_assert_mem_eq(spec.mac, mac, sizeof(mac));
	ck_assert_str_eq(spec.bridge, "br0");
	ck_assert_str_eq(spec.script, "vif-route");
	ck_assert_str_eq(spec.vifname, "web0");
	ck_assert_str_eq(spec.ip, "10.0.0.1 10.0.0.2");
	ck_assert_str_eq(spec.gatewaydev, "eth0");
	ck_assert_str_eq(spec.vlan, "5");
	ck_assert_str_eq(spec.backend, "net-vm");
	ck_assert_uint_eq(spec.mtu, 9000);
	ck_assert_uint_eq(spec.rate_bytes, 20000);
	ck_assert_uint_eq(spec.rate_usec, 20000);
	ck_assert_int_eq(spec.handle, 7);
	ck_assert(!spec.trusted);
}
END_TEST

START_TEST(specifications_add_up)
{
	ck_assert_int_eq(parse("bridge=br0"), 0);
	ck_assert_int_eq(parse("mtu=1400,"), 0);
	ck_assert_str_eq(spec.bridge, "br0");
	ck_assert_uint_eq(spec.mtu, 1400);
}
END_TEST

static const struct {
	const char *text;
	uint32_t bytes, usec;
} rates[] = {
	{"rate=10Mb/s", 62500, 50000}, /* the default interval is 50 ms */
	{"rate=250KB/s", 12500, 50000},
	{"rate=1MB/s@20ms", 20000, 20000},
	{"rate=8000b/s@1s", 1000, 1000000},
	{"rate=1GB/s@10us", 10000, 10},
	{"rate=4294967295B/s@1s", UINT32_MAX, 1000000},
};

START_TEST(rates_become_bytes_an_interval)
{
	ck_assert_int_eq(parse(rates[_i].text), 0);
	ck_assert_uint_eq(spec.rate_bytes, rates[_i].bytes);
	ck_assert_uint_eq(spec.rate_usec, rates[_i].usec);
}
END_TEST

static const char *const bad[] = {
	"bridge",
	"=br0",
	"brigde=br0",
	"bridge=",
	"mac=",
	"mac=00:16:3e:00:00",
	"mac=00:16:3e:00:00:00:00",
	"mac=00:16:3e:00:00:0g",
	"mac=00-16-3e-00-00-00",
	"mac=0:16:3e:00:00:000",
	"mac=01:16:3e:00:00:00",
	"mac=ff:ff:ff:ff:ff:ff",
	"mtu=67",
	"mtu=65522",
	"mtu=1500x",
	"mtu=-1",
	"mtu=0x5dc",
	"mtu=99999999999999999999",
	"devid=65536",
	"devid=-1",
	"devid= 1",
	"vifname=0123456789abcdef",
	"vifname=a/b",
	"vifname=..",
	"gatewaydev=a b",
	"bridge=br\n0",
	"script=\x7f",
	"rate=0b/s",
	"rate=10",
	"rate=10Mb",
	"rate=10Tb/s",
	"rate=Mb/s",
	"rate=10Mb/s@",
	"rate=10Mb/s@0ms",
	"rate=10Mb/s@20",
	"rate=10Mb/s@20msx",
	"rate=1b/s@1us",
	"rate=4294967295GB/s@4294s",
	"rate=4294967296B/s",
	"trusted=maybe",
	"type=ioemu",
	"model=",
};

START_TEST(wrong_settings_are_refused_with_one_line)
{
	ck_assert_int_eq(parse(bad[_i]), -EINVAL);
	ck_assert_str_ne(error, "");
	ck_assert_ptr_null(strchr(error, '\n'));
}
END_TEST

START_TEST(an_endless_setting_is_refused)
{
	char text[4096];

	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	memcpy(text, "bridge=", 7);
	ck_assert_int_eq(parse(text), -EINVAL);
	text[7 + VIFSPEC_VALUE_BYTES] = '\0';
	ck_assert_int_eq(parse(text), -EINVAL);
	text[7 + VIFSPEC_VALUE_BYTES - 1] = '\0';
	ck_assert_int_eq(parse(text), 0);
}
END_TEST

START_TEST(random_macs_have_xens_oui_and_differ)
{
	struct vifspec other;

	vifspec_init(&other);
	ck_assert_int_eq(vifspec_random_mac(&spec), 0);
	ck_assert_int_eq(vifspec_random_mac(&other), 0);
	ck_assert_mem_eq(spec.mac, "\x00\x16\x3e", 3);
	ck_assert_uint_eq(spec.mac[3] & 0x80, 0);
	ck_assert(memcmp(spec.mac, other.mac, sizeof(spec.mac)));
}
END_TEST

int main(void)
{
	Suite *suite = suite_create("toolstack");
	TCase *tc = tcase_create("vifspec");
	SRunner *runner;
	int failed;

	tcase_add_checked_fixture(tc, setup, NULL);
	tcase_add_test(tc, nothing_said_gives_the_defaults_of_xl);
	tcase_add_test(tc, every_key_is_taken);
	tcase_add_test(tc, specifications_add_up);
	tcase_add_loop_test(tc, rates_become_bytes_an_interval, 0, (int)ARRAY_SIZE(rates));
	tcase_add_loop_test(tc, wrong_settings_are_refused_with_one_line, 0, (int)ARRAY_SIZE(bad));
	tcase_add_test(tc, an_endless_setting_is_refused);
	tcase_add_test(tc, random_macs_have_xens_oui_and_differ);
	suite_add_tcase(suite, tc);
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
