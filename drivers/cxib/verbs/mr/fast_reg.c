// SPDX-License-Identifier: GPL-2.0-only
/* Fast-registration MRs: the translation list that a REG_MR WQE refers to. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/scatterlist.h>

#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/verbs.h"

/* The device reads a translation list in units of this number of bytes. */
#define LIST_UNIT	64

/**
 * cxib_mr_alloc_descs() - allocate and map the translation list of a fast-registration MR
 * @ib: RDMA device
 * @mr: with max_descs and desc_size
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int cxib_mr_alloc_descs(struct ib_device *ib, struct cxib_mr *mr)
{
	struct device *dev = to_ibdev(ib)->hw->bus->dev;

	/* Memory whose size is a power of two is naturally aligned, and a multiple of LIST_UNIT. */
	mr->list_size = roundup_pow_of_two(max_t(size_t, mr->max_descs * mr->desc_size,
						 LIST_UNIT));
	mr->descs = kzalloc(mr->list_size, GFP_KERNEL);
	if (!mr->descs)
		return -ENOMEM;
	mr->desc_map = dma_map_single(dev, mr->descs, mr->list_size, DMA_TO_DEVICE);
	if (dma_mapping_error(dev, mr->desc_map)) {
		kfree(mr->descs);
		return -ENOMEM;
	}
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_alloc_descs);

/* Number of octowords that the device reads of a list of @count translations. */
static unsigned int fast_reg_descs_octowords(const struct cxib_mr *mr, unsigned int count)
{
	return ALIGN(count * mr->desc_size, LIST_UNIT) / sizeof(struct hw_klm);
}

/**
 * cxib_mr_set_ndescs() - set the length of the translation list
 * @mr: with desc_size and the page size
 * @count: number of translations in the list; 0: no list is registered
 */
void cxib_mr_set_ndescs(struct cxib_mr *mr, unsigned int count)
{
	mr->ndescs = count;
	mr->xlt_octowords = fast_reg_descs_octowords(mr, count);
	mr->log_page_size = mr->is_indirect ? 0 : ilog2(mr->ib.page_size);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_set_ndescs);

/* The caller ensures that no outstanding WQE refers to the list. */
void cxib_mr_free_descs(struct ib_device *ib, struct cxib_mr *mr)
{
	dma_unmap_single(to_ibdev(ib)->hw->bus->dev, mr->desc_map, mr->list_size, DMA_TO_DEVICE);
	kfree(mr->descs);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_free_descs);

/* Creates a fast-registration MR. Its mkey is in the free state until a WQE registers it. */
struct ib_mr *cxib_alloc_mr(struct ib_pd *ib, enum ib_mr_type type, u32 max)
{
	struct cxib_mkey_params params = {
		.indirect = type == IB_MR_TYPE_SG_GAPS,
		/* Each KLM has its own length. */
		.log_page_size = type == IB_MR_TYPE_SG_GAPS ? 0 : PAGE_SHIFT,
	};
	struct cxib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max || max > CXIB_FAST_REG_MAX) {
		ibdev_dbg(ib->device, "alloc MR: %u pages out of range [1, %u]\n", max,
			  CXIB_FAST_REG_MAX);
		return ERR_PTR(-EINVAL);
	}
	if (params.indirect) {
		err = cxib_pd_create_dma_mkey(ib);
		if (err)
			return ERR_PTR(err);
	}
	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->is_indirect = params.indirect;
	mr->desc_size = mr->is_indirect ? sizeof(struct hw_klm) : sizeof(struct hw_mtt);
	mr->max_descs = max;
	err = cxib_mr_alloc_descs(ib->device, mr);
	if (err)
		goto free_mr;
	params.xlt_octowords = fast_reg_descs_octowords(mr, max);
	cxib_mkey_relax_ordering(to_ibdev(ib->device)->hw, &params);
	err = cxib_create_mkey(mr, ib, &params);
	if (err)
		goto free_list;
	return &mr->ib;

free_list:
	cxib_mr_free_descs(ib->device, mr);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_alloc_mr);

static int fast_reg_add_page(struct ib_mr *ib, u64 address)
{
	struct cxib_mr *mr = to_mr(ib);
	__be64 *pages = mr->descs;

	if (mr->ndescs == mr->max_descs)
		return -ENOMEM;
	pages[mr->ndescs++] = cpu_to_be64(address | CXIB_MTT_READ | CXIB_MTT_WRITE);
	return 0;
}

/* KLMs may have any length. @offset applies to the first entry only. */
static int fast_reg_map_klms(struct cxib_mr *mr, struct scatterlist *list, int count,
			     unsigned int *offset)
{
	unsigned int skip = offset ? *offset : 0;
	struct hw_klm *entries = mr->descs;
	struct scatterlist *sg;
	int i;

	mr->ib.iova = sg_dma_address(list) + skip;
	mr->ib.length = 0;
	for_each_sg(list, sg, min_t(int, count, mr->max_descs), i) {
		unsigned int length = sg_dma_len(sg) - skip;

		hw_klm_pack(&entries[i], length, to_pd(mr->ib.pd)->key,
			    sg_dma_address(sg) + skip);
		mr->ib.length += length;
		skip = 0;
	}
	mr->ndescs = i;
	if (offset)
		*offset = 0;
	return i;
}

int cxib_map_mr_sg(struct ib_mr *ib, struct scatterlist *list, int count, unsigned int *offset)
{
	struct device *dev = to_ibdev(ib->device)->hw->bus->dev;
	struct cxib_mr *mr = to_mr(ib);
	int mapped;

	if (count <= 0)
		return -EINVAL;
	dma_sync_single_for_cpu(dev, mr->desc_map, mr->list_size, DMA_TO_DEVICE);
	memset(mr->descs, 0, mr->list_size);
	mr->ndescs = 0;
	mapped = mr->is_indirect ? fast_reg_map_klms(mr, list, count, offset) :
				   ib_sg_to_pages(ib, list, count, offset, fast_reg_add_page);
	dma_sync_single_for_device(dev, mr->desc_map, mr->list_size, DMA_TO_DEVICE);
	cxib_mr_set_ndescs(mr, mr->ndescs);
	return mapped;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_map_mr_sg);
