// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Measures the cost of posting and polling in steps of the cycle counter. On x86 with `-icount
 * shift=0`, QEMU counts executed instructions.
 */
#include <linux/delay.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/timex.h>

#include "single.h"

#define SAMPLES	101
#define LENGTH	64

struct samples {
	u32 post[SAMPLES];
	u32 poll[SAMPLES];
};

static int compare(const void *one, const void *other)
{
	return *(const u32 *)one < *(const u32 *)other ? -1 : *(const u32 *)one > *(const u32 *)other;
}

static u32 median(u32 *values)
{
	sort(values, SAMPLES, sizeof(*values), compare, NULL);
	return values[SAMPLES / 2];
}

/* Returns the cost of the measurement itself. */
static u32 measure_nothing(void)
{
	u64 begin;
	u32 took;

	local_irq_disable();
	begin = get_cycles();
	took = get_cycles() - begin;
	local_irq_enable();
	return took;
}

/*
 * Returns the cost of the uncontended lock with disabled interrupts that posting and polling take.
 */
static u32 measure_lock(void)
{
	DEFINE_SPINLOCK(lock);
	unsigned long flags;
	u64 begin;
	u32 took;

	local_irq_disable();
	begin = get_cycles();
	spin_lock_irqsave(&lock, flags);
	spin_unlock_irqrestore(&lock, flags);
	took = get_cycles() - begin;
	local_irq_enable();
	return took - measure_nothing();
}

static int measure_post(struct kverbs_end *end, struct kverbs_single *single, u32 *took)
{
	const struct ib_send_wr *bad;
	u64 begin;
	int err;

	local_irq_disable();
	begin = get_cycles();
	err = ib_post_send(end->qp, &single->send, &bad);
	*took = get_cycles() - begin;
	local_irq_enable();
	return err;
}

static int measure_poll(struct kverbs_end *end, u32 *took)
{
	struct ib_wc wc;
	u64 begin;
	int polled;

	local_irq_disable();
	begin = get_cycles();
	polled = ib_poll_cq(end->send_cq, 1, &wc);
	*took = get_cycles() - begin;
	local_irq_enable();
	if (polled == 1 && wc.status != IB_WC_SUCCESS)
		return -EIO;
	return polled;
}

/* Posts one WR, and polls its completion when the CQE has been written. */
static int sample(struct kverbs_pair *pair, struct kverbs_single *single, u32 *post, u32 *poll)
{
	struct kverbs_end *end = &pair->ends[0];
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int events = atomic_read(&end->completion_events);
	int err;

	ib_req_notify_cq(end->send_cq, IB_CQ_NEXT_COMP);
	err = measure_post(end, single, post);
	while (!err && atomic_read(&end->completion_events) == events) {
		usleep_range(100, 200);
		if (time_after(jiffies, limit))
			err = -ETIMEDOUT;
	}
	if (!err)
		err = measure_poll(end, poll);
	if (err == 1)
		return 0;
	return kverbs_fail(pair->report, "opcode %d cannot be measured: error %d", single->send.opcode,
			err);
}

static int measure_messages(struct kverbs_pair *pair, enum ib_wr_opcode opcode,
			    struct samples *samples)
{
	struct kverbs_end *end = &pair->ends[0], *peer = &pair->ends[1];
	struct kverbs_single single;
	int i, err = 0;

	for (i = 0; i < SAMPLES && !err; i++) {
		kverbs_single_write(&single, end, i, peer->dma + KVERBS_EXPOSED,
				 peer->pd->unsafe_global_rkey, LENGTH);
		single.send.opcode = opcode;
		if (opcode == IB_WR_SEND)
			err = kverbs_post_slot(pair, peer, i, LENGTH);
		if (!err)
			err = sample(pair, &single, &samples->post[i], &samples->poll[i]);
		if (!err && opcode == IB_WR_SEND)
			err = kverbs_await_status(pair, peer->recv_cq, i, IB_WC_SUCCESS);
	}
	return err;
}

static int measure_keys(struct kverbs_pair *pair, struct samples *registrations,
			struct samples *invalidations)
{
	struct kverbs_end *end = &pair->ends[0];
	struct kverbs_single single;
	int i, err = 0;

	for (i = 0; i < SAMPLES && !err; i++) {
		err = kverbs_map_key(end->local_key, end->dma, KVERBS_AREA_SIZE);
		if (err)
			break;
		single = (struct kverbs_single){};
		single.send.opcode = IB_WR_REG_MR;
		single.send.send_flags = IB_SEND_SIGNALED;
		single.reg.mr = end->local_key;
		single.reg.key = end->local_key->rkey;
		single.reg.access = IB_ACCESS_LOCAL_WRITE;
		err = sample(pair, &single, &registrations->post[i], &registrations->poll[i]);
		if (err)
			break;
		single = (struct kverbs_single){};
		single.send.opcode = IB_WR_LOCAL_INV;
		single.send.send_flags = IB_SEND_SIGNALED;
		single.send.ex.invalidate_rkey = end->local_key->rkey;
		err = sample(pair, &single, &invalidations->post[i], &invalidations->poll[i]);
	}
	return err;
}

static void say(struct kverbs_pair *pair, const char *name, struct samples *samples)
{
	u32 nothing = measure_nothing();

	kverbs_say(pair->report, "%s post %u poll %u", name, median(samples->post) - nothing,
		median(samples->poll) - nothing);
}

static int measure(struct kverbs_pair *pair)
{
	struct samples *samples = kcalloc(4, sizeof(*samples), GFP_KERNEL);
	const struct ib_device_ops *ops = &pair->ends[0].device->ops;
	int err;

	if (!samples)
		return -ENOMEM;
	err = measure_messages(pair, IB_WR_SEND, &samples[0]);
	if (!err)
		err = measure_messages(pair, IB_WR_RDMA_WRITE, &samples[1]);
	if (!err)
		err = measure_keys(pair, &samples[2], &samples[3]);
	if (!err) {
		say(pair, "SEND", &samples[0]);
		say(pair, "RDMA_WRITE", &samples[1]);
		say(pair, "REG_MR", &samples[2]);
		say(pair, "LOCAL_INV", &samples[3]);
		kverbs_say(pair->report, "lock pair %u", measure_lock());
		kverbs_say(pair->report, "bytes QP %zu CQ %zu SRQ %zu PD %zu AH %zu", ops->size_ib_qp,
			ops->size_ib_cq, ops->size_ib_srq, ops->size_ib_pd, ops->size_ib_ah);
	}
	kfree(samples);
	return err;
}

static int run(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return kverbs_with_pair(report, &kverbs_usual, measure);
}

const struct kverbs_case kverbs_cost_cases[] = {
	{ "cost", run },
	{}
};
