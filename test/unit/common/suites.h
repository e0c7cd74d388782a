/* SPDX-License-Identifier: MIT */
/* suites.h: the suites of test-common. */
#ifndef TEST_COMMON_SUITES_H
#define TEST_COMMON_SUITES_H

#include <check.h>

Suite *alloc_suite(void);
Suite *load_frame_suite(void);
Suite *log_suite(void);
Suite *placement_suite(void);
Suite *worker_suite(void);

#endif
