/* SPDX-License-Identifier: MIT */
/* suites.h: the test cases of netback/, one function a source file. */
#ifndef TEST_UNIT_NETBACK_SUITES_H
#define TEST_UNIT_NETBACK_SUITES_H

#include <check.h>

/* The control part. */
TCase *conf_tcase(void);
TCase *ctl_tcase(void);
TCase *frontend_tcase(void);
TCase *state_tcase(void);
TCase *vifs_tcase(void);

#endif
