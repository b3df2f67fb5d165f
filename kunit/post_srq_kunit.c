// SPDX-License-Identifier: GPL-2.0-only
/* SRQ: WQEs are posted in order and retired in any order. */
#include "fake_queue_pair.h"
#include "hw/work_queue.h"
#include "verbs/srq/srq.h"

#define LOG_SIZE	2

/* The ring always has one WQE that is not posted. */
#define WRS		(BIT(LOG_SIZE) - 1)

#define LKEY		9

/* A WQE of 64 bytes has a next segment and three SGEs, 16 bytes each. */
#define LOG_STRIDE	6
#define MAX_SGE		3
#define RESD_LKEY	0x300
#define PD_DMA_MKEY	0x77

struct fake_srq {
	struct fake_queue_pair *fake;
	struct cxib_pd pd;
	struct cxib_srq srq;
	__be32 dbr[2];
	struct cxib_rq_entry entries[BIT(LOG_SIZE)];
	unsigned long outstanding;
};

static void free_buffer(void *data)
{
	struct fake_srq *shared = data;

	cxib_buffer_destroy(&shared->srq.buffer, shared->fake->hca->bus.dev);
}

static struct fake_srq *make_srq(struct kunit *test)
{
	struct fake_srq *shared = kunit_kzalloc(test, sizeof(*shared), GFP_KERNEL);
	struct cxib_srq *srq;

	KUNIT_ASSERT_NOT_NULL(test, shared);
	shared->fake = fake_queue_pair_create(test);
	shared->pd.key = PD_DMA_MKEY;
	srq = &shared->srq;
	srq->ib.device = &shared->fake->ibdev.ib;
	srq->ib.pd = &shared->pd.ib;
	srq->log_size = LOG_SIZE;
	srq->log_stride = LOG_STRIDE;
	srq->max_sge = MAX_SGE;
	srq->entries = shared->entries;
	srq->outstanding = &shared->outstanding;
	srq->dbr.words = shared->dbr;
	spin_lock_init(&srq->lock);
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&srq->buffer, shared->fake->hca->bus.dev,
						    BIT(LOG_SIZE + LOG_STRIDE)));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, free_buffer, shared));
	cxib_srq_link_wqes(srq);
	return shared;
}

static int post(struct fake_srq *shared, u64 wr_id)
{
	struct ib_sge sge = { .addr = 0x1000, .length = 64, .lkey = LKEY };
	struct ib_recv_wr wr = { .wr_id = wr_id, .num_sge = 1, .sg_list = &sge };
	const struct ib_recv_wr *bad;

	return cxib_post_srq_recv(&shared->srq.ib, &wr, &bad);
}

static void post_srq_recv_full_returns_enomem(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);
	u64 id;

	for (id = 1; id <= WRS; id++)
		KUNIT_EXPECT_EQ(test, 0, post(shared, id));
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(shared, id));
	KUNIT_EXPECT_EQ(test, WRS, be32_to_cpu(shared->dbr[0]));
}

static const struct hw_wqe_data_seg *sges_of(struct fake_srq *shared, u16 index)
{
	const struct hw_wqe_srq_next_seg *request =
		cxib_buffer_at(&shared->srq.buffer, (size_t)index << shared->srq.log_stride);

	return (const struct hw_wqe_data_seg *)(request + 1);
}

/* SRQs have no rlky, so the driver replaces resd_lkey by the DMA mkey of the PD. */
static void post_srq_recv_replaces_resd_lkey(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);
	struct ib_sge sges[] = {
		{ .addr = 0x1000, .length = 64, .lkey = RESD_LKEY },
		{ .addr = 0x2000, .length = 64, .lkey = LKEY },
	};
	struct ib_recv_wr wr = { .num_sge = ARRAY_SIZE(sges), .sg_list = sges };
	const struct hw_wqe_data_seg *segments = sges_of(shared, 0);
	const struct ib_recv_wr *bad;

	shared->fake->ibdev.ib.local_dma_lkey = RESD_LKEY;
	KUNIT_ASSERT_EQ(test, 0, cxib_post_srq_recv(&shared->srq.ib, &wr, &bad));
	KUNIT_EXPECT_EQ(test, PD_DMA_MKEY, hw_wqe_data_seg_get_lkey(&segments[0]));
	KUNIT_EXPECT_EQ(test, sges[0].addr, hw_wqe_data_seg_get_addr(&segments[0]));
	KUNIT_EXPECT_EQ(test, LKEY, hw_wqe_data_seg_get_lkey(&segments[1]));
	KUNIT_EXPECT_EQ(test, HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST,
			hw_wqe_data_seg_get_lkey(&segments[2]));
}

static void post_srq_recv_keeps_lkey(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);

	KUNIT_ASSERT_EQ(test, 0, post(shared, 1));
	KUNIT_EXPECT_EQ(test, LKEY, hw_wqe_data_seg_get_lkey(sges_of(shared, 0)));
}

static void srq_retire_wqe_any_order_frees_wqe(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);
	struct cxib_rq_entry entry;
	u64 id;

	for (id = 1; id <= WRS; id++)
		KUNIT_ASSERT_EQ(test, 0, post(shared, id));
	KUNIT_ASSERT_TRUE(test, cxib_srq_retire_wqe(&shared->srq, 1, &entry));
	KUNIT_EXPECT_EQ(test, 2, entry.wr_id);
	KUNIT_ASSERT_TRUE(test, cxib_srq_retire_wqe(&shared->srq, 0, &entry));
	KUNIT_EXPECT_EQ(test, 1, entry.wr_id);
	/* The SRQ reuses the last free WQE first, then the retired WQEs in order. */
	KUNIT_EXPECT_EQ(test, 0, post(shared, id));
	KUNIT_EXPECT_EQ(test, 0, post(shared, id + 1));
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(shared, id + 2));
	KUNIT_EXPECT_EQ(test, id, shared->entries[WRS].wr_id);
	KUNIT_EXPECT_EQ(test, id + 1, shared->entries[1].wr_id);
}

static void srq_retire_wqe_unposted_returns_false(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);
	struct cxib_rq_entry entry;

	KUNIT_EXPECT_FALSE(test, cxib_srq_retire_wqe(&shared->srq, BIT(LOG_SIZE), &entry));
	KUNIT_EXPECT_FALSE(test, cxib_srq_retire_wqe(&shared->srq, U16_MAX, &entry));
	KUNIT_EXPECT_FALSE(test, cxib_srq_retire_wqe(&shared->srq, 0, &entry));
}

/* A WQE retired twice would make the free list circular. */
static void srq_retire_wqe_twice_returns_false(struct kunit *test)
{
	struct fake_srq *shared = make_srq(test);
	struct cxib_rq_entry entry;
	u64 id;

	KUNIT_ASSERT_EQ(test, 0, post(shared, 1));
	KUNIT_EXPECT_TRUE(test, cxib_srq_retire_wqe(&shared->srq, 0, &entry));
	KUNIT_EXPECT_FALSE(test, cxib_srq_retire_wqe(&shared->srq, 0, &entry));
	for (id = 1; id <= WRS; id++)
		KUNIT_EXPECT_EQ(test, 0, post(shared, id));
	KUNIT_EXPECT_EQ(test, -ENOMEM, post(shared, id));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(post_srq_recv_full_returns_enomem),
	KUNIT_CASE(post_srq_recv_replaces_resd_lkey),
	KUNIT_CASE(post_srq_recv_keeps_lkey),
	KUNIT_CASE(srq_retire_wqe_any_order_frees_wqe),
	KUNIT_CASE(srq_retire_wqe_unposted_returns_false),
	KUNIT_CASE(srq_retire_wqe_twice_returns_false),
	{}
};

static struct kunit_suite suite = {
	.name = "post_srq",
	.test_cases = cases,
};

kunit_test_suite(suite);
