// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: all memory for the kernel, pinned pages of programs. */
#include <linux/overflow.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "hw/objects.h"
#include "verbs/verbs.h"

/* What a memory key can be made to allow. */
#define ACCESS_SUPPORTED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

static void fill_access(struct cxib_mkey_params *params, int access)
{
	params->local_write = access & IB_ACCESS_LOCAL_WRITE;
	params->remote_read = access & IB_ACCESS_REMOTE_READ;
	params->remote_write = access & IB_ACCESS_REMOTE_WRITE;
	params->remote_atomic = access & IB_ACCESS_REMOTE_ATOMIC;
}

static u8 next_variant(struct cxib_verbs *verbs)
{
	return atomic_inc_return(&verbs->key_variant);
}

static int create_key(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params)
{
	struct cxib_verbs *verbs = to_verbs(pd->device);
	int err;

	params->pd = to_pd(pd)->number;
	params->variant = next_variant(verbs);
	err = cxib_create_mkey(commands_of(verbs), params, &mr->ib.lkey);
	mr->ib.rkey = mr->ib.lkey;
	return err;
}

/* A key of all memory: addresses in requests are bus addresses. */
struct ib_mr *cxib_get_dma_mr(struct ib_pd *ib, int access)
{
	struct cxib_mkey_params params = {};
	struct cxib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	fill_access(&params, access);
	err = create_key(mr, ib, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

static int list_pages(struct ib_umem *umem, unsigned long page_size,
		      struct cxib_mkey_params *params)
{
	struct ib_block_iter block;
	__be64 *pages;
	size_t i = 0;

	params->page_count = ib_umem_num_dma_blocks(umem, page_size);
	pages = kvcalloc(params->page_count, sizeof(*pages), GFP_KERNEL);
	if (!pages)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(umem, &block, page_size)
		pages[i++] = cpu_to_be64(rdma_block_iter_dma_address(&block));
	params->pages = pages;
	params->log_page_size = ilog2(page_size);
	return 0;
}

/* Makes a key of the pages of a program's memory that is pinned. */
static int register_pages(struct cxib_mr *mr, struct ib_pd *pd, u64 address, int access)
{
	const struct cxib_device_caps *caps = &to_verbs(pd->device)->hw->caps;
	struct cxib_mkey_params params = { .start = address, .length = mr->umem->length };
	unsigned long page_size;
	int err;

	/* Five bits say how large a page is; the device cannot do less than its own pages. */
	page_size = ib_umem_find_best_pgsz(mr->umem, GENMASK(31, caps->log_pg_sz), address);
	if (!page_size) {
		ibdev_dbg(pd->device,
			  "memory at 0x%lx cannot be registered as 0x%llx: they differ within a page\n",
			  mr->umem->address, address);
		return -EINVAL;
	}
	err = list_pages(mr->umem, page_size, &params);
	if (err)
		return err;
	fill_access(&params, access);
	err = create_key(mr, pd, &params);
	kvfree(params.pages);
	return err;
}

struct ib_mr *cxib_register_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
				    int access, struct ib_udata *udata)
{
	struct cxib_mr *mr;
	int err;

	/* What is optional may be ignored. */
	access &= ~IB_ACCESS_OPTIONAL;
	if (access & ~ACCESS_SUPPORTED) {
		ibdev_dbg(ib->device, "access flags 0x%x: only those of 0x%x are supported\n",
			  access, ACCESS_SUPPORTED);
		return ERR_PTR(-EOPNOTSUPP);
	}
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->umem = ib_umem_get(ib->device, start, length, access);
	if (IS_ERR(mr->umem)) {
		err = PTR_ERR(mr->umem);
		goto free_mr;
	}
	err = register_pages(mr, ib, address, access);
	if (err)
		goto release_umem;
	return &mr->ib;

release_umem:
	ib_umem_release(mr->umem);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

int cxib_deregister_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	struct cxib_mr *mr = to_mr(ib);
	int err;

	err = cxib_end_in_device(verbs, udata, cxib_destroy_mkey(commands_of(verbs), ib->lkey));
	if (err)
		return err;
	if (mr->umem)
		ib_umem_release(mr->umem);
	kfree(mr);
	return 0;
}
