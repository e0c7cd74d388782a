# SPDX-License-Identifier: MIT
# libnetfront: the frontend without its command line, for the program, the rogue and tests.
noinst_LTLIBRARIES += netfront/libnetfront.la
netfront_libnetfront_la_SOURCES = \
	netfront/connect.c netfront/frontend.h \
	netfront/keys.c \
	netfront/loop.c \
	netfront/netfront.h \
	netfront/options.c netfront/options.h \
	netfront/queue.c \
	netfront/ring.h \
	netfront/ring_rx.c \
	netfront/ring_tx.c \
	netfront/side.h \
	netfront/side_load.c \
	netfront/side_tap.c \
	netfront/stats.c netfront/stats.h
netfront_libnetfront_la_CFLAGS = $(AM_CFLAGS) $(XENGNTTAB_CFLAGS) $(XENEVTCHN_CFLAGS) \
	$(XENSTORE_CFLAGS) $(XENTOOLLOG_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
netfront_libnetfront_la_LIBADD = xenstore/libxenbus.la common/libcommon.la $(XENSTORE_LIBS) \
	$(XENTOOLLOG_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS)
# Xen's pages and events are linked by the program, so that tests can bring the emulated machine.
netfront_hypervisor_libs = $(XENGNTTAB_LIBS) $(XENEVTCHN_LIBS)

sbin_PROGRAMS += netfront/netfront
netfront_netfront_SOURCES = netfront/main.c
netfront_netfront_LDADD = netfront/libnetfront.la $(netfront_hypervisor_libs)

# Not installed: tests aim it at a backend.
noinst_PROGRAMS += netfront/rogue
netfront_rogue_SOURCES = netfront/rogue.c netfront/rogue.h netfront/rogue_keys.c \
	netfront/rogue_ring.c
netfront_rogue_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
netfront_rogue_LDADD = netfront/libnetfront.la $(netfront_hypervisor_libs)
