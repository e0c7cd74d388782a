/* SPDX-License-Identifier: MIT */
/* fake_xen.c: see fake_xen.h. One lock for everything: tests are not about its speed. */
#include "fake_xen.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xenevtchn.h>
#include <xengnttab.h>
#include <xen/xen.h>
#include <xen/grant_table.h>

#include "common/compiler.h"

struct fake_port {
	xenevtchn_handle *bound; /* the backend's handle, or NULL */
	bool masked, pending, fail;
	uint64_t guest_events;
};

struct xenevtchn_handle {
	int fd; /* counts pending ports */
};

struct xengntdev_handle {
	int unused;
};

static struct {
	pthread_mutex_t lock;
	/*
	 * The guest's memory, seen by the guest and seen by the backend: two mappings, as between
	 * two domains. So the thread sanitizer, which goes by address, does not take what the ring
	 * protocol orders by fences (which it does not know) for races.
	 */
	uint8_t *guest, *backend;
	bool revoked[FAKE_PAGES];
	struct fake_port ports[FAKE_PORTS];
	unsigned fail_calls, nr_mapped;
} fake = {.lock = PTHREAD_MUTEX_INITIALIZER};

#define MEMORY_BYTES ((size_t)FAKE_PAGES * FAKE_PAGE_BYTES)

static void make_memory(void)
{
	int fd = memfd_create("guest", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, (off_t)MEMORY_BYTES))
		abort();
	fake.guest = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	fake.backend = mmap(NULL, MEMORY_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (fake.guest == MAP_FAILED || fake.backend == MAP_FAILED)
		abort();
	close(fd);
}

void fake_reset(void)
{
	pthread_mutex_lock(&fake.lock);
	if (!fake.guest)
		make_memory();
	memset(fake.guest, 0, MEMORY_BYTES);
	memset(fake.revoked, 0, sizeof(fake.revoked));
	memset(fake.ports, 0, sizeof(fake.ports));
	fake.fail_calls = fake.nr_mapped = 0;
	pthread_mutex_unlock(&fake.lock);
}

void *fake_page(uint32_t gref)
{
	return fake.guest + (size_t)gref * FAKE_PAGE_BYTES;
}

void fake_revoke(uint32_t gref, bool revoked)
{
	pthread_mutex_lock(&fake.lock);
	fake.revoked[gref] = revoked;
	pthread_mutex_unlock(&fake.lock);
}

void fake_fail_calls(unsigned nr)
{
	pthread_mutex_lock(&fake.lock);
	fake.fail_calls = nr;
	pthread_mutex_unlock(&fake.lock);
}

void fake_fail_binds(uint32_t remote, bool fail)
{
	pthread_mutex_lock(&fake.lock);
	fake.ports[remote].fail = fail;
	pthread_mutex_unlock(&fake.lock);
}

unsigned fake_nr_mapped(void)
{
	unsigned nr;

	pthread_mutex_lock(&fake.lock);
	nr = fake.nr_mapped;
	pthread_mutex_unlock(&fake.lock);
	return nr;
}

unsigned fake_nr_bound(void)
{
	unsigned nr = 0;

	pthread_mutex_lock(&fake.lock);
	for (unsigned i = 0; i < FAKE_PORTS; i++)
		nr += !!fake.ports[i].bound;
	pthread_mutex_unlock(&fake.lock);
	return nr;
}

/* ---- grants ---- */

xengnttab_handle *xengnttab_open(struct xentoollog_logger *logger, unsigned flags)
{
	return calloc(1, sizeof(xengnttab_handle));
}

int xengnttab_close(xengnttab_handle *xgt)
{
	free(xgt);
	return 0;
}

static uint8_t *backend_page(uint32_t gref)
{
	return fake.backend + (size_t)gref * FAKE_PAGE_BYTES;
}

static bool good_ref(uint32_t domid, uint32_t ref)
{
	return domid == FAKE_DOMID && ref < FAKE_PAGES && !fake.revoked[ref];
}

void *xengnttab_map_grant_ref(xengnttab_handle *xgt, uint32_t domid, uint32_t ref, int prot)
{
	void *page = NULL;

	pthread_mutex_lock(&fake.lock);
	if (good_ref(domid, ref)) {
		page = backend_page(ref);
		fake.nr_mapped++;
	}
	pthread_mutex_unlock(&fake.lock);
	if (!page)
		errno = EINVAL;
	return page;
}

int xengnttab_unmap(xengnttab_handle *xgt, void *start, uint32_t count)
{
	pthread_mutex_lock(&fake.lock);
	fake.nr_mapped -= count;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static int16_t copy_seg(xengnttab_grant_copy_segment_t *seg)
{
	bool from = seg->flags == GNTCOPY_source_gref;
	uint32_t ref = from ? seg->source.foreign.ref : seg->dest.foreign.ref;
	uint16_t offset = from ? seg->source.foreign.offset : seg->dest.foreign.offset;
	uint16_t domid = from ? seg->source.foreign.domid : seg->dest.foreign.domid;

	if (!good_ref(domid, ref))
		return GNTST_bad_gntref;
	if (offset + seg->len > FAKE_PAGE_BYTES || !seg->len)
		return GNTST_bad_copy_arg;
	if (from)
		memcpy(seg->dest.virt, backend_page(ref) + offset, seg->len);
	else
		memcpy(backend_page(ref) + offset, seg->source.virt, seg->len);
	return GNTST_okay;
}

int xengnttab_grant_copy(xengnttab_handle *xgt, uint32_t count,
			 xengnttab_grant_copy_segment_t *segs)
{
	bool fail;

	pthread_mutex_lock(&fake.lock);
	fail = count > 1 && fake.fail_calls;
	if (fail)
		fake.fail_calls--;
	for (uint32_t i = 0; !fail && i < count; i++)
		segs[i].status = copy_seg(&segs[i]);
	pthread_mutex_unlock(&fake.lock);
	if (fail)
		errno = EFAULT;
	return fail ? -1 : 0;
}

/* ---- event channels: the backend's local port is the guest's port ---- */

xenevtchn_handle *xenevtchn_open(struct xentoollog_logger *logger, unsigned flags)
{
	xenevtchn_handle *xce = calloc(1, sizeof(*xce));

	if (xce)
		xce->fd = eventfd(0, EFD_CLOEXEC | EFD_SEMAPHORE);
	return xce;
}

int xenevtchn_close(xenevtchn_handle *xce)
{
	close(xce->fd);
	free(xce);
	return 0;
}

int xenevtchn_fd(xenevtchn_handle *xce)
{
	return xce->fd;
}

xenevtchn_port_or_error_t xenevtchn_bind_interdomain(xenevtchn_handle *xce, uint32_t domid,
						     evtchn_port_t remote)
{
	int result = -1;

	pthread_mutex_lock(&fake.lock);
	if (domid == FAKE_DOMID && remote < FAKE_PORTS && !fake.ports[remote].bound &&
	    !fake.ports[remote].fail) {
		fake.ports[remote].bound = xce;
		fake.ports[remote].masked = fake.ports[remote].pending = false;
		result = (int)remote;
	}
	pthread_mutex_unlock(&fake.lock);
	if (result < 0)
		errno = EINVAL;
	return result;
}

int xenevtchn_unbind(xenevtchn_handle *xce, evtchn_port_t port)
{
	uint64_t count;

	pthread_mutex_lock(&fake.lock);
	if (fake.ports[port].pending && !fake.ports[port].masked) {
		ssize_t ignored = read(xce->fd, &count, sizeof(count));

		(void)ignored;
	}
	fake.ports[port].bound = NULL;
	fake.ports[port].pending = false;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

static void raise_fd(xenevtchn_handle *xce)
{
	uint64_t one = 1;
	ssize_t ignored = write(xce->fd, &one, sizeof(one));

	(void)ignored;
}

void fake_guest_notify(uint32_t remote)
{
	struct fake_port *port = &fake.ports[remote];

	pthread_mutex_lock(&fake.lock);
	if (port->bound && !port->pending) {
		port->pending = true;
		if (!port->masked)
			raise_fd(port->bound);
	}
	pthread_mutex_unlock(&fake.lock);
}

/* Blocks like the real one: a caller that does not ask first hangs the test. */
xenevtchn_port_or_error_t xenevtchn_pending(xenevtchn_handle *xce)
{
	int result = -1;
	uint64_t count;

	if (read(xce->fd, &count, sizeof(count)) != sizeof(count))
		return -1;
	pthread_mutex_lock(&fake.lock);
	for (int i = 0; i < FAKE_PORTS && result < 0; i++) {
		struct fake_port *port = &fake.ports[i];

		if (port->bound == xce && port->pending && !port->masked) {
			port->masked = true;
			port->pending = false;
			result = i;
		}
	}
	pthread_mutex_unlock(&fake.lock);
	if (result < 0)
		errno = EAGAIN;
	return result;
}

int xenevtchn_unmask(xenevtchn_handle *xce, evtchn_port_t local)
{
	struct fake_port *port = &fake.ports[local];

	pthread_mutex_lock(&fake.lock);
	port->masked = false;
	if (port->pending)
		raise_fd(xce);
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

int xenevtchn_notify(xenevtchn_handle *xce, evtchn_port_t port)
{
	pthread_mutex_lock(&fake.lock);
	fake.ports[port].guest_events++;
	pthread_mutex_unlock(&fake.lock);
	return 0;
}

uint64_t fake_guest_events(uint32_t remote)
{
	uint64_t nr;

	pthread_mutex_lock(&fake.lock);
	nr = fake.ports[remote].guest_events;
	pthread_mutex_unlock(&fake.lock);
	return nr;
}
