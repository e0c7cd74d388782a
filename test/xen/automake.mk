# SPDX-License-Identifier: MIT
# A real Xen host in QEMU: too long for `make check`, so it has a target of its own.
EXTRA_DIST += test/xen/run test/xen/images.sh test/xen/dom0-init test/xen/dom0-main \
	test/xen/guest-init test/xen/lib.sh test/xen/harness.sh test/xen/job-cases \
	test/xen/cases/bad-input.sh test/xen/cases/basic.sh test/xen/cases/driver-domain.sh \
	test/xen/cases/frontend.sh test/xen/cases/life-cycle.sh test/xen/cases/restart.sh \
	test/xen/cases/save.sh test/xen/cases/scripts.sh

.PHONY: check-xen
check-xen: all
	$(MAKE) check TESTS=
	$(top_srcdir)/test/xen/run --timeout 1500 --build $(abs_top_builddir) \
		$(top_srcdir)/test/xen/job-cases
