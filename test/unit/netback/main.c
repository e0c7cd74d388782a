/* SPDX-License-Identifier: MIT */
/* main.c: runs every test case of netback/. */
#include "test/unit/netback/suites.h"

#include <stddef.h>
#include <stdlib.h>

static TCase *(*const tcases[])(void) = {
	conf_tcase, ctl_tcase, frontend_tcase, state_tcase, vifs_tcase,
};

int main(void)
{
	Suite *suite = suite_create("netback");
	SRunner *runner;
	int failed;

	for (size_t i = 0; i < sizeof(tcases) / sizeof(tcases[0]); i++)
		suite_add_tcase(suite, tcases[i]());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
