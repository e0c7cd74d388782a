/* SPDX-License-Identifier: MIT */
/*
 * netbk_tap.c: taps that outlive who made them. In a network namespace of its own; skipped where
 * there is none, or no /dev/net/tun.
 */
#include "test/unit/netback/netbk_suites.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "netback/link.h"
#include "netback/tap.h"

static const struct tap_owner owner = {.backend_domid = 3, .vif = "vif7.1"};
static const struct tap_owner other = {.backend_domid = 3, .vif = "vif8.0"};

static bool have_taps(void)
{
	static const char *const complaint = "skipped: no network namespace, or no /dev/net/tun\n";
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	uid_t uid = getuid();

	if (fd >= 0)
		close(fd);
	if (fd >= 0 && !unshare(CLONE_NEWUSER | CLONE_NEWNET)) {
		/* Root in there, so that programs we run are too. */
		fd = open("/proc/self/uid_map", O_WRONLY | O_CLOEXEC);
		ck_assert_int_gt(dprintf(fd, "0 %u 1\n", uid), 0);
		close(fd);
		return true;
	}
	fputs(complaint, stderr);
	return false;
}

static int create(const struct tap_owner *whose, bool multi_queue)
{
	int fd = tap_create(whose, multi_queue);

	ck_assert_int_ge(fd, 0);
	return fd;
}

static bool exists(const char *name)
{
	struct link_info link;

	return !link_get(name, &link);
}

static void ip(const char *arguments)
{
	char command[128];

	snprintf(command, sizeof(command), "PATH=$PATH:/sbin:/usr/sbin ip %s", arguments);
	ck_assert_int_eq(system(command), 0);
}

START_TEST(a_tap_is_marked_and_stays)
{
	struct link_info link;
	int fd;

	if (!have_taps())
		return;
	fd = create(&owner, false);
	ck_assert_int_eq(link_get("vif7.1", &link), 0);
	ck_assert_str_eq(link.alias, "netbackd/3/vif7.1");
	ck_assert(link.tap && !link.multi_queue);
	close(fd);
	ck_assert(exists("vif7.1"));
}
END_TEST

START_TEST(a_tap_that_was_left_is_adopted)
{
	struct link_info before, after;
	bool multi_queue;
	int fd;

	if (!have_taps())
		return;
	ck_assert_int_eq(tap_adopt(&owner, &multi_queue), -ENODEV);
	ck_assert(!exists("vif7.1")); /* looking for it has not made one */
	close(create(&owner, _i));
	close(create(&other, false));
	ck_assert_int_eq(link_get("vif7.1", &before), 0);
	fd = tap_adopt(&owner, &multi_queue);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(multi_queue, _i);
	ck_assert_int_eq(link_get("vif7.1", &after), 0);
	ck_assert_int_eq(before.ifindex, after.ifindex);
	tap_remove(fd);
	ck_assert(exists("vif7.1"));
	close(fd);
	ck_assert(!exists("vif7.1"));
	ck_assert(exists("vif8.0"));
}
END_TEST

START_TEST(a_renamed_tap_is_adopted_by_its_mark)
{
	char name[IFNAMSIZ];
	bool multi_queue;
	int fd, more;

	if (!have_taps())
		return;
	close(create(&other, false));
	close(create(&owner, true));
	ip("link set vif7.1 name web0");
	/* Somebody else's takes its name. */
	ip("tuntap add mode tap name vif7.1");
	fd = tap_adopt(&owner, &multi_queue);
	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(tap_name(fd, name), 0);
	ck_assert_str_eq(name, "web0");
	ip("link set web0 name web1");
	more = tap_join(fd);
	ck_assert_int_ge(more, 0);
	ck_assert_int_eq(tap_name(more, name), 0);
	ck_assert_str_eq(name, "web1");
	tap_remove(fd);
	close(more);
	close(fd);
	ck_assert(!exists("web1"));
	ck_assert(exists("vif7.1"));
}
END_TEST

START_TEST(a_tap_that_is_held_is_not_adopted)
{
	bool multi_queue;
	int fd;

	if (!have_taps())
		return;
	fd = create(&owner, false);
	ck_assert_int_eq(tap_adopt(&owner, &multi_queue), -EBUSY);
	close(fd);
}
END_TEST

START_TEST(making_a_tap_replaces_ours_and_nobody_else_s)
{
	struct link_info before, after;

	if (!have_taps())
		return;
	close(create(&owner, true));
	ck_assert_int_eq(link_get("vif7.1", &before), 0);
	close(create(&owner, false)); /* whatever it was like */
	ck_assert_int_eq(link_get("vif7.1", &after), 0);
	ck_assert_int_ne(before.ifindex, after.ifindex);
	ip("tuntap add mode tap name vif8.0");
	ck_assert_int_eq(tap_create(&other, false), -EBUSY);
	ip("link set vif8.0 alias netbackd/2/vif8.0"); /* another backend's */
	ck_assert_int_eq(tap_create(&other, false), -EBUSY);
	ck_assert(exists("vif8.0"));
}
END_TEST

static bool wants(const char *vif, void *arg)
{
	return !strcmp(vif, arg);
}

START_TEST(a_sweep_takes_what_is_ours_unwanted_and_not_held)
{
	static const struct tap_owner held = {3, "vif9.0"}, others = {4, "vif10.0"};
	char wanted[] = "vif8.0";
	int fd;

	if (!have_taps())
		return;
	close(create(&owner, true));
	ip("link set vif7.1 name web0");
	close(create(&other, false));
	close(create(&others, false));
	fd = create(&held, false);
	ip("link add vif11.0 type bridge");
	ip("link set vif11.0 alias netbackd/3/vif11.0");
	ck_assert_int_eq(tap_sweep(3, wants, wanted), 1);
	ck_assert(!exists("web0"));
	ck_assert(exists("vif8.0") && exists("vif9.0") && exists("vif10.0") && exists("vif11.0"));
	close(fd);
	ck_assert_int_eq(tap_sweep(3, wants, wanted), 1);
	ck_assert(!exists("vif9.0"));
}
END_TEST

static int count(const struct link_info *link, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int stop_at_once(const struct link_info *link, void *arg)
{
	++*(int *)arg;
	return -ECANCELED;
}

START_TEST(devices_are_listed_all_or_until_told_to_stop)
{
	struct link_info link;
	int nr = 0;

	if (!have_taps())
		return;
	for (unsigned i = 0; i < 100; i++) {
		struct tap_owner one = {.backend_domid = 3};

		snprintf(one.vif, sizeof(one.vif), "vif%u.0", i);
		close(create(&one, false));
	}
	ck_assert_int_eq(link_each(count, &nr), 0);
	ck_assert_int_eq(nr, 101); /* and lo */
	nr = 0;
	ck_assert_int_eq(link_each(stop_at_once, &nr), -ECANCELED);
	ck_assert_int_eq(nr, 1);
	ck_assert_int_eq(link_get("vif100.0", &link), -ENODEV);
	ck_assert_int_eq(link_set_alias(0x7fffffff, "x"), -ENODEV);
}
END_TEST

Suite *tap_suite(void)
{
	Suite *suite = suite_create("tap");
	TCase *tcase = tcase_create("tap");

	tcase_add_test(tcase, a_tap_is_marked_and_stays);
	tcase_add_loop_test(tcase, a_tap_that_was_left_is_adopted, 0, 2);
	tcase_add_test(tcase, a_renamed_tap_is_adopted_by_its_mark);
	tcase_add_test(tcase, a_tap_that_is_held_is_not_adopted);
	tcase_add_test(tcase, making_a_tap_replaces_ours_and_nobody_else_s);
	tcase_add_test(tcase, a_sweep_takes_what_is_ours_unwanted_and_not_held);
	tcase_add_test(tcase, devices_are_listed_all_or_until_told_to_stop);
	suite_add_tcase(suite, tcase);
	return suite;
}
