# SPDX-License-Identifier: MIT
pkglibexec_SCRIPTS += scripts/vif-bridge
EXTRA_DIST += scripts/vif-bridge scripts/check scripts/check-layers scripts/demo scripts/lib.sh \
	scripts/machine.sh .shellcheckrc .ci/run

# For the system netbackd is installed on: configure with --sysconfdir=/etc to have them where they
# are looked for.
xenscriptsdir = $(sysconfdir)/xen/scripts
xenscripts_SCRIPTS = scripts/vif-netbackd
modprobedir = $(sysconfdir)/modprobe.d
initdir = $(sysconfdir)/init.d
if HAVE_SYSTEMD
systemdsystemunit_DATA = scripts/netbackd.service
endif

substituted = scripts/vif-netbackd scripts/netbackd.service scripts/netbackd.init
EXTRA_DIST += scripts/vif-netbackd.in scripts/netbackd.service.in scripts/netbackd.init.in \
	scripts/netbackd-modprobe.conf
BUILT_SOURCES += $(substituted)
CLEANFILES += $(substituted)

$(substituted): Makefile
	$(AM_V_GEN)$(MKDIR_P) scripts && $(SED) -e 's,@sbindir[@],$(sbindir),g' \
		-e 's,@sysconfdir[@],$(sysconfdir),g' -e 's,@pkglibexecdir[@],$(pkglibexecdir),g' \
		-e 's,@MODPROBE[@],$(MODPROBE),g' $(srcdir)/$@.in >$@.tmp
	$(AM_V_at)case $@ in *.service) ;; *) chmod +x $@.tmp ;; esac && mv $@.tmp $@
scripts/vif-netbackd: $(srcdir)/scripts/vif-netbackd.in
scripts/netbackd.service: $(srcdir)/scripts/netbackd.service.in
scripts/netbackd.init: $(srcdir)/scripts/netbackd.init.in

# Under the names they are known by there.
install-data-local:
	$(MKDIR_P) $(DESTDIR)$(modprobedir) $(DESTDIR)$(initdir)
	$(INSTALL_DATA) $(srcdir)/scripts/netbackd-modprobe.conf \
		$(DESTDIR)$(modprobedir)/netbackd.conf
	$(INSTALL_SCRIPT) scripts/netbackd.init $(DESTDIR)$(initdir)/netbackd
uninstall-local:
	rm -f $(DESTDIR)$(modprobedir)/netbackd.conf $(DESTDIR)$(initdir)/netbackd
