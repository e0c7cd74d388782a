/* SPDX-License-Identifier: MIT */
/* netbk_suites.h: the suites of test-netbk, the unit tests of the data path. */
#ifndef TEST_NETBK_SUITES_H
#define TEST_NETBK_SUITES_H

#include <check.h>

Suite *pending_suite(void);
Suite *copy_suite(void);
Suite *txpkt_suite(void);
Suite *rxpkt_suite(void);
Suite *csum_suite(void);
Suite *port_suite(void);
Suite *flow_suite(void);

#endif
