# SPDX-License-Identifier: MIT
dist_man_MANS += docs/netbackctl.8 docs/netbackd.8 docs/netfront.8 docs/xenemu.1
EXTRA_DIST += docs/decisions.md
