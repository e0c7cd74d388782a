# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/grant/test-grant
TESTS += test/unit/grant/test-grant
test_unit_grant_test_grant_SOURCES = \
	test/unit/grant/fixture.c test/unit/grant/fixture.h \
	test/unit/grant/test_copy.c \
	test/unit/grant/test_entry.c \
	test/unit/grant/test_evtchn.c \
	test/unit/grant/test_life.c \
	test/unit/grant/test_main.c \
	test/unit/grant/test_map.c
test_unit_grant_test_grant_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(EVENT_CFLAGS)
test_unit_grant_test_grant_LDADD = grant/libxenemu.la $(CHECK_LIBS) -levent_pthreads
