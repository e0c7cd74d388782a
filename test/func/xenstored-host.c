/* SPDX-License-Identifier: MIT */
/*
 * xenstored-host.c: stand-ins for the hypervisor under Xen's own xenstored, preloaded into it by
 * test/func/xenstored-compare. A domain is a file ringD in $XSD_HOST_DIR: its xenstore page.
 * Nothing signals: xenstored looks at its rings whenever one of its sockets wakes it.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <xenctrl.h>
#include <xenevtchn.h>
#include <xengnttab.h>

#define PAGE_BYTES 4096

/* Handles are never looked into: any address will do. */
static char handle;
static int event_fd = -1;
static int next_port = 10;

static int real_open(const char *path, int flags, int mode)
{
	int (*function)(const char *, int, ...);

	*(void **)&function = dlsym(RTLD_NEXT, "open");
	return function(path, flags, mode);
}

static const char *host_path(const char *name, unsigned domid)
{
	static char path[256];
	const char *dir = getenv("XSD_HOST_DIR");

	snprintf(path, sizeof(path), name, dir ? dir : ".", domid);
	return path;
}

/* xenstored opens these two of the Xen file system; all else is as it is. */
int open(const char *path, int flags, ...)
{
	va_list ap;
	int mode;

	va_start(ap, flags);
	mode = flags & O_CREAT ? va_arg(ap, int) : 0;
	va_end(ap);
	if (strcmp(path, "/proc/xen/xsd_port") == 0)
		path = host_path("%s/port", 0);
	else if (strcmp(path, "/proc/xen/xsd_kva") == 0)
		path = host_path("%s/ring%u", 0);
	return real_open(path, flags, mode);
}

xc_interface *xc_interface_open(xentoollog_logger *logger, xentoollog_logger *dombuild_logger,
				unsigned flags)
{
	return (xc_interface *)&handle;
}

int xc_interface_close(xc_interface *xch)
{
	return 0;
}

int xc_domain_getinfo(xc_interface *xch, uint32_t first_domid, unsigned max_doms,
		      xc_dominfo_t *info)
{
	if (access(host_path("%s/ring%u", first_domid), F_OK))
		return 0;
	memset(info, 0, sizeof(*info));
	info->domid = first_domid;
	info->running = 1;
	return 1;
}

xenevtchn_handle *xenevtchn_open(struct xentoollog_logger *logger, unsigned int flags)
{
	event_fd = eventfd(0, EFD_NONBLOCK);
	return (xenevtchn_handle *)&handle;
}

int xenevtchn_fd(xenevtchn_handle *xce)
{
	return event_fd;
}

int xenevtchn_notify(xenevtchn_handle *xce, evtchn_port_t port)
{
	return 0;
}

xenevtchn_port_or_error_t xenevtchn_bind_interdomain(xenevtchn_handle *xce, uint32_t domid,
						     evtchn_port_t remote_port)
{
	return next_port++;
}

xenevtchn_port_or_error_t xenevtchn_bind_virq(xenevtchn_handle *xce, unsigned int virq)
{
	return 1;
}

int xenevtchn_unbind(xenevtchn_handle *xce, evtchn_port_t port)
{
	return 0;
}

int xenevtchn_unmask(xenevtchn_handle *xce, evtchn_port_t port)
{
	return 0;
}

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned open_flags)
{
	/* xenstored frees nothing it got here but by xengnttab_close(). */
	return (xengnttab_handle *)&handle;
}

int xengnttab_close(xengnttab_handle *xgt)
{
	return 0;
}

int xengnttab_set_max_grants(xengnttab_handle *xgt, uint32_t nr_grants)
{
	return 0;
}

void *xengnttab_map_grant_ref(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot)
{
	int fd = real_open(host_path("%s/ring%u", domid), O_RDWR, 0);
	void *page;

	if (fd < 0)
		return NULL;
	page = mmap(NULL, PAGE_BYTES, prot, MAP_SHARED, fd, 0);
	close(fd);
	return page == MAP_FAILED ? NULL : page;
}

int xengnttab_unmap(xengnttab_handle *xgt, void *start_address, uint32_t count)
{
	return munmap(start_address, (size_t)count * PAGE_BYTES);
}
