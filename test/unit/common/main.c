/* SPDX-License-Identifier: MIT */
/* main.c: runs the unit tests of common/. */
#include "suites.h"

#include <stdlib.h>

int main(void)
{
	SRunner *runner = srunner_create(alloc_suite());
	int failed;

	srunner_add_suite(runner, load_frame_suite());
	srunner_add_suite(runner, log_suite());
	srunner_add_suite(runner, placement_suite());
	srunner_add_suite(runner, worker_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
