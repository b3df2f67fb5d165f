// SPDX-License-Identifier: GPL-2.0-only
/* Dynamically connected transport: transitions of DCIs, and DCTs. */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/restrack.h>

#include "hw/command_queue.h"
#include "hw/commands_queue_pairs.h"
#include "hw/dct.h"
#include "verbs/qp/dc.h"
#include "verbs/srq/srq.h"

#define PORT_ATTRS	(IB_QP_PKEY_INDEX | IB_QP_PORT)

/*
 * Timeout for draining a DCT, like that of a command, and the period in which the wait checks for a
 * fatal device.
 */
#define DRAIN_LIMIT	msecs_to_jiffies(60 * MSEC_PER_SEC)
#define DRAIN_RECHECK	msecs_to_jiffies(100)

/*
 * The RDMA core has no transition table for DC QPs. This table omits transitions to RESET, and of
 * DCIs to ERR.
 */
static const struct {
	bool is_dct;
	enum ib_qp_state from, to;
	int required, optional;
} transitions[] = {
	{ false, IB_QPS_RESET, IB_QPS_INIT, PORT_ATTRS, 0 },
	{ false, IB_QPS_INIT, IB_QPS_INIT, 0, PORT_ATTRS },
	{ false, IB_QPS_INIT, IB_QPS_RTR, IB_QP_PATH_MTU, IB_QP_PKEY_INDEX | IB_QP_AV },
	{ false, IB_QPS_RTR, IB_QPS_RTS,
	  IB_QP_TIMEOUT | IB_QP_RETRY_CNT | IB_QP_RNR_RETRY | IB_QP_MAX_QP_RD_ATOMIC |
	  IB_QP_SQ_PSN,
	  IB_QP_CUR_STATE | IB_QP_MIN_RNR_TIMER },
	{ false, IB_QPS_RTS, IB_QPS_RTS, 0, IB_QP_CUR_STATE | IB_QP_MIN_RNR_TIMER },

	{ true, IB_QPS_RESET, IB_QPS_INIT, PORT_ATTRS | IB_QP_ACCESS_FLAGS, 0 },
	{ true, IB_QPS_INIT, IB_QPS_INIT, 0, PORT_ATTRS | IB_QP_ACCESS_FLAGS },
	{ true, IB_QPS_INIT, IB_QPS_RTR, IB_QP_AV | IB_QP_PATH_MTU | IB_QP_MIN_RNR_TIMER, 0 },
	{ true, IB_QPS_RTR, IB_QPS_ERR, 0, 0 },
	{ true, IB_QPS_ERR, IB_QPS_ERR, 0, 0 },
};

/**
 * cxib_dc_modify_is_ok() - ib_modify_qp_is_ok() of a DC QP
 * @qp: DCI or DCT
 * @from: current state
 * @to: new state
 * @mask: IB_QP_… attributes to modify
 */
bool cxib_dc_modify_is_ok(const struct cxib_qp *qp, enum ib_qp_state from, enum ib_qp_state to,
			  int mask)
{
	size_t i;

	if (to == IB_QPS_RESET || (to == IB_QPS_ERR && from != IB_QPS_RESET && !qp->dct))
		return mask == IB_QP_STATE;
	for (i = 0; i < ARRAY_SIZE(transitions); i++)
		if (transitions[i].is_dct == !!qp->dct && transitions[i].from == from &&
		    transitions[i].to == to)
			return !(transitions[i].required & ~mask) &&
			       !(mask & ~(transitions[i].required | transitions[i].optional |
					  IB_QP_STATE));
	return false;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dc_modify_is_ok);

/* Fields that no transition modifies. */
static void dct_fill_identity(const struct cxib_qp *qp, u64 access_key, u32 user_index,
			      struct hw_dctc *context)
{
	*context = (struct hw_dctc){};
	hw_dctc_set_user_index(context, user_index);
	hw_dctc_set_cqn(context, cxib_recv_cq(qp)->cqn);
	hw_dctc_set_srqn_xrqn(context, to_srq(qp->ib.srq)->srqn);
	hw_dctc_set_pd(context, to_pd(qp->ib.pd)->pdn);
	hw_dctc_set_dc_access_key(context, access_key);
}

/**
 * cxib_dct_create() - turn a user QP into a DCT; the device object is created at RTR
 * @qp: user QP after cxib_qp_init()
 * @access_key: DC access key that DCIs must send
 * @user_index: user_index of its CQEs
 *
 * Context: process context, may sleep.
 * Return: 0, or
 *	-EINVAL if the QP has no SRQ,
 *	-ENOMEM.
 */
int cxib_dct_create(struct cxib_qp *qp, u64 access_key, u32 user_index)
{
	if (!qp->ib.srq) {
		ibdev_dbg(qp->ib.device, "create DCT: no SRQ\n");
		return -EINVAL;
	}
	qp->dct = kzalloc(sizeof(*qp->dct), GFP_KERNEL_ACCOUNT);
	if (!qp->dct)
		return -ENOMEM;
	init_completion(&qp->dct->drained);
	dct_fill_identity(qp, access_key, user_index, &qp->dct->context);
	/* restrack identifies QPs by QPN, and a DCT has none before RTR. */
	rdma_restrack_no_track(&qp->ib.res);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dct_create);

static void dct_fill_access(const struct cxib_qp *qp, int access, struct hw_dctc *context)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	u32 mode = access & IB_ACCESS_REMOTE_ATOMIC ?
		   cxib_atomic_mode(caps, caps->atomic_size_dc) : 0;

	hw_dctc_set_rre(context, !!(access & IB_ACCESS_REMOTE_READ));
	hw_dctc_set_rwe(context, !!(access & IB_ACCESS_REMOTE_WRITE));
	hw_dctc_set_rae(context, !!mode);
	hw_dctc_set_atomic_mode(context, mode);
}

/* Fills the GRH fields except the destination, which a DCT takes from the request. */
static void dct_fill_route(const struct rdma_ah_attr *attr, struct hw_dctc *context)
{
	const struct ib_global_route *route = rdma_ah_read_grh(attr);

	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return;
	hw_dctc_set_my_addr_index(context, route->sgid_index);
	hw_dctc_set_flow_label(context, route->flow_label);
	hw_dctc_set_tclass(context, route->traffic_class);
	hw_dctc_set_hop_limit(context, route->hop_limit);
}

static void dct_fill_context(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
			     struct hw_dctc *context)
{
	const struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);

	if (mask & IB_QP_PKEY_INDEX)
		hw_dctc_set_pkey_index(context, attr->pkey_index);
	if (mask & IB_QP_PORT) {
		hw_dctc_set_port(context, attr->port_num);
		hw_dctc_set_counter_set_id(context, cxib_port_q_counter(ibdev, attr->port_num));
	}
	if (mask & IB_QP_ACCESS_FLAGS)
		dct_fill_access(qp, attr->qp_access_flags, context);
	if (mask & IB_QP_AV)
		dct_fill_route(&attr->ah_attr, context);
	if (mask & IB_QP_PATH_MTU)
		hw_dctc_set_mtu(context, attr->path_mtu);
	if (mask & IB_QP_MIN_RNR_TIMER)
		hw_dctc_set_min_rnr_nak(context, attr->min_rnr_timer);
}

static void dct_set_dctn(struct cxib_qp *qp, u32 dctn)
{
	qp->qpn = dctn;
	qp->ib.qp_num = dctn;
	qp->dct->exists = true;
	qp->dct->draining = false;
	reinit_completion(&qp->dct->drained);
}

static void dct_clear_dctn(struct cxib_qp *qp)
{
	qp->qpn = 0;
	qp->ib.qp_num = 0;
	qp->dct->exists = false;
}

static int dct_await_drained(struct cxib_qp *qp)
{
	const struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	const unsigned long end = jiffies + DRAIN_LIMIT;

	while (!wait_for_completion_timeout(&qp->dct->drained, DRAIN_RECHECK)) {
		if (cxib_command_queue_is_fatal(&ibdev->hw->commands))
			return -EIO;
		if (time_after(jiffies, end)) {
			ibdev_err(&ibdev->ib, "DCT 0x%x: drain timed out\n", qp->qpn);
			return -ETIMEDOUT;
		}
	}
	return 0;
}

static int dct_drain(struct cxib_qp *qp)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	int err = 0;

	if (!qp->dct->draining)
		err = cxib_cmd_drain_dct(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn);
	if (err)
		return err;
	qp->dct->draining = true;
	return dct_await_drained(qp);
}

static struct cxib_destroy dct_destroy_of(const struct cxib_qp *qp)
{
	return cxib_destroy_object(HW_CMD_DESTROY_DCT, cxib_qp_uid(qp), qp->qpn);
}

/* A DCT whose destruction fails becomes an orphan. A DCT has no memory to keep. */
static void dct_leave(struct cxib_qp *qp, const struct cxib_destroy *destroy, int err)
{
	if (err)
		cxib_orphans_keep(to_ibdev(qp->ib.device), cxib_pd_context(qp->ib.pd), destroy,
				  NULL, err);
}

/*
 * Destroys a drained DCT, after erasing it from the table: the device may reuse its number at once.
 */
static void dct_release(struct cxib_qp *qp)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	const struct cxib_destroy destroy = dct_destroy_of(qp);

	xa_erase_irq(&ibdev->qps, qp->qpn);
	dct_leave(qp, &destroy,
		  cxib_cmd_destroy_dct(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn));
	dct_clear_dctn(qp);
}

/*
 * Erases a DCT that is an orphan. The orphan is drained again later, and the event that reports
 * the end of the drain must find no DCT.
 */
static void dct_erase(struct cxib_qp *qp)
{
	xa_erase_irq(&to_ibdev(qp->ib.device)->qps, qp->qpn);
	dct_clear_dctn(qp);
}

/* Destroys a DCT whose number was not returned to user space. */
static void dct_discard(struct cxib_qp *qp)
{
	struct cxib_destroy destroy = dct_destroy_of(qp);
	int err = dct_drain(qp);

	if (!err)
		return dct_release(qp);
	destroy.before = HW_CMD_DRAIN_DCT;
	dct_leave(qp, &destroy, err);
	dct_erase(qp);
}

static int dct_create_in_device(struct cxib_qp *qp, const struct hw_dctc *context)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	struct cxib_destroy destroy;
	u32 dctn;
	int err;

	err = cxib_cmd_create_dct(commands_of(ibdev), cxib_qp_uid(qp), context, &dctn);
	if (err)
		return err;
	dct_set_dctn(qp, dctn);
	err = xa_insert_irq(&ibdev->qps, dctn, qp, GFP_KERNEL);
	if (err) {
		/* User space does not know the number yet, so there is nothing to drain. */
		destroy = dct_destroy_of(qp);
		dct_leave(qp, &destroy,
			  cxib_cmd_destroy_dct(commands_of(ibdev), cxib_qp_uid(qp), dctn));
		dct_clear_dctn(qp);
		return err;
	}
	/*
	 * If the device refuses the command, it reports no DC access key violations, but the DCT
	 * works. mlx5_ib never requests these events.
	 */
	err = cxib_command_optional(cxib_cmd_arm_dct(commands_of(ibdev), cxib_qp_uid(qp), dctn));
	if (err)
		dct_discard(qp);
	return err;
}

static int dct_reset(struct cxib_qp *qp, struct hw_dctc *context)
{
	int err = qp->dct->exists ? dct_drain(qp) : 0;

	if (err)
		return err;
	if (qp->dct->exists)
		dct_release(qp);
	dct_fill_identity(qp, hw_dctc_get_dc_access_key(context), hw_dctc_get_user_index(context),
			  context);
	return 0;
}

/**
 * cxib_dct_change() - modify a DCT
 * @qp: DCT
 * @attr: attributes; only those in @mask are read
 * @mask: IB_QP_…; allowed by cxib_dc_modify_is_ok(), values checked
 *
 * Context: process context, may sleep; with @qp->mutex held.
 * Return: 0; -ETIMEDOUT if the drain times out; or as cxib_cmd_exec().
 */
int cxib_dct_change(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct hw_dctc context = qp->dct->context;
	int err = 0;

	lockdep_assert_held(&qp->mutex);

	dct_fill_context(qp, attr, mask, &context);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTR)
		err = dct_create_in_device(qp, &context);
	else if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR)
		err = dct_drain(qp);
	else if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		err = dct_reset(qp, &context);
	if (!err)
		qp->dct->context = context;
	return err;
}

/**
 * cxib_dct_take_back() - undo a transition to RTR that was not returned to user space
 * @qp: DCT
 *
 * Context: process context, may sleep.
 */
void cxib_dct_take_back(struct cxib_qp *qp)
{
	guard(mutex)(&qp->mutex);
	if (!qp->dct->exists)
		return;
	dct_discard(qp);
	cxib_qp_set_state(qp, IB_QPS_INIT);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dct_take_back);

static void dct_describe(const struct cxib_qp *qp, const struct hw_dctc *context,
			 struct ib_qp_attr *attr)
{
	*attr = (struct ib_qp_attr){
		.qp_state = qp->state,
		.cur_qp_state = qp->state,
		.path_mtu = hw_dctc_get_mtu(context),
		.pkey_index = hw_dctc_get_pkey_index(context),
		.port_num = hw_dctc_get_port(context),
		.min_rnr_timer = hw_dctc_get_min_rnr_nak(context),
		.qp_access_flags = qp->access,
		.path_mig_state = IB_MIG_MIGRATED,
	};
	attr->ah_attr.type = RDMA_AH_ATTR_TYPE_IB;
	rdma_ah_set_port_num(&attr->ah_attr, hw_dctc_get_port(context));
	rdma_ah_set_grh(&attr->ah_attr, NULL, hw_dctc_get_flow_label(context),
			hw_dctc_get_my_addr_index(context), hw_dctc_get_hop_limit(context),
			hw_dctc_get_tclass(context));
}

/**
 * cxib_dct_query() - query a DCT
 * @qp: DCT; its state is updated to that of the device
 * @attr: filled
 *
 * Context: process context, may sleep; with @qp->mutex held.
 * Return: 0, or as cxib_cmd_exec().
 */
int cxib_dct_query(struct cxib_qp *qp, struct ib_qp_attr *attr)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	struct hw_dctc context = qp->dct->context;
	int err = 0;

	lockdep_assert_held(&qp->mutex);

	if (qp->dct->exists)
		err = cxib_cmd_query_dct(commands_of(ibdev), cxib_qp_uid(qp), qp->qpn, &context);
	if (err)
		return err;
	if (qp->dct->exists && hw_dctc_get_state(&context) != HW_DCT_STATE_ACTIVE)
		cxib_qp_set_state(qp, IB_QPS_ERR);
	dct_describe(qp, &context, attr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dct_query);

static int dct_destroy_in_device(struct cxib_qp *qp, struct ib_udata *udata)
{
	struct cxib_destroy destroy = dct_destroy_of(qp);
	int drain_error = dct_drain(qp);
	int err;

	destroy.before = HW_CMD_DRAIN_DCT;
	err = cxib_finish_user_destroy(to_ibdev(qp->ib.device), udata, &destroy, NULL,
				       drain_error);
	if (err)
		return err;
	if (drain_error)
		dct_erase(qp);
	else
		dct_release(qp);
	return 0;
}

/**
 * cxib_dct_destroy() - destroy a DCT
 * @qp: DCT; its struct cxib_dct is freed
 * @udata: not NULL if user space has requested the destruction, so an error can be returned
 *
 * Context: process context, may sleep.
 * Return: 0; -ETIMEDOUT if the drain times out; or as cxib_cmd_exec().
 */
int cxib_dct_destroy(struct cxib_qp *qp, struct ib_udata *udata)
{
	int err = qp->dct->exists ? dct_destroy_in_device(qp, udata) : 0;

	if (err)
		return err;
	cxib_reference_end(&qp->reference);
	kfree(qp->dct);
	qp->dct = NULL;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dct_destroy);
