// SPDX-License-Identifier: GPL-2.0-only
/* CQ resize: no CQE is lost or reported twice. */
#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

static void receive(struct kunit *test, struct fake_queue_pair *fake, u32 bytes)
{
	fake_post_recvs(test, fake, 1);
	hw_cqe64_set_byte_cnt(fake_completion(fake, HW_CQE_OPCODE_RESP_SEND), bytes);
}

static void switch_ring(struct kunit *test, struct fake_queue_pair *fake, unsigned int log_size)
{
	struct device *dev = fake->hca->bus.dev;
	struct cxib_buffer ring;

	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&ring, dev,
						    sizeof(struct hw_cqe64) << log_size));
	cxib_cq_invalidate(&ring, log_size);
	cxib_cq_switch_ring(&fake->cq, &ring, log_size);
	cxib_buffer_destroy(&ring, dev);
}

/* The device ends the old ring with a resize CQE, then the driver switches rings. */
static void resize(struct kunit *test, struct fake_queue_pair *fake, unsigned int log_size)
{
	fake->cq.resizing = true;
	fake_completion(fake, HW_CQE_OPCODE_RESIZE_CQ);
	switch_ring(test, fake, log_size);
}

static void expect_received(struct kunit *test, struct fake_queue_pair *fake, u32 bytes)
{
	struct ib_wc wc = {};

	KUNIT_ASSERT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_EQ(test, bytes, wc.byte_len);
}

static void expect_nothing(struct kunit *test, struct fake_queue_pair *fake)
{
	struct ib_wc wc;

	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void resize_cq_unpolled_cqes_move(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	receive(test, fake, 1);
	receive(test, fake, 2);
	resize(test, fake, FAKE_LOG_CQ + 2);
	receive(test, fake, 3);
	KUNIT_EXPECT_EQ(test, BIT(FAKE_LOG_CQ + 2) - 1, fake->cq.ib.cqe);
	expect_received(test, fake, 1);
	expect_received(test, fake, 2);
	expect_received(test, fake, 3);
	expect_nothing(test, fake);
	/* The resize CQE counts as well. */
	KUNIT_EXPECT_EQ(test, 3 + 1, be32_to_cpu(fake->cq_record[0]));
}

static void resize_cq_empty_ring_switches(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	resize(test, fake, FAKE_LOG_CQ - 1);
	expect_nothing(test, fake);
	receive(test, fake, 9);
	expect_received(test, fake, 9);
	expect_nothing(test, fake);
}

static void poll_cq_stops_at_resize_cqe(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc[4];

	receive(test, fake, 1);
	fake->cq.resizing = true;
	fake_completion(fake, HW_CQE_OPCODE_RESIZE_CQ);
	KUNIT_EXPECT_EQ(test, 1, cxib_poll_cq(&fake->cq.ib, ARRAY_SIZE(wc), wc));
	expect_nothing(test, fake);
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[0]));
	switch_ring(test, fake, FAKE_LOG_CQ + 1);
	receive(test, fake, 2);
	expect_received(test, fake, 2);
	expect_nothing(test, fake);
}

/* The device would raise an event at once for the RESIZE_CQ CQE, which cannot be polled yet. */
static void arm_cq_at_resize_cqe_waits_for_new_ring(struct kunit *test)
{
	const enum ib_cq_notify_flags flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;

	fake->cq.ib.wc = &wc;
	fake->cq.resizing = true;
	fake_completion(fake, HW_CQE_OPCODE_RESIZE_CQ);
	expect_nothing(test, fake);
	KUNIT_EXPECT_EQ(test, 0, cxib_req_notify_cq(&fake->cq.ib, flags));
	KUNIT_EXPECT_EQ(test, 0, be32_to_cpu(fake->cq_record[1]));
	KUNIT_EXPECT_TRUE(test, cxib_arming_is_set(&fake->cq.arming));
	switch_ring(test, fake, FAKE_LOG_CQ + 1);
	KUNIT_EXPECT_NE(test, 0, be32_to_cpu(fake->cq_record[1]));
	/* Armed for what follows the RESIZE_CQ CQE. */
	KUNIT_EXPECT_EQ(test, 1, be32_to_cpu(fake->cq_record[1]) & CXIB_CQ_COUNTER_MASK);
	fake->cq_record[1] = 0;
	receive(test, fake, 1);
	KUNIT_EXPECT_EQ(test, 1, cxib_req_notify_cq(&fake->cq.ib, flags));
	KUNIT_EXPECT_NE(test, 0, be32_to_cpu(fake->cq_record[1]));
	fake->cq.ib.wc = NULL;
}

static void count_event(struct ib_cq *ib, void *context)
{
	(*(unsigned int *)context)++;
}

/*
 * The device has written a CQE to the new ring and reported it, while polling stopped at the
 * RESIZE_CQ CQE. It does not report this CQE again.
 */
static void arm_cq_at_resize_cqe_delivers_event_of_new_ring(struct kunit *test)
{
	const enum ib_cq_notify_flags flags = IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS;
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct device *dev = fake->hca->bus.dev;
	unsigned int events = 0;
	struct cxib_buffer ring;
	struct hw_cqe64 *entry;
	struct ib_wc wc;

	fake->cq.ib.wc = &wc;
	fake->cq.ib.comp_handler = count_event;
	fake->cq.ib.cq_context = &events;
	fake->cq.resizing = true;
	fake_completion(fake, HW_CQE_OPCODE_RESIZE_CQ);
	KUNIT_EXPECT_EQ(test, 0, cxib_req_notify_cq(&fake->cq.ib, flags));
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(&ring, dev,
						    sizeof(*entry) << (FAKE_LOG_CQ + 1)));
	cxib_cq_invalidate(&ring, FAKE_LOG_CQ + 1);
	entry = cxib_buffer_at(&ring, sizeof(*entry));
	hw_cqe64_set_opcode(entry, HW_CQE_OPCODE_RESP_SEND);
	hw_cqe64_set_owner(entry, 0);
	cxib_cq_switch_ring(&fake->cq, &ring, FAKE_LOG_CQ + 1);
	cxib_buffer_destroy(&ring, dev);
	KUNIT_EXPECT_EQ(test, 1, events);
	KUNIT_EXPECT_FALSE(test, cxib_arming_is_set(&fake->cq.arming));
	fake->cq.ib.wc = NULL;
}

/*
 * The case resizes from any index of one ring to any index of another, with any number of unpolled
 * CQEs.
 */
static void resize_cq_any_index_keeps_order(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	u32 sent = 0, received = 0, round, i;

	for (round = 0; round < 200; round++) {
		u32 count = round % (BIT(FAKE_LOG_RQ_SIZE) + 1);

		for (i = 0; i < count; i++)
			receive(test, fake, ++sent);
		resize(test, fake, FAKE_LOG_RQ_SIZE + round % 5);
		for (i = 0; i < count; i++)
			expect_received(test, fake, ++received);
		receive(test, fake, ++sent);
		expect_received(test, fake, ++received);
		expect_nothing(test, fake);
	}
}

static void poll_cq_unexpected_resize_cqe_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	struct ib_wc wc;

	fake_completion(fake, HW_CQE_OPCODE_RESIZE_CQ);
	KUNIT_EXPECT_EQ(test, 0, cxib_poll_cq(&fake->cq.ib, 1, &wc));
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void resize_cq_missing_resize_cqe_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	receive(test, fake, 1);
	switch_ring(test, fake, FAKE_LOG_CQ + 1);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

static void resize_cq_too_many_cqes_sets_fatal(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	u32 i;

	for (i = 0; i < 3; i++)
		receive(test, fake, i);
	resize(test, fake, 1);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
}

static u8 script(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	return *(u8 *)hca->script_context;
}

/* Resizes with a command that completes with @status, unless a fault of the fake HCA is set. */
static int resize_by_command(struct kunit *test, struct fake_queue_pair *fake, u8 status)
{
	fake->hw.caps.cq_resize = true;
	fake->ibdev.ib.attrs.max_cqe = 1000;
	fake->hw.commands.timeout_ms = 10;
	fake_queue_pair_start(fake, script, &status);
	return cxib_resize_cq_kernel(&fake->cq.ib, 100);
}

static void resize_cq_refused_changes_nothing(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_EXPECT_EQ(test, -EINVAL, resize_by_command(test, fake,
							 HW_COMMAND_STATUS_BAD_PARAMETER));
	KUNIT_EXPECT_EQ(test, FAKE_LOG_CQ, fake->cq.log_size);
	KUNIT_EXPECT_FALSE(test, fake->cq.resizing);
	KUNIT_EXPECT_FALSE(test, cxib_hw_is_dma_off(&fake->hw));
	receive(test, fake, 1);
	expect_received(test, fake, 1);
	expect_nothing(test, fake);
}

/* The errno of a refused command may be that of a command with unknown outcome. */
static void resize_cq_refused_with_eio_changes_nothing(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_EXPECT_EQ(test, -EIO, resize_by_command(test, fake,
						      HW_COMMAND_STATUS_INTERNAL_ERROR));
	KUNIT_EXPECT_EQ(test, FAKE_LOG_CQ, fake->cq.log_size);
	KUNIT_EXPECT_FALSE(test, fake->cq.resizing);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
	KUNIT_EXPECT_FALSE(test, cxib_hw_is_dma_off(&fake->hw));
}

/* User space selects the size, so the page list may be too long for firmware. */
static void resize_cq_undelivered_changes_nothing(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_hca_fail(fake->hca, FAKE_FAULT_DELIVERY, 0);
	KUNIT_EXPECT_EQ(test, -EIO, resize_by_command(test, fake, HW_COMMAND_STATUS_OK));
	KUNIT_EXPECT_EQ(test, FAKE_LOG_CQ, fake->cq.log_size);
	KUNIT_EXPECT_FALSE(test, cxib_health_is_fatal(&fake->hw.health));
	KUNIT_EXPECT_FALSE(test, cxib_hw_is_dma_off(&fake->hw));
}

static void expect_dma_off(struct kunit *test, enum fake_fault fault, int err)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	fake_hca_fail(fake->hca, fault, 0);
	KUNIT_EXPECT_EQ(test, err, resize_by_command(test, fake, HW_COMMAND_STATUS_OK));
	KUNIT_EXPECT_EQ(test, FAKE_LOG_CQ, fake->cq.log_size);
	KUNIT_EXPECT_TRUE(test, cxib_health_is_fatal(&fake->hw.health));
	KUNIT_EXPECT_TRUE(test, cxib_hw_is_dma_off(&fake->hw));
	KUNIT_EXPECT_FALSE(test, fake->hca->dma);
}

static void resize_cq_cmd_timeout_turns_dma_off(struct kunit *test)
{
	expect_dma_off(test, FAKE_FAULT_NEVER, -ETIMEDOUT);
}

static void resize_cq_bad_output_turns_dma_off(struct kunit *test)
{
	expect_dma_off(test, FAKE_FAULT_TOKEN, -EBADMSG);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(resize_cq_unpolled_cqes_move),
	KUNIT_CASE(resize_cq_empty_ring_switches),
	KUNIT_CASE(poll_cq_stops_at_resize_cqe),
	KUNIT_CASE(arm_cq_at_resize_cqe_waits_for_new_ring),
	KUNIT_CASE(arm_cq_at_resize_cqe_delivers_event_of_new_ring),
	KUNIT_CASE(resize_cq_any_index_keeps_order),
	KUNIT_CASE(poll_cq_unexpected_resize_cqe_sets_fatal),
	KUNIT_CASE(resize_cq_missing_resize_cqe_sets_fatal),
	KUNIT_CASE(resize_cq_too_many_cqes_sets_fatal),
	KUNIT_CASE(resize_cq_refused_changes_nothing),
	KUNIT_CASE(resize_cq_refused_with_eio_changes_nothing),
	KUNIT_CASE(resize_cq_undelivered_changes_nothing),
	KUNIT_CASE(resize_cq_cmd_timeout_turns_dma_off),
	KUNIT_CASE(resize_cq_bad_output_turns_dma_off),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_resize",
	.test_cases = cases,
};

kunit_test_suite(suite);
