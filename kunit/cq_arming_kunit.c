// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two simulated hours of completions, events, polling and arming in random order. Invariant: while
 * a wanted CQE is unpolled and the ULP sleeps, an event is pending.
 *
 * The modelled device raises one event per arming, immediately if a wanted CQE exists. It ignores
 * an arming with the sequence number of its last event.
 */
#include "fake_queue_pair.h"
#include "verbs/cq/cq_poll.h"

#define CQN		0x55
#define LIFETIME_MS	(2 * 60 * 60 * 1000)
#define STEP_MS		200
#define RQ_SIZE		BIT(FAKE_LOG_RQ_SIZE)

/*
 * How the ULP uses its CQ.
 * SLEEPS: own comp_handler; polls all CQEs, arms, and sleeps if there is no new CQE
 * ARMS_FIRST: own comp_handler; arms, ignores the report of missed events, and polls until the CQ
 *	is empty (as SMC does)
 * RESTARTS: as SLEEPS; sometimes stops its comp_handler, polls all CQEs, arms, and restarts the
 *	handler, although it was asleep (as ib_ipoib does)
 * CORE: the RDMA core polls; it sleeps if arming reports no missed event, else it is the only
 *	poller
 */
enum consumer { SLEEPS, ARMS_FIRST, RESTARTS, CORE };

/* A small share of the steps. A device and a ULP that wait for each other would not reach it. */
#define BUSY		(LIFETIME_MS / STEP_MS / 36)

/**
 * struct model - a device and the ULP that uses its CQ
 * @fake: the queues
 * @random: selects the next step
 * @consumer: how the ULP uses the CQ
 * @solicited_only: the ULP arms for solicited completions only
 * @armed: the CQ is armed and no event has been raised since
 * @event_raised: the device has raised an event before
 * @sequence: arm_sn of the last arming
 * @event_sn: arm_sn of the last event
 * @pending: events that the driver has not handled yet
 * @solicited: bit n: CQE n of the ring is solicited
 * @polled: CQEs that the ULP has polled
 * @asleep: the ULP waits for an event
 * @stopped: its comp_handler does nothing
 * @ignored: calls of the completion handler meanwhile
 * @arm_count: calls of cxib_req_notify_cq()
 * @events: calls of the completion handler
 * @intrusions: calls while the ULP polled
 * @missed: CQEs were reported as missed
 */
struct model {
	struct fake_queue_pair *fake;
	struct rnd_state random;
	enum consumer consumer;
	bool solicited_only;
	bool armed;
	bool event_raised;
	u32 sequence;
	u32 event_sn;
	u32 pending;
	u32 solicited;
	u32 polled;
	bool asleep;
	bool stopped;
	u32 ignored;
	u32 arm_count;
	u32 events;
	u32 intrusions;
	u32 missed;
};

static struct model model;

static void wake(struct ib_cq *cq, void *context)
{
	model.events++;
	if (model.stopped) {
		model.ignored++;
		return;
	}
	if (!model.asleep)
		model.intrusions++;
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
	/* The CQE that fills the ring is solicited: otherwise the ULP would sleep without end. */
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

/* Lets the device read the CQ doorbell. */
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

static int arm(struct kunit *test, enum ib_cq_notify_flags flags)
{
	int missed;

	flags |= model.solicited_only ? IB_CQ_SOLICITED : IB_CQ_NEXT_COMP;
	model.arm_count++;
	missed = cxib_req_notify_cq(&model.fake->cq.ib, flags);
	if (missed)
		model.missed++;
	/* A CQE may arrive before the device reads the doorbell. */
	if (!model.stopped && prandom_u32_state(&model.random) % 4 == 0)
		complete_one(test);
	read_doorbell(test);
	return missed;
}

static void arm_and_poll(struct kunit *test)
{
	arm(test, IB_CQ_REPORT_MISSED_EVENTS);
	while (poll(test, RQ_SIZE))
		;
	model.asleep = true;
}

static void arm_as_core(struct kunit *test)
{
	/* A CQE may arrive after the last poll. */
	if (prandom_u32_state(&model.random) % 4 == 0)
		complete_one(test);
	model.asleep = !arm(test, IB_CQ_REPORT_MISSED_EVENTS);
}

/* Either IB_CQ_REPORT_MISSED_EVENTS or one more poll finds the CQEs written before the arming. */
static void arm_and_sleep(struct kunit *test)
{
	bool report_missed = prandom_u32_state(&model.random) % 2;
	int there = arm(test, report_missed ? IB_CQ_REPORT_MISSED_EVENTS : 0);

	if (!report_missed)
		there = poll(test, RQ_SIZE);
	model.asleep = !there;
}

static void deliver_event(struct kunit *test)
{
	if (!model.pending)
		return;
	model.pending--;
	fake_completion_event(&model.fake->ibdev, CQN);
	if (model.fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)])
		read_doorbell(test);
}

/* The QP is reset during the restart, so there are no new CQEs, but events of earlier ones. */
static void restart(struct kunit *test)
{
	model.stopped = true;
	if (prandom_u32_state(&model.random) % 2)
		deliver_event(test);
	while (poll(test, RQ_SIZE))
		;
	arm(test, 0);
	if (prandom_u32_state(&model.random) % 2)
		deliver_event(test);
	model.stopped = false;
	model.asleep = true;
}

static void poll_some(struct kunit *test)
{
	int count = 1 + prandom_u32_state(&model.random) % RQ_SIZE;

	if (model.consumer == RESTARTS && prandom_u32_state(&model.random) % 4 == 0)
		return restart(test);
	if (model.asleep)
		return;
	if (model.consumer == ARMS_FIRST)
		return arm_and_poll(test);
	if (poll(test, count) == count || prandom_u32_state(&model.random) % 2)
		return;
	if (model.consumer == CORE)
		arm_as_core(test);
	else
		arm_and_sleep(test);
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

/* The RDMA core allocates this array for the CQs that it polls. */
static struct ib_wc core_wc[16];

static struct fake_queue_pair *create(struct kunit *test, enum consumer consumer)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	model = (struct model){ .fake = fake, .consumer = consumer };
	fake->cq.cqn = CQN;
	fake->cq.ib.comp_handler = wake;
	if (consumer == CORE)
		fake->cq.ib.wc = core_wc;
	KUNIT_ASSERT_EQ(test, 0, xa_insert_irq(&fake->ibdev.cqs, CQN, &fake->cq,
					       GFP_KERNEL));
	return fake;
}

static void run_model(struct kunit *test, enum consumer consumer, bool solicited_only)
{
	struct fake_queue_pair *fake = create(test, consumer);
	u64 now = 0;

	model.solicited_only = solicited_only;
	prandom_seed_state(&model.random, 20261122 + solicited_only);
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
	/* Both the device and the ULP were active. */
	KUNIT_EXPECT_GT(test, model.polled, BUSY);
	KUNIT_EXPECT_GT(test, model.events, BUSY);
}

static void req_notify_next_comp_raises_event(struct kunit *test)
{
	run_model(test, SLEEPS, false);
}

static void req_notify_solicited_raises_event(struct kunit *test)
{
	run_model(test, SLEEPS, true);
}

static void req_notify_beside_stopped_handler_raises_event(struct kunit *test)
{
	run_model(test, RESTARTS, false);
	KUNIT_EXPECT_GT(test, model.ignored, BUSY / 2);
}

/* A ULP with its own comp_handler may rely on the event for CQEs that were reported as missed. */
static void req_notify_before_polling_raises_event(struct kunit *test)
{
	run_model(test, ARMS_FIRST, false);
	KUNIT_EXPECT_GT(test, model.missed, BUSY);
}

static void req_notify_core_polled_cq_raises_event_only_asleep(struct kunit *test)
{
	run_model(test, CORE, false);
	KUNIT_EXPECT_EQ(test, 0, model.intrusions);
	/* The number is lower than in other cases, because the RDMA core arms only an empty CQ. */
	KUNIT_EXPECT_GT(test, model.missed, BUSY / 2);
	KUNIT_EXPECT_GT(test, model.fake->cq.arming.num_late, BUSY / 2);
}

static void expect_events(struct kunit *test, u32 delivered, u32 late)
{
	KUNIT_EXPECT_EQ(test, delivered, model.events);
	KUNIT_EXPECT_EQ(test, late, model.fake->cq.arming.num_late);
}

/*
 * The RDMA core sets comp_handler after create_cq() has returned, when events may already arrive.
 */
static void completion_event_of_unarmed_kernel_cq_calls_no_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	fake->cq.ib.comp_handler = NULL;
	fake_completion_event(&fake->ibdev, CQN);
	fake->cq.ib.comp_handler = wake;
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 0, 2);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 2);
}

/* The RDMA core's comp_handler of such a CQ would warn. */
static void completion_event_of_direct_cq_is_dropped(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	fake->cq.ib.poll_ctx = IB_POLL_DIRECT;
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 0, 1);
}

static void completion_event_of_unknown_cq_is_counted(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	fake_completion_event(&fake->ibdev, CQN + 1);
	expect_events(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&fake->ibdev.num_unknown_cq_events));
}

/*
 * Interrupts of two EQs may run at the same time, so only events of the CQ's own EQ are serialized.
 */
static void completion_event_of_other_eq_is_dropped(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);
	const struct cxib_eq other = {};

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_completion_event(&fake->ibdev, &other, CQN);
	expect_events(test, 0, 0);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&fake->ibdev.num_unknown_cq_events));
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 0);
}

static void completion_event_after_delivered_one_is_dropped(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	fake_completion_event(&fake->ibdev, CQN);
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 1);
}

static u32 sn_of_arming(struct fake_queue_pair *fake)
{
	u64 *place = &fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)];

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	return hw_cq_doorbell_get_arm_sn((const struct hw_cq_doorbell *)place);
}

/* The device sees from the repeated number that the driver has not seen its event yet. */
static void req_notify_without_event_repeats_arm_sn(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);
	u32 sn = sn_of_arming(fake);

	KUNIT_EXPECT_EQ(test, sn, sn_of_arming(fake));
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_NE(test, sn, sn_of_arming(fake));
}

/* Returns what the driver has written to the CQ doorbell since the last call. */
static u64 take_doorbell(struct fake_queue_pair *fake)
{
	u64 *place = &fake->doorbells[HW_UAR_OFFSET_CQ_DOORBELL / sizeof(u64)];
	u64 written = *place;

	*place = 0;
	return written;
}

static void completion_event_of_own_handler_armed_twice_arms_again(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);
	struct hw_cq_doorbell written;
	u32 sn = sn_of_arming(fake);
	u64 doorbell;

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_SOLICITED);
	take_doorbell(fake);
	fake_completion_event(&fake->ibdev, CQN);
	doorbell = take_doorbell(fake);
	memcpy(&written, &doorbell, sizeof(written));
	KUNIT_EXPECT_EQ(test, CQN, hw_cq_doorbell_get_cqn(&written));
	KUNIT_EXPECT_EQ(test, (sn + 1) & 3, hw_cq_doorbell_get_arm_sn(&written));
	KUNIT_EXPECT_EQ(test, HW_CQ_ARM_COMMAND_REQ_NOT_SOL,
			hw_cq_doorbell_get_arm_command(&written));
	/* The driver has repeated the second arming, so this event is the last one. */
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, take_doorbell(fake));
	expect_events(test, 2, 0);
}

/* The ULP may arm again before the event of the driver's own arming arrives. */
static void completion_event_of_cq_armed_by_driver_and_ulp_arms_again(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);
	unsigned int i;

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	for (i = 0; i < 3; i++) {
		cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
		take_doorbell(fake);
		fake_completion_event(&fake->ibdev, CQN);
		KUNIT_EXPECT_NE(test, 0, take_doorbell(fake));
	}
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, take_doorbell(fake));
	expect_events(test, 4, 0);
}

static void completion_event_of_cq_armed_once_does_not_arm(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);
	unsigned int i;

	for (i = 0; i < 3; i++) {
		cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
		take_doorbell(fake);
		fake_completion_event(&fake->ibdev, CQN);
		KUNIT_EXPECT_EQ(test, 0, take_doorbell(fake));
	}
}

/* The RDMA core polls at each event and arms afterwards. */
static void completion_event_of_core_polled_cq_armed_twice_does_not_arm(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	take_doorbell(fake);
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, take_doorbell(fake));
}

static void completion_event_of_stopped_cq_armed_twice_does_not_arm(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	take_doorbell(fake);
	fake->cq.is_stopped = true;
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 0, take_doorbell(fake));
}

/*
 * The device ignores an arming with the arm_sn of its last event. The case uses each of the four
 * numbers twice.
 */
static void req_notify_after_repeated_events_changes_arm_sn(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);
	unsigned int events, i;

	for (events = 1; events <= 8; events++) {
		u32 sn = sn_of_arming(fake);

		for (i = 0; i < events; i++)
			fake_completion_event(&fake->ibdev, CQN);
		KUNIT_EXPECT_NE_MSG(test, sn, sn_of_arming(fake), "after %u events", events);
		fake_completion_event(&fake->ibdev, CQN);
	}
}

/* The device raises an event for the first arming, then one for the second. */
static void completion_events_of_own_handler_are_as_many_as_arms(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);
	unsigned int i;

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_SOLICITED);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	for (i = 0; i < 3; i++)
		fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 2, 1);
}

/* A MAD may arm a CQ that the RDMA core has armed; only one poller may follow. */
static void completion_events_of_core_polled_cq_armed_twice_are_one(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	fake_completion_event(&fake->ibdev, CQN);
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 1);
}

/* A device would need weeks for 2^31 armings without an event. */
static void arming_count_saturates(struct kunit *test)
{
	struct cxib_arming arming = { .count = ATOMIC_INIT(INT_MAX) };

	cxib_arming_add(&arming);
	KUNIT_EXPECT_TRUE(test, cxib_arming_take_one(&arming));
	KUNIT_EXPECT_EQ(test, INT_MAX - 1, atomic_read(&arming.count));
}

static void completion_event_after_missed_of_core_polled_cq_is_dropped(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_EXPECT_EQ(test, 1, cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP |
						    IB_CQ_REPORT_MISSED_EVENTS));
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 0, 1);
}

static void completion_event_after_missed_of_own_handler_is_delivered(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_EXPECT_EQ(test, 1, cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP |
						    IB_CQ_REPORT_MISSED_EVENTS));
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 0);
}

/* ib_alloc_cq() arms in this way. */
static void completion_event_after_missed_not_asked_is_delivered(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	fake_completion(fake, HW_CQE_OPCODE_RESP_SEND);
	KUNIT_EXPECT_EQ(test, 0, cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP));
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 0);
}

/* The arming is taken when the event arrives that the device had raised earlier. */
static void completion_event_after_dma_off_event_is_dropped(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	fake_post_recvs(test, fake, 1);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	cxib_hw_state_raise(fake->hw.bus, CXIB_HW_DMA_OFF);
	KUNIT_EXPECT_TRUE(test, cxib_cq_event_due(&fake->cq));
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 0, 1);
	KUNIT_EXPECT_FALSE(test, cxib_cq_event_due(&fake->cq));
}

static unsigned int num_queued;
static bool queue_result;

/* Does not look at cq->poll, which has to be set only. */
static bool queue(struct cxib_cq *cq)
{
	num_queued++;
	return queue_result;
}

/* Returns the number of calls of the scheduler for one event. */
static unsigned int scheduler_calls(struct kunit *test, struct fake_queue_pair *fake)
{
	static const struct cxib_poll_interface polling = { .queue = queue };

	fake->ibdev.polling = &polling;
	num_queued = 0;
	cxib_req_notify_cq(&fake->cq.ib, IB_CQ_NEXT_COMP);
	fake_completion_event(&fake->ibdev, CQN);
	return num_queued;
}

static void completion_event_scheduler_accepts_calls_no_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	fake->cq.poll = (void *)fake;
	queue_result = true;
	KUNIT_EXPECT_EQ(test, 1, scheduler_calls(test, fake));
	expect_events(test, 0, 0);
	/* Without an arming, the driver does not call the scheduler. */
	fake_completion_event(&fake->ibdev, CQN);
	KUNIT_EXPECT_EQ(test, 1, num_queued);
}

static void completion_event_scheduler_declines_calls_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	fake->cq.poll = (void *)fake;
	queue_result = false;
	KUNIT_EXPECT_EQ(test, 1, scheduler_calls(test, fake));
	expect_events(test, 1, 0);
}

static void completion_event_of_cq_left_to_core_calls_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, CORE);

	queue_result = true;
	KUNIT_EXPECT_EQ(test, 0, scheduler_calls(test, fake));
	expect_events(test, 1, 0);
}

/* User space arms its CQ itself, so the driver does not know whether the CQ is armed. */
static void completion_event_of_user_cq_calls_handler(struct kunit *test)
{
	struct fake_queue_pair *fake = create(test, SLEEPS);

	fake->cq.is_user = true;
	fake_completion_event(&fake->ibdev, CQN);
	expect_events(test, 1, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(completion_event_of_unarmed_kernel_cq_calls_no_handler),
	KUNIT_CASE(completion_event_of_user_cq_calls_handler),
	KUNIT_CASE(completion_event_of_direct_cq_is_dropped),
	KUNIT_CASE(completion_event_of_unknown_cq_is_counted),
	KUNIT_CASE(completion_event_of_other_eq_is_dropped),
	KUNIT_CASE(completion_event_after_delivered_one_is_dropped),
	KUNIT_CASE(req_notify_without_event_repeats_arm_sn),
	KUNIT_CASE(req_notify_after_repeated_events_changes_arm_sn),
	KUNIT_CASE(completion_event_of_own_handler_armed_twice_arms_again),
	KUNIT_CASE(completion_event_of_cq_armed_by_driver_and_ulp_arms_again),
	KUNIT_CASE(completion_event_of_cq_armed_once_does_not_arm),
	KUNIT_CASE(completion_event_of_core_polled_cq_armed_twice_does_not_arm),
	KUNIT_CASE(completion_event_of_stopped_cq_armed_twice_does_not_arm),
	KUNIT_CASE(completion_events_of_own_handler_are_as_many_as_arms),
	KUNIT_CASE(completion_events_of_core_polled_cq_armed_twice_are_one),
	KUNIT_CASE(arming_count_saturates),
	KUNIT_CASE(completion_event_after_missed_of_core_polled_cq_is_dropped),
	KUNIT_CASE(completion_event_after_missed_of_own_handler_is_delivered),
	KUNIT_CASE(completion_event_after_missed_not_asked_is_delivered),
	KUNIT_CASE(completion_event_after_dma_off_event_is_dropped),
	KUNIT_CASE(completion_event_scheduler_accepts_calls_no_handler),
	KUNIT_CASE(completion_event_scheduler_declines_calls_handler),
	KUNIT_CASE(completion_event_of_cq_left_to_core_calls_handler),
	KUNIT_CASE_SLOW(req_notify_next_comp_raises_event),
	KUNIT_CASE_SLOW(req_notify_solicited_raises_event),
	KUNIT_CASE_SLOW(req_notify_beside_stopped_handler_raises_event),
	KUNIT_CASE_SLOW(req_notify_before_polling_raises_event),
	KUNIT_CASE_SLOW(req_notify_core_polled_cq_raises_event_only_asleep),
	{}
};

static struct kunit_suite suite = {
	.name = "cq_arming",
	.test_cases = cases,
};

kunit_test_suite(suite);
