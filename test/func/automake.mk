# SPDX-License-Identifier: MIT
# Bash scripts on a whole machine of their own (harness.sh); skipped where there can be none.
functional_tests = \
	test/func/bad-input \
	test/func/demo \
	test/func/hotplug \
	test/func/life-cycle \
	test/func/many-guests \
	test/func/traffic
TESTS += $(functional_tests)
EXTRA_DIST += $(functional_tests) test/func/harness.sh

AM_TESTS_ENVIRONMENT = \
	top_srcdir='$(abs_top_srcdir)'; top_builddir='$(abs_top_builddir)'; \
	export top_srcdir top_builddir;
