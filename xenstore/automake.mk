# SPDX-License-Identifier: MIT
noinst_LTLIBRARIES += xenstore/libxenbus.la
xenstore_libxenbus_la_SOURCES = xenstore/xenbus.c xenstore/xenbus.h
xenstore_libxenbus_la_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS)
xenstore_libxenbus_la_LIBADD = $(XENSTORE_LIBS)
