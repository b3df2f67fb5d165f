// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains (PDs). */
#include <rdma/mlx5-abi.h>

#include "hw/commands_objects.h"
#include "hw/mkey.h"
#include "hw/pd.h"
#include "verbs/mkey.h"
#include "verbs/verbs.h"

/**
 * cxib_abort_pd() - deallocate a PD to which nothing can refer yet
 * @pd: PD of user space without an mkey
 * @udata: driver data of the request that has allocated the PD
 *
 * Context: process context, may sleep.
 */
void cxib_abort_pd(struct cxib_pd *pd, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->ib.device);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DEALLOC_PD, pd->uid, pd->pdn);

	cxib_discard_object(ibdev, cxib_udata_context(udata), &destroy, NULL,
			    cxib_cmd_dealloc_pd(commands_of(ibdev), pd->uid, pd->pdn));
}

int cxib_alloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_pd *pd = to_pd(ib);
	struct mlx5_ib_alloc_pd_resp response;
	int err;

	mutex_init(&pd->key_lock);
	err = cxib_cmd_alloc_pd(commands_of(ibdev), pd->uid, &pd->pdn);
	if (err || !udata)
		return err;
	response.pdn = pd->pdn;
	err = ib_copy_to_udata(udata, &response, min(sizeof(response), udata->outlen));
	if (err)
		cxib_abort_pd(pd, udata);
	return err;
}

/**
 * cxib_pd_create_dma_mkey() - create the DMA MR mkey of a PD
 * @ib: kernel PD
 *
 * WQEs of QPs use resd_lkey, which is valid in all PDs. It is known to work in data segments, and
 * with umr_ptr_rlky in the XLT pointers of UMR WQEs. It is not documented for KLMs and WQEs of
 * SRQs. So KLMs and WQEs of SRQs use an mkey of their PD, which is created when it is needed for
 * the first time.
 *
 * Context: process context, may sleep.
 * Return: 0, or as cxib_cmd_create_mkey().
 */
int cxib_pd_create_dma_mkey(struct ib_pd *ib)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_mkey_params params = {
		.pd = to_pd(ib)->pdn,
		.local_write = true,
	};
	struct cxib_pd *pd = to_pd(ib);
	int err;

	guard(mutex)(&pd->key_lock);
	if (pd->has_key)
		return 0;
	/* Without resd_lkey the RDMA core has created a DMA MR. */
	if (!ibdev->ib.local_dma_lkey) {
		pd->key = ib->local_dma_lkey;
		return 0;
	}
	params.variant = cxib_next_mkey_variant(ibdev);
	cxib_mkey_relax_ordering(ibdev->hw, &params);
	err = cxib_cmd_create_mkey(commands_of(ibdev), &params, &pd->key);
	pd->has_key = !err;
	return err;
}

int cxib_dealloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_pd *pd = to_pd(ib);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DEALLOC_PD, pd->uid, pd->pdn);
	int err;

	if (pd->has_key)
		cxib_finish_destroy(ibdev, cxib_cmd_destroy_mkey(commands_of(ibdev), pd->key,
								 false));
	pd->has_key = false;
	err = cxib_orphans_check(ibdev, cxib_udata_context(udata), &destroy) ?:
	      cxib_cmd_dealloc_pd(commands_of(ibdev), pd->uid, pd->pdn);
	return cxib_finish_user_destroy(ibdev, udata, &destroy, NULL, err);
}
