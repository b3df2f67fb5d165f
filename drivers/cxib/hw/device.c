// SPDX-License-Identifier: GPL-2.0-only
/* Device commands. */
#include <kunit/visibility.h>
#include <linux/ctype.h>
#include <linux/device.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/bus.h"
#include "hw/commands_device.h"
#include "hw/commands_objects.h"
#include "hw/commands_port.h"
#include "hw/device.h"
#include "hw/init_segment.h"
#include "hw/registers.h"

/**
 * cxib_cmd_enable_hca() - ENABLE_HCA: enables the function
 * @queue: command queue
 */
int cxib_cmd_enable_hca(struct cxib_command_queue *queue)
{
	struct hw_enable_hca_in in = {};
	struct hw_enable_hca_out out;

	hw_enable_hca_in_set_opcode(&in, HW_CMD_ENABLE_HCA);
	return cxib_cmd_exec_inout(queue, in, out);
}

/**
 * cxib_cmd_disable_hca() - DISABLE_HCA: undo cxib_cmd_enable_hca()
 * @queue: command queue; firmware has returned all pages
 */
int cxib_cmd_disable_hca(struct cxib_command_queue *queue)
{
	struct hw_disable_hca_in in = {};
	struct hw_disable_hca_out out;

	hw_disable_hca_in_set_opcode(&in, HW_CMD_DISABLE_HCA);
	return cxib_cmd_exec_inout(queue, in, out);
}

/**
 * cxib_cmd_query_issi() - QUERY_ISSI: reads the supported ISSIs
 * @queue: command queue
 * @supported: output: bit n: ISSI n is supported. Firmware without the command
 *	supports ISSI 0.
 */
int cxib_cmd_query_issi(struct cxib_command_queue *queue, u32 *supported)
{
	struct hw_query_issi_in in = {};
	struct hw_query_issi_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.no_log = true,
	};
	int err;

	hw_query_issi_in_set_opcode(&in, HW_CMD_QUERY_ISSI);
	err = cxib_cmd_exec(queue, &command);
	if (command.status == HW_COMMAND_STATUS_BAD_OPERATION) {
		*supported = BIT(0);
		return 0;
	}
	if (err && command.status)
		dev_err(queue->dev,
			"query_issi failed: status 0x%x, syndrome 0x%x\n",
			command.status, command.syndrome);
	*supported = hw_query_issi_out_get_supported_issi_dw0(&out);
	return err;
}

/**
 * cxib_cmd_set_issi() - SET_ISSI: selects the ISSI
 * @queue: command queue
 * @issi: a supported ISSI
 */
int cxib_cmd_set_issi(struct cxib_command_queue *queue, unsigned int issi)
{
	struct hw_set_issi_in in = {};
	struct hw_set_issi_out out;

	hw_set_issi_in_set_opcode(&in, HW_CMD_SET_ISSI);
	hw_set_issi_in_set_current_issi(&in, issi);
	return cxib_cmd_exec_inout(queue, in, out);
}

/**
 * cxib_cmd_set_host_endianness() - register HOST_ENDIANNESS: sets the host's byte order
 * @queue: command queue of a physical function
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_set_host_endianness(struct cxib_command_queue *queue)
{
	struct {
		struct hw_access_register_in head;
		struct hw_register_host_endianness data;
	} in = {};
	struct {
		struct hw_access_register_out head;
		struct hw_register_host_endianness data;
	} out;

	hw_access_register_in_set_opcode(&in.head, HW_CMD_ACCESS_REGISTER);
	hw_access_register_in_set_op_mod(&in.head, HW_ACCESS_REGISTER_OP_MOD_WRITE);
	hw_access_register_in_set_register_id(&in.head, HW_REGISTER_HOST_ENDIANNESS);
	if (IS_ENABLED(CONFIG_CPU_BIG_ENDIAN))
		hw_register_host_endianness_set_he(&in.data, HW_REGISTER_HOST_ENDIAN_BIG);
	return cxib_cmd_exec_optional(queue, in, out);
}

/* Only the general page is required: the driver works without the features of the other pages. */
static int hwdev_query_caps(struct cxib_command_queue *queue, enum hw_hca_cap_type type,
			    enum cxib_cap_mode mode, struct hw_query_hca_cap_out *out)
{
	struct hw_query_hca_cap_in in = {};
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = out, .out_length = sizeof(*out),
		.optional = type != HW_HCA_CAP_TYPE_GENERAL,
	};

	hw_query_hca_cap_in_set_opcode(&in, HW_CMD_QUERY_HCA_CAP);
	hw_query_hca_cap_in_set_op_mod(&in, type << 1 | mode);
	return cxib_cmd_exec(queue, &command);
}

/**
 * cxib_cmd_query_general_caps() - QUERY_HCA_CAP: reads the general page
 * @queue: command queue
 * @mode: maximum or current values
 * @caps: output
 */
int cxib_cmd_query_general_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
				struct hw_cmd_hca_cap *caps)
{
	struct hw_query_hca_cap_out *out = kvzalloc(sizeof(*out), GFP_KERNEL);
	int err;

	if (!out)
		return -ENOMEM;
	err = hwdev_query_caps(queue, HW_HCA_CAP_TYPE_GENERAL, mode, out);
	*caps = *hw_query_hca_cap_out_get_capability_cmd_hca_cap(out);
	kvfree(out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_general_caps);

/**
 * cxib_cmd_query_general_2_caps() - QUERY_HCA_CAP: reads the second general page
 * @queue: command queue of a device with hca_cap_2
 * @caps: output: current values
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_general_2_caps(struct cxib_command_queue *queue, struct hw_cmd_hca_cap_2 *caps)
{
	struct hw_query_hca_cap_out *out = kvzalloc(sizeof(*out), GFP_KERNEL);
	int err;

	if (!out)
		return -ENOMEM;
	err = hwdev_query_caps(queue, HW_HCA_CAP_TYPE_GENERAL_2, CXIB_CAP_CURRENT, out);
	*caps = *hw_query_hca_cap_out_get_capability_cmd_hca_cap_2(out);
	kvfree(out);
	return err;
}

/**
 * cxib_cmd_query_atomic_caps() - QUERY_HCA_CAP: reads the atomic page
 * @queue: command queue of a device with atomic operations
 * @mode: maximum or current values
 * @caps: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_atomic_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
			       struct hw_atomic_caps *caps)
{
	struct hw_query_hca_cap_out *out = kvzalloc(sizeof(*out), GFP_KERNEL);
	int err;

	if (!out)
		return -ENOMEM;
	err = hwdev_query_caps(queue, HW_HCA_CAP_TYPE_ATOMIC, mode, out);
	*caps = *hw_query_hca_cap_out_get_capability_atomic_caps(out);
	kvfree(out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_query_atomic_caps);

/**
 * cxib_cmd_query_odp_caps() - QUERY_HCA_CAP: reads the ODP page
 * @queue: command queue of a device with ODP
 * @mode: maximum or current values
 * @caps: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_odp_caps(struct cxib_command_queue *queue, enum cxib_cap_mode mode,
			    struct hw_odp_cap *caps)
{
	struct hw_query_hca_cap_out *out = kvzalloc(sizeof(*out), GFP_KERNEL);
	int err;

	if (!out)
		return -ENOMEM;
	err = hwdev_query_caps(queue, HW_HCA_CAP_TYPE_ODP, mode, out);
	*caps = *hw_query_hca_cap_out_get_capability_odp_cap(out);
	kvfree(out);
	return err;
}

/**
 * cxib_cmd_query_memic_caps() - QUERY_HCA_CAP: reads the MEMIC page
 * @queue: command queue of a device with device memory
 * @caps: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_memic_caps(struct cxib_command_queue *queue,
			      struct hw_device_mem_cap *caps)
{
	struct hw_query_hca_cap_out *out = kvzalloc(sizeof(*out), GFP_KERNEL);
	int err;

	if (!out)
		return -ENOMEM;
	err = hwdev_query_caps(queue, HW_HCA_CAP_TYPE_DEVICE_MEMORY, CXIB_CAP_CURRENT, out);
	*caps = *hw_query_hca_cap_out_get_capability_device_mem_cap(out);
	kvfree(out);
	return err;
}

static int hwdev_set_caps(struct cxib_command_queue *queue, enum hw_hca_cap_type type,
			  struct hw_set_hca_cap_in *in)
{
	struct hw_set_hca_cap_out out;
	struct cxib_command command = {
		.in = in, .in_length = sizeof(*in),
		.out = &out, .out_length = sizeof(out),
		.optional = type != HW_HCA_CAP_TYPE_GENERAL,
	};

	hw_set_hca_cap_in_set_opcode(in, HW_CMD_SET_HCA_CAP);
	hw_set_hca_cap_in_set_op_mod(in, type << 1);
	return cxib_cmd_exec(queue, &command);
}

/**
 * cxib_cmd_set_general_caps() - SET_HCA_CAP: sets the general page
 * @queue: command queue, before INIT_HCA
 * @caps: the whole page, no value beyond its maximum
 */
int cxib_cmd_set_general_caps(struct cxib_command_queue *queue, const struct hw_cmd_hca_cap *caps)
{
	struct hw_set_hca_cap_in *in = kvzalloc(sizeof(*in), GFP_KERNEL);
	int err;

	if (!in)
		return -ENOMEM;
	*hw_set_hca_cap_in_capability_cmd_hca_cap(in) = *caps;
	err = hwdev_set_caps(queue, HW_HCA_CAP_TYPE_GENERAL, in);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_set_general_caps);

/**
 * cxib_cmd_set_atomic_caps() - SET_HCA_CAP: sets the atomic page
 * @queue: command queue, before INIT_HCA
 * @caps: the whole page
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_set_atomic_caps(struct cxib_command_queue *queue, const struct hw_atomic_caps *caps)
{
	struct hw_set_hca_cap_in *in = kvzalloc(sizeof(*in), GFP_KERNEL);
	int err;

	if (!in)
		return -ENOMEM;
	*hw_set_hca_cap_in_capability_atomic_caps(in) = *caps;
	err = hwdev_set_caps(queue, HW_HCA_CAP_TYPE_ATOMIC, in);
	kvfree(in);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_set_atomic_caps);

/**
 * cxib_cmd_set_odp_caps() - SET_HCA_CAP: sets the ODP page
 * @queue: command queue, before INIT_HCA
 * @caps: the whole page
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_set_odp_caps(struct cxib_command_queue *queue, const struct hw_odp_cap *caps)
{
	struct hw_set_hca_cap_in *in = kvzalloc(sizeof(*in), GFP_KERNEL);
	int err;

	if (!in)
		return -ENOMEM;
	*hw_set_hca_cap_in_capability_odp_cap(in) = *caps;
	err = hwdev_set_caps(queue, HW_HCA_CAP_TYPE_ODP, in);
	kvfree(in);
	return err;
}

/**
 * cxib_cmd_init_hca() - INIT_HCA: starts the operation of the HCA
 * @queue: command queue; firmware has its init pages
 */
int cxib_cmd_init_hca(struct cxib_command_queue *queue)
{
	struct hw_init_hca_in in = {};
	struct hw_init_hca_out out;

	hw_init_hca_in_set_opcode(&in, HW_CMD_INIT_HCA);
	return cxib_cmd_exec_inout(queue, in, out);
}

/**
 * cxib_cmd_teardown_hca() - TEARDOWN_HCA: graceful stop
 * @queue: command queue; all objects are destroyed
 */
int cxib_cmd_teardown_hca(struct cxib_command_queue *queue)
{
	struct hw_teardown_hca_in in = {};
	struct hw_teardown_hca_out out;

	hw_teardown_hca_in_set_opcode(&in, HW_CMD_TEARDOWN_HCA);
	hw_teardown_hca_in_set_profile(&in, HW_TEARDOWN_HCA_PROFILE_GRACEFUL_CLOSE);
	return cxib_cmd_exec_inout(queue, in, out);
}

/**
 * cxib_cmd_set_driver_version() - SET_DRIVER_VERSION: reports the driver to management tools
 * @queue: command queue of a device with driver_version
 * @version: version; truncated to 63 characters
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_set_driver_version(struct cxib_command_queue *queue, const char *version)
{
	struct hw_set_driver_version_in in = {};
	struct hw_set_driver_version_out out;

	hw_set_driver_version_in_set_opcode(&in, HW_CMD_SET_DRIVER_VERSION);
	strscpy((char *)hw_set_driver_version_in_driver_version(&in), version, 64);
	return cxib_cmd_exec_optional(queue, in, out);
}

/* The board id is logged, so characters that are not printable must be filtered. */
static void hwdev_copy_board_id(char *text, const u8 *bytes)
{
	unsigned int i;

	for (i = 0; i < CXIB_BOARD_ID_SIZE - 1 && bytes[i]; i++)
		text[i] = isprint(bytes[i]) ? bytes[i] : '?';
	text[i] = '\0';
}

/**
 * cxib_cmd_query_adapter() - QUERY_ADAPTER: reads vendor and board id
 * @queue: command queue
 * @adapter: output
 *
 * Return: as cxib_cmd_exec() of an optional command.
 */
int cxib_cmd_query_adapter(struct cxib_command_queue *queue, struct cxib_adapter *adapter)
{
	const struct hw_query_adapter_param_block *block;
	struct hw_query_adapter_in in = {};
	struct hw_query_adapter_out out;
	int err;

	hw_query_adapter_in_set_opcode(&in, HW_CMD_QUERY_ADAPTER);
	err = cxib_cmd_exec_optional(queue, in, out);
	block = hw_query_adapter_out_get_query_adapter_struct(&out);
	adapter->vendor_oui = hw_query_adapter_param_block_get_ieee_vendor_id(block);
	hwdev_copy_board_id(adapter->board_id,
			    hw_query_adapter_param_block_get_vsd_contd_psid(block));
	return err;
}

/**
 * cxib_uar_is_mappable() - whether user space may map the host page of a UAR page
 * @bus: bus access
 * @uar: UAR index
 * @host_page: size of a host page in bytes
 *
 * Return: true if the UAR page is at the start of a host page, and this host page is in BAR 0 and
 * contains no part of the init segment.
 */
bool cxib_uar_is_mappable(const struct cxib_bus *bus, u32 uar, size_t host_page)
{
	const u64 offset = cxib_uar_offset(bus, uar);

	return IS_ALIGNED(offset, host_page) && offset >= CXIB_INIT_SEGMENT_SIZE &&
	       offset + host_page <= bus->bar_size;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_uar_is_mappable);

/**
 * cxib_cmd_alloc_uar() - ALLOC_UAR: allocates a UAR page
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @uar: output: UAR index
 *
 * Return: -EBADMSG when user space must not map the page, see cxib_uar_is_mappable().
 */
int cxib_cmd_alloc_uar(struct cxib_command_queue *queue, u16 uid, u32 *uar)
{
	struct hw_alloc_uar_in in = {};
	struct hw_alloc_uar_out out;
	int err;

	hw_alloc_uar_in_set_opcode(&in, HW_CMD_ALLOC_UAR);
	hw_alloc_uar_in_set_uid(&in, uid);
	err = cxib_cmd_exec_inout(queue, in, out);
	if (err)
		return err;
	*uar = hw_alloc_uar_out_get_uar(&out);
	if (cxib_uar_is_mappable(queue->bus, *uar, PAGE_SIZE))
		return 0;
	dev_err(queue->dev, "UAR %u: offset 0x%llx out of range [0x%lx, 0x%llx] (step 0x%lx)\n",
		*uar, cxib_uar_offset(queue->bus, *uar), PAGE_ALIGN(CXIB_INIT_SEGMENT_SIZE),
		(u64)queue->bus->bar_size - PAGE_SIZE, PAGE_SIZE);
	cxib_cmd_dealloc_uar(queue, uid, *uar);
	return -EBADMSG;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_uar);

/**
 * cxib_cmd_dealloc_uar() - DEALLOC_UAR: undo cxib_cmd_alloc_uar()
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @uar: UAR index, to which no object refers
 */
int cxib_cmd_dealloc_uar(struct cxib_command_queue *queue, u16 uid, u32 uar)
{
	struct hw_dealloc_uar_in in = {};
	struct hw_dealloc_uar_out out;

	hw_dealloc_uar_in_set_opcode(&in, HW_CMD_DEALLOC_UAR);
	hw_dealloc_uar_in_set_uid(&in, uid);
	hw_dealloc_uar_in_set_uar(&in, uar);
	return cxib_cmd_exec_inout(queue, in, out);
}
