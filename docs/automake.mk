# SPDX-License-Identifier: MIT
dist_man_MANS += docs/xenemu.1
dist_man_MANS += docs/netbackd.8 docs/netbackctl.8
