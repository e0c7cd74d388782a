/* SPDX-License-Identifier: MIT */
/* test-netfront.c: runs the frontend's unit tests. */
#include "test/unit/netfront/tests.h"

#include <stdlib.h>

int main(void)
{
	Suite *suite = suite_create("netfront");
	SRunner *runner;
	int failed;

	suite_add_tcase(suite, case_tx());
	suite_add_tcase(suite, case_rx());
	suite_add_tcase(suite, case_queue());
	suite_add_tcase(suite, case_options());
	suite_add_tcase(suite, case_connect());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
