# SPDX-License-Identifier: MIT
# The data path: groups, queues, ports. Xen's libraries are linked by the program, so that tests can
# bring their own.
noinst_LTLIBRARIES += netback/libnetbk.la
netback_libnetbk_la_SOURCES = \
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
	netback/tx.c netback/txpkt.c netback/txpkt.h \
	netback/xtl.c netback/xtl.h
netback_libnetbk_la_CFLAGS = $(AM_CFLAGS) $(XENGNTTAB_CFLAGS) $(XENEVTCHN_CFLAGS) $(XENTOOLLOG_CFLAGS)
