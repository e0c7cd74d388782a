/* SPDX-License-Identifier: MIT */
/* suites.h: the test cases of xenstore/, one function a source file. */
#ifndef TEST_UNIT_XENSTORE_SUITES_H
#define TEST_UNIT_XENSTORE_SUITES_H

#include <check.h>

TCase *xenbus_tcase(void);
TCase *xenbus_live_tcase(void);
TCase *wire_tcase(void);
TCase *path_tcase(void);
TCase *perms_tcase(void);
TCase *store_tcase(void);
TCase *txn_tcase(void);
TCase *watch_tcase(void);
TCase *server_tcase(void);

#endif
