/* SPDX-License-Identifier: MIT */
/*
 * xenemu.h: the emulated Xen machine as a C library (libxenemu).
 *
 * libxenemu implements Xen's public libraries libxengnttab and libxenevtchn (xengnttab.h,
 * xenevtchn.h) on one Linux machine without a hypervisor. What is declared here is only what has no
 * counterpart there: making a machine and domains, saying which domain this process is, and what
 * tests and hostile frontends need of a guest's own memory.
 *
 * FIDELITY. Where the emulated machine differs from Xen (each line names the test that pins it):
 */
#ifndef GRANT_XENEMU_H
#define GRANT_XENEMU_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <xen/xen.h>
#include <xen/grant_table.h>

struct event_base;
struct xenemu_machine;

/* Environment by which `xenemu dom0|create` tells a program where it runs. */
#define XENEMU_ENV_RUNDIR "XENEMU_RUNDIR"
#define XENEMU_ENV_DOMID  "XENEMU_DOMID"

/**
 * xenemu_enter() - which domain the handles this process opens next belong to
 * @rundir: the machine's directory; @domid: the domain
 *
 * Without a call the environment decides (XENEMU_RUNDIR, XENEMU_DOMID). Per process, not per thread
 * safe against concurrent opens: tests that hold several domains call it before each open.
 * Return: 0 or -errno.
 */
int xenemu_enter(const char *rundir, domid_t domid);

#endif
