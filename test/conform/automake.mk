# SPDX-License-Identifier: MIT
# Written to Xen's public libraries only, and linked with the system's: the same binary runs on the
# emulated machine (through LD_LIBRARY_PATH) and inside a real Xen.
check_PROGRAMS += test/conform/conform
test_conform_conform_SOURCES = \
	test/conform/cases.c \
	test/conform/conform.c test/conform/conform.h \
	test/conform/link.c \
	test/conform/server.c
test_conform_conform_CFLAGS = $(AM_CFLAGS) $(XENGNTTAB_CFLAGS) $(XENEVTCHN_CFLAGS) \
	$(XENSTORE_CFLAGS)
test_conform_conform_LDADD = $(XENGNTTAB_LIBS) $(XENEVTCHN_LIBS) $(XENSTORE_LIBS)

conform_scripts = test/conform/run-conform test/conform/run-vchan test/conform/run-cli
EXTRA_DIST += $(conform_scripts) test/conform/lib.sh test/conform/job-xen
TESTS += $(conform_scripts)
