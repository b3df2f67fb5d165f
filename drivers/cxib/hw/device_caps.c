// SPDX-License-Identifier: GPL-2.0-only
/* Device capabilities: configured, queried, checked, shown in debugfs. */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bits.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/limits.h>
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stddef.h>

#include "hw/bus.h"
#include "hw/capabilities.h"
#include "hw/contexts.h"
#include "hw/device.h"
#include "hw/device_caps.h"
#include "hw/memic.h"

/*
 * Limit of the number of QPs: each further QP would cost firmware pages even if it is never used.
 */
#define LOG_QPS		18

#define HOST_ORDER		HW_ATOMIC_REQ_8B_ENDIANNESS_MODE_HOST_ENDIANNESS

/* WQE indices have 16 bits: a full ring with more WQEs would look empty. */
#define LOG_WQES_MAX		15

/* Object numbers have 24 bits. */
#define LOG_OBJECTS_MAX		24

/**
 * struct caps_capability - a field of the general page
 * @name: field name
 * @get: reads the field
 * @offset: offset in struct cxib_device_caps
 * @minimum: smallest value that the driver supports
 * @maximum: largest valid value
 * @need: reason for the limits, logged
 */
struct caps_capability {
	const char *name;
	u32 (*get)(const struct hw_cmd_hca_cap *page);
	size_t offset;
	u32 minimum;
	u32 maximum;
	const char *need;
};

#define CAPABILITY_IN(field, min, max, reason)				\
	{									\
		.name = #field,							\
		.get = hw_cmd_hca_cap_get_##field,				\
		.offset = offsetof(struct cxib_device_caps, field),		\
		.minimum = (min),						\
		.maximum = (max),						\
		.need = (reason),						\
	}
#define CAPABILITY(field)	CAPABILITY_IN(field, 0, U32_MAX, "")
#define SIZE(field)		CAPABILITY_IN(field, 0, 31, "log2 of a 32-bit number")
#define OBJECTS(field, min)	CAPABILITY_IN(field, min, LOG_OBJECTS_MAX,	\
					      "object numbers have 24 bits")

static const struct caps_capability general[] = {
	OBJECTS(log_max_qp, 8),
	CAPABILITY_IN(log_max_qp_sz, 6, 31, "QPs need at least 64 WQEs"),
	OBJECTS(log_max_srq, 0),
	SIZE(log_max_srq_sz),
	OBJECTS(log_max_cq, 8),
	CAPABILITY_IN(log_max_cq_sz, 6, 24, "CQ indices have 24 bits"),
	CAPABILITY_IN(log_max_eq, 2, 15, "at least three EQs needed"),
	CAPABILITY_IN(log_max_eq_sz, 10, 24, "EQs have 1024 entries"),
	OBJECTS(log_max_mkey, 8),
	CAPABILITY(log_max_mrw_sz),
	SIZE(log_max_klm_list_size),
	SIZE(log_max_bsf_list_size),
	CAPABILITY(max_indirection),
	OBJECTS(log_max_pd, 4),
	OBJECTS(log_max_xrcd, 0),
	OBJECTS(log_max_rmp, 0),
	SIZE(log_max_wq_sz),
	OBJECTS(log_max_transport_domain, 0),
	OBJECTS(log_max_mcg, 0),
	CAPABILITY(max_qp_mcg),
	CAPABILITY(max_sgl_for_optimized_performance),
	CAPABILITY(max_qp_cnt),
	CAPABILITY(out_of_seq_cnt),
	CAPABILITY(retransmission_q_counters),
	CAPABILITY(enhanced_error_q_counters),
	CAPABILITY_IN(log_max_ra_req_qp, 0, 7, "outstanding reads have 8 bits"),
	CAPABILITY_IN(log_max_ra_res_qp, 0, 7, "outstanding reads have 8 bits"),
	CAPABILITY_IN(log_max_ra_req_dc, 0, 7, "outstanding reads have 8 bits"),
	CAPABILITY_IN(log_max_ra_res_dc, 0, 7, "outstanding reads have 8 bits"),
	CAPABILITY_IN(log_max_msg, 12, 31, "IB messages have 4 KiB to 2 GiB"),
	CAPABILITY_IN(max_wqe_sz_sq, 576, U16_MAX, "shorter WQEs cannot hold 30 SGEs"),
	CAPABILITY_IN(max_wqe_sz_rq, 16, U16_MAX, "shorter WQEs cannot hold an SGE"),
	CAPABILITY_IN(gid_table_size, 0, 4, "IB ports have 8 to 128 GIDs"),
	CAPABILITY_IN(pkey_table_size, 0, 5, "IB ports have 128 to 4096 P_Keys"),
	CAPABILITY_IN(num_ports, 1, 2, "functions have one or two ports"),
	CAPABILITY_IN(port_type, HW_PORT_TYPE_IB, HW_PORT_TYPE_IB,
		      "port not in InfiniBand mode (LINK_TYPE_P1)"),
	CAPABILITY(local_ca_ack_delay),
	CAPABILITY(stat_rate_support),
	CAPABILITY_IN(cqe_version, 0, HW_CQE_VERSION_VERSION_1,
		      "unknown CQE version"),
	CAPABILITY_IN(log_pg_sz, 0, 12, "buffers have pages of 4 KiB"),
	CAPABILITY(uar_4k),
	CAPABILITY(log_uar_page_sz),
	SIZE(log_bf_reg_size),
	CAPABILITY(bf),
	CAPABILITY(compact_address_vector),
	CAPABILITY_IN(rc, 1, 1, "ULPs need RC"),
	CAPABILITY(uc),
	CAPABILITY_IN(ud, 1, 1, "MADs need UD"),
	CAPABILITY(xrc),
	CAPABILITY(dct),
	SIZE(log_max_dci_stream_channels),
	SIZE(log_max_dci_errored_streams),
	CAPABILITY(apm),
	CAPABILITY(atomic),
	CAPABILITY(imaicl),
	CAPABILITY(umr_fence),
	CAPABILITY(sho),
	CAPABILITY(sig_block_4048),
	CAPABILITY(sigerr_cqe),
	CAPABILITY(drain_sigerr),
	CAPABILITY(cq_oi),
	CAPABILITY(cq_resize),
	CAPABILITY(cq_moderation),
	CAPABILITY(cq_eq_remap),
	CAPABILITY(block_lb_mc),
	CAPABILITY(set_deth_sqpn),
	CAPABILITY(ib_virt),
	CAPABILITY(vport_counters),
	CAPABILITY(pkv),
	CAPABILITY(qkv),
	CAPABILITY(driver_version),
	CAPABILITY(fast_teardown),
	CAPABILITY(force_teardown),
	CAPABILITY(release_all_pages),
	SIZE(log_max_uctx),
	SIZE(log_max_umem),
	CAPABILITY(uctx_cap),
	CAPABILITY(cqe_128_always),
	CAPABILITY(cqe_compression),
	CAPABILITY(cqe_compression_128),
	CAPABILITY(cqe_compression_max_num),
	CAPABILITY(mini_cqe_resp_stride_index),
	CAPABILITY(relaxed_ordering_write),
	CAPABILITY(relaxed_ordering_read),
	CAPABILITY(relaxed_ordering_read_pci_enabled),
	CAPABILITY(relaxed_ordering_write_umr),
	CAPABILITY(relaxed_ordering_read_umr),
	CAPABILITY(pg),
	CAPABILITY(null_mkey),
	CAPABILITY(dump_fill_mkey),
	CAPABILITY(umr_ptr_rlky),
	CAPABILITY(fixed_buffer_size),
	CAPABILITY(umr_extended_translation_offset),
	CAPABILITY(umr_indirect_mkey_disabled),
	CAPABILITY(umr_modify_atomic_disabled),
	CAPABILITY(umr_modify_entity_size_disabled),
	CAPABILITY(go_back_n),
	CAPABILITY(hca_cap_2),
	CAPABILITY(max_num_eqs),
	CAPABILITY(device_frequency_khz),
	CAPABILITY(qp_packet_based),
	CAPABILITY(device_memory),
	OBJECTS(log_max_xrq, 0),
	CAPABILITY(tag_matching),
	CAPABILITY(rndv_offload_rc),
	CAPABILITY_IN(log_tag_matching_list_sz, 0, 15, "tag list size has four bits"),
};

/* Fields of other pages. */
static const struct {
	const char *name;
	size_t offset;
} others[] = {
	{ "atomic_operations", offsetof(struct cxib_device_caps, atomic_operations) },
	{ "atomic_size_qp", offsetof(struct cxib_device_caps, atomic_size_qp) },
	{ "atomic_size_dc", offsetof(struct cxib_device_caps, atomic_size_dc) },
	{ "atomic_host_endian", offsetof(struct cxib_device_caps, atomic_host_endian) },
	{ "mem_page_fault", offsetof(struct cxib_device_caps, mem_page_fault) },
};

static u32 *caps_value_at(struct cxib_device_caps *caps, size_t offset)
{
	return (void *)caps + offset;
}

static u32 caps_value_of(const struct cxib_device_caps *caps, size_t offset)
{
	return *(const u32 *)((const void *)caps + offset);
}

/**
 * cxib_device_caps_decode() - reads and checks the general page
 * @dev: device, for messages
 * @page: output of QUERY_HCA_CAP
 * @caps: output, except the fields of other pages
 *
 * Logs each capability that is out of range.
 *
 * Return: 0, or -EOPNOTSUPP when a capability is out of range.
 */
int cxib_device_caps_decode(struct device *dev, const struct hw_cmd_hca_cap *page,
			    struct cxib_device_caps *caps)
{
	const struct caps_capability *capability;
	int err = 0;

	for (capability = general; capability < general + ARRAY_SIZE(general); capability++) {
		u32 value = capability->get(page);

		*caps_value_at(caps, capability->offset) = value;
		if (value >= capability->minimum && value <= capability->maximum)
			continue;
		dev_err(dev, "capability %s: %u out of range [%u, %u]: %s\n",
			capability->name, value, capability->minimum, capability->maximum,
			capability->need);
		err = -EOPNOTSUPP;
	}
	caps->log_max_qp_sz = min_t(u32, caps->log_max_qp_sz, LOG_WQES_MAX);
	caps->log_max_srq_sz = min_t(u32, caps->log_max_srq_sz, LOG_WQES_MAX);
	caps->log_max_wq_sz = min_t(u32, caps->log_max_wq_sz, LOG_WQES_MAX);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_caps_decode);

/**
 * cxib_device_caps_choose() - chooses the general capabilities to configure
 * @page: configured values on entry, values to configure on return
 * @maximum: supported values
 * @log_host_page: log2 of the size of a host page in bytes
 *
 * The device allocates one UAR page per host page, because a process that maps a UAR must not reach
 * the doorbells of another process. A UAR index counts 4 KiB pages with uar_4k, host pages without.
 * mlx5_core, too, sets uar_4k on hosts with larger pages.
 *
 * Firmware may leave DC and the stop on a signature error disabled until a driver enables them. So
 * dct and drain_sigerr are set if the device supports them. mlx5_core sets dct, and some of its
 * releases set drain_sigerr.
 */
void cxib_device_caps_choose(struct hw_cmd_hca_cap *page, const struct hw_cmd_hca_cap *maximum,
			     unsigned int log_host_page)
{
	u32 log_qp = min_t(u32, LOG_QPS, hw_cmd_hca_cap_get_log_max_qp(maximum));

	hw_cmd_hca_cap_set_log_max_qp(page, log_qp);
	hw_cmd_hca_cap_set_cmdif_checksum(page, 0);
	hw_cmd_hca_cap_set_dct(page, hw_cmd_hca_cap_get_dct(maximum));
	hw_cmd_hca_cap_set_drain_sigerr(page, hw_cmd_hca_cap_get_drain_sigerr(maximum));
	if (log_host_page > CXIB_LOG_UAR_SIZE)
		hw_cmd_hca_cap_set_uar_4k(page, hw_cmd_hca_cap_get_uar_4k(maximum));
	hw_cmd_hca_cap_set_log_uar_page_sz(page, log_host_page - CXIB_LOG_UAR_SIZE);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_caps_choose);

/**
 * cxib_log_uar_distance() - log2 of the distance of UAR pages in BAR 0
 * @caps: capabilities of a configured device
 */
unsigned int cxib_log_uar_distance(const struct cxib_device_caps *caps)
{
	return CXIB_LOG_UAR_SIZE + (caps->uar_4k ? 0 : caps->log_uar_page_sz);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_log_uar_distance);

static int caps_configure_general(struct cxib_command_queue *queue, struct hw_cmd_hca_cap *pages,
				  struct cxib_device_caps *caps)
{
	struct hw_cmd_hca_cap *maximum = &pages[0];
	struct hw_cmd_hca_cap *wanted = &pages[1];
	struct hw_cmd_hca_cap *configured = &pages[2];
	int err;

	err = cxib_cmd_query_general_caps(queue, CXIB_CAP_CURRENT, configured) ?:
	      cxib_cmd_query_general_caps(queue, CXIB_CAP_MAXIMUM, maximum);
	if (err)
		return err;
	*wanted = *configured;
	cxib_device_caps_choose(wanted, maximum, PAGE_SHIFT);
	err = cxib_device_caps_decode(queue->dev, wanted, caps);
	queue->bus->log_uar_distance = cxib_log_uar_distance(caps);
	if (err || !memcmp(wanted, configured, sizeof(*wanted)))
		return err;
	return cxib_cmd_set_general_caps(queue, wanted);
}

/*
 * The second page has a wider field for the number of EQs, which overrides that of the first page.
 */
static int caps_query_general_2(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_cmd_hca_cap_2 page;
	int err;

	if (!caps->hca_cap_2)
		return 0;
	err = cxib_cmd_query_general_2_caps(queue, &page);
	if (!err && hw_cmd_hca_cap_2_get_max_num_eqs_24b(&page))
		caps->max_num_eqs = hw_cmd_hca_cap_2_get_max_num_eqs_24b(&page);
	return cxib_command_optional(err);
}

/* Configures host byte order for 8-byte operands, if supported. */
static int caps_configure_atomic(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_atomic_caps page;
	int err;

	if (!caps->atomic)
		return 0;
	err = cxib_cmd_query_atomic_caps(queue, CXIB_CAP_CURRENT, &page);
	if (err) {
		caps->atomic = 0;
		return cxib_command_optional(err);
	}
	caps->atomic_operations = hw_atomic_caps_get_atomic_operations(&page);
	caps->atomic_size_qp = hw_atomic_caps_get_atomic_size_qp(&page);
	caps->atomic_size_dc = hw_atomic_caps_get_atomic_size_dc(&page);
	caps->atomic_host_endian = hw_atomic_caps_get_atomic_req_8B_endianness_mode(&page) ==
				   HOST_ORDER;
	if (caps->atomic_host_endian ||
	    !hw_atomic_caps_get_supported_atomic_req_8B_endianness_mode_1(&page))
		return 0;

	page = (struct hw_atomic_caps){};
	hw_atomic_caps_set_atomic_req_8B_endianness_mode(&page, HOST_ORDER);
	err = cxib_cmd_set_atomic_caps(queue, &page);
	caps->atomic_host_endian = !err;
	return cxib_command_optional(err);
}

/**
 * cxib_atomic_mode() - returns the atomic mode of a responder
 * @caps: device capabilities
 * @sizes: operand sizes, one bit for each power of two: atomic_size_qp or
 *	atomic_size_dc
 *
 * Masked operations and operand sizes other than 8 bytes need an extended mode: log2 of the largest
 * operand size in bytes, at least that of 8 bytes.
 *
 * Return: mode for the QP context; 0: no atomic operations.
 */
u32 cxib_atomic_mode(const struct cxib_device_caps *caps, u32 sizes)
{
	const u32 masked = HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP |
			   HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	const u32 plain = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD;

	if (!caps->atomic)
		return 0;
	sizes &= GENMASK(HW_ATOMIC_MODE_UP_TO_256B, 0);
	if (caps->atomic_operations & masked && sizes)
		return max_t(u32, ilog2(sizes), HW_ATOMIC_MODE_UP_TO_8B);
	return (caps->atomic_operations & plain) == plain ? HW_ATOMIC_MODE_IB_SPEC : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_atomic_mode);

/* Copies field by field, because devices may set reserved bits. */
static void caps_choose_operations(struct hw_odp_per_transport_service_cap *to,
				   const struct hw_odp_per_transport_service_cap *from)
{
	u32 send = hw_odp_per_transport_service_cap_get_send(from);
	u32 receive = hw_odp_per_transport_service_cap_get_receive(from);
	u32 write = hw_odp_per_transport_service_cap_get_write(from);
	u32 read = hw_odp_per_transport_service_cap_get_read(from);
	u32 atomic = hw_odp_per_transport_service_cap_get_atomic(from);
	u32 srq_receive = hw_odp_per_transport_service_cap_get_srq_receive(from);

	hw_odp_per_transport_service_cap_set_send(to, send);
	hw_odp_per_transport_service_cap_set_receive(to, receive);
	hw_odp_per_transport_service_cap_set_write(to, write);
	hw_odp_per_transport_service_cap_set_read(to, read);
	hw_odp_per_transport_service_cap_set_atomic(to, atomic);
	hw_odp_per_transport_service_cap_set_srq_receive(to, srq_receive);
}

static void caps_choose_transports(struct hw_odp_scheme_cap *to,
				   const struct hw_odp_scheme_cap *from)
{
	caps_choose_operations(hw_odp_scheme_cap_rc_odp_caps(to),
			       hw_odp_scheme_cap_get_rc_odp_caps(from));
	caps_choose_operations(hw_odp_scheme_cap_ud_odp_caps(to),
			       hw_odp_scheme_cap_get_ud_odp_caps(from));
	caps_choose_operations(hw_odp_scheme_cap_xrc_odp_caps(to),
			       hw_odp_scheme_cap_get_xrc_odp_caps(from));
	caps_choose_operations(hw_odp_scheme_cap_dc_odp_caps(to),
			       hw_odp_scheme_cap_get_dc_odp_caps(from));
}

/* In the transport scheme (a fault names the WQE), enables all supported operations, keeps sig. */
static void caps_choose_transport_scheme(struct hw_odp_cap *wanted,
					 const struct hw_odp_cap *maximum,
					 const struct hw_odp_cap *configured)
{
	const struct hw_odp_scheme_cap *from =
		hw_odp_cap_get_transport_page_fault_scheme_cap(configured);
	struct hw_odp_scheme_cap *to = hw_odp_cap_transport_page_fault_scheme_cap(wanted);

	caps_choose_transports(to, hw_odp_cap_get_transport_page_fault_scheme_cap(maximum));
	hw_odp_scheme_cap_set_sig(to, hw_odp_scheme_cap_get_sig(from));
}

/*
 * In the memory scheme a fault names the mkey, so queues whose WQEs only user space can read may
 * also fault. mlx5_ib uses the scheme only on devices with page_prefetch, so it is known to work on
 * these devices only.
 */
static bool caps_has_memory_scheme(const struct hw_odp_cap *maximum)
{
	const struct hw_odp_scheme_cap *scheme =
		hw_odp_cap_get_memory_page_fault_scheme_cap(maximum);

	return hw_odp_cap_get_mem_page_fault(maximum) &&
	       hw_odp_scheme_cap_get_page_prefetch(scheme);
}

/*
 * Keeps the current operations of both schemes: libmlx5 reads those of DC in the transport scheme.
 */
static void caps_choose_memory_scheme(struct hw_odp_cap *wanted,
				      const struct hw_odp_cap *configured)
{
	const struct hw_odp_scheme_cap *from =
		hw_odp_cap_get_memory_page_fault_scheme_cap(configured);
	struct hw_odp_scheme_cap *to = hw_odp_cap_memory_page_fault_scheme_cap(wanted);

	caps_choose_transport_scheme(wanted, configured, configured);
	caps_choose_transports(to, from);
	hw_odp_scheme_cap_set_page_prefetch(to, hw_odp_scheme_cap_get_page_prefetch(from));
	hw_odp_scheme_cap_set_sig(to, hw_odp_scheme_cap_get_sig(from));
	hw_odp_cap_set_mem_page_fault(wanted, 1);
}

/* Selects the fault scheme and the operations that can fault. */
static int caps_configure_odp(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_odp_cap configured, maximum, wanted = {};
	int err;

	if (!caps->pg)
		return 0;
	err = cxib_cmd_query_odp_caps(queue, CXIB_CAP_CURRENT, &configured) ?:
	      cxib_cmd_query_odp_caps(queue, CXIB_CAP_MAXIMUM, &maximum);
	if (err)
		return err;
	caps->mem_page_fault = caps_has_memory_scheme(&maximum);
	if (!caps->mem_page_fault) {
		caps_choose_transport_scheme(&wanted, &maximum, &configured);
		caps->odp = *hw_odp_cap_get_transport_page_fault_scheme_cap(&wanted);
		return cxib_cmd_set_odp_caps(queue, &wanted);
	}
	caps_choose_memory_scheme(&wanted, &configured);
	caps->odp = *hw_odp_cap_get_memory_page_fault_scheme_cap(&wanted);
	return cxib_cmd_set_odp_caps(queue, &wanted);
}

/* If firmware refuses a command, the driver uses the device without ODP. */
static int caps_configure_optional_odp(struct cxib_command_queue *queue,
				       struct cxib_device_caps *caps)
{
	int err = caps_configure_odp(queue, caps);

	if (err)
		caps->pg = 0;
	return cxib_command_optional(err);
}

/* If the range of the MEMIC is invalid, the driver uses none. */
static bool caps_memic_is_valid(const struct cxib_command_queue *queue,
				const struct cxib_device_caps *caps)
{
	u64 end = size_add(caps->memic_bar_start, caps->memic_bar_size);

	return caps->memic_bar_size && end <= queue->bus->bar_size &&
	       IS_ALIGNED(caps->memic_bar_start, PAGE_SIZE) && caps->memic_log_min_size < 32 &&
	       caps->memic_max_size && caps->memic_max_size <= caps->memic_bar_size;
}

/**
 * cxib_device_caps_configure() - configures and queries capabilities
 * @queue: command queue, before INIT_HCA
 * @caps: output
 *
 * If firmware rejects the commands of an optional page, the features of that page are disabled.
 *
 * Context: process context, may sleep.
 * Return: 0, an error of a command, -ENOMEM, or -EOPNOTSUPP when a capability
 * is out of range, which is logged.
 */
int cxib_device_caps_configure(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_cmd_hca_cap *pages = kvcalloc(3, sizeof(*pages), GFP_KERNEL);
	int err;

	if (!pages)
		return -ENOMEM;
	err = caps_configure_general(queue, pages, caps);
	if (!err)
		err = caps_query_general_2(queue, caps);
	if (!err)
		err = caps_configure_atomic(queue, caps);
	if (!err)
		err = caps_configure_optional_odp(queue, caps);
	kvfree(pages);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_caps_configure);

static void caps_log_differences(struct device *dev, const struct cxib_device_caps *configured,
				 const struct cxib_device_caps *found)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(general); i++) {
		u32 was = caps_value_of(configured, general[i].offset);
		u32 is = caps_value_of(found, general[i].offset);

		if (is != was)
			dev_warn(dev, "capability %s: %u after INIT_HCA (%u configured)\n",
				 general[i].name, is, was);
	}
}

/**
 * cxib_device_caps_read_back() - queries the capabilities that firmware has configured
 * @queue: command queue, after INIT_HCA
 * @caps: configured capabilities; output
 *
 * They may differ from those that the driver has requested; a difference is logged. Features that
 * other pages disable remain disabled.
 *
 * Context: process context, may sleep.
 * Return: 0, an error of the command, -ENOMEM, or -EOPNOTSUPP when a capability is out of range,
 * which is logged.
 */
int cxib_device_caps_read_back(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_cmd_hca_cap *page = kvzalloc(sizeof(*page), GFP_KERNEL);
	struct cxib_device_caps *found = kmemdup(caps, sizeof(*caps), GFP_KERNEL);
	int err = -ENOMEM;

	if (!page || !found)
		goto free;
	err = cxib_cmd_query_general_caps(queue, CXIB_CAP_CURRENT, page) ?:
	      cxib_device_caps_decode(queue->dev, page, found);
	if (err)
		goto free;
	found->max_num_eqs = caps->max_num_eqs;
	found->atomic = min(found->atomic, caps->atomic);
	found->pg = min(found->pg, caps->pg);
	caps_log_differences(queue->dev, caps, found);
	*caps = *found;
	queue->bus->log_uar_distance = cxib_log_uar_distance(caps);
free:
	kfree(found);
	kvfree(page);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_caps_read_back);

/**
 * cxib_device_caps_query_memic() - queries the memory of the device itself (MEMIC)
 * @queue: command queue, after INIT_HCA, as no public driver reads the page earlier
 * @caps: configured capabilities, completed
 *
 * Context: process context, may sleep.
 * Return: 0, also if the page is invalid, which is logged: then the driver uses no MEMIC; an error
 * of the command; -ENOMEM.
 */
int cxib_device_caps_query_memic(struct cxib_command_queue *queue, struct cxib_device_caps *caps)
{
	struct hw_device_mem_cap page;
	int err;

	if (!caps->device_memory)
		return 0;
	err = cxib_cmd_query_memic_caps(queue, &page);
	if (err || !hw_device_mem_cap_get_memic(&page))
		return err;
	caps->memic_bar_start = hw_device_mem_cap_get_memic_bar_start_addr(&page);
	caps->memic_bar_size = hw_device_mem_cap_get_memic_bar_size(&page);
	caps->memic_max_size = hw_device_mem_cap_get_max_memic_size(&page);
	caps->memic_log_min_size = hw_device_mem_cap_get_log_min_memic_alloc_size(&page);
	caps->memic_log_max_alignment = CXIB_MEMIC_LOG_UNIT +
					hw_device_mem_cap_get_log_max_memic_addr_alignment(&page);
	caps->memic_operations = hw_device_mem_cap_get_memic_operations(&page);
	caps->memic = caps_memic_is_valid(queue, caps);
	if (!caps->memic)
		dev_warn(queue->dev,
			 "MEMIC: invalid range: 0x%x bytes at 0x%llx of BAR 0, max allocation 0x%x\n",
			 caps->memic_bar_size, caps->memic_bar_start, caps->memic_max_size);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_device_caps_query_memic);

static int capabilities_show(struct seq_file *file, void *unused)
{
	const struct cxib_device_caps *caps = file->private;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(general); i++)
		seq_printf(file, "%s: %u\n", general[i].name,
			   caps_value_of(caps, general[i].offset));
	for (i = 0; i < ARRAY_SIZE(others); i++)
		seq_printf(file, "%s: %u\n", others[i].name, caps_value_of(caps, others[i].offset));
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(capabilities);

/**
 * cxib_device_caps_debugfs() - creates the debugfs file "capabilities"
 * @caps: device capabilities; must outlive the file
 * @directory: parent directory
 */
void cxib_device_caps_debugfs(struct cxib_device_caps *caps, struct dentry *directory)
{
	debugfs_create_file("capabilities", 0400, directory, caps, &capabilities_fops);
}
