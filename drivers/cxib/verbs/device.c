// SPDX-License-Identifier: GPL-2.0-only
/* The RDMA device: register, verbs_describe, unregister. */
#include <kunit/visibility.h>
#include <linux/lockdep.h>
#include <linux/pci.h>
#include <linux/rcupdate.h>
#include <linux/workqueue.h>
#include <rdma/ib_verbs.h>

#include "hw/capabilities.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp.h"
#include "verbs/port/mad.h"
#include "verbs/qp/qp.h"
#include "verbs/signature/integrity.h"
#include "verbs/srq/srq.h"

/* uverbs ABI version of mlx5_ib. */
#define USER_ABI_VERSION	1

/* Maximum WQEBBs of a send WQE with one data segment. */
#define WQEBBS_PER_WQE	4

/* Maximum length in bytes of a rendezvous message that the device handles, including headers. */
#define RENDEZVOUS_HEADER_MAX	64

static struct cxib_ibdev *verbs_from_device(struct device *dev)
{
	return rdma_device_to_drv_device(dev, struct cxib_ibdev, ib);
}

/* sysfs attributes that ibstat and similar tools read. */
static ssize_t hw_rev_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%x\n", to_pci_dev(verbs_from_device(dev)->hw->bus->dev)->revision);
}
static DEVICE_ATTR_RO(hw_rev);

static ssize_t hca_type_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "MT%d\n", to_pci_dev(verbs_from_device(dev)->hw->bus->dev)->device);
}
static DEVICE_ATTR_RO(hca_type);

static ssize_t board_id_show(struct device *dev, struct device_attribute *attr, char *text)
{
	return sysfs_emit(text, "%s\n", verbs_from_device(dev)->hw->adapter.board_id);
}
static DEVICE_ATTR_RO(board_id);

struct attribute *cxib_attributes[] = {
	&dev_attr_hw_rev.attr,
	&dev_attr_hca_type.attr,
	&dev_attr_board_id.attr,
	NULL,
};

static const struct ib_device_ops ops = {
	.owner = THIS_MODULE,
	.driver_id = RDMA_DRIVER_MLX5,
	.uverbs_abi_ver = USER_ABI_VERSION,

	.advise_mr = cxib_advise_mr,
	.alloc_mr = cxib_alloc_mr,
	.alloc_mr_integrity = cxib_alloc_mr_integrity,
	.alloc_mw = cxib_alloc_mw,
	.alloc_xrcd = cxib_alloc_xrcd,
	.attach_mcast = cxib_attach_mcast,
	.check_mr_status = cxib_check_mr_status,
	.create_ah = cxib_create_ah,
	.create_user_ah = cxib_create_ah,
	.dealloc_mw = cxib_dealloc_mw,
	.dealloc_xrcd = cxib_dealloc_xrcd,
	.dereg_mr = cxib_dereg_mr,
	.destroy_ah = cxib_destroy_ah,
	.detach_mcast = cxib_detach_mcast,
	.fill_res_cq_entry = cxib_fill_res_cq_entry,
	.fill_res_qp_entry = cxib_fill_res_qp_entry,
	.fill_stat_mr_entry = cxib_fill_stat_mr_entry,
	.get_dev_fw_str = cxib_get_dev_fw_str,
	.get_dma_mr = cxib_get_dma_mr,
	.get_link_layer = cxib_get_link_layer,
	.get_port_immutable = cxib_get_port_immutable,
	.map_mr_sg = cxib_map_mr_sg,
	.map_mr_sg_pi = cxib_map_mr_sg_pi,
	.modify_ah = cxib_modify_ah,
	.modify_cq = cxib_modify_cq,
	.modify_device = cxib_modify_device,
	.modify_port = cxib_modify_port,
	.modify_srq = cxib_modify_srq,
	.peek_cq = cxib_peek_cq,
	.poll_cq = cxib_poll_cq,
	.post_recv = cxib_post_recv,
	.post_send = cxib_post_send,
	.post_srq_recv = cxib_post_srq_recv,
#ifndef CXIB_LACKS_CQ_PRE_DESTROY
	.pre_destroy_cq = cxib_pre_destroy_cq,
#endif
	.process_mad = cxib_process_mad,
	.query_ah = cxib_query_ah,
	.query_gid = cxib_query_gid,
	.query_pkey = cxib_query_pkey,
	.query_port = cxib_query_port,
	.query_qp = cxib_query_qp,
	.query_srq = cxib_query_srq,
	.req_notify_cq = cxib_req_notify_cq,
	.rereg_user_mr = cxib_rereg_user_mr,

	INIT_RDMA_OBJ_SIZE(ib_ah, cxib_ah, ib),
	INIT_RDMA_OBJ_SIZE(ib_cq, cxib_cq, ib),
	INIT_RDMA_OBJ_SIZE(ib_mw, cxib_mw, ib),
	INIT_RDMA_OBJ_SIZE(ib_pd, cxib_pd, ib),
	INIT_RDMA_OBJ_SIZE(ib_qp, cxib_qp, ib),
	INIT_RDMA_OBJ_SIZE(ib_srq, cxib_srq, ib),
	INIT_RDMA_OBJ_SIZE(ib_xrcd, cxib_xrcd, ib),
};

/* Asks ULPs and user space to release the device; all further operations fail. */
static void verbs_on_fatal(void *context)
{
	struct cxib_ibdev *ibdev = context;
	struct ib_event event = {
		.device = &ibdev->ib,
		.element.port_num = 1,
		.event = IB_EVENT_DEVICE_FATAL,
	};

	ib_dispatch_event(&event);
	/*
	 * Posting and arming write with interrupts off, then read the state. So either the flush
	 * sees what they have written, or they see that DMA is off and start another flush.
	 */
	synchronize_rcu();
	cxib_flush_later(ibdev);
}

static void verbs_on_event(void *context, const struct hw_eqe *entry)
{
	struct cxib_ibdev *ibdev = context;

	ibdev->user->event(ibdev, entry);
}

static const struct cxib_client_ops client_ops = {
	.completion = cxib_completion_event,
	.event = verbs_on_event,
	.cq_error = cxib_cq_error_event,
	.queue_event = cxib_queue_event,
	.port_change = cxib_port_changed,
	.fatal = verbs_on_fatal,
	.page_fault = cxib_page_fault_event,
};

static void verbs_describe_identity(struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
	const struct cxib_init_segment *firmware = &ibdev->hw->firmware;
	const struct pci_dev *pdev = to_pci_dev(ibdev->hw->bus->dev);

	attr->fw_ver = (u64)firmware->firmware_major << 32 | firmware->firmware_minor << 16 |
		       firmware->firmware_subminor;
	attr->sys_image_guid = cpu_to_be64(ibdev->system_image_guid);
	attr->vendor_id = ibdev->hw->adapter.vendor_oui;
	attr->vendor_part_id = pdev->device;
	attr->hw_ver = pdev->revision;
}

/*
 * Old firmware always returns the former value in big-endian byte order, but callers expect the
 * byte order of the host. With such firmware requesters have no atomic operations, as in mlx5_ib.
 */
static bool verbs_has_atomics(const struct cxib_device_caps *caps)
{
	const u32 operations = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD;

	return caps->atomic_host_endian && (caps->atomic_operations & operations) == operations &&
	       caps->atomic_size_qp & HW_ATOMIC_SIZE_BYTES_8;
}

/* The operands of kernel WRs have 8 bytes. */
static bool verbs_has_masked_atomics(const struct cxib_device_caps *caps)
{
	const u32 operations = HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP |
			       HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;

	return caps->atomic_host_endian && (caps->atomic_operations & operations) == operations &&
	       caps->atomic_size_qp & HW_ATOMIC_SIZE_BYTES_8;
}

static void verbs_describe_abilities(const struct cxib_ibdev *ibdev, struct ib_device_attr *attr)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	attr->device_cap_flags = IB_DEVICE_CHANGE_PHY_PORT | IB_DEVICE_PORT_ACTIVE_EVENT |
				 IB_DEVICE_SYS_IMAGE_GUID | IB_DEVICE_RC_RNR_NAK_GEN |
				 IB_DEVICE_MEM_MGT_EXTENSIONS;
	if (caps->imaicl)
		attr->device_cap_flags |= IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B;
	if (caps->xrc)
		attr->device_cap_flags |= IB_DEVICE_XRC;
	if (caps->apm)
		attr->device_cap_flags |= IB_DEVICE_AUTO_PATH_MIG;
	if (caps->pkv)
		attr->device_cap_flags |= IB_DEVICE_BAD_PKEY_CNTR;
	if (caps->qkv)
		attr->device_cap_flags |= IB_DEVICE_BAD_QKEY_CNTR;
	if (caps->block_lb_mc)
		attr->kernel_cap_flags |= IBK_BLOCK_MULTICAST_LOOPBACK;
	if (caps->imaicl)
		attr->kernel_cap_flags |= IBK_SG_GAPS_REG;
	if (ibdev->ib.local_dma_lkey)
		attr->kernel_cap_flags |= IBK_LOCAL_DMA_LKEY;
	if (ibdev->hw->bus->is_virtual)
		attr->kernel_cap_flags |= IBK_VIRTUAL_FUNCTION;
	attr->local_ca_ack_delay = caps->local_ca_ack_delay;
	if (verbs_has_atomics(caps))
		attr->atomic_cap = IB_ATOMIC_HCA;
	else
		attr->atomic_cap = IB_ATOMIC_NONE;
	attr->masked_atomic_cap = verbs_has_masked_atomics(caps) ? IB_ATOMIC_HCA : IB_ATOMIC_NONE;
}

static void verbs_describe_signatures(const struct cxib_device_caps *caps,
				      struct ib_device_attr *attr)
{
	if (!caps->sho)
		return;
	attr->kernel_cap_flags |= IBK_INTEGRITY_HANDOVER;
	attr->sig_prot_cap = IB_PROT_T10DIF_TYPE_1 | IB_PROT_T10DIF_TYPE_2 |
			     IB_PROT_T10DIF_TYPE_3;
	attr->sig_guard_cap = IB_GUARD_T10DIF_CRC | IB_GUARD_T10DIF_CSUM;
	attr->max_pi_fast_reg_page_list_len = CXIB_SIG_KLMS_MAX;
}

/* Tag matching is for user space only. */
static void verbs_describe_tag_matching(const struct cxib_device_caps *caps,
					struct ib_tm_caps *tags)
{
	if (!caps->tag_matching)
		return;
	tags->max_num_tags = BIT(caps->log_tag_matching_list_sz) - 1;
	/* Operations on the tag list are send WRs. */
	tags->max_ops = BIT(caps->log_max_qp_sz) / WQEBBS_PER_WQE;
	tags->max_sge = 1;
	if (!caps->rndv_offload_rc)
		return;
	tags->flags = IB_TM_CAP_RNDV_RC;
	tags->max_rndv_hdr_size = RENDEZVOUS_HEADER_MAX;
}

static void verbs_describe_limits(const struct cxib_device_caps *caps, struct ib_device_attr *attr)
{
	attr->max_mr_size = U64_MAX;
	attr->page_size_cap = ~(BIT_ULL(caps->log_pg_sz) - 1);
	attr->max_qp = BIT(caps->log_max_qp);
	/* Valid for WRs of any opcode with one SGE. */
	attr->max_qp_wr = BIT(caps->log_max_qp_sz) / WQEBBS_PER_WQE;
	attr->max_send_sge = CXIB_SEND_SGE_MAX;
	attr->max_recv_sge = caps->max_wqe_sz_rq / sizeof(struct hw_wqe_data_seg);
	attr->max_sge_rd = attr->max_send_sge;
	attr->max_sgl_rd = caps->max_sgl_for_optimized_performance;
	attr->max_cq = BIT(caps->log_max_cq);
	attr->max_cqe = BIT(caps->log_max_cq_sz) - 1;
	attr->max_mr = BIT(caps->log_max_mkey);
	attr->max_mw = caps->imaicl ? attr->max_mr : 0;
	attr->hca_core_clock = caps->device_frequency_khz;
	attr->timestamp_mask = CXIB_TIMESTAMP_MASK;
	attr->max_dm_size = caps->memic ? caps->memic_max_size : 0;
	attr->max_fast_reg_page_list_len = CXIB_FAST_REG_MAX;
	attr->max_pd = BIT(caps->log_max_pd);
	attr->max_ah = INT_MAX;
	attr->max_qp_rd_atom = BIT(caps->log_max_ra_req_qp);
	attr->max_qp_init_rd_atom = BIT(caps->log_max_ra_res_qp);
	attr->max_res_rd_atom = attr->max_qp_rd_atom * attr->max_qp;
	attr->max_srq = BIT(caps->log_max_rmp);
	attr->max_srq_wr = BIT(min(caps->log_max_wq_sz, caps->log_max_srq_sz)) - 1;
	attr->max_srq_sge = (caps->max_wqe_sz_rq - sizeof(struct hw_wqe_srq_next_seg)) /
			    sizeof(struct hw_wqe_data_seg);
	attr->max_mcast_grp = BIT(caps->log_max_mcg);
	attr->max_mcast_qp_attach = caps->max_qp_mcg;
	attr->max_total_mcast_qp_attach = attr->max_mcast_qp_attach * attr->max_mcast_grp;
	if (caps->cq_moderation) {
		attr->cq_caps.max_cq_moderation_count = U16_MAX;
		attr->cq_caps.max_cq_moderation_period = CXIB_MODERATION_US_MAX;
	}
	attr->max_pkeys = 128 << caps->pkey_table_size;
}

int cxib_fill_device_attr(struct ib_device *ib, struct ib_device_attr *attr, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);

	*attr = (struct ib_device_attr){};
	verbs_describe_identity(ibdev, attr);
	verbs_describe_abilities(ibdev, attr);
	verbs_describe_signatures(&ibdev->hw->caps, attr);
	verbs_describe_tag_matching(&ibdev->hw->caps, &attr->tm_caps);
	verbs_describe_limits(&ibdev->hw->caps, attr);
	cxib_odp_fill_attr(ibdev, attr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_fill_device_attr);

int cxib_modify_device(struct ib_device *ib, int mask, struct ib_device_modify *change)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	int err;

	if (mask & ~IB_DEVICE_MODIFY_NODE_DESC)
		return -EOPNOTSUPP;
	if (!(mask & IB_DEVICE_MODIFY_NODE_DESC))
		return 0;
	/* The firmware sends the trap to the subnet manager. */
	err = cxib_cmd_set_node_desc(commands_of(ibdev), change->node_desc);
	if (!err)
		memcpy(ib->node_desc, change->node_desc, sizeof(ib->node_desc));
	return err;
}

void cxib_get_dev_fw_str(struct ib_device *ib, char *text)
{
	const struct cxib_init_segment *firmware = &to_ibdev(ib)->hw->firmware;

	snprintf(text, IB_FW_VERSION_NAME_MAX, "%u.%u.%04u", firmware->firmware_major,
		 firmware->firmware_minor, firmware->firmware_subminor);
}

static void verbs_describe(struct cxib_ibdev *ibdev)
{
	struct ib_device *ib = &ibdev->ib;

	ib->node_type = RDMA_NODE_IB_CA;
	ib->phys_port_cnt = ibdev->hw->caps.num_ports;
	ib->num_comp_vectors = ibdev->hw->completion_eq_count;
#ifndef CXIB_LACKS_CQ_PRE_DESTROY
	/*
	 * DIM needs pre_destroy_cq: without it, ib_free_cq() frees the memory of DIM while an event
	 * may still start a poll of the CQ.
	 */
	ib->use_cq_dim = ibdev->hw->caps.cq_moderation;
#endif
	ib->dev.parent = ibdev->hw->bus->dev;
	ib_set_device_ops(ib, &ops);
	ib_set_device_ops(ib, &cxib_mr_ops);
}

/*
 * WQEs of all kernel QPs address memory with resd_lkey. Without umr_ptr_rlky, UMR WQEs cannot use
 * it. Then local_dma_lkey is not set, and the RDMA core creates a DMA MR for each PD.
 */
static int verbs_set_local_dma_lkey(struct cxib_ibdev *ibdev, u32 resd_lkey)
{
	/* An lkey with this value would terminate the scatter list of a receive WQE. */
	if (resd_lkey == HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST) {
		dev_err(ibdev->hw->bus->dev,
			"resd_lkey 0x%x is the terminate_scatter_list lkey\n", resd_lkey);
		return -EBADMSG;
	}
	ibdev->ib.local_dma_lkey = resd_lkey;
	return 0;
}

static int verbs_query_special_keys(struct cxib_ibdev *ibdev)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;
	struct cxib_special_keys keys;
	int err;

	if (!caps->umr_ptr_rlky && !caps->dump_fill_mkey)
		return 0;
	err = cxib_cmd_query_special_contexts(commands_of(ibdev), true, &keys);
	if (err)
		return cxib_command_optional(err);
	if (caps->dump_fill_mkey)
		ibdev->dump_fill_mkey = keys.dump_fill;
	return caps->umr_ptr_rlky ? verbs_set_local_dma_lkey(ibdev, keys.resd_lkey) : 0;
}

static int verbs_query_static(struct cxib_ibdev *ibdev)
{
	int err;

	err = verbs_query_special_keys(ibdev);
	if (err)
		return err;
	err = cxib_ports_create(ibdev);
	if (err)
		return err;
	err = cxib_cmd_query_node_desc(commands_of(ibdev), ibdev->ib.node_desc);
	return cxib_command_optional(err);
}

/* Memory reclaim may wait for a disk on this device, hence WQ_MEM_RECLAIM. */
static int verbs_create_flush_workqueue(struct cxib_ibdev *ibdev)
{
	ibdev->workqueue = alloc_workqueue("cxib_flush-%s", WQ_UNBOUND | WQ_MEM_RECLAIM, 0,
					   dev_name(ibdev->hw->bus->dev));
	return ibdev->workqueue ? 0 : -ENOMEM;
}

/* On entry, ULPs no longer post, and the fatal event is no longer delivered. */
static void verbs_stop_flushing(struct cxib_ibdev *ibdev)
{
	cancel_delayed_work_sync(&ibdev->flush_mads_work);
	cancel_work_sync(&ibdev->flush);
}

static void verbs_init_table(struct xarray *table, struct lock_class_key *key, const char *name)
{
	xa_init_flags(table, XA_FLAGS_LOCK_IRQ);
	lockdep_set_class_and_name(&table->xa_lock, key, name);
}

/* xa_init_flags() would put the locks of all tables of this file in one lock class. */
static void verbs_init_tables(struct cxib_ibdev *ibdev)
{
	static struct lock_class_key qps, cqs, srqs, sig_mrs;

	verbs_init_table(&ibdev->qps, &qps, "cxib_ibdev.qps");
	verbs_init_table(&ibdev->cqs, &cqs, "cxib_ibdev.cqs");
	verbs_init_table(&ibdev->srqs, &srqs, "cxib_ibdev.srqs");
	verbs_init_table(&ibdev->sig_mrs, &sig_mrs, "cxib_ibdev.sig_mrs");
}

/* An entry that could not be allocated may leave empty nodes. */
static void verbs_destroy_tables(struct cxib_ibdev *ibdev)
{
	WARN_ON(!xa_empty(&ibdev->qps) || !xa_empty(&ibdev->cqs) ||
		!xa_empty(&ibdev->srqs) || !xa_empty(&ibdev->sig_mrs));
	xa_destroy(&ibdev->qps);
	xa_destroy(&ibdev->cqs);
	xa_destroy(&ibdev->srqs);
	xa_destroy(&ibdev->sig_mrs);
}

static void verbs_init_ibdev(struct cxib_ibdev *ibdev, struct cxib_hw *hw,
			     const struct cxib_user_interface *user,
			     const struct cxib_poll_interface *polling)
{
	ibdev->hw = hw;
	ibdev->bus = hw->bus;
	ibdev->client = (struct cxib_hw_client){ &client_ops, ibdev };
	verbs_init_tables(ibdev);
	INIT_WORK(&ibdev->flush, cxib_flush_cqs);
	INIT_DELAYED_WORK(&ibdev->flush_mads_work, cxib_flush_mads);
	spin_lock_init(&ibdev->flush_lock);
	mutex_init(&ibdev->xrc.lock);
	mutex_init(&ibdev->wc_lock);
	cxib_orphans_init(ibdev);
	cxib_umr_init(ibdev);
	cxib_odp_init(ibdev);
	verbs_describe(ibdev);
	ibdev->polling = polling;
	ibdev->user = user;
	ib_set_device_ops(&ibdev->ib, user->ops);
	ib_set_device_ops(&ibdev->ib, user->cq_ops);
	ibdev->ib.driver_def = user->definitions;
}

static int verbs_start_polling(struct cxib_ibdev *ibdev)
{
	return ibdev->polling ? ibdev->polling->start(ibdev) : 0;
}

static void verbs_stop_polling(struct cxib_ibdev *ibdev)
{
	if (ibdev->polling)
		ibdev->polling->stop(ibdev);
}

/**
 * cxib_verbs_register() - register an RDMA device for an HCA
 * @hw: HCA that is up
 * @user: user space interface
 * @ulp_ops: operations of the RDMA device for ULPs
 * @polling: scheduler of kernel CQs; NULL: the RDMA core polls all of them
 * @policy: settings of the scheduler; NULL without one
 *
 * Context: process context, may sleep.
 * Return: the RDMA device, to be destroyed by cxib_verbs_unregister(), or an ERR_PTR(), whose cause
 * is in the kernel log.
 */
struct cxib_ibdev *cxib_verbs_register(struct cxib_hw *hw,
				       const struct cxib_user_interface *user,
				       const struct ib_device_ops *ulp_ops,
				       const struct cxib_poll_interface *polling,
				       struct cxib_poll_policy *policy)
{
	struct cxib_ibdev *ibdev = ib_alloc_device(cxib_ibdev, ib);
	int err;

	if (!ibdev) {
		dev_err(hw->bus->dev, "RDMA device: allocation failed\n");
		return ERR_PTR(-ENOMEM);
	}
	verbs_init_ibdev(ibdev, hw, user, polling);
	ib_set_device_ops(&ibdev->ib, ulp_ops);
	ibdev->poll_policy = policy;
	err = verbs_create_flush_workqueue(ibdev);
	if (err)
		goto dealloc_device;
	err = verbs_start_polling(ibdev);
	if (err)
		goto destroy_workqueue;
	err = user->start(ibdev);
	if (err)
		goto stop_polling;
	err = verbs_query_static(ibdev);
	if (err)
		goto destroy_ports;
	err = cxib_counters_create(ibdev);
	if (err)
		goto destroy_ports;
	cxib_hw_set_client(hw, &ibdev->client);
	err = ib_register_device(&ibdev->ib, "cxib%d", hw->bus->dev);
	if (err)
		goto unset_client;
	cxib_orphans_debugfs(ibdev);
	return ibdev;

unset_client:
	cxib_hw_set_client(hw, NULL);
	verbs_stop_flushing(ibdev);
	cxib_counters_destroy(ibdev);
destroy_ports:
	cxib_ports_destroy(ibdev);
	cxib_quarantine_end(ibdev);
	user->stop(ibdev);
stop_polling:
	verbs_stop_polling(ibdev);
destroy_workqueue:
	destroy_workqueue(ibdev->workqueue);
dealloc_device:
	verbs_destroy_tables(ibdev);
	ib_dealloc_device(&ibdev->ib);
	dev_err(hw->bus->dev, "RDMA device: registration failed: %d\n", err);
	return ERR_PTR(err);
}

/**
 * cxib_verbs_unregister() - undo cxib_verbs_register()
 * @ibdev: RDMA device; freed
 *
 * Context: process context, may sleep.
 */
void cxib_verbs_unregister(struct cxib_ibdev *ibdev)
{
	/* User objects may be parents of objects that timed-out commands have created. */
	cxib_quarantine_end(ibdev);
	cxib_odp_end_faults(ibdev);
	ib_unregister_device(&ibdev->ib);
	cxib_orphans_end(ibdev);
	cxib_odp_destroy(ibdev);
	cxib_umr_destroy(ibdev);
	cxib_hw_set_client(ibdev->hw, NULL);
	verbs_stop_flushing(ibdev);
	cxib_xrc_destroy(ibdev);
	cxib_counters_destroy(ibdev);
	cxib_ports_destroy(ibdev);
	cxib_quarantine_end(ibdev);
	ibdev->user->stop(ibdev);
	verbs_stop_polling(ibdev);
	destroy_workqueue(ibdev->workqueue);
	verbs_destroy_tables(ibdev);
	ib_dealloc_device(&ibdev->ib);
}
