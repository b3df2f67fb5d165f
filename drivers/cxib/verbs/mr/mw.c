// SPDX-License-Identifier: GPL-2.0-only
/* Memory windows: mkeys that WQEs bind to ranges of MRs. */
#include <kunit/visibility.h>
#include <linux/align.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/verbs.h"

/* The device reads the KLMs of an MW in units of four. */
#define KLM_BATCH	4

static int mw_check_request(struct ib_device *ib, const struct mlx5_ib_alloc_mw *request)
{
	if (request->comp_mask || request->reserved1 || request->reserved2) {
		ibdev_dbg(ib, "alloc MW: unknown attributes (comp_mask 0x%x)\n",
			  request->comp_mask);
		return -EOPNOTSUPP;
	}
	return 0;
}

static int mw_get_request(struct ib_device *ib, struct ib_udata *udata,
			  struct mlx5_ib_alloc_mw *request)
{
	int err;

	*request = (struct mlx5_ib_alloc_mw){};
	if (udata->inlen > sizeof(*request) &&
	    !ib_is_udata_cleared(udata, sizeof(*request), udata->inlen - sizeof(*request)))
		return -EOPNOTSUPP;
	err = ib_copy_from_udata(request, udata, min(sizeof(*request), udata->inlen));
	return err ?: mw_check_request(ib, request);
}

static int mw_create_mkey(struct ib_mw *ib, u8 max_klms)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_mkey_params params = {
		.pd = to_pd(ib->pd)->pdn,
		.variant = cxib_next_mkey_variant(ibdev),
		.indirect = true,
		.xlt_octowords = ALIGN(max_t(u32, max_klms, 1), KLM_BATCH),
		.remote_invalidate = ib->type == IB_MW_TYPE_2,
		.for_user = cxib_pd_context(ib->pd),
	};

	return cxib_cmd_create_mkey(commands_of(ibdev), &params, &ib->rkey);
}

static int mw_put_response(struct ib_udata *udata)
{
	const struct {
		__u32 comp_mask;
		__u32 response_length;
	} response = { .response_length = min(sizeof(response), udata->outlen) };

	return response.response_length ?
	       ib_copy_to_udata(udata, (void *)&response, response.response_length) : 0;
}

/* @udata is NULL for an MW of the kernel, which has a single KLM. */
int cxib_alloc_mw(struct ib_mw *ib, struct ib_udata *udata)
{
	struct mlx5_ib_alloc_mw request;
	int err;

	if (!to_ibdev(ib->device)->hw->caps.imaicl)
		return -EOPNOTSUPP;
	if (!udata)
		return mw_create_mkey(ib, 1);
	err = mw_get_request(ib->device, udata, &request);
	if (!err)
		err = mw_create_mkey(ib, request.num_klms);
	if (err)
		return err;
	err = mw_put_response(udata);
	if (err)
		cxib_dealloc_mw(ib);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_alloc_mw);

/* The RDMA core ignores errors, so the function must destroy the MW. */
int cxib_dealloc_mw(struct ib_mw *ib)
{
	cxib_discard_mkey(ib->pd, ib->rkey);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dealloc_mw);
