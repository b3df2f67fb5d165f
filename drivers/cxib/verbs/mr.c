// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: all memory for the kernel, pinned pages of programs. */
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "hw/objects.h"
#include "hw/work_queue.h"
#include "verbs/verbs.h"

/* What a memory key can be made to allow. */
#define ACCESS_SUPPORTED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/* Lists of translations are read in such units. */
#define LIST_UNIT	64

/* What a translation allows, in the low bits of the page's address. */
#define PAGE_READ	BIT(0)
#define PAGE_WRITE	BIT(1)

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

static int make_list(struct ib_device *ib, struct cxib_mr *mr)
{
	struct device *dev = to_verbs(ib)->hw->bus->dev;

	/* A power of two is aligned, and ends where a unit of the device's does. */
	mr->list_size = roundup_pow_of_two(max_t(size_t, mr->entry_most * mr->entry_size,
						 LIST_UNIT));
	mr->list = kzalloc(mr->list_size, GFP_KERNEL);
	if (!mr->list)
		return -ENOMEM;
	mr->list_dma = dma_map_single(dev, mr->list, mr->list_size, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, mr->list_dma)) {
		kfree(mr->list);
		return -ENOMEM;
	}
	return 0;
}

static void free_list(struct ib_device *ib, struct cxib_mr *mr)
{
	dma_unmap_single(to_verbs(ib)->hw->bus->dev, mr->list_dma, mr->list_size, DMA_TO_DEVICE);
	kfree(mr->list);
}

/* A region that requests register: its key is free until then. */
struct ib_mr *cxib_alloc_mr(struct ib_pd *ib, enum ib_mr_type type, u32 most)
{
	struct cxib_mkey_params params = {
		.indirect = type == IB_MR_TYPE_SG_GAPS,
		.log_page_size = PAGE_SHIFT,
	};
	struct cxib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!most || most > CXIB_REGISTRATION_MAX) {
		ibdev_dbg(ib->device, "a region of %u pages is not possible, 1 to %u are\n", most,
			  CXIB_REGISTRATION_MAX);
		return ERR_PTR(-EINVAL);
	}
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->is_indirect = params.indirect;
	mr->entry_size = mr->is_indirect ? sizeof(struct hw_klm) : sizeof(struct hw_mtt);
	mr->entry_most = most;
	err = make_list(ib->device, mr);
	if (err)
		goto free_mr;
	params.octwords = ALIGN(most * mr->entry_size, LIST_UNIT) / sizeof(struct hw_klm);
	err = create_key(mr, ib, &params);
	if (err)
		goto free_list;
	return &mr->ib;

free_list:
	free_list(ib->device, mr);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

static int add_page(struct ib_mr *ib, u64 address)
{
	struct cxib_mr *mr = to_mr(ib);
	__be64 *pages = mr->list;

	if (mr->entry_count == mr->entry_most)
		return -ENOMEM;
	pages[mr->entry_count++] = cpu_to_be64(address | PAGE_READ | PAGE_WRITE);
	return 0;
}

/* Pieces of any length; only the first one may begin somewhere within. */
static int map_pieces(struct cxib_mr *mr, struct scatterlist *list, int count,
		      unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct hw_klm *entries = mr->list;
	struct scatterlist *piece;
	int i;

	mr->ib.iova = sg_dma_address(list) + skip;
	mr->ib.length = 0;
	for_each_sg(list, piece, min_t(int, count, mr->entry_most), i) {
		unsigned int length = sg_dma_len(piece) - skip;

		hw_klm_pack(&entries[i], length, mr->ib.pd->local_dma_lkey,
			    sg_dma_address(piece) + skip);
		mr->ib.length += length;
		skip = 0;
	}
	mr->entry_count = i;
	if (offset)
		*offset = 0;
	return i;
}

int cxib_map_mr(struct ib_mr *ib, struct scatterlist *list, int count, unsigned int *offset)
{
	struct device *dev = to_verbs(ib->device)->hw->bus->dev;
	struct cxib_mr *mr = to_mr(ib);
	int mapped;

	if (count <= 0)
		return -EINVAL;
	dma_sync_single_for_cpu(dev, mr->list_dma, mr->list_size, DMA_TO_DEVICE);
	memset(mr->list, 0, mr->list_size);
	mr->entry_count = 0;
	mapped = mr->is_indirect ? map_pieces(mr, list, count, offset) :
				   ib_sg_to_pages(ib, list, count, offset, add_page);
	dma_sync_single_for_device(dev, mr->list_dma, mr->list_size, DMA_TO_DEVICE);
	return mapped;
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
	if (mr->list)
		free_list(ib->device, mr);
	kfree(mr);
	return 0;
}
