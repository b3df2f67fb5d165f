// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains. */
#include <rdma/mlx5-abi.h>

#include "hw/mkey.h"
#include "verbs/verbs.h"

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
		cxib_end_in_device(ibdev, NULL,
				   cxib_cmd_dealloc_pd(commands_of(ibdev), pd->uid, pd->pdn));
	return err;
}

/**
 * cxib_pd_create_dma_mkey() - a protection domain gets a key of all memory
 * @ib: protection domain of the kernel's
 *
 * Requests of queue pairs name memory with the reserved key, which is the same in all
 * domains. It is known to serve their data segments, and the lists that they read
 * (umr_ptr_rlky); nothing says that keys can refer to it, or that it serves requests
 * of shared receive queues. These have a key of their domain, made when the first of
 * them needs it.
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
	/* Without the reserved key the RDMA core has made one. */
	if (!ibdev->ib.local_dma_lkey) {
		pd->key = ib->local_dma_lkey;
		return 0;
	}
	params.variant = cxib_next_mkey_variant(ibdev);
	err = cxib_cmd_create_mkey(commands_of(ibdev), &params, &pd->key);
	pd->has_key = !err;
	return err;
}

int cxib_dealloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_pd *pd = to_pd(ib);

	if (pd->has_key)
		cxib_end_in_device(ibdev, NULL, cxib_cmd_destroy_mkey(commands_of(ibdev), pd->key));
	pd->has_key = false;
	return cxib_end_in_device(ibdev, udata,
				  cxib_cmd_dealloc_pd(commands_of(ibdev), pd->uid, pd->pdn));
}
