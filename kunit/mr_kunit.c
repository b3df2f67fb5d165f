// SPDX-License-Identifier: GPL-2.0-only
/*
 * DMA MRs, MEMIC, fast registration, and a page of user memory: the input of CREATE_MKEY, the
 * translation lists of REG_MR WQEs, and what remains after a refused command.
 */
#include <linux/log2.h>
#include <linux/mman.h>
#include <linux/pci.h>
#include <linux/scatterlist.h>
#include <linux/skbuff.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "failing_allocations.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/contexts.h"
#include "hw/mkey.h"
#include "hw/work_queue.h"
#include "verbs/mkey.h"
#include "verbs/mr/mr.h"

#define PDN		0xabcdef
#define MKEY_INDEX	0x123456
#define RESD_LKEY	0x300
#define PD_LKEY		0x42
#define SGES		4

/* QPN of an mkey that any QP of the PD may use: mkc.qpn in mlx5_ifc.h. */
#define ANY_QPN		0xffffff

/* The device reads lists in units of 64 bytes. An octoword has 16 bytes. */
#define LIST_UNIT	64
#define OCTOWORD	16
#define MIN_OCTOWORDS	(LIST_UNIT / OCTOWORD)

/* An mkey is its index and 8 bits of variant: mkey_7_0 in mlx5_ifc.h. */
#define LOG_VARIANTS	8
#define NUM_VARIANTS	BIT(LOG_VARIANTS)

#define MEMIC_START	0x2100040
#define MEMIC_LENGTH	0x180
#define ENTRIES		9
#define HIGH		0x123450000000ULL

/**
 * struct fixture - a PD and its device
 * @fake: the device
 * @pd: the PD
 * @refused: opcode of which one command is refused; 0: none
 * @passed: commands of that opcode that succeed before
 * @creates: number of CREATE_MKEY commands that succeeded
 * @destroys: number of DESTROY_MKEY commands that succeeded
 * @context: mkey context of the last CREATE_MKEY
 * @destroyed: mkey index of the last DESTROY_MKEY
 * @sg: for cxib_map_mr_sg()
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	u16 refused;
	unsigned int passed;
	unsigned int creates;
	unsigned int destroys;
	struct hw_mkc context;
	u32 destroyed;
	struct scatterlist sg[SGES];
};

/*
 * Returns a status other than NO_RESOURCES, whose -ENOMEM could come from the driver's own
 * allocations.
 */
static u8 refusal(u16 opcode)
{
	return opcode == HW_CMD_DESTROY_MKEY ? HW_COMMAND_STATUS_RESOURCE_BUSY :
					       HW_COMMAND_STATUS_BAD_PARAMETER;
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == fixture->refused && !fixture->passed--)
		return refusal(opcode);
	switch (opcode) {
	case HW_CMD_CREATE_MKEY:
		fixture->creates++;
		fixture->context = *hw_create_mkey_in_get_memory_key_mkey_entry(in);
		hw_create_mkey_out_set_mkey_index(out, MKEY_INDEX);
		return HW_COMMAND_STATUS_OK;
	case HW_CMD_DESTROY_MKEY:
		fixture->destroys++;
		fixture->destroyed = hw_destroy_mkey_in_get_mkey_index(in);
		return HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_BAD_OPERATION;
	}
}

static void refuse(struct fixture *fixture, u16 opcode, unsigned int passed)
{
	fixture->refused = opcode;
	fixture->passed = passed;
}

static int mr_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fake_queue_pair_start(fake, run_command, fixture);
	/* The cases have no UMR QP. */
	fake->hw.caps.umr_modify_entity_size_disabled = 1;
	fixture->pd.ib.device = &fake->ibdev.ib;
	fixture->pd.ib.local_dma_lkey = PD_LKEY;
	fixture->pd.pdn = PDN;
	mutex_init(&fixture->pd.key_lock);
	sg_init_table(fixture->sg, SGES);
	test->priv = fixture;
	return 0;
}

/* Does what the RDMA core does after the driver has returned the MR. */
static struct ib_mr *own(struct kunit *test, struct ib_mr *ib, enum ib_mr_type type)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, ib);
	ib->device = &fixture->fake->ibdev.ib;
	ib->pd = &fixture->pd.ib;
	ib->type = type;
	return ib;
}

static struct ib_mr *get_dma_mr(struct kunit *test, int access)
{
	struct fixture *fixture = test->priv;

	return own(test, cxib_get_dma_mr(&fixture->pd.ib, access), IB_MR_TYPE_DMA);
}

static struct ib_mr *alloc_mr(struct kunit *test, enum ib_mr_type type, u32 max)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = own(test, cxib_alloc_mr(&fixture->pd.ib, type, max), type);

	ib->page_size = SZ_4K;
	return ib;
}

static void dereg_mr(struct kunit *test, struct ib_mr *ib)
{
	KUNIT_ASSERT_EQ(test, 0, cxib_dereg_mr(ib, NULL));
}

static void expect_ordering(struct kunit *test, u32 write, u32 read)
{
	const struct hw_mkc *context = &((struct fixture *)test->priv)->context;

	KUNIT_EXPECT_EQ(test, write, hw_mkc_get_relaxed_ordering_write(context));
	KUNIT_EXPECT_EQ(test, read, hw_mkc_get_relaxed_ordering_read(context));
}

/*
 * mlx5_ib_get_dma_mr() and mlx5_set_umr_free_mkey() in mlx5_ib/mr.c: kernel ULPs do not request
 * relaxed ordering.
 */
static void mkeys_of_kernel_have_relaxed_ordering_by_capability(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->fake->hw.caps;
	u32 write, read;

	for (write = 0; write <= 1; write++)
		for (read = 0; read <= 1; read++) {
			caps->relaxed_ordering_write = write;
			caps->relaxed_ordering_read = read;
			dereg_mr(test, get_dma_mr(test, IB_ACCESS_REMOTE_READ));
			expect_ordering(test, write, read);
			dereg_mr(test, alloc_mr(test, IB_MR_TYPE_MEM_REG, 1));
			expect_ordering(test, write, read);
		}
}

/*
 * Returns the rights of @context as IB_ACCESS_…; IB_ACCESS_ON_DEMAND, which no mkey has, means
 * local read.
 */
static int rights_of(const struct hw_mkc *context)
{
	return (hw_mkc_get_lr(context) ? IB_ACCESS_ON_DEMAND : 0) |
	       (hw_mkc_get_lw(context) ? IB_ACCESS_LOCAL_WRITE : 0) |
	       (hw_mkc_get_rr(context) ? IB_ACCESS_REMOTE_READ : 0) |
	       (hw_mkc_get_rw(context) ? IB_ACCESS_REMOTE_WRITE : 0) |
	       (hw_mkc_get_a(context) ? IB_ACCESS_REMOTE_ATOMIC : 0);
}

/* IBA 11.2.8, Register Memory Region: local read is always allowed. */
static void get_dma_mr_access_sets_rights(struct kunit *test)
{
	static const int accesses[] = {
		0, IB_ACCESS_LOCAL_WRITE, IB_ACCESS_REMOTE_READ, IB_ACCESS_REMOTE_WRITE,
		IB_ACCESS_REMOTE_ATOMIC,
		IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | IB_ACCESS_REMOTE_WRITE |
		IB_ACCESS_REMOTE_ATOMIC,
	};
	struct fixture *fixture = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(accesses); i++) {
		struct ib_mr *ib = get_dma_mr(test, accesses[i]);

		KUNIT_EXPECT_EQ_MSG(test, accesses[i] | IB_ACCESS_ON_DEMAND,
				    rights_of(&fixture->context), "access 0x%x", accesses[i]);
		dereg_mr(test, ib);
	}
}

/* All memory: mkc.length64 and access mode PA in mlx5_ifc.h. */
static void get_dma_mr_mkey_covers_all_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = get_dma_mr(test, IB_ACCESS_LOCAL_WRITE);
	const struct hw_mkc *context = &fixture->context;

	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_PA, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_access_mode_4_2(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_length64(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_free(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_umr_en(context));
	KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(context));
	KUNIT_EXPECT_EQ(test, ANY_QPN, hw_mkc_get_qpn(context));
	KUNIT_EXPECT_EQ(test, MKEY_INDEX << LOG_VARIANTS | hw_mkc_get_mkey_7_0(context), ib->lkey);
	KUNIT_EXPECT_EQ(test, ib->lkey, ib->rkey);
	dereg_mr(test, ib);
	KUNIT_EXPECT_EQ(test, MKEY_INDEX, fixture->destroyed);
	KUNIT_EXPECT_EQ(test, 2, fixture->fake->hca->commands);
}

/**
 * struct fake_pci - a PCI function with a Device Control register
 * @bus: its bus
 * @device: the function
 * @device_control: the register
 */
struct fake_pci {
	struct pci_bus bus;
	struct pci_dev device;
	u16 device_control;
};

static int read_device_control(struct pci_bus *bus, unsigned int devfn, int where, int size,
			       u32 *value)
{
	*value = container_of(bus, struct fake_pci, bus)->device_control;
	return PCIBIOS_SUCCESSFUL;
}

/* relaxed_ordering_read_pci_enabled depends on Enable Relaxed Ordering: PCIe base, 7.5.3.4. */
static void mkey_read_ordering_by_pci_needs_device_control(struct kunit *test)
{
	static struct pci_ops ops = { .read = read_device_control };
	struct fake_pci *pci = kunit_kzalloc(test, sizeof(*pci), GFP_KERNEL);
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);
	struct cxib_bus *bus = kunit_kzalloc(test, sizeof(*bus), GFP_KERNEL);
	unsigned int cap, enabled;

	KUNIT_ASSERT_NOT_NULL(test, pci);
	KUNIT_ASSERT_NOT_NULL(test, hw);
	KUNIT_ASSERT_NOT_NULL(test, bus);
	pci->bus.ops = &ops;
	pci->device.bus = &pci->bus;
	pci->device.pcie_cap = 0x40;
	bus->dev = &pci->device.dev;
	hw->bus = bus;
	for (cap = 0; cap <= 1; cap++)
		for (enabled = 0; enabled <= 1; enabled++) {
			struct cxib_mkey_params params = {};

			hw->caps.relaxed_ordering_read_pci_enabled = cap;
			pci->device_control = enabled ? PCI_EXP_DEVCTL_RELAX_EN :
							(u16)~PCI_EXP_DEVCTL_RELAX_EN;
			cxib_mkey_set_access(hw, &params, IB_ACCESS_RELAXED_ORDERING);
			KUNIT_EXPECT_EQ(test, cap && enabled, params.relaxed_ordering_read);
			KUNIT_EXPECT_FALSE(test, params.relaxed_ordering_write);
		}
}

/* A stale mkey becomes valid again only after all variants of its index were in use. */
static void mkey_variants_differ_until_all_are_used(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	DECLARE_BITMAP(seen, NUM_VARIANTS) = {};
	unsigned int i;

	atomic_set(&fixture->fake->ibdev.key_variant, INT_MAX - 100);
	for (i = 0; i < NUM_VARIANTS; i++) {
		u8 variant = cxib_next_mkey_variant(&fixture->fake->ibdev);

		KUNIT_EXPECT_FALSE_MSG(test, test_and_set_bit(variant, seen), "variant 0x%x",
				       variant);
	}
	KUNIT_EXPECT_TRUE(test, bitmap_full(seen, NUM_VARIANTS));
}

static void mkey_of_reused_index_differs(struct kunit *test)
{
	struct ib_mr *ib = get_dma_mr(test, 0);
	const u32 stale = ib->lkey;

	dereg_mr(test, ib);
	ib = get_dma_mr(test, 0);
	KUNIT_EXPECT_EQ(test, stale >> LOG_VARIANTS, ib->lkey >> LOG_VARIANTS);
	KUNIT_EXPECT_NE(test, stale, ib->lkey);
	dereg_mr(test, ib);
}

static void mr_create_mkey_uses_access_of_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_mkey_params params = { .local_write = true };
	struct cxib_mr mr = { .access = IB_ACCESS_REMOTE_READ };

	KUNIT_ASSERT_EQ(test, 0, cxib_mr_create_mkey(&mr, &fixture->pd.ib, &params));
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_READ | IB_ACCESS_ON_DEMAND,
			rights_of(&fixture->context));
	KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(&fixture->context));
	KUNIT_EXPECT_EQ(test, MKEY_INDEX << LOG_VARIANTS | hw_mkc_get_mkey_7_0(&fixture->context),
			mr.ib.rkey);
}

/* BAD_PARAMETER is -EINVAL. */
static void get_dma_mr_refused_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(cxib_get_dma_mr(&fixture->pd.ib, 0)));
	KUNIT_EXPECT_EQ(test, 1, fixture->fake->hca->commands);
	refuse(fixture, 0, 0);
	dereg_mr(test, get_dma_mr(test, 0));
}

/* With access mode MEMIC, start_addr is an offset in BAR 0, and WQEs address the MR from 0. */
static void reg_memic_mr_passes_offset_and_length(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->context;
	struct ib_mr *ib;

	ib = own(test, cxib_reg_memic_mr(&fixture->pd.ib, MEMIC_START, MEMIC_LENGTH,
					 IB_ACCESS_REMOTE_WRITE), IB_MR_TYPE_DM);
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_MEMIC,
			hw_mkc_get_access_mode_4_2(context) << 2 |
			hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, MEMIC_START, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, MEMIC_LENGTH, hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, IB_ACCESS_REMOTE_WRITE | IB_ACCESS_ON_DEMAND, rights_of(context));
	KUNIT_EXPECT_EQ(test, MEMIC_LENGTH, ib->length);
	KUNIT_EXPECT_EQ(test, 0, ib->iova);
	dereg_mr(test, ib);
	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(cxib_reg_memic_mr(&fixture->pd.ib, 0, MEMIC_LENGTH, 0)));
}

/* Type INTEGRITY has a separate operation; the other types are for user space. */
static void alloc_mr_other_type_returns_eopnotsupp(struct kunit *test)
{
	static const enum ib_mr_type types[] = {
		IB_MR_TYPE_DM, IB_MR_TYPE_USER, IB_MR_TYPE_DMA, IB_MR_TYPE_INTEGRITY,
		IB_MR_TYPE_INTEGRITY + 1,
	};
	struct fixture *fixture = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++)
		KUNIT_EXPECT_EQ_MSG(test, -EOPNOTSUPP,
				    PTR_ERR_OR_ZERO(cxib_alloc_mr(&fixture->pd.ib, types[i], 1)),
				    "type %d", types[i]);
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

/* cxib_fill_device_attr() reports CXIB_FAST_REG_MAX as max_fast_reg_page_list_len. */
static void alloc_mr_max_out_of_range_returns_einval(struct kunit *test)
{
	static const u32 bad[] = { 0, CXIB_FAST_REG_MAX + 1, U32_MAX };
	struct fixture *fixture = test->priv;
	struct ib_pd *pd = &fixture->pd.ib;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTR_ERR_OR_ZERO(cxib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, bad[i])));
		KUNIT_EXPECT_EQ(test, -EINVAL,
				PTR_ERR_OR_ZERO(cxib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, bad[i])));
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

/* An MTT has 8 bytes, a KLM has 16; translations_octword_size counts 16 bytes. */
static const struct limit {
	enum ib_mr_type type;
	u32 max;
	u32 octowords;
	u32 mode;
} limits[] = {
	{ IB_MR_TYPE_MEM_REG, 1, MIN_OCTOWORDS, HW_MKEY_ACCESS_MODE_MTT },
	{ IB_MR_TYPE_MEM_REG, 8, 4, HW_MKEY_ACCESS_MODE_MTT },
	{ IB_MR_TYPE_MEM_REG, 9, 8, HW_MKEY_ACCESS_MODE_MTT },
	{ IB_MR_TYPE_MEM_REG, CXIB_FAST_REG_MAX, CXIB_FAST_REG_MAX / 2, HW_MKEY_ACCESS_MODE_MTT },
	{ IB_MR_TYPE_SG_GAPS, 1, MIN_OCTOWORDS, HW_MKEY_ACCESS_MODE_KLMS },
	{ IB_MR_TYPE_SG_GAPS, 5, 8, HW_MKEY_ACCESS_MODE_KLMS },
	{ IB_MR_TYPE_SG_GAPS, CXIB_FAST_REG_MAX, CXIB_FAST_REG_MAX, HW_MKEY_ACCESS_MODE_KLMS },
};

/* The mkey is free and has no rights: a REG_MR WQE sets them. */
static void alloc_mr_creates_free_mkey_of_max(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->context;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		struct ib_mr *ib = alloc_mr(test, limits[i].type, limits[i].max);
		struct cxib_mr *mr = to_mr(ib);

		KUNIT_EXPECT_EQ_MSG(test, limits[i].octowords,
				    hw_mkc_get_translations_octword_size(context), "limit %zu", i);
		KUNIT_EXPECT_EQ(test, limits[i].mode, hw_mkc_get_access_mode_1_0(context));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_umr_en(context));
		KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_bsf_en(context));
		/* KLMs have a length each. */
		KUNIT_EXPECT_EQ(test, limits[i].type == IB_MR_TYPE_SG_GAPS ? 0 : PAGE_SHIFT,
				hw_mkc_get_log_page_size(context));
		KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(context));
		KUNIT_EXPECT_EQ(test, IB_ACCESS_ON_DEMAND, rights_of(context));
		KUNIT_EXPECT_EQ(test, limits[i].max, mr->max_descs);
		KUNIT_EXPECT_EQ(test, 0, mr->ndescs);
		/* The device reads whole octowords, which must all be in one DMA mapping. */
		KUNIT_EXPECT_GE(test, mr->list_size, limits[i].octowords * OCTOWORD);
		KUNIT_EXPECT_EQ(test, 0, mr->desc_map % LIST_UNIT);
		dereg_mr(test, ib);
	}
	KUNIT_EXPECT_EQ(test, fixture->creates, fixture->destroys);
}

/* resd_lkey is valid in WQEs only, so KLMs name an mkey of the PD with local write access. */
static void alloc_mr_sg_gaps_creates_dma_mkey_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *first, *second;

	fixture->fake->ibdev.ib.local_dma_lkey = RESD_LKEY;
	dereg_mr(test, alloc_mr(test, IB_MR_TYPE_MEM_REG, 1));
	KUNIT_EXPECT_FALSE(test, fixture->pd.has_key);
	fixture->creates = 0;
	first = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 1);
	KUNIT_EXPECT_EQ(test, 2, fixture->creates);
	KUNIT_EXPECT_TRUE(test, fixture->pd.has_key);
	KUNIT_EXPECT_EQ(test, MKEY_INDEX, fixture->pd.key >> LOG_VARIANTS);
	KUNIT_EXPECT_NE(test, fixture->pd.key, first->lkey);
	second = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 1);
	KUNIT_EXPECT_EQ(test, 2 + 1, fixture->creates);
	dereg_mr(test, first);
	dereg_mr(test, second);
	KUNIT_EXPECT_TRUE(test, fixture->pd.has_key);
}

/* Without resd_lkey the RDMA core has created the DMA MR of the PD. */
static void alloc_mr_sg_gaps_without_resd_lkey_uses_pd_lkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 1);

	KUNIT_EXPECT_EQ(test, 1, fixture->creates);
	KUNIT_EXPECT_FALSE(test, fixture->pd.has_key);
	KUNIT_EXPECT_EQ(test, PD_LKEY, fixture->pd.key);
	dereg_mr(test, ib);
}

/* The first command creates the DMA mkey of the PD, the second one the MR's. */
static void alloc_mr_refused_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_pd *pd = &fixture->pd.ib;

	fixture->fake->ibdev.ib.local_dma_lkey = RESD_LKEY;
	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(cxib_alloc_mr(pd, IB_MR_TYPE_MEM_REG, ENTRIES)));
	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(cxib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, ENTRIES)));
	KUNIT_EXPECT_EQ(test, 2, fixture->fake->hca->commands);
	KUNIT_EXPECT_FALSE(test, fixture->pd.has_key);
	refuse(fixture, HW_CMD_CREATE_MKEY, 1);
	KUNIT_EXPECT_EQ(test, -EINVAL,
			PTR_ERR_OR_ZERO(cxib_alloc_mr(pd, IB_MR_TYPE_SG_GAPS, ENTRIES)));
	KUNIT_EXPECT_EQ(test, 2 + 2, fixture->fake->hca->commands);
	KUNIT_EXPECT_TRUE(test, fixture->pd.has_key);
	refuse(fixture, 0, 0);
	dereg_mr(test, alloc_mr(test, IB_MR_TYPE_SG_GAPS, ENTRIES));
	KUNIT_EXPECT_EQ(test, 2, fixture->creates);
}

/* Allocations of the fake device do not fail, because it runs in other threads. */
static void alloc_mr_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct failing_walk walk = {};
	struct ib_mr *ib;
	bool more;

	skip_unless_allocations_can_fail(test);
	fixture->fake->hca->asynchronous = true;
	do {
		fail_next_allocation(&walk);
		ib = cxib_alloc_mr(&fixture->pd.ib, IB_MR_TYPE_SG_GAPS, ENTRIES);
		more = failing_walk_goes_on(&walk, PTR_ERR_OR_ZERO(ib), 2);
		if (IS_ERR(ib))
			KUNIT_EXPECT_EQ_MSG(test, -ENOMEM, PTR_ERR(ib), "allocation %u",
					    walk.number);
		else
			dereg_mr(test, own(test, ib, IB_MR_TYPE_SG_GAPS));
		KUNIT_EXPECT_EQ(test, fixture->creates, fixture->destroys);
	} while (more);
	/* The minimum is the MR and its list. */
	KUNIT_EXPECT_GE(test, walk.refused, 2);
	KUNIT_EXPECT_FALSE(test, IS_ERR(ib));
}

static void set_sg(struct fixture *fixture, unsigned int index, u64 address, u32 length)
{
	sg_dma_address(&fixture->sg[index]) = address;
	sg_dma_len(&fixture->sg[index]) = length;
}

static int map(struct kunit *test, struct ib_mr *ib, int count, unsigned int *offset)
{
	struct fixture *fixture = test->priv;

	return cxib_map_mr_sg(ib, fixture->sg, count, offset);
}

/* Checks the page of an MTT, whose low bits must be mtt.rd_en and mtt.wr_en. */
static void expect_mtt(struct kunit *test, struct ib_mr *ib, unsigned int index, u64 address)
{
	const struct hw_mtt *mtt = (const struct hw_mtt *)to_mr(ib)->descs + index;

	KUNIT_EXPECT_EQ_MSG(test, address,
			    (u64)hw_mtt_get_ptag_63_32(mtt) << 32 |
			    hw_mtt_get_ptag_31_8(mtt) << 8, "MTT %u", index);
	KUNIT_EXPECT_EQ_MSG(test, 1, hw_mtt_get_rd_en(mtt), "MTT %u", index);
	KUNIT_EXPECT_EQ_MSG(test, 1, hw_mtt_get_wr_en(mtt), "MTT %u", index);
}

static void expect_unused(struct kunit *test, struct ib_mr *ib, unsigned int count)
{
	struct cxib_mr *mr = to_mr(ib);
	const size_t used = (size_t)count * mr->desc_size;

	KUNIT_EXPECT_NULL(test, memchr_inv(mr->descs + used, 0, mr->list_size - used));
}

static void map_mr_sg_pages_fill_mtts(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 16);
	struct cxib_mr *mr = to_mr(ib);

	/* One SGE of 8 pages beyond 4 GiB, and half a page: 9 MTTs fill two units of 64 bytes. */
	set_sg(fixture, 0, HIGH, 8 * SZ_4K);
	set_sg(fixture, 1, 0x20000, SZ_2K);
	KUNIT_ASSERT_EQ(test, 2, map(test, ib, 2, NULL));
	KUNIT_EXPECT_EQ(test, 8 + 1, mr->ndescs);
	KUNIT_EXPECT_EQ(test, 2 * MIN_OCTOWORDS, mr->xlt_octowords);
	KUNIT_EXPECT_EQ(test, ilog2(SZ_4K), mr->log_page_size);
	KUNIT_EXPECT_EQ(test, HIGH, ib->iova);
	KUNIT_EXPECT_EQ(test, 8 * SZ_4K + SZ_2K, ib->length);
	expect_mtt(test, ib, 0, HIGH);
	expect_mtt(test, ib, 7, HIGH + 7 * SZ_4K);
	expect_mtt(test, ib, 8, 0x20000);
	expect_unused(test, ib, 9);
	dereg_mr(test, ib);
}

static void map_mr_sg_page_size_sets_log_page_size(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 16);

	ib->page_size = SZ_64K;
	set_sg(fixture, 0, 0x50000, SZ_128K);
	KUNIT_ASSERT_EQ(test, 1, map(test, ib, 1, NULL));
	KUNIT_EXPECT_EQ(test, 2, to_mr(ib)->ndescs);
	KUNIT_EXPECT_EQ(test, ilog2(SZ_64K), to_mr(ib)->log_page_size);
	expect_mtt(test, ib, 1, 0x60000);
	dereg_mr(test, ib);
}

/* The iova keeps the offset in the page; the MTT has the address of the page. */
static void map_mr_sg_pages_offset_moves_iova(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 16);
	const unsigned int start = 0x1234;
	unsigned int offset = start;

	set_sg(fixture, 0, 0x10000, 2 * SZ_4K);
	KUNIT_ASSERT_EQ(test, 1, map(test, ib, 1, &offset));
	KUNIT_EXPECT_EQ(test, 0, offset);
	KUNIT_EXPECT_EQ(test, 0x10000 + start, ib->iova);
	KUNIT_EXPECT_EQ(test, 2 * SZ_4K - start, ib->length);
	KUNIT_EXPECT_EQ(test, 1, to_mr(ib)->ndescs);
	expect_mtt(test, ib, 0, 0x11000);
	/* The RDMA core refuses an offset after the first SGE. */
	offset = 2 * SZ_4K + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, map(test, ib, 1, &offset));
	KUNIT_EXPECT_EQ(test, 0, to_mr(ib)->ndescs);
	KUNIT_EXPECT_EQ(test, 0, to_mr(ib)->xlt_octowords);
	dereg_mr(test, ib);
}

/*
 * All MTTs have one page size, so only the first SGE may start, and only the last SGE may end,
 * inside a page.
 */
static void map_mr_sg_pages_stop_at_gap(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 16);

	set_sg(fixture, 0, 0x10800, SZ_2K);
	set_sg(fixture, 1, 0x20000, SZ_2K);
	set_sg(fixture, 2, 0x30000, SZ_4K);
	/* The SGEs are the two halves of a page. */
	KUNIT_EXPECT_EQ(test, 2, map(test, ib, 3, NULL));
	KUNIT_EXPECT_EQ(test, 2, to_mr(ib)->ndescs);
	KUNIT_EXPECT_EQ(test, 2 * SZ_2K, ib->length);
	expect_mtt(test, ib, 0, 0x10000);
	dereg_mr(test, ib);
}

/* ib_sg_to_pages() omits the last fitting page if the next page of the SGE does not fit. */
static void map_mr_sg_pages_stop_at_max(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 3);
	unsigned int offset = 0;

	set_sg(fixture, 0, 0x10000, SZ_4K);
	set_sg(fixture, 1, 0x20000, 3 * SZ_4K);
	KUNIT_EXPECT_EQ(test, 1, map(test, ib, 2, &offset));
	KUNIT_EXPECT_EQ(test, SZ_4K, offset);
	KUNIT_EXPECT_EQ(test, 3, to_mr(ib)->ndescs);
	KUNIT_EXPECT_EQ(test, 2 * SZ_4K, ib->length);
	expect_mtt(test, ib, 2, 0x21000);
	expect_unused(test, ib, 3);
	dereg_mr(test, ib);
}

static void expect_klm(struct kunit *test, struct ib_mr *ib, unsigned int index, u64 address,
		       u32 length)
{
	const struct hw_klm *klm = (const struct hw_klm *)to_mr(ib)->descs + index;

	KUNIT_EXPECT_EQ_MSG(test, address, hw_klm_get_va(klm), "KLM %u", index);
	KUNIT_EXPECT_EQ_MSG(test, length, hw_klm_get_bcount(klm), "KLM %u", index);
	KUNIT_EXPECT_EQ_MSG(test, PD_LKEY, hw_klm_get_key(klm), "KLM %u", index);
}

/* KLMs have any address and length; 4 KLMs of 16 bytes are one unit of 64 bytes. */
static void map_mr_sg_gaps_fill_klms(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 8);
	struct cxib_mr *mr = to_mr(ib);

	set_sg(fixture, 0, 0x10801, 3);
	set_sg(fixture, 1, 0x123450000007ULL, 0x10001);
	set_sg(fixture, 2, 0x30010, SZ_4K);
	set_sg(fixture, 3, 0x30000, 0x10);
	KUNIT_ASSERT_EQ(test, SGES, map(test, ib, SGES, NULL));
	KUNIT_EXPECT_EQ(test, SGES, mr->ndescs);
	KUNIT_EXPECT_EQ(test, MIN_OCTOWORDS, mr->xlt_octowords);
	/* The address of the first SGE, and the sum of the lengths of all. */
	KUNIT_EXPECT_EQ(test, 0x10801, ib->iova);
	KUNIT_EXPECT_EQ(test, 3 + 0x10001 + SZ_4K + 0x10, ib->length);
	expect_klm(test, ib, 0, 0x10801, 3);
	expect_klm(test, ib, 1, 0x123450000007ULL, 0x10001);
	expect_klm(test, ib, 2, 0x30010, SZ_4K);
	expect_klm(test, ib, 3, 0x30000, 0x10);
	expect_unused(test, ib, 4);
	dereg_mr(test, ib);
}

/* The MR starts at the offset in the first SGE. */
static void map_mr_sg_gaps_offset_shortens_first_klm(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 8);
	const unsigned int start = 0x123;
	unsigned int offset = start;

	set_sg(fixture, 0, 0x10000, SZ_4K);
	set_sg(fixture, 1, 0x20000, SZ_4K);
	KUNIT_ASSERT_EQ(test, 2, map(test, ib, 2, &offset));
	KUNIT_EXPECT_EQ(test, 0, offset);
	KUNIT_EXPECT_EQ(test, 0x10000 + start, ib->iova);
	KUNIT_EXPECT_EQ(test, 2 * SZ_4K - start, ib->length);
	expect_klm(test, ib, 0, 0x10000 + start, SZ_4K - start);
	expect_klm(test, ib, 1, 0x20000, SZ_4K);
	dereg_mr(test, ib);
}

static void map_mr_sg_gaps_stop_at_max(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_SG_GAPS, 2);
	const u32 bytes = 0x100;
	int i;

	for (i = 0; i <= 2; i++)
		set_sg(fixture, i, 0x10000 * (i + 1), bytes);
	KUNIT_EXPECT_EQ(test, 2, map(test, ib, i, NULL));
	KUNIT_EXPECT_EQ(test, 2, to_mr(ib)->ndescs);
	KUNIT_EXPECT_EQ(test, 2 * bytes, ib->length);
	expect_unused(test, ib, 2);
	dereg_mr(test, ib);
}

static void map_mr_sg_without_sges_returns_einval(struct kunit *test)
{
	static const enum ib_mr_type types[] = { IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS };
	struct fixture *fixture = test->priv;
	size_t i;

	set_sg(fixture, 0, 0x10000, SZ_4K);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_mr *ib = alloc_mr(test, types[i], 8);

		KUNIT_ASSERT_EQ(test, 1, map(test, ib, 1, NULL));
		KUNIT_EXPECT_EQ(test, -EINVAL, map(test, ib, 0, NULL));
		KUNIT_EXPECT_EQ(test, -EINVAL, map(test, ib, -1, NULL));
		/* The list is unchanged. */
		KUNIT_EXPECT_EQ(test, 1, to_mr(ib)->ndescs);
		dereg_mr(test, ib);
	}
}

/* The device reads units of 64 bytes, so the rest of a unit must not contain the old list. */
static void map_mr_sg_again_clears_old_list(struct kunit *test)
{
	static const enum ib_mr_type types[] = { IB_MR_TYPE_MEM_REG, IB_MR_TYPE_SG_GAPS };
	struct fixture *fixture = test->priv;
	size_t i;

	set_sg(fixture, 0, 0x10000, SZ_4K);
	set_sg(fixture, 1, 0x20000, SZ_4K);
	set_sg(fixture, 2, 0x30000, SZ_4K);
	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_mr *ib = alloc_mr(test, types[i], 8);

		KUNIT_ASSERT_EQ(test, 3, map(test, ib, 3, NULL));
		KUNIT_ASSERT_EQ(test, 1, map(test, ib, 1, NULL));
		KUNIT_EXPECT_EQ(test, 1, to_mr(ib)->ndescs);
		KUNIT_EXPECT_EQ(test, SZ_4K, ib->length);
		expect_unused(test, ib, 1);
		dereg_mr(test, ib);
	}
}

/* RESOURCE_BUSY is -EBUSY: a memory window is bound to the MR. */
static void dereg_mr_refused_for_user_keeps_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u32 bytes = 0x100;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);
	struct ib_mr *ib;

	ib = own(test, cxib_reg_memic_mr(&fixture->pd.ib, 0x2000000, bytes, 0), IB_MR_TYPE_DM);
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_dereg_mr(ib, udata));
	KUNIT_EXPECT_EQ(test, bytes, ib->length);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(&fixture->fake->hw.commands));
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
	refuse(fixture, 0, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(ib, udata));
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
}

static void dereg_mr_refused_at_end_of_context_is_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;
	struct ib_mr *ib;

	ib = own(test, cxib_reg_memic_mr(&fixture->pd.ib, 0x2000000, 0x100, 0), IB_MR_TYPE_DM);
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(ib, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
	refuse(fixture, 0, 0);
	cxib_orphans_close(ibdev, &context);
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

/* ib_dereg_mr() of a ULP cannot fail, so the driver frees the list once DMA is off. */
static void dereg_mr_refused_for_kernel_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = alloc_mr(test, IB_MR_TYPE_MEM_REG, 8);

	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(ib, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->destroys);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->fake->hw.commands));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
}

/*
 * The driver refuses, before it pins memory, access rights that no mkey has, and memory windows on
 * an ODP MR.
 */
static void reg_user_mr_unsupported_access_returns_eopnotsupp(struct kunit *test)
{
	static const int bad[] = {
#ifndef CXIB_LACKS_FLUSH
		IB_ACCESS_FLUSH_GLOBAL, IB_ACCESS_FLUSH_PERSISTENT,
#endif
		IB_ACCESS_ON_DEMAND | IB_ACCESS_MW_BIND,
		/* The fixture has no capability pg. */
		IB_ACCESS_ON_DEMAND,
	};
	struct fixture *fixture = test->priv;
	struct ib_mr *ib;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		ib = cxib_reg_user_mr(&fixture->pd.ib, 0, SZ_4K, 0, bad[i]);
		KUNIT_EXPECT_EQ_MSG(test, -EOPNOTSUPP, PTR_ERR_OR_ZERO(ib), "access 0x%x", bad[i]);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

static void rereg_user_mr_memic_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib, *other;

	ib = own(test, cxib_reg_memic_mr(&fixture->pd.ib, 0x2000000, 0x100, 0), IB_MR_TYPE_DM);
	other = cxib_rereg_user_mr(ib, IB_MR_REREG_ACCESS, 0, 0, 0, IB_ACCESS_REMOTE_READ,
				   &fixture->pd.ib, NULL);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, PTR_ERR_OR_ZERO(other));
	KUNIT_EXPECT_EQ(test, 1, fixture->fake->hca->commands);
	dereg_mr(test, ib);
}

/* Maps a page in the address space of the thread. */
static unsigned long map_page(struct kunit *test)
{
	unsigned long address = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
					      MAP_ANONYMOUS | MAP_PRIVATE, 0);

	KUNIT_ASSERT_NE(test, 0, address);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(address));
	return address;
}

static s64 num_pinned(void)
{
	return atomic64_read(&current->mm->pinned_vm);
}

static struct ib_mr *reg_user_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned long address = map_page(test);

	return own(test, cxib_reg_user_mr(&fixture->pd.ib, address, PAGE_SIZE, address, 0),
		   IB_MR_TYPE_USER);
}

/*
 * Without the UMR capabilities the driver cannot change relaxed ordering, so the MR needs another
 * mkey.
 */
static struct ib_mr *rereg_access(struct kunit *test, struct ib_mr *ib)
{
	struct fixture *fixture = test->priv;

	int access = to_mr(ib)->access ^ IB_ACCESS_RELAXED_ORDERING;

	return cxib_rereg_user_mr(ib, IB_MR_REREG_ACCESS, 0, 0, 0, access, &fixture->pd.ib, NULL);
}

/* The flag is optional: a device without the capability ignores it. */
static void user_mr_has_relaxed_ordering_if_asked_and_able(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->fake->hw.caps;
	struct ib_mr *ib, *relaxed;

	caps->relaxed_ordering_write = 1;
	ib = reg_user_page(test);
	expect_ordering(test, 0, 0);
	relaxed = own(test, rereg_access(test, ib), IB_MR_TYPE_USER);
	expect_ordering(test, 1, 0);
	dereg_mr(test, relaxed);
	caps->relaxed_ordering_write = 0;
	relaxed = own(test, rereg_access(test, ib), IB_MR_TYPE_USER);
	expect_ordering(test, 0, 0);
	dereg_mr(test, relaxed);
	dereg_mr(test, ib);
}

/*
 * The RDMA core destroys the old MR itself: rdma_assign_uobject(). If the driver returned an error,
 * the MR would stay locked until the end of the context, with a warning. The page stays pinned
 * until the mkey is destroyed.
 */
static void expect_old_mr_is_left(struct kunit *test, struct ib_mr *old, struct ib_mr *new)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(old, fake_request(&attrs, &context)));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(new, fake_request(&attrs, &context)));
	KUNIT_EXPECT_EQ(test, 1, fixture->destroys);
	KUNIT_EXPECT_EQ(test, 1, num_pinned());
	cxib_orphans_close(ibdev, &context);
	KUNIT_EXPECT_EQ(test, 2, fixture->destroys);
	KUNIT_EXPECT_EQ(test, 0, num_pinned());
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_fatal(commands_of(ibdev)));
}

static void rereg_user_mr_refused_destroy_keeps_page(struct kunit *test)
{
	struct ib_mr *old = reg_user_page(test);
	struct ib_mr *new = own(test, rereg_access(test, old), IB_MR_TYPE_USER);

	KUNIT_EXPECT_EQ(test, 1, num_pinned());
	expect_old_mr_is_left(test, old, new);
}

static void rereg_user_mr_other_page_refused_destroy_keeps_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned long address = map_page(test);
	struct ib_mr *old = reg_user_page(test);
	struct ib_mr *new = cxib_rereg_user_mr(old, IB_MR_REREG_TRANS, address, PAGE_SIZE, address,
					       0, &fixture->pd.ib, NULL);

	own(test, new, IB_MR_TYPE_USER);
	KUNIT_EXPECT_EQ(test, 2, num_pinned());
	expect_old_mr_is_left(test, old, new);
}

/* The driver pins pages again for writing if they were pinned for reading. */
static void rereg_user_mr_writable_refused_destroy_keeps_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *old = reg_user_page(test);
	struct ib_mr *new = cxib_rereg_user_mr(old, IB_MR_REREG_ACCESS, 0, 0, 0,
					       IB_ACCESS_LOCAL_WRITE, &fixture->pd.ib, NULL);

	own(test, new, IB_MR_TYPE_USER);
	KUNIT_EXPECT_EQ(test, 2, num_pinned());
	expect_old_mr_is_left(test, old, new);
}

static void rereg_user_mr_orphan_keeps_page(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;
	struct ib_mr *old = reg_user_page(test);
	struct ib_mr *new = own(test, rereg_access(test, old), IB_MR_TYPE_USER);

	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(old, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_EQ(test, 0, cxib_dereg_mr(new, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_EQ(test, 1, num_pinned());
	cxib_orphans_close(ibdev, &context);
	KUNIT_EXPECT_EQ(test, 0, num_pinned());
	KUNIT_EXPECT_EQ(test, 2, fixture->destroys);
	cxib_orphans_end(ibdev);
}

/* Three mkeys map one page, and the destruction of the first two was refused. */
static void rereg_user_mr_again_keeps_page_until_last(struct kunit *test)
{
	struct ib_mr *mrs[3] = { reg_user_page(test) };
	size_t i;

	for (i = 1; i < ARRAY_SIZE(mrs); i++)
		mrs[i] = own(test, rereg_access(test, mrs[i - 1]), IB_MR_TYPE_USER);
	for (i = ARRAY_SIZE(mrs); i--;) {
		KUNIT_EXPECT_EQ(test, 1, num_pinned());
		dereg_mr(test, mrs[i]);
	}
	KUNIT_EXPECT_EQ(test, 0, num_pinned());
}

static void rereg_user_mr_refused_keeps_old_mr(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mr *ib = reg_user_page(test);
	struct uverbs_attr_bundle attrs;

	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, PTR_ERR_OR_ZERO(rereg_access(test, ib)));
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_dereg_mr(ib, fake_request(&attrs, NULL)));
	KUNIT_EXPECT_EQ(test, 1, num_pinned());
	dereg_mr(test, ib);
	KUNIT_EXPECT_EQ(test, 0, num_pinned());
}

/* The mkey of the failed registration may exist. It maps the same page as the old one. */
static void rereg_user_mr_timeout_keeps_page_until_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct ib_mr *ib = reg_user_page(test);
	struct cxib_mr *mr = to_mr(ib);
	refcount_t *users = kmalloc(sizeof(*users), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, users);
	refcount_set(users, 2);
	mr->umem_users = users;
	fixture->fake->hw.commands.num_pending = 1;
	cxib_release_shared_umem(ibdev, mr->umem, users, -ETIMEDOUT);
	dereg_mr(test, ib);
	KUNIT_EXPECT_EQ(test, 1, num_pinned());
	cxib_quarantine_end(ibdev);
	KUNIT_EXPECT_EQ(test, 0, num_pinned());
}

/*
 * Another thread may be reregistering the MR. restrack must not access its umem, which may have
 * been freed.
 */
static void fill_stat_mr_entry_pinned_ignores_umem(struct kunit *test)
{
	struct ib_umem freed = { .is_odp = 1 };
	struct ib_mr *ib = reg_user_page(test);
	struct sk_buff *message = alloc_skb(SZ_1K, GFP_KERNEL);
	struct ib_umem *umem = to_mr(ib)->umem;

	KUNIT_ASSERT_NOT_NULL(test, message);
	to_mr(ib)->umem = &freed;
	KUNIT_EXPECT_EQ(test, 0, cxib_fill_stat_mr_entry(message, ib));
	KUNIT_EXPECT_EQ(test, 0, message->len);
	to_mr(ib)->umem = umem;
	kfree_skb(message);
	dereg_mr(test, ib);
}

static struct ib_mw make_mw(struct fixture *fixture, enum ib_mw_type type)
{
	fixture->fake->hw.caps.imaicl = 1;
	return (struct ib_mw){
		.device = &fixture->fake->ibdev.ib,
		.pd = &fixture->pd.ib,
		.type = type,
	};
}

/* Only type 2 windows have remote invalidation: mlx5_ib_alloc_mw() in mlx5_ib/mr.c. */
static void alloc_mw_creates_free_klm_mkey(struct kunit *test)
{
	static const enum ib_mw_type types[] = { IB_MW_TYPE_1, IB_MW_TYPE_2 };
	struct fixture *fixture = test->priv;
	const struct hw_mkc *context = &fixture->context;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(types); i++) {
		struct ib_mw mw = make_mw(fixture, types[i]);

		KUNIT_ASSERT_EQ(test, 0, cxib_alloc_mw(&mw, NULL));
		KUNIT_EXPECT_EQ(test, MKEY_INDEX, mw.rkey >> LOG_VARIANTS);
		KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_KLMS,
				hw_mkc_get_access_mode_1_0(context));
		KUNIT_EXPECT_EQ(test, MIN_OCTOWORDS, hw_mkc_get_translations_octword_size(context));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_umr_en(context));
		KUNIT_EXPECT_EQ(test, types[i] == IB_MW_TYPE_2, hw_mkc_get_en_rinval(context));
		KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(context));
		KUNIT_EXPECT_EQ(test, 0, cxib_dealloc_mw(&mw));
		KUNIT_EXPECT_EQ(test, MKEY_INDEX, fixture->destroyed);
	}
	KUNIT_EXPECT_EQ(test, fixture->creates, fixture->destroys);
}

static void alloc_mw_without_capability_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mw mw = make_mw(fixture, IB_MW_TYPE_2);

	fixture->fake->hw.caps.imaicl = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_alloc_mw(&mw, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

static void alloc_mw_refused_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mw mw = make_mw(fixture, IB_MW_TYPE_2);

	refuse(fixture, HW_CMD_CREATE_MKEY, 0);
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_alloc_mw(&mw, NULL));
	KUNIT_EXPECT_EQ(test, 1, fixture->fake->hca->commands);
}

static void dealloc_mw_refused_for_kernel_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_mw mw = make_mw(fixture, IB_MW_TYPE_2);

	KUNIT_ASSERT_EQ(test, 0, cxib_alloc_mw(&mw, NULL));
	refuse(fixture, HW_CMD_DESTROY_MKEY, 0);
	KUNIT_EXPECT_EQ(test, 0, cxib_dealloc_mw(&mw));
	KUNIT_EXPECT_EQ(test, 0, fixture->destroys);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_fatal(&fixture->fake->hw.commands));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(get_dma_mr_access_sets_rights),
	KUNIT_CASE(get_dma_mr_mkey_covers_all_memory),
	KUNIT_CASE(mkeys_of_kernel_have_relaxed_ordering_by_capability),
	KUNIT_CASE(user_mr_has_relaxed_ordering_if_asked_and_able),
	KUNIT_CASE(mkey_read_ordering_by_pci_needs_device_control),
	KUNIT_CASE(mkey_variants_differ_until_all_are_used),
	KUNIT_CASE(mkey_of_reused_index_differs),
	KUNIT_CASE(mr_create_mkey_uses_access_of_mr),
	KUNIT_CASE(get_dma_mr_refused_returns_error),
	KUNIT_CASE(reg_memic_mr_passes_offset_and_length),
	KUNIT_CASE(alloc_mr_other_type_returns_eopnotsupp),
	KUNIT_CASE(alloc_mr_max_out_of_range_returns_einval),
	KUNIT_CASE(alloc_mr_creates_free_mkey_of_max),
	KUNIT_CASE(alloc_mr_sg_gaps_creates_dma_mkey_once),
	KUNIT_CASE(alloc_mr_sg_gaps_without_resd_lkey_uses_pd_lkey),
	KUNIT_CASE(alloc_mr_refused_returns_error),
	KUNIT_CASE(alloc_mr_failed_allocation_returns_enomem),
	KUNIT_CASE(map_mr_sg_pages_fill_mtts),
	KUNIT_CASE(map_mr_sg_page_size_sets_log_page_size),
	KUNIT_CASE(map_mr_sg_pages_offset_moves_iova),
	KUNIT_CASE(map_mr_sg_pages_stop_at_gap),
	KUNIT_CASE(map_mr_sg_pages_stop_at_max),
	KUNIT_CASE(map_mr_sg_gaps_fill_klms),
	KUNIT_CASE(map_mr_sg_gaps_offset_shortens_first_klm),
	KUNIT_CASE(map_mr_sg_gaps_stop_at_max),
	KUNIT_CASE(map_mr_sg_without_sges_returns_einval),
	KUNIT_CASE(map_mr_sg_again_clears_old_list),
	KUNIT_CASE(dereg_mr_refused_for_user_keeps_mr),
	KUNIT_CASE(dereg_mr_refused_at_end_of_context_is_left),
	KUNIT_CASE(dereg_mr_refused_for_kernel_switches_dma_off),
	KUNIT_CASE(reg_user_mr_unsupported_access_returns_eopnotsupp),
	KUNIT_CASE(rereg_user_mr_memic_returns_eopnotsupp),
	KUNIT_CASE(rereg_user_mr_refused_destroy_keeps_page),
	KUNIT_CASE(rereg_user_mr_other_page_refused_destroy_keeps_page),
	KUNIT_CASE(rereg_user_mr_writable_refused_destroy_keeps_page),
	KUNIT_CASE(rereg_user_mr_orphan_keeps_page),
	KUNIT_CASE(rereg_user_mr_again_keeps_page_until_last),
	KUNIT_CASE(rereg_user_mr_refused_keeps_old_mr),
	KUNIT_CASE(rereg_user_mr_timeout_keeps_page_until_dma_off),
	KUNIT_CASE(fill_stat_mr_entry_pinned_ignores_umem),
	KUNIT_CASE(alloc_mw_creates_free_klm_mkey),
	KUNIT_CASE(alloc_mw_without_capability_returns_eopnotsupp),
	KUNIT_CASE(alloc_mw_refused_returns_error),
	KUNIT_CASE(dealloc_mw_refused_for_kernel_switches_dma_off),
	{}
};

static struct kunit_suite suite = {
	.name = "mr",
	.init = mr_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
