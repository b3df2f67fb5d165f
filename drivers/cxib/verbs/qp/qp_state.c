// SPDX-License-Identifier: GPL-2.0-only
/* modify_qp: checks the attributes and executes the transition. */
#include <kunit/visibility.h>
#include <linux/delay.h>

#include "hw/commands_queue_pairs.h"
#include "hw/names.h"
#include "hw/qp.h"
#include "verbs/port/gsi.h"
#include "verbs/qp/dc.h"
#include "verbs/qp/pipelining.h"

/* Limits of QP context fields. */
#define SL_MAX			15
#define PATH_BITS_MAX		127
#define FLOW_LABEL_MAX		GENMASK(19, 0)
#define TIMER_MAX		31
#define RETRIES_MAX		7

/* Maximum time that modify_qp waits for the end of stops; the ULP may try again after -EBUSY. */
#define STOP_PATIENCE		(5 * HZ)

/* User space with a newer rdma-core sets these on any kernel, by enum ib_uverbs_access_flags. */
#ifdef CXIB_LACKS_FLUSH
enum {
	IB_ACCESS_FLUSH_GLOBAL = BIT(8),
	IB_ACCESS_FLUSH_PERSISTENT = BIT(9),
};
#endif

/* The device has no FLUSH operation, so these access flags have no effect. */
#define FLUSH_ACCESS		(IB_ACCESS_FLUSH_GLOBAL | IB_ACCESS_FLUSH_PERSISTENT)

/* User space passes the access flags of its MRs; flags for MRs only have no effect. */
#define MR_ACCESS		(IB_ACCESS_MW_BIND | IB_ZERO_BASED | IB_ACCESS_ON_DEMAND | \
				 IB_ACCESS_HUGETLB | IB_ACCESS_OPTIONAL)

#define QP_ACCESS		(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC | FLUSH_ACCESS | \
				 MR_ACCESS)
#define MIGRATION_ATTRS		(IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE)

static int qp_state_refuse(const struct cxib_qp *qp, const char *name, u32 value, u32 min, u32 max)
{
	ibdev_dbg(qp->ib.device, "modify QP: %s %u out of range [%u, %u]\n", name, value, min,
		  max);
	return -EINVAL;
}

/* The RDMA core checks only the GIDs of addresses. */
static int qp_state_check_path(const struct cxib_qp *qp, const struct rdma_ah_attr *attr)
{
	const struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);

	if (rdma_ah_get_dlid(attr) > U16_MAX)
		return qp_state_refuse(qp, "dlid", rdma_ah_get_dlid(attr), 0, U16_MAX);
	if (rdma_ah_get_sl(attr) > SL_MAX)
		return qp_state_refuse(qp, "sl", rdma_ah_get_sl(attr), 0, SL_MAX);
	if (rdma_ah_get_path_bits(attr) > PATH_BITS_MAX)
		return qp_state_refuse(qp, "src_path_bits", rdma_ah_get_path_bits(attr), 0,
				       PATH_BITS_MAX);
	if (cxib_static_rate(&ibdev->hw->caps, rdma_ah_get_static_rate(attr)) < 0)
		return qp_state_refuse(qp, "static_rate", rdma_ah_get_static_rate(attr), 0,
				       CXIB_RATE_MAX);
	if (rdma_ah_get_ah_flags(attr) & IB_AH_GRH &&
	    rdma_ah_read_grh(attr)->flow_label > FLOW_LABEL_MAX)
		return qp_state_refuse(qp, "flow_label", rdma_ah_read_grh(attr)->flow_label, 0,
				       FLOW_LABEL_MAX);
	return 0;
}

static int qp_state_check_paths(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err = 0;

	if (mask & (IB_QP_ALT_PATH | IB_QP_PATH_MIG_STATE) &&
	    !to_ibdev(qp->ib.device)->hw->caps.apm) {
		ibdev_dbg(qp->ib.device, "modify QP: no apm capability\n");
		return -EOPNOTSUPP;
	}
	if (mask & IB_QP_AV)
		err = qp_state_check_path(qp, &attr->ah_attr);
	if (!err && mask & IB_QP_ALT_PATH)
		err = qp_state_check_path(qp, &attr->alt_ah_attr);
	return err;
}

static int qp_state_check_values(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const struct ib_device_attr *max = &to_ibdev(qp->ib.device)->ib.attrs;
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	const u32 max_dc = BIT(min(caps->log_max_ra_req_dc, caps->log_max_ra_res_dc));
	const struct {
		int attribute;
		const char *name;
		u32 value, min, max;
	} ranges[] = {
		{ IB_QP_PORT, "port_num", attr->port_num, 1, qp->ib.device->phys_port_cnt },
		{ IB_QP_ALT_PATH, "alt_port_num", attr->alt_port_num, 1,
		  qp->ib.device->phys_port_cnt },
		{ IB_QP_PKEY_INDEX, "pkey_index", attr->pkey_index, 0, max->max_pkeys - 1 },
		{ IB_QP_ALT_PATH, "alt_pkey_index", attr->alt_pkey_index, 0,
		  max->max_pkeys - 1 },
		{ IB_QP_PATH_MTU, "path_mtu", attr->path_mtu, IB_MTU_256, IB_MTU_4096 },
		{ IB_QP_DEST_QPN, "dest_qp_num", attr->dest_qp_num, 0, GENMASK(23, 0) },
		{ IB_QP_TIMEOUT, "timeout", attr->timeout, 0, TIMER_MAX },
		{ IB_QP_ALT_PATH, "alt_timeout", attr->alt_timeout, 0, TIMER_MAX },
		{ IB_QP_MIN_RNR_TIMER, "min_rnr_timer", attr->min_rnr_timer, 0, TIMER_MAX },
		{ IB_QP_RETRY_CNT, "retry_cnt", attr->retry_cnt, 0, RETRIES_MAX },
		{ IB_QP_RNR_RETRY, "rnr_retry", attr->rnr_retry, 0, RETRIES_MAX },
		{ IB_QP_MAX_QP_RD_ATOMIC, "max_rd_atomic", attr->max_rd_atomic, 0,
		  cxib_qp_is_dci(qp) ? max_dc : max->max_qp_init_rd_atom },
		{ IB_QP_MAX_DEST_RD_ATOMIC, "max_dest_rd_atomic", attr->max_dest_rd_atomic, 0,
		  max->max_qp_rd_atom },
		{ IB_QP_PATH_MIG_STATE, "path_mig_state", attr->path_mig_state, IB_MIG_MIGRATED,
		  IB_MIG_ARMED },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ranges); i++)
		if (mask & ranges[i].attribute &&
		    (ranges[i].value < ranges[i].min || ranges[i].value > ranges[i].max))
			return qp_state_refuse(qp, ranges[i].name, ranges[i].value, ranges[i].min,
					       ranges[i].max);
	if (mask & IB_QP_ACCESS_FLAGS && attr->qp_access_flags & ~QP_ACCESS) {
		ibdev_dbg(qp->ib.device, "modify QP: unsupported access flags 0x%x (mask 0x%x)\n",
			  attr->qp_access_flags, QP_ACCESS);
		return -EOPNOTSUPP;
	}
	return qp_state_check_paths(qp, attr, mask);
}

static bool qp_state_is_transition_ok(const struct cxib_qp *qp, enum ib_qp_state from,
				      enum ib_qp_state to, int mask)
{
	if (qp->ib.qp_type == IB_QPT_DRIVER)
		return cxib_dc_modify_is_ok(qp, from, to, mask);
	/* ib_modify_qp_is_ok() allows SQE to RTS for RC, which never enters SQE. */
	if (from == IB_QPS_SQE && to == IB_QPS_RTS && qp->ib.qp_type == IB_QPT_RC)
		return false;
	return ib_modify_qp_is_ok(from, to, qp->ib.qp_type, mask);
}

/* A ULP with signature pipelining may request SQD for a QP that the device has just stopped. */
static enum ib_qp_state qp_state_before(const struct cxib_qp *qp,
					const struct ib_qp_attr *attr, int mask)
{
	if (mask & IB_QP_CUR_STATE)
		return attr->cur_qp_state;
	if (qp->pipelining && qp->state == IB_QPS_SQD && !(qp->sq.state & CXIB_SQ_HELD) &&
	    mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD)
		return IB_QPS_RTS;
	return qp->state;
}

static bool qp_state_is_teardown(const struct ib_qp_attr *attr, int mask)
{
	return mask & IB_QP_STATE &&
	       (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_RESET);
}

/*
 * The response of the failed transfer waits in a stopped SQ. So only a program that knows of the
 * stop may resume the QP: it says so in cur_qp_state, or has queried the state.
 */
static bool qp_state_is_unknown_stop(const struct cxib_qp *qp, enum ib_qp_state from,
				     const struct ib_qp_attr *attr, int mask)
{
	return qp->is_user && READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED && from != IB_QPS_SQD &&
	       !qp_state_is_teardown(attr, mask);
}

static int qp_state_check(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	enum ib_qp_state from = qp_state_before(qp, attr, mask);
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;

	/* The hold is authoritative: cur_qp_state cannot override it. */
	if (qp->sq.state & CXIB_SQ_HELD && from != IB_QPS_SQD)
		return -EINVAL;
	if (qp_state_is_unknown_stop(qp, from, attr, mask)) {
		ibdev_dbg(&ibdev->ib, "QP 0x%x: SQ stopped by the device\n", qp->qpn);
		return -EINVAL;
	}
	if (!qp_state_is_transition_ok(qp, from, to, mask)) {
		ibdev_dbg(&ibdev->ib, "QP 0x%x: invalid transition from state %d to %d, attr_mask 0x%x\n",
			  qp->qpn, from, to, mask);
		return -EINVAL;
	}
	return qp_state_check_values(qp, attr, mask);
}

/* Attributes that RTS2RTS_QP can modify: the device has a held QP in RTS. */
#define HELD_ATTRS	(IB_QP_STATE | IB_QP_CUR_STATE | IB_QP_ACCESS_FLAGS | \
			 IB_QP_ALT_PATH | IB_QP_MIN_RNR_TIMER | IB_QP_PATH_MIG_STATE | \
			 IB_QP_QKEY)

/* Attributes that SQD2RTS_QP does not take: no public driver sends them with it. */
static int qp_state_attrs_after_sqd(const struct cxib_qp *qp)
{
	return cxib_qp_is_xrc(qp) ? MIGRATION_ATTRS | IB_QP_ACCESS_FLAGS | IB_QP_MIN_RNR_TIMER :
				    MIGRATION_ATTRS;
}

/*
 * If RTS2RTS_QP fails, the device has the QP in RTS nevertheless. One that cxib_sq_drain() holds
 * stays in SQD, which is the only state that a hold can be left from.
 */
static int qp_state_modify_after_sqd(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const int left = mask & qp_state_attrs_after_sqd(qp);
	struct ib_qp_attr in_rts = *attr;
	struct cxib_qp_transition transition;
	int err;

	if (!left)
		return 0;
	in_rts.cur_qp_state = IB_QPS_RTS;
	err = cxib_qp_transition(qp, &in_rts, left | IB_QP_STATE | IB_QP_CUR_STATE, &transition) ?:
	      cxib_cmd_modify_qp(commands_of(to_ibdev(qp->ib.device)), &transition);
	if (err)
		cxib_qp_enter_state(qp, READ_ONCE(qp->sq.state) & CXIB_SQ_HELD ? IB_QPS_SQD :
										 IB_QPS_RTS);
	return err;
}

static int qp_state_modify_in_device(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_qp_transition transition;
	u8 stop = 0;
	int err;

	err = cxib_qp_transition(qp, attr, mask, &transition);
	if (err)
		return err;
	/* cxib_qp_resume() sends it when the stop was handled. */
	if (transition.opcode == HW_CMD_SQD_RTS_QP && qp->pipelining) {
		ibdev_dbg(qp->ib.device, "QP 0x%x: SQ stopped by the device\n", qp->qpn);
		return -EBUSY;
	}
	transition.may_be_stopped = qp->pipelining && transition.opcode == HW_CMD_RTS2RTS_QP;
	if (transition.opcode == HW_CMD_SQD_RTS_QP)
		stop = cxib_sq_clear_stop(qp);
	err = cxib_cmd_modify_qp(commands_of(to_ibdev(qp->ib.device)), &transition);
	if (err)
		cxib_sq_restore_stop(qp, stop);
	if (err || transition.opcode != HW_CMD_SQD_RTS_QP)
		return err;
	return qp_state_modify_after_sqd(qp, attr, mask);
}

/**
 * cxib_qp_enable_drain_sigerr() - let signature errors stop the SQ
 * @qp: RC QP that the device has in INIT
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_modify_qp().
 */
int cxib_qp_enable_drain_sigerr(struct cxib_qp *qp)
{
	struct cxib_qp_transition transition = {
		.uid = cxib_qp_uid(qp),
		.opcode = HW_CMD_INIT2INIT_QP,
		.qpn = qp->qpn,
		.optional = HW_QP_OPTIONAL_PARAMETERS_INIT2INIT_DRAIN_SIGERR,
	};

	lockdep_assert_held(&qp->mutex);

	hw_qpc_set_drain_sigerr(&transition.context, 1);
	return cxib_cmd_modify_qp(commands_of(to_ibdev(qp->ib.device)), &transition);
}

/* RST2INIT_QP clears drain_sigerr. */
static int qp_state_modify_to_init(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err, reset_error;

	err = qp_state_modify_in_device(qp, attr, mask);
	if (err || !qp->pipelining || qp->state != IB_QPS_RESET)
		return err;
	err = cxib_qp_enable_drain_sigerr(qp);
	if (!err)
		return 0;
	reset_error = cxib_cmd_2rst_qp(commands_of(to_ibdev(qp->ib.device)), cxib_qp_uid(qp),
				       qp->qpn);
	return reset_error ?: err;
}

/* Whether a signature error has moved the QP to SQD in the device, too. */
static int qp_state_query_sqd(struct cxib_qp *qp, bool *in_sqd)
{
	struct hw_qpc context;
	int err;

	err = cxib_cmd_query_qp(commands_of(to_ibdev(qp->ib.device)), cxib_qp_uid(qp), qp->qpn,
				&context);
	if (!err)
		*in_sqd = hw_qpc_get_state(&context) == HW_QP_STATE_SQD;
	return err;
}

static bool qp_state_is_resume(const struct ib_qp_attr *attr, int mask)
{
	return mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTS;
}

/* From SQD by cxib_sq_drain() to RTS or to SQD. */
static int qp_state_modify_held(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct ib_qp_attr in_device = *attr;
	bool in_sqd;
	int err;

	lockdep_assert_held(&qp->mutex);

	if (mask & ~HELD_ATTRS) {
		ibdev_dbg(qp->ib.device, "QP 0x%x: attr_mask 0x%x not supported in SQD\n",
			  qp->qpn, mask & ~HELD_ATTRS);
		return -EOPNOTSUPP;
	}
	err = qp_state_query_sqd(qp, &in_sqd);
	if (err)
		return err;
	/* The WQEs behind a stop of the device complete only after SQD2RTS_QP. */
	if (!in_sqd && !cxib_sq_is_drained(qp)) {
		ibdev_dbg(qp->ib.device, "QP 0x%x: SQ not drained\n", qp->qpn);
		return -EBUSY;
	}
	/* SQD2RTS_QP, the only command for it, would start the WQEs that wait. */
	if (in_sqd && !qp_state_is_resume(attr, mask)) {
		ibdev_dbg(qp->ib.device, "QP 0x%x: SQ stopped by the device\n", qp->qpn);
		return -EBUSY;
	}
	in_device.cur_qp_state = in_sqd ? IB_QPS_SQD : IB_QPS_RTS;
	in_device.qp_state = IB_QPS_RTS;
	if (in_sqd || mask & ~(IB_QP_STATE | IB_QP_CUR_STATE))
		err = qp_state_modify_in_device(qp, &in_device,
						mask | IB_QP_STATE | IB_QP_CUR_STATE);
	if (!err && qp_state_is_resume(attr, mask))
		cxib_sq_resume(qp);
	return err;
}

/* The WQEs posted while the SQ was held are announced, so that the device flushes them. */
static int qp_state_modify_to_error(struct cxib_qp *qp)
{
	struct cxib_command_queue *commands = commands_of(to_ibdev(qp->ib.device));
	int err = cxib_cmd_2err_qp(commands, cxib_qp_uid(qp), qp->qpn);

	if (!err)
		cxib_sq_resume(qp);
	return err;
}

/* ib_mad does this after each send error of a MAD. */
static bool qp_state_is_sqe_recovery(const struct ib_qp_attr *attr, int mask)
{
	return mask & IB_QP_STATE && attr->qp_state == IB_QPS_RTS &&
	       mask & IB_QP_CUR_STATE && attr->cur_qp_state == IB_QPS_SQE;
}

/* The device may have stopped the SQ before the ULP asks for it. */
static bool qp_state_is_drain_request(const struct cxib_qp *qp, const struct ib_qp_attr *attr,
				      int mask)
{
	if (!(mask & IB_QP_STATE) || attr->qp_state != IB_QPS_SQD)
		return false;
	if (qp->state == IB_QPS_RTS || qp->pipelining)
		return true;
	return (READ_ONCE(qp->sq.state) & CXIB_SQ_STOPPED &&
		!(mask & ~(IB_QP_STATE | IB_QP_CUR_STATE)));
}

static int qp_state_execute(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_command_queue *commands = commands_of(to_ibdev(qp->ib.device));

	if (qp->dct)
		return cxib_dct_change(qp, attr, mask);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR)
		return qp_state_modify_to_error(qp);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		return cxib_cmd_2rst_qp(commands, cxib_qp_uid(qp), qp->qpn);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_INIT)
		return qp_state_modify_to_init(qp, attr, mask);
	if (qp->sq.state & CXIB_SQ_HELD)
		return qp_state_modify_held(qp, attr, mask);
	if (qp_state_is_drain_request(qp, attr, mask))
		return cxib_sq_drain(qp, mask & IB_QP_EN_SQD_ASYNC_NOTIFY &&
				     attr->en_sqd_async_notify);
	return qp_state_modify_in_device(qp, attr, mask);
}

/*
 * If the device is fatal, or becomes fatal during the command, a transition to ERR or RESET
 * succeeds, so that the ULP can tear down the QP. So does the SQE recovery of MAD QPs:
 * further MADs can be posted, and are flushed.
 */
static int qp_state_modify(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	struct cxib_command_queue *commands = commands_of(ibdev);
	int err = -EIO;

	if (!cxib_command_queue_is_fatal(commands))
		err = qp_state_execute(qp, attr, mask);
	if (!err || !cxib_command_queue_is_fatal(commands))
		return err;
	if (qp_state_is_teardown(attr, mask)) {
		cxib_hw_dma_off(ibdev->hw);
		cxib_sq_resume(qp);
		return 0;
	}
	return cxib_qp_is_special(qp) && qp_state_is_sqe_recovery(attr, mask) ? 0 : err;
}

static void qp_state_store_attrs(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	lockdep_assert_held(&qp->mutex);

	if (mask & IB_QP_ACCESS_FLAGS)
		qp->access = attr->qp_access_flags;
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC)
		qp->max_dest_rd_atomic = attr->max_dest_rd_atomic;
	if (mask & IB_QP_MAX_QP_RD_ATOMIC)
		qp->max_rd_atomic = attr->max_rd_atomic;
	if (mask & IB_QP_PORT)
		qp->port = attr->port_num;
	if (!(mask & IB_QP_STATE))
		return;
	if (attr->qp_state == IB_QPS_RESET && qp->state != IB_QPS_RESET) {
		cxib_qp_clean(qp);
		qp->access = 0;
		qp->max_dest_rd_atomic = 0;
		qp->max_rd_atomic = 0;
	}
	cxib_qp_enter_state(qp, attr->qp_state);
}

static int qp_state_modify_and_store(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	int err;

	lockdep_assert_held(&qp->mutex);

	cxib_qp_adopt_stop(qp);
	err = qp_state_check(qp, attr, mask);
	if (!err)
		err = qp_state_modify(qp, attr, mask);
	if (!err)
		qp_state_store_attrs(qp, attr, mask);
	return err;
}

/* What the device refuses for a stopped SQ, or what would resume it. */
static bool qp_state_needs_running_sq(const struct cxib_qp *qp, const struct ib_qp_attr *attr,
				      int mask)
{
	return !qp_state_is_teardown(attr, mask) &&
	       (qp->sq.state & CXIB_SQ_HELD ||
		!(mask & IB_QP_STATE && attr->qp_state == IB_QPS_SQD));
}

/* @err: what to return if the device has not stopped the SQ */
static int qp_state_handle_stop(struct cxib_qp *qp, int err)
{
	switch (cxib_qp_handle_stop(qp)) {
	case CXIB_STOP_DRAINING:
		return -EAGAIN;
	case CXIB_STOP_RESUMED:
		return err ? -EAGAIN : 0;
	case CXIB_STOP_COLLECTED:
		return -EBUSY;
	case CXIB_STOP_FAILED:
		return -ENOTCONN;
	default:
		return err;
	}
}

/* Returns -EAGAIN if a stop has come between: the device refuses the command then. */
static int qp_state_try_modify_pipelined(struct cxib_qp *qp, const struct ib_qp_attr *attr,
					 int mask)
{
	int err;

	guard(mutex)(&qp->mutex);
	if (!qp_state_needs_running_sq(qp, attr, mask))
		return qp_state_modify_and_store(qp, attr, mask);
	err = qp_state_handle_stop(qp, 0) ?: qp_state_modify_and_store(qp, attr, mask);
	return err && err != -EAGAIN ? qp_state_handle_stop(qp, err) : err;
}

/*
 * A stop is handled first. The mutex is not held while the device finishes the WQEs that it has
 * started, which may take as long as the remote peer wants: the ULP must be able to move the QP to
 * ERR. The SQ is paused, because a device that is given nothing but bad data could stop again
 * before each command.
 */
static int qp_state_modify_pipelined(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	const unsigned long limit = jiffies + STOP_PATIENCE;
	int err = qp_state_try_modify_pipelined(qp, attr, mask);

	if (err != -EAGAIN)
		return err;
	cxib_sq_pause(qp);
	do {
		fsleep(1000);
		err = qp_state_try_modify_pipelined(qp, attr, mask);
	} while (err == -EAGAIN && time_before_eq(jiffies, limit));
	cxib_sq_unpause(qp);
	return err == -EAGAIN ? -EBUSY : err;
}

static bool qp_state_is_pure_sqe_recovery(const struct ib_qp_attr *attr, int mask)
{
	return mask == (IB_QP_STATE | IB_QP_CUR_STATE) && attr->cur_qp_state == IB_QPS_SQE &&
	       attr->qp_state == IB_QPS_RTS;
}

int cxib_modify_qp_kernel(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			  struct ib_udata *udata)
{
	struct cxib_qp *qp = to_qp(ib);
	int err = 0;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	/* libmlx5 may pass extensions that the driver does not support. */
	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EOPNOTSUPP;
	if (qp->gsi && qp_state_is_pure_sqe_recovery(attr, mask) && !cxib_gsi_recover_sqe(qp))
		return 0;
	if (qp->sq.is_pipelined)
		return qp_state_modify_pipelined(qp, attr, mask);
	scoped_guard(mutex, &qp->mutex)
		err = qp_state_modify_and_store(qp, attr, mask);
	if (!err && qp->gsi)
		cxib_gsi_modify(qp, attr, mask);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_modify_qp_kernel);
