// SPDX-License-Identifier: GPL-2.0-only
/* XRC domains, and the placeholder CQ and SRQ that XRC QPs share. */
#include <linux/dmapool.h>
#include <linux/log2.h>

#include "compat/workqueue.h"
#include "failing_allocations.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/command_interface.h"
#include "hw/commands_events.h"
#include "hw/commands_objects.h"
#include "hw/commands_receive_queues.h"
#include "hw/work_queue.h"

#define INPUT_BYTES	512
#define STEPS		4
#define CALLERS		4

#define PDN		0x88
#define XRCDN		0x99
#define CQN		0x66
#define SRQN		0x777
#define EQN		0x44
#define UAR_INDEX	0x55

/* user_index of objects without one: MLX5_IB_DEFAULT_UIDX of mlx5_ib. */
#define NO_USER_INDEX	0xffffff

#define WQE_BYTES	(sizeof(struct hw_wqe_srq_next_seg) + sizeof(struct hw_wqe_data_seg))

/* Objects in the device, parents first. */
enum object { PD, XRCD, CQ, SRQ, OBJECTS };

/**
 * struct object_type - commands of an object that cxib_xrc_init() creates
 * @create: opcode that creates it
 * @destroy: opcode that destroys it
 * @number: number that the device returns
 */
struct object_type {
	u16 create, destroy;
	u32 number;
};

static const struct object_type object_types[OBJECTS] = {
	[PD] = { HW_CMD_ALLOC_PD, HW_CMD_DEALLOC_PD, PDN },
	[XRCD] = { HW_CMD_ALLOC_XRCD, HW_CMD_DEALLOC_XRCD, XRCDN },
	[CQ] = { HW_CMD_CREATE_CQ, HW_CMD_DESTROY_CQ, CQN },
	[SRQ] = { HW_CMD_CREATE_XRC_SRQ, HW_CMD_DESTROY_XRC_SRQ, SRQN },
};

static const u16 creations[STEPS] = {
	HW_CMD_ALLOC_PD, HW_CMD_ALLOC_XRCD, HW_CMD_CREATE_CQ, HW_CMD_CREATE_XRC_SRQ,
};

static const u16 destructions[STEPS] = {
	HW_CMD_DESTROY_XRC_SRQ, HW_CMD_DESTROY_CQ, HW_CMD_DEALLOC_XRCD, HW_CMD_DEALLOC_PD,
};

/**
 * struct fixture - a device that counts its objects
 * @fake: the device
 * @eq: its completion EQ
 * @fail_opcodes: opcodes of commands that fail; 0: none
 * @fail_status: status of those commands
 * @count: number of objects of each type
 * @cq_in: start of the input of the last CREATE_CQ
 * @srq_in: start of the input of the last CREATE_XRC_SRQ
 * @callers: work items that call cxib_xrc_init()
 * @failed_calls: number of those that failed
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_eq eq;
	u16 fail_opcodes[2];
	u8 fail_status;
	unsigned int count[OBJECTS];
	void *cq_in;
	void *srq_in;
	struct caller {
		struct work_struct work;
		struct fixture *fixture;
	} callers[CALLERS];
	atomic_t failed_calls;
};

static void set_number(enum object object, void *out)
{
	switch (object) {
	case PD:
		return hw_alloc_pd_out_set_pd(out, PDN);
	case XRCD:
		return hw_alloc_xrcd_out_set_xrcd(out, XRCDN);
	case CQ:
		return hw_create_cq_out_set_cqn(out, CQN);
	default:
		return hw_create_xrc_srq_out_set_xrc_srqn(out, SRQN);
	}
}

static u32 destroyed_number(enum object object, const void *in)
{
	switch (object) {
	case PD:
		return hw_dealloc_pd_in_get_pd(in);
	case XRCD:
		return hw_dealloc_xrcd_in_get_xrcd(in);
	case CQ:
		return hw_destroy_cq_in_get_cqn(in);
	default:
		return hw_destroy_xrc_srq_in_get_xrc_srqn(in);
	}
}

/* The SRQ refers to all other objects, so it must be destroyed first. */
static u8 destroy_object(struct fixture *fixture, enum object object, const void *in)
{
	if (destroyed_number(object, in) != object_types[object].number || !fixture->count[object])
		return HW_COMMAND_STATUS_BAD_RESOURCE;
	if (object != SRQ && fixture->count[SRQ])
		return HW_COMMAND_STATUS_RESOURCE_BUSY;
	fixture->count[object]--;
	return HW_COMMAND_STATUS_OK;
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);
	enum object object;

	if (opcode == HW_CMD_CREATE_CQ)
		memcpy(fixture->cq_in, in, min_t(u32, in_length, INPUT_BYTES));
	if (opcode == HW_CMD_CREATE_XRC_SRQ)
		memcpy(fixture->srq_in, in, min_t(u32, in_length, INPUT_BYTES));
	if (opcode == fixture->fail_opcodes[0] || opcode == fixture->fail_opcodes[1])
		return fixture->fail_status;
	for (object = 0; object < OBJECTS; object++) {
		if (opcode == object_types[object].destroy)
			return destroy_object(fixture, object, in);
		if (opcode == object_types[object].create) {
			fixture->count[object]++;
			set_number(object, out);
			return HW_COMMAND_STATUS_OK;
		}
	}
	return HW_COMMAND_STATUS_BAD_OPERATION;
}

static void call_xrc_init(struct work_struct *work)
{
	struct caller *caller = container_of(work, struct caller, work);

	if (cxib_xrc_init(&caller->fixture->fake->ibdev))
		atomic_inc(&caller->fixture->failed_calls);
}

static void destroy_pool(void *data)
{
	struct fixture *fixture = data;

	cxib_quarantine_end(&fixture->fake->ibdev);
	cxib_hw_destroy_dbr_pool(&fixture->fake->hw);
}

/* A device creates and destroys its XRC objects only once. */
static void prepare_xrc(struct fixture *fixture)
{
	struct cxib_xrc *xrc = &fixture->fake->ibdev.xrc;

	*xrc = (struct cxib_xrc){};
	mutex_init(&xrc->lock);
}

static int xrcd_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->cq_in = kunit_kzalloc(test, INPUT_BYTES, GFP_KERNEL);
	fixture->srq_in = kunit_kzalloc(test, INPUT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fixture->cq_in);
	KUNIT_ASSERT_NOT_NULL(test, fixture->srq_in);
	for (i = 0; i < CALLERS; i++) {
		fixture->callers[i].fixture = fixture;
		INIT_WORK(&fixture->callers[i].work, call_xrc_init);
	}
	fixture->eq.eqn = EQN;
	fake->hw.comp_eqs = &fixture->eq;
	fake->hw.completion_eq_count = 1;
	fake->hw.uar_index = UAR_INDEX;
	fake->hw.caps.xrc = 1;
	prepare_xrc(fixture);
	test->priv = fixture;
	fake_queue_pair_start(fake, run_command, fixture);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_create_dbr_pool(&fake->hw));
	return kunit_add_action_or_reset(test, destroy_pool, fixture);
}

/*
 * Sum of the addresses of the next two doorbell records. The pool returns the last freed ones
 * first.
 */
static u64 next_dbrs(struct kunit *test, struct fixture *fixture)
{
	struct dma_pool *pool = fixture->fake->hw.dbr_pool;
	dma_addr_t dma[2] = {};
	void *words[2];
	int i;

	for (i = 0; i < 2; i++) {
		words[i] = dma_pool_alloc(pool, GFP_KERNEL, &dma[i]);
		KUNIT_ASSERT_NOT_NULL(test, words[i]);
	}
	for (i = 1; i >= 0; i--)
		dma_pool_free(pool, words[i], dma[i]);
	return (u64)dma[0] + dma[1];
}

static enum cxib_hw_state state_of(const struct fixture *fixture)
{
	return cxib_hw_state(fixture->fake->hw.bus);
}

static void expect_count_of_each(struct kunit *test, const struct fixture *fixture,
				 unsigned int count)
{
	enum object object;

	for (object = 0; object < OBJECTS; object++)
		KUNIT_EXPECT_EQ_MSG(test, count, fixture->count[object], "object %u", object);
}

static void init_xrc(struct kunit *test, struct fixture *fixture)
{
	KUNIT_ASSERT_EQ(test, 0, cxib_xrc_init(&fixture->fake->ibdev));
	expect_count_of_each(test, fixture, 1);
	fixture->fake->hca->commands = 0;
}

static void destroy_xrc(struct kunit *test, struct fixture *fixture)
{
	cxib_xrc_destroy(&fixture->fake->ibdev);
	expect_count_of_each(test, fixture, 0);
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

static void alloc_xrcd_returns_xrcdn(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_xrcd xrcd = { .ib.device = &fixture->fake->ibdev.ib };

	KUNIT_ASSERT_EQ(test, 0, cxib_alloc_xrcd(&xrcd.ib, NULL));
	KUNIT_EXPECT_EQ(test, XRCDN, xrcd.xrcdn);
	KUNIT_EXPECT_EQ(test, 1, fixture->count[XRCD]);
	/* The device checks the number. */
	KUNIT_EXPECT_EQ(test, 0, cxib_dealloc_xrcd(&xrcd.ib, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->count[XRCD]);
	KUNIT_EXPECT_EQ(test, 2, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

static void alloc_xrcd_refused_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_xrcd xrcd = { .ib.device = &fixture->fake->ibdev.ib };

	fixture->fail_opcodes[0] = HW_CMD_ALLOC_XRCD;
	fixture->fail_status = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_alloc_xrcd(&xrcd.ib, NULL));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

static void xrc_without_cap_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_xrcd xrcd = { .ib.device = &fixture->fake->ibdev.ib };

	fixture->fake->hw.caps.xrc = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_alloc_xrcd(&xrcd.ib, NULL));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_xrc_init(&fixture->fake->ibdev));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
	/* Without objects this call does nothing. */
	cxib_xrc_destroy(&fixture->fake->ibdev);
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

/* User space gets the error, because a DEVX object may refer to the XRCD. */
static void dealloc_xrcd_user_refused_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_xrcd xrcd = { .ib.device = &fixture->fake->ibdev.ib };
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);

	KUNIT_ASSERT_EQ(test, 0, cxib_alloc_xrcd(&xrcd.ib, NULL));
	fixture->fail_opcodes[0] = HW_CMD_DEALLOC_XRCD;
	fixture->fail_status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_dealloc_xrcd(&xrcd.ib, udata));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
	KUNIT_EXPECT_EQ(test, 0, cxib_dealloc_xrcd(&xrcd.ib, NULL));
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
}

static void dealloc_xrcd_refused_at_end_of_context_is_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_xrcd xrcd = { .ib.device = &ibdev->ib };
	struct ib_ucontext context;
	struct uverbs_attr_bundle attrs;

	KUNIT_ASSERT_EQ(test, 0, cxib_alloc_xrcd(&xrcd.ib, NULL));
	fixture->fail_opcodes[0] = HW_CMD_DEALLOC_XRCD;
	fixture->fail_status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, 0, cxib_dealloc_xrcd(&xrcd.ib, fake_cleanup(&attrs, &context)));
	KUNIT_EXPECT_TRUE(test, fake_has_orphans(ibdev, &context));
	fixture->fail_opcodes[0] = 0;
	cxib_orphans_close(ibdev, &context);
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, 0, fixture->count[XRCD]);
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

static void xrc_init_again_issues_no_command(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;

	KUNIT_ASSERT_EQ(test, 0, cxib_xrc_init(ibdev));
	fake_hca_expect_commands(fixture->fake->hca, creations, STEPS);
	KUNIT_EXPECT_EQ(test, 0, cxib_xrc_init(ibdev));
	KUNIT_EXPECT_EQ(test, STEPS, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, PDN, ibdev->xrc.pd);
	KUNIT_EXPECT_EQ(test, XRCDN, ibdev->xrc.xrcd);
	KUNIT_EXPECT_EQ(test, CQN, ibdev->xrc.cqn);
	KUNIT_EXPECT_EQ(test, SRQN, ibdev->xrc.srqn);
	destroy_xrc(test, fixture);
}

/* Several threads create the first XRC QP at the same time. */
static void xrc_init_concurrent_creates_objects_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	fixture->fake->hca->asynchronous = true;
	for (i = 0; i < CALLERS; i++)
		queue_work(system_dfl_wq, &fixture->callers[i].work);
	for (i = 0; i < CALLERS; i++)
		flush_work(&fixture->callers[i].work);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&fixture->failed_calls));
	KUNIT_EXPECT_EQ(test, STEPS, fixture->fake->hca->commands);
	destroy_xrc(test, fixture);
}

/* The CQ has a page of 64-byte CQEs, which the device must not treat as valid. */
static void xrc_init_cq_has_invalid_cqes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_create_cq_in *in = fixture->cq_in;
	const struct hw_cqc *context = hw_create_cq_in_get_cq_context(in);
	struct cxib_xrc *xrc = &fixture->fake->ibdev.xrc;
	const struct hw_cqe64 *cqes;
	size_t i;

	init_xrc(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, hw_create_cq_in_get_uid(in));
	KUNIT_EXPECT_EQ(test, ilog2(PAGE_SIZE / sizeof(*cqes)), hw_cqc_get_log_cq_size(context));
	KUNIT_EXPECT_EQ(test, HW_CQE_SIZE_64_BYTES, hw_cqc_get_cqe_sz(context));
	KUNIT_EXPECT_EQ(test, UAR_INDEX, hw_cqc_get_uar_page(context));
	KUNIT_EXPECT_EQ(test, EQN, hw_cqc_get_c_eqn_or_apu_element(context));
	KUNIT_EXPECT_EQ(test, xrc->dbrs[0].dma, hw_cqc_get_dbr_addr(context));
	KUNIT_EXPECT_EQ(test, 2, xrc->buffer.page_count);
	KUNIT_EXPECT_EQ(test, xrc->buffer.pages[0].dma, be64_to_cpu(in->pas[0]));
	cqes = xrc->buffer.pages[0].memory;
	for (i = 0; i < PAGE_SIZE / sizeof(*cqes); i++)
		KUNIT_EXPECT_EQ(test, HW_CQE_OPCODE_INVALID, hw_cqe64_get_opcode(&cqes[i]));
	destroy_xrc(test, fixture);
}

/* The SRQ has a page of 32-byte WQEs: a next segment and one data segment. */
static void xrc_init_srq_refers_to_cq_and_xrcd(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_create_xrc_srq_in *in = fixture->srq_in;
	const struct hw_xrc_srqc *context = hw_create_xrc_srq_in_get_xrc_srq_context_entry(in);
	struct cxib_xrc *xrc = &fixture->fake->ibdev.xrc;
	u64 dbr;

	init_xrc(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, hw_create_xrc_srq_in_get_uid(in));
	KUNIT_EXPECT_EQ(test, ilog2(PAGE_SIZE / WQE_BYTES),
			hw_xrc_srqc_get_log_xrc_srq_size(context));
	/* The stride is in units of 16 bytes. */
	KUNIT_EXPECT_EQ(test, 1, hw_xrc_srqc_get_log_rq_stride(context));
	KUNIT_EXPECT_EQ(test, PDN, hw_xrc_srqc_get_pd(context));
	KUNIT_EXPECT_EQ(test, XRCDN, hw_xrc_srqc_get_xrcd(context));
	KUNIT_EXPECT_EQ(test, CQN, hw_xrc_srqc_get_cqn(context));
	KUNIT_EXPECT_EQ(test, NO_USER_INDEX, hw_xrc_srqc_get_user_index(context));
	dbr = (u64)hw_xrc_srqc_get_db_record_addr_h(context) << 32 |
	      (u64)hw_xrc_srqc_get_db_record_addr_l(context) << 2;
	KUNIT_EXPECT_EQ(test, xrc->dbrs[1].dma, dbr);
	KUNIT_EXPECT_NE(test, xrc->dbrs[0].dma, dbr);
	KUNIT_EXPECT_EQ(test, xrc->buffer.pages[1].dma, be64_to_cpu(in->pas[0]));
	destroy_xrc(test, fixture);
}

static void describe_creation(const u16 *opcode, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "command 0x%x", *opcode);
}

KUNIT_ARRAY_PARAM(creation, creations, describe_creation);

/* Returns the number of the step in the case's parameter. */
static unsigned int step_of(const struct kunit *test)
{
	return (const u16 *)test->param_value - creations;
}

/* Commands: the steps up to the refused one, then the undo of the earlier ones in reverse order. */
static void xrc_init_refused_command_undoes_steps(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	const unsigned int step = step_of(test);
	u64 dbrs = next_dbrs(test, fixture);
	u16 expected[2 * STEPS];

	memcpy(expected, creations, sizeof(creations));
	memcpy(expected + step + 1, destructions + STEPS - step, step * sizeof(u16));
	fixture->fail_opcodes[0] = creations[step];
	fixture->fail_status = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_xrc_init(ibdev));
	fake_hca_expect_commands(fixture->fake->hca, expected, 2 * step + 1);
	expect_count_of_each(test, fixture, 0);
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
	fixture->fail_status = HW_COMMAND_STATUS_BAD_PARAMETER;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_xrc_init(ibdev));
	fixture->fail_opcodes[0] = 0;
	init_xrc(test, fixture);
	destroy_xrc(test, fixture);
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
}

/* Steps after the first one, which have earlier steps to undo. */
static const unsigned int later_steps[] = { 1, 2, 3 };

static void describe_later_step(const unsigned int *step, char *description)
{
	describe_creation(&creations[*step], description);
}

KUNIT_ARRAY_PARAM(later_step, later_steps, describe_later_step);

/* The error is that of the first refused command. */
static void xrc_init_refused_undo_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const unsigned int step = *(const unsigned int *)test->param_value;
	u64 dbrs = next_dbrs(test, fixture);

	fixture->fail_opcodes[0] = creations[step];
	fixture->fail_opcodes[1] = destructions[STEPS - step];
	fixture->fail_status = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_xrc_init(&fixture->fake->ibdev));
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	KUNIT_EXPECT_FALSE(test, fixture->fake->ibdev.xrc.ready);
	/* No command is issued after the refused one. */
	KUNIT_EXPECT_EQ(test, step + 2, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
}

/* After an invalid output the object may exist in the device, which may write to its memory. */
static void xrc_init_bad_output_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct fake_queue_pair *fake = fixture->fake;
	u64 dbrs = next_dbrs(test, fixture);

	fake->hca->fault = FAKE_FAULT_TOKEN;
	fake->hca->always = true;
	fake->hca->fault_opcode = creations[step_of(test)];
	KUNIT_EXPECT_EQ(test, -EBADMSG, cxib_xrc_init(&fake->ibdev));
	KUNIT_EXPECT_FALSE(test, fake->ibdev.xrc.ready);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_NE(test, dbrs, next_dbrs(test, fixture));
	cxib_quarantine_end(&fake->ibdev);
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
}

/* Allocations of the fake device do not fail, because it runs in another thread. */
static void xrc_init_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct failing_walk walk = {};
	u64 dbrs = next_dbrs(test, fixture);
	bool more;
	int err;

	skip_unless_allocations_can_fail(test);
	fixture->fake->hca->asynchronous = true;
	do {
		fail_next_allocation(&walk);
		err = cxib_xrc_init(&fixture->fake->ibdev);
		more = failing_walk_goes_on(&walk, err, 1);
		expect_count_of_each(test, fixture, !err);
		if (err) {
			KUNIT_EXPECT_EQ_MSG(test, -ENOMEM, err, "allocation %u", walk.number);
		} else {
			destroy_xrc(test, fixture);
			prepare_xrc(fixture);
		}
		KUNIT_EXPECT_EQ_MSG(test, dbrs, next_dbrs(test, fixture), "allocation %u",
				    walk.number);
	} while (more);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_GT(test, walk.refused, 0);
}

static void xrc_destroy_destroys_children_first(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u64 dbrs = next_dbrs(test, fixture);

	init_xrc(test, fixture);
	KUNIT_EXPECT_NE(test, dbrs, next_dbrs(test, fixture));
	destroy_xrc(test, fixture);
	fake_hca_expect_commands(fixture->fake->hca, destructions, STEPS);
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
}

/* Firmware destroys no parent before its children, so no further command is issued. */
static void xrc_destroy_refused_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const unsigned int step = step_of(test);
	u64 dbrs = next_dbrs(test, fixture);

	init_xrc(test, fixture);
	fixture->fail_opcodes[0] = destructions[step];
	fixture->fail_status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	cxib_xrc_destroy(&fixture->fake->ibdev);
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	KUNIT_EXPECT_EQ(test, step + 1, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, dbrs, next_dbrs(test, fixture));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(alloc_xrcd_returns_xrcdn),
	KUNIT_CASE(alloc_xrcd_refused_returns_error),
	KUNIT_CASE(xrc_without_cap_returns_eopnotsupp),
	KUNIT_CASE(dealloc_xrcd_user_refused_returns_error),
	KUNIT_CASE(dealloc_xrcd_refused_at_end_of_context_is_left),
	KUNIT_CASE(xrc_init_again_issues_no_command),
	KUNIT_CASE(xrc_init_concurrent_creates_objects_once),
	KUNIT_CASE(xrc_init_cq_has_invalid_cqes),
	KUNIT_CASE(xrc_init_srq_refers_to_cq_and_xrcd),
	KUNIT_CASE_PARAM(xrc_init_refused_command_undoes_steps, creation_gen_params),
	KUNIT_CASE_PARAM(xrc_init_refused_undo_switches_dma_off, later_step_gen_params),
	KUNIT_CASE_PARAM(xrc_init_bad_output_keeps_memory, creation_gen_params),
	KUNIT_CASE(xrc_init_failed_allocation_returns_enomem),
	KUNIT_CASE(xrc_destroy_destroys_children_first),
	KUNIT_CASE_PARAM(xrc_destroy_refused_switches_dma_off, creation_gen_params),
	{}
};

static struct kunit_suite suite = {
	.name = "xrcd",
	.init = xrcd_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
