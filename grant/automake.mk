# SPDX-License-Identifier: MIT
# The emulated machine. The library side is built once and used three times: in the two shared
# objects with Xen's names, and in libxenemu, which unit tests and the command link.
noinst_LTLIBRARIES += grant/libclient.la grant/libgnttab.la grant/libevtchn.la grant/libcontrol.la \
	grant/libxenemu.la

grant_libclient_la_SOURCES = \
	grant/client.c grant/client.h \
	grant/hypercall.h
grant_libclient_la_LIBADD = -lxentoolcore $(XENTOOLLOG_LIBS)

grant_libgnttab_la_SOURCES = \
	grant/gnttab.c grant/gnttab.h \
	grant/gnttab_copy.c \
	grant/gntshr.c \
	grant/grant_entry.c grant/grant_entry.h

grant_libevtchn_la_SOURCES = grant/evtchn_client.c

grant_libcontrol_la_SOURCES = grant/control.c

grant_libxenemu_la_SOURCES = \
	grant/domain.c \
	grant/evtchn.c \
	grant/grant_table.c \
	grant/guest.c \
	grant/hypervisor.c \
	grant/machine.c grant/machine.h \
	grant/xenemu.h
grant_libxenemu_la_LIBADD = grant/libgnttab.la grant/libevtchn.la grant/libcontrol.la \
	grant/libclient.la xenstore/libxsd.la common/libcommon.la $(EVENT_LIBS)

# Drop-in replacements: Xen's sonames and symbol versions, found through LD_LIBRARY_PATH. The first
# two are the machine; the others are what Xen's own libxenctrl needs to open.
pkglib_LTLIBRARIES += grant/libxengnttab.la grant/libxenevtchn.la grant/libxencall.la \
	grant/libxenforeignmemory.la grant/libxendevicemodel.la

grant_libxengnttab_la_SOURCES =
grant_libxengnttab_la_LIBADD = grant/libgnttab.la grant/libclient.la
grant_libxengnttab_la_LDFLAGS = $(AM_LDFLAGS) -version-info 3:0:2 \
	-Wl,--version-script=$(srcdir)/grant/libxengnttab.map
grant_libxengnttab_la_DEPENDENCIES = grant/libgnttab.la grant/libclient.la grant/libxengnttab.map
grant_libxenevtchn_la_SOURCES =
grant_libxenevtchn_la_LIBADD = grant/libevtchn.la grant/libclient.la
grant_libxenevtchn_la_LDFLAGS = $(AM_LDFLAGS) -version-info 3:0:2 \
	-Wl,--version-script=$(srcdir)/grant/libxenevtchn.map
grant_libxenevtchn_la_DEPENDENCIES = grant/libevtchn.la grant/libclient.la grant/libxenevtchn.map
grant_libxencall_la_SOURCES = grant/xencall.c
grant_libxencall_la_LIBADD = grant/libcontrol.la grant/libclient.la
grant_libxencall_la_LDFLAGS = $(AM_LDFLAGS) -version-info 4:0:3 \
	-Wl,--version-script=$(srcdir)/grant/libxencall.map
grant_libxencall_la_DEPENDENCIES = grant/libcontrol.la grant/libclient.la grant/libxencall.map
grant_libxenforeignmemory_la_SOURCES = grant/foreignmemory.c
grant_libxenforeignmemory_la_LDFLAGS = $(AM_LDFLAGS) -version-info 5:0:4 \
	-Wl,--version-script=$(srcdir)/grant/libxenforeignmemory.map
grant_libxenforeignmemory_la_DEPENDENCIES = grant/libxenforeignmemory.map
grant_libxendevicemodel_la_SOURCES = grant/devicemodel.c
grant_libxendevicemodel_la_LDFLAGS = $(AM_LDFLAGS) -version-info 5:0:4 \
	-Wl,--version-script=$(srcdir)/grant/libxendevicemodel.map
grant_libxendevicemodel_la_DEPENDENCIES = grant/libxendevicemodel.map
EXTRA_DIST += grant/libxengnttab.map grant/libxenevtchn.map grant/libxencall.map \
	grant/libxenforeignmemory.map grant/libxendevicemodel.map

bin_PROGRAMS += grant/xenemu
grant_xenemu_SOURCES = \
	grant/reaper.c grant/reaper.h \
	grant/xenemu_cmd.h \
	grant/xenemu_create.c \
	grant/xenemu_main.c \
	grant/xenemu_query.c \
	grant/xenemu_run.c
grant_xenemu_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS) $(JANSSON_CFLAGS)
grant_xenemu_LDADD = grant/libxenemu.la grant/libtoolstack.la xenstore/libxenbus.la $(XENSTORE_LIBS) $(JANSSON_LIBS) \
	$(EVENT_LIBS)


# What libxl does with the store when xl attaches a vif or destroys a domain.
noinst_LTLIBRARIES += grant/libtoolstack.la
grant_libtoolstack_la_SOURCES = \
	grant/cmd_network.c grant/cmd_network.h \
	grant/hotplug.c grant/hotplug.h \
	grant/toolstack.c grant/toolstack.h \
	grant/vifspec.c grant/vifspec.h
grant_libtoolstack_la_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS) $(JANSSON_CFLAGS)
grant_libtoolstack_la_LIBADD = common/libcommon.la $(XENSTORE_LIBS) $(JANSSON_LIBS)
