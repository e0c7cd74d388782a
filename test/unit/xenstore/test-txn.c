/* SPDX-License-Identifier: MIT */
/* test-txn.c: transactions: private views, conflicts, what commit and abort leave. */
#include "test/unit/xenstore/suites.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "test/unit/xenstore/store.h"

static struct xsd_txn *begin(void)
{
	struct xsd_txn *txn = xsd_txn_new(&tree, 1, 0);

	ck_assert_ptr_nonnull(txn);
	return txn;
}

static int commit_as(struct xsd_txn *txn, unsigned domid)
{
	struct xsd_op op = in(txn, domid);
	int ret = xsd_store_commit(&op);

	xsd_txn_free(txn);
	return ret;
}

static int commit(struct xsd_txn *txn)
{
	return commit_as(txn, 0);
}

static int rm(struct xsd_op op, const char *path)
{
	return xsd_store_rm(&op, path);
}

static void setup(void)
{
	store_setup();
	put(as(0), "/d/a", "a0");
	put(as(0), "/d/b", "b0");
	put(as(0), "/d/e/f", "f0");
}

START_TEST(changes_are_private_until_commit)
{
	struct xsd_txn *txn = begin();

	ck_assert_int_eq(put(in(txn, 0), "/d/a", "a1"), 0);
	ck_assert_int_eq(put(in(txn, 0), "/d/new/deep", "n1"), 0);
	ck_assert_int_eq(rm(in(txn, 0), "/d/e"), 0);
	ck_assert_int_eq(chmod_node(in(txn, 0), "/d/b", "r0"), 0);
	ck_assert_str_eq(get(as(0), "/d/a"), "a0");
	ck_assert_int_eq(get_error(as(0), "/d/new"), -ENOENT);
	ck_assert_str_eq(get(as(0), "/d/e/f"), "f0");
	ck_assert_str_eq(perms_text("/d/b"), "n0");
	ck_assert_int_eq(commit(txn), 0);
	ck_assert_str_eq(get(as(0), "/d/a"), "a1");
	ck_assert_str_eq(get(as(0), "/d/new/deep"), "n1");
	ck_assert_int_eq(get_error(as(0), "/d/e"), -ENOENT);
	ck_assert_int_eq(get_error(as(0), "/d/e/f"), -ENOENT);
	ck_assert_str_eq(perms_text("/d/b"), "r0");
	ck_assert_str_eq(children(as(0), "/d"), "a,b,new");
}
END_TEST

START_TEST(a_transaction_sees_its_own_changes)
{
	struct xsd_txn *txn = begin();

	put(in(txn, 0), "/d/a", "a1");
	put(in(txn, 0), "/d/new", "n1");
	rm(in(txn, 0), "/d/b");
	ck_assert_str_eq(get(in(txn, 0), "/d/a"), "a1");
	ck_assert_str_eq(get(in(txn, 0), "/d/new"), "n1");
	ck_assert_int_eq(get_error(in(txn, 0), "/d/b"), -ENOENT);
	ck_assert_str_eq(children(in(txn, 0), "/d"), "a,e,new");
	ck_assert_int_eq(commit(txn), 0);
}
END_TEST

START_TEST(a_node_stays_as_the_transaction_first_saw_it)
{
	struct xsd_txn *txn = begin();

	ck_assert_str_eq(get(in(txn, 0), "/d/a"), "a0");
	put(as(0), "/d/a", "a1");
	ck_assert_str_eq(get(in(txn, 0), "/d/a"), "a0");
	/* One it has not seen is as it is now. */
	put(as(0), "/d/b", "b1");
	ck_assert_str_eq(get(in(txn, 0), "/d/b"), "b1");
	ck_assert_int_eq(commit(txn), -EAGAIN);
}
END_TEST

START_TEST(an_aborted_transaction_has_not_happened)
{
	unsigned before = xsd_tree_count(&tree);
	struct xsd_txn *txn = begin();

	put(in(txn, 5), "/d/a", "a1");
	put(in(txn, 0), "/d/new", "n1");
	rm(in(txn, 0), "/d/e");
	chmod_node(in(txn, 0), "/d/b", "n7");
	xsd_txn_free(txn);
	ck_assert_str_eq(get(as(0), "/d/a"), "a0");
	ck_assert_uint_eq(xsd_tree_count(&tree), before);
	ck_assert_int_eq(xsd_count_get(tree.owners, 7), 0);
}
END_TEST

/* ---- conflicts ---- */

enum what { NONE, READ, WRITE, MKDIR, RM, CHMOD, REMAKE };

struct step {
	enum what what;
	const char *path;
};

static void run(struct xsd_op op, const struct step *step)
{
	struct xsd_node *node;

	switch (step->what) {
	case NONE:
		break;
	case READ:
		xsd_store_get(&op, step->path, XSD_READ, &node);
		break;
	case WRITE:
		put(op, step->path, "w");
		break;
	case MKDIR:
		xsd_store_mkdir(&op, step->path);
		break;
	case RM:
		rm(op, step->path);
		break;
	case CHMOD:
		chmod_node(op, step->path, "r0");
		break;
	case REMAKE:
		rm(op, step->path);
		put(op, step->path, "a0");
		break;
	}
}

static const struct {
	struct step ours;   /* in the transaction */
	struct step theirs; /* outside, then */
	struct step ours_after;
	int ret;
} conflicts[] = {
	{{READ, "/d/a"}, {NONE, NULL}, {NONE, NULL}, 0},
	{{WRITE, "/d/a"}, {NONE, NULL}, {NONE, NULL}, 0},
	{{READ, "/d/a"}, {READ, "/d/a"}, {NONE, NULL}, 0},
	{{WRITE, "/d/a"}, {READ, "/d/a"}, {NONE, NULL}, 0},
	{{READ, "/d/a"}, {WRITE, "/d/b"}, {NONE, NULL}, 0},
	{{WRITE, "/d/a"}, {WRITE, "/d/b"}, {NONE, NULL}, 0},
	{{WRITE, "/d/a"}, {WRITE, "/elsewhere"}, {NONE, NULL}, 0},
	{{WRITE, "/d/a"}, {WRITE, "/d/new"}, {NONE, NULL}, 0},
	{{WRITE, "/d/new"}, {WRITE, "/d/a"}, {NONE, NULL}, 0},
	{{RM, "/d/e"}, {WRITE, "/d/a"}, {NONE, NULL}, 0},
	{{READ, "/d/a"}, {MKDIR, "/d/a"}, {NONE, NULL}, 0},
	{{READ, "/d/a"}, {WRITE, "/d/b"}, {READ, "/d/b"}, 0},
	{{NONE, NULL}, {WRITE, "/d/a"}, {WRITE, "/d/a"}, 0},
	{{READ, "/d/a"}, {WRITE, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d/a"}, {WRITE, "/d/a"}, {WRITE, "/d/a"}, -EAGAIN},
	{{WRITE, "/d/a"}, {WRITE, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d/a"}, {RM, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d/a"}, {REMAKE, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d/a"}, {CHMOD, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{CHMOD, "/d/a"}, {WRITE, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{MKDIR, "/d/a"}, {WRITE, "/d/a"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d/absent"}, {WRITE, "/d/absent"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d"}, {WRITE, "/d/new"}, {NONE, NULL}, -EAGAIN},
	{{READ, "/d"}, {RM, "/d/a"}, {NONE, NULL}, -EAGAIN},
	/* Both make a child: the directory is what both write. */
	{{WRITE, "/d/new"}, {WRITE, "/d/other"}, {NONE, NULL}, -EAGAIN},
	{{WRITE, "/d/new"}, {WRITE, "/d/new"}, {NONE, NULL}, -EAGAIN},
	{{WRITE, "/d/new"}, {RM, "/d"}, {NONE, NULL}, -EAGAIN},
	{{WRITE, "/d/a"}, {RM, "/d"}, {NONE, NULL}, -EAGAIN},
	{{RM, "/d/e"}, {WRITE, "/d/e/f"}, {NONE, NULL}, -EAGAIN},
	{{RM, "/d/e"}, {WRITE, "/d/e/new"}, {NONE, NULL}, -EAGAIN},
	{{RM, "/d/e"}, {RM, "/d/e/f"}, {NONE, NULL}, -EAGAIN},
	{{RM, "/d/e"}, {RM, "/d/e"}, {NONE, NULL}, -EAGAIN},
	{{RM, "/d/absent"}, {WRITE, "/d/absent"}, {NONE, NULL}, -EAGAIN},
	/* A child seen in its directory's copy has gone before it was come to. */
	{{READ, "/d/e"}, {RM, "/d/e/f"}, {RM, "/d/e"}, -EAGAIN},
	{{READ, "/d"}, {RM, "/d/e"}, {WRITE, "/d/e/f"}, -EAGAIN},
};

START_TEST(a_transaction_conflicts_only_where_it_has_been)
{
	struct xsd_txn *txn = begin();
	char *theirs;

	run(in(txn, 0), &conflicts[_i].ours);
	run(as(0), &conflicts[_i].theirs);
	run(in(txn, 0), &conflicts[_i].ours_after);
	theirs = strdup(children(as(0), "/"));
	ck_assert_int_eq(commit(txn), conflicts[_i].ret);
	if (conflicts[_i].ret)
		ck_assert_str_eq(children(as(0), "/"), theirs);
	free(theirs);
}
END_TEST

START_TEST(what_a_refusal_depends_on_can_conflict)
{
	struct xsd_txn *txn = begin();

	/* Whether the node's absence may be told depends on the directory. */
	ck_assert_int_eq(get_error(in(txn, 5), "/d/a"), -EACCES);
	chmod_node(as(0), "/d", "r0");
	ck_assert_int_eq(commit_as(txn, 5), -EAGAIN);
}
END_TEST

START_TEST(of_two_transactions_on_a_node_the_second_conflicts)
{
	struct xsd_txn *one = begin(), *two = begin();

	ck_assert_str_eq(get(in(one, 0), "/d/a"), "a0");
	ck_assert_str_eq(get(in(two, 0), "/d/a"), "a0");
	put(in(one, 0), "/d/a", "one");
	put(in(two, 0), "/d/a", "two");
	ck_assert_int_eq(commit(one), 0);
	ck_assert_int_eq(commit(two), -EAGAIN);
	ck_assert_str_eq(get(as(0), "/d/a"), "one");
}
END_TEST

START_TEST(transactions_in_different_places_both_commit)
{
	struct xsd_txn *one = begin(), *two = begin();

	put(in(one, 0), "/d/a", "one");
	put(in(two, 0), "/d/b", "two");
	ck_assert_int_eq(commit(one), 0);
	ck_assert_int_eq(commit(two), 0);
	ck_assert_str_eq(get(as(0), "/d/a"), "one");
	ck_assert_str_eq(get(as(0), "/d/b"), "two");
}
END_TEST

START_TEST(a_transaction_that_only_read_disturbs_no_other)
{
	struct xsd_txn *one = begin(), *two = begin();

	ck_assert_str_eq(get(in(one, 0), "/d/a"), "a0");
	ck_assert_str_eq(get(in(two, 0), "/d/a"), "a0");
	put(in(one, 0), "/d/b", "one");
	ck_assert_int_eq(commit(one), 0);
	ck_assert_int_eq(commit(two), 0);
}
END_TEST

START_TEST(a_node_removed_and_made_again_is_a_new_one)
{
	struct xsd_txn *txn = begin();

	ck_assert_int_eq(rm(in(txn, 0), "/d/e"), 0);
	ck_assert_int_eq(put(in(txn, 0), "/d/e/g", "g1"), 0);
	ck_assert_int_eq(commit(txn), 0);
	ck_assert_str_eq(children(as(0), "/d/e"), "g");
	ck_assert_int_eq(get_error(as(0), "/d/e/f"), -ENOENT);
}
END_TEST

START_TEST(a_node_made_and_removed_again_leaves_nothing)
{
	unsigned before = xsd_tree_count(&tree);
	struct xsd_txn *txn = begin();

	ck_assert_int_eq(put(in(txn, 0), "/d/x/y", ""), 0);
	ck_assert_int_eq(rm(in(txn, 0), "/d/x"), 0);
	ck_assert_int_eq(commit(txn), 0);
	ck_assert_uint_eq(xsd_tree_count(&tree), before);
}
END_TEST

START_TEST(owners_are_counted_at_commit)
{
	struct xsd_txn *txn = begin();

	chmod_node(as(0), "/d", "b0");
	put(in(txn, 5), "/d/five/5", "");
	chmod_node(in(txn, 0), "/d/a", "n6");
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 0);
	ck_assert_int_eq(commit_as(txn, 5), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 2);
	ck_assert_int_eq(xsd_count_get(tree.owners, 6), 1);
}
END_TEST

/* ---- limits ---- */

START_TEST(a_transactions_own_nodes_count_for_the_quota)
{
	struct xsd_txn *txn = begin();

	chmod_node(as(0), "/d", "b0");
	quota.nr_nodes = 2;
	ck_assert_int_eq(put(in(txn, 5), "/d/1", ""), 0);
	ck_assert_int_eq(put(in(txn, 5), "/d/2", ""), 0);
	ck_assert_int_eq(put(in(txn, 5), "/d/3", ""), -ENOSPC);
	ck_assert_int_eq(rm(in(txn, 5), "/d/1"), 0);
	ck_assert_int_eq(put(in(txn, 5), "/d/3", ""), 0);
	ck_assert_int_eq(commit_as(txn, 5), 0);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 2);
}
END_TEST

START_TEST(the_quota_is_checked_again_at_commit)
{
	struct xsd_txn *txn = begin();

	chmod_node(as(0), "/d/e", "b0");
	chmod_node(as(0), "/d", "b0");
	quota.nr_nodes = 2;
	ck_assert_int_eq(put(in(txn, 5), "/d/e/1", ""), 0);
	ck_assert_int_eq(put(as(5), "/d/2", ""), 0);
	ck_assert_int_eq(put(as(5), "/d/3", ""), 0);
	ck_assert_int_eq(commit_as(txn, 5), -ENOSPC);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 2);
}
END_TEST

START_TEST(a_transaction_that_touches_too_many_nodes_cannot_commit)
{
	struct xsd_txn *txn = xsd_txn_new(&tree, 1, 4);
	char path[32];
	unsigned i;
	int ret = 0;

	for (i = 0; i < 5 && !ret; i++) {
		sprintf(path, "/d/%u", i);
		ret = put(in(txn, 0), path, "");
	}
	ck_assert_int_eq(ret, -ENOSPC);
	ck_assert_int_eq(commit(txn), -ENOSPC);
	ck_assert_int_eq(get_error(as(0), "/d/0"), -ENOENT);
}
END_TEST

/* ---- domains that are gone ---- */

START_TEST(nodes_made_for_a_domain_that_is_gone_conflict)
{
	struct xsd_txn *txn = begin();

	ck_assert_int_eq(put(in(txn, 0), "/d/home", ""), 0);
	ck_assert_int_eq(chmod_node(in(txn, 0), "/d/home", "n5"), 0);
	xsd_txn_forget(txn, 5);
	xsd_store_forget(&tree, 5, NULL);
	ck_assert_int_eq(commit(txn), -EAGAIN);
	ck_assert_int_eq(xsd_count_get(tree.owners, 5), 0);
}
END_TEST

START_TEST(permissions_of_a_domain_that_is_gone_are_not_committed)
{
	struct xsd_txn *txn = begin();

	ck_assert_int_eq(chmod_node(in(txn, 0), "/d/a", "n0,r5"), 0);
	xsd_txn_forget(txn, 5);
	xsd_store_forget(&tree, 5, NULL);
	ck_assert_int_eq(commit(txn), 0);
	ck_assert_int_eq(get_error(as(5), "/d/a"), -EACCES);
}
END_TEST

/* ---- all together ---- */

START_TEST(random_transactions_lose_no_update)
{
	struct xsd_txn *open[4] = {NULL};
	unsigned sum = 0, done = 0, i, t, n;
	char path[16], text[16];

	for (i = 0; i < 4; i++) {
		sprintf(path, "/n/%u", i);
		put(as(0), path, "0");
	}
	srandom(5);
	for (i = 0; i < 20000; i++) {
		t = (unsigned)random() % 4;
		if (!open[t]) {
			open[t] = begin();
		} else if (random() % 4 == 0) {
			/* The test counts in the id how often it has added. */
			n = open[t]->id - 1;
			if (commit(open[t]) == 0)
				done += n;
			open[t] = NULL;
		} else {
			sprintf(path, "/n/%u", (unsigned)random() % 4);
			sprintf(text, "%u", (unsigned)atoi(get(in(open[t], 0), path)) + 1);
			ck_assert_int_eq(put(in(open[t], 0), path, text), 0);
			open[t]->id++;
		}
	}
	for (i = 0; i < 4; i++) {
		xsd_txn_free(open[i]);
		sprintf(path, "/n/%u", i);
		sum += (unsigned)atoi(get(as(0), path));
	}
	ck_assert_uint_gt(done, 100);
	ck_assert_uint_eq(sum, done);
}
END_TEST

TCase *txn_tcase(void)
{
	TCase *tcase = tcase_create("txn");

	tcase_add_checked_fixture(tcase, setup, store_teardown);
	tcase_add_test(tcase, changes_are_private_until_commit);
	tcase_add_test(tcase, a_transaction_sees_its_own_changes);
	tcase_add_test(tcase, a_node_stays_as_the_transaction_first_saw_it);
	tcase_add_test(tcase, an_aborted_transaction_has_not_happened);
	tcase_add_loop_test(tcase, a_transaction_conflicts_only_where_it_has_been, 0,
			    ARRAY_SIZE(conflicts));
	tcase_add_test(tcase, what_a_refusal_depends_on_can_conflict);
	tcase_add_test(tcase, of_two_transactions_on_a_node_the_second_conflicts);
	tcase_add_test(tcase, transactions_in_different_places_both_commit);
	tcase_add_test(tcase, a_transaction_that_only_read_disturbs_no_other);
	tcase_add_test(tcase, a_node_removed_and_made_again_is_a_new_one);
	tcase_add_test(tcase, a_node_made_and_removed_again_leaves_nothing);
	tcase_add_test(tcase, owners_are_counted_at_commit);
	tcase_add_test(tcase, a_transactions_own_nodes_count_for_the_quota);
	tcase_add_test(tcase, the_quota_is_checked_again_at_commit);
	tcase_add_test(tcase, a_transaction_that_touches_too_many_nodes_cannot_commit);
	tcase_add_test(tcase, nodes_made_for_a_domain_that_is_gone_conflict);
	tcase_add_test(tcase, permissions_of_a_domain_that_is_gone_are_not_committed);
	tcase_add_test(tcase, random_transactions_lose_no_update);
	return tcase;
}
