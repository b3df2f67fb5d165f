// SPDX-License-Identifier: GPL-2.0-only
/*
 * ODP: look-up of MRs by mkey, ranges of MRs, reported capabilities, limits of registration, mkeys
 * of implicit MRs. Tests in guests cover page faults of user memory.
 */
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm_types.h>
#include <linux/mman.h>
#include <linux/slab.h>
#include <linux/swiotlb.h>
#include <linux/tracepoint.h>
#include <linux/user_namespace.h>
#include <rdma/ib_umem_odp.h>

#include "compat/workqueue.h"
#include "failing_allocations.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/commands_device.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/page_faults.h"
#include "hw/work_queue.h"
#include "verbs/odp/odp_mr.h"
#include "verbs/qp/post.h"

/* An mkey is an index and 8 bits of variant. */
#define MKEY		0x1207
#define CHILD_MKEY	0x2301
#define OTHER_MKEY	0x1209
#define NULL_MKEY	0x4501

/* References of the creator and of two look-ups. */
#define REFERENCES	3

/* User address of fake MRs, and address of MRs that cases register. */
#define USER_ADDRESS	0x7f0000001000
#define START		0x1000

/* xlt_offset has 16 bits and counts 2 MTTs: without the extended offset 2^17 pages. */
#define LOG_PAGES	17

#define NUM_VARIANTS	256
#define FIRST_INDEX	0x777
#define DEVICE_NULL	0x200
#define PDN		0x88
#define UMR_PDN		0x99
#define MKEYS		4

/* User addresses of x86-64 have 47 bits; a child MR has 1 GiB, a KSM 16 bytes. */
#define LOG_SPACE	47
#define LOG_CHILD	30
#define NUM_KSMS	BIT(LOG_SPACE - LOG_CHILD)

/* Page faults of a user: more than a workqueue of all users could handle at a time. */
#define FAULTS		(WQ_MAX_ACTIVE + 100)

/* Number of 10 ms polls: a limit for what takes microseconds. */
#define POLLS_MAX	1000

/*
 * Look-ups in an address space whose lock others hold in turns. Each one has to wait for a few
 * turns.
 */
#define LOOK_UPS	20
#define TURNS_MAX	5000

/* Result of a function that maps pages, and number of its calls before. */
#define PAGES_MAPPED	3
#define BUSY_CALLS	5

/* Time from the return of the function of a work to the end of the work. */
#define RETURN_MS	100

/* A UMR WQE writes at most CXIB_UMR_MTT_MAX words of 8 bytes. */
#define KSMS_PER_WQE	(CXIB_UMR_MTT_MAX * 8 / 16)

struct fake_mr {
	struct ib_umem_odp memory;
	struct cxib_odp_mr mr;
};

/**
 * struct fixture - MRs, their device, and its UMR QP
 * @fake: the device; its QP is the UMR QP
 * @pd: PD of the MRs
 * @umr_pd: PD of the UMR QP
 * @user: user of @context
 * @context: user context of the MRs
 * @other_user: another user, of @other_context
 * @other_context: another user context
 * @owners: user contexts of the same user
 * @resumes: PAGE_FAULT_RESUME commands
 * @mr: an MR with the mkey MKEY; the parent of @child in cases with child MRs
 * @child: an MR with the mkey CHILD_MKEY
 * @other: an MR whose mkey differs from MKEY in the variant
 * @gone: an address space without users
 * @umr: thread that completes UMR WQEs
 * @seen: WQEBBs of completed UMR WQEs
 * @wqes: UMR WQEs so far
 * @wqe_key: mkey of the last UMR WQE
 * @wqe_mask: mkey_mask of the last UMR WQE
 * @wqe_free: free bit of the last UMR WQE
 * @wqe_pd: PD of the last UMR WQE
 * @failing: number of UMR WQEs that fail from now on
 * @is_reset: the UMR QP is not in RTS
 * @resets: number of 2RST_QP commands
 * @xlt: translations that UMR WQEs have written, of any mkey
 * @creates: CREATE_MKEY commands that succeeded
 * @destroys: DESTROY_MKEY commands that succeeded
 * @contexts: mkey contexts of CREATE_MKEY
 * @pg_access: pg_access of CREATE_MKEY
 * @destroyed: mkey index of the last DESTROY_MKEY
 * @refused: opcode of which one command is refused; 0: none
 * @passed: commands of that opcode that succeed before
 * @queried: mkey context of QUERY_MKEY; NULL: the command fails
 * @klm_key: mkey of the KLM that QUERY_MKEY returns; 0: none
 * @queries: QUERY_MKEY commands
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct cxib_pd umr_pd;
	struct cxib_odp_user user;
	struct cxib_odp_context context;
	struct cxib_odp_user other_user;
	struct cxib_odp_context other_context;
	struct ib_ucontext owners[2];
	atomic_t resumes;
	struct fake_mr mr;
	struct fake_mr child;
	struct fake_mr other;
	struct mm_struct *gone;
	struct task_struct *umr;
	u32 seen;
	unsigned int wqes;
	u32 wqe_key;
	u64 wqe_mask;
	bool wqe_free;
	u32 wqe_pd;
	unsigned int failing;
	bool is_reset;
	unsigned int resets;
	struct hw_ksm *xlt;
	unsigned int creates;
	unsigned int destroys;
	struct hw_mkc contexts[MKEYS];
	bool pg_access[MKEYS];
	u32 destroyed;
	u16 refused;
	unsigned int passed;
	const struct hw_mkc *queried;
	u32 klm_key;
	unsigned int queries;
};

static u8 query_mkey(const struct fixture *fixture, void *out)
{
	if (!fixture->queried)
		return HW_COMMAND_STATUS_BAD_RESOURCE;
	memcpy(hw_query_mkey_out_memory_key_mkey_entry(out), fixture->queried,
	       sizeof(*fixture->queried));
	if (fixture->klm_key)
		hw_klm_pack((void *)hw_query_mkey_out_get_bsf0_klm0_pas_mtt0_1(out), PAGE_SIZE,
			    fixture->klm_key, START);
	return HW_COMMAND_STATUS_OK;
}

/* The driver zeroes the doorbell record of the QP between 2RST_QP and RST2INIT_QP. */
static u8 move_umr_qp(struct fixture *fixture, u16 opcode)
{
	if (opcode == HW_CMD_2RST_QP) {
		fixture->resets++;
		WRITE_ONCE(fixture->is_reset, true);
	} else if (opcode == HW_CMD_RTR2RTS_QP) {
		fixture->seen = 0;
		/* Pairs with the acquire in complete_umr_wqes(). */
		smp_store_release(&fixture->is_reset, false);
	}
	return HW_COMMAND_STATUS_OK;
}

static u8 create_mkey(struct fixture *fixture, const void *in, void *out)
{
	if (fixture->creates < MKEYS) {
		fixture->contexts[fixture->creates] =
			*hw_create_mkey_in_get_memory_key_mkey_entry(in);
		fixture->pg_access[fixture->creates] = hw_create_mkey_in_get_pg_access(in);
	}
	hw_create_mkey_out_set_mkey_index(out, FIRST_INDEX + fixture->creates++);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == fixture->refused && !fixture->passed--)
		return opcode == HW_CMD_DESTROY_MKEY ? HW_COMMAND_STATUS_RESOURCE_BUSY :
						       HW_COMMAND_STATUS_NOT_READY;
	switch (opcode) {
	case HW_CMD_CREATE_MKEY:
		return create_mkey(fixture, in, out);
	case HW_CMD_DESTROY_MKEY:
		fixture->destroys++;
		fixture->destroyed = hw_destroy_mkey_in_get_mkey_index(in);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_QUERY_SPECIAL_CONTEXTS:
		hw_query_special_contexts_out_set_null_mkey(out, DEVICE_NULL);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_QUERY_MKEY:
		fixture->queries++;
		return query_mkey(fixture, out);
	case HW_CMD_PAGE_FAULT_RESUME:
		atomic_inc(&fixture->resumes);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_2RST_QP:
	case HW_CMD_RST2INIT_QP:
	case HW_CMD_INIT2RTR_QP:
	case HW_CMD_RTR2RTS_QP:
		return move_umr_qp(fixture, opcode);
	default:
		return HW_COMMAND_STATUS_BAD_OPERATION;
	}
}

/*
 * Makes a command fail with NOT_READY, which is -EAGAIN; no other part of the driver returns it
 * here.
 */
static void refuse(struct fixture *fixture, u16 opcode, unsigned int passed)
{
	fixture->refused = opcode;
	fixture->passed = passed;
}

static void store_translations(struct fixture *fixture, const struct hw_wqe_umr_ctrl_seg *umr)
{
	u64 first = hw_wqe_umr_ctrl_seg_get_xlt_offset(umr) |
		    hw_wqe_umr_ctrl_seg_get_xlt_offset_47_16(umr) << 16;
	u32 count = hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr);

	if (first + count > NUM_KSMS)
		return;
	memcpy(&fixture->xlt[first], fixture->fake->ibdev.umr.list, count * sizeof(*fixture->xlt));
}

static void complete_umr_wqe(struct fixture *fixture)
{
	const struct hw_wqe_ctrl_seg *control = fake_block(fixture->fake, fixture->seen);
	const struct hw_wqe_umr_ctrl_seg *umr = (const void *)(control + 1);
	const u32 ds = hw_wqe_ctrl_seg_get_ds(control);
	struct cxib_umr *state = &fixture->fake->ibdev.umr;

	fixture->wqe_key = hw_wqe_ctrl_seg_get_imm(control);
	fixture->wqe_mask = hw_wqe_umr_ctrl_seg_get_mkey_mask(umr);
	fixture->wqe_free = hw_mkey_seg_get_free(fake_block(fixture->fake, fixture->seen + 1));
	fixture->wqe_pd = hw_mkey_seg_get_pd(fake_block(fixture->fake, fixture->seen + 1));
	fixture->seen += DIV_ROUND_UP(ds, CXIB_DS_PER_WQEBB);
	fixture->wqes++;
	state->status = fixture->failing ? IB_WC_MW_BIND_ERR : IB_WC_SUCCESS;
	if (fixture->failing)
		fixture->failing--;
	else if (hw_wqe_umr_ctrl_seg_get_xlt_octowords(umr))
		store_translations(fixture, umr);
	complete(&state->done);
}

static int complete_umr_wqes(void *data)
{
	struct fixture *fixture = data;

	while (!kthread_should_stop()) {
		/* Pairs with the release in move_umr_qp(). */
		bool is_reset = smp_load_acquire(&fixture->is_reset);
		/* Pairs with the barrier before the doorbell record is written. */
		u16 posted = be32_to_cpu(smp_load_acquire(&fixture->fake->dbr[1]));

		if (is_reset || posted == (u16)fixture->seen)
			usleep_range(10, 50);
		else
			complete_umr_wqe(fixture);
	}
	return 0;
}

/* Stands for the recovery of the UMR QP after a failed WQE. */
static void recover(struct work_struct *work)
{
	struct cxib_umr *umr = container_of(work, struct cxib_umr, recovery);

	mutex_lock(&umr->lock);
	WRITE_ONCE(umr->state, CXIB_UMR_UP);
	mutex_unlock(&umr->lock);
	wake_up_all(&umr->changed);
}

static void init_mr(struct fixture *fixture, struct fake_mr *fake_mr, u32 mkey)
{
	struct cxib_odp_mr *mr = &fake_mr->mr;

	mutex_init(&fake_mr->memory.umem_mutex);
	fake_mr->memory.umem.is_odp = 1;
	fake_mr->memory.umem.owning_mm = fixture->gone;
	fake_mr->memory.umem.address = USER_ADDRESS;
	/* The driver would destroy a child without pages. */
	fake_mr->memory.npages = 1;
	mr->context = &fixture->context;
	mr->mr.umem = &fake_mr->memory.umem;
	mr->mr.ib.device = &fixture->fake->ibdev.ib;
	mr->mr.ib.pd = &fixture->pd.ib;
	mr->mr.ib.lkey = mkey;
	mutex_init(&mr->fault_mutex);
	spin_lock_init(&mr->populate_lock);
	INIT_LIST_HEAD(&mr->populates);
	xa_init(&mr->implicit_children);
	INIT_LIST_HEAD(&mr->condemned);
	cxib_odp_init_reap(mr);
	cxib_reference_init(&mr->reference);
}

static void init_umr(struct kunit *test, struct fixture *fixture)
{
	struct cxib_umr *umr = &fixture->fake->ibdev.umr;
	struct cxib_qp *qp = &fixture->fake->qp;

	qp->ib.qp_type = CXIB_QPT_UMR;
	qp->ib.pd = &fixture->pd.ib;
	cxib_umr_init(&fixture->fake->ibdev);
	INIT_WORK(&umr->recovery, recover);
	umr->list = kunit_kcalloc(test, CXIB_UMR_MTT_MAX, sizeof(*umr->list), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, umr->list);
	umr->pd = &fixture->umr_pd.ib;
	fixture->umr_pd.pdn = UMR_PDN;
	umr->qp = qp;
	umr->state = CXIB_UMR_UP;
	fixture->fake->ibdev.workqueue = system_percpu_wq;
}

static void release(void *data)
{
	struct fixture *fixture = data;

	if (!IS_ERR_OR_NULL(fixture->umr))
		kthread_stop(fixture->umr);
	flush_work(&fixture->fake->ibdev.umr.recovery);
	cxib_odp_destroy_user(&fixture->user);
	cxib_odp_destroy_user(&fixture->other_user);
	cxib_odp_destroy_user(&fixture->fake->ibdev.odp.unknown_user);
	destroy_workqueue(fixture->fake->ibdev.odp.workqueue);
	cancel_delayed_work_sync(&fixture->mr.mr.reap_work);
	xa_destroy(&fixture->fake->ibdev.odp.regions);
	xa_destroy(&fixture->mr.mr.implicit_children);
	kvfree(fixture->xlt);
}

/* Sets all capabilities that implicit ODP MRs need. Cases remove some. */
static void set_capabilities(struct cxib_hw *hw)
{
	hw->vectors = CXIB_SHARED_VECTORS + 2;
	hw->caps.pg = 1;
	hw->caps.null_mkey = 1;
	hw->caps.fixed_buffer_size = 1;
	hw->caps.umr_extended_translation_offset = 1;
}

/* Arguments of the calls of fault_in() below. */
static struct {
	unsigned int calls;
	const struct cxib_odp_mr *mr[2];
	struct cxib_odp_range range[2];
	int result;
} faults;

static int odp_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	memset(&faults, 0, sizeof(faults));
	fixture->fake = fake;
	fixture->pd.pdn = PDN;
	fixture->pd.ib.device = &fake->ibdev.ib;
	fixture->gone = kunit_kzalloc(test, sizeof(*fixture->gone), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fixture->gone);
	atomic_set(&fixture->gone->mm_count, 1);
	fake_queue_pair_start(fake, run_command, fixture);
	set_capabilities(&fake->hw);
	cxib_odp_init(&fake->ibdev);
	/* The first ODP MR would create the workqueues, with the page fault EQ. */
	fake->ibdev.odp.workqueue = alloc_workqueue("fake_odp", WQ_PERCPU | WQ_MEM_RECLAIM, 0);
	KUNIT_ASSERT_NOT_NULL(test, fake->ibdev.odp.workqueue);
	KUNIT_ASSERT_EQ(test, 0, cxib_odp_init_user(&fake->ibdev.odp.unknown_user, INVALID_UID));
	init_umr(test, fixture);
	KUNIT_ASSERT_EQ(test, 0, cxib_odp_init_user(&fixture->user, GLOBAL_ROOT_UID));
	cxib_odp_init_context(&fixture->context, NULL, &fixture->user);
	KUNIT_ASSERT_EQ(test, 0, cxib_odp_init_user(&fixture->other_user, GLOBAL_ROOT_UID));
	cxib_odp_init_context(&fixture->other_context, NULL, &fixture->other_user);
	init_mr(fixture, &fixture->mr, MKEY);
	init_mr(fixture, &fixture->child, CHILD_MKEY);
	init_mr(fixture, &fixture->other, OTHER_MKEY);
	test->priv = fixture;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, release, fixture));
	fixture->xlt = kvcalloc(NUM_KSMS, sizeof(*fixture->xlt), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fixture->xlt);
	fixture->umr = kthread_run(complete_umr_wqes, fixture, "fake_umr");
	KUNIT_ASSERT_FALSE(test, IS_ERR(fixture->umr));
	return 0;
}

static void insert(struct kunit *test, struct fake_mr *fake_mr)
{
	KUNIT_ASSERT_EQ(test, 0, cxib_odp_insert_mkey(&fake_mr->mr, fake_mr->mr.mr.ib.lkey));
}

static unsigned int references(const struct fake_mr *fake_mr)
{
	return refcount_read(&fake_mr->mr.reference.count);
}

/* Drops the reference of the look-up. */
static struct cxib_odp_mr *get_mr(struct fixture *fixture, u32 mkey)
{
	struct cxib_odp_mr *mr = cxib_odp_get_mr(&fixture->fake->ibdev, mkey);

	if (mr)
		cxib_reference_put(&mr->reference);
	return mr;
}

static struct cxib_odp_mr *get_fault_mr(struct fixture *fixture, u32 mkey)
{
	struct cxib_odp_mr *mr = cxib_odp_get_fault_mr(&fixture->fake->ibdev, mkey);

	if (mr)
		cxib_reference_put(&mr->reference);
	return mr;
}

static void get_mr_takes_reference(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;

	insert(test, &fixture->mr);
	KUNIT_ASSERT_PTR_EQ(test, &fixture->mr.mr, cxib_odp_get_mr(ibdev, MKEY));
	KUNIT_EXPECT_EQ(test, 2, references(&fixture->mr));
	KUNIT_ASSERT_PTR_EQ(test, &fixture->mr.mr, cxib_odp_get_fault_mr(ibdev, MKEY));
	KUNIT_EXPECT_EQ(test, REFERENCES, references(&fixture->mr));
	cxib_odp_erase_mkey(&fixture->mr.mr, MKEY);
	KUNIT_EXPECT_NULL(test, cxib_odp_get_mr(ibdev, MKEY));
	KUNIT_EXPECT_NULL(test, cxib_odp_get_fault_mr(ibdev, MKEY));
	KUNIT_EXPECT_EQ(test, REFERENCES, references(&fixture->mr));
}

/*
 * The case looks up all 255 other variants of the index, and other indices, including the first and
 * the last one.
 */
static void get_mr_of_other_mkey_returns_null(struct kunit *test)
{
	static const u32 others[] = {
		0, MKEY >> 8, MKEY + 0x100, MKEY - 0x100, MKEY << 8, U32_MAX,
	};
	struct fixture *fixture = test->priv;
	unsigned int i;

	insert(test, &fixture->mr);
	for (i = 0; i < NUM_VARIANTS; i++)
		KUNIT_EXPECT_EQ_MSG(test, i == MKEY % NUM_VARIANTS,
				    !!get_mr(fixture, round_down(MKEY, NUM_VARIANTS) + i),
				    "variant 0x%x", i);
	for (i = 0; i < ARRAY_SIZE(others); i++) {
		KUNIT_EXPECT_NULL(test, get_mr(fixture, others[i]));
		KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, others[i]));
	}
	KUNIT_EXPECT_EQ(test, 1, references(&fixture->mr));
}

/* The device reuses the index before the driver has erased the old mkey. */
static void insert_mkey_of_reused_index_replaces_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	insert(test, &fixture->mr);
	insert(test, &fixture->other);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, MKEY));
	KUNIT_EXPECT_PTR_EQ(test, &fixture->other.mr, get_fault_mr(fixture, OTHER_MKEY));
	cxib_odp_erase_mkey(&fixture->mr.mr, MKEY);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->other.mr, get_fault_mr(fixture, OTHER_MKEY));
	cxib_odp_erase_mkey(&fixture->other.mr, OTHER_MKEY);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
}

/* Faults of a child MR belong to its parent. User space must not name the child. */
static void get_fault_mr_of_child_returns_parent(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->child.mr.parent = &fixture->mr.mr;
	insert(test, &fixture->mr);
	insert(test, &fixture->child);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->mr.mr,
			    cxib_odp_get_fault_mr(&fixture->fake->ibdev, CHILD_MKEY));
	KUNIT_EXPECT_EQ(test, 2, references(&fixture->mr));
	KUNIT_EXPECT_EQ(test, 1, references(&fixture->child));
	KUNIT_EXPECT_NULL(test, cxib_odp_get_mr(&fixture->fake->ibdev, CHILD_MKEY));
	KUNIT_EXPECT_EQ(test, 2, references(&fixture->mr));
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, CHILD_MKEY + 1));
}

/* The parent is destroyed first: its mkey is erased, or another MR has its index. */
static void get_fault_mr_of_child_without_parent_returns_null(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->child.mr.parent = &fixture->mr.mr;
	insert(test, &fixture->mr);
	insert(test, &fixture->child);
	insert(test, &fixture->other);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, CHILD_MKEY));
	cxib_odp_erase_mkey(&fixture->other.mr, OTHER_MKEY);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, CHILD_MKEY));
	KUNIT_EXPECT_EQ(test, 1, references(&fixture->mr));
	KUNIT_EXPECT_EQ(test, 1, references(&fixture->other));
}

static void get_fault_mr_of_null_mkey_returns_owner(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_odp_mr *mr = &fixture->mr.mr;

	mr->null_mkey = NULL_MKEY;
	mr->has_null_key = true;
	insert(test, &fixture->mr);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, NULL_MKEY));
	KUNIT_ASSERT_EQ(test, 0, cxib_odp_insert_mkey(mr, NULL_MKEY));
	KUNIT_EXPECT_PTR_EQ(test, mr, get_fault_mr(fixture, NULL_MKEY));
	KUNIT_EXPECT_PTR_EQ(test, mr, get_fault_mr(fixture, MKEY));
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, NULL_MKEY + 1));
	KUNIT_EXPECT_NULL(test, get_mr(fixture, NULL_MKEY));
	KUNIT_EXPECT_EQ(test, 1, references(&fixture->mr));
	/* The null mkey of the device is not owned by the MR. */
	mr->has_null_key = false;
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, NULL_MKEY));
}

static const struct range_case {
	u64 iova;
	u64 mr_length;
	u64 address;
	u64 length;
	int err;
} range_cases[] = {
	{ 0x10000, 0x3000, 0x10000, 0x3000, 0 },
	{ 0x10000, 0x3000, 0x10000, 0, 0 },
	{ 0x10000, 0x3000, 0x12fff, 1, 0 },
	{ 0x10000, 0x3000, 0x13000, 0, 0 },
	{ 0x10000, 0x3000, 0xffff, 1, -EFAULT },
	{ 0x10000, 0x3000, 0xffff, 0x3001, -EFAULT },
	{ 0x10000, 0x3000, 0x10000, 0x3001, -EFAULT },
	{ 0x10000, 0x3000, 0x12fff, 2, -EFAULT },
	{ 0x10000, 0x3000, 0x13000, 1, -EFAULT },
	{ 0x10000, 0x3000, 0x13001, 0, -EFAULT },
	/* Sums that exceed 64 bits. */
	{ 0x10000, 0x3000, 0x10001, U64_MAX, -EFAULT },
	{ 0x10000, 0x3000, U64_MAX, 0x10002, -EFAULT },
	{ 0x10000, 0x3000, 0, U64_MAX, -EFAULT },
	/* An MR up to the last address, and one that covers all addresses. */
	{ U64_MAX - 0xfff, 0x1000, U64_MAX, 1, 0 },
	{ U64_MAX - 0xfff, 0x1000, U64_MAX, 2, -EFAULT },
	{ U64_MAX - 0xfff, 0x1000, 0, 1, -EFAULT },
	{ 0, U64_MAX, 0, U64_MAX, 0 },
	{ 0, U64_MAX, 1, U64_MAX, -EFAULT },
};

static void find_range_outside_mr_returns_efault(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_odp_mr *mr = &fixture->mr.mr;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(range_cases); i++) {
		const struct range_case *entry = &range_cases[i];
		const struct cxib_odp_range range = {
			.address = entry->address, .length = entry->length,
		};
		u64 start = 0;

		mr->mr.ib.iova = entry->iova;
		mr->mr.ib.length = entry->mr_length;
		KUNIT_EXPECT_EQ_MSG(test, entry->err, cxib_odp_find_range(mr, &range, &start),
				    "range %zu", i);
		/* The user address differs from the iova. */
		KUNIT_EXPECT_EQ_MSG(test,
				    entry->err ? 0 : USER_ADDRESS + entry->address - entry->iova,
				    start, "range %zu", i);
	}
}

static struct ib_device_attr describe(struct fixture *fixture)
{
	struct ib_device_attr attr = {};

	cxib_odp_fill_attr(&fixture->fake->ibdev, &attr);
	return attr;
}

/* Bits 31 to 26 of odp_per_transport_service_cap in mlx5_ifc.h; ib_odp_transport_cap_bits. */
static const struct {
	u32 bit;
	u32 able;
} odp_operations[] = {
	{ 31, IB_ODP_SUPPORT_SEND },
	{ 30, IB_ODP_SUPPORT_RECV },
	{ 29, IB_ODP_SUPPORT_WRITE },
	{ 28, IB_ODP_SUPPORT_READ },
	{ 27, IB_ODP_SUPPORT_ATOMIC },
	{ 26, IB_ODP_SUPPORT_SRQ_RECV },
};

/* odp_scheme_cap in mlx5_ifc.h: words of RC, UC, UD and XRC. */
#define RC_WORD		4
#define UD_WORD		6
#define XRC_WORD	7

/* mlx5_ib does not report UC either. */
static void describe_paging_reports_operations_of_transport(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_odp_scheme_cap *odp = &fixture->fake->hw.caps.odp;
	unsigned int word, i;

	for (word = RC_WORD; word <= XRC_WORD; word++)
		for (i = 0; i < ARRAY_SIZE(odp_operations); i++) {
			const u32 able = odp_operations[i].able;
			struct ib_odp_caps caps;

			memset(odp, 0, sizeof(*odp));
			odp->dw[word] = cpu_to_be32(BIT(odp_operations[i].bit));
			caps = describe(fixture).odp_caps;
			KUNIT_EXPECT_EQ_MSG(test, word == RC_WORD ? able : 0,
					    caps.per_transport_caps.rc_odp_caps,
					    "word %u, operation 0x%x", word, able);
			KUNIT_EXPECT_EQ_MSG(test, 0, caps.per_transport_caps.uc_odp_caps,
					    "word %u, operation 0x%x", word, able);
			KUNIT_EXPECT_EQ_MSG(test, word == UD_WORD ? able : 0,
					    caps.per_transport_caps.ud_odp_caps,
					    "word %u, operation 0x%x", word, able);
			KUNIT_EXPECT_EQ_MSG(test, word == XRC_WORD ? able : 0,
					    caps.per_transport_caps.xrc_odp_caps,
					    "word %u, operation 0x%x", word, able);
		}
}

static void expect_no_odp(struct kunit *test)
{
	const struct ib_device_attr attr = describe(test->priv);

	KUNIT_EXPECT_EQ(test, 0, attr.kernel_cap_flags);
	KUNIT_EXPECT_EQ(test, 0, attr.odp_caps.general_caps);
	KUNIT_EXPECT_EQ(test, 0, attr.odp_caps.per_transport_caps.rc_odp_caps);
	KUNIT_EXPECT_EQ(test, 0, attr.odp_caps.per_transport_caps.ud_odp_caps);
	KUNIT_EXPECT_EQ(test, 0, attr.odp_caps.per_transport_caps.xrc_odp_caps);
}

/*
 * ODP needs page faults, UMR, and a vector in addition to the shared ones and one for completions.
 */
static void describe_paging_without_capability_reports_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_hw *hw = &fixture->fake->hw;
	struct ib_device_attr attr;

	memset(&hw->caps.odp, 0xff, sizeof(hw->caps.odp));
	attr = describe(fixture);
	KUNIT_EXPECT_EQ(test, IBK_ON_DEMAND_PAGING, attr.kernel_cap_flags);
	KUNIT_EXPECT_EQ(test, IB_ODP_SUPPORT | IB_ODP_SUPPORT_IMPLICIT, attr.odp_caps.general_caps);
	/* All of odp_operations. */
	KUNIT_EXPECT_EQ(test, BIT(ARRAY_SIZE(odp_operations)) - 1,
			attr.odp_caps.per_transport_caps.rc_odp_caps);
	hw->caps.pg = 0;
	expect_no_odp(test);
	set_capabilities(hw);
	hw->vectors = CXIB_SHARED_VECTORS + 1;
	expect_no_odp(test);
}

/* With swiotlb=force neither the device nor a ULP would see what the other one has written. */
static void odp_with_bounced_dma_is_not_offered(struct kunit *test)
{
	struct io_tlb_mem bounced = { .force_bounce = true };
	struct fixture *fixture = test->priv;
	struct device *dev = fixture->fake->hca->bus.dev;
	struct io_tlb_mem *before = dev->dma_io_tlb_mem;

	dev->dma_io_tlb_mem = &bounced;
	expect_no_odp(test);
	dev->dma_io_tlb_mem = before;
	KUNIT_EXPECT_EQ(test, IBK_ON_DEMAND_PAGING, describe(fixture).kernel_cap_flags);
}

static bool reports_implicit(struct fixture *fixture)
{
	const struct ib_device_attr attr = describe(fixture);

	return attr.odp_caps.general_caps & IB_ODP_SUPPORT_IMPLICIT;
}

/* An implicit MR is a list of 2^17 KSMs, most of which name the null mkey. UMR writes the list. */
static void describe_paging_implicit_needs_capabilities(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_hw *hw = &fixture->fake->hw;
	u32 *const needed[] = {
		&hw->caps.null_mkey, &hw->caps.fixed_buffer_size,
		&hw->caps.umr_extended_translation_offset,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(needed); i++) {
		*needed[i] = 0;
		KUNIT_EXPECT_FALSE_MSG(test, reports_implicit(fixture), "capability %zu", i);
		set_capabilities(hw);
	}
	hw->caps.umr_indirect_mkey_disabled = 1;
	KUNIT_EXPECT_FALSE(test, reports_implicit(fixture));
	hw->caps.umr_indirect_mkey_disabled = 0;
	KUNIT_EXPECT_TRUE(test, reports_implicit(fixture));
}

/* Capabilities of a card in the README of mlx5ctl. */
static void describe_paging_implicit_needs_no_longer_klm_list(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->hw.caps.log_max_klm_list_size = 16;
	KUNIT_EXPECT_TRUE(test, reports_implicit(fixture));
}

static long reg_mr(struct fixture *fixture, u64 start, u64 length, u64 iova, int access)
{
	return PTR_ERR_OR_ZERO(cxib_reg_odp_mr(&fixture->pd.ib, start, length, iova,
					       access | IB_ACCESS_ON_DEMAND));
}

static void reg_odp_mr_without_capability_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_hw *hw = &fixture->fake->hw;

	hw->caps.pg = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, reg_mr(fixture, START, PAGE_SIZE, START, 0));
	set_capabilities(hw);
	/* An implicit MR covers all addresses, so it has no start address. */
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, reg_mr(fixture, START, U64_MAX, 0, 0));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, reg_mr(fixture, 0, U64_MAX, START, 0));
	hw->caps.null_mkey = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, reg_mr(fixture, 0, U64_MAX, 0, 0));
	KUNIT_EXPECT_EQ(test, 0, fixture->creates);
}

/* Gives the thread of the case an address space, of which no page is accessed. */
static void attach_address_space(struct kunit *test)
{
	unsigned long address = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ,
					      MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, 0, address);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(address));
}

static const struct {
	u64 start;
	u64 length;
	int access;
	int err;
} lengths[] = {
	{ 0x1000, 0, 0, -EINVAL },
	{ U64_MAX - 0xfff, 0x1001, 0, -EINVAL },
	{ U64_MAX, 1, 0, -EINVAL },
	{ 0x1000, BIT_ULL(LOG_PAGES + PAGE_SHIFT) + 1, 0, -EINVAL },
	{ 0x1800, BIT_ULL(LOG_PAGES + PAGE_SHIFT), 0, -EINVAL },
	{ 0x1fff, BIT_ULL(LOG_PAGES + PAGE_SHIFT), 0, -EINVAL },
	{ 0, BIT_ULL(LOG_PAGES + PMD_SHIFT) + 1, IB_ACCESS_HUGETLB, -EINVAL },
	/* CREATE_MKEY is refused. */
	{ 0x1000, BIT_ULL(LOG_PAGES + PAGE_SHIFT), 0, -EAGAIN },
	{ 0x1fff, 1, 0, -EAGAIN },
};

static void reg_odp_mr_length_out_of_range_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	size_t i;

	attach_address_space(test);
	fixture->fake->hw.caps.umr_extended_translation_offset = 0;
	for (i = 0; i < ARRAY_SIZE(lengths); i++) {
		refuse(fixture, HW_CMD_CREATE_MKEY, 0);
		KUNIT_EXPECT_EQ_MSG(test, lengths[i].err,
				    reg_mr(fixture, lengths[i].start, lengths[i].length,
					   lengths[i].start, lengths[i].access),
				    "length %zu", i);
	}
	/*
	 * With the capability, the limit is kvcalloc() in the RDMA core: INT_MAX bytes, 8 for each
	 * page.
	 */
	fixture->fake->hw.caps.umr_extended_translation_offset = 1;
	KUNIT_EXPECT_EQ(test, -EINVAL,
			reg_mr(fixture, 0, (INT_MAX / sizeof(u64) + 1) << PAGE_SHIFT, 0, 0));
	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			reg_mr(fixture, START, BIT_ULL(LOG_PAGES + PAGE_SHIFT) + 1, START, 0));
	KUNIT_EXPECT_EQ(test, 0, fixture->creates);
	KUNIT_EXPECT_EQ(test, 0, fixture->wqes);
}

static void reg_odp_mr_iova_within_other_page_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	attach_address_space(test);
	KUNIT_EXPECT_EQ(test, -EINVAL, reg_mr(fixture, START, PAGE_SIZE, START + 1, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, reg_mr(fixture, START + PAGE_SIZE / 2, PAGE_SIZE, START, 0));
	KUNIT_EXPECT_EQ(test, 0, fixture->creates);
}

/*
 * The range starts inside a page, so it has 9 pages. UMR WQEs write units of CXIB_UMR_MTT_ALIGN
 * MTTs, so the mkey has two units. An octoword has 2 MTTs.
 */
static void reg_odp_mr_creates_mkey_without_pages(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->contexts[0];
	const u32 mtts = 2 * CXIB_UMR_MTT_ALIGN;
	const u64 iova = 0x5800;
	struct cxib_odp_mr *mr;
	struct ib_mr *ib;

	attach_address_space(test);
	memset(fixture->xlt, 0xff, mtts * sizeof(__be64));
	ib = cxib_reg_odp_mr(&fixture->pd.ib, 0x1800, 8 * PAGE_SIZE, iova,
			     IB_ACCESS_REMOTE_WRITE | IB_ACCESS_ON_DEMAND);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ib);
	KUNIT_EXPECT_EQ(test, 1, fixture->creates);
	KUNIT_EXPECT_TRUE(test, fixture->pg_access[0]);
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_MTT, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
	KUNIT_EXPECT_EQ(test, iova, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, 8 * PAGE_SIZE, hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, PAGE_SHIFT, hw_mkc_get_log_page_size(context));
	KUNIT_EXPECT_EQ(test, mtts / 2, hw_mkc_get_translations_octword_size(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_rw(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_rr(context));
	KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(context));
	/* One WQE writes the absent MTTs, and one enables the mkey. */
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_EQ(test, ib->lkey, fixture->wqe_key);
	KUNIT_EXPECT_EQ(test, HW_MKEY_MASK_KEY | HW_MKEY_MASK_FREE, fixture->wqe_mask);
	KUNIT_EXPECT_FALSE(test, fixture->wqe_free);
	KUNIT_EXPECT_NULL(test, memchr_inv(fixture->xlt, 0, mtts * sizeof(__be64)));
	mr = get_mr(fixture, ib->lkey);
	KUNIT_EXPECT_PTR_EQ(test, to_odp_mr(ib), mr);
	KUNIT_EXPECT_TRUE(test, to_odp_mr(ib)->live);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(ib, NULL));
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
}

/* RESOURCE_BUSY is -EBUSY. UMR has freed the mkey before, only once. */
static void dereg_odp_mr_refused_keeps_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);
	struct ib_mr *ib;

	attach_address_space(test);
	ib = cxib_reg_odp_mr(&fixture->pd.ib, 0x1000, 0x1000, 0x1000, IB_ACCESS_ON_DEMAND);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ib);
	fixture->wqes = 0;
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_dereg_odp_mr(ib, udata));
	KUNIT_EXPECT_EQ(test, 1, fixture->wqes);
	KUNIT_EXPECT_EQ(test, ib->lkey, fixture->wqe_key);
	/*
	 * The mkey moves to a PD of the driver, so that no QP of the process can enable it again.
	 */
	KUNIT_EXPECT_EQ(test, HW_MKEY_MASK_FREE | HW_MKEY_MASK_PD, fixture->wqe_mask);
	KUNIT_EXPECT_EQ(test, UMR_PDN, fixture->wqe_pd);
	KUNIT_EXPECT_TRUE(test, fixture->wqe_free);
	KUNIT_EXPECT_FALSE(test, to_odp_mr(ib)->live);
	KUNIT_EXPECT_PTR_EQ(test, to_odp_mr(ib), get_mr(fixture, ib->lkey));
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(ib, udata));
	KUNIT_EXPECT_EQ(test, 1, fixture->wqes);
	KUNIT_EXPECT_EQ(test, FIRST_INDEX, fixture->destroyed);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
}

/* The RDMA core frees the old MR. Its mkey leads to no page, and faults do not find it. */
static void rereg_odp_mr_refused_destroy_is_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;
	struct ib_mr *old, *new;
	u32 key;

	attach_address_space(test);
	old = cxib_reg_odp_mr(&fixture->pd.ib, 0x1000, 0x1000, 0x1000, IB_ACCESS_ON_DEMAND);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, old);
	key = old->lkey;
	new = cxib_rereg_user_mr(old, IB_MR_REREG_ACCESS, 0, 0, 0,
				 IB_ACCESS_ON_DEMAND | IB_ACCESS_REMOTE_READ,
				 &fixture->pd.ib, NULL);
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, new);
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(old, fake_request(&attrs, &context)));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	KUNIT_EXPECT_NULL(test, get_mr(fixture, key));
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(new, fake_request(&attrs, &context)));
	cxib_orphans_close(ibdev, &context);
	KUNIT_EXPECT_EQ(test, 2, fixture->destroys);
	KUNIT_EXPECT_TRUE(test, xa_empty(&ibdev->odp.regions));
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
}

/* The mkey exists in the device, so the driver destroys it. Its pages were never present. */
static void reg_odp_mr_failed_umr_destroys_mkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	attach_address_space(test);
	fixture->failing = 1;
	KUNIT_EXPECT_EQ(test, -EIO, reg_mr(fixture, START, PAGE_SIZE, START, 0));
	KUNIT_EXPECT_EQ(test, 1, fixture->creates);
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
}

/* Allocations of the fake device do not fail, because it runs in other threads. */
static void reg_odp_mr_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct failing_walk walk = {};
	struct ib_mr *ib;
	bool more;

	skip_unless_allocations_can_fail(test);
	attach_address_space(test);
	fixture->fake->hca->asynchronous = true;
	do {
		fail_next_allocation(&walk);
		ib = cxib_reg_odp_mr(&fixture->pd.ib, 0x1000, 0x1000, 0x1000,
				     IB_ACCESS_ON_DEMAND);
		more = failing_walk_goes_on(&walk, PTR_ERR_OR_ZERO(ib), 2);
		if (IS_ERR(ib))
			KUNIT_EXPECT_EQ_MSG(test, -ENOMEM, PTR_ERR(ib), "allocation %u",
					    walk.number);
		else
			KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(ib, NULL));
		KUNIT_EXPECT_EQ(test, fixture->creates, fixture->destroys);
		KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
	} while (more);
	/* The minimum is the MR and its umem. */
	KUNIT_EXPECT_GE(test, walk.refused, 2);
	KUNIT_EXPECT_FALSE(test, IS_ERR(ib));
}

/* The device may wrongly report that a WQE has failed. */
static void revoke_failed_umr_is_repeated(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->mr.mr.live = true;
	fixture->failing = 1;
	cxib_odp_revoke(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_EQ(test, MKEY, fixture->wqe_key);
	KUNIT_EXPECT_TRUE(test, fixture->wqe_free);
	KUNIT_EXPECT_FALSE(test, fixture->mr.mr.live);
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
	cxib_odp_revoke(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
}

/* The kernel reclaims the pages in any case, so DMA must be off. */
static void revoke_failed_twice_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->mr.mr.live = true;
	fixture->failing = 2;
	cxib_odp_revoke(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_FALSE(test, fixture->mr.mr.live);
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->fake->hw.commands));
}

/* After a timeout, for example, the device shows whether the WQEs have taken effect. */
static void revoke_failed_of_revoked_mkey_keeps_dma(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_mkc context = {};

	hw_mkc_set_free(&context, 1);
	hw_mkc_set_pd(&context, UMR_PDN);
	fixture->queried = &context;
	fixture->mr.mr.live = true;
	fixture->failing = 2;
	cxib_odp_revoke(&fixture->mr.mr);
	KUNIT_EXPECT_FALSE(test, fixture->mr.mr.live);
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
}

/* The process can enable the mkey again. */
static void revoke_failed_of_free_mkey_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_mkc context = {};

	hw_mkc_set_free(&context, 1);
	hw_mkc_set_pd(&context, PDN);
	fixture->queried = &context;
	fixture->mr.mr.live = true;
	fixture->failing = 2;
	cxib_odp_revoke(&fixture->mr.mr);
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
}

static int change_mr(struct fixture *fixture)
{
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = { .key = MKEY, .params = &params };
	int err;

	mutex_lock(&fixture->mr.memory.umem_mutex);
	err = cxib_odp_umr(&fixture->mr.mr, &change, NULL, NULL);
	mutex_unlock(&fixture->mr.memory.umem_mutex);
	return err;
}

static void umr_failed_once_is_repeated(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->failing = 1;
	KUNIT_EXPECT_EQ(test, 0, change_mr(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_EQ(test, 0, change_mr(fixture));
}

/* Otherwise the process could make any number of WQEs fail, each of which delays all others. */
static void umr_failed_twice_makes_mr_unusable(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->failing = 2;
	KUNIT_EXPECT_EQ(test, -EIO, change_mr(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_EQ(test, -EIO, change_mr(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
}

/**
 * struct caller - thread that executes a UMR WQE
 * @ibdev: RDMA device
 * @done: completed when @result is valid
 * @result: result of cxib_umr_execute()
 */
struct caller {
	struct cxib_ibdev *ibdev;
	struct completion done;
	int result;
};

static int execute_umr(void *data)
{
	const struct cxib_mkey_params params = {};
	const struct cxib_umr_change change = { .key = OTHER_MKEY, .params = &params };
	struct caller *caller = data;

	caller->result = cxib_umr_execute(caller->ibdev, &change, NULL, NULL);
	complete(&caller->done);
	return 0;
}

/* The caller has found the QP usable and waits for the lock while another caller's WQE fails. */
static void umr_waits_for_recovery_of_others(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_umr *umr = &fixture->fake->ibdev.umr;
	struct caller caller = { .ibdev = &fixture->fake->ibdev };
	struct task_struct *task;

	init_completion(&caller.done);
	task = kthread_create(execute_umr, &caller, "umr_caller");
	KUNIT_ASSERT_FALSE(test, IS_ERR(task));
	mutex_lock(&umr->lock);
	wake_up_process(task);
	msleep(50);
	WRITE_ONCE(umr->state, CXIB_UMR_RECOVERING);
	mutex_unlock(&umr->lock);
	msleep(50);
	KUNIT_EXPECT_EQ(test, 0, fixture->wqes);
	schedule_work(&umr->recovery);
	wait_for_completion(&caller.done);
	KUNIT_EXPECT_EQ(test, 0, caller.result);
	KUNIT_EXPECT_EQ(test, 1, fixture->wqes);
}

/* Uses the driver's own recovery. The device refuses to create a QP or CQ. */
static void init_recovery(struct fixture *fixture)
{
	struct cxib_umr *umr = &fixture->fake->ibdev.umr;

	mutex_init(&fixture->fake->qp.mutex);
	fixture->fake->qp.ib.send_cq = &fixture->fake->cq.ib;
	fixture->fake->qp.ib.recv_cq = &fixture->fake->cq.ib;
	cxib_umr_init(&fixture->fake->ibdev);
	WRITE_ONCE(umr->state, CXIB_UMR_UP);
}

static void umr_recovery_resets_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	init_recovery(fixture);
	fixture->failing = 1;
	KUNIT_EXPECT_EQ(test, 0, change_mr(fixture));
	KUNIT_EXPECT_EQ(test, 1, fixture->resets);
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, fixture->fake->qp.state);
}

/* The device refuses a command of the recovery. The next caller repeats the recovery. */
static void umr_failed_recovery_is_repeated(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	init_recovery(fixture);
	fixture->failing = 1;
	refuse(fixture, HW_CMD_INIT2RTR_QP, 0);
	KUNIT_EXPECT_EQ(test, 0, change_mr(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->resets);
	KUNIT_EXPECT_EQ(test, 2, fixture->wqes);
}

static int create_implicit(struct fixture *fixture)
{
	return cxib_odp_create_implicit_mkey(&fixture->mr.mr, &fixture->pd.ib);
}

/* Returns whether KSM @number names @mkey with address @address. */
static bool ksm_is(const struct fixture *fixture, unsigned int number, u32 mkey, u64 address)
{
	const struct hw_ksm *ksm = &fixture->xlt[number];

	return hw_ksm_get_key(ksm) == mkey && hw_ksm_get_va(ksm) == address;
}

/* 2^17 KSMs of 1 GiB for 47 address bits, 1024 in a WQE, and a WQE that enables the mkey. */
static void create_implicit_mkey_names_null_mkey_of_device(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->contexts[0];
	unsigned int i, wrong = 0;

	KUNIT_ASSERT_EQ(test, 0, create_implicit(fixture));
	KUNIT_EXPECT_EQ(test, 1, fixture->creates);
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_KSM, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_FALSE(test, fixture->pg_access[0]);
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, BIT_ULL(LOG_SPACE), hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, LOG_CHILD, hw_mkc_get_log_page_size(context));
	KUNIT_EXPECT_EQ(test, NUM_KSMS, hw_mkc_get_translations_octword_size(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
	KUNIT_EXPECT_EQ(test, NUM_KSMS / KSMS_PER_WQE + 1, fixture->wqes);
	KUNIT_EXPECT_EQ(test, HW_MKEY_MASK_KEY | HW_MKEY_MASK_FREE, fixture->wqe_mask);
	for (i = 0; i < NUM_KSMS; i++)
		wrong += !ksm_is(fixture, i, DEVICE_NULL, 0);
	KUNIT_EXPECT_EQ(test, 0, wrong);
	/* Faults of the null mkey of the device name no MR. */
	KUNIT_EXPECT_FALSE(test, fixture->mr.mr.has_null_key);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, DEVICE_NULL));
}

/*
 * With mem_page_fault, page n of the null mkey has the address n GiB, so that a fault shows its
 * address.
 */
static void create_implicit_mkey_names_null_mkey_of_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->contexts[0];
	const u32 null = FIRST_INDEX << 8 | 1;
	unsigned int i, wrong = 0;

	fixture->fake->hw.caps.mem_page_fault = 1;
	KUNIT_ASSERT_EQ(test, 0, create_implicit(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->creates);
	/* The variants count from 1. */
	KUNIT_EXPECT_EQ(test, null, fixture->mr.mr.null_mkey);
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_mkey_7_0(context));
	KUNIT_EXPECT_TRUE(test, fixture->pg_access[0]);
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_MTT, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, BIT_ULL(LOG_SPACE), hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, LOG_SPACE, hw_mkc_get_log_page_size(context));
	KUNIT_EXPECT_FALSE(test, fixture->pg_access[1]);
	for (i = 0; i < NUM_KSMS; i++)
		wrong += !ksm_is(fixture, i, null, (u64)i << LOG_CHILD);
	KUNIT_EXPECT_EQ(test, 0, wrong);
	insert(test, &fixture->mr);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->mr.mr, get_fault_mr(fixture, null));
	cxib_odp_destroy_children(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
	KUNIT_EXPECT_EQ(test, FIRST_INDEX, fixture->destroyed);
	KUNIT_EXPECT_NULL(test, get_fault_mr(fixture, null));
	cxib_odp_destroy_children(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
}

static void create_implicit_mkey_keeps_children(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xarray *children = &fixture->mr.mr.implicit_children;

	const unsigned int number = 5;

	fixture->child.mr.mr.ib.iova = (u64)number << LOG_CHILD;
	KUNIT_ASSERT_EQ(test, 0, xa_err(xa_store(children, number, &fixture->child.mr,
						 GFP_KERNEL)));
	KUNIT_ASSERT_EQ(test, 0, xa_err(xa_store(children, NUM_KSMS - 1, &fixture->other.mr,
						 GFP_KERNEL)));
	KUNIT_ASSERT_EQ(test, 0, create_implicit(fixture));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, number, CHILD_MKEY, (u64)number << LOG_CHILD));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, NUM_KSMS - 1, OTHER_MKEY, 0));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, number - 1, DEVICE_NULL, 0));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, number + 1, DEVICE_NULL, 0));
}

/* Commands: the query, the null mkey, the mkey. A UMR WQE follows. */
static void create_implicit_mkey_failed_destroys_null_mkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	refuse(fixture, HW_CMD_QUERY_SPECIAL_CONTEXTS, 0);
	KUNIT_EXPECT_EQ(test, -EAGAIN, create_implicit(fixture));
	KUNIT_EXPECT_EQ(test, 0, fixture->creates);
	fixture->fake->hw.caps.mem_page_fault = 1;
	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EAGAIN, create_implicit(fixture));
	KUNIT_EXPECT_EQ(test, 0, fixture->creates + fixture->destroys);
	refuse(fixture, HW_CMD_CREATE_MKEY, 1);
	KUNIT_EXPECT_EQ(test, -EAGAIN, create_implicit(fixture));
	KUNIT_EXPECT_EQ(test, 1, fixture->creates);
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
	KUNIT_EXPECT_EQ(test, FIRST_INDEX, fixture->destroyed);
	fixture->failing = 1;
	KUNIT_EXPECT_EQ(test, -EIO, create_implicit(fixture));
	/* Both mkeys exist until the WQE fails. */
	KUNIT_EXPECT_EQ(test, 1 + 2, fixture->creates);
	KUNIT_EXPECT_EQ(test, 1 + 2, fixture->destroys);
	KUNIT_EXPECT_FALSE(test, fixture->mr.mr.has_null_key);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->fake->ibdev.odp.regions));
}

static int fault_in(struct cxib_odp_mr *mr, const struct cxib_odp_range *range)
{
	if (faults.calls < ARRAY_SIZE(faults.mr)) {
		faults.mr[faults.calls] = mr;
		faults.range[faults.calls] = *range;
	}
	if (faults.result)
		return faults.result;
	return ++faults.calls;
}

static int fault_in_implicit(struct fixture *fixture, u64 address, u64 length, int absent)
{
	const struct cxib_odp_range range = {
		.address = address, .length = length, .for_writing = true,
	};

	faults.calls = 0;
	return cxib_odp_fault_in_implicit(&fixture->mr.mr, &range, fault_in, absent);
}

static void add_children(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct xarray *children = &fixture->mr.mr.implicit_children;

	KUNIT_ASSERT_EQ(test, 0, xa_err(xa_store(children, 1, &fixture->child.mr, GFP_KERNEL)));
	KUNIT_ASSERT_EQ(test, 0, xa_err(xa_store(children, 2, &fixture->other.mr, GFP_KERNEL)));
}

/* The result is the sum of the results of fault_in(), 1 and 2. */
static void fault_in_implicit_splits_range_at_children(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u64 border = 2ULL << LOG_CHILD, before = 0x1001, after = 0x2000;

	add_children(test);
	KUNIT_EXPECT_EQ(test, 1 + 2, fault_in_implicit(fixture, border - before, before + after,
						       -EFAULT));
	KUNIT_ASSERT_EQ(test, 2, faults.calls);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->child.mr, faults.mr[0]);
	KUNIT_EXPECT_EQ(test, border - before, faults.range[0].address);
	KUNIT_EXPECT_EQ(test, before, faults.range[0].length);
	KUNIT_EXPECT_TRUE(test, faults.range[0].for_writing);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->other.mr, faults.mr[1]);
	KUNIT_EXPECT_EQ(test, border, faults.range[1].address);
	KUNIT_EXPECT_EQ(test, after, faults.range[1].length);
	KUNIT_EXPECT_TRUE(test, faults.range[1].for_writing);
	/* The range is exactly one child. */
	KUNIT_EXPECT_EQ(test, 1, fault_in_implicit(fixture, border, BIT_ULL(LOG_CHILD), -EFAULT));
	KUNIT_EXPECT_EQ(test, BIT_ULL(LOG_CHILD), faults.range[0].length);
	KUNIT_EXPECT_EQ(test, 0, fault_in_implicit(fixture, border, 0, -EFAULT));
	KUNIT_EXPECT_EQ(test, 0, faults.calls);
}

/* The process has exited, so the driver creates no child MR. */
static void fault_in_implicit_without_memory_returns_absent(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u64 start = (1ULL << LOG_CHILD) - PAGE_SIZE, length = 2 * PAGE_SIZE;

	add_children(test);
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, start, length, -EFAULT));
	KUNIT_EXPECT_EQ(test, 0, faults.calls);
	KUNIT_EXPECT_EQ(test, 1, fault_in_implicit(fixture, start, length, 0));
	KUNIT_EXPECT_EQ(test, 1, faults.calls);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->child.mr, faults.mr[0]);
	KUNIT_EXPECT_EQ(test, 0, fixture->creates);
}

static void fault_in_implicit_error_stops(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	add_children(test);
	faults.result = -EIO;
	KUNIT_EXPECT_EQ(test, -EIO, fault_in_implicit(fixture, (2ULL << LOG_CHILD) - 1, 2, 0));
	KUNIT_EXPECT_PTR_EQ(test, &fixture->child.mr, faults.mr[0]);
	KUNIT_EXPECT_EQ(test, 0, faults.calls);
}

/* Absent ranges in the address space count as 0 pages here. */
static void fault_in_implicit_beyond_address_space_returns_efault(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u64 end = BIT_ULL(LOG_SPACE);

	KUNIT_EXPECT_EQ(test, 0, fault_in_implicit(fixture, end - 1, 1, 0));
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, end - 1, 2, 0));
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, end, 0, 0));
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, end, 1, 0));
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, U64_MAX, 1, 0));
	KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, 1, U64_MAX, 0));
}

/*
 * The driver does not destroy an empty child at once, as the device may report more of its faults.
 */
static void reap_condemns_unused_children_without_pages(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_odp_mr *parent = &fixture->mr.mr;

	add_children(test);
	fixture->child.mr.mr.ib.iova = 1ULL << LOG_CHILD;
	KUNIT_ASSERT_EQ(test, 0, create_implicit(fixture));
	parent->live = true;
	cxib_odp_reap(parent);
	KUNIT_EXPECT_TRUE(test, list_empty(&parent->condemned));
	fixture->child.memory.npages = 0;
	fixture->child.mr.users = 1;
	cxib_odp_reap(parent);
	KUNIT_EXPECT_TRUE(test, list_empty(&parent->condemned));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, 1, CHILD_MKEY, 1ULL << LOG_CHILD));
	fixture->child.mr.users = 0;
	cxib_odp_reap(parent);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&parent->condemned));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, 1, DEVICE_NULL, 0));
	KUNIT_EXPECT_TRUE(test, ksm_is(fixture, 2, OTHER_MKEY, 0));
	KUNIT_EXPECT_NULL(test, xa_load(&parent->implicit_children, 1));
	KUNIT_EXPECT_PTR_EQ(test, &fixture->other.mr, xa_load(&parent->implicit_children, 2));
	KUNIT_EXPECT_EQ(test, 0, fixture->destroys);
	INIT_LIST_HEAD(&parent->condemned);
	parent->live = false;
}

/* A fault that adds no page does not change the child. */
static void fault_in_implicit_without_pages_reaps_child(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	add_children(test);
	faults.result = -EFAULT;
	fault_in_implicit(fixture, 1ULL << LOG_CHILD, 1, 0);
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&fixture->mr.mr.reap_work));
	fixture->child.memory.npages = 0;
	fault_in_implicit(fixture, 1ULL << LOG_CHILD, 1, 0);
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&fixture->mr.mr.reap_work));
	cancel_delayed_work_sync(&fixture->mr.mr.reap_work);
}

static void charge_beyond_limit_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u64 max = cxib_odp_pages_max((u64)totalram_pages() << PAGE_SHIFT);

	KUNIT_EXPECT_EQ(test, 0, cxib_odp_charge(&fixture->mr.mr, max));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_odp_charge(&fixture->child.mr, 1));
	/* The MR of another context of the user, then that of another user. */
	fixture->other_context.user = &fixture->user;
	fixture->other.mr.context = &fixture->other_context;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_odp_charge(&fixture->other.mr, 1));
	fixture->other_context.user = &fixture->other_user;
	KUNIT_EXPECT_EQ(test, 0, cxib_odp_charge(&fixture->other.mr, 1));
	cxib_odp_uncharge(&fixture->other.mr);
	cxib_odp_uncharge(&fixture->mr.mr);
	KUNIT_EXPECT_EQ(test, 0, cxib_odp_charge(&fixture->child.mr, 1));
	cxib_odp_uncharge(&fixture->child.mr);
	KUNIT_EXPECT_EQ(test, 0, atomic64_read(&fixture->user.pages));
	/* All pages of 4 KiB in 2 TiB, eight times. */
	KUNIT_EXPECT_GE(test, cxib_odp_pages_max(BIT_ULL(41)), BIT_ULL(44 - PAGE_SHIFT));
}

static void report_fault(struct fixture *fixture, const struct fake_mr *fake_mr)
{
	const struct cxib_page_fault event = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_RDMA, .key = fake_mr->mr.mr.ib.lkey,
		.length = 1, .packet_size = 1, .last = true,
	};

	cxib_page_fault_event(&fixture->fake->ibdev, &event);
}

static bool are_resumed(struct fixture *fixture, int count)
{
	unsigned int i;

	for (i = 0; i < POLLS_MAX && atomic_read(&fixture->resumes) < count; i++)
		usleep_range(10000, 20000);
	return atomic_read(&fixture->resumes) == count;
}

/* The faults of one user stall, here because of a lock. */
static void page_faults_of_user_stall_no_other(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->child.mr.context = &fixture->other_context;
	fixture->mr.memory.is_implicit_odp = 1;
	fixture->child.memory.is_implicit_odp = 1;
	insert(test, &fixture->mr);
	insert(test, &fixture->child);
	mutex_lock(&fixture->mr.mr.fault_mutex);
	for (i = 0; i < FAULTS; i++)
		report_fault(fixture, &fixture->mr);
	KUNIT_EXPECT_EQ(test, FAULTS, atomic_read(&fixture->user.faults));
	report_fault(fixture, &fixture->child);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, 1));
	mutex_unlock(&fixture->mr.mr.fault_mutex);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, FAULTS + 1));
	flush_workqueue(fixture->user.workqueue);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->user.faults));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->context.users));
}

/* The workers of the user stall, so the fault of @child is handled only after its MR is gone. */
static void page_fault_of_destroyed_mr_queries_no_mkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->mr.memory.is_implicit_odp = 1;
	insert(test, &fixture->mr);
	insert(test, &fixture->child);
	mutex_lock(&fixture->mr.mr.fault_mutex);
	for (i = 0; i < FAULTS; i++)
		report_fault(fixture, &fixture->mr);
	report_fault(fixture, &fixture->child);
	cxib_odp_erase_mkey(&fixture->child.mr, fixture->child.mr.mr.ib.lkey);
	mutex_unlock(&fixture->mr.mr.fault_mutex);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, FAULTS + 1));
	KUNIT_EXPECT_EQ(test, 0, fixture->queries);
}

static void init_indirect_mkey(struct fixture *fixture, struct hw_mkc *context, u32 klm_key)
{
	hw_mkc_set_access_mode_1_0(context, HW_MKEY_ACCESS_MODE_KLMS);
	hw_mkc_set_translations_octword_size(context, 1);
	hw_mkc_set_pd(context, PDN);
	fixture->queried = context;
	fixture->klm_key = klm_key;
}

static bool has_fault(const struct cxib_odp_user *user)
{
	unsigned int i;

	for (i = 0; i < POLLS_MAX && !atomic_read(&user->faults); i++)
		usleep_range(10000, 20000);
	return atomic_read(&user->faults);
}

/* Workers that all users share find the MR behind an mkey of DEVX; they do not wait for pages. */
static void page_fault_of_indirect_mkey_is_of_user_of_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_mkc context = {};

	fixture->mr.memory.is_implicit_odp = 1;
	insert(test, &fixture->mr);
	init_indirect_mkey(fixture, &context, fixture->mr.mr.mr.ib.lkey);
	mutex_lock(&fixture->mr.mr.fault_mutex);
	report_fault(fixture, &fixture->other);
	KUNIT_EXPECT_TRUE(test, has_fault(&fixture->user));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->fake->ibdev.odp.unknown_user.faults));
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->resumes));
	mutex_unlock(&fixture->mr.mr.fault_mutex);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, 1));
	KUNIT_EXPECT_NE(test, 0, fixture->queries);
	flush_workqueue(fixture->user.workqueue);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->user.faults));
	KUNIT_EXPECT_EQ(test, 1, refcount_read(&fixture->context.users));
}

/**
 * struct lock_holder - thread that holds the lock of an address space
 * @task: the thread
 * @mm: the address space
 * @locked: the thread holds the lock
 * @release: the thread may drop it
 */
struct lock_holder {
	struct task_struct *task;
	struct mm_struct *mm;
	struct completion locked;
	struct completion release;
};

static int hold_lock(void *data)
{
	struct lock_holder *holder = data;

	mmap_write_lock(holder->mm);
	complete(&holder->locked);
	wait_for_completion(&holder->release);
	mmap_write_unlock(holder->mm);
	return 0;
}

static void start_holder(struct kunit *test, struct lock_holder *holder)
{
	holder->mm = current->mm;
	init_completion(&holder->locked);
	init_completion(&holder->release);
	holder->task = kthread_create(hold_lock, holder, "lock_holder");
	KUNIT_ASSERT_FALSE(test, IS_ERR(holder->task));
	get_task_struct(holder->task);
	wake_up_process(holder->task);
	wait_for_completion(&holder->locked);
}

static void stop_holder(struct lock_holder *holder)
{
	complete(&holder->release);
	kthread_stop(holder->task);
	put_task_struct(holder->task);
}

static void report_fault_of(struct fixture *fixture, u32 mkey)
{
	const struct cxib_page_fault event = {
		.subtype = HW_PAGE_FAULT_SUBTYPE_RDMA, .key = mkey, .address = START,
		.length = 1, .packet_size = 1, .last = true,
	};

	cxib_page_fault_event(&fixture->fake->ibdev, &event);
}

/*
 * Returns an MR with a page fault that waits for the lock of the address space, as it may wait for
 * a page of a FUSE file.
 */
static struct ib_mr *start_waiting_fault(struct kunit *test, struct lock_holder *holder)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib;

	attach_address_space(test);
	ib = cxib_reg_odp_mr(&fixture->pd.ib, START, PAGE_SIZE, START,
			     IB_ACCESS_ON_DEMAND);
	KUNIT_ASSERT_FALSE(test, IS_ERR(ib));
	start_holder(test, holder);
	report_fault_of(fixture, ib->lkey);
	while (list_empty_careful(&to_odp_mr(ib)->populates))
		usleep_range(100, 200);
	return ib;
}

static void dereg_odp_mr_ends_page_fault(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct lock_holder holder;
	struct ib_mr *ib;

	ib = start_waiting_fault(test, &holder);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->resumes));
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(ib, NULL));
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, 1));
	stop_holder(&holder);
}

static void unregistration_ends_page_faults(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct lock_holder holder;
	struct ib_mr *ib;

	ib = start_waiting_fault(test, &holder);
	cxib_odp_end_faults(&fixture->fake->ibdev);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, 1));
	report_fault_of(fixture, ib->lkey);
	KUNIT_EXPECT_TRUE(test, are_resumed(fixture, 2));
	stop_holder(&holder);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_odp_mr(ib, NULL));
}

/**
 * struct changer - threads that hold the lock of an address space for writing in turns
 * @tasks: the threads
 * @mm: the address space
 * @turns: number of turns so far, at most TURNS_MAX
 */
struct changer {
	struct task_struct *tasks[8];
	struct mm_struct *mm;
	atomic_t turns;
};

static int change_address_space(void *data)
{
	struct changer *changer = data;

	while (!kthread_should_stop()) {
		const bool may_change = atomic_add_unless(&changer->turns, 1, TURNS_MAX);

		if (may_change)
			mmap_write_lock(changer->mm);
		usleep_range(1000, 2000);
		if (may_change)
			mmap_write_unlock(changer->mm);
	}
	return 0;
}

static void stop_changer(void *data)
{
	struct changer *changer = data;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(changer->tasks); i++)
		if (!IS_ERR_OR_NULL(changer->tasks[i]))
			kthread_stop(changer->tasks[i]);
}

/* A thread always holds the lock, and others wait for it, so a try to get it fails. */
static void start_changer(struct kunit *test, struct changer *changer)
{
	unsigned int i;

	changer->mm = current->mm;
	for (i = 0; i < ARRAY_SIZE(changer->tasks); i++)
		changer->tasks[i] = kthread_run(change_address_space, changer, "changer%u", i);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, stop_changer, changer));
	for (i = 0; i < ARRAY_SIZE(changer->tasks); i++)
		KUNIT_ASSERT_FALSE(test, IS_ERR(changer->tasks[i]));
	while (!atomic_read(&changer->turns))
		usleep_range(100, 200);
}

static void fault_in_implicit_of_busy_address_space_ends(struct kunit *test)
{
	struct changer *changer = kunit_kzalloc(test, sizeof(*changer), GFP_KERNEL);
	struct fixture *fixture = test->priv;
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, changer);
	attach_address_space(test);
	fixture->mr.memory.umem.owning_mm = current->mm;
	start_changer(test, changer);
	for (i = 0; i < LOOK_UPS; i++)
		KUNIT_EXPECT_EQ(test, -EFAULT, fault_in_implicit(fixture, 0, 1, -EFAULT));
	KUNIT_EXPECT_LT(test, atomic_read(&changer->turns), TURNS_MAX);
}

/**
 * struct mapping - call of cxib_odp_populate() in a thread
 * @task: the thread
 * @mr: MR
 * @called: the function that maps pages has been called
 * @release: it may return
 * @calls: number of its calls
 * @busy: number of calls that return -EBUSY
 * @has_returned: cxib_odp_populate() has returned
 * @result: of cxib_odp_populate()
 */
struct mapping {
	struct task_struct *task;
	struct cxib_odp_mr *mr;
	struct completion called;
	struct completion release;
	unsigned int calls;
	unsigned int busy;
	bool has_returned;
	int result;
};

static int map(void *context, u64 *absent)
{
	struct mapping *mapping = context;

	lockdep_assert_held(&mapping->mr->mr.umem->owning_mm->mmap_lock);
	complete(&mapping->called);
	wait_for_completion(&mapping->release);
	return mapping->calls++ < mapping->busy ? -EBUSY : PAGES_MAPPED;
}

static int populate(void *data)
{
	struct mapping *mapping = data;

	mapping->result = cxib_odp_populate(mapping->mr, 0, false, map, mapping);
	WRITE_ONCE(mapping->has_returned, true);
	return 0;
}

static void start_mapping(struct kunit *test, struct mapping *mapping)
{
	struct fixture *fixture = test->priv;

	attach_address_space(test);
	mapping->mr = &fixture->mr.mr;
	mapping->mr->mr.umem->owning_mm = current->mm;
	init_completion(&mapping->called);
	init_completion(&mapping->release);
	mapping->task = kthread_create(populate, mapping, "mapping");
	KUNIT_ASSERT_FALSE(test, IS_ERR(mapping->task));
	get_task_struct(mapping->task);
	wake_up_process(mapping->task);
	wait_for_completion(&mapping->called);
}

static void stop_mapping(struct mapping *mapping)
{
	complete_all(&mapping->release);
	while (!READ_ONCE(mapping->has_returned))
		usleep_range(100, 200);
	kthread_stop(mapping->task);
	put_task_struct(mapping->task);
}

static void populate_returns_result_of_map(struct kunit *test)
{
	struct mapping mapping = {};

	start_mapping(test, &mapping);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(mapping.has_returned));
	stop_mapping(&mapping);
	KUNIT_EXPECT_EQ(test, PAGES_MAPPED, mapping.result);
	KUNIT_EXPECT_EQ(test, 1, mapping.calls);
}

static void populate_repeats_busy_map(struct kunit *test)
{
	struct mapping mapping = { .busy = BUSY_CALLS };

	start_mapping(test, &mapping);
	stop_mapping(&mapping);
	KUNIT_EXPECT_EQ(test, PAGES_MAPPED, mapping.result);
	KUNIT_EXPECT_EQ(test, BUSY_CALLS + 1, mapping.calls);
}

static void populate_of_map_that_remains_busy_returns_ebusy(struct kunit *test)
{
	struct mapping mapping = { .busy = UINT_MAX };

	start_mapping(test, &mapping);
	stop_mapping(&mapping);
	KUNIT_EXPECT_EQ(test, -EBUSY, mapping.result);
	KUNIT_EXPECT_GT(test, mapping.calls, BUSY_CALLS);
}

/* The function uses the notifier of the MR, which is destroyed next. */
static void ended_populate_returns_after_map(struct kunit *test)
{
	struct mapping mapping = { .busy = UINT_MAX };

	start_mapping(test, &mapping);
	cxib_odp_end_populates(mapping.mr);
	msleep(50);
	KUNIT_EXPECT_FALSE(test, READ_ONCE(mapping.has_returned));
	stop_mapping(&mapping);
	KUNIT_EXPECT_EQ(test, -ENODEV, mapping.result);
	KUNIT_EXPECT_EQ(test, 1, mapping.calls);
}

/**
 * struct late_return - a work that returns long after its page fault
 * @workqueue: for @put, with WQ_MEM_RECLAIM
 * @put: destroys the pager
 * @pager: pager of the work
 * @worker: executes the work
 * @tracepoint: behind the function of each work of the kernel
 */
struct late_return {
	struct workqueue_struct *workqueue;
	struct work_struct put;
	struct cxib_odp_pager *pager;
	struct task_struct *worker;
	struct tracepoint *tracepoint;
};

static void put_pager(struct work_struct *work)
{
	cxib_odp_put_pager(container_of(work, struct late_return, put)->pager);
}

static int map_late(void *context, u64 *absent)
{
	struct late_return *late = context;

	WRITE_ONCE(late->worker, current);
	return PAGES_MAPPED;
}

static void delay_worker(void *data, struct work_struct *work, work_func_t function)
{
	struct late_return *late = data;

	if (READ_ONCE(late->worker) != current)
		return;
	late->worker = NULL;
	queue_work_on(cpumask_any_but(cpu_online_mask, smp_processor_id()), late->workqueue,
		      &late->put);
	mdelay(RETURN_MS);
}

static void find_tracepoint(struct tracepoint *tracepoint, void *data)
{
	struct late_return *late = data;

	if (!strcmp(tracepoint->name, "workqueue_execute_end"))
		late->tracepoint = tracepoint;
}

static void delay_workers(struct kunit *test, struct late_return *late)
{
	for_each_kernel_tracepoint(find_tracepoint, late);
	KUNIT_ASSERT_NOT_NULL(test, late->tracepoint);
	KUNIT_ASSERT_EQ(test, 0, tracepoint_probe_register(late->tracepoint, delay_worker, late));
}

/*
 * A worker with WQ_MEM_RECLAIM destroys the workqueue of the pager. The kernel warns if it has to
 * wait for a work of a workqueue without this flag.
 */
static void pager_is_destroyed_while_its_last_work_returns(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct late_return late = { .workqueue = fixture->fake->ibdev.odp.workqueue };
	struct cxib_odp_mr *mr = &fixture->mr.mr;
	struct cxib_odp_pager *before = fixture->user.pager;

	late.pager = cxib_odp_get_pager(KUIDT_INIT(1));
	KUNIT_ASSERT_NOT_NULL(test, late.pager);
	attach_address_space(test);
	mr->mr.umem->owning_mm = current->mm;
	fixture->user.pager = late.pager;
	INIT_WORK_ONSTACK(&late.put, put_pager);
	delay_workers(test, &late);
	KUNIT_EXPECT_EQ(test, PAGES_MAPPED, cxib_odp_populate(mr, 0, false, map_late, &late));
	tracepoint_probe_unregister(late.tracepoint, delay_worker, &late);
	tracepoint_synchronize_unregister();
	flush_work(&late.put);
	destroy_work_on_stack(&late.put);
	fixture->user.pager = before;
}

static void contexts_of_user_share_page_faults(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_odp_context *contexts[2];
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(contexts); i++) {
		contexts[i] = cxib_odp_get_context(ibdev, &fixture->owners[i]);
		KUNIT_ASSERT_NOT_NULL(test, contexts[i]);
	}
	KUNIT_EXPECT_PTR_NE(test, contexts[0], contexts[1]);
	KUNIT_EXPECT_PTR_EQ(test, contexts[0]->user, contexts[1]->user);
	KUNIT_EXPECT_TRUE(test, uid_eq(current_uid(), contexts[0]->user->uid));
	cxib_odp_put_context(ibdev, contexts[0]);
	KUNIT_EXPECT_TRUE(test, list_is_singular(&ibdev->odp.users));
	cxib_odp_put_context(ibdev, contexts[1]);
	KUNIT_EXPECT_TRUE(test, list_empty(&ibdev->odp.users));
}

static void init_namespace(struct user_namespace *ns, struct user_namespace *parent, kuid_t owner,
			   u32 first)
{
	ns->parent = parent;
	ns->owner = owner;
	ns->uid_map.nr_extents = 1;
	ns->uid_map.extent[0] = (struct uid_gid_extent){ .lower_first = first, .count = 65536 };
}

/* A process can take any UID of its user namespace. */
static void uids_of_user_namespace_count_as_one(struct kunit *test)
{
	const kuid_t user = KUIDT_INIT(1000), root = KUIDT_INIT(100000), other = KUIDT_INIT(100007);
	struct user_namespace *outer, *inner;

	outer = kunit_kzalloc(test, sizeof(*outer), GFP_KERNEL);
	inner = kunit_kzalloc(test, sizeof(*inner), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, outer);
	KUNIT_ASSERT_NOT_NULL(test, inner);
	KUNIT_EXPECT_TRUE(test, uid_eq(user, cxib_odp_uid(&init_user_ns, user)));
	init_namespace(outer, &init_user_ns, user, 100000);
	init_namespace(inner, outer, root, 100005);
	KUNIT_EXPECT_TRUE(test, uid_eq(user, cxib_odp_uid(outer, other)));
	KUNIT_EXPECT_TRUE(test, uid_eq(user, cxib_odp_uid(inner, other)));
	/* Root has created a container, in which a user has created a namespace. */
	outer->owner = GLOBAL_ROOT_UID;
	KUNIT_EXPECT_TRUE(test, uid_eq(root, cxib_odp_uid(outer, other)));
	KUNIT_EXPECT_TRUE(test, uid_eq(root, cxib_odp_uid(inner, other)));
	outer->uid_map.nr_extents = 0;
	KUNIT_EXPECT_TRUE(test, uid_eq(other, cxib_odp_uid(outer, other)));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(get_mr_takes_reference),
	KUNIT_CASE(get_mr_of_other_mkey_returns_null),
	KUNIT_CASE(insert_mkey_of_reused_index_replaces_mr),
	KUNIT_CASE(get_fault_mr_of_child_returns_parent),
	KUNIT_CASE(get_fault_mr_of_child_without_parent_returns_null),
	KUNIT_CASE(get_fault_mr_of_null_mkey_returns_owner),
	KUNIT_CASE(find_range_outside_mr_returns_efault),
	KUNIT_CASE(describe_paging_reports_operations_of_transport),
	KUNIT_CASE(describe_paging_without_capability_reports_nothing),
	KUNIT_CASE(odp_with_bounced_dma_is_not_offered),
	KUNIT_CASE(describe_paging_implicit_needs_capabilities),
	KUNIT_CASE(describe_paging_implicit_needs_no_longer_klm_list),
	KUNIT_CASE(reg_odp_mr_without_capability_returns_eopnotsupp),
	KUNIT_CASE(reg_odp_mr_length_out_of_range_returns_einval),
	KUNIT_CASE(reg_odp_mr_iova_within_other_page_returns_einval),
	KUNIT_CASE(reg_odp_mr_creates_mkey_without_pages),
	KUNIT_CASE(dereg_odp_mr_refused_keeps_mr),
	KUNIT_CASE(rereg_odp_mr_refused_destroy_is_left),
	KUNIT_CASE(reg_odp_mr_failed_umr_destroys_mkey),
	KUNIT_CASE(reg_odp_mr_failed_allocation_returns_enomem),
	KUNIT_CASE(revoke_failed_umr_is_repeated),
	KUNIT_CASE(revoke_failed_twice_switches_dma_off),
	KUNIT_CASE(revoke_failed_of_revoked_mkey_keeps_dma),
	KUNIT_CASE(revoke_failed_of_free_mkey_switches_dma_off),
	KUNIT_CASE(umr_failed_once_is_repeated),
	KUNIT_CASE(umr_failed_twice_makes_mr_unusable),
	KUNIT_CASE(umr_waits_for_recovery_of_others),
	KUNIT_CASE(umr_recovery_resets_qp),
	KUNIT_CASE(umr_failed_recovery_is_repeated),
	KUNIT_CASE(create_implicit_mkey_names_null_mkey_of_device),
	KUNIT_CASE(create_implicit_mkey_names_null_mkey_of_mr),
	KUNIT_CASE(create_implicit_mkey_keeps_children),
	KUNIT_CASE(create_implicit_mkey_failed_destroys_null_mkey),
	KUNIT_CASE(fault_in_implicit_splits_range_at_children),
	KUNIT_CASE(fault_in_implicit_without_memory_returns_absent),
	KUNIT_CASE(fault_in_implicit_error_stops),
	KUNIT_CASE(fault_in_implicit_beyond_address_space_returns_efault),
	KUNIT_CASE(reap_condemns_unused_children_without_pages),
	KUNIT_CASE(fault_in_implicit_without_pages_reaps_child),
	KUNIT_CASE(charge_beyond_limit_returns_enomem),
	KUNIT_CASE(page_faults_of_user_stall_no_other),
	KUNIT_CASE(page_fault_of_indirect_mkey_is_of_user_of_mr),
	KUNIT_CASE(page_fault_of_destroyed_mr_queries_no_mkey),
	KUNIT_CASE(dereg_odp_mr_ends_page_fault),
	KUNIT_CASE(unregistration_ends_page_faults),
	KUNIT_CASE(fault_in_implicit_of_busy_address_space_ends),
	KUNIT_CASE(populate_returns_result_of_map),
	KUNIT_CASE(populate_repeats_busy_map),
	KUNIT_CASE(populate_of_map_that_remains_busy_returns_ebusy),
	KUNIT_CASE(ended_populate_returns_after_map),
	KUNIT_CASE(pager_is_destroyed_while_its_last_work_returns),
	KUNIT_CASE(contexts_of_user_share_page_faults),
	KUNIT_CASE(uids_of_user_namespace_count_as_one),
	{}
};

static struct kunit_suite suite = {
	.name = "odp",
	.init = odp_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
