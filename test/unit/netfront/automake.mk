# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/netfront/test-netfront
TESTS += test/unit/netfront/test-netfront
test_unit_netfront_test_netfront_SOURCES = \
	test/unit/netfront/fake_backend.c test/unit/netfront/fake_backend.h \
	test/unit/netfront/fake_ring.c test/unit/netfront/fake_ring.h \
	test/unit/netfront/test-connect.c \
	test/unit/netfront/test-netfront.c \
	test/unit/netfront/test-options.c \
	test/unit/netfront/test-queue.c \
	test/unit/netfront/test-ring-rx.c \
	test/unit/netfront/test-ring-tx.c \
	test/unit/netfront/tests.h
test_unit_netfront_test_netfront_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(EVENT_CFLAGS)
test_unit_netfront_test_netfront_LDADD = netfront/libnetfront.la grant/libxenemu.la \
	$(CHECK_LIBS) -levent_pthreads
