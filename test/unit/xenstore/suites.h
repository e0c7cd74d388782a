/* SPDX-License-Identifier: MIT */
/* suites.h: the test cases of xenstore/, one function a source file. */
#ifndef TEST_UNIT_XENSTORE_SUITES_H
#define TEST_UNIT_XENSTORE_SUITES_H

#include <check.h>

TCase *xenbus_tcase(void);

#endif
