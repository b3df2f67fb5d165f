// SPDX-License-Identifier: GPL-2.0-only
/*
 * User-space objects that firmware refuses to destroy: which caller gets the error, and which
 * memory is kept.
 */
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/commands_events.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/commands_receive_queues.h"
#include "verbs/mkey.h"

#define SHORT_MS	20
#define COMMANDS	256
#define UID		0x1234
#define NUMBER		0xabcdef
#define XRCDN		0x345

/*
 * Number of orphaned objects of closed contexts that the end of another context tries to destroy:
 * orphans.c.
 */
#define RETRIES		16

/**
 * struct fixture - a device that refuses commands
 * @fake: the device
 * @context: a user context
 * @other: another user context
 * @user: counter of released pages
 * @refused: commands with these opcodes are refused; 0: none
 * @child: number of an object; while it exists, those with other numbers are refused; 0: none
 * @inputs: first three words of the commands so far
 * @command_count: number of commands so far
 * @released: number of pages released
 * @dma_at_release: DMA was on when the last one was released
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct ib_ucontext context;
	struct ib_ucontext other;
	struct cxib_user_interface user;
	u16 refused[2];
	u32 child;
	__be32 inputs[COMMANDS][3];
	unsigned int command_count;
	unsigned int released;
	bool dma_at_release;
};

static u32 number_of(const void *in)
{
	return hw_general_obj_in_cmd_hdr_get_obj_id(in);
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (fixture->command_count < COMMANDS)
		memcpy(fixture->inputs[fixture->command_count++], in, sizeof(fixture->inputs[0]));
	if (opcode == fixture->refused[0] || opcode == fixture->refused[1])
		return HW_COMMAND_STATUS_BAD_RESOURCE_STATE;
	if (fixture->child && fixture->child != number_of(in))
		return HW_COMMAND_STATUS_RESOURCE_BUSY;
	fixture->child = 0;
	return HW_COMMAND_STATUS_OK;
}

static struct fixture *running;

static void release_page(struct cxib_dbr_page *page)
{
	running->released++;
	running->dma_at_release = running->fake->hca->dma;
}

static int orphans_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->user.unpin_record = release_page;
	fake->ibdev.user = &fixture->user;
	fake->hca->script = run_command;
	fake->hca->script_context = fixture;
	fake->hca->dma = true;
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(&fake->hw.commands));
	mutex_init(&fake->hw.dma_lock);
	test->priv = fixture;
	running = fixture;
	return 0;
}

static struct cxib_ibdev *ibdev_of(const struct fixture *fixture)
{
	return &fixture->fake->ibdev;
}

static bool is_fatal(const struct fixture *fixture)
{
	return cxib_command_queue_is_fatal(&fixture->fake->hw.commands);
}

static u16 opcode_at(const struct fixture *fixture, unsigned int i)
{
	return hw_cmd_in_get_opcode((const void *)fixture->inputs[i]);
}

static unsigned int count_of(const struct fixture *fixture, u16 opcode)
{
	unsigned int count = 0;
	unsigned int i;

	for (i = 0; i < fixture->command_count; i++)
		count += opcode_at(fixture, i) == opcode;
	return count;
}

static bool has_orphans(struct fixture *fixture, struct ib_ucontext *context)
{
	return fake_has_orphans(ibdev_of(fixture), context);
}

static struct cxib_pinned some_page(void)
{
	/* Never read. */
	return (struct cxib_pinned){ .dbr_page = (struct cxib_dbr_page *)1 };
}

static void keep(struct fixture *fixture, struct ib_ucontext *context, u16 opcode, u32 number)
{
	const struct cxib_destroy destroy = cxib_destroy_object(opcode, UID, number);
	struct cxib_pinned pinned = some_page();

	cxib_orphans_keep(ibdev_of(fixture), context, &destroy, &pinned, -EBUSY);
}

static int finish(struct fixture *fixture, struct ib_udata *udata, struct cxib_pinned *pinned,
		  int err)
{
	const struct cxib_destroy destroy = cxib_destroy_object(HW_CMD_DESTROY_CQ, UID, NUMBER);

	return cxib_finish_user_destroy(ibdev_of(fixture), udata, &destroy, pinned, err);
}

/* DEVX objects of the process may refer to this object. */
static void destroy_refused_for_process_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;

	KUNIT_EXPECT_EQ(test, -EBUSY, finish(fixture, fake_request(&attrs, &fixture->context),
					     &pinned, -EBUSY));
	KUNIT_EXPECT_NOT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
	KUNIT_EXPECT_FALSE(test, has_orphans(fixture, &fixture->context));
	cxib_orphans_end(ibdev_of(fixture));
}

/* A write() has a command structure instead of attributes. */
static void destroy_refused_for_write_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_cleanup(&attrs, &fixture->context);

	attrs.ucore.inlen = sizeof(struct ib_uverbs_destroy_cq);
	KUNIT_EXPECT_EQ(test, -EBUSY, finish(fixture, udata, &pinned, -EBUSY));
	KUNIT_EXPECT_FALSE(test, has_orphans(fixture, &fixture->context));
	cxib_orphans_end(ibdev_of(fixture));
}

/* A process can make firmware refuse a command, so a refusal must not be a fatal error. */
static void destroy_refused_while_creation_is_open_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;

	fixture->fake->hw.commands.num_pending = 1;
	KUNIT_EXPECT_EQ(test, -EBUSY, finish(fixture, fake_request(&attrs, &fixture->context),
					     &pinned, -EBUSY));
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
	KUNIT_EXPECT_TRUE(test, fixture->fake->hca->dma);
	fixture->fake->hw.commands.num_pending = 0;
	cxib_orphans_end(ibdev_of(fixture));
}

/* The object is gone for the RDMA core, but its memory is kept. */
static void destroy_refused_at_end_of_context_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;

	KUNIT_EXPECT_EQ(test, 0, finish(fixture, fake_cleanup(&attrs, &fixture->context),
					&pinned, -EBUSY));
	KUNIT_EXPECT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_EQ(test, 0, fixture->released);
	KUNIT_EXPECT_TRUE(test, has_orphans(fixture, &fixture->context));
	KUNIT_EXPECT_FALSE(test, has_orphans(fixture, &fixture->other));
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
}

static void destroy_refused_for_kernel_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, finish(fixture, NULL, NULL, -EBUSY));
	KUNIT_EXPECT_TRUE(test, is_fatal(fixture));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	cxib_orphans_end(ibdev_of(fixture));
}

static void discard(struct fixture *fixture, struct ib_ucontext *context,
		    struct cxib_pinned *pinned, int err)
{
	const struct cxib_destroy destroy = cxib_destroy_object(HW_CMD_DESTROY_CQ, UID, NUMBER);

	cxib_discard_object(ibdev_of(fixture), context, &destroy, pinned, err);
}

/* The process that requested the object gets the error of the creation. */
static void discard_refused_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();

	discard(fixture, &fixture->context, &pinned, -EBUSY);
	KUNIT_EXPECT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_EQ(test, 0, fixture->released);
	KUNIT_EXPECT_TRUE(test, has_orphans(fixture, &fixture->context));
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
	cxib_orphans_end(ibdev_of(fixture));
}

static void discard_leaves_memory_to_caller(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();

	discard(fixture, &fixture->context, &pinned, 0);
	KUNIT_EXPECT_NOT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_FALSE(test, has_orphans(fixture, &fixture->context));
	cxib_orphans_end(ibdev_of(fixture));
}

static void discard_refused_for_kernel_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	discard(fixture, NULL, NULL, -EBUSY);
	KUNIT_EXPECT_TRUE(test, is_fatal(fixture));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	cxib_orphans_end(ibdev_of(fixture));
}

/* The caller frees the memory, which DMA can no longer access. */
static void destroy_on_fatal_device_leaves_memory_to_caller(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;

	cxib_command_queue_set_fatal(&fixture->fake->hw.commands);
	KUNIT_EXPECT_EQ(test, 0, finish(fixture, fake_request(&attrs, &fixture->context),
					&pinned, -EIO));
	KUNIT_EXPECT_NOT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	cxib_orphans_end(ibdev_of(fixture));
}

/* The device may have executed the command, and another object may have the number now. */
static void expect_never_repeated(struct kunit *test, int err)
{
	struct fixture *fixture = test->priv;
	struct cxib_pinned pinned = some_page();
	struct uverbs_attr_bundle attrs;

	KUNIT_EXPECT_EQ(test, 0, finish(fixture, fake_request(&attrs, &fixture->context),
					&pinned, err));
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_EXPECT_EQ(test, 1, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_EQ(test, 0, fixture->released);
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_EQ(test, 0, fixture->command_count);
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
	KUNIT_EXPECT_FALSE(test, fixture->dma_at_release);
}

static void destroy_timed_out_is_never_repeated(struct kunit *test)
{
	expect_never_repeated(test, -ETIMEDOUT);
}

static void destroy_with_bad_output_is_never_repeated(struct kunit *test)
{
	expect_never_repeated(test, -EBADMSG);
}

/* Objects are kept in the order in which the RDMA core destroys them, a QP before its CQ. */
static void close_destroys_in_order(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	keep(fixture, &fixture->other, HW_CMD_DESTROY_RMP, NUMBER + 1);
	keep(fixture, &fixture->context, HW_CMD_DESTROY_CQ, NUMBER + 2);
	fixture->child = NUMBER;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_ASSERT_EQ(test, 2, fixture->command_count);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, opcode_at(fixture, 0));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_qp_in_get_uid((const void *)fixture->inputs[0]));
	KUNIT_EXPECT_EQ(test, NUMBER, number_of(fixture->inputs[0]));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_CQ, opcode_at(fixture, 1));
	KUNIT_EXPECT_EQ(test, NUMBER + 2, number_of(fixture->inputs[1]));
	KUNIT_EXPECT_EQ(test, 2, fixture->released);
	KUNIT_EXPECT_EQ(test, 0, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_TRUE(test, has_orphans(fixture, &fixture->other));
	cxib_orphans_end(ibdev_of(fixture));
}

/* The CQ was kept earlier than the QP that refers to it. */
static void close_tries_parent_after_child(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_CQ, NUMBER + 2);
	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_ASSERT_EQ(test, 2, fixture->command_count);
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_QP, opcode_at(fixture, 0));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_CQ, opcode_at(fixture, 1));
	cxib_orphans_end(ibdev_of(fixture));
}

/*
 * Only children of the same context count: the CQ of another context is destroyed. An mkey does not
 * refer to a CQ.
 */
static void parent_of_refused_child_is_not_tried(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	keep(fixture, &fixture->context, HW_CMD_DESTROY_CQ, NUMBER + 1);
	keep(fixture, &fixture->other, HW_CMD_DESTROY_MKEY, NUMBER + 2);
	keep(fixture, &fixture->other, HW_CMD_DESTROY_CQ, NUMBER + 3);
	fixture->refused[0] = HW_CMD_DESTROY_QP;
	fixture->refused[1] = HW_CMD_DESTROY_MKEY;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_ASSERT_EQ(test, 2, ibdev_of(fixture)->orphans.closed);
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_EXPECT_EQ(test, 3, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_EQ(test, 1, count_of(fixture, HW_CMD_DESTROY_CQ));
	fixture->refused[0] = 0;
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_EXPECT_EQ(test, 2, count_of(fixture, HW_CMD_DESTROY_CQ));
	KUNIT_EXPECT_EQ(test, 1, ibdev_of(fixture)->orphans.closed);
	cxib_orphans_end(ibdev_of(fixture));
}

static int check(struct fixture *fixture, struct ib_ucontext *context, u16 opcode)
{
	const struct cxib_destroy destroy = cxib_destroy_object(opcode, UID, NUMBER);

	return cxib_orphans_check(ibdev_of(fixture), context, &destroy);
}

/* IBA chapter 10 lists the objects to which a QP, an SRQ, a CQ and an MR refer. */
static void check_finds_what_orphans_may_refer_to(struct kunit *test)
{
	static const struct {
		u16 left;
		u16 parents[8];
		u16 others[4];
	} cases[] = {
		{ HW_CMD_DESTROY_QP,
		  { HW_CMD_DESTROY_CQ, HW_CMD_DESTROY_RMP, HW_CMD_DESTROY_XRC_SRQ,
		    HW_CMD_DEALLOC_PD, HW_CMD_DEALLOC_XRCD, HW_CMD_DEALLOC_UAR,
		    HW_CMD_DESTROY_UMEM, HW_CMD_DESTROY_UCTX },
		  { HW_CMD_DESTROY_QP, HW_CMD_DESTROY_MKEY, HW_CMD_DEALLOC_MEMIC } },
		{ HW_CMD_DESTROY_DCT,
		  { HW_CMD_DESTROY_CQ, HW_CMD_DESTROY_RMP, HW_CMD_DEALLOC_PD } },
		{ HW_CMD_DESTROY_RMP,
		  { HW_CMD_DEALLOC_PD, HW_CMD_DESTROY_UMEM, HW_CMD_DESTROY_UCTX },
		  { HW_CMD_DESTROY_QP, HW_CMD_DESTROY_MKEY } },
		{ HW_CMD_DESTROY_XRC_SRQ,
		  { HW_CMD_DESTROY_CQ, HW_CMD_DEALLOC_PD, HW_CMD_DEALLOC_XRCD } },
		{ HW_CMD_DESTROY_XRQ, { HW_CMD_DESTROY_CQ, HW_CMD_DEALLOC_PD } },
		{ HW_CMD_DESTROY_CQ,
		  { HW_CMD_DEALLOC_UAR, HW_CMD_DESTROY_UMEM, HW_CMD_DESTROY_UCTX },
		  { HW_CMD_DESTROY_RMP, HW_CMD_DESTROY_CQ, HW_CMD_DESTROY_MKEY } },
		{ HW_CMD_DESTROY_MKEY,
		  { HW_CMD_DEALLOC_PD, HW_CMD_DEALLOC_MEMIC, HW_CMD_DESTROY_UCTX },
		  { HW_CMD_DESTROY_CQ, HW_CMD_DEALLOC_UAR } },
		{ HW_CMD_MODIFY_MEMIC, { HW_CMD_DEALLOC_MEMIC }, { HW_CMD_DEALLOC_PD } },
		{ HW_CMD_DEALLOC_UAR, { HW_CMD_DESTROY_UCTX }, { HW_CMD_DEALLOC_PD } },
		{ HW_CMD_DESTROY_UCTX, {}, { HW_CMD_DESTROY_UCTX, HW_CMD_DEALLOC_PD } },
		{ HW_CMD_DESTROY_GENERAL_OBJECT,
		  { HW_CMD_DESTROY_QP, HW_CMD_DESTROY_CQ, HW_CMD_DESTROY_MKEY,
		    HW_CMD_DEALLOC_PD, HW_CMD_DESTROY_UMEM, HW_CMD_DEALLOC_UAR } },
	};
	struct fixture *fixture = test->priv;
	struct ib_ucontext *context = &fixture->context;
	unsigned int i, j;

	for (i = 0; i < ARRAY_SIZE(cases); i++) {
		keep(fixture, context, cases[i].left, NUMBER);
		for (j = 0; j < ARRAY_SIZE(cases[i].parents) && cases[i].parents[j]; j++) {
			KUNIT_EXPECT_EQ_MSG(test, -EBUSY,
					    check(fixture, context, cases[i].parents[j]),
					    "0x%x of 0x%x", cases[i].parents[j], cases[i].left);
			KUNIT_EXPECT_EQ(test, 0, check(fixture, &fixture->other,
						       cases[i].parents[j]));
		}
		for (j = 0; j < ARRAY_SIZE(cases[i].others) && cases[i].others[j]; j++)
			KUNIT_EXPECT_EQ_MSG(test, 0, check(fixture, context, cases[i].others[j]),
					    "0x%x of 0x%x", cases[i].others[j], cases[i].left);
		cxib_orphans_close(ibdev_of(fixture), context);
	}
	KUNIT_EXPECT_EQ(test, 0, check(fixture, NULL, HW_CMD_DESTROY_CQ));
	cxib_orphans_end(ibdev_of(fixture));
}

/* After a DEVX modify command an object can refer to one that was created later. */
static void close_repeats_while_one_is_destroyed(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_GENERAL_OBJECT, NUMBER + 2);
	keep(fixture, &fixture->context, HW_CMD_DESTROY_GENERAL_OBJECT, NUMBER);
	fixture->child = NUMBER;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_ASSERT_EQ(test, 3, fixture->command_count);
	KUNIT_EXPECT_EQ(test, NUMBER + 2, number_of(fixture->inputs[0]));
	KUNIT_EXPECT_EQ(test, NUMBER, number_of(fixture->inputs[1]));
	KUNIT_EXPECT_EQ(test, NUMBER + 2, number_of(fixture->inputs[2]));
	KUNIT_EXPECT_EQ(test, 2, fixture->released);
	KUNIT_EXPECT_EQ(test, 0, ibdev_of(fixture)->orphans.closed);
	cxib_orphans_end(ibdev_of(fixture));
}

/* The memory of a closed context is released at the end of another context or of the device. */
static void close_refused_keeps_memory_until_destroyed(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	fixture->refused[0] = HW_CMD_DESTROY_QP;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_EXPECT_EQ(test, 1, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_FALSE(test, has_orphans(fixture, &fixture->context));
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_EXPECT_EQ(test, 1, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_EQ(test, 0, fixture->released);
	fixture->refused[0] = 0;
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_EXPECT_EQ(test, 0, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
	KUNIT_EXPECT_TRUE(test, fixture->dma_at_release);
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
}

/* Each end of a context tries a few objects, so that all are tried in turn. */
static void close_tries_few_of_closed_contexts(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i, first;

	for (i = 0; i < 2 * RETRIES; i++)
		keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER + i);
	fixture->refused[0] = HW_CMD_DESTROY_QP;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_ASSERT_EQ(test, 2 * RETRIES, ibdev_of(fixture)->orphans.closed);
	first = fixture->command_count;
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_EXPECT_EQ(test, first + RETRIES, fixture->command_count);
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_ASSERT_EQ(test, first + 2 * RETRIES, fixture->command_count);
	for (i = 0; i < 2 * RETRIES; i++)
		KUNIT_EXPECT_EQ(test, NUMBER + i, number_of(fixture->inputs[first + i]));
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_EQ(test, 2 * RETRIES, fixture->released);
}

/* After one command has timed out, the driver does not send the others. */
static void close_command_timeout_skips_rest(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER + 1);
	fixture->fake->hw.commands.timeout_ms = SHORT_MS;
	fixture->fake->hca->hold = true;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	fixture->fake->hca->hold = false;
	KUNIT_EXPECT_EQ(test, 2, ibdev_of(fixture)->orphans.closed);
	KUNIT_EXPECT_EQ(test, 1, cxib_command_queue_timed_out(&fixture->fake->hw.commands));
	fake_hca_release(fixture->fake->hca);
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_EQ(test, 2, fixture->released);
}

static void close_on_fatal_device_releases_memory_after_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	cxib_command_queue_set_fatal(&fixture->fake->hw.commands);
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
	KUNIT_EXPECT_FALSE(test, fixture->dma_at_release);
	KUNIT_EXPECT_EQ(test, 0, ibdev_of(fixture)->orphans.closed);
	cxib_orphans_end(ibdev_of(fixture));
}

static void end_refused_releases_memory_after_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	keep(fixture, &fixture->context, HW_CMD_DESTROY_QP, NUMBER);
	fixture->refused[0] = HW_CMD_DESTROY_QP;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_EXPECT_EQ(test, 1, fixture->released);
	KUNIT_EXPECT_FALSE(test, fixture->dma_at_release);
	KUNIT_EXPECT_TRUE(test, is_fatal(fixture));
	KUNIT_EXPECT_TRUE(test, list_empty(&ibdev_of(fixture)->orphans.list));
}

/*
 * The device refuses the CQ, which for the device is in another context; then the QP and the CQ
 * succeed.
 */
static void end_destroyed_leaves_device_up(struct kunit *test)
{
	static const u16 expected[] = { HW_CMD_DESTROY_CQ, HW_CMD_DESTROY_QP, HW_CMD_DESTROY_CQ };
	struct fixture *fixture = test->priv;
	unsigned int i;

	keep(fixture, NULL, HW_CMD_DESTROY_CQ, NUMBER + 1);
	keep(fixture, NULL, HW_CMD_DESTROY_QP, NUMBER);
	fixture->child = NUMBER;
	cxib_orphans_end(ibdev_of(fixture));
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(expected), fixture->command_count);
	for (i = 0; i < ARRAY_SIZE(expected); i++)
		KUNIT_EXPECT_EQ(test, expected[i], opcode_at(fixture, i));
	KUNIT_EXPECT_EQ(test, 2, fixture->released);
	KUNIT_EXPECT_TRUE(test, fixture->dma_at_release);
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
}

/* The driver resets a QP once before it destroys the QP. */
static void command_before_destroy_is_repeated_until_it_succeeds(struct kunit *test)
{
	struct cxib_destroy destroy = cxib_destroy_object(HW_CMD_DESTROY_QP, UID, NUMBER);
	static const u16 expected[] = {
		HW_CMD_2RST_QP, HW_CMD_2RST_QP, HW_CMD_DESTROY_QP, HW_CMD_DESTROY_QP,
	};
	struct fixture *fixture = test->priv;
	unsigned int i;

	destroy.before = HW_CMD_2RST_QP;
	cxib_orphans_keep(ibdev_of(fixture), &fixture->context, &destroy, NULL, -EINVAL);
	fixture->refused[0] = HW_CMD_2RST_QP;
	fixture->refused[1] = HW_CMD_DESTROY_QP;
	cxib_orphans_close(ibdev_of(fixture), &fixture->context);
	fixture->refused[0] = 0;
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	fixture->refused[1] = 0;
	cxib_orphans_close(ibdev_of(fixture), &fixture->other);
	KUNIT_ASSERT_EQ(test, ARRAY_SIZE(expected), fixture->command_count);
	for (i = 0; i < ARRAY_SIZE(expected); i++) {
		KUNIT_EXPECT_EQ(test, expected[i], opcode_at(fixture, i));
		KUNIT_EXPECT_EQ(test, NUMBER, number_of(fixture->inputs[i]));
	}
	KUNIT_EXPECT_EQ(test, 0, ibdev_of(fixture)->orphans.closed);
	cxib_orphans_end(ibdev_of(fixture));
}

/*
 * Compares the command of hw/ for a kind with the command that is sent for an orphaned object of
 * this kind.
 */
static void expect_same(struct kunit *test, const void *in, struct cxib_destroy destroy)
{
	KUNIT_EXPECT_EQ(test, sizeof(struct hw_general_obj_in_cmd_hdr), destroy.in_length);
	KUNIT_EXPECT_MEMEQ(test, in, destroy.in, destroy.in_length);
}

#define EXPECT_KIND(test, name, NAME, field, with_uid) \
	do { \
		struct hw_##name##_in in = {}; \
		hw_##name##_in_set_opcode(&in, HW_CMD_##NAME); \
		with_uid; \
		hw_##name##_in_set_##field(&in, NUMBER); \
		expect_same(test, &in, cxib_destroy_object(HW_CMD_##NAME, UID, NUMBER)); \
	} while (0)

#define UID_OF(name)	hw_##name##_in_set_uid(&in, UID)

static void destroy_object_is_command_of_each_kind(struct kunit *test)
{
	struct hw_destroy_mkey_in mkey = {};
	struct hw_destroy_uctx_in uctx = {};

	EXPECT_KIND(test, destroy_cq, DESTROY_CQ, cqn, UID_OF(destroy_cq));
	EXPECT_KIND(test, destroy_qp, DESTROY_QP, qpn, UID_OF(destroy_qp));
	EXPECT_KIND(test, destroy_dct, DESTROY_DCT, dctn, UID_OF(destroy_dct));
	EXPECT_KIND(test, destroy_rmp, DESTROY_RMP, rmpn, UID_OF(destroy_rmp));
	EXPECT_KIND(test, destroy_xrc_srq, DESTROY_XRC_SRQ, xrc_srqn, UID_OF(destroy_xrc_srq));
	EXPECT_KIND(test, destroy_xrq, DESTROY_XRQ, xrqn, UID_OF(destroy_xrq));
	EXPECT_KIND(test, destroy_umem, DESTROY_UMEM, umem_id, UID_OF(destroy_umem));
	EXPECT_KIND(test, dealloc_pd, DEALLOC_PD, pd, UID_OF(dealloc_pd));
	EXPECT_KIND(test, dealloc_uar, DEALLOC_UAR, uar, UID_OF(dealloc_uar));
	EXPECT_KIND(test, dealloc_xrcd, DEALLOC_XRCD, xrcd, UID_OF(dealloc_xrcd));

	hw_destroy_mkey_in_set_opcode(&mkey, HW_CMD_DESTROY_MKEY);
	hw_destroy_mkey_in_set_mkey_index(&mkey, NUMBER);
	expect_same(test, &mkey, cxib_mkey_destroy(NUMBER << 8 | 0x5a));
	hw_destroy_uctx_in_set_opcode(&uctx, HW_CMD_DESTROY_UCTX);
	hw_destroy_uctx_in_set_uid(&uctx, UID);
	expect_same(test, &uctx, cxib_destroy_object(HW_CMD_DESTROY_UCTX, 0, UID));
}

/* The XRC domain may belong to another process than the last one that closed the QP. */
static void xrcd_of_left_xrc_tgt_qp_is_not_deallocated(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_destroy qp = cxib_destroy_object(HW_CMD_DESTROY_QP, 0, NUMBER);
	const struct cxib_destroy xrcd = cxib_destroy_object(HW_CMD_DEALLOC_XRCD, 0, XRCDN);
	const struct cxib_destroy other = cxib_destroy_object(HW_CMD_DEALLOC_XRCD, 0, XRCDN + 1);
	const struct cxib_destroy pd = cxib_destroy_object(HW_CMD_DEALLOC_PD, 0, XRCDN);
	struct cxib_ibdev *ibdev = ibdev_of(fixture);

	qp.is_xrc_tgt = true;
	qp.xrcdn = XRCDN;
	cxib_orphans_keep(ibdev, NULL, &qp, NULL, -EBUSY);
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_orphans_check(ibdev, &fixture->context, &xrcd));
	KUNIT_EXPECT_EQ(test, 0, cxib_orphans_check(ibdev, &fixture->context, &other));
	KUNIT_EXPECT_EQ(test, 0, cxib_orphans_check(ibdev, &fixture->context, &pd));
	cxib_orphans_keep(ibdev, &fixture->context, &xrcd, NULL, -EBUSY);
	fixture->refused[0] = HW_CMD_DESTROY_QP;
	cxib_orphans_close(ibdev, &fixture->context);
	KUNIT_EXPECT_EQ(test, 0, count_of(fixture, HW_CMD_DEALLOC_XRCD));
	fixture->refused[0] = 0;
	cxib_orphans_end(ibdev);
	KUNIT_EXPECT_EQ(test, 1, count_of(fixture, HW_CMD_DEALLOC_XRCD));
	KUNIT_EXPECT_FALSE(test, is_fatal(fixture));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(destroy_refused_for_process_returns_error),
	KUNIT_CASE(destroy_refused_for_write_returns_error),
	KUNIT_CASE(destroy_refused_while_creation_is_open_returns_error),
	KUNIT_CASE(destroy_refused_at_end_of_context_keeps_memory),
	KUNIT_CASE(destroy_refused_for_kernel_switches_dma_off),
	KUNIT_CASE(discard_refused_keeps_memory),
	KUNIT_CASE(discard_leaves_memory_to_caller),
	KUNIT_CASE(discard_refused_for_kernel_switches_dma_off),
	KUNIT_CASE(destroy_on_fatal_device_leaves_memory_to_caller),
	KUNIT_CASE(destroy_timed_out_is_never_repeated),
	KUNIT_CASE(destroy_with_bad_output_is_never_repeated),
	KUNIT_CASE(close_destroys_in_order),
	KUNIT_CASE(close_repeats_while_one_is_destroyed),
	KUNIT_CASE(close_tries_parent_after_child),
	KUNIT_CASE(parent_of_refused_child_is_not_tried),
	KUNIT_CASE(check_finds_what_orphans_may_refer_to),
	KUNIT_CASE(close_refused_keeps_memory_until_destroyed),
	KUNIT_CASE(close_tries_few_of_closed_contexts),
	KUNIT_CASE(close_command_timeout_skips_rest),
	KUNIT_CASE(close_on_fatal_device_releases_memory_after_dma_off),
	KUNIT_CASE(end_refused_releases_memory_after_dma_off),
	KUNIT_CASE(end_destroyed_leaves_device_up),
	KUNIT_CASE(command_before_destroy_is_repeated_until_it_succeeds),
	KUNIT_CASE(destroy_object_is_command_of_each_kind),
	KUNIT_CASE(xrcd_of_left_xrc_tgt_qp_is_not_deallocated),
	{}
};

static struct kunit_suite suite = {
	.name = "orphans",
	.init = orphans_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
