# SPDX-License-Identifier: MIT

# What libxl does with the store when xl attaches a vif or destroys a domain.
noinst_LTLIBRARIES += grant/libtoolstack.la
grant_libtoolstack_la_SOURCES = \
	grant/cmd_network.c grant/cmd_network.h \
	grant/hotplug.c grant/hotplug.h \
	grant/toolstack.c grant/toolstack.h \
	grant/vifspec.c grant/vifspec.h
grant_libtoolstack_la_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS) $(JANSSON_CFLAGS)
grant_libtoolstack_la_LIBADD = common/libcommon.la $(XENSTORE_LIBS) $(JANSSON_LIBS)
