// SPDX-License-Identifier: GPL-2.0-only
/* Queries of libmlx5 that the RDMA core does not define. */
#include <rdma/mlx5-abi.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>

#include "user/user.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

static u32 query_response_flags(const struct cxib_device_caps *caps)
{
	u32 flags = 0;

	if (caps->cqe_128_always)
		flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_PAD;
	if (caps->cqe_compression_128)
		flags |= MLX5_IB_QUERY_DEV_RESP_FLAGS_CQE_128B_COMP;
	if (caps->qp_packet_based)
		flags |= MLX5_IB_QUERY_DEV_RESP_PACKET_BASED_CREDIT_MODE;
	return flags;
}

static struct mlx5_ib_cqe_comp_caps query_compression(const struct cxib_device_caps *caps)
{
	struct mlx5_ib_cqe_comp_caps response = {};

	if (!caps->cqe_compression)
		return response;
	response.max_num = caps->cqe_compression_max_num;
	response.supported_format = MLX5_IB_CQE_RES_FORMAT_HASH | MLX5_IB_CQE_RES_FORMAT_CSUM;
	if (caps->mini_cqe_resp_stride_index)
		response.supported_format |= MLX5_IB_CQE_RES_FORMAT_CSUM_STRIDX;
	return response;
}

static struct mlx5_ib_dci_streams_caps query_streams(const struct cxib_device_caps *caps)
{
	struct mlx5_ib_dci_streams_caps response = {};

	if (!caps->dct)
		return response;
	response.max_log_num_concurent = caps->log_max_dci_stream_channels;
	response.max_log_num_errored = caps->log_max_dci_errored_streams;
	return response;
}

int cxib_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		      struct ib_udata *udata)
{
	/* The other fields describe Ethernet and features that the driver does not support. */
	struct mlx5_ib_query_device_resp response = {
		.flags = query_response_flags(&to_ibdev(ib)->hw->caps),
		.cqe_comp_caps = query_compression(&to_ibdev(ib)->hw->caps),
		.dci_streams_caps = query_streams(&to_ibdev(ib)->hw->caps),
	};
	int err;

	if (udata && udata->inlen && !ib_is_udata_cleared(udata, 0, udata->inlen))
		return -EINVAL;
	err = cxib_fill_device_attr(ib, attr, udata);
	if (err || !udata || udata->outlen < offsetofend(typeof(response), response_length))
		return err;
	response.response_length = min(sizeof(response), udata->outlen);
	return cxib_copy_resp(udata, &response, response.response_length);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_PD_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_pd *pd = uverbs_attr_get_obj(attrs, MLX5_IB_ATTR_QUERY_PD_HANDLE);

	return uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_PD_RESP_PDN, &to_pd(pd)->pdn,
			      sizeof(to_pd(pd)->pdn));
}

/* The response describes vports of an embedded switch, which IB ports do not have. */
static int UVERBS_HANDLER(MLX5_IB_METHOD_QUERY_PORT)(struct uverbs_attr_bundle *attrs)
{
	const struct mlx5_ib_uapi_query_port response = {};
	struct ib_ucontext *context = ib_uverbs_get_ucontext(attrs);
	u32 number;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	err = uverbs_copy_from(&number, attrs, MLX5_IB_ATTR_QUERY_PORT_PORT_NUM);
	if (err)
		return err;
	if (!rdma_is_port_valid(context->device, number)) {
		ibdev_dbg(context->device, "query port: invalid port %u\n", number);
		return -EINVAL;
	}
	return uverbs_copy_to_struct_or_zero(attrs, MLX5_IB_ATTR_QUERY_PORT, &response,
					     sizeof(response));
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_PD_QUERY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_QUERY_PD_HANDLE, UVERBS_OBJECT_PD,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PD_RESP_PDN,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_QUERY_PORT,
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_QUERY_PORT_PORT_NUM,
					       UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_PORT,
						UVERBS_ATTR_STRUCT(struct mlx5_ib_uapi_query_port,
								   reg_c0),
						UA_MANDATORY));

ADD_UVERBS_METHODS(cxib_pd_methods, UVERBS_OBJECT_PD, &UVERBS_METHOD(MLX5_IB_METHOD_PD_QUERY));
ADD_UVERBS_METHODS(cxib_device_methods, UVERBS_OBJECT_DEVICE,
		   &UVERBS_METHOD(MLX5_IB_METHOD_QUERY_PORT));

/* Shortest response of any libmlx5 version. */
#define CONTEXT_RESPONSE	UVERBS_ATTR_STRUCT(struct mlx5_ib_alloc_ucontext_resp, \
						   dump_fill_mkey)

ADD_UVERBS_ATTRIBUTES_SIMPLE(cxib_query_context_attributes, UVERBS_OBJECT_DEVICE,
			     UVERBS_METHOD_QUERY_CONTEXT,
			     UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_CONTEXT_RESP_UCTX,
						 CONTEXT_RESPONSE, UA_MANDATORY));

const struct uapi_definition cxib_query_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_PD, &cxib_pd_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &cxib_device_methods),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DEVICE, &cxib_query_context_attributes),
	{},
};
