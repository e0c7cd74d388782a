/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "test/unit/grant/fixture.h"

int main(void)
{
	Suite *suite = suite_create("grant");
	SRunner *runner;
	int nr_failed;

	suite_add_tcase(suite, tcase_entry());
	suite_add_tcase(suite, tcase_copy());
	suite_add_tcase(suite, tcase_map());
	suite_add_tcase(suite, tcase_evtchn());
	suite_add_tcase(suite, tcase_life());
	runner = srunner_create(suite);
	srunner_run_all(runner, CK_ENV);
	nr_failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return nr_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
