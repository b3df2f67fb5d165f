// SPDX-License-Identifier: GPL-2.0-only
/* What the user library wants to know of the device beyond what the RDMA core knows. */
#include <rdma/mlx5-abi.h>

#include "user/user.h"

static u32 response_flags(const struct cxib_device_caps *caps)
{
	u32 flags = 0;

	if (caps->cqe_128_always)
		flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	if (caps->qp_packet_based)
		flags |= MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE;
	return flags;
}

int cxib_query_device_for_program(struct ib_device *ib, struct ib_device_attr *attr,
				  struct ib_udata *udata)
{
	/* The rest is about Ethernet, and about what this driver does not do. */
	struct mlx5_ib_query_device_resp response = {
		.flags = response_flags(&to_verbs(ib)->hw->caps),
	};
	int err;

	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	err = cxib_query_device(ib, attr, udata);
	if (err || !udata || udata->outlen < offsetofend(typeof(response), response_length))
		return err;
	response.response_length = min(sizeof(response), udata->outlen);
	return cxib_put_response(udata, &response, response.response_length);
}
