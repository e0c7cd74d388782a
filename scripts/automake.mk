# SPDX-License-Identifier: MIT
pkglibexec_SCRIPTS += scripts/vif-bridge
EXTRA_DIST += scripts/vif-bridge scripts/check scripts/check-layers scripts/demo scripts/lib.sh \
	scripts/machine.sh .shellcheckrc .ci/run
