// SPDX-License-Identifier: GPL-2.0-only
/*
 * UMR: changes mkeys of all PDs, also while they are in use, by WQEs on a QP of the driver. The
 * driver creates the QP when it is needed for the first time.
 *
 * One WQE is outstanding at a time. Posting allocates no memory, because the caller may be in
 * memory reclaim. For the same reason the caller does not recover the QP after a failed WQE; a work
 * item on a WQ_MEM_RECLAIM workqueue recovers it.
 *
 * All processes share the QP, and a process can make WQEs for its own mkeys fail. So a caller waits
 * for the recovery if a WQE of another caller has failed. The recovery only resets the QP, which
 * needs no resource that a process could exhaust.
 */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/jiffies.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/wait.h>

#include "hw/commands_memory.h"
#include "hw/commands_queue_pairs.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/reclaim.h"
#include "verbs/mr/umr.h"
#include "verbs/qp/post.h"

#define ANY_QP	0xffffff
#define VARIANT_MASK	0xff
/*
 * Number of WQEs and CQEs for which the UMR QP and its CQ have space; one WQE is posted at a time.
 */
#define REQUESTS	4
#define LIST_SIZE	(CXIB_UMR_MTT_MAX * sizeof(__be64))

/* DS of a WQE without translations, and with a pointer to a list of them. */
#define UMR_DS	8
#define UMR_XLT_DS	9

/* Access mode and umr_en stay zero, because no mask of the driver's UMRs contains them. */
static void umr_fill_segment(struct hw_mkey_seg *segment, const struct cxib_umr_change *change)
{
	const struct cxib_mkey_params *params = change->params;
	size_t i;

	segment->dw[0] = hw_mkey_seg_pack_00(change->set_free, 0, params->relaxed_ordering_write, 0,
					     0, params->remote_atomic, params->remote_write,
					     params->remote_read, params->local_write, 1, 0, 0);
	segment->dw[1] = hw_mkey_seg_pack_04(ANY_QP, change->key & VARIANT_MASK);
	segment->dw[2] = 0;
	segment->dw[3] = hw_mkey_seg_pack_0c(0, 0, 0, 0, 0, params->pd);
	hw_mkey_seg_set_start_addr(segment, params->start_addr);
	hw_mkey_seg_set_len(segment, params->length);
	for (i = 8; i < ARRAY_SIZE(segment->dw); i++)
		segment->dw[i] = 0;
	segment->dw[14] = hw_mkey_seg_pack_38(params->relaxed_ordering_read, params->log_page_size);
}

static u8 umr_flags_of(const struct cxib_umr_change *change)
{
	if (!change->xlt_count)
		return HW_UMR_FLAGS_INLINE;
	return HW_UMR_FLAGS_TRANSLATION_OFFSET_EN |
	       (change->is_free ? HW_UMR_FLAGS_CHECK_NOT_FREE : 0);
}

static void umr_fill_control(struct hw_wqe_umr_ctrl_seg *control,
			     const struct cxib_umr_change *change)
{
	u64 offset = change->xlt_offset * sizeof(__be64) / CXIB_DS_SIZE;
	u32 xlt_octowords = ALIGN(change->xlt_count, CXIB_UMR_MTT_ALIGN) * sizeof(__be64) /
		       CXIB_DS_SIZE;

	if (!change->xlt_count)
		offset = 0;
	hw_wqe_umr_ctrl_seg_pack(control, umr_flags_of(change), xlt_octowords, offset & U16_MAX,
				 change->mask, offset >> 16);
}

static void umr_record_wqe(struct cxib_sq *sq, u64 wr_id, u32 blocks)
{
	u32 i;

	for (i = 1; i < blocks; i++)
		sq->entries[(sq->prod_index + i) & sq->mask].blocks = 0;
	sq->entries[sq->prod_index & sq->mask] = (struct cxib_sq_entry){
		.wr_id = wr_id, .blocks = blocks, .opcode = IB_WC_REG_MR,
	};
	/* Pairs with the acquire in poll_cq(). */
	smp_store_release(&sq->prod_index, sq->prod_index + blocks);
}

/**
 * cxib_umr_write() - build a UMR WQE
 * @qp: QP whose SQ has space for the WQE; sq.lock is held
 * @wr_id: reported in the completion
 * @change: change of the mkey
 * @entries: DMA address of the translations, if @change has any
 *
 * Return: control segment of the WQE.
 */
const struct hw_wqe_ctrl_seg *cxib_umr_write(struct cxib_qp *qp, u64 wr_id,
					     const struct cxib_umr_change *change,
					     dma_addr_t entries)
{
	u32 ds = change->xlt_count ? UMR_XLT_DS : UMR_DS;
	u32 first = qp->sq.prod_index;
	struct hw_wqe_ctrl_seg *control = cxib_sq_wqebb(qp, first);
	size_t length = ALIGN(change->xlt_count, CXIB_UMR_MTT_ALIGN) * sizeof(__be64);

	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, first & U16_MAX, HW_WQE_OPCODE_UMR);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(qp->qpn, ds);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, HW_FENCE_MODE_INITIATOR_SMALL,
						 HW_COMPLETION_MODE_CQ_UPDATE, 0);
	control->dw[3] = hw_wqe_ctrl_seg_pack_0c(change->key);
	umr_fill_control((struct hw_wqe_umr_ctrl_seg *)(control + 1), change);
	umr_fill_segment(cxib_sq_wqebb(qp, first + 1), change);
	if (change->xlt_count)
		hw_wqe_data_seg_pack(cxib_sq_wqebb(qp, first + 2), 0, length,
				     qp->ib.pd->local_dma_lkey, entries);
	umr_record_wqe(&qp->sq, wr_id, DIV_ROUND_UP(ds, CXIB_DS_PER_WQEBB));
	return control;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_umr_write);

static void umr_on_done(struct ib_cq *cq, struct ib_wc *wc)
{
	struct cxib_umr *umr = container_of(wc->wr_cqe, struct cxib_umr, cqe);

	umr->status = wc->status;
	complete(&umr->done);
}

static int umr_change_state(struct cxib_ibdev *ibdev, struct cxib_qp *qp, enum ib_qp_state to)
{
	const struct ib_qp_attr attr = { .qp_state = to, .port_num = 1 };
	const int mask = to == IB_QPS_INIT ? IB_QP_STATE | IB_QP_PORT : IB_QP_STATE;
	struct cxib_qp_transition transition;
	int err;

	err = cxib_qp_transition(qp, &attr, mask, &transition) ?:
	      cxib_cmd_modify_qp(commands_of(ibdev), &transition);
	/* Any state but RESET makes destroy_qp issue 2RST_QP first. */
	cxib_qp_set_state(qp, to);
	return err;
}

static int umr_bring_up_qp(struct cxib_ibdev *ibdev, struct cxib_qp *qp)
{
	return umr_change_state(ibdev, qp, IB_QPS_INIT)	       ?:
		       umr_change_state(ibdev, qp, IB_QPS_RTR) ?:
		       umr_change_state(ibdev, qp, IB_QPS_RTS);
}

/*
 * The failed WQE was the only outstanding one. cxib_qp_clean() removes its CQE if it was not
 * polled.
 */
static int umr_reset_qp(struct cxib_ibdev *ibdev)
{
	struct cxib_qp *qp = ibdev->umr.qp;
	int err;

	lockdep_assert_held(&ibdev->umr.making);

	err = cxib_cmd_2rst_qp(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn);
	if (err)
		return err;
	cxib_qp_clean(qp);
	cxib_qp_set_state(qp, IB_QPS_RESET);
	return umr_bring_up_qp(ibdev, qp);
}

static int umr_create_queues(struct cxib_ibdev *ibdev)
{
	struct cxib_umr *umr = &ibdev->umr;
	struct ib_qp_init_attr init = {
		.cap = { .max_send_wr = REQUESTS, .max_send_sge = 1 },
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = CXIB_QPT_UMR,
	};
	struct ib_cq *cq;
	struct ib_qp *qp;
	int err;

	cq = ib_alloc_cq(&ibdev->ib, umr, REQUESTS, 0, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	init.send_cq = cq;
	init.recv_cq = cq;
	qp = ib_create_qp(umr->pd, &init);
	if (IS_ERR(qp)) {
		ib_free_cq(cq);
		return PTR_ERR(qp);
	}
	umr->cq = cq;
	umr->qp = to_qp(qp);
	err = umr_bring_up_qp(ibdev, umr->qp);
	if (!err)
		return 0;
	ib_destroy_qp(qp);
	ib_free_cq(cq);
	umr->qp = NULL;
	return err;
}

static void umr_destroy_queues(struct cxib_umr *umr)
{
	if (!umr->qp)
		return;
	ib_destroy_qp(&umr->qp->ib);
	ib_free_cq(umr->cq);
	umr->qp = NULL;
}

static void umr_set_state(struct cxib_umr *umr, enum cxib_umr_state state)
{
	mutex_lock(&umr->lock);
	WRITE_ONCE(umr->state, state);
	mutex_unlock(&umr->lock);
	wake_up_all(&umr->changed);
}

static int umr_replace_qp(struct cxib_ibdev *ibdev)
{
	int err;

	umr_destroy_queues(&ibdev->umr);
	err = umr_create_queues(ibdev);
	if (!err)
		ibdev->umr.has_timed_out = false;
	return err;
}

/*
 * The poller may still use the CQE of a WQE that has timed out, so after a timeout the QP is
 * replaced, together with its CQ. A process cannot cause a timeout. Memory reclaim may wait for the
 * recovery, so its allocations must not enter reclaim.
 */
static int umr_recover_qp(struct cxib_ibdev *ibdev)
{
	const bool is_reusable = ibdev->umr.qp && !ibdev->umr.has_timed_out;
	unsigned int flags = memalloc_noreclaim_save();
	int err = is_reusable ? umr_reset_qp(ibdev) : umr_replace_qp(ibdev);

	memalloc_noreclaim_restore(flags);
	return err;
}

static void umr_recover(struct work_struct *work)
{
	struct cxib_ibdev *ibdev = container_of(work, struct cxib_ibdev, umr.recovery);
	struct cxib_umr *umr = &ibdev->umr;
	int err;

	mutex_lock(&umr->making);
	err = umr_recover_qp(ibdev);
	if (err)
		ibdev_err(&ibdev->ib,
			  "UMR QP: recovery failed: error %d\n",
			  err);
	umr_set_state(umr, err ? CXIB_UMR_DOWN : CXIB_UMR_UP);
	mutex_unlock(&umr->making);
}

/**
 * cxib_umr_init() - initialize UMR; its QP is created at first use
 * @ibdev: RDMA device
 */
void cxib_umr_init(struct cxib_ibdev *ibdev)
{
	struct cxib_umr *umr = &ibdev->umr;

	mutex_init(&umr->making);
	mutex_init(&umr->lock);
	cxib_lockdep_reclaim(&umr->lock);
	init_waitqueue_head(&umr->changed);
	init_completion(&umr->done);
	umr->cqe.done = umr_on_done;
	INIT_WORK(&umr->recovery, umr_recover);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_umr_init);

static int umr_create(struct cxib_ibdev *ibdev)
{
	struct device *dev = ibdev->hw->bus->dev;
	struct cxib_umr *umr = &ibdev->umr;
	int err;

	lockdep_assert_held(&umr->making);

	umr->list = dma_alloc_coherent(dev, LIST_SIZE, &umr->list_dma, GFP_KERNEL);
	if (!umr->list)
		return -ENOMEM;
	umr->pd = ib_alloc_pd(&ibdev->ib, 0);
	if (IS_ERR(umr->pd)) {
		err = PTR_ERR(umr->pd);
		goto free_list;
	}
	err = umr_create_queues(ibdev);
	if (err)
		goto dealloc_pd;
	return 0;

dealloc_pd:
	ib_dealloc_pd(umr->pd);
free_list:
	dma_free_coherent(dev, LIST_SIZE, umr->list, umr->list_dma);
	umr->list = NULL;
	return err;
}

/**
 * cxib_umr_prepare() - create the UMR QP unless it exists
 * @ibdev: RDMA device
 *
 * Context: process context, may sleep; without locks.
 * Return: 0; an error of a command, -ENOMEM.
 */
int cxib_umr_prepare(struct cxib_ibdev *ibdev)
{
	struct cxib_umr *umr = &ibdev->umr;
	int err = 0;

	mutex_lock(&umr->making);
	if (!umr->list)
		err = umr_create(ibdev);
	else if (!umr->qp)
		err = umr_recover_qp(ibdev);
	else
		goto unlock;
	if (!err)
		umr_set_state(umr, CXIB_UMR_UP);
unlock:
	mutex_unlock(&umr->making);
	return err;
}

/**
 * cxib_umr_destroy() - undo cxib_umr_prepare()
 * @ibdev: RDMA device without users
 */
void cxib_umr_destroy(struct cxib_ibdev *ibdev)
{
	struct cxib_umr *umr = &ibdev->umr;

	cancel_work_sync(&umr->recovery);
	if (!umr->list)
		return;
	umr_destroy_queues(umr);
	ib_dealloc_pd(umr->pd);
	dma_free_coherent(ibdev->hw->bus->dev, LIST_SIZE, umr->list, umr->list_dma);
}

static void umr_post(struct cxib_umr *umr, const struct cxib_umr_change *change)
{
	struct cxib_qp *qp = umr->qp;
	unsigned long flags;

	reinit_completion(&umr->done);
	spin_lock_irqsave(&qp->sq.lock, flags);
	qp->sq.last = cxib_umr_write(qp, (uintptr_t)&umr->cqe, change, umr->list_dma);
	cxib_sq_ring_db(qp);
	spin_unlock_irqrestore(&qp->sq.lock, flags);
	if (cxib_verbs_dma_off(to_ibdev(qp->ib.device)))
		cxib_flush_later(to_ibdev(qp->ib.device));
}

/* Waits for a UMR WQE with the timeout of a command. Returns false after a timeout. */
static bool umr_is_completed(struct cxib_ibdev *ibdev)
{
	const unsigned int limit_ms = commands_of(ibdev)->timeout_ms;

	return wait_for_completion_timeout(&ibdev->umr.done, msecs_to_jiffies(limit_ms));
}

static void umr_start_recovery(struct cxib_ibdev *ibdev)
{
	lockdep_assert_held(&ibdev->umr.lock);

	WRITE_ONCE(ibdev->umr.state, CXIB_UMR_RECOVERING);
	queue_work(ibdev->workqueue, &ibdev->umr.recovery);
}

/* A WQE that fails or times out leaves the QP unusable until it is recovered. */
static int umr_execute(struct cxib_ibdev *ibdev, const struct cxib_umr_change *change)
{
	struct cxib_umr *umr = &ibdev->umr;

	lockdep_assert_held(&umr->lock);

	umr_post(umr, change);
	if (!umr_is_completed(ibdev)) {
		ibdev_err(&ibdev->ib, "mkey 0x%x: UMR WQE timed out\n",
			  change->key);
		umr->status = IB_WC_RESP_TIMEOUT_ERR;
		umr->has_timed_out = true;
	} else if (umr->status == IB_WC_SUCCESS) {
		return 0;
	}
	ibdev_warn_ratelimited(&ibdev->ib, "mkey 0x%x: UMR failed: %s\n",
			       change->key, ib_wc_status_msg(umr->status));
	umr_start_recovery(ibdev);
	return -EIO;
}

/*
 * Waits until the QP accepts WQEs and takes the lock. Returns false, without the lock, if DMA is
 * off, or if the QP could not be recovered even by another attempt.
 */
static bool umr_lock_qp(struct cxib_ibdev *ibdev)
{
	struct cxib_umr *umr = &ibdev->umr;
	bool is_repeated = false;

	for (;;) {
		wait_event(umr->changed, READ_ONCE(umr->state) != CXIB_UMR_RECOVERING);
		mutex_lock(&umr->lock);
		if (cxib_verbs_dma_off(ibdev))
			break;
		if (umr->state == CXIB_UMR_UP)
			return true;
		if (umr->state == CXIB_UMR_DOWN) {
			if (is_repeated)
				break;
			is_repeated = true;
			umr_start_recovery(ibdev);
		}
		/* A WQE of another caller may have failed after the state was read. */
		mutex_unlock(&umr->lock);
	}
	mutex_unlock(&umr->lock);
	return false;
}

/**
 * cxib_umr_execute() - modify an mkey by a UMR WQE
 * @ibdev: RDMA device after cxib_umr_prepare()
 * @change: the change
 * @fill: fills in the translations, if @change has any; NULL: no page is present
 * @context: for @fill
 *
 * A transfer sees the mkey either before or after the change. Failed WQEs of other callers delay
 * this WQE, but do not make it fail.
 *
 * Context: process context, may sleep; also in memory reclaim.
 * Return: 0; -EIO if the WQE failed: then the mkey is unchanged; after a timeout it may also be
 * changed.
 */
int cxib_umr_execute(struct cxib_ibdev *ibdev, const struct cxib_umr_change *change,
		     cxib_fill_entries fill, void *context)
{
	struct cxib_umr *umr = &ibdev->umr;
	int err;

	if (!umr_lock_qp(ibdev))
		return -EIO;
	if (change->xlt_count) {
		memset(umr->list, 0, ALIGN(change->xlt_count, CXIB_UMR_MTT_ALIGN) *
				     sizeof(*umr->list));
		if (fill)
			fill(context, umr->list, change);
	}
	err = umr_execute(ibdev, change);
	mutex_unlock(&umr->lock);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_umr_execute);

/**
 * cxib_umr_revoke() - take an mkey away from the process that it belongs to
 * @ibdev: RDMA device after cxib_umr_prepare()
 * @key: the mkey
 *
 * The mkey becomes free, so that no transfer can use it, and moves to a PD of the driver, so that
 * no WQE of the process can enable it again.
 *
 * Context: as cxib_umr_execute().
 * Return: as cxib_umr_execute().
 */
int cxib_umr_revoke(struct cxib_ibdev *ibdev, u32 key)
{
	const struct cxib_mkey_params params = { .pd = to_pd(ibdev->umr.pd)->pdn };
	const struct cxib_umr_change change = {
		.key = key, .params = &params, .set_free = true,
		.mask = HW_MKEY_MASK_FREE | HW_MKEY_MASK_PD,
	};

	return cxib_umr_execute(ibdev, &change, NULL, NULL);
}

/**
 * cxib_umr_has_revoked() - whether no transfer and no process can use an mkey
 * @ibdev: RDMA device after cxib_umr_prepare()
 * @key: the mkey
 *
 * The function queries the mkey by a command, because the UMR QP may be unusable.
 *
 * Context: as cxib_umr_execute().
 * Return: true if the mkey is in the state after cxib_umr_revoke(); false also if its state is
 * unknown.
 */
bool cxib_umr_has_revoked(struct cxib_ibdev *ibdev, u32 key)
{
	const struct hw_mkc *context;
	struct hw_query_mkey_out *out;
	unsigned int flags;
	bool is_revoked;

	flags = memalloc_noreclaim_save();
	out = kzalloc(sizeof(*out), GFP_KERNEL);
	is_revoked = out && !cxib_cmd_query_mkey(commands_of(ibdev), key, out, sizeof(*out));
	if (is_revoked) {
		context = hw_query_mkey_out_get_memory_key_mkey_entry(out);
		is_revoked = hw_mkc_get_free(context) &&
			     hw_mkc_get_pd(context) == to_pd(ibdev->umr.pd)->pdn;
	}
	kfree(out);
	memalloc_noreclaim_restore(flags);
	return is_revoked;
}

/**
 * cxib_umr_clear_free() - enable an mkey that was created free
 * @ibdev: RDMA device after cxib_umr_prepare()
 * @key: the mkey, with all its translations
 *
 * Context: as cxib_umr_execute().
 * Return: as cxib_umr_execute().
 */
int cxib_umr_clear_free(struct cxib_ibdev *ibdev, u32 key)
{
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = key, .params = &params, .mask = HW_MKEY_MASK_KEY | HW_MKEY_MASK_FREE,
	};

	return cxib_umr_execute(ibdev, &change, NULL, NULL);
}

/**
 * cxib_umr_enable() - write the translations of a free mkey and enable it
 * @ibdev: RDMA device after cxib_umr_prepare()
 * @key: the mkey
 * @entry_count: number of its MTTs; a multiple of %CXIB_UMR_MTT_ALIGN
 * @fill: fills in a batch of MTTs; NULL: no page is present
 * @context: for @fill
 *
 * User space can choose a large @entry_count without owning that much memory, so the loop may take
 * long and a fatal signal stops it.
 *
 * Context: process context, may sleep; without locks that memory reclaim takes.
 * Return: 0; -EINTR on a fatal signal; as cxib_umr_execute().
 */
int cxib_umr_enable(struct cxib_ibdev *ibdev, u32 key, u64 entry_count, cxib_fill_entries fill,
		    void *context)
{
	const struct cxib_mkey_params params = {};
	struct cxib_umr_change change = { .key = key, .params = &params, .is_free = true };
	int err;

	for (; change.xlt_offset < entry_count; change.xlt_offset += CXIB_UMR_MTT_MAX) {
		if (fatal_signal_pending(current))
			return -EINTR;
		change.xlt_count = min_t(u64, CXIB_UMR_MTT_MAX, entry_count - change.xlt_offset);
		err = cxib_umr_execute(ibdev, &change, fill, context);
		if (err)
			return err;
	}
	return cxib_umr_clear_free(ibdev, key);
}
