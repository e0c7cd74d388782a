# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/common/test-common
TESTS += test/unit/common/test-common
test_unit_common_test_common_SOURCES = \
	test/unit/common/main.c test/unit/common/suites.h \
	test/unit/common/test-alloc.c \
	test/unit/common/test-load-frame.c \
	test/unit/common/test-log.c \
	test/unit/common/test-placement.c \
	test/unit/common/test-worker.c
test_unit_common_test_common_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS)
test_unit_common_test_common_LDADD = common/libcommon.la $(CHECK_LIBS)
