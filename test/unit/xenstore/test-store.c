/* SPDX-License-Identifier: MIT */
/* test-store.c: what requests do to the store: nodes, permissions, quotas, gone domains. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "test/unit/xenstore/store.h"
#include "xenstore/xsd_path.h"

static int mkdir_node(struct xsd_op op, const char *path)
{
	return xsd_store_mkdir(&op, path);
}

static int rm(struct xsd_op op, const char *path)
{
	return xsd_store_rm(&op, path);
}

static bool exists(const char *path)
{
	return xsd_tree_find(&tree, path) != NULL;
}

/* A directory domain @domid may write to, as a toolstack makes it. */
static void make_home(const char *path, const char *perms)
{
	ck_assert_int_eq(mkdir_node(as(0), path), 0);
	ck_assert_int_eq(chmod_node(as(0), path, perms), 0);
}

/* ---- nodes ---- */

START_TEST(the_store_begins_with_xenstoreds_nodes)
{
	ck_assert_str_eq(children(as(0), "/"), "tool,local");
	ck_assert_str_eq(children(as(0), "/tool"), "xenstored");
	ck_assert_str_eq(perms_text("/tool/xenstored"), "n0");
	ck_assert_str_eq(perms_text("/"), "n0");
}
END_TEST

START_TEST(write_makes_what_is_missing_above)
{
	make_home("/home", "r5,b6");
	ck_assert_int_eq(put(as(0), "/home/a/b/c", "v"), 0);
	ck_assert_str_eq(get(as(0), "/home/a/b/c"), "v");
	ck_assert_str_eq(get(as(0), "/home/a/b"), "");
	ck_assert_str_eq(children(as(0), "/home/a"), "b");
	ck_assert_str_eq(perms_text("/home/a"), "r5,b6");
	ck_assert_str_eq(perms_text("/home/a/b/c"), "r5,b6");
}
END_TEST

START_TEST(children_are_listed_in_the_order_they_were_made)
{
	put(as(0), "/d/z", "");
	put(as(0), "/d/a", "");
	put(as(0), "/d/m", "");
	put(as(0), "/d/z", "again");
	ck_assert_str_eq(children(as(0), "/d"), "z,a,m");
	ck_assert_int_eq(rm(as(0), "/d/a"), 0);
	ck_assert_str_eq(children(as(0), "/d"), "z,m");
	put(as(0), "/d/a", "");
	ck_assert_str_eq(children(as(0), "/d"), "z,m,a");
}
END_TEST

START_TEST(a_child_whose_name_begins_like_another_is_another)
{
	put(as(0), "/d/ab", "1");
	put(as(0), "/d/a", "2");
	ck_assert_int_eq(rm(as(0), "/d/a"), 0);
	ck_assert_str_eq(children(as(0), "/d"), "ab");
	ck_assert_str_eq(get(as(0), "/d/ab"), "1");
}
END_TEST

START_TEST(a_value_may_be_empty_or_hold_zero_bytes)
{
	struct xsd_op op = as(0);
	struct xsd_node *node;

	ck_assert_int_eq(xsd_store_write(&op, "/v", "a\0b", 4), 0);
	ck_assert_int_eq(xsd_store_get(&op, "/v", XSD_READ, &node), 0);
	ck_assert_uint_eq(node->value_len, 4);
	ck_assert_mem_eq(node->value, "a\0b", 4);
	ck_assert_int_eq(xsd_store_write(&op, "/v", "", 0), 0);
	ck_assert_uint_eq(node->value_len, 0);
}
END_TEST

START_TEST(mkdir_leaves_a_node_that_exists_alone)
{
	uint64_t generation;

	put(as(0), "/a", "v");
	generation = xsd_tree_find(&tree, "/a")->generation;
	ck_assert_int_eq(mkdir_node(as(0), "/a"), 0);
	ck_assert_str_eq(get(as(0), "/a"), "v");
	ck_assert_uint_eq(xsd_tree_find(&tree, "/a")->generation, generation);
}
END_TEST

START_TEST(rm_takes_everything_below)
{
	unsigned before = xsd_tree_count(&tree);

	put(as(0), "/a/b/c/d", "");
	put(as(0), "/a/b/e", "");
	put(as(0), "/a/f", "");
	ck_assert_uint_eq(xsd_tree_count(&tree), before + 6);
	ck_assert_int_eq(rm(as(0), "/a"), 0);
	ck_assert(!exists("/a") && !exists("/a/b/c/d") && !exists("/a/f"));
	ck_assert_str_eq(children(as(0), "/"), "tool,local");
	ck_assert_uint_eq(xsd_tree_count(&tree), before);
}
END_TEST

START_TEST(rm_of_an_absent_node_needs_only_its_parent)
{
	ck_assert_int_eq(rm(as(0), "/absent"), 0);
	ck_assert_int_eq(rm(as(0), "/absent/child"), -ENOENT);
}
END_TEST

START_TEST(rm_of_the_root_is_refused)
{
	ck_assert_int_eq(rm(as(0), "/"), -EINVAL);
	ck_assert(exists("/tool/xenstored"));
}
END_TEST

START_TEST(the_deepest_path_can_be_made_and_removed)
{
	char path[XSD_PATH_BYTES];
	unsigned before = xsd_tree_count(&tree);
	size_t i;

	for (i = 0; i + 1 < XENSTORE_REL_PATH_MAX; i += 2)
		memcpy(path + i, "/a", 3);
	ck_assert_int_eq(put(as(0), path, "v"), 0);
	ck_assert_uint_eq(xsd_tree_count(&tree), before + XENSTORE_REL_PATH_MAX / 2);
	ck_assert_int_eq(rm(as(0), "/a"), 0);
	ck_assert_uint_eq(xsd_tree_count(&tree), before);
}
END_TEST

START_TEST(names_that_are_none_are_refused_by_every_request)
{
	ck_assert_int_eq(put(as(0), "/a//b", ""), -EINVAL);
	ck_assert_int_eq(mkdir_node(as(0), "/a/"), -EINVAL);
	ck_assert_int_eq(rm(as(0), "relative"), -EINVAL);
	ck_assert_int_eq(get_error(as(0), "/a.b"), -EINVAL);
	ck_assert_int_eq(chmod_node(as(0), "@releaseDomain", "n0"), -EINVAL);
}
END_TEST

/* ---- permissions ---- */

enum what { READ, WRITE, MKDIR, RM, CHMOD };

static const struct {
	const char *perms; /* of /d; /d/n exists and has the same */
	unsigned domid;
	enum what what;
	const char *path;
	int ret;
} rights[] = {
	{"n5", 5, READ, "/d/n", 0},
	{"n5", 5, WRITE, "/d/n", 0},
	{"n5", 5, RM, "/d/n", 0},
	{"n5", 5, CHMOD, "/d/n", 0},
	{"n5", 5, WRITE, "/d/new", 0},
	{"n5", 0, WRITE, "/d/n", 0},
	{"n5", 0, CHMOD, "/d/n", 0},
	{"n5", 6, READ, "/d/n", -EACCES},
	{"n5", 6, WRITE, "/d/n", -EACCES},
	{"n5", 6, MKDIR, "/d/n", -EACCES},
	{"n5", 6, RM, "/d/n", -EACCES},
	{"n5", 6, CHMOD, "/d/n", -EACCES},
	{"r5", 6, READ, "/d/n", 0},
	{"r5", 6, WRITE, "/d/n", -EACCES},
	{"r5", 6, MKDIR, "/d/new", -EACCES},
	{"w5", 6, READ, "/d/n", -EACCES},
	{"w5", 6, WRITE, "/d/n", 0},
	{"w5", 6, WRITE, "/d/new/deep", 0},
	{"w5", 6, MKDIR, "/d/n", 0},
	{"b5", 6, RM, "/d/n", 0},
	/* To write is not to own. */
	{"b5", 6, CHMOD, "/d/n", -EACCES},
	{"n5,r6", 6, READ, "/d/n", 0},
	{"n5,r6", 7, READ, "/d/n", -EACCES},
	{"n5,r6", 6, WRITE, "/d/n", -EACCES},
	{"b5,n6", 6, READ, "/d/n", -EACCES},
	/* What is not there is only admitted to those who could see where it would be. */
	{"r5", 6, READ, "/d/absent", -ENOENT},
	{"r5", 6, READ, "/d/absent/deep", -ENOENT},
	{"n5", 6, READ, "/d/absent", -EACCES},
	{"w5", 6, READ, "/d/absent", -EACCES},
	{"r5", 6, RM, "/d/absent", -EACCES},
	{"w5", 6, RM, "/d/absent", 0},
	{"w5", 6, RM, "/d/absent/deep", -ENOENT},
	{"b5", 6, READ, "/absent", -EACCES},
	{"b5", 6, CHMOD, "/d/absent", -ENOENT},
	{"n5", 6, WRITE, "/absent", -EACCES},
	{"n5", 6, RM, "/", -EACCES},
};

START_TEST(rights_are_as_listed)
{
	struct xsd_op op = as(rights[_i].domid);
	const char *path = rights[_i].path;
	int ret = -1;

	make_home("/d", rights[_i].perms);
	ck_assert_int_eq(put(as(0), "/d/n", "v"), 0);
	switch (rights[_i].what) {
	case READ:
		ret = get_error(op, path);
		break;
	case WRITE:
		ret = put(op, path, "w");
		break;
	case MKDIR:
		ret = mkdir_node(op, path);
		break;
	case RM:
		ret = rm(op, path);
		break;
	case CHMOD:
		ret = chmod_node(op, path, "r5");
		break;
	}
	ck_assert_int_eq(ret, rights[_i].ret);
	if (ret && exists("/d/n")) {
		ck_assert_str_eq(get(as(0), "/d/n"), "v");
		ck_assert_str_eq(perms_text("/d/n"), rights[_i].perms);
	}
}
END_TEST

START_TEST(a_node_can_be_open_below_one_that_is_not)
{
	put(as(0), "/secret/open", "v");
	ck_assert_int_eq(chmod_node(as(0), "/secret/open", "r0"), 0);
	ck_assert_int_eq(get_error(as(7), "/secret"), -EACCES);
	ck_assert_str_eq(get(as(7), "/secret/open"), "v");
}
END_TEST

START_TEST(a_domain_owns_what_it_makes)
{
	make_home("/d", "b5,r7");
	ck_assert_int_eq(put(as(6), "/d/x/y", ""), 0);
	ck_assert_str_eq(perms_text("/d/x"), "b6,r7");
	ck_assert_str_eq(perms_text("/d/x/y"), "b6,r7");
	ck_assert_int_eq(xsd_count_get(tree.owners, 6), 2);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 1);
}
END_TEST

START_TEST(what_dom0_makes_belongs_to_the_parents_owner)
{
	make_home("/d", "n5");
	ck_assert_int_eq(put(as(0), "/d/x", ""), 0);
	ck_assert_str_eq(perms_text("/d/x"), "n5");
}
END_TEST

START_TEST(only_dom0_gives_nodes_away)
{
	make_home("/d", "n5");
	ck_assert_int_eq(chmod_node(as(5), "/d", "n6"), -EPERM);
	ck_assert_int_eq(chmod_node(as(5), "/d", "n0"), -EPERM);
	ck_assert_int_eq(chmod_node(as(5), "/d", "b5,r6"), 0);
	ck_assert_str_eq(perms_text("/d"), "b5,r6");
	ck_assert_int_eq(chmod_node(as(0), "/d", "n6"), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 6), 1);
}
END_TEST

START_TEST(a_device_model_may_do_what_its_target_may)
{
	struct xsd_op op = as(9);

	make_home("/d", "n5");
	ck_assert_int_eq(put(op, "/d/x", ""), -EACCES);
	op.cred.target = 5;
	ck_assert_int_eq(put(op, "/d/x", ""), 0);
	ck_assert_str_eq(perms_text("/d/x"), "n9");
}
END_TEST

/* ---- quotas ---- */

START_TEST(a_domain_owns_no_more_nodes_than_its_quota)
{
	char path[64];
	unsigned i;

	make_home("/d", "n5");
	quota.nr_nodes = 10; /* the home is one */
	for (i = 0; i < 9; i++) {
		sprintf(path, "/d/%u", i);
		ck_assert_int_eq(put(as(5), path, ""), 0);
	}
	ck_assert_int_eq(put(as(5), "/d/more", ""), -ENOSPC);
	ck_assert_int_eq(mkdir_node(as(5), "/d/more"), -ENOSPC);
	ck_assert(!exists("/d/more"));
	/* What is there can be written; dom0 and other domains are not held up. */
	ck_assert_int_eq(put(as(5), "/d/0", "v"), 0);
	ck_assert_int_eq(put(as(0), "/d/more", ""), 0);
	ck_assert_int_eq(rm(as(5), "/d/more"), 0);
	/* Room made is room. */
	ck_assert_int_eq(rm(as(5), "/d/0"), 0);
	ck_assert_int_eq(put(as(5), "/d/more", ""), 0);
}
END_TEST

START_TEST(a_path_that_goes_over_the_quota_is_not_made_in_part)
{
	make_home("/d", "n5");
	quota.nr_nodes = 4;
	ck_assert_int_eq(put(as(5), "/d/1/2/3/4", ""), -ENOSPC);
	ck_assert(!exists("/d/1"));
	ck_assert_str_eq(children(as(0), "/d"), "");
	ck_assert_int_eq(put(as(5), "/d/1/2/3", ""), 0);
}
END_TEST

START_TEST(a_node_is_no_bigger_than_its_quota)
{
	/* One permission entry and xenstored's record head. */
	size_t room = quota.node_bytes - 24 - 8 - 1;
	char value[4096];
	struct xsd_op op = as(5);

	make_home("/d", "n5");
	memset(value, 'v', sizeof(value));
	ck_assert_int_eq(xsd_store_write(&op, "/d/x", value, room + 1), -ENOSPC);
	ck_assert(!exists("/d/x"));
	ck_assert_int_eq(xsd_store_write(&op, "/d/x", value, room), 0);
	ck_assert_int_eq(xsd_store_write(&op, "/d/x", value, room + 1), -ENOSPC);
	ck_assert_uint_eq(xsd_tree_find(&tree, "/d/x")->value_len, room);
	/* Its permissions count as well. */
	ck_assert_int_eq(chmod_node(op, "/d/x", "n5,r6"), -ENOSPC);
	/* dom0 is not held up. */
	op = as(0);
	ck_assert_int_eq(xsd_store_write(&op, "/d/x", value, 4000), 0);
}
END_TEST

START_TEST(the_names_of_children_count_for_the_node_size)
{
	char path[64];
	unsigned i;
	int ret = 0;

	make_home("/d", "n5");
	for (i = 0; i < 300 && !ret; i++) {
		sprintf(path, "/d/child-%04u", i);
		ret = put(as(5), path, "");
	}
	ck_assert_int_eq(ret, -ENOSPC);
	/* 24 for the record, 8 for the owner, 11 a name: below 2048. */
	ck_assert_uint_eq(xsd_tree_find(&tree, "/d")->children_len, 183 * 11);
}
END_TEST

START_TEST(a_domains_path_is_no_longer_than_its_quota)
{
	char path[XSD_PATH_BYTES] = "/d/";

	make_home("/d", "n5");
	memset(path + 3, 'a', 1021);
	ck_assert_int_eq(put(as(5), path, ""), 0);
	path[1024] = 'a';
	ck_assert_int_eq(put(as(5), path, ""), -EINVAL);
	ck_assert_int_eq(put(as(0), path, ""), 0);
}
END_TEST

/* ---- domains that are gone ---- */

START_TEST(what_a_gone_domain_owned_goes_with_all_below)
{
	make_home("/d", "b0");
	make_home("/d/home", "b5");
	put(as(5), "/d/home/a/b", "");
	put(as(6), "/d/home/a/b/of-six", "");
	put(as(6), "/d/other", "");
	put(as(5), "/d/other/mine/too", "");
	xsd_store_forget(&tree, 5, NULL);
	ck_assert(!exists("/d/home") && !exists("/d/home/a/b/of-six"));
	ck_assert(exists("/d/other") && !exists("/d/other/mine"));
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 6), 1);
}
END_TEST

START_TEST(a_later_domain_of_the_same_number_inherits_nothing)
{
	put(as(0), "/d", "v");
	chmod_node(as(0), "/d", "n0,b5");
	ck_assert_str_eq(get(as(5), "/d"), "v");
	xsd_store_forget(&tree, 5, NULL);
	ck_assert_int_eq(get_error(as(5), "/d"), -EACCES);
	/* Nor after the node has been written again. */
	put(as(0), "/d", "w");
	ck_assert_int_eq(get_error(as(5), "/d"), -EACCES);
	chmod_node(as(0), "/d", "n0,r5");
	ck_assert_str_eq(get(as(5), "/d"), "w");
}
END_TEST

START_TEST(a_root_that_was_given_away_comes_back_to_dom0)
{
	chmod_node(as(0), "/", "r5");
	xsd_store_forget(&tree, 5, NULL);
	ck_assert_str_eq(perms_text("/"), "r0");
	ck_assert(exists("/tool"));
}
END_TEST

/* ---- all together ---- */

START_TEST(random_requests_leave_a_consistent_tree)
{
	static const unsigned domids[] = {0, 5, 6};
	unsigned before = xsd_tree_count(&tree);
	struct xsd_op op;
	char path[64];
	unsigned i, depth;

	make_home("/r", "b0");
	quota.nr_nodes = 200;
	srandom(3);
	for (i = 0; i < 30000; i++) {
		op = as(domids[random() % 3]);
		strcpy(path, "/r");
		for (depth = (unsigned)random() % 5; depth; depth--)
			sprintf(path + strlen(path), "/%c", 'a' + (char)(random() % 5));
		switch (random() % 6) {
		case 0:
			if (depth || random() % 8 == 0)
				rm(op, path);
			break;
		case 1:
			chmod_node(op, path, random() % 2 ? "b6" : "b5,r6");
			break;
		case 2:
			mkdir_node(op, path);
			break;
		default:
			put(op, path, "value");
		}
		if (i % 1000 == 0) {
			ck_assert_uint_eq(xsd_tree_check(&tree), 0);
			if (i % 5000 == 0)
				xsd_store_forget(&tree, 5, NULL);
		}
	}
	ck_assert_uint_eq(xsd_tree_check(&tree), 0);
	ck_assert_int_eq(rm(as(0), "/r"), 0);
	ck_assert_uint_eq(xsd_tree_count(&tree), before);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 6), 0);
}
END_TEST

TCase *store_tcase(void)
{
	TCase *tcase = tcase_create("store");

	tcase_add_checked_fixture(tcase, store_setup, store_teardown);
	tcase_add_test(tcase, the_store_begins_with_xenstoreds_nodes);
	tcase_add_test(tcase, write_makes_what_is_missing_above);
	tcase_add_test(tcase, children_are_listed_in_the_order_they_were_made);
	tcase_add_test(tcase, a_child_whose_name_begins_like_another_is_another);
	tcase_add_test(tcase, a_value_may_be_empty_or_hold_zero_bytes);
	tcase_add_test(tcase, mkdir_leaves_a_node_that_exists_alone);
	tcase_add_test(tcase, rm_takes_everything_below);
	tcase_add_test(tcase, rm_of_an_absent_node_needs_only_its_parent);
	tcase_add_test(tcase, rm_of_the_root_is_refused);
	tcase_add_test(tcase, the_deepest_path_can_be_made_and_removed);
	tcase_add_test(tcase, names_that_are_none_are_refused_by_every_request);
	tcase_add_loop_test(tcase, rights_are_as_listed, 0, ARRAY_SIZE(rights));
	tcase_add_test(tcase, a_node_can_be_open_below_one_that_is_not);
	tcase_add_test(tcase, a_domain_owns_what_it_makes);
	tcase_add_test(tcase, what_dom0_makes_belongs_to_the_parents_owner);
	tcase_add_test(tcase, only_dom0_gives_nodes_away);
	tcase_add_test(tcase, a_device_model_may_do_what_its_target_may);
	tcase_add_test(tcase, a_domain_owns_no_more_nodes_than_its_quota);
	tcase_add_test(tcase, a_path_that_goes_over_the_quota_is_not_made_in_part);
	tcase_add_test(tcase, a_node_is_no_bigger_than_its_quota);
	tcase_add_test(tcase, the_names_of_children_count_for_the_node_size);
	tcase_add_test(tcase, a_domains_path_is_no_longer_than_its_quota);
	tcase_add_test(tcase, what_a_gone_domain_owned_goes_with_all_below);
	tcase_add_test(tcase, a_later_domain_of_the_same_number_inherits_nothing);
	tcase_add_test(tcase, a_root_that_was_given_away_comes_back_to_dom0);
	tcase_add_test(tcase, random_requests_leave_a_consistent_tree);
	return tcase;
}
