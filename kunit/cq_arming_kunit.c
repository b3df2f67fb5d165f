// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two hours of completions, events, polling and arming in random order: whoever
 * sleeps while there is something for him is about to be woken.
 *
 * Time is only counted. The device is one that tells once for each time that it
 * is asked, and at once if what it is asked for is there already; a request with
 * the sequence number that it has answered is an old one.
 */
#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

#define CQN		0x55
#define LIFETIME_MS	(2 * 60 * 60 * 1000)
#define STEP_MS		200
#define ROOM		BIT(FAKE_LOG_RQ_SIZE)

/**
 * struct model - a device, and a user of its completion queue
 * @fake: the queues
 * @random: what comes next
 * @solicited_only: the user wants to be told of solicited completions only
 * @armed: the device has been asked, and has not told yet
 * @event_due: it has told before
 * @sequence: number of the request
 * @event_sn: of the one that it has told of last
 * @under_way: events that the driver has not got yet
 * @solicited: bit n: the completion n of the ring is solicited
 * @polled: completions that the user has taken
 * @asleep: the user waits for an event
 * @asked: how often he has asked for one
 * @events: how often he was told
 */
struct model {
	struct fake_queue_pair *fake;
	struct rnd_state random;
	bool solicited_only;
	bool armed;
	bool event_due;
	u32 sequence;
	u32 event_sn;
	u32 under_way;
	u32 solicited;
	u32 polled;
	bool asleep;
	u32 asked;
	u32 events;
};

static struct model model;

static void wake(struct ib_cq *cq, void *context)
{
	model.events++;
	model.asleep = false;
}

static bool is_wanted_from(u32 consumer)
{
	u32 index;

	for (index = consumer; index != model.fake->written; index++)
		if (!model.solicited_only || model.solicited & BIT(index % ROOM))
			return true;
	return false;
}

static void raise_event(void)
{
	model.armed = false;
	model.event_due = true;
	model.event_sn = model.sequence;
	model.under_way++;
}

static void complete_one(struct kunit *test)
{
	/* The last one that there is room for is solicited, or nobody would ever come. */
	bool last = model.fake->written - model.polled == ROOM - 1;
	bool solicited = last || prandom_u32_state(&model.random) % 4 == 0;
	u32 index = model.fake->written;

	if (index - model.polled == ROOM)
		return;
	hw_cqe64_set_se(fake_completion(model.fake, HW_CQE_OPCODE_RESP_SEND), solicited);
	model.solicited &= ~BIT(index % ROOM);
	model.solicited |= solicited << index % ROOM;
	if (model.armed && (solicited || !model.solicited_only))
		raise_event();
}

/* What the driver has written into the doorbell, if anything. */
static void look_at_doorbell(struct kunit *test)
{
	u64 *place = &model.fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)];
	const struct hw_cq_doorbell *doorbell = (const struct hw_cq_doorbell *)place;
	u32 consumer = hw_cq_doorbell_get_arm_consumer_index(doorbell);
	u32 sequence = hw_cq_doorbell_get_arm_sn(doorbell);

	KUNIT_ASSERT_EQ(test, CQN, hw_cq_doorbell_get_cqn(doorbell));
	KUNIT_ASSERT_EQ(test, model.polled & CXIB_CQ_COUNTER_MASK, consumer);
	KUNIT_ASSERT_TRUE(test, model.fake->cq_record[CXIB_CQ_DBR_ARM] == doorbell->dw[0]);
	*place = 0;
	if (model.event_due && model.event_sn == sequence)
		return;
	model.sequence = sequence;
	model.armed = true;
	if (is_wanted_from(model.polled))
		raise_event();
}

static int poll(struct kunit *test, int count)
{
	struct ib_wc wc[ROOM];
	int polled = cxib_poll_cq(&model.fake->cq.ib, count, wc);

	model.polled += polled;
	if (polled)
		fake_post_recvs(test, model.fake, polled);
	return polled;
}

/* The two ways to ask: have asking say that something is there, or poll once more. */
static void ask_and_sleep(struct kunit *test)
{
	enum ib_cq_notify_flags flags = model.solicited_only ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	bool wants_missed = prandom_u32_state(&model.random) % 2;
	int there;

	if (wants_missed)
		flags |= IB_CQ_REPORT_MISSED_EVENTS;
	model.asked++;
	there = cxib_req_notify_cq(&model.fake->cq.ib, flags);
	/* Before the device sees it, or after. */
	if (prandom_u32_state(&model.random) % 4 == 0)
		complete_one(test);
	look_at_doorbell(test);
	if (!wants_missed)
		there = poll(test, ROOM);
	model.asleep = !there;
}

static void use(struct kunit *test)
{
	int count = 1 + prandom_u32_state(&model.random) % ROOM;

	if (!model.asleep && poll(test, count) < count && prandom_u32_state(&model.random) % 2)
		ask_and_sleep(test);
}

static void deliver_event(struct kunit *test)
{
	if (!model.under_way)
		return;
	model.under_way--;
	cxib_completion_event(&model.fake->ibdev, CQN);
}

static void step(struct kunit *test)
{
	switch (prandom_u32_state(&model.random) % 4) {
	case 0:
		return deliver_event(test);
	case 1:
		return use(test);
	default:
		return complete_one(test);
	}
}

static void live(struct kunit *test, bool solicited_only)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);
	u64 now = 0;

	model = (struct model){ .fake = fake, .solicited_only = solicited_only };
	prandom_seed_state(&model.random, 20261122 + solicited_only);
	fake->cq.cqn = CQN;
	fake->cq.ib.comp_handler = wake;
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.cqs, CQN, &fake->cq,
					       GFP_KERNEL));
	fake_post_recvs(test, fake, ROOM);
	while (now < LIFETIME_MS) {
		now += prandom_u32_state(&model.random) % STEP_MS;
		step(test);
		if (model.asleep && !model.under_way)
			KUNIT_ASSERT_FALSE_MSG(test, is_wanted_from(model.polled),
					       "an event is lost after %llu ms, %u completions",
					       now, model.polled);
		KUNIT_ASSERT_LE(test, model.events, model.asked);
	}
	/* Neither end was idle all the time. */
	KUNIT_EXPECT_GT(test, model.polled, 1000);
	KUNIT_EXPECT_GT(test, model.events, 1000);
}

static void req_notify_next_comp_raises_event(struct kunit *test)
{
	live(test, false);
}

static void who_wants_solicited_ones_is_told(struct kunit *test)
{
	live(test, true);
}

/* The core sets the handler of a queue after the device knows the queue. */
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

/* A program asks the device itself, and the driver does not know when. */
static void completion_event_of_user_cq_calls_the_handler(struct kunit *test)
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
	KUNIT_CASE(completion_event_of_user_cq_calls_the_handler),
	KUNIT_CASE_SLOW(req_notify_next_comp_raises_event),
	KUNIT_CASE_SLOW(who_wants_solicited_ones_is_told),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_arming",
	.test_cases = cases,
};

kunit_test_suite(suite);
