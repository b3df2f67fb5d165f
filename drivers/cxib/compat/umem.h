/* SPDX-License-Identifier: GPL-2.0-only */
/* umem functions under the names of the newest kernel. */
#ifndef CXIB_COMPAT_UMEM_H
#define CXIB_COMPAT_UMEM_H

#include <rdma/ib_umem.h>

#ifdef CXIB_LACKS_UMEM_VA
static inline struct ib_umem *ib_umem_get_va(struct ib_device *device, unsigned long addr,
					     size_t size, int access)
{
	return ib_umem_get(device, addr, size, access);
}
#endif

#endif
