# SPDX-License-Identifier: MIT
dist_man_MANS += docs/netfront.8
