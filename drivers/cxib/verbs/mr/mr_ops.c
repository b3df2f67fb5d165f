// SPDX-License-Identifier: GPL-2.0-only
/* Operations of MRs whose prototypes differ between kernels. */
#include "verbs/mr/mr.h"

#ifdef CXIB_LACKS_DMA_HANDLES

static struct ib_mr *reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address, int access,
				 struct ib_udata *udata)
{
	return cxib_reg_user_mr(ib, start, length, address, access);
}

#ifdef CXIB_LACKS_SHARED_BUFFER_ATTRIBUTES
static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
					int fd, int access, struct ib_udata *udata)
#else
static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
					int fd, int access, struct uverbs_attr_bundle *attrs)
#endif
{
	return cxib_reg_user_mr_dmabuf(ib, offset, length, address, fd, access);
}

#else

/* The driver has no alloc_dmah(), so the RDMA core passes no DMA handle. */
static struct ib_mr *reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address, int access,
				 struct ib_dmah *dmah, struct ib_udata *udata)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return cxib_reg_user_mr(ib, start, length, address, access);
}

static struct ib_mr *reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
					int fd, int access, struct ib_dmah *dmah,
					struct uverbs_attr_bundle *attrs)
{
	if (dmah)
		return ERR_PTR(-EOPNOTSUPP);
	return cxib_reg_user_mr_dmabuf(ib, offset, length, address, fd, access);
}

#endif

const struct ib_device_ops cxib_mr_ops = {
	.reg_user_mr = reg_user_mr,
	.reg_user_mr_dmabuf = reg_user_mr_dmabuf,
};
