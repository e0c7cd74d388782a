# SPDX-License-Identifier: MIT
check_PROGRAMS += test/unit/netback/test-netback
TESTS += test/unit/netback/test-netback
test_unit_netback_test_netback_SOURCES = \
	test/unit/netback/main.c test/unit/netback/suites.h \
	test/unit/netback/test-conf.c \
	test/unit/netback/test-ctl.c \
	test/unit/netback/test-frontend.c \
	test/unit/netback/test-state.c \
	test/unit/netback/test-vifs.c
test_unit_netback_test_netback_CFLAGS = $(netback_libnetctl_la_CFLAGS) $(CHECK_CFLAGS)
test_unit_netback_test_netback_LDADD = netback/libnetctl.la netback/libnetback.la \
	common/libcommon.la $(XENGNTTAB_LIBS) $(XENEVTCHN_LIBS) $(XENTOOLLOG_LIBS) $(CHECK_LIBS)
