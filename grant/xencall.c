/* SPDX-License-Identifier: MIT */
/*
 * xencall.c: libxencall, so that Xen's own libxenctrl (and what links it) opens on the emulated
 * machine. The hypercalls that tell which domains there are get an answer, from dom0; every other
 * is ENOSYS. Linux's privcmd returns a hypercall's error through errno; so does this.
 */
#define __XEN_TOOLS__ 1

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xen/xen.h>
#include <xen/domctl.h>
#include <xen/sysctl.h>
#include <xen/version.h>
#include <xencall.h>

#include "common/compiler.h"
#include "grant/hypercall.h"
#include "grant/xenemu.h"

/* What the emulated machine says it is: the release whose behaviour it follows. */
#define VERSION_MAJOR 4
#define VERSION_MINOR 17

struct xencall_handle {
	unsigned flags;
};

xencall_handle *xencall_open(struct xentoollog_logger *logger, unsigned open_flags)
{
	struct xencall_handle *xcall = calloc(1, sizeof(*xcall));

	if (xcall)
		xcall->flags = open_flags;
	return xcall;
}

int xencall_close(xencall_handle *xcall)
{
	free(xcall);
	return 0;
}

int xencall_fd(xencall_handle *xcall)
{
	return -1;
}

static void fill_info(struct xen_domctl_getdomaininfo *out, const struct xenemu_domain_info *info)
{
	memset(out, 0, sizeof(*out));
	out->domain = info->domid;
	out->flags = XEN_DOMINF_running | XEN_DOMINF_hvm_guest | XEN_DOMINF_hap;
	out->nr_online_vcpus = 1;
}

/* The first domain with at least the domid asked for, as Xen does it. */
static int do_domctl(struct xen_domctl *op)
{
	struct xenemu_control *control;
	struct xenemu_domain_info info;
	int err;

	if (op->interface_version != XEN_DOMCTL_INTERFACE_VERSION)
		return -EACCES;
	if (op->cmd != XEN_DOMCTL_getdomaininfo)
		return -ENOSYS;
	err = xenemu_control_open(xenemu_rundir(), &control);
	if (err)
		return err;
	err = xenemu_domain_next(control, op->domain, &info);
	xenemu_control_close(control);
	if (err)
		return err;
	op->domain = info.domid;
	fill_info(&op->u.getdomaininfo, &info);
	return 0;
}

static int do_sysctl(struct xen_sysctl *op)
{
	struct xen_sysctl_getdomaininfolist *list = &op->u.getdomaininfolist;
	struct xenemu_control *control;
	struct xenemu_domain_info info;
	uint32_t from = list->first_domain;
	int err;

	if (op->interface_version != XEN_SYSCTL_INTERFACE_VERSION)
		return -EACCES;
	if (op->cmd != XEN_SYSCTL_getdomaininfolist)
		return -ENOSYS;
	err = xenemu_control_open(xenemu_rundir(), &control);
	if (err)
		return err;
	list->num_domains = 0;
	while (list->num_domains < list->max_domains && from < DOMID_FIRST_RESERVED &&
	       !xenemu_domain_next(control, (domid_t)from, &info)) {
		fill_info(&list->buffer.p[list->num_domains++], &info);
		from = info.domid + 1U;
	}
	xenemu_control_close(control);
	return 0;
}

static int do_version(unsigned cmd)
{
	return cmd == XENVER_version ? VERSION_MAJOR << 16 | VERSION_MINOR : -ENOSYS;
}

static int hypercall(unsigned op, uint64_t arg1)
{
	int ret = -ENOSYS;

	if (op == __HYPERVISOR_domctl)
		ret = do_domctl((void *)(uintptr_t)arg1);
	else if (op == __HYPERVISOR_sysctl)
		ret = do_sysctl((void *)(uintptr_t)arg1);
	else if (op == __HYPERVISOR_xen_version)
		ret = do_version((unsigned)arg1);
	if (ret >= 0)
		return ret;
	errno = -ret;
	return -1;
}

int xencall0(xencall_handle *xcall, unsigned int op)
{
	return hypercall(op, 0);
}

int xencall1(xencall_handle *xcall, unsigned int op, uint64_t arg1)
{
	return hypercall(op, arg1);
}

int xencall2(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2)
{
	return hypercall(op, arg1);
}

long xencall2L(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2)
{
	return hypercall(op, arg1);
}

int xencall3(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3)
{
	return hypercall(op, arg1);
}

int xencall4(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3,
	     uint64_t arg4)
{
	return hypercall(op, arg1);
}

int xencall5(xencall_handle *xcall, unsigned int op, uint64_t arg1, uint64_t arg2, uint64_t arg3,
	     uint64_t arg4, uint64_t arg5)
{
	return hypercall(op, arg1);
}

/* ---- buffers: there is no kernel between, so ordinary memory will do ---- */

void *xencall_alloc_buffer_pages(xencall_handle *xcall, size_t nr_pages)
{
	void *mem;
	int err;

	if (nr_pages > SIZE_MAX >> HV_PAGE_SHIFT) {
		errno = ENOMEM;
		return NULL;
	}
	err = posix_memalign(&mem, HV_PAGE_BYTES, nr_pages << HV_PAGE_SHIFT);
	if (err) {
		errno = err;
		return NULL;
	}
	return memset(mem, 0, nr_pages << HV_PAGE_SHIFT);
}

void xencall_free_buffer_pages(xencall_handle *xcall, void *p, size_t nr_pages)
{
	free(p);
}

void *xencall_alloc_buffer(xencall_handle *xcall, size_t size)
{
	return xencall_alloc_buffer_pages(xcall, DIV_ROUND_UP(size, HV_PAGE_BYTES));
}

void xencall_free_buffer(xencall_handle *xcall, void *p)
{
	free(p);
}

int xencall_buffers_never_fault(xencall_handle *xcall)
{
	return 1;
}
