// SPDX-License-Identifier: GPL-2.0-only
/* MADs for the agents of this node, which the firmware or the driver implements. */
#include <kunit/visibility.h>
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>

#include "verbs/port/mad.h"
#include "verbs/port/pma.h"
#include "verbs/verbs.h"

/* D bit in the status of a directed-route SMP: the response. */
#define DIRECTION	cpu_to_be16(BIT(15))

static bool mad_is_for_subnet_agent(const struct ib_mad_hdr *header)
{
	/* SMInfo is for a subnet manager on this node. */
	if (header->attr_id == IB_SMP_ATTR_SM_INFO)
		return false;
	return header->method == IB_MGMT_METHOD_GET || header->method == IB_MGMT_METHOD_SET ||
	       header->method == IB_MGMT_METHOD_TRAP_REPRESS;
}

/**
 * cxib_mad_is_for_agent() - whether a MAD is for an agent of the firmware
 * @header: header of the MAD
 *
 * Return: false if it is for an agent in software, or for none.
 */
bool cxib_mad_is_for_agent(const struct ib_mad_hdr *header)
{
	switch (header->mgmt_class) {
	case IB_MGMT_CLASS_SUBN_LID_ROUTED:
	case IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE:
		return mad_is_for_subnet_agent(header);
	case IB_MGMT_CLASS_PERF_MGMT:
	case IB_MGMT_CLASS_CONG_MGMT:
	case CXIB_MGMT_CLASS_VENDOR_0:
	case CXIB_MGMT_CLASS_VENDOR_1:
		return header->method == IB_MGMT_METHOD_GET ||
		       header->method == IB_MGMT_METHOD_SET;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mad_is_for_agent);

/* A trap of the agents of this node has no source LID and is for the subnet manager. */
static bool mad_is_own_trap(const struct ib_mad_hdr *header, const struct ib_wc *in_wc)
{
	return header->method == IB_MGMT_METHOD_TRAP && (!in_wc || !in_wc->slid);
}

static bool mad_is_pma_get(const struct ib_mad_hdr *header)
{
	return header->mgmt_class == IB_MGMT_CLASS_PERF_MGMT &&
	       header->method == IB_MGMT_METHOD_GET;
}

int cxib_process_mad(struct ib_device *ib, int flags, u32 number, const struct ib_wc *in_wc,
		     const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index)
{
	struct cxib_mad mad = {
		.port = number,
		.ignore_m_key = flags & IB_MAD_IGNORE_MKEY || !in_wc,
		.ignore_b_key = flags & IB_MAD_IGNORE_BKEY || !in_wc,
		.request = in,
		.response = out,
	};
	int err;

	if (mad_is_own_trap(&in->mad_hdr, in_wc))
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	if (!cxib_mad_is_for_agent(&in->mad_hdr))
		return IB_MAD_RESULT_SUCCESS;
	if (mad_is_pma_get(&in->mad_hdr)) {
		err = cxib_pma_get(to_ibdev(ib), in, out);
		if (err != -EOPNOTSUPP)
			return err ? IB_MAD_RESULT_FAILURE :
				     IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
	}
	if (cxib_cmd_mad_ifc(commands_of(to_ibdev(ib)), &mad))
		return IB_MAD_RESULT_FAILURE;
	/* TrapRepress has no response. */
	if (in->mad_hdr.method == IB_MGMT_METHOD_TRAP_REPRESS)
		return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_CONSUMED;
	if (in->mad_hdr.mgmt_class == IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE)
		out->mad_hdr.status |= DIRECTION;
	return IB_MAD_RESULT_SUCCESS | IB_MAD_RESULT_REPLY;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_process_mad);
