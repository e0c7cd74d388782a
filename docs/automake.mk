# SPDX-License-Identifier: MIT
dist_man_MANS += docs/xenemu.1
