/* SPDX-License-Identifier: MIT */
/*
 * report.h: the commands of the control socket: list, show, groups, stats, move. Control thread
 * only; reads the vifs, changes nothing (but move, which is what it is for).
 */
#ifndef NETBACK_REPORT_H
#define NETBACK_REPORT_H

#include "netback/ctl.h"

/* For ctl_create(); their arg is the struct control. */
extern const struct ctl_command report_commands[];

#endif
