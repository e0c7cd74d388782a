# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/xenstore/test-xenstore
TESTS += test/unit/xenstore/test-xenstore
test_unit_xenstore_test_xenstore_SOURCES = \
	test/unit/xenstore/main.c test/unit/xenstore/suites.h \
	test/unit/xenstore/server.c test/unit/xenstore/server.h \
	test/unit/xenstore/store.c test/unit/xenstore/store.h \
	test/unit/xenstore/test-path.c \
	test/unit/xenstore/test-perms.c \
	test/unit/xenstore/test-server.c \
	test/unit/xenstore/test-store.c \
	test/unit/xenstore/test-txn.c \
	test/unit/xenstore/test-watch.c \
	test/unit/xenstore/test-wire.c \
	test/unit/xenstore/test-xenbus.c \
	test/unit/xenstore/test-xenbus-live.c
test_unit_xenstore_test_xenstore_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(XENSTORE_CFLAGS) $(EVENT_CFLAGS)
test_unit_xenstore_test_xenstore_LDADD = xenstore/libxsd.la xenstore/libxenbus.la common/libcommon.la \
	$(CHECK_LIBS)
