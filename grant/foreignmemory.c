/* SPDX-License-Identifier: MIT */
/*
 * foreignmemory.c: libxenforeignmemory as far as libxenctrl needs it to open. Domains of the
 * emulated machine share memory by grants only: whatever would map a page otherwise is EOPNOTSUPP.
 */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <xenforeignmemory.h>

struct xenforeignmemory_handle {
	unsigned flags;
};

static int unsupported(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

xenforeignmemory_handle *xenforeignmemory_open(struct xentoollog_logger *logger,
					       unsigned open_flags)
{
	struct xenforeignmemory_handle *fmem = calloc(1, sizeof(*fmem));

	if (fmem)
		fmem->flags = open_flags;
	return fmem;
}

int xenforeignmemory_close(xenforeignmemory_handle *fmem)
{
	free(fmem);
	return 0;
}

void *xenforeignmemory_map(xenforeignmemory_handle *fmem, uint32_t dom, int prot, size_t pages,
			   const xen_pfn_t arr[], int err[])
{
	unsupported();
	return NULL;
}

void *xenforeignmemory_map2(xenforeignmemory_handle *fmem, uint32_t dom, void *addr, int prot,
			    int flags, size_t pages, const xen_pfn_t arr[], int err[])
{
	unsupported();
	return NULL;
}

int xenforeignmemory_unmap(xenforeignmemory_handle *fmem, void *addr, size_t pages)
{
	return unsupported();
}

int xenforeignmemory_restrict(xenforeignmemory_handle *fmem, domid_t domid)
{
	return unsupported();
}

xenforeignmemory_resource_handle *xenforeignmemory_map_resource(
	xenforeignmemory_handle *fmem, domid_t domid, unsigned int type, unsigned int id,
	unsigned long frame, unsigned long nr_frames, void **paddr, int prot, int flags)
{
	unsupported();
	return NULL;
}

int xenforeignmemory_unmap_resource(xenforeignmemory_handle *fmem,
				    xenforeignmemory_resource_handle *fres)
{
	return unsupported();
}

int xenforeignmemory_resource_size(xenforeignmemory_handle *fmem, domid_t domid, unsigned int type,
				   unsigned int id, size_t *size)
{
	return unsupported();
}
