// SPDX-License-Identifier: GPL-2.0-only
/*
 * Kernel SRQs: sizes, commands, events, and what remains after a failed command.
 *
 * The limits are those that cxib_fill_device_attr() reports for a device with log_max_srq_sz 15 and
 * max_wqe_sz_rq 512: 2^15 - 1 WRs, and (512 - 16) / 16 SGEs, because a WQE has a next segment of 16
 * bytes and a data segment of 16 bytes for each SGE.
 */
#include <linux/delay.h>
#include <linux/dmapool.h>

#include "compat/workqueue.h"
#include "failing_allocations.h"
#include "fake_queue_pair.h"
#include "fake_udata.h"
#include "hw/command_interface.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/commands_receive_queues.h"
#include "verbs/srq/srq.h"

#define MAX_SRQ_WR	32767
#define MAX_SRQ_SGE	31
#define MAX_NUM_TAGS	62

#define INPUT_BYTES	1024
#define DESTROY_WAIT_MS	20

#define RESD_LKEY	0x300
#define MKEY_INDEX	0x1234
#define PDN		0x88
#define PD_UID		0x21
#define XRCDN		0x99
#define CQN		0x66
#define SRQN		0x777

/* user_index of objects without one: MLX5_IB_DEFAULT_UIDX of mlx5_ib. */
#define NO_USER_INDEX	0xffffff

/**
 * struct srq_type - an SRQ type and its commands
 * @name: parameter description
 * @type: type
 * @create: opcode that creates it
 * @destroy: opcode that destroys it
 * @arm: opcode that arms the limit event
 * @query: opcode that reads the limit
 */
struct srq_type {
	const char *name;
	enum ib_srq_type type;
	u16 create, destroy, arm, query;
};

static const struct srq_type types[] = {
	{ "basic", IB_SRQT_BASIC, HW_CMD_CREATE_RMP, HW_CMD_DESTROY_RMP, HW_CMD_MODIFY_RMP,
	  HW_CMD_QUERY_RMP },
	{ "XRC", IB_SRQT_XRC, HW_CMD_CREATE_XRC_SRQ, HW_CMD_DESTROY_XRC_SRQ,
	  HW_CMD_ARM_XRC_SRQ, HW_CMD_QUERY_XRC_SRQ },
};

static void describe_type(const struct srq_type *type, char *description)
{
	strscpy(description, type->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(type, types, describe_type);

/**
 * struct fixture - an SRQ, and a device that counts its objects
 * @fake: device and the CQ of XRC SRQs
 * @type: parameter of the case, or the basic type
 * @pd: PD of the SRQs
 * @xrcd: XRC domain of the XRC SRQs
 * @srq: the SRQ
 * @fail_opcode: opcode of a command that fails; 0: none
 * @fail_status: status of that command
 * @in: start of the input of the last command
 * @mkey_pdn: PDN of the last CREATE_MKEY
 * @num_mkeys: number of mkeys in the device
 * @num_srqs: number of SRQs in the device
 * @next_srqn: number of the next SRQ
 * @lwm: limit that the query commands return
 * @destroy_seen: completed by a destroy command
 * @destroy_work: destroys @srq
 * @destroyed: @destroy_work is done
 * @events: number of events delivered
 * @event: the last of them
 */
struct fixture {
	struct fake_queue_pair *fake;
	const struct srq_type *type;
	struct cxib_pd pd;
	struct cxib_xrcd xrcd;
	struct cxib_srq srq;
	u16 fail_opcode;
	u8 fail_status;
	void *in;
	u32 mkey_pdn;
	unsigned int num_mkeys;
	unsigned int num_srqs;
	u32 next_srqn;
	u16 lwm;
	struct completion destroy_seen;
	struct work_struct destroy_work;
	bool destroyed;
	unsigned int events;
	struct ib_event event;
};

static void set_lwm(u16 opcode, void *out, u16 lwm)
{
	if (opcode == HW_CMD_QUERY_RMP)
		hw_wq_set_lwm(hw_rmpc_wq(hw_query_rmp_out_rmp_context(out)), lwm);
	else
		hw_xrc_srqc_set_lwm(hw_query_xrc_srq_out_xrc_srq_context_entry(out), lwm);
}

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	memcpy(fixture->in, in, min_t(u32, in_length, INPUT_BYTES));
	if (opcode == fixture->fail_opcode)
		return fixture->fail_status;
	switch (opcode) {
	case HW_CMD_CREATE_MKEY:
		fixture->mkey_pdn = hw_mkc_get_pd(hw_create_mkey_in_get_memory_key_mkey_entry(in));
		fixture->num_mkeys++;
		hw_create_mkey_out_set_mkey_index(out, MKEY_INDEX);
		break;
	case HW_CMD_CREATE_RMP:
		fixture->num_srqs++;
		hw_create_rmp_out_set_rmpn(out, fixture->next_srqn);
		break;
	case HW_CMD_CREATE_XRC_SRQ:
		fixture->num_srqs++;
		hw_create_xrc_srq_out_set_xrc_srqn(out, fixture->next_srqn);
		break;
	case HW_CMD_DESTROY_RMP:
	case HW_CMD_DESTROY_XRC_SRQ:
		fixture->num_srqs--;
		complete(&fixture->destroy_seen);
		break;
	case HW_CMD_QUERY_RMP:
	case HW_CMD_QUERY_XRC_SRQ:
		set_lwm(opcode, out, fixture->lwm);
		break;
	}
	return HW_COMMAND_STATUS_OK;
}

static void on_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	fixture->events++;
	fixture->event = *event;
}

static void destroy_work_fn(struct work_struct *work)
{
	struct fixture *fixture = container_of(work, struct fixture, destroy_work);

	cxib_destroy_srq_kernel(&fixture->srq.ib, NULL);
	WRITE_ONCE(fixture->destroyed, true);
}

static void destroy_pool(void *data)
{
	struct fixture *fixture = data;

	cxib_quarantine_end(&fixture->fake->ibdev);
	cxib_hw_destroy_dbr_pool(&fixture->fake->hw);
}

static int srq_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_device *ib = &fake->ibdev.ib;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->type = test->param_value ?: &types[0];
	fixture->in = kunit_kzalloc(test, INPUT_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, fixture->in);
	fixture->next_srqn = SRQN;
	fixture->pd = (struct cxib_pd){ .ib.device = ib, .pdn = PDN, .uid = PD_UID };
	mutex_init(&fixture->pd.key_lock);
	fixture->xrcd.xrcdn = XRCDN;
	init_completion(&fixture->destroy_seen);
	INIT_WORK(&fixture->destroy_work, destroy_work_fn);
	fake->cq.cqn = CQN;
	fake->hw.caps.xrc = 1;
	ib->local_dma_lkey = RESD_LKEY;
	ib->attrs.max_srq_wr = MAX_SRQ_WR;
	ib->attrs.max_srq_sge = MAX_SRQ_SGE;
	ib->attrs.tm_caps.max_num_tags = MAX_NUM_TAGS;
	test->priv = fixture;
	fake_queue_pair_start(fake, run_command, fixture);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_create_dbr_pool(&fake->hw));
	return kunit_add_action_or_reset(test, destroy_pool, fixture);
}

/* Sets the members that the RDMA core sets before it calls the driver. */
static void prepare_srq(struct fixture *fixture, struct cxib_srq *srq, enum ib_srq_type type)
{
	*srq = (struct cxib_srq){};
	srq->ib.device = &fixture->fake->ibdev.ib;
	srq->ib.pd = &fixture->pd.ib;
	srq->ib.event_handler = on_event;
	srq->ib.srq_context = fixture;
	srq->ib.srq_type = type;
	if (type == IB_SRQT_XRC) {
		srq->ib.ext.cq = &fixture->fake->cq.ib;
		srq->ib.ext.xrc.xrcd = &fixture->xrcd.ib;
	}
}

static int create_srq(struct fixture *fixture, struct cxib_srq *srq, struct ib_srq_attr *attr)
{
	struct ib_srq_init_attr init = { .attr = *attr, .srq_type = fixture->type->type };
	int err;

	prepare_srq(fixture, srq, init.srq_type);
	err = cxib_create_srq_kernel(&srq->ib, &init);
	*attr = init.attr;
	return err;
}

static void create_default(struct kunit *test, struct fixture *fixture, struct cxib_srq *srq)
{
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };

	KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, srq, &attr));
	fixture->fake->hca->commands = 0;
}

/* Returns the address of the next doorbell record. The pool returns the last freed one first. */
static dma_addr_t next_dbr(struct kunit *test, struct fixture *fixture)
{
	struct dma_pool *pool = fixture->fake->hw.dbr_pool;
	dma_addr_t dma = 0;
	void *words = dma_pool_alloc(pool, GFP_KERNEL, &dma);

	KUNIT_ASSERT_NOT_NULL(test, words);
	dma_pool_free(pool, words, dma);
	return dma;
}

static bool is_published(struct fixture *fixture, u32 srqn)
{
	return xa_load(&fixture->fake->ibdev.srqs, srqn);
}

static enum cxib_hw_state state_of(const struct fixture *fixture)
{
	return cxib_hw_state(fixture->fake->hw.bus);
}

/* Destroys an SRQ at the end of a case, when only the creator's reference is left. */
static void destroy_srq(struct kunit *test, struct fixture *fixture, struct cxib_srq *srq)
{
	fixture->fail_opcode = 0;
	KUNIT_ASSERT_EQ(test, 1, refcount_read(&srq->reference.count));
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_srq_kernel(&srq->ib, NULL));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

/*
 * ib_create_srq() returns at least the requested sizes. One WQE is never posted, and number and
 * length of WQEs are powers of two. So a size is 2^n - 1, and a number of SGEs is (2^n - 16) / 16.
 */
static const struct {
	u32 max_wr, got_wr, log_size;
	u32 max_sge, got_sge, log_stride;
} sizes[] = {
	{ 0, 0, 0, 0, 1, 5 },
	{ 1, 1, 1, 1, 1, 5 },
	{ 2, 3, 2, 2, 3, 6 },
	{ 3, 3, 2, 3, 3, 6 },
	{ 4, 7, 3, 4, 7, 7 },
	{ 255, 255, 8, 15, 15, 8 },
	{ 256, 511, 9, 16, 31, 9 },
	{ MAX_SRQ_WR, MAX_SRQ_WR, 15, 1, 1, 5 },
	{ 1, 1, 1, MAX_SRQ_SGE, MAX_SRQ_SGE, 9 },
};

/* log_rq_stride of an XRC SRQ is in these units, log_wq_stride of an RMP in bytes: mlx5_ifc.h. */
#define STRIDE_UNIT	16

static void expect_sizes(struct kunit *test, const struct fixture *fixture, u32 log_size,
			 u32 log_stride)
{
	const struct hw_xrc_srqc *xrc;
	const struct hw_wq *wq;

	if (fixture->type->type == IB_SRQT_XRC) {
		xrc = hw_create_xrc_srq_in_get_xrc_srq_context_entry(fixture->in);
		KUNIT_EXPECT_EQ(test, log_size, hw_xrc_srqc_get_log_xrc_srq_size(xrc));
		KUNIT_EXPECT_EQ(test, log_stride - ilog2(STRIDE_UNIT),
				hw_xrc_srqc_get_log_rq_stride(xrc));
		return;
	}
	wq = hw_rmpc_get_wq(hw_create_rmp_in_get_ctx(fixture->in));
	KUNIT_EXPECT_EQ(test, log_size, hw_wq_get_log_wq_sz(wq));
	KUNIT_EXPECT_EQ(test, log_stride, hw_wq_get_log_wq_stride(wq));
}

static void create_srq_sizes_round_up(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(sizes); i++) {
		struct ib_srq_attr attr = {
			.max_wr = sizes[i].max_wr, .max_sge = sizes[i].max_sge,
		};

		KUNIT_ASSERT_EQ_MSG(test, 0, create_srq(fixture, &fixture->srq, &attr),
				    "size %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, sizes[i].got_wr, attr.max_wr, "size %zu", i);
		KUNIT_EXPECT_EQ_MSG(test, sizes[i].got_sge, attr.max_sge, "size %zu", i);
		expect_sizes(test, fixture, sizes[i].log_size, sizes[i].log_stride);
		destroy_srq(test, fixture, &fixture->srq);
	}
}

/* An SRQ accepts as many WRs as create_srq has returned, with as many SGEs. */
static void create_srq_reported_sizes_can_be_posted(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 2 };
	struct ib_sge sges[8] = {};
	struct ib_recv_wr wr = { .sg_list = sges };
	const struct ib_recv_wr *bad;
	u32 i;

	KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, &fixture->srq, &attr));
	wr.num_sge = attr.max_sge + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_post_srq_recv(&fixture->srq.ib, &wr, &bad));
	wr.num_sge = attr.max_sge;
	for (i = 0; i < attr.max_wr; i++)
		KUNIT_EXPECT_EQ(test, 0, cxib_post_srq_recv(&fixture->srq.ib, &wr, &bad));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_post_srq_recv(&fixture->srq.ib, &wr, &bad));
	KUNIT_EXPECT_EQ(test, attr.max_wr, be32_to_cpu(fixture->srq.dbr.words[CXIB_SRQ_DBR]));
	destroy_srq(test, fixture, &fixture->srq);
}

static void create_srq_beyond_max_returns_einval(struct kunit *test)
{
	static const struct ib_srq_attr wrong[] = {
		{ .max_wr = MAX_SRQ_WR + 1, .max_sge = 1 },
		{ .max_wr = 1, .max_sge = MAX_SRQ_SGE + 1 },
		{ .max_wr = U32_MAX, .max_sge = 1 },
		{ .max_wr = 1, .max_sge = U32_MAX },
	};
	struct fixture *fixture = test->priv;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct ib_srq_attr attr = wrong[i];

		KUNIT_EXPECT_EQ_MSG(test, -EINVAL, create_srq(fixture, &fixture->srq, &attr),
				    "attributes %zu", i);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

/* Tag matching is for user space only, as no kernel verb adds a tag. */
static void create_srq_unsupported_type_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->fake->hw.caps;
	struct ib_srq_init_attr init = { .attr = { .max_wr = 5, .max_sge = 1 } };

	caps->xrc = 0;
	caps->tag_matching = 1;
	caps->log_max_xrq = 4;
	init.ext.tag_matching.max_num_tags = 1;
	for (init.srq_type = IB_SRQT_XRC; init.srq_type <= IB_SRQT_TM + 1; init.srq_type++) {
		prepare_srq(fixture, &fixture->srq, init.srq_type);
		KUNIT_EXPECT_EQ_MSG(test, -EOPNOTSUPP,
				    cxib_create_srq_kernel(&fixture->srq.ib, &init),
				    "type %d", init.srq_type);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
}

/* The tag list has one more entry than tags. */
static void srq_init_tag_list_rounds_up(struct kunit *test)
{
	static const struct {
		u32 count;
		int err;
		unsigned int log_tags;
	} lists[] = {
		{ 0, -EINVAL }, { 1, 0, 1 }, { 2, 0, 2 }, { 3, 0, 2 }, { 4, 0, 3 },
		{ MAX_NUM_TAGS, 0, 6 }, { MAX_NUM_TAGS + 1, -EINVAL }, { U32_MAX, -EINVAL },
	};
	struct fixture *fixture = test->priv;
	struct ib_srq_init_attr init = { .srq_type = IB_SRQT_TM };
	struct cxib_srq *srq = &fixture->srq;
	size_t i;

	fixture->fake->hw.caps.tag_matching = 1;
	fixture->fake->hw.caps.log_max_xrq = 4;
	for (i = 0; i < ARRAY_SIZE(lists); i++) {
		prepare_srq(fixture, srq, IB_SRQT_TM);
		srq->is_user = true;
		init.ext.tag_matching.max_num_tags = lists[i].count;
		KUNIT_EXPECT_EQ_MSG(test, lists[i].err, cxib_srq_init(srq, &init), "list %zu", i);
		if (!lists[i].err)
			KUNIT_EXPECT_EQ_MSG(test, lists[i].log_tags, srq->log_tags, "list %zu", i);
	}
	fixture->fake->hw.caps.log_max_xrq = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, cxib_srq_init(srq, &init));
}

static void create_srq_basic_sets_rmp_context(struct kunit *test)
{
	static const u16 first[] = { HW_CMD_CREATE_MKEY, HW_CMD_CREATE_RMP };
	struct fixture *fixture = test->priv;
	const struct hw_create_rmp_in *in = fixture->in;
	const struct hw_wq *wq = hw_rmpc_get_wq(hw_create_rmp_in_get_ctx(in));
	const __be64 *pas = (const __be64 *)(in + 1);
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };
	struct cxib_srq *srq = &fixture->srq;

	KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, srq, &attr));
	fake_hca_expect_commands(fixture->fake->hca, first, ARRAY_SIZE(first));
	KUNIT_EXPECT_EQ(test, PD_UID, hw_create_rmp_in_get_uid(in));
	KUNIT_EXPECT_EQ(test, HW_RMP_STATE_RDY, hw_rmpc_get_state(hw_create_rmp_in_get_ctx(in)));
	KUNIT_EXPECT_EQ(test, HW_WQ_TYPE_LINKED_LIST, hw_wq_get_wq_type(wq));
	KUNIT_EXPECT_EQ(test, PDN, hw_wq_get_pd(wq));
	KUNIT_EXPECT_EQ(test, srq->dbr.dma, hw_wq_get_dbr_addr(wq));
	KUNIT_EXPECT_EQ(test, srq->buffer.pages[0].dma, be64_to_cpu(pas[0]));
	KUNIT_EXPECT_EQ(test, SRQN, srq->srqn);
	KUNIT_EXPECT_PTR_EQ(test, srq, xa_load(&fixture->fake->ibdev.srqs, SRQN));
	/* The CQEs of a basic SRQ go to the CQs of the QPs. */
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->cq.num_xrc_srqs);
	destroy_srq(test, fixture, srq);
}

/* Processes share XRC SRQs, so they have uid 0; their CQEs have no user_index. */
static void create_srq_xrc_sets_xrc_srq_context(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct hw_create_xrc_srq_in *in = fixture->in;
	const struct hw_xrc_srqc *context = hw_create_xrc_srq_in_get_xrc_srq_context_entry(in);
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };
	struct cxib_srq *srq = &fixture->srq;

	fixture->type = &types[1];
	KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, srq, &attr));
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_XRC_SRQ, hw_create_xrc_srq_in_get_opcode(in));
	KUNIT_EXPECT_EQ(test, 0, hw_create_xrc_srq_in_get_uid(in));
	KUNIT_EXPECT_EQ(test, PDN, hw_xrc_srqc_get_pd(context));
	KUNIT_EXPECT_EQ(test, XRCDN, hw_xrc_srqc_get_xrcd(context));
	KUNIT_EXPECT_EQ(test, CQN, hw_xrc_srqc_get_cqn(context));
	KUNIT_EXPECT_EQ(test, NO_USER_INDEX, hw_xrc_srqc_get_user_index(context));
	KUNIT_EXPECT_EQ(test, srq->buffer.pages[0].dma, be64_to_cpu(in->pas[0]));
	KUNIT_EXPECT_EQ(test, SRQN, srq->ib.ext.xrc.srq_num);
	KUNIT_EXPECT_PTR_EQ(test, srq, xa_load(&fixture->fake->ibdev.srqs, SRQN));
	KUNIT_EXPECT_EQ(test, 1, fixture->fake->cq.num_xrc_srqs);
	destroy_srq(test, fixture, srq);
	KUNIT_EXPECT_EQ(test, 0, hw_destroy_xrc_srq_in_get_uid(fixture->in));
	KUNIT_EXPECT_EQ(test, SRQN, hw_destroy_xrc_srq_in_get_xrc_srqn(fixture->in));
}

/* The WQEs of all SRQs of a PD use one mkey. */
static void create_srq_second_of_pd_creates_no_mkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_srq *second = kunit_kzalloc(test, sizeof(*second), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, second);
	create_default(test, fixture, &fixture->srq);
	KUNIT_EXPECT_EQ(test, PDN, fixture->mkey_pdn);
	/* The low 8 bits of an mkey are its variant. */
	KUNIT_EXPECT_EQ(test, MKEY_INDEX, fixture->pd.key >> 8);
	fixture->next_srqn++;
	create_default(test, fixture, second);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_mkeys);
	KUNIT_EXPECT_EQ(test, 2, fixture->num_srqs);
	destroy_srq(test, fixture, second);
	destroy_srq(test, fixture, &fixture->srq);
}

static void expect_nothing_left(struct kunit *test, struct fixture *fixture, dma_addr_t dbr)
{
	KUNIT_EXPECT_EQ(test, 0, fixture->num_srqs);
	KUNIT_EXPECT_FALSE(test, is_published(fixture, SRQN));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->cq.num_xrc_srqs);
	KUNIT_EXPECT_TRUE(test, list_empty(&fixture->fake->hw.commands.pending_memory));
	KUNIT_EXPECT_EQ(test, dbr, next_dbr(test, fixture));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
}

/* kmemleak reports the ring if it is not freed. */
static void create_srq_refused_command_frees_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u16 opcodes[] = { HW_CMD_CREATE_MKEY, fixture->type->create };
	dma_addr_t dbr = next_dbr(test, fixture);
	size_t i;

	for (i = 0; i < ARRAY_SIZE(opcodes); i++) {
		const struct ib_srq_attr wanted = { .max_wr = 5, .max_sge = 2 };
		struct ib_srq_attr attr = wanted;

		fixture->fail_opcode = opcodes[i];
		fixture->fail_status = HW_COMMAND_STATUS_NO_RESOURCES;
		KUNIT_EXPECT_EQ(test, -ENOMEM, create_srq(fixture, &fixture->srq, &attr));
		fixture->fail_status = HW_COMMAND_STATUS_BAD_PARAMETER;
		KUNIT_EXPECT_EQ(test, -EINVAL, create_srq(fixture, &fixture->srq, &attr));
		KUNIT_EXPECT_EQ(test, wanted.max_wr, attr.max_wr);
		KUNIT_EXPECT_EQ(test, wanted.max_sge, attr.max_sge);
		KUNIT_EXPECT_EQ(test, i, fixture->num_mkeys);
		expect_nothing_left(test, fixture, dbr);
		fixture->fail_opcode = 0;
		create_default(test, fixture, &fixture->srq);
		destroy_srq(test, fixture, &fixture->srq);
		expect_nothing_left(test, fixture, dbr);
	}
}

/* The device returns the number of an existing SRQ, which must stay. */
static void create_srq_duplicate_srqn_is_destroyed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u16 expected[] = { fixture->type->create, fixture->type->destroy };
	struct cxib_srq *second = kunit_kzalloc(test, sizeof(*second), GFP_KERNEL);
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };
	dma_addr_t dbr;

	KUNIT_ASSERT_NOT_NULL(test, second);
	create_default(test, fixture, &fixture->srq);
	dbr = next_dbr(test, fixture);
	KUNIT_EXPECT_EQ(test, -EBUSY, create_srq(fixture, second, &attr));
	fake_hca_expect_commands(fixture->fake->hca, expected, ARRAY_SIZE(expected));
	KUNIT_EXPECT_PTR_EQ(test, &fixture->srq, xa_load(&fixture->fake->ibdev.srqs, SRQN));
	KUNIT_EXPECT_EQ(test, fixture->type->type == IB_SRQT_XRC, fixture->fake->cq.num_xrc_srqs);
	KUNIT_EXPECT_EQ(test, dbr, next_dbr(test, fixture));
	destroy_srq(test, fixture, &fixture->srq);
}

/* After an invalid output the SRQ may exist in the device, which may write to its memory. */
static void create_srq_bad_output_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct fake_queue_pair *fake = fixture->fake;
	struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };
	dma_addr_t dbr = next_dbr(test, fixture);

	fake->hca->fault = FAKE_FAULT_TOKEN;
	fake->hca->always = true;
	fake->hca->fault_opcode = fixture->type->create;
	KUNIT_EXPECT_EQ(test, -EBADMSG, create_srq(fixture, &fixture->srq, &attr));
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_NE(test, dbr, next_dbr(test, fixture));
	KUNIT_EXPECT_FALSE(test, is_published(fixture, SRQN));
	cxib_quarantine_end(&fake->ibdev);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_EQ(test, dbr, next_dbr(test, fixture));
}

/* Allocations of the fake device do not fail, because it runs in another thread. */
static void create_srq_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	dma_addr_t dbr = next_dbr(test, fixture);
	struct failing_walk walk = {};
	bool more;
	int err;

	skip_unless_allocations_can_fail(test);
	fixture->fake->hca->asynchronous = true;
	do {
		struct ib_srq_attr attr = { .max_wr = 5, .max_sge = 1 };

		fail_next_allocation(&walk);
		err = create_srq(fixture, &fixture->srq, &attr);
		more = failing_walk_goes_on(&walk, err, 1);
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, -ENOMEM, err, "allocation %u", walk.number);
		else
			destroy_srq(test, fixture, &fixture->srq);
		expect_nothing_left(test, fixture, dbr);
	} while (more);
	KUNIT_EXPECT_EQ(test, 0, err);
	KUNIT_EXPECT_GT(test, walk.refused, 0);
}

static u16 armed_lwm(const struct fixture *fixture)
{
	if (fixture->type->type == IB_SRQT_XRC)
		return hw_arm_xrc_srq_in_get_lwm(fixture->in);
	return hw_wq_get_lwm(hw_rmpc_get_wq(hw_modify_rmp_in_get_ctx(fixture->in)));
}

static u32 armed_srqn(const struct fixture *fixture)
{
	return fixture->type->type == IB_SRQT_XRC ? hw_arm_xrc_srq_in_get_xrc_srqn(fixture->in) :
						    hw_modify_rmp_in_get_rmpn(fixture->in);
}

static u16 armed_uid(const struct fixture *fixture)
{
	return fixture->type->type == IB_SRQT_XRC ? hw_arm_xrc_srq_in_get_uid(fixture->in) :
						    hw_modify_rmp_in_get_uid(fixture->in);
}

static int set_limit(struct fixture *fixture, u32 limit)
{
	struct ib_srq_attr attr = { .srq_limit = limit };

	return cxib_modify_srq(&fixture->srq.ib, &attr, IB_SRQ_LIMIT, NULL);
}

static void expect_armed(struct kunit *test, const struct fixture *fixture, u32 limit)
{
	KUNIT_EXPECT_EQ(test, fixture->type->arm, hw_cmd_in_get_opcode(fixture->in));
	KUNIT_EXPECT_EQ(test, limit, armed_lwm(fixture));
	KUNIT_EXPECT_EQ(test, SRQN, armed_srqn(fixture));
	KUNIT_EXPECT_EQ(test, fixture->type->type == IB_SRQT_XRC ? 0 : PD_UID, armed_uid(fixture));
}

/* A limit above max_wr would raise the event at once. Limit 0 disarms it. */
static void modify_srq_limit_in_range_arms_event(struct kunit *test)
{
	static const u32 requested[] = { 5, MAX_SRQ_WR };
	struct fixture *fixture = test->priv;
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(requested); i++) {
		struct ib_srq_attr attr = { .max_wr = requested[i], .max_sge = 1 };
		u32 limits[3] = { 0, 1 };

		KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, &fixture->srq, &attr));
		limits[2] = attr.max_wr;
		fixture->fake->hca->commands = 0;
		for (j = 0; j < ARRAY_SIZE(limits); j++) {
			KUNIT_EXPECT_EQ(test, 0, set_limit(fixture, limits[j]));
			KUNIT_EXPECT_EQ(test, j + 1, fixture->fake->hca->commands);
			expect_armed(test, fixture, limits[j]);
		}
		KUNIT_EXPECT_EQ(test, -EINVAL, set_limit(fixture, attr.max_wr + 1));
		KUNIT_EXPECT_EQ(test, -EINVAL, set_limit(fixture, U32_MAX));
		KUNIT_EXPECT_EQ(test, j, fixture->fake->hca->commands);
		destroy_srq(test, fixture, &fixture->srq);
	}
}

/* SRQs cannot be resized (IB_DEVICE_SRQ_RESIZE), so the limit is not armed either. */
static void modify_srq_max_wr_returns_eopnotsupp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_srq_attr attr = { .max_wr = 1, .srq_limit = 1 };

	create_default(test, fixture, &fixture->srq);
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			cxib_modify_srq(&fixture->srq.ib, &attr, IB_SRQ_MAX_WR, NULL));
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP,
			cxib_modify_srq(&fixture->srq.ib, &attr, IB_SRQ_MAX_WR | IB_SRQ_LIMIT,
					NULL));
	KUNIT_EXPECT_EQ(test, 0, cxib_modify_srq(&fixture->srq.ib, &attr, 0, NULL));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
	destroy_srq(test, fixture, &fixture->srq);
}

static void modify_srq_refused_command_returns_error(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	create_default(test, fixture, &fixture->srq);
	fixture->fail_opcode = fixture->type->arm;
	fixture->fail_status = HW_COMMAND_STATUS_BAD_RESOURCE_STATE;
	KUNIT_EXPECT_EQ(test, -EINVAL, set_limit(fixture, 1));
	destroy_srq(test, fixture, &fixture->srq);
}

static void query_srq_returns_limit_and_sizes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_srq_attr created = { .max_wr = 5, .max_sge = 2 };
	struct ib_srq_attr attr = {};

	KUNIT_ASSERT_EQ(test, 0, create_srq(fixture, &fixture->srq, &created));
	fixture->lwm = U16_MAX;
	KUNIT_ASSERT_EQ(test, 0, cxib_query_srq(&fixture->srq.ib, &attr));
	KUNIT_EXPECT_EQ(test, fixture->type->query, hw_cmd_in_get_opcode(fixture->in));
	KUNIT_EXPECT_EQ(test, U16_MAX, attr.srq_limit);
	KUNIT_EXPECT_EQ(test, created.max_wr, attr.max_wr);
	KUNIT_EXPECT_EQ(test, created.max_sge, attr.max_sge);
	fixture->fail_opcode = fixture->type->query;
	fixture->fail_status = HW_COMMAND_STATUS_BAD_RESOURCE;
	attr = (struct ib_srq_attr){};
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_query_srq(&fixture->srq.ib, &attr));
	KUNIT_EXPECT_EQ(test, 0, attr.max_wr);
	destroy_srq(test, fixture, &fixture->srq);
}

static void destroy_srq_frees_srqn_and_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	dma_addr_t dbr = next_dbr(test, fixture);

	create_default(test, fixture, &fixture->srq);
	KUNIT_ASSERT_EQ(test, 0, cxib_destroy_srq_kernel(&fixture->srq.ib, NULL));
	fake_hca_expect_commands(fixture->fake->hca, &fixture->type->destroy, 1);
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->cq.num_xrc_srqs_unpublished);
	expect_nothing_left(test, fixture, dbr);
}

/* The CQE of the SRQ is no longer polled. */
static void destroy_srq_xrc_removes_its_cqes(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct fake_queue_pair *fake = fixture->fake;
	struct ib_sge sge = { .length = 64 };
	struct ib_recv_wr wr = { .num_sge = 1, .sg_list = &sge };
	const struct ib_recv_wr *bad;
	struct hw_cqe64 *entry;
	struct ib_wc wc;

	fixture->type = &types[1];
	create_default(test, fixture, &fixture->srq);
	KUNIT_ASSERT_EQ(test, 0, cxib_post_srq_recv(&fixture->srq.ib, &wr, &bad));
	entry = fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	hw_cqe64_set_srqn(entry, SRQN);
	destroy_srq(test, fixture, &fixture->srq);
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

/* With the udata of a user the driver can return an error. A DEVX object may refer to the SRQ. */
static void destroy_srq_user_refused_keeps_srq(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct uverbs_attr_bundle attrs;
	struct ib_udata *udata = fake_request(&attrs, NULL);

	create_default(test, fixture, &fixture->srq);
	fixture->fail_opcode = fixture->type->destroy;
	fixture->fail_status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	fixture->srq.is_user = true;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_destroy_srq_kernel(&fixture->srq.ib, udata));
	fixture->srq.is_user = false;
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
	KUNIT_EXPECT_TRUE(test, is_published(fixture, SRQN));
	cxib_srq_event(&fixture->fake->ibdev, SRQN, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, 1, fixture->events);
	destroy_srq(test, fixture, &fixture->srq);
}

/*
 * The destruction of a kernel object must not fail, so the driver turns DMA off before it frees
 * memory.
 */
static void destroy_srq_kernel_refused_switches_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	dma_addr_t dbr = next_dbr(test, fixture);

	create_default(test, fixture, &fixture->srq);
	fixture->fail_opcode = fixture->type->destroy;
	fixture->fail_status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, 0, cxib_destroy_srq_kernel(&fixture->srq.ib, NULL));
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
	KUNIT_EXPECT_FALSE(test, fixture->fake->hca->dma);
	KUNIT_EXPECT_FALSE(test, is_published(fixture, SRQN));
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->cq.num_xrc_srqs);
	KUNIT_EXPECT_EQ(test, dbr, next_dbr(test, fixture));
}

/* IBA 11.6.3: the limit event, and the catastrophic error of an SRQ. */
static const struct {
	enum hw_event_type type;
	enum ib_event_type event;
} events[] = {
	{ HW_EVENT_TYPE_SRQ_RQ_LIMIT, IB_EVENT_SRQ_LIMIT_REACHED },
	{ HW_EVENT_TYPE_SRQ_CATAS_ERROR, IB_EVENT_SRQ_ERR },
};

static void srq_event_calls_handler_of_srq_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;
	struct cxib_srq *second = kunit_kzalloc(test, sizeof(*second), GFP_KERNEL);
	size_t i;

	KUNIT_ASSERT_NOT_NULL(test, second);
	create_default(test, fixture, &fixture->srq);
	fixture->next_srqn++;
	create_default(test, fixture, second);
	for (i = 0; i < ARRAY_SIZE(events); i++) {
		fixture->events = 0;
		cxib_queue_event(ibdev, events[i].type, HW_EVENT_QUEUE_TYPE_RQ, SRQN + 1);
		KUNIT_EXPECT_EQ(test, 1, fixture->events);
		KUNIT_EXPECT_EQ(test, events[i].event, fixture->event.event);
		KUNIT_EXPECT_PTR_EQ(test, &second->ib, fixture->event.element.srq);
		KUNIT_EXPECT_PTR_EQ(test, &ibdev->ib, fixture->event.device);
		cxib_queue_event(ibdev, events[i].type, HW_EVENT_QUEUE_TYPE_RQ, SRQN);
		KUNIT_EXPECT_EQ(test, 2, fixture->events);
		KUNIT_EXPECT_PTR_EQ(test, &fixture->srq.ib, fixture->event.element.srq);
	}
	KUNIT_EXPECT_EQ(test, 0, fixture->fake->hca->commands);
	destroy_srq(test, fixture, second);
	destroy_srq(test, fixture, &fixture->srq);
}

static void srq_event_unknown_srqn_is_ignored(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_ibdev *ibdev = &fixture->fake->ibdev;

	create_default(test, fixture, &fixture->srq);
	cxib_srq_event(ibdev, SRQN + 1, IB_EVENT_SRQ_LIMIT_REACHED);
	cxib_srq_event(ibdev, 0, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, 0, fixture->events);
	fixture->srq.ib.event_handler = NULL;
	cxib_srq_event(ibdev, SRQN, IB_EVENT_SRQ_LIMIT_REACHED);
	fixture->srq.ib.event_handler = on_event;
	destroy_srq(test, fixture, &fixture->srq);
	cxib_srq_event(ibdev, SRQN, IB_EVENT_SRQ_LIMIT_REACHED);
	KUNIT_EXPECT_EQ(test, 0, fixture->events);
}

/* The ULP may use the SRQ until its handler returns. */
static void destroy_during_event(struct ib_event *event, void *context)
{
	struct fixture *fixture = context;

	queue_work(system_dfl_wq, &fixture->destroy_work);
	wait_for_completion(&fixture->destroy_seen);
	msleep(DESTROY_WAIT_MS);
	fixture->events += !READ_ONCE(fixture->destroyed);
}

static void destroy_srq_waits_for_event_handler(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	create_default(test, fixture, &fixture->srq);
	fixture->srq.ib.event_handler = destroy_during_event;
	cxib_srq_event(&fixture->fake->ibdev, SRQN, IB_EVENT_SRQ_LIMIT_REACHED);
	flush_work(&fixture->destroy_work);
	KUNIT_EXPECT_EQ(test, 1, fixture->events);
	KUNIT_EXPECT_TRUE(test, fixture->destroyed);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(create_srq_sizes_round_up, type_gen_params),
	KUNIT_CASE_PARAM(create_srq_reported_sizes_can_be_posted, type_gen_params),
	KUNIT_CASE_PARAM(create_srq_beyond_max_returns_einval, type_gen_params),
	KUNIT_CASE(create_srq_unsupported_type_returns_eopnotsupp),
	KUNIT_CASE(srq_init_tag_list_rounds_up),
	KUNIT_CASE(create_srq_basic_sets_rmp_context),
	KUNIT_CASE(create_srq_xrc_sets_xrc_srq_context),
	KUNIT_CASE(create_srq_second_of_pd_creates_no_mkey),
	KUNIT_CASE_PARAM(create_srq_refused_command_frees_memory, type_gen_params),
	KUNIT_CASE_PARAM(create_srq_duplicate_srqn_is_destroyed, type_gen_params),
	KUNIT_CASE_PARAM(create_srq_bad_output_keeps_memory, type_gen_params),
	KUNIT_CASE_PARAM(create_srq_failed_allocation_returns_enomem, type_gen_params),
	KUNIT_CASE_PARAM(modify_srq_limit_in_range_arms_event, type_gen_params),
	KUNIT_CASE_PARAM(modify_srq_max_wr_returns_eopnotsupp, type_gen_params),
	KUNIT_CASE_PARAM(modify_srq_refused_command_returns_error, type_gen_params),
	KUNIT_CASE_PARAM(query_srq_returns_limit_and_sizes, type_gen_params),
	KUNIT_CASE_PARAM(destroy_srq_frees_srqn_and_memory, type_gen_params),
	KUNIT_CASE(destroy_srq_xrc_removes_its_cqes),
	KUNIT_CASE(destroy_srq_user_refused_keeps_srq),
	KUNIT_CASE_PARAM(destroy_srq_kernel_refused_switches_dma_off, type_gen_params),
	KUNIT_CASE_PARAM(srq_event_calls_handler_of_srq_once, type_gen_params),
	KUNIT_CASE(srq_event_unknown_srqn_is_ignored),
	KUNIT_CASE(destroy_srq_waits_for_event_handler),
	{}
};

static struct kunit_suite suite = {
	.name = "srq",
	.init = srq_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
