// SPDX-License-Identifier: GPL-2.0-only
/* PDs of user space. */
#include <rdma/uverbs_ioctl.h>

#include "user/user.h"

static int upd_create_user(struct ib_pd *ib, struct cxib_ucontext *context, struct ib_udata *udata)
{
	struct cxib_pd *pd = to_pd(ib);
	int err;

	pd->uid = context->uid;
	/*
	 * dealloc_pd erases the PDN after the command, but firmware may already give the PDN to
	 * this PD. So dealloc_pd must not run at the same time.
	 */
	guard(rwsem_read)(&context->references);
	err = cxib_alloc_pd_kernel(ib, udata);
	if (err)
		return err;
	err = xa_insert(&context->domains, pd->pdn, pd, GFP_KERNEL);
	if (err)
		cxib_abort_pd(pd, udata);
	return err;
}

int cxib_alloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	if (!udata)
		return cxib_alloc_pd_kernel(ib, NULL);
	return upd_create_user(ib, rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib),
			       udata);
}

int cxib_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata)
{
	struct cxib_ucontext *context;
	int err;

	if (!udata)
		return cxib_dealloc_pd_kernel(ib, NULL);
	context = rdma_udata_to_drv_context(udata, struct cxib_ucontext, ib);
	guard(rwsem_write)(&context->references);
	err = cxib_dealloc_pd_kernel(ib, udata);
	if (!err)
		xa_erase(&context->domains, to_pd(ib)->pdn);
	return err;
}
