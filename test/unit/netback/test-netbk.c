/* SPDX-License-Identifier: MIT */
/*
 * test-netbk.c: the unit tests of netback's data path. Pure parts are tested on rings in ordinary
 * memory; flow.c runs groups, queues and ports whole, on fake_xen.c in place of Xen's libraries.
 */
#include "netbk_suites.h"

#include <stdlib.h>

int main(void)
{
	SRunner *runner = srunner_create(pending_suite());
	int failed;

	srunner_add_suite(runner, copy_suite());
	srunner_add_suite(runner, txpkt_suite());
	srunner_add_suite(runner, rxpkt_suite());
	srunner_add_suite(runner, csum_suite());
	srunner_add_suite(runner, port_suite());
	srunner_add_suite(runner, flow_suite());
	srunner_run_all(runner, CK_ENV);
	failed = srunner_ntests_failed(runner);
	srunner_free(runner);
	return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}
