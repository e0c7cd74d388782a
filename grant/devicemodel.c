/* SPDX-License-Identifier: MIT */
/*
 * devicemodel.c: libxendevicemodel as far as libxenctrl needs it to open. There are no device
 * models on the emulated machine: every operation is EOPNOTSUPP.
 */
#define __XEN_TOOLS__ 1

#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <xendevicemodel.h>

struct xendevicemodel_handle {
	unsigned flags;
};

static int unsupported(void)
{
	errno = EOPNOTSUPP;
	return -1;
}

xendevicemodel_handle *xendevicemodel_open(struct xentoollog_logger *logger,
					   unsigned int open_flags)
{
	struct xendevicemodel_handle *dmod = calloc(1, sizeof(*dmod));

	if (dmod)
		dmod->flags = open_flags;
	return dmod;
}

int xendevicemodel_close(xendevicemodel_handle *dmod)
{
	free(dmod);
	return 0;
}

/* The header's prototypes check the parameters. */
#define UNSUPPORTED(name, ...)                                              \
	int name(xendevicemodel_handle *dmod, domid_t domid, ##__VA_ARGS__) \
	{                                                                   \
		return unsupported();                                       \
	}

UNSUPPORTED(xendevicemodel_create_ioreq_server, int handle_bufioreq, ioservid_t *id)
UNSUPPORTED(xendevicemodel_get_ioreq_server_info, ioservid_t id, xen_pfn_t *ioreq_gfn,
	    xen_pfn_t *bufioreq_gfn, evtchn_port_t *bufioreq_port)
UNSUPPORTED(xendevicemodel_map_io_range_to_ioreq_server, ioservid_t id, int is_mmio, uint64_t start,
	    uint64_t end)
UNSUPPORTED(xendevicemodel_unmap_io_range_from_ioreq_server, ioservid_t id, int is_mmio,
	    uint64_t start, uint64_t end)
UNSUPPORTED(xendevicemodel_map_mem_type_to_ioreq_server, ioservid_t id, uint16_t type,
	    uint32_t flags)
UNSUPPORTED(xendevicemodel_map_pcidev_to_ioreq_server, ioservid_t id, uint16_t segment, uint8_t bus,
	    uint8_t device, uint8_t function)
UNSUPPORTED(xendevicemodel_unmap_pcidev_from_ioreq_server, ioservid_t id, uint16_t segment,
	    uint8_t bus, uint8_t device, uint8_t function)
UNSUPPORTED(xendevicemodel_destroy_ioreq_server, ioservid_t id)
UNSUPPORTED(xendevicemodel_set_ioreq_server_state, ioservid_t id, int enabled)
UNSUPPORTED(xendevicemodel_set_pci_intx_level, uint16_t segment, uint8_t bus, uint8_t device,
	    uint8_t intx, unsigned int level)
UNSUPPORTED(xendevicemodel_set_isa_irq_level, uint8_t irq, unsigned int level)
UNSUPPORTED(xendevicemodel_set_irq_level, unsigned int irq, unsigned int level)
UNSUPPORTED(xendevicemodel_set_pci_link_route, uint8_t link, uint8_t irq)
UNSUPPORTED(xendevicemodel_inject_msi, uint64_t msi_addr, uint32_t msi_data)
UNSUPPORTED(xendevicemodel_track_dirty_vram, uint64_t first_pfn, uint32_t nr,
	    unsigned long *dirty_bitmap)
UNSUPPORTED(xendevicemodel_modified_memory, uint64_t first_pfn, uint32_t nr)
UNSUPPORTED(xendevicemodel_modified_memory_bulk, struct xen_dm_op_modified_memory_extent extents[],
	    uint32_t nr)
UNSUPPORTED(xendevicemodel_set_mem_type, hvmmem_type_t mem_type, uint64_t first_pfn, uint32_t nr)
UNSUPPORTED(xendevicemodel_inject_event, int vcpu, uint8_t vector, uint8_t type,
	    uint32_t error_code, uint8_t insn_len, uint64_t extra)
UNSUPPORTED(xendevicemodel_shutdown, unsigned int reason)
UNSUPPORTED(xendevicemodel_relocate_memory, uint32_t size, uint64_t src_gfn, uint64_t dst_gfn)
UNSUPPORTED(xendevicemodel_pin_memory_cacheattr, uint64_t start, uint64_t end, uint32_t type)
UNSUPPORTED(xendevicemodel_nr_vcpus, unsigned int *vcpus)
UNSUPPORTED(xendevicemodel_restrict)
