// SPDX-License-Identifier: GPL-2.0-only
/* Changing queue pairs: from what ib_verbs wants to transitions of the device. */
#include <kunit/visibility.h>

#include "hw/commands_queue_pairs.h"
#include "hw/names.h"
#include "hw/queues.h"
#include "verbs/qp.h"

/* Special queue pairs send the packets that every port can take. */
#define LOG_SPECIAL_MESSAGE	8
#define LOG_DATAGRAM		12

/* The command that takes a queue pair from one state to another; 0: none that has a context. */
static u16 transition_opcode(enum ib_qp_state from, enum ib_qp_state to)
{
	switch (from << 4 | to) {
	case IB_QPS_RESET << 4 | IB_QPS_INIT:
		return HW_CMD_RST2INIT_QP;
	case IB_QPS_INIT << 4 | IB_QPS_INIT:
		return HW_CMD_INIT2INIT_QP;
	case IB_QPS_INIT << 4 | IB_QPS_RTR:
		return HW_CMD_INIT2RTR_QP;
	case IB_QPS_RTR << 4 | IB_QPS_RTS:
		return HW_CMD_RTR2RTS_QP;
	case IB_QPS_RTS << 4 | IB_QPS_RTS:
		return HW_CMD_RTS2RTS_QP;
	case IB_QPS_SQE << 4 | IB_QPS_RTS:
		return HW_CMD_SQERR2RTS_QP;
	case IB_QPS_SQD << 4 | IB_QPS_RTS:
		return HW_CMD_SQD_RTS_QP;
	default:
		return 0;
	}
}

/* What a datagram queue pair may be given beyond what its transition always takes. */
static u32 optional_parameters(u16 opcode, int mask)
{
	u32 wanted = 0;

	if (mask & IB_QP_QKEY)
		wanted |= HW_QP_OPTIONAL_PARAMETERS_Q_KEY;
	switch (opcode) {
	case HW_CMD_RST2INIT_QP:
		/* It takes everything. */
		return 0;
	case HW_CMD_INIT2INIT_QP:
		if (mask & IB_QP_PORT)
			wanted |= HW_QP_OPTIONAL_PARAMETERS_PRI_PORT;
		fallthrough;
	case HW_CMD_INIT2RTR_QP:
		if (mask & IB_QP_PKEY_INDEX)
			wanted |= HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX;
		return wanted;
	default:
		return wanted;
	}
}

static void fill_context(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
			 struct hw_qpc *context)
{
	const struct cxib_verbs *verbs = to_verbs(qp->ib.device);
	struct hw_ads *path = hw_qpc_primary_address_path(context);

	hw_qpc_set_pm_state(context, HW_QP_MIGRATION_STATE_MIGRATED);
	if (verbs->has_counters)
		hw_qpc_set_counter_set_id(context, verbs->counter_set);
	if (cxib_qp_is_special(qp)) {
		hw_qpc_set_mtu(context, HW_QP_MTU_256_BYTES);
		hw_qpc_set_log_msg_max(context, LOG_SPECIAL_MESSAGE);
	} else {
		hw_qpc_set_mtu(context, HW_QP_MTU_4K_BYTES);
		hw_qpc_set_log_msg_max(context, LOG_DATAGRAM);
	}
	if (mask & IB_QP_PKEY_INDEX)
		hw_ads_set_pkey_index(path, attr->pkey_index);
	if (mask & IB_QP_QKEY)
		hw_qpc_set_q_key(context, attr->qkey);
	if (mask & IB_QP_SQ_PSN)
		hw_qpc_set_next_send_psn(context, attr->sq_psn & GENMASK(23, 0));
	if (mask & IB_QP_PORT)
		hw_ads_set_vhca_port_num(path, attr->port_num);
	else if (cxib_qp_is_special(qp))
		hw_ads_set_vhca_port_num(path, qp->port);
}

/**
 * cxib_qp_transition() - the command for a change
 * @qp: queue pair for datagrams, in the state that it is changed from
 * @attr: attributes, of which @mask counts
 * @mask: IB_QP_…; ib_verbs allows it for the transition
 * @transition: filled
 *
 * Return: 0, or -EOPNOTSUPP when the device has no command for it.
 */
int cxib_qp_transition(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
		       struct cxib_qp_transition *transition)
{
	enum ib_qp_state from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;

	*transition = (struct cxib_qp_transition){
		.opcode = transition_opcode(from, to),
		.qpn = qp->number,
	};
	if (!transition->opcode)
		return -EOPNOTSUPP;
	transition->optional = optional_parameters(transition->opcode, mask);
	fill_context(qp, attr, mask, &transition->context);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_transition);

static int check(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_verbs *verbs = to_verbs(qp->ib.device);
	enum ib_qp_state from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;

	if (!ib_modify_qp_is_ok(from, to, qp->ib.qp_type, mask)) {
		ibdev_dbg(&verbs->ib, "queue pair 0x%x cannot go from state %d to %d with attributes 0x%x\n",
			  qp->number, from, to, mask);
		return -EINVAL;
	}
	if (mask & IB_QP_PORT && (!attr->port_num || attr->port_num > verbs->ib.phys_port_cnt)) {
		ibdev_dbg(&verbs->ib, "port_num %u of a queue pair is not possible, 1 to %u are\n",
			  attr->port_num, verbs->ib.phys_port_cnt);
		return -EINVAL;
	}
	if (mask & IB_QP_PKEY_INDEX && attr->pkey_index >= verbs->ib.attrs.max_pkeys) {
		ibdev_dbg(&verbs->ib, "pkey_index %u of a queue pair is not possible, 0 to %u are\n",
			  attr->pkey_index, verbs->ib.attrs.max_pkeys - 1);
		return -EINVAL;
	}
	return 0;
}

static int change(struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask)
{
	struct cxib_verbs *verbs = to_verbs(qp->ib.device);
	struct cxib_command_queue *commands = commands_of(verbs);
	bool ends = mask & IB_QP_STATE &&
		    (attr->qp_state == IB_QPS_ERR || attr->qp_state == IB_QPS_RESET);
	struct cxib_qp_transition transition;
	int err;

	/* Whoever wants to get rid of a queue pair can go on. */
	if (ends && cxib_command_queue_is_broken(commands)) {
		cxib_hw_quiesce(verbs->hw);
		return 0;
	}
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_ERR)
		return cxib_qp_to_error(commands, qp->number);
	if (mask & IB_QP_STATE && attr->qp_state == IB_QPS_RESET)
		return cxib_qp_to_reset(commands, qp->number);
	err = cxib_qp_transition(qp, attr, mask, &transition);
	return err ?: cxib_modify_qp(commands, &transition);
}

int cxib_modify_queue_pair(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
			   struct ib_udata *udata)
{
	struct cxib_qp *qp = to_qp(ib);
	int err;

	if (mask & ~IB_QP_ATTR_STANDARD_BITS)
		return -EOPNOTSUPP;
	mutex_lock(&qp->mutex);
	err = check(qp, attr, mask);
	if (!err)
		err = change(qp, attr, mask);
	if (!err && mask & IB_QP_STATE) {
		if (attr->qp_state == IB_QPS_RESET && qp->state != IB_QPS_RESET)
			cxib_qp_forget(qp);
		WRITE_ONCE(qp->state, attr->qp_state);
	}
	mutex_unlock(&qp->mutex);
	return err;
}
