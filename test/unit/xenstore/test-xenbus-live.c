/* SPDX-License-Identifier: MIT */
/* test-xenbus-live.c: xenbus.c against the embedded xenstored. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "test/unit/xenstore/server.h"
#include "xenstore/xenbus.h"

static struct xs_handle *xs;

static void setup(void)
{
	server_setup();
	xs = server_open(0);
}

static void teardown(void)
{
	xs_close(xs);
	server_teardown();
}

START_TEST(what_is_printed_is_read)
{
	char value[16];

	ck_assert_int_eq(xenbus_printf(xs, 0, "/d", "k", "%s-%u", "abc", 42U), 0);
	ck_assert_int_eq(xenbus_read(xs, 0, "/d", "k", value, sizeof(value)), 6);
	ck_assert_str_eq(value, "abc-42");
	ck_assert_int_eq(xenbus_read(xs, 0, "/d/k", NULL, value, sizeof(value)), 6);
	ck_assert(xenbus_exists(xs, 0, "/d", "k"));
	ck_assert(xenbus_exists(xs, 0, "/d/k", NULL));
	ck_assert(!xenbus_exists(xs, 0, "/d", "absent"));
}
END_TEST

START_TEST(reads_say_why_they_fail)
{
	char value[4];

	ck_assert_int_eq(xenbus_read(xs, 0, "/d", "absent", value, sizeof(value)), -ENOENT);
	ck_assert_int_eq(xenbus_read(xs, 0, "/d.", NULL, value, sizeof(value)), -EINVAL);
	ck_assert_int_eq(xenbus_printf(xs, 0, "/d", "k", "123"), 0);
	ck_assert_int_eq(xenbus_read(xs, 0, "/d", "k", value, sizeof(value)), 3);
	ck_assert_int_eq(xenbus_printf(xs, 0, "/d", "k", "1234"), 0);
	ck_assert_int_eq(xenbus_read(xs, 0, "/d", "k", value, sizeof(value)), -E2BIG);
	ck_assert(xs_write(xs, 0, "/d/k", "1\0", 2));
	ck_assert_int_eq(xenbus_read(xs, 0, "/d", "k", value, sizeof(value)), -EINVAL);
}
END_TEST

START_TEST(numbers_flags_and_states_are_strict)
{
	char digits[400];
	uint32_t n = 7;

	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/d", "n", 1, 8, &n), -ENOENT);
	xenbus_printf(xs, 0, "/d", "n", "4");
	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/d", "n", 1, 8, &n), 0);
	ck_assert_uint_eq(n, 4);
	ck_assert_int_eq(xenbus_read_state(xs, 0, "/d"), XenbusStateUnknown);
	xenbus_printf(xs, 0, "/d", "n", "4 ");
	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/d", "n", 1, 8, &n), -EINVAL);
	ck_assert(!xenbus_read_bool(xs, 0, "/d", "n"));
	memset(digits, '1', sizeof(digits));
	ck_assert(xs_write(xs, 0, "/d/n", digits, sizeof(digits)));
	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/d", "n", 1, 8, &n), -EINVAL);

	ck_assert(!xenbus_read_bool(xs, 0, "/d", "flag"));
	xenbus_printf(xs, 0, "/d", "flag", "0");
	ck_assert(!xenbus_read_bool(xs, 0, "/d", "flag"));
	xenbus_printf(xs, 0, "/d", "flag", "1");
	ck_assert(xenbus_read_bool(xs, 0, "/d", "flag"));
	xenbus_printf(xs, 0, "/d", "flag", "true");
	ck_assert(!xenbus_read_bool(xs, 0, "/d", "flag"));

	xenbus_printf(xs, 0, "/d", "state", "4");
	ck_assert_int_eq(xenbus_read_state(xs, 0, "/d"), XenbusStateConnected);
	xenbus_printf(xs, 0, "/d", "state", "9");
	ck_assert_int_eq(xenbus_read_state(xs, 0, "/d"), XenbusStateUnknown);
}
END_TEST

/* Conflicts the first *@arg times it is tried. */
static int conflicting(struct xs_handle *h, xs_transaction_t t, void *arg)
{
	unsigned *left = arg;
	char value[16];
	int ret;

	ret = xenbus_read(h, t, "/n", NULL, value, sizeof(value));
	if (ret < 0)
		return ret;
	if (*left) {
		--*left;
		xenbus_printf(h, 0, "/n", NULL, "%s", value);
	}
	return xenbus_printf(h, t, "/n", NULL, "%d", atoi(value) + 1);
}

START_TEST(a_transaction_is_tried_until_it_does_not_conflict)
{
	unsigned left = 5;
	uint32_t n = 0;

	xenbus_printf(xs, 0, "/n", NULL, "0");
	ck_assert_int_eq(xenbus_transaction(xs, conflicting, &left), 0);
	ck_assert_uint_eq(left, 0);
	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/n", NULL, 0, 9, &n), 0);
	ck_assert_uint_eq(n, 1);
	left = 1000;
	ck_assert_int_eq(xenbus_transaction(xs, conflicting, &left), -EAGAIN);
	ck_assert_uint_eq(left, 1000 - XENBUS_TRANSACTION_TRIES);
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
}
END_TEST

static int failing(struct xs_handle *h, xs_transaction_t t, void *arg)
{
	++*(unsigned *)arg;
	xenbus_printf(h, t, "/made", NULL, "x");
	return -ENODEV;
}

START_TEST(a_transaction_whose_body_fails_has_not_happened)
{
	unsigned calls = 0;

	ck_assert_int_eq(xenbus_transaction(xs, failing, &calls), -ENODEV);
	ck_assert_uint_eq(calls, 1);
	ck_assert(!xenbus_exists(xs, 0, "/made", NULL));
	ck_assert_uint_eq(server_stats().nr_transactions, 0);
}
END_TEST

START_TEST(a_state_is_never_written_where_there_is_none)
{
	ck_assert_int_eq(xenbus_switch_state(xs, "/gone", XenbusStateClosed), -ENOENT);
	ck_assert(!xenbus_exists(xs, 0, "/gone", NULL));
	xenbus_printf(xs, 0, "/dev", "state", "1");
	ck_assert_int_eq(xenbus_switch_state(xs, "/dev", XenbusStateInitWait), 0);
	ck_assert_int_eq(xenbus_read_state(xs, 0, "/dev"), XenbusStateInitWait);
	/* What is no state can be replaced by one. */
	xenbus_printf(xs, 0, "/dev", "state", "rubbish");
	ck_assert_int_eq(xenbus_switch_state(xs, "/dev", XenbusStateClosing), 0);
	ck_assert_int_eq(xenbus_read_state(xs, 0, "/dev"), XenbusStateClosing);
}
END_TEST

START_TEST(a_state_that_is_already_so_is_not_written)
{
	char **event;

	xenbus_printf(xs, 0, "/dev", "state", "4");
	ck_assert(xs_watch(xs, "/dev", "t"));
	free(xs_read_watch(xs, &(unsigned){0}));
	ck_assert_int_eq(xenbus_switch_state(xs, "/dev", XenbusStateConnected), 0);
	ck_assert_int_eq(xenbus_switch_state(xs, "/dev", XenbusStateClosing), 0);
	event = xs_check_watch(xs);
	ck_assert_ptr_nonnull(event);
	free(event);
	ck_assert_ptr_null(xs_check_watch(xs));
}
END_TEST

START_TEST(an_error_is_where_tools_look)
{
	char value[XENBUS_VALUE_BYTES], text[600];

	ck_assert_int_eq(xenbus_dev_error(xs, 0, "backend/vif/3/0", EINVAL, "queue %u", 2U), 0);
	ck_assert_int_gt(xenbus_read(xs, 0, "/local/domain/0/error/backend/vif/3/0", "error", value,
				     sizeof(value)),
			 0);
	ck_assert_str_eq(value, "22 queue 2");
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	ck_assert_int_eq(xenbus_dev_error(xs, 0, "backend/vif/3/0", EIO, "%s", text), 0);
	ck_assert_int_eq(xenbus_read(xs, 0, "/local/domain/0/error/backend/vif/3/0", "error", value,
				     sizeof(value)),
			 XENBUS_VALUE_BYTES - 1);
}
END_TEST

START_TEST(our_domid_is_in_our_own_directory)
{
	struct xs_handle *guest = server_open(5);

	ck_assert_int_eq(xenbus_domid(xs), -ENOENT);
	xenbus_printf(xs, 0, "/local/domain/0", "domid", "0");
	ck_assert_int_eq(xenbus_domid(xs), 0);
	xenbus_printf(xs, 0, "/local/domain/5", "domid", "5");
	ck_assert_int_eq(xenbus_domid(guest), -EACCES);
	ck_assert(xs_set_permissions(xs, 0, "/local/domain/5/domid",
				     &(struct xs_permissions){.perms = XS_PERM_READ}, 1));
	ck_assert_int_eq(xenbus_domid(guest), 5);
	xenbus_printf(xs, 0, "/local/domain/5", "domid", "40000");
	ck_assert_int_eq(xenbus_domid(guest), -ERANGE);
	xs_close(guest);
}
END_TEST

/* Each client adds to one number in transactions; none may be lost. */
enum { CLIENTS = 4, ADDITIONS = 50 };

static int add_one(struct xs_handle *h, xs_transaction_t t, void *arg)
{
	uint32_t n;
	int ret = xenbus_read_u32(h, t, "/sum", NULL, 0, UINT32_MAX, &n);

	return ret ? ret : xenbus_printf(h, t, "/sum", NULL, "%u", n + 1);
}

static void *adder(void *arg)
{
	unsigned i;

	for (i = 0; i < ADDITIONS; i++)
		if (xenbus_transaction(arg, add_one, NULL))
			return arg;
	return NULL;
}

START_TEST(clients_at_once_lose_no_update)
{
	struct xs_handle *handles[CLIENTS];
	pthread_t threads[CLIENTS];
	uint32_t sum = 0;
	void *failed;
	unsigned i;

	xenbus_printf(xs, 0, "/sum", NULL, "0");
	for (i = 0; i < CLIENTS; i++)
		handles[i] = server_open(0);
	for (i = 0; i < CLIENTS; i++)
		ck_assert_int_eq(pthread_create(&threads[i], NULL, adder, handles[i]), 0);
	for (i = 0; i < CLIENTS; i++) {
		pthread_join(threads[i], &failed);
		ck_assert_ptr_null(failed);
		xs_close(handles[i]);
	}
	ck_assert_int_eq(xenbus_read_u32(xs, 0, "/sum", NULL, 0, UINT32_MAX, &sum), 0);
	ck_assert_uint_eq(sum, CLIENTS * ADDITIONS);
}
END_TEST

TCase *xenbus_live_tcase(void)
{
	TCase *tcase = tcase_create("xenbus-live");

	tcase_set_timeout(tcase, 60);
	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, what_is_printed_is_read);
	tcase_add_test(tcase, reads_say_why_they_fail);
	tcase_add_test(tcase, numbers_flags_and_states_are_strict);
	tcase_add_test(tcase, a_transaction_is_tried_until_it_does_not_conflict);
	tcase_add_test(tcase, a_transaction_whose_body_fails_has_not_happened);
	tcase_add_test(tcase, a_state_is_never_written_where_there_is_none);
	tcase_add_test(tcase, a_state_that_is_already_so_is_not_written);
	tcase_add_test(tcase, an_error_is_where_tools_look);
	tcase_add_test(tcase, our_domid_is_in_our_own_directory);
	tcase_add_test(tcase, clients_at_once_lose_no_update);
	return tcase;
}
