// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions of a whole address space (implicit paging on demand): their key consists of
 * pieces of one length, each the key of a part, or that of memory that is not there.
 * A part is made when something in it is needed that the program has, and stays.
 */
#include <linux/err.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <rdma/ib_umem_odp.h>

#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mr/umr.h"
#include "verbs/odp/odp.h"

#ifdef CXIB_KERNEL_CAN_PAGE

/* Where programs get memory, unless they ask for higher addresses. */
#if defined(CONFIG_X86_64)
#define LOG_SPACE	47
#elif defined(CONFIG_ARM64)
#define LOG_SPACE	VA_BITS_MIN
#else
#define LOG_SPACE	48
#endif

#define LOG_PART	30
#define PART_SIZE	BIT_ULL(LOG_PART)
#define PARTS		BIT(LOG_SPACE - LOG_PART)

/* Requests count words, pieces have two. */
#define KLM_WORDS	(sizeof(struct hw_ksm) / sizeof(__be64))
#define KLMS_PER_UNIT	(CXIB_UMR_MTT_ALIGN / KLM_WORDS)

/**
 * cxib_odp_can_implicit() - whether there can be regions of a whole address space
 * @ibdev: RDMA device that can page
 */
bool cxib_odp_can_implicit(const struct cxib_ibdev *ibdev)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	return caps->null_mkey && caps->fixed_buffer_size &&
	       caps->umr_extended_translation_offset && !caps->umr_indirect_mkey_disabled &&
	       caps->log_max_klm_list_size >= LOG_SPACE - LOG_PART;
}

/*
 * Where faults name the memory, the device's own key of memory that is not there would
 * not say whose memory that is. One for the region has no page, and never gets any.
 */
static int create_null_key(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	static const __be64 nothing[CXIB_UMR_MTT_ALIGN];
	struct cxib_mkey_params params = {
		.length = BIT_ULL(LOG_SPACE),
		.log_page_size = LOG_SPACE,
		.pages = nothing,
		.page_count = ARRAY_SIZE(nothing),
		.odp = true,
	};
	struct cxib_mr absent = { .access = parent->mr.access };
	int err;

	err = cxib_mr_create_mkey(&absent, pd, &params);
	if (err)
		return err;
	parent->null_mkey = absent.ib.lkey;
	parent->has_null_key = true;
	return cxib_odp_insert_mkey(parent, parent->null_mkey);
}

static void destroy_null_key(struct cxib_odp_mr *parent)
{
	struct cxib_ibdev *ibdev = to_ibdev(parent->mr.ib.device);

	if (!parent->has_null_key)
		return;
	cxib_odp_erase_mkey(parent, parent->null_mkey);
	cxib_end_in_device(ibdev, NULL,
			   cxib_cmd_destroy_mkey(commands_of(ibdev), parent->null_mkey));
	parent->has_null_key = false;
}

static int get_null_key(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	struct cxib_ibdev *ibdev = to_ibdev(pd->device);
	struct cxib_special_keys keys;
	int err;

	if (!ibdev->hw->caps.mem_page_fault) {
		err = cxib_cmd_query_special_contexts(commands_of(ibdev), &keys);
		if (!err)
			parent->null_mkey = keys.null_mkey;
		return err;
	}
	err = create_null_key(parent, pd);
	if (err)
		destroy_null_key(parent);
	return err;
}

/* What the key of a region has for a part that there is not. */
static void pack_absent(const struct cxib_odp_mr *parent, struct hw_ksm *klm, u64 number)
{
	hw_ksm_pack(klm, parent->null_mkey, parent->has_null_key ? number << LOG_PART : 0);
}

static void fill_klms(void *context, __be64 *entries, const struct cxib_umr_change *change)
{
	const u64 first = change->xlt_offset / KLM_WORDS;
	struct hw_ksm *klms = (void *)entries;
	struct cxib_odp_mr *parent = context;
	unsigned int i;

	for (i = 0; i < change->xlt_count / KLM_WORDS; i++) {
		const struct cxib_odp_mr *part = xa_load(&parent->implicit_children, first + i);

		if (part)
			hw_ksm_pack(&klms[i], part->mr.ib.lkey, part->mr.ib.iova);
		else
			pack_absent(parent, &klms[i], first + i);
	}
}

/**
 * cxib_odp_create_implicit_mkey() - a region of a whole address space gets its key, without parts
 * @parent: the region
 * @pd: protection domain
 *
 * Return: as cxib_cmd_query_special_contexts(), cxib_cmd_create_mkey(), cxib_umr_enable().
 */
int cxib_odp_create_implicit_mkey(struct cxib_odp_mr *parent, struct ib_pd *pd)
{
	struct cxib_mkey_params params = {
		.length = BIT_ULL(LOG_SPACE),
		.log_page_size = LOG_PART,
		.ksm = true,
	};
	int err;

	err = get_null_key(parent, pd);
	if (err)
		return err;
	err = cxib_create_empty_key(parent, pd, &params, PARTS * KLM_WORDS, fill_klms);
	if (err)
		destroy_null_key(parent);
	return err;
}

/* The key gets a part that is there, and its neighbours. */
static int add_to_key(struct cxib_odp_mr *parent, u64 number)
{
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = {
		.key = parent->mr.ib.lkey,
		.params = &params,
		.xlt_offset = ALIGN_DOWN(number, KLMS_PER_UNIT) * KLM_WORDS,
		.xlt_count = CXIB_UMR_MTT_ALIGN,
	};
	struct ib_umem_odp *memory = to_ib_umem_odp(parent->mr.umem);
	int err = -EFAULT;

	lockdep_assert_held(&parent->fault_mutex);

	/* A fault may be handled still while the region goes; the device would refuse this. */
	mutex_lock(&memory->umem_mutex);
	if (parent->live)
		err = cxib_umr_execute(to_ibdev(parent->mr.ib.device), &change, fill_klms, parent);
	mutex_unlock(&memory->umem_mutex);
	return err;
}

static struct cxib_odp_mr *make_part(struct cxib_odp_mr *parent, u64 number)
{
	struct cxib_odp_mr *part = cxib_odp_create_child(parent, number << LOG_PART, PART_SIZE);
	int err;

	if (IS_ERR(part))
		return part;
	err = xa_err(xa_store(&parent->implicit_children, number, part, GFP_KERNEL));
	if (err)
		goto destroy_part;
	err = add_to_key(parent, number);
	if (err)
		goto erase;
	return part;

erase:
	/* The device is asked again when the part is needed again. */
	xa_erase(&parent->implicit_children, number);
destroy_part:
	cxib_odp_destroy_child(part);
	return ERR_PTR(err);
}

/*
 * Peers and the device may name any address, and a part takes megabytes: there are no
 * more of them than the program's own memory needs.
 */
static bool range_is_mapped(const struct cxib_odp_mr *parent, u64 number)
{
	struct mm_struct *mm = to_ib_umem_odp(parent->mr.umem)->umem.owning_mm;
	const u64 start = number << LOG_PART;
	bool found;

	if (!mmget_not_zero(mm))
		return false;
	mmap_read_lock(mm);
	found = find_vma_intersection(mm, start, start + PART_SIZE);
	mmap_read_unlock(mm);
	mmput(mm);
	return found;
}

/* Returns NULL when the program has no memory there. */
static struct cxib_odp_mr *get_part(struct cxib_odp_mr *parent, u64 number)
{
	struct cxib_odp_mr *part;

	guard(mutex)(&parent->fault_mutex);
	part = xa_load(&parent->implicit_children, number);
	if (part || !range_is_mapped(parent, number))
		return part;
	return make_part(parent, number);
}

/**
 * cxib_odp_destroy_children() - the parts of a region go with it, and the key that stands for others
 * @parent: a region that nobody uses any more; one without either is left alone
 */
void cxib_odp_destroy_children(struct cxib_odp_mr *parent)
{
	struct cxib_odp_mr *part;
	unsigned long number;

	xa_for_each(&parent->implicit_children, number, part)
		cxib_odp_destroy_child(part);
	xa_destroy(&parent->implicit_children);
	destroy_null_key(parent);
}

/**
 * cxib_odp_fault_in_implicit() - pages of a whole address space come in
 * @parent: region that somebody keeps
 * @range: which ones
 * @bring_in: for each part of it
 *
 * Context: as cxib_odp_fault_in().
 * Return: number of pages that are there; -EFAULT when addresses cannot be, or the
 * program has no memory there; as @bring_in, or an error of making a part.
 */
int cxib_odp_fault_in_implicit(struct cxib_odp_mr *parent, const struct cxib_odp_range *range,
			       cxib_odp_fault_in_fn bring_in)
{
	/* Who wants what is there is content with nothing. */
	const int absent = bring_in == cxib_odp_fault_in_present ? 0 : -EFAULT;
	struct cxib_odp_range rest = *range;
	int total = 0;

	if (range->address >= BIT_ULL(LOG_SPACE) ||
	    range->length > BIT_ULL(LOG_SPACE) - range->address)
		return -EFAULT;
	while (rest.length) {
		struct cxib_odp_mr *part = get_part(parent, rest.address >> LOG_PART);
		struct cxib_odp_range klm = rest;
		int pages;

		if (IS_ERR(part))
			return PTR_ERR(part);
		klm.length = min(rest.length, PART_SIZE - (rest.address & (PART_SIZE - 1)));
		pages = part ? bring_in(part, &klm) : absent;
		if (pages < 0)
			return pages;
		total += pages;
		rest.address += klm.length;
		rest.length -= klm.length;
	}
	return total;
}

#endif
