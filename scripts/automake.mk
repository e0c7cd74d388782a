# SPDX-License-Identifier: MIT
pkglibexec_SCRIPTS += scripts/vif-bridge
EXTRA_DIST += scripts/vif-bridge
