/* SPDX-License-Identifier: MIT */
/* main.c: runs every test case of xenstore/. */
#include <stdlib.h>

#include "common/compiler.h"
#include "test/unit/xenstore/suites.h"

int main(void)
{
	TCase *(*const tcases[])(void) = {
		wire_tcase,  path_tcase,   perms_tcase,	 store_tcase,	    txn_tcase,
		watch_tcase, server_tcase, xenbus_tcase, xenbus_live_tcase,
	};
	Suite *suite = suite_create("xenstore");
	SRunner *runner;
	unsigned i;
	int failed;

	for (i = 0; i < ARRAY_SIZE(tcases); i++)
		suite_add_tcase(suite, tcases[i]());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
