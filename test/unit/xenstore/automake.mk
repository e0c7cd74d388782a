# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/xenstore/test-xenstore
TESTS += test/unit/xenstore/test-xenstore
test_unit_xenstore_test_xenstore_SOURCES = \
	test/unit/xenstore/main.c test/unit/xenstore/suites.h \
	test/unit/xenstore/test-xenbus.c
test_unit_xenstore_test_xenstore_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(XENSTORE_CFLAGS)
test_unit_xenstore_test_xenstore_LDADD = xenstore/libxenbus.la $(CHECK_LIBS)
