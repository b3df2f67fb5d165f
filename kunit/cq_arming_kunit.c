// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two simulated hours of completions, events, polling and arming in random order: while a wanted
 * CQE is unpolled and the ULP sleeps, an event is pending.
 *
 * The modelled device raises one event per arming, at once if a wanted CQE is there already. It
 * ignores an arming with the sequence number of its last event.
 */
#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

#define CQN		0x55
#define LIFETIME_MS	(2 * 60 * 60 * 1000)
#define STEP_MS		200
#define RQ_SIZE		BIT(FAKE_LOG_RQ_SIZE)

/**
 * struct model - a device and the ULP that uses its CQ
 * @fake: the queues
 * @random: selects the next step
 * @solicited_only: the ULP arms for solicited completions only
 * @armed: the CQ is armed and no event has been raised since
 * @event_raised: the device has raised an event before
 * @sequence: arm_sn of the last arming
 * @event_sn: arm_sn of the last event
 * @pending: events that the driver has not handled yet
 * @solicited: bit n: CQE n of the ring is solicited
 * @polled: CQEs that the ULP has polled
 * @asleep: the ULP waits for an event
 * @arm_count: calls of cxib_req_notify_cq()
 * @events: calls of the completion handler
 */
struct model {
	struct fake_queue_pair *fake;
	struct rnd_state random;
	bool solicited_only;
	bool armed;
	bool event_raised;
	u32 sequence;
	u32 event_sn;
	u32 pending;
	u32 solicited;
	u32 polled;
	bool asleep;
	u32 arm_count;
	u32 events;
};

static struct model model;

static void wake(struct ib_cq *cq, void *context)
{
	model.events++;
	model.asleep = false;
}

static bool has_wanted_cqe(u32 consumer)
{
	u32 index;

	for (index = consumer; index != model.fake->written; index++)
		if (!model.solicited_only || model.solicited & BIT(index % RQ_SIZE))
			return true;
	return false;
}

static void raise_event(void)
{
	model.armed = false;
	model.event_raised = true;
	model.event_sn = model.sequence;
	model.pending++;
}

static void complete_one(struct kunit *test)
{
	/* The CQE that fills the ring is solicited: otherwise the ULP would sleep for ever. */
	bool last = model.fake->written - model.polled == RQ_SIZE - 1;
	bool solicited = last || prandom_u32_state(&model.random) % 4 == 0;
	u32 index = model.fake->written;

	if (index - model.polled == RQ_SIZE)
		return;
	hw_cqe64_set_se(fake_completion(model.fake, HW_CQE_OPCODE_RESP_SEND), solicited);
	model.solicited &= ~BIT(index % RQ_SIZE);
	model.solicited |= solicited << index % RQ_SIZE;
	if (model.armed && (solicited || !model.solicited_only))
		raise_event();
}

/* Lets the device read what the driver wrote to the CQ doorbell. */
static void read_doorbell(struct kunit *test)
{
	u64 *place = &model.fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)];
	const struct hw_cq_doorbell *doorbell = (const struct hw_cq_doorbell *)place;
	u32 consumer = hw_cq_doorbell_get_arm_consumer_index(doorbell);
	u32 sequence = hw_cq_doorbell_get_arm_sn(doorbell);

	KUNIT_ASSERT_EQ(test, CQN, hw_cq_doorbell_get_cqn(doorbell));
	KUNIT_ASSERT_EQ(test, model.polled & CXIB_CQ_COUNTER_MASK, consumer);
	KUNIT_ASSERT_TRUE(test, model.fake->cq_record[CXIB_CQ_DBR_ARM] == doorbell->dw[0]);
	*place = 0;
	if (model.event_raised && model.event_sn == sequence)
		return;
	model.sequence = sequence;
	model.armed = true;
	if (has_wanted_cqe(model.polled))
		raise_event();
}

static int poll(struct kunit *test, int count)
{
	struct ib_wc wc[RQ_SIZE];
	int polled = cxib_poll_cq(&model.fake->cq.ib, count, wc);

	model.polled += polled;
	if (polled)
		fake_post_recvs(test, model.fake, polled);
	return polled;
}

/* Either IB_CQ_REPORT_MISSED_EVENTS or one more poll finds CQEs from before the arming. */
static void arm_and_sleep(struct kunit *test)
{
	enum ib_cq_notify_flags flags = model.solicited_only ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	bool report_missed = prandom_u32_state(&model.random) % 2;
	int there;

	if (report_missed)
		flags |= IB_CQ_REPORT_MISSED_EVENTS;
	model.arm_count++;
	there = cxib_req_notify_cq(&model.fake->cq.ib, flags);
	/* A CQE may arrive before the device reads the doorbell. */
	if (prandom_u32_state(&model.random) % 4 == 0)
		complete_one(test);
	read_doorbell(test);
	if (!report_missed)
		there = poll(test, RQ_SIZE);
	model.asleep = !there;
}

static void poll_some(struct kunit *test)
{
	int count = 1 + prandom_u32_state(&model.random) % RQ_SIZE;

	if (!model.asleep && poll(test, count) < count && prandom_u32_state(&model.random) % 2)
		arm_and_sleep(test);
}

static void deliver_event(struct kunit *test)
{
	if (!model.pending)
		return;
	model.pending--;
	cxib_completion_event(&model.fake->ibdev, CQN);
}

static void step(struct kunit *test)
{
	switch (prandom_u32_state(&model.random) % 4) {
	case 0:
		return deliver_event(test);
	case 1:
		return poll_some(test);
	default:
		return complete_one(test);
	}
}

static void run_model(struct kunit *test, bool solicited_only)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	u64 now = 0;

	model = (struct model){ .fake = fake, .solicited_only = solicited_only };
	prandom_seed_state(&model.random, 20261122 + solicited_only);
	fake->cq.cqn = CQN;
	fake->cq.ib.comp_handler = wake;
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.cqs, CQN, &fake->cq,
					       GFP_KERNEL));
	fake_post_recvs(test, fake, RQ_SIZE);
	while (now < LIFETIME_MS) {
		now += prandom_u32_state(&model.random) % STEP_MS;
		step(test);
		if (model.asleep && !model.pending)
			KUNIT_ASSERT_FALSE_MSG(test, has_wanted_cqe(model.polled),
					       "an event is lost after %llu ms, %u completions",
					       now, model.polled);
		KUNIT_ASSERT_LE(test, model.events, model.arm_count);
	}
	/* Neither side was idle. */
	KUNIT_EXPECT_GT(test, model.polled, 1000);
	KUNIT_EXPECT_GT(test, model.events, 1000);
}

static void req_notify_next_comp_raises_event(struct kunit *test)
{
	run_model(test, false);
}

static void req_notify_solicited_raises_event(struct kunit *test)
{
	run_model(test, true);
}

/* The RDMA core sets comp_handler after create_cq returns, when events may already arrive. */
static void completion_event_of_unarmed_kernel_cq_calls_no_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	model = (struct model){ .fake = fake };
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.cqs, CQN, &fake->cq,
					       GFP_KERNEL));
	cxib_completion_event(&fake->ibdev, CQN);
	fake->cq.ib.comp_handler = wake;
	cxib_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, model.events);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 1, model.events);
}

/* User space arms its CQ itself; the driver does not know when. */
static void completion_event_of_user_cq_calls_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	model = (struct model){ .fake = fake };
	fake->cq.is_user = true;
	fake->cq.ib.comp_handler = wake;
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.cqs, CQN, &fake->cq,
					       GFP_KERNEL));
	cxib_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 1, model.events);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(completion_event_of_unarmed_kernel_cq_calls_no_handler),
	KUNIT_CASE(completion_event_of_user_cq_calls_handler),
	KUNIT_CASE_SLOW(req_notify_next_comp_raises_event),
	KUNIT_CASE_SLOW(req_notify_solicited_raises_event),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_arming",
	.test_cases = cases,
};

kunit_test_suite(suite);
