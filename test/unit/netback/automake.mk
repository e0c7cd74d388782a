# SPDX-License-Identifier: MIT
# The data path. It brings its own Xen libraries (fake_xen.c), hence a program of its own.
check_PROGRAMS += test/unit/netback/test-netbk
TESTS += test/unit/netback/test-netbk
test_unit_netback_test_netbk_SOURCES = \
	test/unit/netback/fake_xen.c test/unit/netback/fake_xen.h \
	test/unit/netback/guest.c test/unit/netback/guest.h \
	test/unit/netback/netbk_copy.c \
	test/unit/netback/netbk_csum.c \
	test/unit/netback/netbk_flow.c \
	test/unit/netback/netbk_pending.c \
	test/unit/netback/netbk_port.c \
	test/unit/netback/netbk_rxpkt.c \
	test/unit/netback/netbk_suites.h \
	test/unit/netback/netbk_txpkt.c \
	test/unit/netback/test-netbk.c
test_unit_netback_test_netbk_CFLAGS = $(AM_CFLAGS) $(CHECK_CFLAGS) $(XENGNTTAB_CFLAGS) \
	$(XENEVTCHN_CFLAGS) $(XENTOOLLOG_CFLAGS)
test_unit_netback_test_netbk_LDADD = netback/libnetback.la common/libcommon.la $(CHECK_LIBS)
