# SPDX-License-Identifier: MIT
# Each part of the tests lists its own files; the unit tests mirror the source folders.
if HAVE_CHECK
include test/unit/common/automake.mk
include test/unit/grant/automake.mk
include test/unit/xenstore/automake.mk
include test/unit/netback/automake.mk
include test/unit/netfront/automake.mk
include test/unit/toolstack/automake.mk
endif
include test/conform/automake.mk
include test/func/automake.mk
include test/xen/automake.mk

# For scripts/check, which counts them one by one.
.PHONY: list-tests
list-tests:
	@for test in $(TESTS); do echo $$test; done
