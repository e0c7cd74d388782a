# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += xenstore/libxenbus.la xenstore/libxsd.la
xenstore_libxenbus_la_SOURCES = xenstore/xenbus.c xenstore/xenbus.h
xenstore_libxenbus_la_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS)
xenstore_libxenbus_la_LIBADD = $(XENSTORE_LIBS)

xenstore_libxsd_la_SOURCES = \
	xenstore/xsd.c xenstore/xsd.h \
	xenstore/xsd_conn.c \
	xenstore/xsd_control.c \
	xenstore/xsd_ops.c \
	xenstore/xsd_path.c xenstore/xsd_path.h \
	xenstore/xsd_perms.c xenstore/xsd_perms.h \
	xenstore/xsd_private.h \
	xenstore/xsd_store.c xenstore/xsd_store.h \
	xenstore/xsd_tree.c xenstore/xsd_tree.h \
	xenstore/xsd_txn.c xenstore/xsd_txn.h \
	xenstore/xsd_watch.c xenstore/xsd_watch.h \
	xenstore/xsd_wire.c xenstore/xsd_wire.h
xenstore_libxsd_la_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
# A user adds common/libcommon.la itself: as one of several parts of a shared library it must come in
# once only.
xenstore_libxsd_la_LIBADD = $(EVENT_LIBS)

# The server alone, for tests.
noinst_PROGRAMS += xenstore/xsd-standalone
xenstore_xsd_standalone_SOURCES = xenstore/xsd_main.c
xenstore_xsd_standalone_CFLAGS = $(AM_CFLAGS) $(EVENT_CFLAGS)
xenstore_xsd_standalone_LDADD = xenstore/libxsd.la common/libcommon.la
