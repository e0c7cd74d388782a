/* SPDX-License-Identifier: MIT */
/* test-watch.c: which change gives which event to whom, as a checklist. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "common/compiler.h"
#include "test/unit/xenstore/store.h"
#include "xenstore/xsd_path.h"

static struct recorder dom0, five;

static void setup(void)
{
	store_setup();
	put(as(0), "/d/a/x", "");
	put(as(0), "/d/b", "");
	recorder_add(&dom0, 0);
	recorder_add(&five, 5);
}

static void teardown(void)
{
	recorder_remove(&dom0);
	recorder_remove(&five);
	ck_assert_uint_eq(registry.nr_watches, 0);
	store_teardown();
}

static int rm(struct xsd_op op, const char *path)
{
	return xsd_store_rm(&op, path);
}

static int mkdir_node(struct xsd_op op, const char *path)
{
	return xsd_store_mkdir(&op, path);
}

static int add(struct recorder *rec, const char *path, const char *token)
{
	struct xsd_watch *watch;
	int ret = xsd_watch_add(&registry, &rec->watcher, path, token, 2048, &watch);

	if (!ret)
		xsd_watch_first(&rec->watcher, watch);
	return ret;
}

/* ---- registration ---- */

START_TEST(a_watch_fires_once_at_registration)
{
	ck_assert_int_eq(add(&dom0, "/d/a", "t"), 0);
	expect_log(&dom0, "/d/a t\n");
	ck_assert_int_eq(add(&dom0, "/not/there", "t"), 0);
	expect_log(&dom0, "/not/there t\n");
	ck_assert_int_eq(add(&five, "rel/path", "t"), 0);
	expect_log(&five, "rel/path t\n");
	/* Whether it may read the node or not. */
	ck_assert_int_eq(add(&five, "/d/a", "t"), 0);
	expect_log(&five, "/d/a t\n");
	ck_assert_int_eq(add(&dom0, "@introduceDomain", "t"), 0);
	expect_log(&dom0, "@introduceDomain t\n");
}
END_TEST

START_TEST(the_same_watch_twice_is_refused)
{
	ck_assert_int_eq(add(&dom0, "/d/a", "t"), 0);
	ck_assert_int_eq(add(&dom0, "/d/a", "t"), -EEXIST);
	ck_assert_int_eq(add(&dom0, "/d/a", "u"), 0);
	ck_assert_int_eq(add(&dom0, "/d/b", "t"), 0);
	/* A relative name is the same watch as its absolute one. */
	ck_assert_int_eq(add(&five, "x", "t"), 0);
	ck_assert_int_eq(add(&five, "/local/domain/5/x", "t"), -EEXIST);
	/* Another client is another matter. */
	ck_assert_int_eq(add(&five, "/d/a", "t"), 0);
}
END_TEST

START_TEST(names_that_are_none_are_refused)
{
	char name[XENSTORE_PAYLOAD_MAX];

	ck_assert_int_eq(add(&dom0, "/d/", "t"), -EINVAL);
	ck_assert_int_eq(add(&dom0, "/d//a", "t"), -EINVAL);
	ck_assert_int_eq(add(&dom0, "", "t"), -EINVAL);
	ck_assert_int_eq(add(&dom0, "/d.x", "t"), -EINVAL);
	memset(name, 'a', sizeof(name));
	name[0] = '@';
	name[XENSTORE_REL_PATH_MAX + 1] = '\0';
	ck_assert_int_eq(add(&dom0, name, "t"), -EINVAL);
	name[XENSTORE_REL_PATH_MAX] = '\0';
	ck_assert_int_eq(add(&dom0, name, "t"), 0);
}
END_TEST

START_TEST(a_path_over_the_callers_limit_is_refused)
{
	char path[64];
	struct xsd_watch *watch;

	memset(path, 'a', sizeof(path));
	path[0] = '/';
	path[41] = '\0';
	ck_assert_int_eq(xsd_watch_add(&registry, &five.watcher, path, "t", 40, &watch), -EINVAL);
	path[40] = '\0';
	ck_assert_int_eq(xsd_watch_add(&registry, &five.watcher, path, "t", 40, &watch), 0);
}
END_TEST

START_TEST(a_watch_taken_back_is_silent)
{
	record(&dom0, "/d/a", "t");
	record(&dom0, "/d/a", "u");
	ck_assert_int_eq(xsd_watch_del(&registry, &dom0.watcher, "/d/a", "t"), 0);
	put(as(0), "/d/a", "v");
	expect_log(&dom0, "/d/a u\n");
	ck_assert_int_eq(xsd_watch_del(&registry, &dom0.watcher, "/d/a", "t"), -ENOENT);
	ck_assert_int_eq(xsd_watch_del(&registry, &dom0.watcher, "/d", "u"), -ENOENT);
	ck_assert_int_eq(xsd_watch_del(&registry, &five.watcher, "/d/a", "u"), -ENOENT);
}
END_TEST

/* ---- what fires ---- */

static const struct {
	const char *name;
	const char *watched;
	const char *path;
	bool fires;
} matches[] = {
	{"the node itself", "/d/a", "/d/a", true},
	{"a child", "/d/a", "/d/a/x", true},
	{"a child made", "/d/a", "/d/a/new", true},
	{"a grandchild", "/d", "/d/a/x", true},
	{"everything, for the root", "/", "/d/a/x", true},
	{"the node made", "/d/new", "/d/new", true},
	{"a child made, of what was not there", "/n", "/n/e/w", true},
	{"not the parent", "/d/a/x", "/d/a", false},
	{"not a sibling", "/d/a", "/d/b", false},
	{"not a node whose name begins the same", "/d/a", "/d/ab", false},
	{"not the parents made for a child", "/n/e", "/n", false},
};

START_TEST(a_write_fires)
{
	char log[64] = "";

	record(&dom0, matches[_i].watched, "t");
	ck_assert_int_eq(put(as(0), matches[_i].path, "v"), 0);
	if (matches[_i].fires)
		sprintf(log, "%s t\n", matches[_i].path);
	expect_log(&dom0, log);
}
END_TEST

START_TEST(one_event_for_a_path_made_with_its_parents)
{
	record(&dom0, "/", "t");
	put(as(0), "/n/e/w", "");
	expect_log(&dom0, "/n/e/w t\n");
}
END_TEST

START_TEST(permissions_changed_fire)
{
	record(&dom0, "/d", "t");
	chmod_node(as(0), "/d/a", "r0");
	expect_log(&dom0, "/d/a t\n");
}
END_TEST

START_TEST(what_changes_nothing_does_not_fire)
{
	record(&dom0, "/", "t");
	mkdir_node(as(0), "/d/a");
	rm(as(0), "/d/absent");
	put(as(5), "/d/a", "denied");
	get(as(0), "/d/a");
	expect_log(&dom0, "");
	mkdir_node(as(0), "/d/new");
	expect_log(&dom0, "/d/new t\n");
}
END_TEST

START_TEST(a_write_of_the_same_value_fires)
{
	put(as(0), "/d/a", "v");
	record(&dom0, "/d/a", "t");
	put(as(0), "/d/a", "v");
	expect_log(&dom0, "/d/a t\n");
}
END_TEST

START_TEST(a_removal_fires_above_once_and_below_for_each)
{
	record(&dom0, "/d", "above");
	record(&dom0, "/d/a", "self");
	record(&dom0, "/d/a/x", "below");
	record(&dom0, "/d/a/not-there", "absent");
	record(&dom0, "/d/b", "beside");
	rm(as(0), "/d/a");
	expect_log(&dom0, "/d/a/x below\n/d/a above\n/d/a self\n");
}
END_TEST

/* ---- order ---- */

START_TEST(events_come_in_the_order_of_changes_and_of_watches)
{
	record(&dom0, "/d", "second-path-first-watch");
	record(&dom0, "/d/a", "t");
	put(as(0), "/d/b", "");
	put(as(0), "/d/a", "");
	expect_log(&dom0, "/d/b second-path-first-watch\n"
			  "/d/a second-path-first-watch\n/d/a t\n");
}
END_TEST

START_TEST(a_relative_watch_gets_relative_paths)
{
	mkdir_node(as(0), "/local/domain/5");
	chmod_node(as(0), "/local/domain/5", "n5");
	record(&five, "device", "t");
	record(&five, "/local/domain/5", "abs");
	put(as(5), "/local/domain/5/device/vif/0", "");
	expect_log(&five, "device/vif/0 t\n/local/domain/5/device/vif/0 abs\n");
	rm(as(5), "/local/domain/5/device");
	expect_log(&five, "device t\n/local/domain/5/device abs\n");
}
END_TEST

/* ---- who may know ---- */

START_TEST(who_cannot_read_the_node_or_its_parent_gets_nothing)
{
	record(&five, "/", "t");
	put(as(0), "/d/a", "v");
	rm(as(0), "/d/b");
	expect_log(&five, "");
	chmod_node(as(0), "/d/a/x", "r0");
	expect_log(&five, "/d/a/x t\n");
	put(as(0), "/d/a/x", "v");
	expect_log(&five, "/d/a/x t\n");
	rm(as(0), "/d/a/x");
	expect_log(&five, "/d/a/x t\n");
}
END_TEST

START_TEST(who_can_read_the_parent_learns_of_its_children)
{
	chmod_node(as(0), "/d", "n0,r5");
	record(&five, "/d", "t");
	put(as(0), "/d/a", "v");
	expect_log(&five, "/d/a t\n");
	/* But not of theirs. */
	put(as(0), "/d/a/x", "v");
	expect_log(&five, "");
}
END_TEST

START_TEST(who_can_no_longer_read_learns_of_that)
{
	chmod_node(as(0), "/d/a", "r0");
	record(&five, "/d/a", "t");
	chmod_node(as(0), "/d/a", "n0");
	expect_log(&five, "/d/a t\n");
	put(as(0), "/d/a", "secret");
	expect_log(&five, "");
}
END_TEST

START_TEST(what_goes_with_a_gone_domain_fires)
{
	mkdir_node(as(0), "/local/domain/6");
	mkdir_node(as(0), "/local/domain/6/home");
	chmod_node(as(0), "/local/domain/6/home", "n6");
	put(as(6), "/local/domain/6/home/state", "4");
	record(&dom0, "/local/domain/6/home/state", "state");
	record(&dom0, "/local/domain", "above");
	/* Made before, but later in the tree. */
	put(as(0), "/z", "");
	record(&dom0, "/z", "late");
	chmod_node(as(0), "/z", "n6");
	put(as(0), "/local/domain/6/second", "");
	chmod_node(as(0), "/local/domain/6/second", "n6");
	expect_log(&dom0, "/z late\n/local/domain/6/second above\n"
			  "/local/domain/6/second above\n");
	xsd_store_forget(&tree, 6, &registry.sink);
	expect_log(&dom0, "/local/domain/6/home/state state\n/local/domain/6/home above\n"
			  "/local/domain/6/second above\n/z late\n");
}
END_TEST

/* ---- transactions ---- */

static struct xsd_txn *begin(void)
{
	return xsd_txn_new(&tree, 1, 0);
}

static int commit(struct xsd_txn *txn)
{
	struct xsd_op op = in(txn, 0);
	int ret = xsd_store_commit(&op);

	xsd_txn_free(txn);
	return ret;
}

START_TEST(a_transaction_fires_at_commit_once_for_each_node)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d", "t");
	put(in(txn, 0), "/d/b", "1");
	put(in(txn, 0), "/d/a", "1");
	put(in(txn, 0), "/d/b", "2");
	expect_log(&dom0, "");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "/d/b t\n/d/a t\n");
}
END_TEST

START_TEST(a_transaction_aborted_or_in_conflict_fires_nothing)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d", "t");
	put(in(txn, 0), "/d/b", "1");
	xsd_txn_free(txn);
	expect_log(&dom0, "");
	txn = begin();
	put(in(txn, 0), "/d/b", "1");
	put(as(0), "/d/b", "2");
	expect_log(&dom0, "/d/b t\n");
	ck_assert_int_eq(commit(txn), -EAGAIN);
	expect_log(&dom0, "");
}
END_TEST

START_TEST(a_transaction_that_only_reads_fires_nothing)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/", "t");
	get(in(txn, 0), "/d/a");
	mkdir_node(in(txn, 0), "/d/a");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "");
}
END_TEST

START_TEST(a_removal_in_a_transaction_fires_as_one_outside)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d", "above");
	record(&dom0, "/d/a/x", "below");
	rm(in(txn, 0), "/d/a");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "/d/a above\n/d/a/x below\n");
}
END_TEST

START_TEST(what_came_and_went_in_a_transaction_fires_nothing)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d/new", "t");
	put(in(txn, 0), "/d/new", "");
	rm(in(txn, 0), "/d/new");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "");
}
END_TEST

START_TEST(a_child_removed_and_then_written_fires_above_as_well)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d/a", "t");
	rm(in(txn, 0), "/d/a");
	put(in(txn, 0), "/d/a/x", "again");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "/d/a t\n/d/a/x t\n");
}
END_TEST

START_TEST(a_child_written_and_then_removed_fires_above_as_well)
{
	struct xsd_txn *txn = begin();

	record(&dom0, "/d/a", "t");
	put(in(txn, 0), "/d/a/x", "v");
	rm(in(txn, 0), "/d/a");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&dom0, "/d/a/x t\n/d/a t\n");
}
END_TEST

START_TEST(a_commit_is_told_only_to_those_who_may_know)
{
	struct xsd_txn *txn = begin();

	chmod_node(as(0), "/d/b", "r0");
	record(&five, "/d", "t");
	put(in(txn, 0), "/d/a", "secret");
	put(in(txn, 0), "/d/b", "open");
	rm(in(txn, 0), "/d/a/x");
	ck_assert_int_eq(commit(txn), 0);
	expect_log(&five, "/d/b t\n");
}
END_TEST

/* ---- special events ---- */

START_TEST(special_events_go_to_their_watches_only)
{
	record(&dom0, "@introduceDomain", "i");
	record(&dom0, "@releaseDomain", "r");
	record(&dom0, "/", "t");
	xsd_watch_special(&registry, XSD_INTRODUCE_DOMAIN);
	expect_log(&dom0, "@introduceDomain i\n");
	xsd_watch_special(&registry, XSD_RELEASE_DOMAIN);
	expect_log(&dom0, "@releaseDomain r\n");
}
END_TEST

START_TEST(special_events_are_dom0s_unless_it_lets_others)
{
	struct xsd_perms perms;

	record(&five, "@releaseDomain", "r");
	xsd_watch_special(&registry, XSD_RELEASE_DOMAIN);
	expect_log(&five, "");
	ck_assert_int_eq(xsd_perms_parse(&perms, "n0\0r5", 2), 0);
	ck_assert_int_eq(
		xsd_watch_set_special(&registry, &five.watcher.cred, "@releaseDomain", &perms),
		-EACCES);
	ck_assert_int_eq(
		xsd_watch_set_special(&registry, &dom0.watcher.cred, "@noSuchEvent", &perms),
		-EINVAL);
	ck_assert_int_eq(
		xsd_watch_set_special(&registry, &dom0.watcher.cred, "@releaseDomain", &perms), 0);
	xsd_watch_special(&registry, XSD_RELEASE_DOMAIN);
	expect_log(&five, "@releaseDomain r\n");
	/* A later domain 5 is another. */
	xsd_watch_forget(&registry, 5);
	xsd_watch_special(&registry, XSD_RELEASE_DOMAIN);
	expect_log(&five, "");
}
END_TEST

START_TEST(an_at_name_in_the_tree_is_no_special_event)
{
	record(&dom0, "@introduceDomain", "i");
	put(as(0), "/@introduceDomain", "");
	expect_log(&dom0, "");
}
END_TEST

TCase *watch_tcase(void)
{
	TCase *tcase = tcase_create("watch");

	tcase_add_checked_fixture(tcase, setup, teardown);
	tcase_add_test(tcase, a_watch_fires_once_at_registration);
	tcase_add_test(tcase, the_same_watch_twice_is_refused);
	tcase_add_test(tcase, names_that_are_none_are_refused);
	tcase_add_test(tcase, a_path_over_the_callers_limit_is_refused);
	tcase_add_test(tcase, a_watch_taken_back_is_silent);
	tcase_add_loop_test(tcase, a_write_fires, 0, ARRAY_SIZE(matches));
	tcase_add_test(tcase, one_event_for_a_path_made_with_its_parents);
	tcase_add_test(tcase, permissions_changed_fire);
	tcase_add_test(tcase, what_changes_nothing_does_not_fire);
	tcase_add_test(tcase, a_write_of_the_same_value_fires);
	tcase_add_test(tcase, a_removal_fires_above_once_and_below_for_each);
	tcase_add_test(tcase, events_come_in_the_order_of_changes_and_of_watches);
	tcase_add_test(tcase, a_relative_watch_gets_relative_paths);
	tcase_add_test(tcase, who_cannot_read_the_node_or_its_parent_gets_nothing);
	tcase_add_test(tcase, who_can_read_the_parent_learns_of_its_children);
	tcase_add_test(tcase, who_can_no_longer_read_learns_of_that);
	tcase_add_test(tcase, what_goes_with_a_gone_domain_fires);
	tcase_add_test(tcase, a_transaction_fires_at_commit_once_for_each_node);
	tcase_add_test(tcase, a_transaction_aborted_or_in_conflict_fires_nothing);
	tcase_add_test(tcase, a_transaction_that_only_reads_fires_nothing);
	tcase_add_test(tcase, a_removal_in_a_transaction_fires_as_one_outside);
	tcase_add_test(tcase, what_came_and_went_in_a_transaction_fires_nothing);
	tcase_add_test(tcase, a_child_removed_and_then_written_fires_above_as_well);
	tcase_add_test(tcase, a_child_written_and_then_removed_fires_above_as_well);
	tcase_add_test(tcase, a_commit_is_told_only_to_those_who_may_know);
	tcase_add_test(tcase, special_events_go_to_their_watches_only);
	tcase_add_test(tcase, special_events_are_dom0s_unless_it_lets_others);
	tcase_add_test(tcase, an_at_name_in_the_tree_is_no_special_event);
	return tcase;
}
