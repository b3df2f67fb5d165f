// SPDX-License-Identifier: GPL-2.0-only
/* Protection domains. */
#include <rdma/mlx5-abi.h>

#include "hw/objects.h"
#include "verbs/verbs.h"

int cxib_create_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	struct cxib_pd *pd = to_pd(ib);
	struct mlx5_ib_alloc_pd_resp response;
	int err;

	err = cxib_alloc_pd(commands_of(verbs), pd->uid, &pd->number);
	if (err || !udata)
		return err;
	response.pdn = pd->number;
	err = ib_copy_to_udata(udata, &response, min(sizeof(response), udata->outlen));
	if (err)
		cxib_end_in_device(verbs, NULL,
				   cxib_dealloc_pd(commands_of(verbs), pd->uid, pd->number));
	return err;
}

int cxib_destroy_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	struct cxib_pd *pd = to_pd(ib);

	return cxib_end_in_device(verbs, udata,
				  cxib_dealloc_pd(commands_of(verbs), pd->uid, pd->number));
}
