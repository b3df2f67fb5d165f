// SPDX-License-Identifier: GPL-2.0-only
/* QPs: create, query, destroy; events of QPs. */
#include <kunit/visibility.h>
#include <linux/mm.h>
#include <linux/slab.h>

#include "hw/commands_queue_pairs.h"
#include "hw/names.h"
#include "hw/qp.h"
#include "verbs/lookup.h"
#include "verbs/port/gsi.h"
#include "verbs/qp/dc.h"
#include "verbs/qp/pipelining.h"
#include "verbs/qp/post.h"
#include "verbs/signature/integrity.h"
#include "verbs/srq/srq.h"

/* Value of req_e2e_credit_mode that counts packets; 0 counts messages. */
#define CREDITS_BY_PACKET	1

/* log_rq_stride of the QP context. */
#define STRIDE_CODE(log_stride)	((log_stride) - CXIB_LOG_DS_SIZE)

/**
 * cxib_qp_service_type() - returns the HW_QP_SERVICE_TYPE_… of a QP
 * @type: type of the QP
 *
 * Return: the service type, or -EOPNOTSUPP.
 */
int cxib_qp_service_type(enum ib_qp_type type)
{
	switch (type) {
	case IB_QPT_SMI:
		return HW_QP_SERVICE_TYPE_QP0;
	case IB_QPT_GSI:
		return HW_QP_SERVICE_TYPE_QP1;
	case IB_QPT_UD:
		return HW_QP_SERVICE_TYPE_UD;
	case IB_QPT_RC:
		return HW_QP_SERVICE_TYPE_RC;
	case IB_QPT_UC:
		return HW_QP_SERVICE_TYPE_UC;
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		return HW_QP_SERVICE_TYPE_XRC;
	case IB_QPT_DRIVER:
		return HW_QP_SERVICE_TYPE_DCI;
	case CXIB_QPT_UMR:
		return HW_QP_SERVICE_TYPE_REG_UMR;
	default:
		return -EOPNOTSUPP;
	}
}

static int qp_check_cqs(struct cxib_ibdev *ibdev, const struct ib_qp_init_attr *init)
{
	bool has_sq = init->qp_type != IB_QPT_XRC_TGT;
	bool has_rq = has_sq && init->qp_type != IB_QPT_XRC_INI;

	if ((init->send_cq || !has_sq) && (init->recv_cq || !has_rq))
		return 0;
	ibdev_dbg(&ibdev->ib, "create QP: type %d: no %s CQ\n",
		  init->qp_type, has_rq ? "send or receive" : "send");
	return -EINVAL;
}

static u32 qp_known_flags(const struct cxib_device_caps *caps, enum ib_qp_type type)
{
	u32 flags = 0;

	/* uverbs does not let user space pass reserved flags. */
	if (caps->set_deth_sqpn && type == IB_QPT_UD)
		flags |= CXIB_QP_CREATE_GSI_TX;
	if (caps->block_lb_mc)
		flags |= IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK;
	if (caps->sho && type == IB_QPT_RC)
		flags |= IB_QP_CREATE_INTEGRITY_EN;
	return flags;
}

static bool qp_serves(const struct ib_srq *srq, enum ib_qp_type type)
{
	return srq->srq_type == IB_SRQT_BASIC ||
	       (srq->srq_type == IB_SRQT_TM && type == IB_QPT_RC);
}

static int qp_check_attributes(struct cxib_ibdev *ibdev, const struct ib_qp_init_attr *init)
{
	const u32 known = qp_known_flags(&ibdev->hw->caps, init->qp_type);

	if (cxib_qp_service_type(init->qp_type) < 0) {
		ibdev_dbg(&ibdev->ib, "create QP: unsupported type %d\n", init->qp_type);
		return -EOPNOTSUPP;
	}
	if (init->create_flags & ~known) {
		ibdev_dbg(&ibdev->ib, "create QP: unsupported create_flags 0x%x (mask 0x%x)\n",
			  init->create_flags, known);
		return -EOPNOTSUPP;
	}
	if (init->rwq_ind_tbl)
		return -EOPNOTSUPP;
	if (init->qp_type == IB_QPT_XRC_TGT && !init->xrcd) {
		ibdev_dbg(&ibdev->ib, "create QP: XRC_TGT without XRC domain\n");
		return -EINVAL;
	}
	if (init->qp_type == IB_QPT_DRIVER && !ibdev->hw->caps.dct) {
		ibdev_dbg(&ibdev->ib, "create QP: no dct capability\n");
		return -EOPNOTSUPP;
	}
	if (init->srq && init->qp_type != IB_QPT_RC && init->qp_type != IB_QPT_UD &&
	    init->qp_type != IB_QPT_DRIVER) {
		ibdev_dbg(&ibdev->ib, "create QP: type %d does not support SRQs\n",
			  init->qp_type);
		return -EOPNOTSUPP;
	}
	if (init->srq && !qp_serves(init->srq, init->qp_type)) {
		ibdev_dbg(&ibdev->ib, "create QP: SRQ type %d does not match QP type %d\n",
			  init->srq->srq_type, init->qp_type);
		return -EINVAL;
	}
	return qp_check_cqs(ibdev, init);
}

static int qp_alloc_entries(struct cxib_qp *qp)
{
	if (qp->has_sq) {
		qp->sq.entries = kvcalloc(BIT(qp->sq.log_size), sizeof(*qp->sq.entries),
					  GFP_KERNEL);
		if (!qp->sq.entries)
			return -ENOMEM;
	}
	if (qp->has_rq) {
		qp->rq.entries = kvcalloc(BIT(qp->rq.log_size),
					  sizeof(*qp->rq.entries), GFP_KERNEL);
		if (!qp->rq.entries)
			return -ENOMEM;
	}
	return 0;
}

static void qp_free_entries(struct cxib_qp *qp)
{
	kvfree(qp->sq.entries);
	kvfree(qp->rq.entries);
}

static int qp_alloc_memory(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	struct device *dev = ibdev->hw->bus->dev;
	int err;

	err = qp_alloc_entries(qp);
	if (err)
		goto free_entries;
	err = cxib_buffer_create(&qp->buffer, dev, max_t(size_t, cxib_qp_buffer_size(qp), 1));
	if (err)
		goto free_entries;
	err = cxib_dbr_alloc(ibdev->hw, &qp->dbr);
	if (err)
		goto destroy_buffer;
	return 0;

destroy_buffer:
	cxib_buffer_destroy(&qp->buffer, dev);
free_entries:
	qp_free_entries(qp);
	return err;
}

/* @err: result of the command that passed the memory to the device; 0: QP destroyed */
static void qp_free_memory(struct cxib_ibdev *ibdev, struct cxib_qp *qp, int err)
{
	cxib_free_queue_memory(ibdev, &qp->buffer, &qp->dbr, err);
	qp_free_entries(qp);
}

/* On a device without XRC, a DCI has no placeholder RQ. */
static bool qp_has_placeholder_rq(const struct cxib_qp *qp)
{
	return cxib_qp_is_xrc(qp) ||
	       (cxib_qp_is_dci(qp) && to_ibdev(qp->ib.device)->hw->caps.xrc);
}

/*
 * Returns true if the context of a QP names the placeholder SRQ and XRC domain of cxib_xrc_init().
 * UC and UMR QPs have other RQs. But on a device with XRC, no public driver creates such a QP
 * without naming an SRQ and an XRC domain. RC and UD QPs name none, as in public drivers.
 */
static bool qp_names_placeholder(const struct cxib_qp *qp)
{
	const enum ib_qp_type type = qp->ib.qp_type;

	return qp_has_placeholder_rq(qp) ||
	       ((type == IB_QPT_UC || type == CXIB_QPT_UMR) &&
		to_ibdev(qp->ib.device)->hw->caps.xrc);
}

/* The device reads each of the two only if the service type or rq_type requires it. */
static void qp_name_placeholder(struct hw_qpc *context, const struct cxib_qp *qp,
				const struct ib_qp_init_attr *init)
{
	const struct cxib_xrc *xrc = &to_ibdev(qp->ib.device)->xrc;

	hw_qpc_set_xrcd(context, init->xrcd ? to_xrcd(init->xrcd)->xrcdn : xrc->xrcd);
	hw_qpc_set_srqn_rmpn_xrqn(context, xrc->srqn);
}

/*
 * The SRQ in the context is the placeholder, because each packet names its SRQ of the XRC domain,
 * and a DCI receives nothing. An XRC_TGT QP also names the placeholder CQ as send CQ. mlx5_ib does
 * all this in the same way.
 */
static void qp_init_placeholder_rq(struct hw_qpc *context, const struct cxib_qp *qp)
{
	const struct cxib_xrc *xrc = &to_ibdev(qp->ib.device)->xrc;

	hw_qpc_set_rq_type(context, HW_QP_RQ_TYPE_SRQ_RQ);
	hw_qpc_set_cqn_rcv(context, cxib_qp_is_dci(qp) ? cxib_recv_cq(qp)->cqn : xrc->cqn);
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		hw_qpc_set_cqn_snd(context, xrc->cqn);
}

/*
 * Returns true if the device fetches rendezvous data for the QP. A QP with an SQ updates the tag
 * list and fetches no data.
 */
static bool qp_fetches_rendezvous(const struct cxib_qp *qp)
{
	return qp->ib.srq && qp->ib.srq->srq_type == IB_SRQT_TM && !qp->has_sq &&
	       to_ibdev(qp->ib.device)->hw->caps.rndv_offload_rc;
}

static void qp_init_rq(struct hw_qpc *context, const struct cxib_qp *qp)
{
	if (qp_fetches_rendezvous(qp))
		hw_qpc_set_offload_type(context, HW_QP_OFFLOAD_TYPE_RNDV);
	if (qp->ib.srq && !cxib_qp_is_dci(qp)) {
		hw_qpc_set_rq_type(context, HW_QP_RQ_TYPE_SRQ_RQ);
		hw_qpc_set_srqn_rmpn_xrqn(context, to_srq(qp->ib.srq)->srqn);
	} else if (qp->has_rq) {
		hw_qpc_set_rq_type(context, HW_QP_RQ_TYPE_NON_ZERO_RQ);
		hw_qpc_set_log_rq_size(context, qp->rq.log_size);
		hw_qpc_set_log_rq_stride(context, STRIDE_CODE(qp->rq.log_stride));
	} else {
		hw_qpc_set_rq_type(context, HW_QP_RQ_TYPE_ZERO_LEN_RQ);
	}
	hw_qpc_set_cqn_rcv(context, cxib_recv_cq(qp)->cqn);
}

static void qp_fill_queues(struct hw_qpc *context, const struct cxib_qp *qp,
			   const struct ib_qp_init_attr *init)
{
	if (qp->has_sq)
		hw_qpc_set_log_sq_size(context, qp->sq.log_size);
	else
		hw_qpc_set_no_sq(context, 1);
	if (qp->ib.send_cq)
		hw_qpc_set_cqn_snd(context, cxib_send_cq(qp)->cqn);
	if (qp_names_placeholder(qp))
		qp_name_placeholder(context, qp, init);
	if (qp_has_placeholder_rq(qp))
		qp_init_placeholder_rq(context, qp);
	else
		qp_init_rq(context, qp);
	hw_qpc_set_dbr_addr(context, qp->dbr.dma);
}

/**
 * cxib_qp_pdn() - returns the PDN of a QP
 * @qp: QP; XRC_TGT QPs have no PD and use the PD of cxib_xrc_init()
 */
u32 cxib_qp_pdn(const struct cxib_qp *qp)
{
	return qp->ib.pd ? to_pd(qp->ib.pd)->pdn : to_ibdev(qp->ib.device)->xrc.pd;
}

/**
 * cxib_qp_fill_context() - fill the QP context of CREATE_QP
 * @qp: QP with sizes and memory
 * @init: attributes of its creation, checked
 * @context: filled; all zeros on entry
 *
 * fre allows UMR WQEs of the QP to write DMA addresses into mkeys. IB_WR_REG_MR and IB_WR_LOCAL_INV
 * need it, and user QPs must not have it.
 */
void cxib_qp_fill_context(const struct cxib_qp *qp, const struct ib_qp_init_attr *init,
			  struct hw_qpc *context)
{
	hw_qpc_set_st(context, cxib_qp_service_type(init->qp_type));
	hw_qpc_set_pm_state(context, HW_QP_MIGRATION_STATE_MIGRATED);
	/* As in mlx5_ib, only transitions name the PD, which a REG_UMR QP does not use. */
	if (qp->ib.qp_type == CXIB_QPT_UMR)
		hw_qpc_set_latency_sensitive(context, 1);
	else
		hw_qpc_set_pd(context, cxib_qp_pdn(qp));
	hw_qpc_set_uar_page(context, qp->uar);
	hw_qpc_set_user_index(context, qp->user_index);
	hw_qpc_set_log_num_dci_stream_channels(context, qp->log_dci_streams);
	hw_qpc_set_log_num_dci_errored_streams(context, qp->log_dci_errored);
	if (init->create_flags & IB_QP_CREATE_BLOCK_MULTICAST_LOOPBACK)
		hw_qpc_set_block_lb_mc(context, 1);
	if (init->create_flags & CXIB_QP_CREATE_GSI_TX)
		hw_qpc_set_deth_sqpn(context, CXIB_GSI_NUMBER);
	hw_qpc_set_fre(context, !qp->is_user);
	hw_qpc_set_rlky(context, cxib_qp_uses_resd_lkey(qp));
	if (qp->packet_based_credit)
		hw_qpc_set_req_e2e_credit_mode(context, CREDITS_BY_PACKET);
	/* Set as in mlx5_ib; for the device the field has no other meaning. */
	if (init->create_flags & IB_QP_CREATE_INTEGRITY_EN &&
	    to_ibdev(qp->ib.device)->hw->caps.go_back_n)
		hw_qpc_set_retry_mode(context, HW_QP_RETRY_MODE_GO_BACK_N);
	qp_fill_queues(context, qp, init);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_fill_context);

static int qp_create_in_device(struct cxib_ibdev *ibdev, struct cxib_qp *qp,
			       const struct ib_qp_init_attr *init)
{
	struct hw_qpc context = {};

	cxib_qp_fill_context(qp, init, &context);
	return cxib_cmd_create_qp(commands_of(ibdev), cxib_qp_uid(qp), &context, &qp->buffer,
				  &qp->qpn);
}

static void qp_init_fields(struct cxib_qp *qp, const struct ib_qp_init_attr *init)
{
	qp->wc_qp = &qp->ib;
	/*
	 * The RDMA core sets the XRC domain only after the last step of the creation that may fail.
	 */
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		qp->ib.xrcd = init->xrcd;
	cxib_qp_set_state(qp, IB_QPS_RESET);
	qp->port = init->port_num;
	qp->sq.flags = init->sq_sig_type == IB_SIGNAL_ALL_WR ? IB_SEND_SIGNALED : 0;
	spin_lock_init(&qp->sq.lock);
	spin_lock_init(&qp->rq.lock);
	mutex_init(&qp->mutex);
	cxib_reference_init(&qp->reference);
}

static u32 qp_core_number(const struct cxib_qp *qp)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_SMI:
		return 0;
	case IB_QPT_GSI:
		return CXIB_GSI_NUMBER;
	default:
		return qp->qpn;
	}
}

static void qp_erase_from(struct cxib_cq *cq, const struct cxib_qp *qp)
{
	lockdep_assert_held(&cq->lock);

	cq->last_qpn = CXIB_NO_QPN;
	xa_erase(&cq->queue_pairs, qp->qpn);
}

/* From here on poll_cq finds the QP. */
static int qp_insert_in_cqs(struct cxib_qp *qp)
{
	struct cxib_cq *send_cq = cxib_send_cq(qp), *recv_cq = cxib_recv_cq(qp);
	int err;

	err = xa_insert_irq(&send_cq->queue_pairs, qp->qpn, qp, GFP_KERNEL);
	if (err || recv_cq == send_cq)
		return err;
	err = xa_insert_irq(&recv_cq->queue_pairs, qp->qpn, qp, GFP_KERNEL);
	if (!err)
		return 0;
	scoped_guard(spinlock_irq, &send_cq->lock)
		qp_erase_from(send_cq, qp);
	return err;
}

static int qp_attach_to_cqs(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	int err;

	/* CQEs of an XRC_TGT QP arrive in the CQs of the XRC SRQs. */
	if (cxib_qp_is_xrc(qp))
		return 0;
	err = qp_insert_in_cqs(qp);
	if (err)
		return err;
	spin_lock_irq(&ibdev->flush_lock);
	spin_lock(&cxib_send_cq(qp)->lock);
	list_add_tail(&qp->send_node, &cxib_send_cq(qp)->send_qps);
	spin_unlock(&cxib_send_cq(qp)->lock);
	spin_lock(&cxib_recv_cq(qp)->lock);
	list_add_tail(&qp->recv_node, &cxib_recv_cq(qp)->recv_qps);
	spin_unlock(&cxib_recv_cq(qp)->lock);
	spin_unlock_irq(&ibdev->flush_lock);
	return 0;
}

static void qp_detach_from_cqs(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	if (cxib_qp_is_xrc(qp))
		return;
	spin_lock_irq(&ibdev->flush_lock);
	spin_lock(&cxib_send_cq(qp)->lock);
	qp_erase_from(cxib_send_cq(qp), qp);
	list_del(&qp->send_node);
	spin_unlock(&cxib_send_cq(qp)->lock);
	spin_lock(&cxib_recv_cq(qp)->lock);
	qp_erase_from(cxib_recv_cq(qp), qp);
	list_del(&qp->recv_node);
	spin_unlock(&cxib_recv_cq(qp)->lock);
	spin_unlock_irq(&ibdev->flush_lock);
}

/* From here on CQEs and events find the QP. */
static int qp_publish(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	int err = xa_insert_irq(&ibdev->qps, qp->qpn, qp, GFP_KERNEL);

	if (err)
		return err;
	qp->ib.qp_num = qp_core_number(qp);
	if (!qp->is_user)
		err = qp_attach_to_cqs(ibdev, qp);
	if (err)
		xa_erase_irq(&ibdev->qps, qp->qpn);
	return err;
}

/* Removes the CQEs of the QP and detaches it from its CQs. */
static void qp_unpublish(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	cxib_qp_clean(qp);
	/* Lookups by QPN must fail before the QP is detached. */
	xa_erase_irq(&ibdev->qps, qp->qpn);
	if (!qp->is_user)
		qp_detach_from_cqs(ibdev, qp);
}

/**
 * cxib_qp_init() - initialise the software state of a QP
 * @qp: QP allocated by the RDMA core
 * @init: attributes; all but cap are checked
 *
 * Context: process context, may sleep.
 * Return: 0; -EINVAL or -EOPNOTSUPP for invalid or unsupported attributes; for QPs that name the
 * placeholder SRQ also as cxib_xrc_init().
 */
int cxib_qp_init(struct cxib_qp *qp, const struct ib_qp_init_attr *init)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	int err = qp_check_attributes(ibdev, init);

	if (!err && qp_names_placeholder(qp))
		err = cxib_xrc_init(ibdev);
	if (!err)
		qp_init_fields(qp, init);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_init);

static struct cxib_destroy qp_destroy_of(const struct cxib_qp *qp)
{
	struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DESTROY_QP, cxib_qp_uid(qp), qp->qpn);

	if (qp->ib.qp_type == IB_QPT_XRC_TGT) {
		destroy.is_xrc_tgt = true;
		destroy.xrcdn = to_xrcd(qp->ib.xrcd)->xrcdn;
	}
	return destroy;
}

/*
 * The RDMA core does not know the QP yet, or frees it in any case. The user context is that of the
 * PD, not that of udata. XRC_TGT QPs of user space have no udata, and the RDMA core destroys a QP
 * that its security module refuses with udata that belongs to no request.
 */
static void qp_destroy_in_device(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	const struct cxib_destroy destroy = qp_destroy_of(qp);
	int err = cxib_cmd_destroy_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn);

	if (err && qp->is_user)
		cxib_orphans_keep(ibdev, cxib_pd_context(qp->ib.pd), &destroy, &qp->user.pinned,
				  err);
	else
		cxib_finish_destroy(ibdev, err);
}

/**
 * cxib_qp_create_hw() - create a QP in the device and publish it
 * @qp: QP with sizes and memory
 * @init: attributes, with the actual cap
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_create_qp(); -ENOMEM.
 */
int cxib_qp_create_hw(struct cxib_qp *qp, const struct ib_qp_init_attr *init)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	int err;

	qp->cap = init->cap;
	err = qp_create_in_device(ibdev, qp, init);
	if (err)
		return err;
	err = qp_publish(ibdev, qp);
	if (err)
		qp_destroy_in_device(ibdev, qp);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_create_hw);

/* Fence mode of UMR WQEs for WRs. cxib_umr_write() chooses that of the driver's own UMR WQEs. */
static enum hw_fence_mode qp_umr_fence_mode(const struct cxib_device_caps *caps)
{
	switch (caps->umr_fence) {
	case HW_UMR_FENCE_NONE:
		return HW_FENCE_MODE_NONE;
	case HW_UMR_FENCE_SMALL:
		return HW_FENCE_MODE_INITIATOR_SMALL;
	default:
		return HW_FENCE_MODE_STRONG_ORDERING;
	}
}

static u64 qp_atomic_opcodes(const struct cxib_device_caps *caps)
{
	u64 operations = 0;

	if (!caps->atomic_host_endian)
		return 0;
	if (caps->atomic_operations & HW_ATOMIC_OPERATIONS_CMP_SWAP)
		operations |= BIT_ULL(IB_WR_ATOMIC_CMP_AND_SWP);
	if (caps->atomic_operations & HW_ATOMIC_OPERATIONS_FETCH_ADD)
		operations |= BIT_ULL(IB_WR_ATOMIC_FETCH_AND_ADD);
	/* The WQE of a masked atomic has an operand size, which the device must support. */
	if (!(caps->atomic_size_qp & HW_ATOMIC_SIZE_BYTES_8))
		return operations;
	if (caps->atomic_operations & HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP)
		operations |= BIT_ULL(IB_WR_MASKED_ATOMIC_CMP_AND_SWP);
	if (caps->atomic_operations & HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD)
		operations |= BIT_ULL(IB_WR_MASKED_ATOMIC_FETCH_AND_ADD);
	return operations;
}

/**
 * cxib_qp_set_opcode_mask() - set the opcodes that the SQ accepts, and the parameters of their WQEs
 * @qp: QP of the kernel
 */
void cxib_qp_set_opcode_mask(struct cxib_qp *qp)
{
	const u64 send_ops = BIT_ULL(IB_WR_SEND) | BIT_ULL(IB_WR_SEND_WITH_IMM);
	const u64 write_ops = BIT_ULL(IB_WR_RDMA_WRITE) | BIT_ULL(IB_WR_RDMA_WRITE_WITH_IMM);
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;

	if (!qp->has_sq)
		return;
	qp->sq.umr_fence = qp_umr_fence_mode(caps);
	qp->sq.key_mask = cxib_registration_mask(caps);
	switch (qp->ib.qp_type) {
	case IB_QPT_RC:
		qp->sq.opcode_mask = send_ops | write_ops | BIT_ULL(IB_WR_RDMA_READ) |
				     BIT_ULL(IB_WR_SEND_WITH_INV) | BIT_ULL(IB_WR_REG_MR) |
				     BIT_ULL(IB_WR_LOCAL_INV) | qp_atomic_opcodes(caps);
		break;
	case IB_QPT_UC:
		qp->sq.opcode_mask = send_ops | write_ops;
		break;
	case CXIB_QPT_UMR:
		break;
	default:
		qp->sq.opcode_mask = send_ops;
		qp->sq.av_ds = sizeof(struct hw_wqe_datagram_seg) / CXIB_DS_SIZE;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_set_opcode_mask);

int cxib_create_qp_kernel(struct ib_qp *ib, struct ib_qp_init_attr *init,
			  struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);
	int err;

	/* Kernel send WRs cannot name a remote SRQ or DCT. */
	if (init->qp_type == IB_QPT_XRC_INI || init->qp_type == IB_QPT_DRIVER)
		return -EOPNOTSUPP;
	err = cxib_qp_init(qp, init);
	if (err)
		return err;
	/* An XRC_TGT QP has no work queues, so cap is ignored. */
	if (init->qp_type == IB_QPT_XRC_TGT)
		init->cap = (struct ib_qp_cap){};
	qp->uar = ibdev->hw->uar_index;
	qp->user_index = CXIB_NO_USER_INDEX;
	qp->sq.doorbell = ibdev->hw->uar + HW_UAR_OFFSET_BLUE_FLAME;
	err = cxib_qp_size(ibdev, qp, init);
	if (err)
		return err;
	cxib_qp_set_opcode_mask(qp);
	err = qp_alloc_memory(ibdev, qp);
	if (err)
		return err;
	if (init->qp_type == IB_QPT_GSI) {
		err = cxib_gsi_create(qp);
		if (err)
			goto free_memory;
	}
	err = cxib_qp_create_hw(qp, init);
	if (err)
		goto stop_gsi;
	return 0;

stop_gsi:
	cxib_gsi_stop(qp);
	cxib_gsi_destroy(qp);
free_memory:
	qp_free_memory(ibdev, qp, err);
	return err;
}

/*
 * With DMA off, poll_cq() flushes the WQEs between cons_index and prod_index, so the indices are
 * reset under the lock of the CQ.
 */
static void qp_clean_sq(struct cxib_qp *qp)
{
	struct cxib_cq *cq = cxib_send_cq(qp);

	spin_lock_irq(&cq->lock);
	qp->sq.prod_index = 0;
	qp->sq.cons_index = 0;
	qp->mad_flush_index = 0;
	spin_unlock_irq(&cq->lock);
}

static void qp_clean_rq(struct cxib_qp *qp)
{
	struct cxib_cq *cq = cxib_recv_cq(qp);

	spin_lock_irq(&cq->lock);
	qp->rq.prod_index = 0;
	qp->rq.cons_index = 0;
	spin_unlock_irq(&cq->lock);
}

/**
 * cxib_qp_clean() - reset the work queues and remove the CQEs of a QP
 * @qp: QP in RST: the device does not access its work queues
 *
 * User space does this itself for user QPs.
 */
void cxib_qp_clean(struct cxib_qp *qp)
{
	if (qp->ib.qp_type == IB_QPT_XRC_TGT)
		return cxib_clean_xrc_tgt_cqes(to_ibdev(qp->ib.device), qp);
	if (qp->is_user || cxib_qp_is_xrc(qp))
		return;
	/*
	 * The state is reset first, so that no cancellation of a WR that was posted before RESET
	 * affects WRs posted after it.
	 */
	scoped_guard(spinlock_irq, &qp->sq.lock)
		qp->sq.state = 0;
	cxib_cq_clean(cxib_send_cq(qp), qp);
	if (cxib_recv_cq(qp) != cxib_send_cq(qp))
		cxib_cq_clean(cxib_recv_cq(qp), qp);
	if (qp->pipelining) {
		cxib_clear_failed_mrs(qp->pipelining);
		qp->pipelining->is_closed = false;
	}
	qp_clean_sq(qp);
	qp_clean_rq(qp);
	qp->sq.prod_limit = 0;
	qp->sq.next_fence = HW_FENCE_MODE_NONE;
	qp->sq.last = NULL;
	memset(qp->dbr.words, 0, sizeof(struct hw_qp_doorbell_record));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_clean);

/*
 * ib_mad destroys its QPs before it stops the handler of its CQ, which may still post receive WRs.
 */
static void qp_await_mad_handler(const struct cxib_qp *qp)
{
	if (cxib_qp_is_special(qp))
		cxib_cq_synchronize(cxib_recv_cq(qp));
}

/**
 * cxib_pipelining_free() - free the signature pipelining of a QP
 * @qp: QP of which no further event or CQE is processed
 *
 * Context: process context, may sleep; not from an event handler of the QP.
 */
void cxib_pipelining_free(struct cxib_qp *qp)
{
	struct cxib_pipelining *pipelining = qp->pipelining;

	if (!pipelining)
		return;
	cancel_delayed_work_sync(&pipelining->work);
	cxib_clear_failed_mrs(pipelining);
	/* The resource tracker of older kernels lists the QP until its memory is freed. */
	scoped_guard(mutex, &qp->mutex)
		qp->pipelining = NULL;
	kfree(pipelining);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pipelining_free);

/*
 * Moves the QP to RST. Afterwards the device writes no CQEs of the QP, but does not reuse its QPN
 * yet.
 */
static int qp_reset_in_device(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	if (qp->state == IB_QPS_RESET)
		return 0;
	return cxib_cmd_2rst_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn);
}

/* Sets the state to RESET, in which the work item of signature pipelining handles no stop. */
static int qp_reset_pipelined(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	int err;

	guard(mutex)(&qp->mutex);
	err = qp_reset_in_device(ibdev, qp);
	if (!err)
		cxib_qp_enter_state(qp, IB_QPS_RESET);
	return err;
}

/*
 * When the last handle of an XRC_TGT QP of user space is closed, the RDMA core destroys the QP
 * without udata, and no process gets an error. So the QP becomes an orphan if the command fails.
 */
static int qp_finish_reset(struct cxib_qp *qp, struct ib_udata *udata,
			   const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);

	if (!err || udata || !qp->is_user)
		return cxib_finish_user_destroy(ibdev, udata, destroy, pinned, err);
	cxib_orphans_keep(ibdev, cxib_pd_context(qp->ib.pd), destroy, pinned, err);
	return 0;
}

int cxib_destroy_qp_kernel(struct ib_qp *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);
	struct cxib_destroy destroy = qp_destroy_of(qp);
	struct cxib_pinned pinned = qp->user.pinned;
	int reset_error, err;

	if (qp->dct)
		return cxib_dct_destroy(qp, udata);
	cxib_gsi_stop(qp);
	cxib_leave_mcast_groups(qp);
	reset_error = qp->pipelining ? qp_reset_pipelined(ibdev, qp) :
				       qp_reset_in_device(ibdev, qp);
	destroy.before = HW_CMD_2RST_QP;
	err = qp_finish_reset(qp, udata, &destroy, &pinned, reset_error);
	if (err)
		return err;
	qp_unpublish(ibdev, qp);
	qp_await_mad_handler(qp);
	cxib_drain_destroy(qp);
	cxib_reference_end(&qp->reference);
	cxib_pipelining_free(qp);
	qp->user.pinned = pinned;
	if (!reset_error)
		qp_destroy_in_device(ibdev, qp);
	cxib_forget_mcast_groups(qp);
	cxib_gsi_destroy(qp);
	if (!qp->is_user)
		qp_free_memory(ibdev, qp, 0);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_destroy_qp_kernel);

static enum ib_qp_state qp_core_state(u32 state)
{
	switch (state) {
	case HW_QP_STATE_RST:
		return IB_QPS_RESET;
	case HW_QP_STATE_INIT:
		return IB_QPS_INIT;
	case HW_QP_STATE_RTR:
		return IB_QPS_RTR;
	case HW_QP_STATE_RTS:
		return IB_QPS_RTS;
	case HW_QP_STATE_SQER:
		return IB_QPS_SQE;
	case HW_QP_STATE_SQD:
	case HW_QP_STATE_SQ_DRAINING:
		return IB_QPS_SQD;
	default:
		return IB_QPS_ERR;
	}
}

static void qp_fill_init(const struct cxib_qp *qp, struct ib_qp_init_attr *init)
{
	*init = (struct ib_qp_init_attr){
		.event_handler = qp->ib.event_handler,
		.qp_context = qp->ib.qp_context,
		.send_cq = qp->ib.send_cq,
		.recv_cq = qp->ib.recv_cq,
		.srq = qp->ib.srq,
		.cap = qp->cap,
		.qp_type = qp->ib.qp_type,
		.port_num = qp->port,
		.create_flags = qp->ib.integrity_en ? IB_QP_CREATE_INTEGRITY_EN : 0,
		.sq_sig_type = qp->sq.flags & IB_SEND_SIGNALED ? IB_SIGNAL_ALL_WR :
							    IB_SIGNAL_REQ_WR,
	};
}

static enum ib_mig_state qp_core_migration_state(u32 state)
{
	switch (state) {
	case HW_QP_MIGRATION_STATE_ARMED:
		return IB_MIG_ARMED;
	case HW_QP_MIGRATION_STATE_REARM:
		return IB_MIG_REARM;
	default:
		return IB_MIG_MIGRATED;
	}
}

static void qp_describe_path(const struct hw_ads *path, struct rdma_ah_attr *attr)
{
	u32 rate = hw_ads_get_stat_rate(path);

	attr->type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_dlid(attr, hw_ads_get_rlid(path));
	rdma_ah_set_sl(attr, hw_ads_get_sl(path));
	rdma_ah_set_path_bits(attr, hw_ads_get_mlid(path));
	rdma_ah_set_port_num(attr, hw_ads_get_vhca_port_num(path));
	rdma_ah_set_static_rate(attr, cxib_rate_to_ib(rate));
	if (!hw_ads_get_grh(path))
		return;
	rdma_ah_set_grh(attr, NULL, hw_ads_get_flow_label(path), hw_ads_get_src_addr_index(path),
			hw_ads_get_hop_limit(path), hw_ads_get_tclass(path));
	memcpy(rdma_ah_retrieve_grh(attr)->dgid.raw, hw_ads_get_rgid_rip(path),
	       sizeof(union ib_gid));
}

static void qp_describe_connection(const struct cxib_qp *qp, const struct hw_qpc *context,
				   struct ib_qp_attr *attr)
{
	const struct hw_ads *primary = hw_qpc_get_primary_address_path(context);
	const struct hw_ads *alternate = hw_qpc_get_secondary_address_path(context);

	attr->dest_qp_num = hw_qpc_get_remote_qpn(context);
	attr->rq_psn = hw_qpc_get_next_rcv_psn(context);
	attr->min_rnr_timer = hw_qpc_get_min_rnr_nak(context);
	attr->retry_cnt = hw_qpc_get_retry_count(context);
	attr->rnr_retry = hw_qpc_get_rnr_retry(context);
	attr->max_rd_atomic = qp->max_rd_atomic;
	attr->max_dest_rd_atomic = qp->max_dest_rd_atomic;
	attr->qp_access_flags = qp->access;
	attr->path_mig_state = qp_core_migration_state(hw_qpc_get_pm_state(context));
	attr->timeout = hw_ads_get_ack_timeout(primary);
	qp_describe_path(primary, &attr->ah_attr);
	qp_describe_path(alternate, &attr->alt_ah_attr);
	attr->alt_pkey_index = hw_ads_get_pkey_index(alternate);
	attr->alt_port_num = hw_ads_get_vhca_port_num(alternate);
	attr->alt_timeout = hw_ads_get_ack_timeout(alternate);
}

static void qp_describe(struct cxib_qp *qp, enum ib_qp_state state, const struct hw_qpc *context,
			struct ib_qp_attr *attr)
{
	const struct hw_ads *path = hw_qpc_get_primary_address_path(context);

	*attr = (struct ib_qp_attr){ .cap = qp->cap };
	attr->qp_state = state;
	attr->cur_qp_state = state;
	attr->sq_draining = state == IB_QPS_SQD &&
			    (hw_qpc_get_state(context) == HW_QP_STATE_SQ_DRAINING ||
			     (qp->sq.state & CXIB_SQ_HELD && !cxib_sq_is_drained(qp)));
	attr->path_mtu = hw_qpc_get_mtu(context);
	attr->qkey = hw_qpc_get_q_key(context);
	attr->sq_psn = hw_qpc_get_next_send_psn(context);
	attr->pkey_index = hw_ads_get_pkey_index(path);
	attr->port_num = hw_ads_get_vhca_port_num(path);
	if (cxib_qp_is_connection(qp))
		qp_describe_connection(qp, context, attr);
}

/* With signature pipelining, a stop changes the state only after the work item has handled it. */
static bool qp_is_pipelined_stop(struct cxib_qp *qp, enum ib_qp_state state)
{
	return qp->pipelining && (state == IB_QPS_RTS || state == IB_QPS_SQD) &&
	       (qp->state == IB_QPS_RTS || qp->state == IB_QPS_SQD);
}

/*
 * Converts the state of the device, which does not know that cxib_sq_drain() holds the SQ.
 * @stops: num_stops before QUERY_QP; if it has not changed, no stop is newer than the context
 */
static enum ib_qp_state qp_state_of(struct cxib_qp *qp, const struct hw_qpc *context, u32 stops)
{
	enum ib_qp_state state = qp_core_state(hw_qpc_get_state(context));

	lockdep_assert_held(&qp->mutex);

	if (qp_is_pipelined_stop(qp, state)) {
		if (state == IB_QPS_SQD)
			cxib_pipelining_stopped(qp);
		return qp->state;
	}
	if (state == IB_QPS_RTS && READ_ONCE(qp->sq.num_stops) == stops)
		cxib_sq_clear_stop(qp);
	if (state == IB_QPS_RTS && qp->sq.state & CXIB_SQ_HELD)
		return IB_QPS_SQD;
	/*
	 * Announces the WQEs that were posted while the SQ was held, so that the device flushes
	 * them.
	 */
	if (state == IB_QPS_ERR)
		cxib_sq_resume(qp);
	return state;
}

/*
 * A program that asks for the state learns of a stop, and may then resume the QP without
 * cur_qp_state. Anyone may list the QPs of all programs, for which the RDMA core passes no mask.
 */
static enum ib_qp_state qp_note_state(struct cxib_qp *qp, enum ib_qp_state state, int mask)
{
	if (qp->is_user && state == IB_QPS_SQD && !(mask & IB_QP_STATE))
		return state;
	cxib_qp_enter_state(qp, state);
	return qp->state;
}

int cxib_query_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		  struct ib_qp_init_attr *init)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_qp *qp = to_qp(ib);
	struct hw_qpc context;
	enum ib_qp_state state;
	u32 stops;
	int err;

	guard(mutex)(&qp->mutex);
	qp_fill_init(qp, init);
	if (qp->dct)
		return cxib_dct_query(qp, attr);
	stops = READ_ONCE(qp->sq.num_stops);
	err = cxib_cmd_query_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn, &context);
	if (err)
		return err;
	state = qp_note_state(qp, qp_state_of(qp, &context, stops), mask);
	qp_describe(qp, state, &context, attr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_query_qp);

static bool qp_core_event(enum hw_event_type type, enum ib_event_type *event)
{
	switch (type) {
	case HW_EVENT_TYPE_PATH_MIG:
		*event = IB_EVENT_PATH_MIG;
		return true;
	case HW_EVENT_TYPE_PATH_MIG_FAILED:
		*event = IB_EVENT_PATH_MIG_ERR;
		return true;
	case HW_EVENT_TYPE_COMM_EST:
		*event = IB_EVENT_COMM_EST;
		return true;
	case HW_EVENT_TYPE_SQ_DRAINED:
		*event = IB_EVENT_SQ_DRAINED;
		return true;
	case HW_EVENT_TYPE_SRQ_LAST_WQE:
		*event = IB_EVENT_QP_LAST_WQE_REACHED;
		return true;
	case HW_EVENT_TYPE_WQ_CATAS_ERROR:
		*event = IB_EVENT_QP_FATAL;
		return true;
	case HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR:
		*event = IB_EVENT_QP_REQ_ERR;
		return true;
	case HW_EVENT_TYPE_WQ_ACCESS_ERROR:
	case HW_EVENT_TYPE_DCT_KEY_VIOLATION:
		*event = IB_EVENT_QP_ACCESS_ERR;
		return true;
	default:
		return false;
	}
}

static void qp_call_event_handler(struct cxib_qp *qp, enum ib_event_type type)
{
	struct ib_event event = { .device = qp->ib.device, .element.qp = &qp->ib, .event = type };

	if (qp->ib.event_handler)
		qp->ib.event_handler(&event, qp->ib.qp_context);
}

static bool qp_ends_in_error(enum hw_event_type type)
{
	return type == HW_EVENT_TYPE_WQ_CATAS_ERROR || type == HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR ||
	       type == HW_EVENT_TYPE_WQ_ACCESS_ERROR;
}

/*
 * Returns true if the QP has signature pipelining, whose work item decides whether to raise the
 * event.
 */
static bool qp_take_stop(struct cxib_qp *qp)
{
	cxib_sq_stop(qp);
	return cxib_pipelining_stopped(qp);
}

static void qp_event(struct cxib_ibdev *ibdev, enum hw_event_type type, u32 number)
{
	struct cxib_qp *qp = cxib_get_qp(ibdev, number);
	enum ib_event_type event;

	if (!qp)
		return;
	if (type == HW_EVENT_TYPE_DCT_DRAINED && qp->dct)
		complete_all(&qp->dct->drained);
	if (qp_ends_in_error(type) && qp->sq.is_pipelined)
		cxib_sq_fail(qp);
	if ((type != HW_EVENT_TYPE_SQ_DRAINED || !qp_take_stop(qp)) && qp_core_event(type, &event))
		qp_call_event_handler(qp, event);
	cxib_reference_put(&qp->reference);
}

static bool qp_is_known(enum hw_event_type type, enum hw_event_queue_type kind)
{
	enum ib_event_type event;

	if (kind != HW_EVENT_QUEUE_TYPE_QP && kind != HW_EVENT_QUEUE_TYPE_DCT)
		return false;
	return type == HW_EVENT_TYPE_DCT_DRAINED || qp_core_event(type, &event);
}

void cxib_queue_event(void *context, enum hw_event_type type, enum hw_event_queue_type kind,
		      u32 number)
{
	struct cxib_ibdev *ibdev = context;

	if (type == HW_EVENT_TYPE_SRQ_RQ_LIMIT)
		return cxib_srq_event(ibdev, number, IB_EVENT_SRQ_LIMIT_REACHED);
	if (type == HW_EVENT_TYPE_SRQ_CATAS_ERROR)
		return cxib_srq_event(ibdev, number, IB_EVENT_SRQ_ERR);
	if (qp_is_known(type, kind))
		return qp_event(ibdev, type, number);
	ibdev_warn_ratelimited(&ibdev->ib, "event %s for queue 0x%x of type %u ignored\n",
			       hw_event_type_name(type), number, kind);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_queue_event);
