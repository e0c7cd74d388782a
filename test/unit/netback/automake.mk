# SPDX-License-Identifier: MIT
# The control part's pure pieces.
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

# The control part against the embedded xenstored, with a data path that moves nothing.
check_PROGRAMS += test/unit/netback/test-backend
TESTS += test/unit/netback/test-backend
test_unit_netback_test_backend_SOURCES = \
	test/unit/netback/fake_datapath.c test/unit/netback/fake_datapath.h \
	test/unit/netback/test-backend.c
test_unit_netback_test_backend_CFLAGS = $(netback_libnetctl_la_CFLAGS) $(CHECK_CFLAGS)
test_unit_netback_test_backend_LDADD = netback/libnetctl.la xenstore/libxsd.la \
	common/libcommon.la $(CHECK_LIBS)

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
