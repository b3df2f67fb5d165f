// SPDX-License-Identifier: GPL-2.0-only
/* Memory regions: DMA MRs of the kernel, pinned user memory, fast registration, MEMIC. */
#include <kunit/visibility.h>
#include <linux/dma-mapping.h>
#include <linux/log2.h>
#include <linux/overflow.h>
#include <linux/pci.h>
#include <linux/sched/signal.h>
#include <rdma/iter.h>

#include "compat/umem.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp_mr.h"
#include "verbs/signature/integrity.h"

/* Access rights that an mkey can have. */
#define ACCESS_SUPPORTED	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | \
				 IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_ATOMIC)

/*
 * Rights of user MRs and of the MWs bound to them. IB_ACCESS_HUGETLB and IB_ZERO_BASED need no
 * action: the driver finds huge pages in the umem, and the RDMA core passes the iova.
 */
#define USER_ACCESS	(ACCESS_SUPPORTED | IB_ACCESS_MW_BIND | IB_ACCESS_HUGETLB | IB_ZERO_BASED)

/* Maximum number of MTTs in CREATE_MKEY: 64 KiB in 128 mailboxes. UMR WQEs write longer lists. */
#define PAGES_IN_COMMAND	8192

#define MTTS_PER_OCTOWORD	2

/* Creates an MR of all memory: addresses in WQEs are DMA addresses. */
struct ib_mr *cxib_get_dma_mr(struct ib_pd *ib, int access)
{
	const struct cxib_hw *hw = to_ibdev(ib->device)->hw;
	struct cxib_mkey_params params = {};
	struct cxib_mr *mr;
	int err;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		return ERR_PTR(-ENOMEM);
	cxib_mkey_set_access(hw, &params, access);
	cxib_mkey_relax_ordering(hw, &params);
	err = cxib_create_mkey(mr, ib, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_get_dma_mr);

/* Returns the largest page size that memory and mkey allow; 0: none. */
static unsigned long mr_choose_page_size(struct cxib_ibdev *ibdev, struct ib_umem *umem,
					 u64 address)
{
	/* log_page_size has five bits; the device's page size is the minimum. */
	const unsigned long sizes = GENMASK(31, ibdev->hw->caps.log_pg_sz);
	unsigned long page_size = ib_umem_find_best_pgsz(umem, sizes, address);

	if (!page_size)
		ibdev_dbg(&ibdev->ib,
			  "MR: address 0x%lx and iova 0x%llx differ within a page\n",
			  umem->address, address);
	return page_size;
}

/**
 * struct mr_pages - user memory to be mapped by an mkey
 * @umem: the memory
 * @size: page size in bytes
 */
struct mr_pages {
	struct ib_umem *umem;
	unsigned long size;
};

/* Creates an mkey with all MTTs in CREATE_MKEY. */
static int mr_create_mkey_inline(struct cxib_mr *mr, struct ib_pd *pd, const struct mr_pages *pages,
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
	err = cxib_create_mkey(mr, pd, params);
	kvfree(entries);
	return err;
}

static void mr_copy_entries(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	memcpy(entries, context, change->xlt_count * sizeof(*entries));
}

/* Writes the MTTs by UMR in batches, each through @entries, and enables the mkey. */
static int mr_write_pages(struct cxib_ibdev *ibdev, u32 key, const struct mr_pages *pages,
			  const struct cxib_mkey_params *params, __be64 *entries)
{
	struct cxib_umr_change change = { .key = key, .params = params, .is_free = true };
	size_t left = ib_umem_num_dma_blocks(pages->umem, pages->size);
	struct ib_block_iter block;
	int err;

	rdma_umem_for_each_dma_block(pages->umem, &block, pages->size) {
		entries[change.xlt_count++] = cpu_to_be64(rdma_block_iter_dma_address(&block) |
							  CXIB_MTT_READ | CXIB_MTT_WRITE);
		if (--left && change.xlt_count < CXIB_UMR_MTT_MAX)
			continue;
		if (fatal_signal_pending(current))
			return -EINTR;
		err = cxib_umr_execute(ibdev, &change, mr_copy_entries, entries);
		if (err)
			return err;
		change.xlt_offset += change.xlt_count;
		change.xlt_count = 0;
	}
	return cxib_umr_clear_free(ibdev, key);
}

/* Destroys an mkey that a failed UMR may have enabled. */
static void mr_discard(struct cxib_mr *mr, struct ib_pd *pd)
{
	const struct cxib_destroy destroy = cxib_mkey_destroy(mr->ib.lkey);
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	struct cxib_pinned pinned = { .umem = mr->umem, .umem_users = mr->umem_users };

	cxib_discard_object(ibdev, cxib_pd_context(pd), &destroy, &pinned,
			    cxib_cmd_destroy_mkey(commands_of(ibdev), mr->ib.lkey,
						  cxib_pd_context(pd)));
	mr->umem = pinned.umem;
	mr->umem_users = pinned.umem_users;
}

/*
 * Creates an mkey without MTTs, which UMR WQEs write afterwards: a command with millions of MTTs
 * would exceed the limit of the device, and need as much memory of the kernel as the MTTs.
 */
static int mr_create_mkey_by_umr(struct cxib_mr *mr, struct ib_pd *pd, const struct mr_pages *pages,
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
	params->xlt_octowords = mr->max_descs / MTTS_PER_OCTOWORD;
	err = cxib_create_mkey(mr, pd, params);
	if (err)
		goto free_entries;
	err = mr_write_pages(ibdev, mr->ib.lkey, pages, params, entries);
	if (err)
		mr_discard(mr, pd);
free_entries:
	kfree(entries);
	return err;
}

/* Returns true if the xlt_offset of a UMR WQE can address @count MTTs. */
static bool mr_can_write_entries(const struct cxib_hw *hw, size_t count)
{
	return hw->caps.umr_extended_translation_offset || count <= CXIB_ENTRIES_REACHED;
}

/* Creates an mkey of pinned user memory. */
static int mr_register_pages(struct cxib_mr *mr, struct ib_umem *umem, struct ib_pd *pd,
			     u64 address)
{
	const struct cxib_hw *hw = to_ibdev(pd->device)->hw;
	const struct mr_pages pages = {
		.umem = umem, .size = mr_choose_page_size(to_ibdev(pd->device), umem, address),
	};
	struct cxib_mkey_params params = {
		.start_addr = address, .length = umem->length, .umr_en = true,
	};

	if (!pages.size)
		return -EINVAL;
	params.log_page_size = ilog2(pages.size);
	cxib_mkey_set_access(hw, &params, mr->access);
	/* UMR WQEs write MTTs in units of CXIB_UMR_MTT_ALIGN. */
	mr->max_descs = ALIGN(ib_umem_num_dma_blocks(umem, pages.size), CXIB_UMR_MTT_ALIGN);
	mr->ib.iova = address;
	mr->ib.length = umem->length;
	if (mr->max_descs > PAGES_IN_COMMAND && mr_can_write_entries(hw, mr->max_descs))
		return mr_create_mkey_by_umr(mr, pd, &pages, &params);
	return mr_create_mkey_inline(mr, pd, &pages, &params);
}

static int mr_check_access(struct ib_device *ib, int access)
{
	/* The driver may ignore optional flags. */
	u32 able = USER_ACCESS | IB_ACCESS_OPTIONAL;

	/*
	 * A page fault through an MW names the mkey of the MW instead of the MR, so ODP MRs have no
	 * MWs.
	 */
	if (access & IB_ACCESS_ON_DEMAND)
		able = (able | CXIB_ODP_ACCESS) & ~IB_ACCESS_MW_BIND;
	if (!(access & ~able))
		return 0;
	ibdev_dbg(ib, "MR: unsupported access flags 0x%x (mask 0x%x)\n", access, able);
	return -EOPNOTSUPP;
}

/* Takes over a reference to @umem, which the MR keeps; drops the reference on error. */
static struct ib_mr *mr_register_pinned(struct ib_pd *ib, struct ib_umem *umem, refcount_t *users,
					u64 address, int access)
{
	struct cxib_mr *mr;
	int err = -ENOMEM;

	mr = kzalloc(sizeof(*mr), GFP_KERNEL);
	if (!mr)
		goto release_umem;
	mr->access = access;
	mr->umem = umem;
	mr->umem_users = users;
	err = mr_register_pages(mr, umem, ib, address);
	if (!err)
		return &mr->ib;
	umem = mr->umem;
	kfree(mr);
release_umem:
	cxib_release_shared_umem(to_ibdev(ib->device), umem, users, err);
	return ERR_PTR(err);
}

/**
 * cxib_reg_user_mr() - register memory of user space
 * @ib: PD
 * @start: user address of the first byte
 * @length: bytes
 * @address: address of the first byte in WQEs
 * @access: enum ib_access_flags; untrusted
 *
 * Context: process context of the owner of the memory, may sleep.
 * Return: the MR; -EOPNOTSUPP for access flags that are not supported, -EINVAL if no page size
 * fits, or an error of ib_umem_get_va(), cxib_reg_odp_mr() or CREATE_MKEY.
 */
struct ib_mr *cxib_reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address, int access)
{
	struct ib_umem *umem;
	int err;

	err = mr_check_access(ib->device, access);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return cxib_reg_odp_mr(ib, start, length, address, access);
	umem = ib_umem_get_va(ib->device, start, length, access);
	return IS_ERR(umem) ? ERR_CAST(umem) : mr_register_pinned(ib, umem, NULL, address, access);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_reg_user_mr);

/**
 * cxib_reg_user_mr_dmabuf() - register a dma-buf
 * @ib: PD
 * @offset: offset of the first byte in the buffer
 * @length: bytes
 * @address: address of the first byte in WQEs
 * @fd: file descriptor of the dma-buf
 * @access: enum ib_access_flags; untrusted
 *
 * The buffer is pinned while the MR exists. The registration fails if the exporter cannot pin it.
 *
 * Context: process context, may sleep.
 * Return: as cxib_reg_user_mr(), or an error of ib_umem_dmabuf_get_pinned().
 */
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access)
{
	struct ib_umem_dmabuf *buffer;
	int err;

	err = mr_check_access(ib->device, access);
	if (err)
		return ERR_PTR(err);
	if (access & IB_ACCESS_ON_DEMAND)
		return ERR_PTR(-EOPNOTSUPP);
	buffer = ib_umem_dmabuf_get_pinned(ib->device, offset, length, fd, access);
	return IS_ERR(buffer) ? ERR_CAST(buffer) :
				mr_register_pinned(ib, &buffer->umem, NULL, address, access);
}

/* Pages pinned for reading cannot be made writable. */
static bool mr_umem_allows_access(const struct ib_umem *umem, int access)
{
	return umem->writable || !ib_access_writable(access);
}

/*
 * Registers the umem of @old with a new mkey. Firmware may refuse to destroy the old mkey, or the
 * new mkey after its registration has failed, so the memory stays pinned until neither mkey exists.
 */
static struct ib_mr *mr_reuse_umem(struct cxib_mr *old, struct ib_pd *pd, int access)
{
	if (!old->umem_users) {
		old->umem_users = kmalloc(sizeof(*old->umem_users), GFP_KERNEL_ACCOUNT);
		if (!old->umem_users)
			return ERR_PTR(-ENOMEM);
		refcount_set(old->umem_users, 1);
	}
	refcount_inc(old->umem_users);
	return mr_register_pinned(pd, old->umem, old->umem_users, old->ib.iova, access);
}

/*
 * The device must have these capabilities for UMR to modify relaxed ordering and the atomic right.
 */
static bool mr_access_can_change(const struct cxib_hw *hw, int from, int to)
{
	const struct cxib_device_caps *caps = &hw->caps;

	if ((from ^ to) & IB_ACCESS_REMOTE_ATOMIC && caps->umr_modify_atomic_disabled)
		return false;
	if (!((from ^ to) & IB_ACCESS_RELAXED_ORDERING))
		return true;
	return caps->relaxed_ordering_write_umr && caps->relaxed_ordering_read_umr;
}

static u64 mr_access_mask(const struct cxib_hw *hw)
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

static void mr_fill_pages(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const struct mr_pages *pages = context;
	struct ib_block_iter block;
	size_t i = 0;

	rdma_umem_for_each_dma_block(pages->umem, &block, pages->size)
		entries[i++] = cpu_to_be64(rdma_block_iter_dma_address(&block) |
					   CXIB_MTT_READ | CXIB_MTT_WRITE);
}

/**
 * struct mr_rereg - attributes of a reregistered MR
 * @pd: new PD
 * @access: IB_ACCESS_…
 * @umem: new memory; NULL: unchanged
 * @address: iova of @umem
 */
struct mr_rereg {
	struct ib_pd *pd;
	int access;
	struct ib_umem *umem;
	u64 address;
};

/*
 * Returns false if the mkey or one UMR WQE has too few MTTs for the new pages, or if UMR cannot
 * modify the page size, which depends on the new pages.
 */
static bool mr_list_new_pages(struct cxib_mr *mr, const struct mr_rereg *rereg,
			      struct mr_pages *pages, struct cxib_umr_change *change,
			      struct cxib_mkey_params *params)
{
	struct cxib_ibdev *ibdev = to_ibdev(mr->ib.device);
	size_t count;

	if (ibdev->hw->caps.umr_modify_entity_size_disabled)
		return false;
	pages->umem = rereg->umem;
	pages->size = mr_choose_page_size(ibdev, rereg->umem, rereg->address);
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

/* Changes the MR by one UMR WQE, so a transfer sees the MR either before or after the change. */
static int mr_change_in_place(struct cxib_mr *mr, const struct mr_rereg *rereg)
{
	struct cxib_ibdev *ibdev = to_ibdev(mr->ib.device);
	struct cxib_mkey_params params = { .pd = to_pd(rereg->pd)->pdn };
	struct cxib_umr_change change = {
		.key = mr->ib.lkey, .params = &params,
		.mask = HW_MKEY_MASK_PD | mr_access_mask(ibdev->hw),
	};
	struct mr_pages pages;
	int err;

	if (!mr_access_can_change(ibdev->hw, mr->access, rereg->access))
		return -EOPNOTSUPP;
	cxib_mkey_set_access(ibdev->hw, &params, rereg->access);
	if (rereg->umem && !mr_list_new_pages(mr, rereg, &pages, &change, &params))
		return -EOPNOTSUPP;
	err = cxib_umr_prepare(ibdev) ?: cxib_umr_execute(ibdev, &change, mr_fill_pages, &pages);
	if (!err)
		mr->access = rereg->access;
	return err;
}

/* Takes over a reference to @umem, and drops that to the old memory. */
static void mr_replace_umem(struct cxib_mr *mr, struct ib_umem *umem)
{
	struct ib_umem *old = mr->umem;
	refcount_t *users = mr->umem_users;

	mr->umem = umem;
	mr->umem_users = NULL;
	cxib_release_shared_umem(to_ibdev(mr->ib.device), old, users, 0);
}

/*
 * Replaces the memory of the MR. Returns NULL if the MR was changed in place, otherwise a new MR.
 */
static struct ib_mr *mr_rereg_umem(struct cxib_mr *mr, struct mr_rereg *rereg, u64 start,
				   u64 length)
{
	int err;

	rereg->umem = ib_umem_get_va(mr->ib.device, start, length, rereg->access);
	if (IS_ERR(rereg->umem))
		return ERR_CAST(rereg->umem);
	err = mr->umem_in_doubt ? -EOPNOTSUPP : mr_change_in_place(mr, rereg);
	if (!err) {
		mr_replace_umem(mr, rereg->umem);
		return NULL;
	}
	/*
	 * A failed UMR may still take effect, so the new pages stay pinned until the mkey is
	 * destroyed.
	 */
	if (err != -EOPNOTSUPP) {
		mr->umem_in_doubt = rereg->umem;
		return cxib_reg_user_mr(rereg->pd, start, length, rereg->address, rereg->access);
	}
	return mr_register_pinned(rereg->pd, rereg->umem, NULL, rereg->address, rereg->access);
}

static struct ib_mr *mr_rereg_access(struct cxib_mr *mr, const struct mr_rereg *rereg)
{
	if (!mr_umem_allows_access(mr->umem, rereg->access))
		return cxib_reg_user_mr(rereg->pd, mr->umem->address, mr->umem->length,
					mr->ib.iova, rereg->access);
	if (!mr_change_in_place(mr, rereg))
		return NULL;
	return mr_reuse_umem(mr, rereg->pd, rereg->access);
}

static struct ib_mr *mr_rereg_user(struct ib_mr *ib, int flags, u64 start, u64 length,
				   u64 address, int access, struct ib_pd *pd)
{
	const int known = IB_MR_REREG_TRANS | IB_MR_REREG_PD | IB_MR_REREG_ACCESS;
	struct cxib_mr *mr = to_mr(ib);
	struct mr_rereg rereg = {
		.pd = flags & IB_MR_REREG_PD ? pd : ib->pd,
		.access = flags & IB_MR_REREG_ACCESS ? access : mr->access,
		.address = address,
	};
	int err;

	if (flags & ~known || !mr->umem) {
		ibdev_dbg(ib->device,
			  "rereg MR of %s: unsupported (flags 0x%x, mask 0x%x)\n",
			  mr->umem ? "pages" : "MEMIC", flags, known);
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (mr->umem->is_dmabuf) {
		ibdev_dbg(ib->device, "rereg MR: dma-buf not supported\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	if (mr->is_odp && cxib_odp_is_implicit(to_odp_mr(ib))) {
		ibdev_dbg(ib->device, "rereg MR: implicit ODP not supported\n");
		return ERR_PTR(-EOPNOTSUPP);
	}
	err = mr_check_access(ib->device, rereg.access);
	if (err)
		return ERR_PTR(err);
	if (mr->is_odp || rereg.access & IB_ACCESS_ON_DEMAND) {
		if (flags & IB_MR_REREG_TRANS)
			return cxib_reg_user_mr(rereg.pd, start, length, address, rereg.access);
		return cxib_reg_user_mr(rereg.pd, mr->umem->address, mr->umem->length,
					ib->iova, rereg.access);
	}
	if (flags & IB_MR_REREG_TRANS)
		return mr_rereg_umem(mr, &rereg, start, length);
	return mr_rereg_access(mr, &rereg);
}

/*
 * Changes the MR in place and keeps its mkey if UMR can make the change. Otherwise returns a new
 * MR, and the RDMA core destroys the old MR.
 */
struct ib_mr *cxib_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length,
				 u64 address, int access, struct ib_pd *pd,
				 struct ib_udata *udata)
{
	struct ib_mr *new = mr_rereg_user(ib, flags, start, length, address, access, pd);

	to_mr(ib)->is_replaced = !IS_ERR_OR_NULL(new);
	return new;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_rereg_user_mr);

/**
 * cxib_reg_memic_mr() - register MEMIC
 * @ib: protection domain
 * @start: offset in BAR 0
 * @length: bytes
 * @access: IB_ACCESS_…; addresses in WQEs begin with 0
 *
 * Return: the MR, or an ERR_PTR().
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
	cxib_mkey_set_access(to_ibdev(ib->device)->hw, &params, access);
	err = cxib_create_mkey(mr, ib, &params);
	if (err) {
		kfree(mr);
		return ERR_PTR(err);
	}
	return &mr->ib;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_reg_memic_mr);

int cxib_dereg_mr(struct ib_mr *ib, struct ib_udata *udata)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib->device);
	struct cxib_mr *mr = to_mr(ib);
	struct cxib_pinned pinned = {
		.umem = mr->umem,
		.umem_users = mr->umem_users,
		.umem_in_doubt = mr->umem_in_doubt,
	};
	int err;

	if (ib->type == IB_MR_TYPE_INTEGRITY) {
		cxib_free_sig_mr(to_sig_mr(ib));
		return 0;
	}
	if (mr->is_odp)
		return cxib_dereg_odp_mr(ib, udata);
	err = cxib_mr_destroy_mkey(mr, udata, &pinned);
	if (err)
		return err;
	cxib_release_shared_umem(ibdev, pinned.umem, pinned.umem_users, 0);
	ib_umem_release(pinned.umem_in_doubt);
	if (mr->descs)
		cxib_mr_free_descs(ib->device, mr);
	kfree(mr);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_dereg_mr);
