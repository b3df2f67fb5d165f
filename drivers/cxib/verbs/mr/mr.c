// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: all memory for the kernel, pinned pages of programs, memory on the device. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>
#include <rdma/ib_umem.h>
#include <rdma/iter.h>

#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp.h"
#include "verbs/signature/integrity.h"

/* What a memory key can be made to allow. */
#define ACCESS_SUPPORTED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/*
 * The same for regions of programs, and for pages and windows behind them. What the
 * core lets through besides says something of the memory or of addresses that the
 * driver does not need to know: where huge pages are it sees itself, and the core
 * gives the address that requests begin with.
 */
#define USER_ACCESS	(ACCESS_SUPPORTED | IB_ACCESS_MW_BIND | IB_ACCESS_HUGETLB | IB_ZERO_BASED)

/* Lists of translations are read in such units. */
#define LIST_UNIT	64

/* As many pages go along with the command that makes a key: 64 KiB of translations. */
#define PAGES_IN_COMMAND	8192

#define MTTS_PER_OCTWORD	2

/* What a translation allows, in the low bits of the page's address. */
#define PAGE_READ	BIT(0)
#define PAGE_WRITE	BIT(1)

static void fill_ordering(const struct cxib_hw *hw, struct cxib_mkey_params *params)
{
	params->relaxed_ordering_write = hw->caps.relaxed_ordering_write;
	params->relaxed_ordering_read = hw->caps.relaxed_ordering_read ||
			       (hw->caps.relaxed_ordering_read_pci_enabled &&
				pcie_relaxed_ordering_enabled(to_pci_dev(hw->bus->dev)));
}

static void fill_access(const struct cxib_hw *hw, struct cxib_mkey_params *params, int access)
{
	params->local_write = access & IB_ACCESS_LOCAL_WRITE;
	params->remote_read = access & IB_ACCESS_REMOTE_READ;
	params->remote_write = access & IB_ACCESS_REMOTE_WRITE;
	params->remote_atomic = access & IB_ACCESS_REMOTE_ATOMIC;
	if (access & IB_ACCESS_RELAXED_ORDERING)
		fill_ordering(hw, params);
}

/**
 * cxib_next_mkey_variant() - the lower 8 bits of the next memory key
 * @ibdev: RDMA device
 *
 * Return: another value each time, so that keys of the past are refused.
 */
u8 cxib_next_mkey_variant(struct cxib_ibdev *ibdev)
{
	return atomic_inc_return(&ibdev->key_variant);
}

static int create_key(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	int err;

	params->pd = to_pd(pd)->pdn;
	params->variant = cxib_next_mkey_variant(ibdev);
	err = cxib_cmd_create_mkey(commands_of(ibdev), params, &mr->ib.lkey);
	mr->ib.rkey = mr->ib.lkey;
	return err;
}

/**
 * cxib_mr_create_mkey() - a region of a program gets its key
 * @mr: the region, with its IB_ACCESS_…
 * @pd: protection domain
 * @params: what the key shall be; completed
 *
 * Return: as cxib_cmd_create_mkey().
 */
int cxib_mr_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params)
{
	fill_access(to_ibdev(pd->device)->hw, params, mr->access);
	return create_key(mr, pd, params);
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
	fill_access(to_ibdev(ib->device)->hw, &params, access);
	err = create_key(mr, ib, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/* As large as the memory and the key allow; 0: none will do. */
static unsigned long choose_page_size(struct cxib_ibdev *ibdev, struct ib_umem *umem, u64 address)
{
	/* Five bits say how large a page is; the device cannot do less than its own pages. */
	const unsigned long sizes = GENMASK(31, ibdev->hw->caps.log_pg_sz);
	unsigned long page_size = ib_umem_find_best_pgsz(umem, sizes, address);

	if (!page_size)
		ibdev_dbg(&ibdev->ib,
			  "memory at 0x%lx cannot be registered as 0x%llx: they differ within a page\n",
			  umem->address, address);
	return page_size;
}

/**
 * struct pages - pages of a program's memory that a key shall have
 * @umem: the memory
 * @size: bytes of each page
 */
struct pages {
	struct ib_umem *umem;
	unsigned long size;
};

/* All pages go along with the command. */
static int create_implicit_key(struct cxib_mr *mr, struct ib_pd *pd, const struct pages *pages,
			       struct cxib_mkey_params *params)
{
	struct ib_block_iter block;
	__be64 *entries;
	size_t i = 0;
	int err;

	entries = kvcalloc(mr->max_descs, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(pages->umem, &block, pages->size)
		entries[i++] = cpu_to_be64(rdma_block_iter_dma_address(&block));
	params->page_count = mr->max_descs;
	params->pages = entries;
	err = create_key(mr, pd, params);
	kvfree(entries);
	return err;
}

static void copy_entries(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	memcpy(entries, context, change->xlt_count * sizeof(*entries));
}

/* A piece at a time, with @entries to gather it in; then the key can be used. */
static int write_pages(struct cxib_ibdev *ibdev, u32 key, const struct pages *pages,
		       const struct cxib_mkey_params *params, __be64 *entries)
{
	struct cxib_umr_change change = { .key = key, .params = params, .is_free = true };
	size_t left = ib_umem_num_dma_blocks(pages->umem, pages->size);
	struct ib_block_iter block;
	int err;

	rdma_umem_for_each_dma_block(pages->umem, &block, pages->size) {
		entries[change.xlt_count++] = cpu_to_be64(rdma_block_iter_dma_address(&block) |
							  PAGE_READ | PAGE_WRITE);
		if (--left && change.xlt_count < CXIB_UMR_MTT_MAX)
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		err = cxib_umr_execute(ibdev, &change, copy_entries, entries);
		if (err)
			return err;
		change.xlt_offset += change.xlt_count;
		change.xlt_count = 0;
	}
	return cxib_umr_clear_free(ibdev, key);
}

/*
 * A key without pages, which requests write then: a command with millions of them
 * would be longer than the device takes, and need as much memory of the kernel.
 */
static int create_key_in_parts(struct cxib_mr *mr, struct ib_pd *pd, const struct pages *pages,
			       struct cxib_mkey_params *params)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	__be64 *entries;
	int err;

	err = cxib_umr_prepare(ibdev);
	if (err)
		return err;
	entries = kmalloc_array(CXIB_UMR_MTT_MAX, sizeof(*entries), GFP_KERNEL_ACCOUNT);
	if (!entries)
		return -ENOMEM;
	params->xlt_octowords = mr->max_descs / MTTS_PER_OCTWORD;
	err = create_key(mr, pd, params);
	if (err)
		goto free_entries;
	err = write_pages(ibdev, mr->ib.lkey, pages, params, entries);
	if (err)
		cxib_end_in_device(ibdev, NULL,
				   cxib_cmd_destroy_mkey(commands_of(ibdev), mr->ib.lkey));
free_entries:
	kfree(entries);
	return err;
}

/* Whether requests reach all entries of a key. */
static bool can_write_entries(const struct cxib_hw *hw, size_t count)
{
	return hw->caps.imaicl && (hw->caps.umr_extended_translation_offset ||
				   count <= CXIB_ENTRIES_REACHED);
}

/* Makes a key of the pages of a program's memory that is pinned. */
static int register_pages(struct cxib_mr *mr, struct ib_umem *umem, struct ib_pd *pd, u64 address)
{
	const struct cxib_hw *hw = to_ibdev(pd->device)->hw;
	const struct pages pages = {
		.umem = umem, .size = choose_page_size(to_ibdev(pd->device), umem, address),
	};
	struct cxib_mkey_params params = {
		.start_addr = address, .length = umem->length, .umr_en = hw->caps.imaicl,
	};

	if (!pages.size)
		return -EINVAL;
	params.log_page_size = ilog2(pages.size);
	fill_access(hw, &params, mr->access);
	/* Requests that change the key write entries by the unit. */
	mr->max_descs = ALIGN(ib_umem_num_dma_blocks(umem, pages.size), CXIB_UMR_MTT_ALIGN);
	mr->ib.iova = address;
	mr->ib.length = umem->length;
	if (mr->max_descs > PAGES_IN_COMMAND && can_write_entries(hw, mr->max_descs))
		return create_key_in_parts(mr, pd, &pages, &params);
	return create_implicit_key(mr, pd, &pages, &params);
}

static int check_access(struct ib_device *ib, int access)
{
	/* What is optional may be ignored. */
	u32 able = USER_ACCESS | IB_ACCESS_OPTIONAL;

	/* A fault through a window names the window, not the region behind it. */
	if (access & IB_ACCESS_ON_DEMAND)
		able = (able | CXIB_ODP_ACCESS) & ~IB_ACCESS_MW_BIND;
	if (!(access & ~able))
		return 0;
	ibdev_dbg(ib, "access flags 0x%x: only those of 0x%x are supported\n", access, able);
	return -EOPNOTSUPP;
}

/* A region of memory that is pinned; it goes over to the region, or is released. */
static struct ib_mr *register_pinned(struct ib_pd *ib, struct ib_umem *umem, u64 address,
				     int access)
{
	struct cxib_mr *mr;
	int err = -ENOMEM;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto release_umem;
	mr->access = access;
	mr->umem = umem;
	err = register_pages(mr, umem, ib, address);
	if (err)
		goto free_mr;
	return &mr->ib;

free_mr:
	kfree(mr);
release_umem:
	cxib_release_umem(to_ibdev(ib->device), umem, err);
	return ERR_PTR(err);
}

struct ib_mr *cxib_reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			       int access, struct ib_udata *udata)
{
	struct ib_umem *umem;
	int err;

	err = check_access(ib->device, access);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return cxib_reg_odp_mr(ib, start, length, address, access);
	umem = ib_umem_get(ib->device, start, length, access);
	return IS_ERR(umem) ? ERR_CAST(umem) : register_pinned(ib, umem, address, access);
}

/*
 * A buffer that is shared with another device (dma-buf). It stays where it is as
 * long as there is the region, if who has it to share agrees to that.
 */
#ifdef CXIB_LACKS_SHARED_BUFFER_ATTRIBUTES
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access, struct ib_udata *udata)
#else
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access, struct uverbs_attr_bundle *attrs)
#endif
{
	struct ib_umem_dmabuf *buffer;
	int err;

	err = check_access(ib->device, access);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	buffer = ib_umem_dmabuf_get_pinned(ib->device, offset, length, fd, access);
	return IS_ERR(buffer) ? ERR_CAST(buffer) :
				register_pinned(ib, &buffer->umem, address, access);
}

/* Pages that were pinned for reading cannot be written to. */
static bool pages_will_do(const struct ib_umem *umem, int access)
{
	return umem->writable || !ib_access_writable(access);
}

/* Another key of the pages that @old has, which go over to it. */
static struct ib_mr *take_over(struct cxib_mr *old, struct ib_pd *pd, int access)
{
	struct cxib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	err = register_pages(mr, old->umem, pd, old->ib.iova);
	if (err) {
		old->umem_error = err;
		kfree(mr);
		return ERR_PTR(err);
	}
	mr->umem = old->umem;
	old->umem = NULL;
	return &mr->ib;
}

/* Requests change the ordering and the atomic right only where the device says so. */
static bool access_can_change(const struct cxib_hw *hw, int from, int to)
{
	const struct cxib_device_caps *caps = &hw->caps;

	if ((from ^ to) & IB_ACCESS_REMOTE_ATOMIC && caps->umr_modify_atomic_disabled)
		return false;
	if (!((from ^ to) & IB_ACCESS_RELAXED_ORDERING))
		return true;
	return caps->relaxed_ordering_write_umr && caps->relaxed_ordering_read_umr;
}

static u64 access_mask(const struct cxib_hw *hw)
{
	u64 mask = HW_MKEY_MASK_LR | HW_MKEY_MASK_LW | HW_MKEY_MASK_RR | HW_MKEY_MASK_RW;

	if (!hw->caps.umr_modify_atomic_disabled)
		mask |= HW_MKEY_MASK_A;
	if (hw->caps.relaxed_ordering_write_umr)
		mask |= HW_MKEY_MASK_RELAXED_ORDERING_WRITE;
	if (hw->caps.relaxed_ordering_read_umr)
		mask |= HW_MKEY_MASK_RELAXED_ORDERING_READ;
	return mask;
}

static void fill_pages(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const struct pages *pages = context;
	struct ib_block_iter block;
	size_t i = 0;

	rdma_umem_for_each_dma_block(pages->umem, &block, pages->size)
		entries[i++] = cpu_to_be64(rdma_block_iter_dma_address(&block) |
					   PAGE_READ | PAGE_WRITE);
}

/**
 * struct rereg - what a region shall be
 * @pd: its protection domain
 * @access: IB_ACCESS_…
 * @umem: other memory; NULL: it keeps what it has
 * @address: what it begins with, if there is other memory
 */
struct rereg {
	struct ib_pd *pd;
	int access;
	struct ib_umem *umem;
	u64 address;
};

/* Returns false if the key has no room for the pages, or a request has none. */
static bool list_new_pages(struct cxib_mr *mr, const struct rereg *rereg, struct pages *pages,
			   struct cxib_umr_change *change, struct cxib_mkey_params *params)
{
	size_t count;

	pages->umem = rereg->umem;
	pages->size = choose_page_size(to_ibdev(mr->ib.device), rereg->umem, rereg->address);
	if (!pages->size)
		return false;
	count = ib_umem_num_dma_blocks(rereg->umem, pages->size);
	if (count > mr->max_descs || count > CXIB_UMR_MTT_MAX)
		return false;
	change->xlt_count = count;
	change->mask |= HW_MKEY_MASK_LEN | HW_MKEY_MASK_START_ADDR | HW_MKEY_MASK_PAGE_SIZE;
	params->start_addr = rereg->address;
	params->length = rereg->umem->length;
	params->log_page_size = ilog2(pages->size);
	return true;
}

/* One request, so a transfer meets the region as it was or as it shall be. */
static int change_in_place(struct cxib_mr *mr, const struct rereg *rereg)
{
	struct cxib_ibdev *ibdev = to_ibdev(mr->ib.device);
	struct cxib_mkey_params params = { .pd = to_pd(rereg->pd)->pdn };
	struct cxib_umr_change change = {
		.key = mr->ib.lkey, .params = &params,
		.mask = HW_MKEY_MASK_PD | access_mask(ibdev->hw),
	};
	struct pages pages;
	int err;

	if (!access_can_change(ibdev->hw, mr->access, rereg->access))
		return -EOPNOTSUPP;
	fill_access(ibdev->hw, &params, rereg->access);
	if (rereg->umem && !list_new_pages(mr, rereg, &pages, &change, &params))
		return -EOPNOTSUPP;
	err = cxib_umr_prepare(ibdev) ?: cxib_umr_execute(ibdev, &change, fill_pages, &pages);
	if (!err)
		mr->access = rereg->access;
	return err;
}

/* Other memory behind the same keys, or behind new ones. */
static struct ib_mr *exchange_memory(struct cxib_mr *mr, struct rereg *rereg, u64 start,
				     u64 length, struct ib_udata *udata)
{
	int err;

	rereg->umem = ib_umem_get(mr->ib.device, start, length, rereg->access);
	if (IS_ERR(rereg->umem))
		return ERR_CAST(rereg->umem);
	err = mr->umem_in_doubt ? -EOPNOTSUPP : change_in_place(mr, rereg);
	if (!err) {
		ib_umem_release(mr->umem);
		mr->umem = rereg->umem;
		return NULL;
	}
	/* A device that was asked may make the change yet: the pages stay until the key is gone. */
	if (err == -EOPNOTSUPP)
		ib_umem_release(rereg->umem);
	else
		mr->umem_in_doubt = rereg->umem;
	return cxib_reg_user_mr(rereg->pd, start, length, rereg->address, rereg->access,
				udata);
}

/* Pages that come in on demand have a key that knows of it. */
static bool is_odp(const struct cxib_mr *mr)
{
	return mr->umem && mr->umem->is_odp;
}

static struct ib_mr *change_rights(struct cxib_mr *mr, const struct rereg *rereg,
				   struct ib_udata *udata)
{
	if (!pages_will_do(mr->umem, rereg->access))
		return cxib_reg_user_mr(rereg->pd, mr->umem->address, mr->umem->length,
					mr->ib.iova, rereg->access, udata);
	if (!change_in_place(mr, rereg))
		return NULL;
	return take_over(mr, rereg->pd, rereg->access);
}

/*
 * The region stays, with its keys, if that is possible. Otherwise the core gets
 * a new one and destroys the old one, whose keys end with it.
 */
struct ib_mr *cxib_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length,
				 u64 address, int access, struct ib_pd *pd,
				 struct ib_udata *udata)
{
	const int known = IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS;
	struct cxib_mr *mr = to_mr(ib);
	struct rereg rereg = {
		.pd = flags & IB_MR_REREG_PD ? pd : ib->pd,
		.access = flags & IB_MR_REREG_ACCESS ? access : mr->access,
		.address = address,
	};
	int err;

	if (flags & ~known || !mr->umem) {
		ibdev_dbg(ib->device,
			  "a region of %s cannot be registered again (flags 0x%x of 0x%x)\n",
			  mr->umem ? "pages" : "memory on the device", flags, known);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (mr->umem->is_dmabuf) {
		ibdev_dbg(ib->device, "a region of a shared buffer cannot be registered again\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (is_odp(mr) && cxib_odp_is_implicit(to_odp_mr(ib))) {
		ibdev_dbg(ib->device,
			  "a region of a whole address space cannot be registered again\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	err = check_access(ib->device, rereg.access);
	if (err)
		return ERR_PTR(err);
	if (is_odp(mr) || rereg.access & IB_ACCESS_ON_DEMAND) {
		if (flags & IB_MR_REREG_TRANS)
			return cxib_reg_user_mr(rereg.pd, start, length, address,
						rereg.access, udata);
		return cxib_reg_user_mr(rereg.pd, mr->umem->address, mr->umem->length,
					ib->iova, rereg.access, udata);
	}
	if (flags & IB_MR_REREG_TRANS)
		return exchange_memory(mr, &rereg, start, length, udata);
	return change_rights(mr, &rereg, udata);
}

/**
 * cxib_reg_memic_mr() - a region of memory on the device
 * @ib: protection domain
 * @start: where it begins in BAR 0
 * @length: its bytes
 * @access: IB_ACCESS_…; addresses in requests begin with 0
 *
 * Return: the region, or an ERR_PTR().
 */
struct ib_mr *cxib_reg_memic_mr(struct ib_pd *ib, u64 start, u64 length, int access)
{
	struct cxib_mkey_params params = { .memic = true, .start_addr = start, .length = length };
	struct cxib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	mr->access = access;
	mr->ib.length = length;
	fill_access(to_ibdev(ib->device)->hw, &params, access);
	err = create_key(mr, ib, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}

/**
 * cxib_mr_alloc_descs() - memory for the translations that a request registers
 * @ib: RDMA device
 * @mr: with entry_size and entry_most
 *
 * Context: process context, may sleep.
 * Return: 0, or -ENOMEM.
 */
int cxib_mr_alloc_descs(struct ib_device *ib, struct cxib_mr *mr)
{
	struct device *dev = to_ibdev(ib)->hw->bus->dev;

	/* A power of two is aligned, and ends where a unit of the device's does. */
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

/* What the device reads of a list of @count translations. */
static unsigned int descs_octwords(const struct cxib_mr *mr, unsigned int count)
{
	return ALIGN(count * mr->desc_size, LIST_UNIT) / sizeof(struct hw_klm);
}

/**
 * cxib_mr_set_ndescs() - what requests say of the translations is known
 * @mr: with entry_size, and the size of its pages
 * @count: entries that are filled; 0: there are none to register
 */
void cxib_mr_set_ndescs(struct cxib_mr *mr, unsigned int count)
{
	mr->ndescs = count;
	mr->xlt_octowords = descs_octwords(mr, count);
	mr->log_page_size = ilog2(mr->ib.page_size);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_set_ndescs);

/* No request reads the list any more. */
void cxib_mr_free_descs(struct ib_device *ib, struct cxib_mr *mr)
{
	dma_unmap_single(to_ibdev(ib)->hw->bus->dev, mr->desc_map, mr->list_size, DMA_TO_DEVICE);
	kfree(mr->descs);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_mr_free_descs);

/* A region that requests register: its key is free until then. */
struct ib_mr *cxib_alloc_mr(struct ib_pd *ib, enum ib_mr_type type, u32 max)
{
	struct cxib_mkey_params params = {
		.indirect = type == IB_MR_TYPE_SG_GAPS,
		.log_page_size = PAGE_SHIFT,
	};
	struct cxib_mr *mr;
	int err;

	if (type != IB_MR_TYPE_MEM_REG && type != IB_MR_TYPE_SG_GAPS)
		return ERR_PTR(-EOPNOTSUPP);
	if (!max || max > CXIB_FAST_REG_MAX) {
		ibdev_dbg(ib->device, "a region of %u pages is not possible, 1 to %u are\n", max,
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
	params.xlt_octowords = descs_octwords(mr, max);
	err = create_key(mr, ib, &params);
	if (err)
		goto free_list;
	return &mr->ib;

free_list:
	cxib_mr_free_descs(ib->device, mr);
free_mr:
	kfree(mr);
	return ERR_PTR(err);
}

static int add_page(struct ib_mr *ib, u64 address)
{
	struct cxib_mr *mr = to_mr(ib);
	__be64 *pages = mr->descs;

	if (mr->ndescs == mr->max_descs)
		return -ENOMEM;
	pages[mr->ndescs++] = cpu_to_be64(address | PAGE_READ | PAGE_WRITE);
	return 0;
}

/* Pieces of any length; only the first one may begin somewhere within. */
static int map_klms(struct cxib_mr *mr, struct scatterlist *list, int count,
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
	mapped = mr->is_indirect ? map_klms(mr, list, count, offset) :
				   ib_sg_to_pages(ib, list, count, offset, add_page);
	dma_sync_single_for_device(dev, mr->desc_map, mr->list_size, DMA_TO_DEVICE);
	cxib_mr_set_ndescs(mr, mr->ndescs);
	return mapped;
}

int cxib_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_mr *mr = to_mr(ib);
	int err;

	if (ib->type == IB_MR_TYPE_INTEGRITY) {
		cxib_free_sig_mr(to_sig_mr(ib));
		return 0;
	}
	if (is_odp(mr))
		return cxib_dereg_odp_mr(ib, udata);
	err = cxib_end_in_device(ibdev, udata, cxib_cmd_destroy_mkey(commands_of(ibdev), ib->lkey));
	if (err)
		return err;
	cxib_release_umem(ibdev, mr->umem, mr->umem_error);
	ib_umem_release(mr->umem_in_doubt);
	if (mr->descs)
		cxib_mr_free_descs(ib->device, mr);
	kfree(mr);
	return 0;
}
