/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Device commands. Errors are those of cxib_cmd_exec() unless another is named;
 * all functions sleep.
 */
#ifndef CXIB_HW_DEVICE_H
#define CXIB_HW_DEVICE_H

#include <linux/bits.h>
#include <linux/types.h>

#include "hw/bus.h"
#include "hw/capabilities.h"
#include "hw/command_queue.h"

/* The device decodes only the start of a UAR page: log2 of the length of that part. */
#define CXIB_LOG_UAR_SIZE	12
#define CXIB_UAR_SIZE		BIT(CXIB_LOG_UAR_SIZE)

/* Size of a board id, including the terminating NUL. */
#define CXIB_BOARD_ID_SIZE	17

/**
 * struct cxib_adapter - identification of the adapter
 * @vendor_oui: IEEE OUI of the vendor
 * @board_id: board id (PSID)
 */
struct cxib_adapter {
	u32 vendor_oui;
	char board_id[CXIB_BOARD_ID_SIZE];
};

/**
 * enum cxib_cap_mode - which values of a capability page
 * @CXIB_CAP_MAXIMUM: supported values
 * @CXIB_CAP_CURRENT: configured values
 */
enum cxib_cap_mode {
	CXIB_CAP_MAXIMUM = HW_HCA_CAP_MODE_MAXIMUM,
	CXIB_CAP_CURRENT = HW_HCA_CAP_MODE_CURRENT,
};

/* Offset of a UAR page in BAR 0. */
static inline u64 cxib_uar_offset(const struct cxib_bus *bus, u32 uar)
{
	return (u64)uar << bus->log_uar_distance;
}

/* Physical address of a UAR page. */
static inline phys_addr_t cxib_uar_address(const struct cxib_bus *bus, u32 uar)
{
	return bus->bar + cxib_uar_offset(bus, uar);
}

int cxib_cmd_enable_hca(struct cxib_command_queue *queue);
int cxib_cmd_disable_hca(struct cxib_command_queue *queue);
int cxib_cmd_query_issi(struct cxib_command_queue *queue, u32 *supported);
int cxib_cmd_set_issi(struct cxib_command_queue *queue, unsigned int issi);
int cxib_cmd_set_host_endianness(struct cxib_command_queue *queue);
int cxib_cmd_query_general_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
				struct hw_cmd_hca_cap *caps);
int cxib_cmd_set_general_caps(struct cxib_command_queue *queue, const struct hw_cmd_hca_cap *caps);
int cxib_cmd_query_general_2_caps(struct cxib_command_queue *queue, struct hw_cmd_hca_cap_2 *caps);
int cxib_cmd_query_atomic_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
			       struct hw_atomic_caps *caps);
int cxib_cmd_set_atomic_caps(struct cxib_command_queue *queue, const struct hw_atomic_caps *caps);
int cxib_cmd_query_odp_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
			    struct hw_odp_cap *caps);
int cxib_cmd_set_odp_caps(struct cxib_command_queue *queue, const struct hw_odp_cap *caps);
int cxib_cmd_query_memic_caps(struct cxib_command_queue *queue,
			      struct hw_device_mem_cap *caps);
int cxib_cmd_init_hca(struct cxib_command_queue *queue);
int cxib_cmd_teardown_hca(struct cxib_command_queue *queue);
int cxib_cmd_set_driver_version(struct cxib_command_queue *queue, const char *version);
int cxib_cmd_query_adapter(struct cxib_command_queue *queue, struct cxib_adapter *adapter);
bool cxib_uar_is_mappable(const struct cxib_bus *bus, u32 uar, size_t host_page);
int cxib_cmd_alloc_uar(struct cxib_command_queue *queue, u16 uid, u32 *uar);
int cxib_cmd_dealloc_uar(struct cxib_command_queue *queue, u16 uid, u32 uar);

#endif
