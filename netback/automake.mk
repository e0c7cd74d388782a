# SPDX-License-Identifier: MIT
# The data path: groups, queues, ports. Xen's libraries are linked by the program, so that tests can
# bring their own.
noinst_LTLIBRARIES += netback/libnetback.la
netback_libnetback_la_SOURCES = \
	netback/copy.c netback/copy.h \
	netback/counter.h \
	netback/csum.c netback/csum.h \
	netback/group.c netback/group.h netback/group_private.h \
	netback/pending.c netback/pending.h \
	netback/port.c netback/port.h netback/port_ops.h \
	netback/port_load.c \
	netback/port_tap.c \
	netback/queue.c netback/queue.h \
	netback/rx.c netback/rxpkt.c netback/rxpkt.h \
	netback/tx.c netback/txpkt.c netback/txpkt.h
netback_libnetback_la_CFLAGS = $(AM_CFLAGS) $(XENGNTTAB_CFLAGS) $(XENEVTCHN_CFLAGS) $(XENTOOLLOG_CFLAGS)

# The control part, as a library so that tests link it, and the programs.
noinst_LTLIBRARIES += netback/libnetctl.la
netback_libnetctl_la_SOURCES = \
	netback/backend.c netback/backend.h \
	netback/conf.c netback/conf.h \
	netback/control.c netback/control.h \
	netback/ctl.c netback/ctl.h \
	netback/daemon.c netback/daemon.h \
	netback/frontend.c netback/frontend.h \
	netback/report.c netback/report.h \
	netback/state.c netback/state.h \
	netback/vif.c netback/vif.h \
	netback/vifs.c netback/vifs.h
netback_libnetctl_la_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS) $(XENGNTTAB_CFLAGS) \
	$(XENEVTCHN_CFLAGS) $(EVENT_CFLAGS) $(JANSSON_CFLAGS)
netback_libnetctl_la_LIBADD = xenstore/libxenbus.la $(XENSTORE_LIBS) $(EVENT_LIBS) $(JANSSON_LIBS)

sbin_PROGRAMS += netback/netbackd
netback_netbackd_SOURCES = netback/main.c
netback_netbackd_CFLAGS = $(netback_libnetctl_la_CFLAGS)
netback_netbackd_LDADD = netback/libnetctl.la netback/libnetback.la common/libcommon.la \
	$(XENGNTTAB_LIBS) $(XENEVTCHN_LIBS) $(XENTOOLLOG_LIBS)

sbin_PROGRAMS += netback/netbackctl
netback_netbackctl_SOURCES = netback/netbackctl.c
netback_netbackctl_CFLAGS = $(AM_CFLAGS) $(JANSSON_CFLAGS)
netback_netbackctl_LDADD = $(JANSSON_LIBS)
