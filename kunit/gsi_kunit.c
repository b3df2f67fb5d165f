// SPDX-License-Identifier: GPL-2.0-only
/*
 * GSI: the send QP for each P_Key, and the selection of one by post_send.
 *
 * The RDMA device is allocated, but not registered. Its operations record how the driver calls
 * ib_create_qp(), ib_modify_qp() and ib_destroy_qp() for the send QPs.
 */
#include <rdma/ib_mad.h>

#include "failing_allocations.h"
#include "fake_queue_pair.h"
#include "hw/command_interface.h"
#include "hw/commands_queue_pairs.h"
#include "verbs/port/gsi.h"
#include "verbs/qp/post.h"

#define PORT		1
#define PKEYS		4
#define LAST_INDEX	(PKEYS - 1)
#define CREATED_QPN	0x200
#define POSTED_QPN	0x300
#define CALLS		32
#define MAX_SEND_WR	64
#define MAX_SEND_SGE	3
#define WR_ID		100
#define TRANSITIONS	3
#define WAIT		(120 * HZ)
#define SUBNET_PREFIX	0xfe80000000000000ULL

/* A call of the device's modify_qp. */
struct modification {
	struct ib_qp *qp;
	struct ib_qp_attr attr;
	int mask;
};

/**
 * struct tx_qp - a send QP with memory for posted WQEs
 * @qp: QP
 * @dbr: its doorbell record
 * @hca: device for its memory
 */
struct tx_qp {
	struct cxib_qp qp;
	__be32 dbr[2];
	struct fake_hca *hca;
};

/**
 * struct fixture - the GSI QP of a port, and its device
 * @fake: the GSI QP
 * @ibdev: RDMA device
 * @ports: data of the RDMA core, by port number
 * @pd: PD of the GSI QP
 * @pkeys: P_Key table
 * @pkey_error_index: index whose query fails; PKEYS: none
 * @num_created: number of create_qp calls
 * @init: attributes of the last one
 * @fail_creation: number of the call that fails, counted from 1; 0: none
 * @live: number of QPs created and not destroyed
 * @modifications: modify_qp calls
 * @num_modifications: number of @modifications
 * @fail_state: modify_qp to this state fails; IB_QPS_RESET: none
 * @in_sqe: bit n: QP CREATED_QPN + n is in SQE
 * @gsi_in_sqe: the GSI QP is in SQE
 * @handler: receives events of the RDMA device
 * @dispatched: completed by IB_EVENT_PKEY_CHANGE
 * @live_at_event: @live at that time
 * @is_early: the event was dispatched before the last create_qp call
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_ibdev *ibdev;
	struct ib_port_data ports[PORT + 1];
	struct cxib_pd pd;
	u16 pkeys[PKEYS];
	unsigned int pkey_error_index;
	unsigned int num_created;
	struct ib_qp_init_attr init;
	unsigned int fail_creation;
	unsigned int live;
	struct modification modifications[CALLS];
	unsigned int num_modifications;
	enum ib_qp_state fail_state;
	unsigned long in_sqe;
	bool gsi_in_sqe;
	struct ib_event_handler handler;
	struct completion dispatched;
	unsigned int live_at_event;
	bool is_early;
};

static struct fixture *fixture_of(struct ib_device *ib)
{
	struct fake_queue_pair *fake = container_of(to_ibdev(ib)->hw, struct fake_queue_pair, hw);

	return fake->hca->script_context;
}

static int create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata)
{
	struct fixture *fixture = fixture_of(ib->device);

	fixture->init = *init;
	/* ib_dispatch_event() queues events on this workqueue. */
	flush_workqueue(ib_wq);
	fixture->is_early = completion_done(&fixture->dispatched);
	if (++fixture->num_created == fixture->fail_creation)
		return -ENOSPC;
	to_qp(ib)->qpn = CREATED_QPN + fixture->num_created;
	to_qp(ib)->wc_qp = ib;
	ib->qp_num = to_qp(ib)->qpn;
	fixture->live++;
	return 0;
}

static int modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask, struct ib_udata *udata)
{
	struct fixture *fixture = fixture_of(ib->device);

	if (fixture->num_modifications < CALLS)
		fixture->modifications[fixture->num_modifications] =
			(struct modification){ ib, *attr, mask };
	fixture->num_modifications++;
	return fixture->fail_state && attr->qp_state == fixture->fail_state ? -EIO : 0;
}

static int destroy_qp(struct ib_qp *ib, struct ib_udata *udata)
{
	fixture_of(ib->device)->live--;
	return 0;
}

static int query_pkey(struct ib_device *ib, u32 port, u16 index, u16 *pkey)
{
	struct fixture *fixture = fixture_of(ib);

	if (port != PORT || index >= PKEYS || index == fixture->pkey_error_index)
		return -EIO;
	*pkey = fixture->pkeys[index];
	return 0;
}

/* The RDMA core calls it for its P_Key cache, which stays empty. */
static int query_port(struct ib_device *ib, u32 port, struct ib_port_attr *attr)
{
	attr->subnet_prefix = SUBNET_PREFIX;
	return 0;
}

static const struct ib_device_ops ops = {
	.create_qp = create_qp,
	.modify_qp = modify_qp,
	.destroy_qp = destroy_qp,
	.query_pkey = query_pkey,
	.query_port = query_port,
	INIT_RDMA_OBJ_SIZE(ib_qp, cxib_qp, ib),
};

/* The driver sends only QUERY_QP. */
static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u32 qpn = hw_query_qp_in_get_qpn(in);
	bool in_sqe = qpn == FAKE_QPN ? fixture->gsi_in_sqe :
					fixture->in_sqe & BIT(qpn - CREATED_QPN);

	if (hw_cmd_in_get_opcode(in) != HW_CMD_QUERY_QP)
		return HW_COMMAND_STATUS_BAD_OPERATION;
	hw_qpc_set_state(hw_query_qp_out_qpc(out), in_sqe ? HW_QP_STATE_SQER : HW_QP_STATE_RTS);
	return HW_COMMAND_STATUS_OK;
}

static void on_event(struct ib_event_handler *handler, struct ib_event *event)
{
	struct fixture *fixture = container_of(handler, struct fixture, handler);

	if (event->event != IB_EVENT_PKEY_CHANGE || event->element.port_num != PORT)
		return;
	fixture->live_at_event = fixture->live;
	complete(&fixture->dispatched);
}

static void free_device(void *data)
{
	struct fixture *fixture = data;

	ib_unregister_event_handler(&fixture->handler);
	fixture->ibdev->ib.port_data = NULL;
	ib_dealloc_device(&fixture->ibdev->ib);
}

static void init_device(struct kunit *test, struct fixture *fixture)
{
	struct cxib_ibdev *ibdev = ib_alloc_device(cxib_ibdev, ib);
	struct cxib_port *port;

	KUNIT_ASSERT_NOT_NULL(test, ibdev);
	fixture->ibdev = ibdev;
	ibdev->hw = &fixture->fake->hw;
	ibdev->bus = ibdev->hw->bus;
	ibdev->ib.phys_port_cnt = 1;
	ibdev->ib.port_data = fixture->ports;
	rwlock_init(&ibdev->ib.cache_lock);
	INIT_LIST_HEAD(&fixture->ports[PORT].pkey_list);
	spin_lock_init(&fixture->ports[PORT].pkey_list_lock);
	ib_set_device_ops(&ibdev->ib, &ops);
	port = &ibdev->ports[PORT - 1];
	port->number = PORT;
	port->pkey_count = PKEYS;
	mutex_init(&port->lock);
	INIT_IB_EVENT_HANDLER(&fixture->handler, &ibdev->ib, on_event);
	ib_register_event_handler(&fixture->handler);
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_device, fixture));
}

static void init_gsi_qp(struct fixture *fixture)
{
	struct cxib_qp *qp = &fixture->fake->qp;

	fixture->pd.ib.device = &fixture->ibdev->ib;
	fixture->fake->cq.ib.device = &fixture->ibdev->ib;
	qp->ib.device = &fixture->ibdev->ib;
	qp->ib.pd = &fixture->pd.ib;
	qp->ib.qp_type = IB_QPT_GSI;
	qp->port = PORT;
	qp->cap.max_send_wr = MAX_SEND_WR;
	qp->cap.max_send_sge = MAX_SEND_SGE;
}

static void free_gsi(void *data)
{
	struct fixture *fixture = data;

	cxib_gsi_stop(&fixture->fake->qp);
	cxib_gsi_destroy(&fixture->fake->qp);
}

static int gsi_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake;
	fixture->pkey_error_index = PKEYS;
	init_completion(&fixture->dispatched);
	fake->hw.caps.set_deth_sqpn = 1;
	test->priv = fixture;
	fake_queue_pair_start(fake, run_command, fixture);
	init_device(test, fixture);
	init_gsi_qp(fixture);
	KUNIT_ASSERT_EQ(test, 0, cxib_gsi_create(&fake->qp));
	cxib_qp_set_state(&fake->qp, IB_QPS_RTS);
	return kunit_add_action_or_reset(test, free_gsi, fixture);
}

static struct cxib_gsi *gsi_of(const struct fixture *fixture)
{
	return fixture->fake->qp.gsi;
}

static void modify_gsi_state(struct fixture *fixture, enum ib_qp_state state)
{
	const struct ib_qp_attr attr = { .qp_state = state };

	cxib_gsi_modify(&fixture->fake->qp, &attr, IB_QP_STATE);
}

static void free_tx_qp(void *data)
{
	struct tx_qp *tx = data;
	struct cxib_gsi *gsi = to_qp(tx->qp.wc_qp)->gsi;
	unsigned int i;

	for (i = 0; i < gsi->count; i++)
		if (gsi->tx_qps[i] == &tx->qp)
			gsi->tx_qps[i] = NULL;
	cxib_buffer_destroy(&tx->qp.buffer, tx->hca->bus.dev);
}

/* Adds a send QP in RTS with an SQ like that of the GSI QP. */
static struct cxib_qp *add_tx_qp(struct kunit *test, u16 index)
{
	struct tx_qp *tx = kunit_kzalloc(test, sizeof(*tx), GFP_KERNEL);
	struct fixture *fixture = test->priv;
	struct fake_queue_pair *fake = fixture->fake;
	struct cxib_qp *qp;

	KUNIT_ASSERT_NOT_NULL(test, tx);
	tx->hca = fake->hca;
	qp = &tx->qp;
	qp->ib = fake->qp.ib;
	qp->ib.qp_type = IB_QPT_UD;
	qp->qpn = POSTED_QPN + index;
	qp->wc_qp = &fake->qp.ib;
	qp->has_sq = true;
	qp->sq = fake->qp.sq;
	qp->sq.offset = 0;
	qp->dbr.words = tx->dbr;
	spin_lock_init(&qp->sq.lock);
	qp->sq.entries = kunit_kcalloc(test, BIT(FAKE_LOG_BLOCKS), sizeof(*qp->sq.entries),
				       GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, qp->sq.entries);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&qp->buffer, fake->hca->bus.dev,
						    BIT(FAKE_LOG_BLOCKS) * CXIB_WQEBB_SIZE));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_tx_qp, tx));
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->cq.queue_pairs, qp->qpn, qp, GFP_KERNEL));
	cxib_qp_set_state(qp, IB_QPS_RTS);
	gsi_of(fixture)->tx_qps[index] = qp;
	return qp;
}

static struct ib_sge sge = { .addr = 0x1000, .length = IB_MGMT_MAD_SIZE, .lkey = 5 };
static struct cxib_ah ah;

static const struct ib_ud_wr mad = {
	.wr = { .opcode = IB_WR_SEND, .num_sge = 1, .sg_list = &sge },
	.ah = &ah.ib, .remote_qpn = 1, .remote_qkey = IB_QP1_QKEY,
};

static int post(struct fixture *fixture, u16 pkey_index, u64 wr_id)
{
	const struct ib_send_wr *bad = NULL;
	struct ib_ud_wr wr = mad;
	int err;

	wr.wr.wr_id = wr_id;
	wr.pkey_index = pkey_index;
	err = cxib_post_send(&fixture->fake->qp.ib, &wr.wr, &bad);
	KUNIT_EXPECT_PTR_EQ(fixture->fake->hca->test, err ? &wr.wr : NULL, bad);
	return err;
}

/* Checks that @count MADs were posted to @qp and announced by the doorbell record. */
static void expect_posted(struct kunit *test, const struct cxib_qp *qp, u32 count)
{
	const u32 blocks = count * FAKE_SEND_WQEBBS;
	const struct hw_wqe_ctrl_seg *control;

	KUNIT_EXPECT_EQ(test, blocks, qp->sq.prod_index);
	KUNIT_EXPECT_EQ(test, blocks, be32_to_cpu(qp->dbr.words[CXIB_SND_DBR]));
	if (!count)
		return;
	control = cxib_sq_wqebb(qp, blocks - FAKE_SEND_WQEBBS);
	KUNIT_EXPECT_EQ(test, qp->qpn, hw_wqe_ctrl_seg_get_qpn(control));
}

static void post_send_own_pkey_uses_gsi_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct cxib_qp *tx_qp = add_tx_qp(test, 0);

	gsi_of(fixture)->pkey_index = 2;
	KUNIT_EXPECT_EQ(test, 0, post(fixture, 2, WR_ID));
	expect_posted(test, qp, 1);
	KUNIT_EXPECT_EQ(test, WR_ID, qp->sq.entries[0].wr_id);
	expect_posted(test, tx_qp, 0);
}

static void post_send_other_pkey_uses_its_tx_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *first = add_tx_qp(test, 1);
	struct cxib_qp *last = add_tx_qp(test, LAST_INDEX);

	KUNIT_EXPECT_EQ(test, 0, post(fixture, LAST_INDEX, WR_ID));
	expect_posted(test, last, 1);
	KUNIT_EXPECT_EQ(test, WR_ID, last->sq.entries[0].wr_id);
	expect_posted(test, first, 0);
	expect_posted(test, &fixture->fake->qp, 0);
}

static void post_send_pkey_index_beyond_table_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, -EINVAL, post(fixture, PKEYS, WR_ID));
	KUNIT_EXPECT_EQ(test, -EINVAL, post(fixture, U16_MAX, WR_ID));
	expect_posted(test, &fixture->fake->qp, 0);
}

/* The last index of the table has no valid P_Key. */
static void post_send_pkey_without_tx_qp_returns_eagain(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, LAST_INDEX, WR_ID));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, 1, WR_ID));
	expect_posted(test, &fixture->fake->qp, 0);
}

/* Links three WRs with these P_Key indices and posts them. */
static int post_three(struct fixture *fixture, struct ib_ud_wr *wrs, const u16 *indices,
		      const struct ib_send_wr **bad)
{
	int i;

	for (i = 0; i < 3; i++) {
		wrs[i] = mad;
		wrs[i].wr.wr_id = WR_ID + i;
		wrs[i].pkey_index = indices[i];
		wrs[i].wr.next = i < 2 ? &wrs[i + 1].wr : NULL;
	}
	*bad = NULL;
	return cxib_post_send(&fixture->fake->qp.ib, &wrs[0].wr, bad);
}

/* The ULP owns the list, so the driver must not modify it. */
static void post_send_list_is_split_by_pkey(struct kunit *test)
{
	static const u16 indices[] = { 0, 1, 0 };
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;
	struct cxib_qp *tx_qp = add_tx_qp(test, 1);
	const struct ib_send_wr *bad;
	struct ib_ud_wr wrs[3];

	KUNIT_EXPECT_EQ(test, 0, post_three(fixture, wrs, indices, &bad));
	KUNIT_EXPECT_NULL(test, bad);
	expect_posted(test, qp, 2);
	KUNIT_EXPECT_EQ(test, WR_ID, qp->sq.entries[0].wr_id);
	KUNIT_EXPECT_EQ(test, WR_ID + 2, qp->sq.entries[FAKE_SEND_WQEBBS].wr_id);
	expect_posted(test, tx_qp, 1);
	KUNIT_EXPECT_EQ(test, WR_ID + 1, tx_qp->sq.entries[0].wr_id);
	KUNIT_EXPECT_PTR_EQ(test, &wrs[1].wr, wrs[0].wr.next);
	KUNIT_EXPECT_PTR_EQ(test, &wrs[2].wr, wrs[1].wr.next);
}

static void post_send_list_stops_at_first_error(struct kunit *test)
{
	static const u16 indices[] = { 0, PKEYS, 0 };
	struct fixture *fixture = test->priv;
	const struct ib_send_wr *bad;
	struct ib_ud_wr wrs[3];

	KUNIT_EXPECT_EQ(test, -EINVAL, post_three(fixture, wrs, indices, &bad));
	KUNIT_EXPECT_PTR_EQ(test, &wrs[1].wr, bad);
	expect_posted(test, &fixture->fake->qp, 1);
}

/* IBA 10.3.1: send WRs can be posted in RTS, SQD, SQE and ERR; in ERR they are flushed. */
static void post_send_before_rts_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qps[] = { &fixture->fake->qp, add_tx_qp(test, 1) };
	enum ib_qp_state state;
	u16 i;

	for (i = 0; i < ARRAY_SIZE(qps); i++) {
		for (state = IB_QPS_RESET; state < IB_QPS_RTS; state++) {
			cxib_qp_set_state(qps[i], state);
			KUNIT_EXPECT_EQ(test, -EINVAL, post(fixture, i, WR_ID));
		}
		expect_posted(test, qps[i], 0);
		cxib_qp_set_state(qps[i], IB_QPS_ERR);
		KUNIT_EXPECT_EQ(test, 0, post(fixture, i, WR_ID));
	}
}

/* A full SQ does not prevent sending with another P_Key. */
static void post_send_full_tx_sq_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 i;

	add_tx_qp(test, 1);
	for (i = 0; i < BIT(FAKE_LOG_BLOCKS) / FAKE_SEND_WQEBBS; i++)
		KUNIT_ASSERT_EQ(test, 0, post(fixture, 1, i));
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(fixture, 1, i));
	KUNIT_EXPECT_EQ(test, 0, post(fixture, 0, i));
}

/* The ULP does not know about the send QPs. */
static void poll_cq_tx_cqe_reports_gsi_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *tx_qp = add_tx_qp(test, 1);
	struct ib_wc wc;

	tx_qp->sq.flags = IB_SEND_SIGNALED;
	KUNIT_ASSERT_EQ(test, 0, post(fixture, 1, WR_ID));
	hw_cqe64_set_qpn(fake_completion(fixture->fake, HW_CQE_OPCODE_REQ), tx_qp->qpn);
	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fixture->fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, WR_ID, wc.wr_id);
	KUNIT_EXPECT_EQ(test, IB_WC_SUCCESS, wc.status);
	KUNIT_EXPECT_PTR_EQ(test, &fixture->fake->qp.ib, wc.qp);
}

static void gsi_modify_pkey_index_moves_own_pkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_qp_attr attr = { .pkey_index = LAST_INDEX };

	cxib_gsi_modify(&fixture->fake->qp, &attr, IB_QP_PKEY_INDEX);
	KUNIT_EXPECT_EQ(test, 0, post(fixture, LAST_INDEX, WR_ID));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, 0, WR_ID));
	attr.pkey_index = 1;
	cxib_gsi_modify(&fixture->fake->qp, &attr, IB_QP_QKEY);
	KUNIT_EXPECT_EQ(test, 0, post(fixture, LAST_INDEX, WR_ID));
	KUNIT_EXPECT_EQ(test, 0, fixture->num_created);
}

static void gsi_create_wrong_port_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ib.device = &fixture->ibdev->ib;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_gsi_create(qp));
	qp->port = PORT + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_gsi_create(qp));
	KUNIT_EXPECT_NULL(test, qp->gsi);
	/* A QP without state needs no clean-up. */
	cxib_gsi_stop(qp);
	cxib_gsi_destroy(qp);
	KUNIT_EXPECT_PTR_EQ(test, gsi_of(fixture), fixture->ibdev->ports[PORT - 1].gsi);
	KUNIT_EXPECT_EQ(test, PKEYS, gsi_of(fixture)->count);
}

static void gsi_create_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = kunit_kzalloc(test, sizeof(*qp), GFP_KERNEL);
	int err;

	skip_unless_allocations_can_fail(test);
	KUNIT_ASSERT_NOT_NULL(test, qp);
	qp->ib.device = &fixture->ibdev->ib;
	qp->port = PORT;
	fail_allocation(1);
	err = cxib_gsi_create(qp);
	stop_failing_allocation();
	KUNIT_EXPECT_EQ(test, -ENOMEM, err);
	KUNIT_EXPECT_NULL(test, qp->gsi);
	KUNIT_EXPECT_PTR_EQ(test, gsi_of(fixture), fixture->ibdev->ports[PORT - 1].gsi);
}

static void fill_pkeys(struct fixture *fixture)
{
	static const u16 pkeys[PKEYS] = { 0xffff, 0x8001, 0, 0x8002 };

	memcpy(fixture->pkeys, pkeys, sizeof(pkeys));
}

/* Creates the send QPs for the indices 1 and LAST_INDEX. */
static void create_tx_qps(struct kunit *test, struct fixture *fixture)
{
	fill_pkeys(fixture);
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_ASSERT_EQ(test, 2, fixture->live);
	KUNIT_ASSERT_NOT_NULL(test, gsi_of(fixture)->tx_qps[1]);
	KUNIT_ASSERT_NOT_NULL(test, gsi_of(fixture)->tx_qps[LAST_INDEX]);
	KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[0]);
	KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[2]);
	fixture->num_modifications = 0;
}

/* P_Key 0 marks an unused index. The GSI QP itself has index 0. */
static void gsi_modify_to_rts_creates_qp_of_each_pkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_qp *qp = &fixture->fake->qp;

	create_tx_qps(test, fixture);
	KUNIT_EXPECT_EQ(test, IB_QPT_UD, fixture->init.qp_type);
	KUNIT_EXPECT_EQ(test, MAX_SEND_WR, fixture->init.cap.max_send_wr);
	KUNIT_EXPECT_EQ(test, MAX_SEND_SGE, fixture->init.cap.max_send_sge);
	KUNIT_EXPECT_EQ(test, 0, fixture->init.cap.max_recv_wr);
	KUNIT_EXPECT_EQ(test, IB_SIGNAL_REQ_WR, fixture->init.sq_sig_type);
	KUNIT_EXPECT_PTR_EQ(test, qp->ib.send_cq, fixture->init.send_cq);
	KUNIT_EXPECT_PTR_EQ(test, qp->ib.recv_cq, fixture->init.recv_cq);
	KUNIT_EXPECT_PTR_EQ(test, qp->ib.pd, gsi_of(fixture)->tx_qps[LAST_INDEX]->ib.pd);
	KUNIT_EXPECT_PTR_EQ(test, &qp->ib, gsi_of(fixture)->tx_qps[LAST_INDEX]->wc_qp);
	/* The second transition to RTS finds the QPs. */
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, 2, fixture->num_created);
}

/* IBA 10.9.1.2: a P_Key whose lower 15 bits are 0 is invalid, whatever its membership bit. */
static void gsi_modify_to_rts_skips_invalid_pkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fill_pkeys(fixture);
	fixture->pkeys[1] = 0x8000;
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, 1, fixture->live);
	KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[1]);
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[3]);
}

static void gsi_modify_to_rts_keeps_signal_type(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->qp.sq.flags = IB_SEND_SIGNALED;
	create_tx_qps(test, fixture);
	KUNIT_EXPECT_EQ(test, IB_SIGNAL_ALL_WR, fixture->init.sq_sig_type);
}

/*
 * Both QPs have three transitions: to INIT, RTR and RTS. IBA 11.2.5.2 lists the attributes of UD
 * QPs.
 */
static void gsi_tx_qp_is_brought_up_for_its_pkey(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const struct modification *calls = fixture->modifications;
	u16 i;

	fill_pkeys(fixture);
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_ASSERT_EQ(test, 2 * TRANSITIONS, fixture->num_modifications);
	for (i = 0; i < 2; i++, calls += TRANSITIONS) {
		KUNIT_EXPECT_PTR_EQ(test, &gsi_of(fixture)->tx_qps[1 + 2 * i]->ib, calls[0].qp);
		KUNIT_EXPECT_EQ(test, IB_QPS_INIT, calls[0].attr.qp_state);
		KUNIT_EXPECT_EQ(test, 1 + 2 * i, calls[0].attr.pkey_index);
		KUNIT_EXPECT_EQ(test, PORT, calls[0].attr.port_num);
		KUNIT_EXPECT_EQ(test, IB_QP1_QKEY, calls[0].attr.qkey);
		KUNIT_EXPECT_EQ(test, IB_QP_STATE | IB_QP_PKEY_INDEX | IB_QP_PORT | IB_QP_QKEY,
				calls[0].mask);
		KUNIT_EXPECT_PTR_EQ(test, calls[0].qp, calls[1].qp);
		KUNIT_EXPECT_EQ(test, IB_QPS_RTR, calls[1].attr.qp_state);
		KUNIT_EXPECT_EQ(test, IB_QP_STATE, calls[1].mask);
		KUNIT_EXPECT_PTR_EQ(test, calls[0].qp, calls[2].qp);
		KUNIT_EXPECT_EQ(test, IB_QPS_RTS, calls[2].attr.qp_state);
		KUNIT_EXPECT_EQ(test, IB_QP_STATE | IB_QP_SQ_PSN, calls[2].mask);
	}
}

/* Without the capability set_deth_sqpn, other QPs cannot send as QP 1. */
static void gsi_without_set_deth_sqpn_creates_no_tx_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fake->hw.caps.set_deth_sqpn = 0;
	fill_pkeys(fixture);
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_created);
}

static void gsi_refused_tx_qp_is_created_later(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->fail_creation = 1;
	fill_pkeys(fixture);
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[1]);
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[LAST_INDEX]);
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, 1, WR_ID));
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[1]);
	KUNIT_EXPECT_EQ(test, 2, fixture->live);
}

static void gsi_tx_qp_with_failed_bring_up_is_destroyed(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int calls = 0;
	enum ib_qp_state state;

	fill_pkeys(fixture);
	for (state = IB_QPS_INIT; state <= IB_QPS_RTS; state++) {
		fixture->fail_state = state;
		modify_gsi_state(fixture, IB_QPS_RTS);
		KUNIT_EXPECT_EQ(test, 0, fixture->live);
		KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[1]);
		KUNIT_EXPECT_NULL(test, gsi_of(fixture)->tx_qps[LAST_INDEX]);
		/* Calls for each of two QPs, up to the failing one. */
		calls += 2 * (state - IB_QPS_RESET);
		KUNIT_EXPECT_EQ(test, calls, fixture->num_modifications);
	}
	fixture->fail_state = IB_QPS_RESET;
	create_tx_qps(test, fixture);
}

static void gsi_failed_pkey_query_stops_creation(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->pkey_error_index = 2;
	fill_pkeys(fixture);
	modify_gsi_state(fixture, IB_QPS_RTS);
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[1]);
	KUNIT_EXPECT_EQ(test, 1, fixture->num_created);
}

static void gsi_modify_to_err_flushes_tx_qps(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	create_tx_qps(test, fixture);
	modify_gsi_state(fixture, IB_QPS_ERR);
	KUNIT_ASSERT_EQ(test, 2, fixture->num_modifications);
	for (i = 0; i < 2; i++) {
		KUNIT_EXPECT_PTR_EQ(test, &gsi_of(fixture)->tx_qps[1 + 2 * i]->ib,
				    fixture->modifications[i].qp);
		KUNIT_EXPECT_EQ(test, IB_QPS_ERR, fixture->modifications[i].attr.qp_state);
		KUNIT_EXPECT_EQ(test, IB_QP_STATE, fixture->modifications[i].mask);
	}
	KUNIT_EXPECT_EQ(test, 2, fixture->live);
	KUNIT_EXPECT_FALSE(test, gsi_of(fixture)->can_tx);
}

static void gsi_modify_to_reset_destroys_tx_qps(struct kunit *test)
{
	static const enum ib_qp_state states[] = {
		IB_QPS_INIT, IB_QPS_RTR, IB_QPS_SQD, IB_QPS_SQE,
	};
	struct fixture *fixture = test->priv;
	size_t i;

	create_tx_qps(test, fixture);
	for (i = 0; i < ARRAY_SIZE(states); i++)
		modify_gsi_state(fixture, states[i]);
	KUNIT_EXPECT_EQ(test, 2, fixture->live);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_modifications);
	modify_gsi_state(fixture, IB_QPS_RESET);
	KUNIT_EXPECT_EQ(test, 0, fixture->live);
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, 1, WR_ID));
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, LAST_INDEX, WR_ID));
}

/* The GSI QP still accepts WRs, but P_Key events are no longer deferred. */
static void gsi_stop_destroys_tx_qps(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_port *port = &fixture->ibdev->ports[PORT - 1];

	create_tx_qps(test, fixture);
	cxib_gsi_stop(&fixture->fake->qp);
	KUNIT_EXPECT_EQ(test, 0, fixture->live);
	KUNIT_EXPECT_EQ(test, -EAGAIN, post(fixture, 1, WR_ID));
	KUNIT_EXPECT_NULL(test, port->gsi);
	KUNIT_EXPECT_FALSE(test, cxib_gsi_defers_pkey_event(port));
	KUNIT_EXPECT_FALSE(test, work_pending(&gsi_of(fixture)->pkey_work));
}

static void change_pkeys(struct kunit *test, struct fixture *fixture)
{
	KUNIT_EXPECT_TRUE(test, cxib_gsi_defers_pkey_event(&fixture->ibdev->ports[PORT - 1]));
	KUNIT_ASSERT_NE(test, 0, wait_for_completion_timeout(&fixture->dispatched, WAIT));
}

static void gsi_pkey_event_follows_new_tx_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	create_tx_qps(test, fixture);
	fixture->pkeys[2] = 0x8003;
	fixture->pkeys[LAST_INDEX] = 0;
	change_pkeys(test, fixture);
	/* The QPs of create_tx_qps() and the one for index 2. */
	KUNIT_EXPECT_EQ(test, 2 + 1, fixture->live_at_event);
	KUNIT_EXPECT_FALSE(test, fixture->is_early);
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[2]);
	/* The QP of a removed P_Key stays for the next P_Key at this index. */
	KUNIT_EXPECT_NOT_NULL(test, gsi_of(fixture)->tx_qps[LAST_INDEX]);
}

/* The event is dispatched even if the GSI QP cannot send. */
static void gsi_pkey_event_outside_rts_creates_no_tx_qp(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fill_pkeys(fixture);
	change_pkeys(test, fixture);
	KUNIT_EXPECT_EQ(test, 0, fixture->num_created);
	create_tx_qps(test, fixture);
	modify_gsi_state(fixture, IB_QPS_ERR);
	fixture->pkeys[2] = 0x8003;
	change_pkeys(test, fixture);
	KUNIT_EXPECT_EQ(test, 2, fixture->num_created);
	modify_gsi_state(fixture, IB_QPS_RESET);
	change_pkeys(test, fixture);
	KUNIT_EXPECT_EQ(test, 2, fixture->num_created);
}

static void expect_resumed(struct kunit *test, const struct fixture *fixture, u16 index)
{
	const struct modification *call = &fixture->modifications[0];

	KUNIT_ASSERT_EQ(test, 1, fixture->num_modifications);
	KUNIT_EXPECT_PTR_EQ(test, &gsi_of(fixture)->tx_qps[index]->ib, call->qp);
	KUNIT_EXPECT_EQ(test, IB_QPS_RTS, call->attr.qp_state);
	KUNIT_EXPECT_EQ(test, IB_QPS_SQE, call->attr.cur_qp_state);
	KUNIT_EXPECT_EQ(test, IB_QP_STATE | IB_QP_CUR_STATE, call->mask);
}

/* The driver modifies the GSI QP only if it is in SQE or if the ULP's error has no other cause. */
static void gsi_recover_sqe_resumes_tx_qp_in_sqe(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	u32 qpn;

	create_tx_qps(test, fixture);
	KUNIT_EXPECT_TRUE(test, cxib_gsi_recover_sqe(&fixture->fake->qp));
	KUNIT_EXPECT_EQ(test, 0, fixture->num_modifications);
	qpn = gsi_of(fixture)->tx_qps[LAST_INDEX]->qpn;
	fixture->in_sqe = BIT(qpn - CREATED_QPN);
	KUNIT_EXPECT_FALSE(test, cxib_gsi_recover_sqe(&fixture->fake->qp));
	expect_resumed(test, fixture, LAST_INDEX);
	fixture->num_modifications = 0;
	fixture->gsi_in_sqe = true;
	KUNIT_EXPECT_TRUE(test, cxib_gsi_recover_sqe(&fixture->fake->qp));
	expect_resumed(test, fixture, LAST_INDEX);
	fixture->num_modifications = 0;
	fixture->gsi_in_sqe = false;
	fixture->fail_state = IB_QPS_RTS;
	KUNIT_EXPECT_TRUE(test, cxib_gsi_recover_sqe(&fixture->fake->qp));
	expect_resumed(test, fixture, LAST_INDEX);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(post_send_own_pkey_uses_gsi_qp),
	KUNIT_CASE(post_send_other_pkey_uses_its_tx_qp),
	KUNIT_CASE(post_send_pkey_index_beyond_table_returns_einval),
	KUNIT_CASE(post_send_pkey_without_tx_qp_returns_eagain),
	KUNIT_CASE(post_send_list_is_split_by_pkey),
	KUNIT_CASE(post_send_list_stops_at_first_error),
	KUNIT_CASE(post_send_before_rts_returns_einval),
	KUNIT_CASE(post_send_full_tx_sq_returns_enomem),
	KUNIT_CASE(poll_cq_tx_cqe_reports_gsi_qp),
	KUNIT_CASE(gsi_modify_pkey_index_moves_own_pkey),
	KUNIT_CASE(gsi_create_wrong_port_returns_einval),
	KUNIT_CASE(gsi_create_failed_allocation_returns_enomem),
	KUNIT_CASE(gsi_modify_to_rts_creates_qp_of_each_pkey),
	KUNIT_CASE(gsi_modify_to_rts_skips_invalid_pkey),
	KUNIT_CASE(gsi_modify_to_rts_keeps_signal_type),
	KUNIT_CASE(gsi_tx_qp_is_brought_up_for_its_pkey),
	KUNIT_CASE(gsi_without_set_deth_sqpn_creates_no_tx_qp),
	KUNIT_CASE(gsi_refused_tx_qp_is_created_later),
	KUNIT_CASE(gsi_tx_qp_with_failed_bring_up_is_destroyed),
	KUNIT_CASE(gsi_failed_pkey_query_stops_creation),
	KUNIT_CASE(gsi_modify_to_err_flushes_tx_qps),
	KUNIT_CASE(gsi_modify_to_reset_destroys_tx_qps),
	KUNIT_CASE(gsi_stop_destroys_tx_qps),
	KUNIT_CASE(gsi_pkey_event_follows_new_tx_qp),
	KUNIT_CASE(gsi_pkey_event_outside_rts_creates_no_tx_qp),
	KUNIT_CASE(gsi_recover_sqe_resumes_tx_qp_in_sqe),
	{}
};

static struct kunit_suite suite = {
	.name = "gsi",
	.init = gsi_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
