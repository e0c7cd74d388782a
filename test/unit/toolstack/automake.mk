# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/toolstack/test-toolstack
TESTS += test/unit/toolstack/test-toolstack
test_unit_toolstack_test_toolstack_SOURCES = test/unit/toolstack/test_vifspec.c grant/vifspec.c
test_unit_toolstack_test_toolstack_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_toolstack_test_toolstack_LDADD = common/libcommon.la $(CHECK_LIBS)
