/* SPDX-License-Identifier: MIT */
/* test-vifs.c: the table of vifs, the dirty list, the paths of watch events. */
#include "test/unit/netback/suites.h"

#include <stdlib.h>
#include <string.h>

#include "common/compiler.h"
#include "netback/vifs.h"

static struct xenvif_host host;

static struct xenvif *add(struct vifs *vifs, uint32_t domid, uint32_t devid)
{
	struct xenvif_key key = {domid, devid};
	struct xenvif *vif = xenvif_create(&host, &key);

	ck_assert_ptr_nonnull(vif);
	vifs_add(vifs, vif);
	return vif;
}

static void end(struct vifs *vifs)
{
	while (vifs->table) {
		struct xenvif *vif = vifs->table;

		vifs_remove(vifs, vif);
		free(vif);
	}
}

START_TEST(vifs_are_found_by_their_numbers)
{
	struct vifs vifs = {0};
	struct xenvif *a = add(&vifs, 1, 0), *b = add(&vifs, 1, 1), *c = add(&vifs, 2, 0);

	ck_assert_ptr_eq(vifs_find(&vifs, &(struct xenvif_key){1, 0}), a);
	ck_assert_ptr_eq(vifs_find(&vifs, &(struct xenvif_key){1, 1}), b);
	ck_assert_ptr_eq(vifs_find(&vifs, &(struct xenvif_key){2, 0}), c);
	ck_assert_ptr_null(vifs_find(&vifs, &(struct xenvif_key){0, 1}));
	ck_assert_uint_eq(vifs_count(&vifs), 3);
	ck_assert_str_eq(b->nodename, "backend/vif/1/1");
	end(&vifs);
	ck_assert_uint_eq(vifs_count(&vifs), 0);
}
END_TEST

START_TEST(a_name_is_of_an_identified_vif)
{
	struct vifs vifs = {0};
	struct xenvif *vif = add(&vifs, 1, 0);

	strcpy(vif->name, "vif1.0");
	ck_assert_ptr_null(vifs_find_name(&vifs, "vif1.0"));
	vif->identified = true;
	ck_assert_ptr_eq(vifs_find_name(&vifs, "vif1.0"), vif);
	ck_assert_ptr_null(vifs_find_name(&vifs, "vif1.1"));
	end(&vifs);
}
END_TEST

/* XSA-349, 6.38: however many events, one look; and nobody waits behind a flood. */
START_TEST(a_flood_of_one_vif_is_one_look_and_starves_nobody)
{
	struct vifs vifs = {0};
	struct xenvif *loud = add(&vifs, 1, 0), *quiet = add(&vifs, 2, 0);

	ck_assert(vifs_mark(&vifs, loud));
	for (int i = 0; i < 100000; i++)
		ck_assert(!vifs_mark(&vifs, loud));
	ck_assert(vifs_mark(&vifs, quiet));
	ck_assert_ptr_eq(vifs_take(&vifs), loud);
	/* It floods on while it is looked at: behind the other, not before it. */
	ck_assert(vifs_mark(&vifs, loud));
	ck_assert_ptr_eq(vifs_take(&vifs), quiet);
	ck_assert_ptr_eq(vifs_take(&vifs), loud);
	ck_assert_ptr_null(vifs_take(&vifs));
	end(&vifs);
}
END_TEST

START_TEST(a_vif_that_goes_leaves_the_list)
{
	struct vifs vifs = {0};
	struct xenvif *a = add(&vifs, 1, 0), *b = add(&vifs, 2, 0);

	vifs_mark(&vifs, a);
	vifs_mark(&vifs, b);
	vifs_remove(&vifs, a);
	free(a);
	ck_assert_ptr_eq(vifs_take(&vifs), b);
	ck_assert_ptr_null(vifs_take(&vifs));
	end(&vifs);
}
END_TEST

/* 6.33: a token of an earlier device in the same place is nobody's. */
START_TEST(a_token_is_of_one_identity)
{
	struct vifs vifs = {0};
	struct xenvif *vif = add(&vifs, 1, 0);

	ck_assert_ptr_null(vifs_find_token(&vifs, "1/0/7"));
	strcpy(vif->token, "1/0/8");
	ck_assert_ptr_null(vifs_find_token(&vifs, "1/0/7"));
	ck_assert_ptr_eq(vifs_find_token(&vifs, "1/0/8"), vif);
	ck_assert_ptr_null(vifs_find_token(&vifs, "1/0"));
	ck_assert_ptr_null(vifs_find_token(&vifs, "1/1/8"));
	ck_assert_ptr_null(vifs_find_token(&vifs, ""));
	ck_assert_ptr_null(vifs_find_token(&vifs, "x/0/8"));
	end(&vifs);
}
END_TEST

static const struct {
	const char *path;
	enum vifs_event event;
	uint32_t domid, devid;
} events[] = {
	{"backend/vif", VIFS_EVENT_SUBTREE, 0, 0},
	{"backend/vif/7", VIFS_EVENT_SUBTREE, 0, 0},
	{"backend/vif/7/0", VIFS_EVENT_VIF, 7, 0},
	{"backend/vif/7/3/state", VIFS_EVENT_VIF, 7, 3},
	{"backend/vif/7/3/online", VIFS_EVENT_VIF, 7, 3},
	{"/local/domain/0/backend/vif/7/3/online", VIFS_EVENT_VIF, 7, 3},
	{"/local/domain/12/backend/vif", VIFS_EVENT_SUBTREE, 0, 0},
	{"backend/vif/7/3/feature-sg", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/7/3/multi-queue-max-queues", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/4294967295/4294967295", VIFS_EVENT_VIF, 4294967295, 4294967295},
	{"backend/vif/4294967296/0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/-1/0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/01/0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif//0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/1/x/state", VIFS_EVENT_NONE, 0, 0},
	{"backend/vif/99999999999999999999/0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vifx/1/0", VIFS_EVENT_NONE, 0, 0},
	{"backend/vbd/1/0", VIFS_EVENT_NONE, 0, 0},
	{"/local/domain/x/backend/vif/1/0", VIFS_EVENT_NONE, 0, 0},
	{"/local/domain/", VIFS_EVENT_NONE, 0, 0},
	{"@releaseDomain", VIFS_EVENT_NONE, 0, 0},
	{"", VIFS_EVENT_NONE, 0, 0},
};

START_TEST(event_paths_are_parsed_not_trusted)
{
	struct xenvif_key key = {0, 0};
	enum vifs_event event = vifs_parse_event(events[_i].path, &key);

	ck_assert_msg(event == events[_i].event, "'%s': %d", events[_i].path, (int)event);
	if (event == VIFS_EVENT_VIF) {
		ck_assert_uint_eq(key.domid, events[_i].domid);
		ck_assert_uint_eq(key.devid, events[_i].devid);
	}
}
END_TEST

TCase *vifs_tcase(void)
{
	TCase *tcase = tcase_create("vifs");

	tcase_add_test(tcase, vifs_are_found_by_their_numbers);
	tcase_add_test(tcase, a_name_is_of_an_identified_vif);
	tcase_add_test(tcase, a_flood_of_one_vif_is_one_look_and_starves_nobody);
	tcase_add_test(tcase, a_vif_that_goes_leaves_the_list);
	tcase_add_test(tcase, a_token_is_of_one_identity);
	tcase_add_loop_test(tcase, event_paths_are_parsed_not_trusted, 0, ARRAY_SIZE(events));
	return tcase;
}
