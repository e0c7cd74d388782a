/* SPDX-License-Identifier: MIT */
/* tests.h: the parts of test-netfront. */
#ifndef TEST_UNIT_NETFRONT_TESTS_H
#define TEST_UNIT_NETFRONT_TESTS_H

#include <check.h>

TCase *case_connect(void);
TCase *case_tx(void);
TCase *case_rx(void);
TCase *case_queue(void);
TCase *case_options(void);

#endif
