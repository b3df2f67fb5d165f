// SPDX-License-Identifier: GPL-2.0-only
/* Transition commands of a QP: converts ib_verbs attributes to the QP context. */
#include <kunit/visibility.h>
#include <linux/log2.h>

#include "hw/commands_queue_pairs.h"
#include "hw/qp.h"
#include "verbs/port/gsi.h"
#include "verbs/qp/dc.h"

/* SMI and GSI QPs send MADs of 256 bytes, which do not exceed the MTU of any port. */
#define LOG_SPECIAL_MESSAGE	8
#define LOG_DATAGRAM		12

#define PSN_MASK		GENMASK(23, 0)

#define ACCESS_PARAMETERS	(HW_QP_OPTIONAL_PARAMETERS_RRE | HW_QP_OPTIONAL_PARAMETERS_RAE | \
				 HW_QP_OPTIONAL_PARAMETERS_RWE)

/* Returns the command of a transition; 0 if the transition has no command with a QP context. */
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

/* Optional parameter mask bits of optional attributes. */
static const struct {
	int attribute;
	u32 parameters;
} choices[] = {
	{ IB_QP_ACCESS_FLAGS, ACCESS_PARAMETERS },
	{ IB_QP_MAX_DEST_RD_ATOMIC, ACCESS_PARAMETERS },
	{ IB_QP_ALT_PATH, HW_QP_OPTIONAL_PARAMETERS_ALT_ADDR_PATH },
	{ IB_QP_MIN_RNR_TIMER, HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT },
	{ IB_QP_PATH_MIG_STATE, HW_QP_OPTIONAL_PARAMETERS_PM_STATE },
	{ IB_QP_PKEY_INDEX, HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX },
	{ IB_QP_PORT, HW_QP_OPTIONAL_PARAMETERS_PRI_PORT },
	{ IB_QP_QKEY, HW_QP_OPTIONAL_PARAMETERS_Q_KEY },
};

/*
 * Returns the optional parameters of a transition of a connected QP. @access: access parameters
 * that the transport supports.
 */
static u32 transition_connected_optional(u16 opcode, u32 access)
{
	const u32 migration = HW_QP_OPTIONAL_PARAMETERS_ALT_ADDR_PATH |
			      HW_QP_OPTIONAL_PARAMETERS_PM_STATE;
	const u32 timer = access & HW_QP_OPTIONAL_PARAMETERS_RRE ?
			  HW_QP_OPTIONAL_PARAMETERS_RNR_TIMEOUT : 0;

	switch (opcode) {
	case HW_CMD_INIT2INIT_QP:
		return access | HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX |
		       HW_QP_OPTIONAL_PARAMETERS_PRI_PORT;
	case HW_CMD_INIT2RTR_QP:
		return access | HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX |
		       HW_QP_OPTIONAL_PARAMETERS_ALT_ADDR_PATH;
	case HW_CMD_RTR2RTS_QP:
	case HW_CMD_RTS2RTS_QP:
		return access | timer | migration;
	case HW_CMD_SQERR2RTS_QP:
	case HW_CMD_SQD_RTS_QP:
		return access | timer;
	default:
		/* All fields are mandatory. */
		return 0;
	}
}

static u32 transition_datagram_optional(u16 opcode)
{
	switch (opcode) {
	case HW_CMD_RST2INIT_QP:
		return 0;
	case HW_CMD_INIT2INIT_QP:
		return HW_QP_OPTIONAL_PARAMETERS_Q_KEY | HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX |
		       HW_QP_OPTIONAL_PARAMETERS_PRI_PORT;
	case HW_CMD_INIT2RTR_QP:
		return HW_QP_OPTIONAL_PARAMETERS_Q_KEY | HW_QP_OPTIONAL_PARAMETERS_PKEY_INDEX;
	default:
		return HW_QP_OPTIONAL_PARAMETERS_Q_KEY;
	}
}

/*
 * Firmware is known to accept these parameters, because they are those of opt_mask in mlx5_ib.
 * opt_mask has none for SMI, GSI and UMR QPs and DCIs, and none for XRC QPs in SQD2RTS_QP.
 */
static u32 transition_optional_parameters(const struct cxib_qp *qp, u16 opcode, int mask)
{
	u32 wanted = 0;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(choices); i++)
		if (mask & choices[i].attribute)
			wanted |= choices[i].parameters;
	switch (qp->ib.qp_type) {
	case IB_QPT_XRC_INI:
	case IB_QPT_XRC_TGT:
		if (opcode == HW_CMD_SQD_RTS_QP)
			return 0;
		fallthrough;
	case IB_QPT_RC:
		return wanted & transition_connected_optional(opcode, ACCESS_PARAMETERS);
	case IB_QPT_UC:
		return wanted &
		       transition_connected_optional(opcode, HW_QP_OPTIONAL_PARAMETERS_RWE);
	case IB_QPT_UD:
		return wanted & transition_datagram_optional(opcode);
	default:
		return 0;
	}
}

static u32 transition_migration_state(enum ib_mig_state state)
{
	switch (state) {
	case IB_MIG_ARMED:
		return HW_QP_MIGRATION_STATE_ARMED;
	case IB_MIG_REARM:
		return HW_QP_MIGRATION_STATE_REARM;
	default:
		return HW_QP_MIGRATION_STATE_MIGRATED;
	}
}

/* Fills the access rights of the remote peer. RDMA READs and atomics need responder resources. */
static void transition_fill_access(const struct cxib_qp *qp, const struct ib_qp_attr *attr,
				   int mask, struct hw_qpc *context)
{
	const struct cxib_device_caps *caps = &to_ibdev(qp->ib.device)->hw->caps;
	int access = mask & IB_QP_ACCESS_FLAGS ? attr->qp_access_flags : qp->access;
	u8 depth = mask & IB_QP_MAX_DEST_RD_ATOMIC ? attr->max_dest_rd_atomic :
						     qp->max_dest_rd_atomic;
	u32 mode = cxib_atomic_mode(caps, caps->atomic_size_qp);

	if (!(mask & (IB_QP_ACCESS_FLAGS | IB_QP_MAX_DEST_RD_ATOMIC)))
		return;
	hw_qpc_set_rwe(context, !!(access & IB_ACCESS_REMOTE_WRITE));
	if (!depth)
		return;
	hw_qpc_set_rre(context, !!(access & IB_ACCESS_REMOTE_READ));
	if (access & IB_ACCESS_REMOTE_ATOMIC) {
		hw_qpc_set_rae(context, !!mode);
		hw_qpc_set_atomic_mode(context, mode);
	}
}

static void transition_fill_path(const struct cxib_ibdev *ibdev, struct hw_ads *path,
				 const struct rdma_ah_attr *attr)
{
	const struct ib_global_route *route = rdma_ah_read_grh(attr);

	hw_ads_set_rlid(path, rdma_ah_get_dlid(attr));
	hw_ads_set_mlid(path, rdma_ah_get_path_bits(attr));
	hw_ads_set_sl(path, rdma_ah_get_sl(attr));
	hw_ads_set_stat_rate(path, cxib_static_rate(&ibdev->hw->caps,
						    rdma_ah_get_static_rate(attr)));
	if (!(rdma_ah_get_ah_flags(attr) & IB_AH_GRH))
		return;
	hw_ads_set_grh(path, 1);
	hw_ads_set_src_addr_index(path, route->sgid_index);
	hw_ads_set_flow_label(path, route->flow_label);
	hw_ads_set_tclass(path, route->traffic_class);
	hw_ads_set_hop_limit(path, route->hop_limit);
	memcpy(hw_ads_rgid_rip(path), route->dgid.raw, sizeof(route->dgid.raw));
}

static void transition_fill_paths(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
				  struct hw_qpc *context)
{
	const struct cxib_ibdev *ibdev = to_ibdev(qp->ib.device);
	struct hw_ads *primary = hw_qpc_primary_address_path(context);
	struct hw_ads *alternate = hw_qpc_secondary_address_path(context);

	if (mask & IB_QP_AV)
		transition_fill_path(ibdev, primary, &attr->ah_attr);
	if (mask & IB_QP_PKEY_INDEX)
		hw_ads_set_pkey_index(primary, attr->pkey_index);
	/* Each path has a port, which may have been set by RST2INIT. */
	if (mask & IB_QP_PORT)
		hw_ads_set_vhca_port_num(primary, attr->port_num);
	else if (mask & IB_QP_AV || cxib_qp_is_special(qp))
		hw_ads_set_vhca_port_num(primary, qp->port);
	if (mask & IB_QP_TIMEOUT)
		hw_ads_set_ack_timeout(primary, attr->timeout);
	if (mask & IB_QP_ALT_PATH) {
		transition_fill_path(ibdev, alternate, &attr->alt_ah_attr);
		hw_ads_set_pkey_index(alternate, attr->alt_pkey_index);
		hw_ads_set_vhca_port_num(alternate, attr->alt_port_num);
		hw_ads_set_ack_timeout(alternate, attr->alt_timeout);
	}
}

static void transition_fill_message_size(const struct cxib_qp *qp, const struct ib_qp_attr *attr,
					 int mask, struct hw_qpc *context)
{
	if (cxib_qp_is_special(qp)) {
		hw_qpc_set_mtu(context, HW_QP_MTU_256_BYTES);
		hw_qpc_set_log_msg_max(context, LOG_SPECIAL_MESSAGE);
	} else if (qp->ib.qp_type == IB_QPT_UD || qp->ib.qp_type == CXIB_QPT_UMR) {
		hw_qpc_set_mtu(context, HW_QP_MTU_4K_BYTES);
		hw_qpc_set_log_msg_max(context, LOG_DATAGRAM);
	} else if (mask & IB_QP_PATH_MTU) {
		hw_qpc_set_mtu(context, attr->path_mtu);
		hw_qpc_set_log_msg_max(context, to_ibdev(qp->ib.device)->hw->caps.log_max_msg);
	}
}

/* Fills the fields of connected QPs. */
static void transition_fill_connection(const struct ib_qp_attr *attr, int mask,
				       struct hw_qpc *context)
{
	if (mask & IB_QP_DEST_QPN)
		hw_qpc_set_remote_qpn(context, attr->dest_qp_num);
	if (mask & IB_QP_RQ_PSN)
		hw_qpc_set_next_rcv_psn(context, attr->rq_psn & PSN_MASK);
	if (mask & IB_QP_MIN_RNR_TIMER)
		hw_qpc_set_min_rnr_nak(context, attr->min_rnr_timer);
	if (mask & IB_QP_RETRY_CNT)
		hw_qpc_set_retry_count(context, attr->retry_cnt);
	if (mask & IB_QP_RNR_RETRY)
		hw_qpc_set_rnr_retry(context, attr->rnr_retry);
	if (mask & IB_QP_MAX_DEST_RD_ATOMIC && attr->max_dest_rd_atomic)
		hw_qpc_set_log_rra_max(context, order_base_2(attr->max_dest_rd_atomic));
	if (mask & IB_QP_MAX_QP_RD_ATOMIC && attr->max_rd_atomic)
		hw_qpc_set_log_sra_max(context, order_base_2(attr->max_rd_atomic));
}

static void transition_repeat_cqns(const struct cxib_qp *qp, struct hw_qpc *context)
{
	switch (qp->ib.qp_type) {
	case IB_QPT_XRC_TGT:
	case IB_QPT_DRIVER:
		return;
	case IB_QPT_XRC_INI:
	case CXIB_QPT_UMR:
		break;
	default:
		hw_qpc_set_cqn_rcv(context, cxib_recv_cq(qp)->cqn);
	}
	hw_qpc_set_cqn_snd(context, cxib_send_cq(qp)->cqn);
}

/*
 * Repeats fields of CREATE_QP that no transition changes. Firmware is known to accept this, because
 * mlx5_ib also repeats them in each transition; it repeats the CQNs only for some types, see its
 * get_cqs().
 */
static void transition_repeat_creation(const struct cxib_qp *qp, struct hw_qpc *context)
{
	hw_qpc_set_st(context, cxib_qp_service_type(qp->ib.qp_type));
	hw_qpc_set_pd(context, cxib_qp_pdn(qp));
	transition_repeat_cqns(qp, context);
}

/* Fills fields that the device reads only in RST2INIT. dbr_addr is for the RQ. */
static void transition_fill_init(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
				 struct hw_qpc *context)
{
	u32 port = mask & IB_QP_PORT ? attr->port_num : qp->port;

	hw_qpc_set_counter_set_id(context, cxib_port_q_counter(to_ibdev(qp->ib.device), port));
	hw_qpc_set_rlky(context, cxib_qp_uses_resd_lkey(qp));
	if (qp->has_rq)
		hw_qpc_set_dbr_addr(context, qp->dbr.dma);
}

static void transition_fill_context(const struct cxib_qp *qp, const struct ib_qp_attr *attr,
				    int mask, struct hw_qpc *context)
{
	transition_repeat_creation(qp, context);
	hw_qpc_set_pm_state(context, transition_migration_state(mask & IB_QP_PATH_MIG_STATE ?
									attr->path_mig_state :
									IB_MIG_MIGRATED));
	if (mask & IB_QP_QKEY)
		hw_qpc_set_q_key(context, attr->qkey);
	hw_qpc_set_log_ack_req_freq(context, CXIB_LOG_ACK_REQ_FREQ);
	if (cxib_qp_is_gsi_tx(qp))
		hw_qpc_set_deth_sqpn(context, CXIB_GSI_NUMBER);
	if (mask & IB_QP_SQ_PSN)
		hw_qpc_set_next_send_psn(context, attr->sq_psn & PSN_MASK);
	transition_fill_message_size(qp, attr, mask, context);
	transition_fill_access(qp, attr, mask, context);
	transition_fill_paths(qp, attr, mask, context);
	transition_fill_connection(attr, mask, context);
}

/**
 * cxib_qp_transition() - fill the command of a transition
 * @qp: QP in the state before the transition
 * @attr: attributes; only those in @mask are read
 * @mask: IB_QP_…; allowed by ib_modify_qp_is_ok(), values checked
 * @transition: filled
 *
 * Return: 0, or -EOPNOTSUPP if the device has no command for the transition.
 */
int cxib_qp_transition(const struct cxib_qp *qp, const struct ib_qp_attr *attr, int mask,
		       struct cxib_qp_transition *transition)
{
	enum ib_qp_state from = mask & IB_QP_CUR_STATE ? attr->cur_qp_state : qp->state;
	enum ib_qp_state to = mask & IB_QP_STATE ? attr->qp_state : from;

	*transition = (struct cxib_qp_transition){
		.uid = cxib_qp_uid(qp),
		.opcode = transition_opcode(from, to),
		.qpn = qp->qpn,
	};
	if (!transition->opcode)
		return -EOPNOTSUPP;
	transition->optional = transition_optional_parameters(qp, transition->opcode, mask);
	transition_fill_context(qp, attr, mask, &transition->context);
	if (transition->opcode == HW_CMD_RST2INIT_QP)
		transition_fill_init(qp, attr, mask, &transition->context);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_transition);
