/* SPDX-License-Identifier: MIT */
/* main.c: runs every test case of xenstore/. */
#include <stdlib.h>

#include "test/unit/xenstore/suites.h"

int main(void)
{
	Suite *suite = suite_create("xenstore");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, xenbus_tcase());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
