// SPDX-License-Identifier: GPL-2.0-only
/* Operations of CQs whose prototypes differ between kernels. */
#include <rdma/uverbs_ioctl.h>

#include "user/user.h"
#include "verbs/cq/cq.h"

#ifdef CXIB_LACKS_CQ_ATTRIBUTES
/* The attribute bundle contains the driver data of the request. */
static int cq_ops_create(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
			 struct ib_udata *udata)
{
	return cxib_create_cq(ib, attr, udata ?
			      container_of(udata, struct uverbs_attr_bundle, driver_udata) :
			      NULL);
}
#endif

#ifdef CXIB_LACKS_RESIZE_USER_CQ
static int cq_ops_resize(struct ib_cq *ib, int entries, struct ib_udata *udata)
{
	if (!udata)
		return cxib_resize_cq_kernel(ib, entries);
	/* A negative number becomes a number above max_cqe, which is refused. */
	return cxib_resize_cq_user(ib, entries, udata);
}
#endif

const struct ib_device_ops cxib_cq_ops = {
#ifdef CXIB_LACKS_CQ_ATTRIBUTES
	.create_cq = cq_ops_create,
#else
	.create_cq = cxib_create_cq,
#endif
#ifdef CXIB_LACKS_RESIZE_USER_CQ
	.resize_cq = cq_ops_resize,
#else
	.resize_user_cq = cxib_resize_cq_user,
#endif
};
