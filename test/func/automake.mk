# SPDX-License-Identifier: MIT
# Bash scripts on a whole machine of their own (harness.sh); skipped where there can be none.
functional_tests = \
	test/func/bad-input \
	test/func/daemon \
	test/func/demo \
	test/func/hotplug \
	test/func/life-cycle \
	test/func/many-guests \
	test/func/rogue-frontends \
	test/func/traffic
TESTS += $(functional_tests)
EXTRA_DIST += $(functional_tests) test/func/harness.sh

AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	export top_srcdir top_builddir;

# Others' programs, and good and bad clients, on the embedded xenstored alone.
check_PROGRAMS += test/func/xenstore-load
test_func_xenstore_load_SOURCES = test/func/xenstore-load.c
test_func_xenstore_load_CFLAGS = $(AM_CFLAGS) $(XENSTORE_CFLAGS)
test_func_xenstore_load_LDADD = xenstore/libxenbus.la
TESTS += test/func/xenstore-clients
EXTRA_DIST += test/func/xenstore-clients

# Xen's own xenstored beside the embedded one. What is preloaded into it must bring no sanitizer.
check_LTLIBRARIES += test/func/xenstored-host.la
test_func_xenstored_host_la_SOURCES = test/func/xenstored-host.c
test_func_xenstored_host_la_CFLAGS = -std=gnu11 $(WARN_CFLAGS) $(XENGNTTAB_CFLAGS) $(XENEVTCHN_CFLAGS)
test_func_xenstored_host_la_LDFLAGS = -module -avoid-version -shared -rpath $(abs_builddir)
check_PROGRAMS += test/func/xenstored-twins
test_func_xenstored_twins_SOURCES = test/func/xenstored-twins.c
TESTS += test/func/xenstored-compare
EXTRA_DIST += test/func/xenstored-compare
