// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Invalid arguments of cxib_alloc_cq() and cxib_cq_set_context(), and callers that are killed: each is refused, the CQ
 * stays as it was.
 */
#include <linux/completion.h>
#include <linux/kthread.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "kverbs.h"

#define ENTRIES		16
/* A thread may exist before its killed creator looks for signals: then the call succeeds. */
#define KILLED_CALLS	100
/* Each member of struct cxib_cq_options just beyond its limit. */
#define BEYOND(limit)	((limit) + 1)

/**
 * struct invalid_options - options that no CQ can have
 * @what: their fault
 * @options: the options
 */
struct invalid_options {
	const char *what;
	struct cxib_cq_options options;
};

static const struct invalid_options invalid[] = {
	{ "unknown context", { .context = BEYOND(CXIB_CQ_DEVICE_SETTINGS) } },
	{ "unknown flag", { .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD << 1 } },
	{ "own thread in softirq", { .context = CXIB_CQ_SOFTIRQ, .flags = CXIB_CQ_OWN_THREAD } },
	{ "own thread in workqueue", { .context = CXIB_CQ_WORKQUEUE, .flags = CXIB_CQ_OWN_THREAD } },
	{ "weight", { .context = CXIB_CQ_SOFTIRQ, .weight = BEYOND(CXIB_CQ_WEIGHT_MAX) } },
	{ "busy_poll_us", { .context = CXIB_CQ_THREAD, .busy_poll_us = BEYOND(CXIB_CQ_BUSY_POLL_US_MAX) } },
	{ "busy_poll_us in softirq", { .context = CXIB_CQ_SOFTIRQ, .busy_poll_us = 1 } },
	{ "busy_poll_us in workqueue", { .context = CXIB_CQ_WORKQUEUE, .busy_poll_us = 1 } },
	{ "weight of the device", { .context = CXIB_CQ_DEVICE_SETTINGS, .weight = 1 } },
};

static int expect_refusal(struct kverbs_report *report, const char *what, struct ib_cq *cq, int err)
{
	if (!IS_ERR(cq)) {
		ib_free_cq(cq);
		return kverbs_fail(report, "%s: a CQ is allocated", what);
	}
	if (PTR_ERR(cq) != err)
		return kverbs_fail(report, "%s: error %ld instead of %d", what, PTR_ERR(cq), err);
	return 0;
}

static int alloc_with_invalid_options(struct kverbs_report *report)
{
	struct ib_device *device = kverbs_device(0);
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(invalid) && !err; i++)
		err = expect_refusal(report, invalid[i].what,
				     cxib_alloc_cq(device, NULL, ENTRIES, 0, &invalid[i].options), -EINVAL);
	return err;
}

/* The class of the handlers is that of ib_alloc_cq(). */
static int alloc_as_device(struct kverbs_report *report)
{
	const struct cxib_cq_options device = { .context = CXIB_CQ_DEVICE_SETTINGS };

	return expect_refusal(report, "as the device",
			      cxib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, &device), -EINVAL);
}

static int alloc_with_invalid_size(struct kverbs_report *report)
{
	const struct cxib_cq_options options = { .context = CXIB_CQ_SOFTIRQ };
	struct ib_device *device = kverbs_device(0);
	const struct {
		int entries, vector;
	} bad[] = {
		{ 0, 0 },
		{ -1, 0 },
		{ device->attrs.max_cqe + 1, 0 },
		{ ENTRIES, CXIB_ANY_VECTOR - 1 },
		{ ENTRIES, device->num_comp_vectors },
	};
	unsigned int i;
	int err = 0;

	for (i = 0; i < ARRAY_SIZE(bad) && !err; i++)
		err = expect_refusal(report, "size or vector",
				     cxib_alloc_cq(device, NULL, bad[i].entries, bad[i].vector, &options),
				     -EINVAL);
	return err;
}

static int expect_change(struct kverbs_report *report, const char *what, struct ib_cq *cq,
			 const struct cxib_cq_options *options, int expected)
{
	int err = cxib_cq_set_context(cq, options);

	return err == expected ? 0 : kverbs_fail(report, "%s: error %d instead of %d", what, err, expected);
}

/*
 * done() that must not sleep is not moved to where it may, nor the other way, and a CQ without events is not moved at all.
 */
static int change_class(struct kverbs_report *report, struct ib_cq *cq, enum ib_poll_context context)
{
	const struct cxib_cq_options softirq = { .context = CXIB_CQ_SOFTIRQ };
	const struct cxib_cq_options thread = { .context = CXIB_CQ_THREAD };
	const struct cxib_cq_options own = { .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD };
	const struct cxib_cq_options workqueue = { .context = CXIB_CQ_WORKQUEUE };
	const struct cxib_cq_options unbound = { .context = CXIB_CQ_UNBOUND_WORKQUEUE };
	const struct cxib_cq_options direct = { .context = CXIB_CQ_DIRECT };
	const struct cxib_cq_options device = { .context = CXIB_CQ_DEVICE_SETTINGS };
	const bool may_sleep = context == IB_POLL_WORKQUEUE || context == IB_POLL_UNBOUND_WORKQUEUE;
	const int no_sleep = context == IB_POLL_SOFTIRQ ? 0 : -EINVAL, sleep = may_sleep ? 0 : -EINVAL;

	return expect_change(report, "softirq", cq, &softirq, no_sleep) ?:
	       expect_change(report, "thread", cq, &thread, no_sleep) ?:
	       expect_change(report, "own thread", cq, &own, sleep) ?:
	       expect_change(report, "workqueue", cq, &workqueue, sleep) ?:
	       expect_change(report, "unbound workqueue", cq, &unbound, sleep) ?:
	       expect_change(report, "direct", cq, &direct, -EINVAL) ?:
	       expect_change(report, "as the device", cq, &device, context == IB_POLL_DIRECT ? -EINVAL : 0);
}

static int change_with_invalid_options(struct kverbs_report *report, enum ib_poll_context context)
{
	struct ib_cq *cq = ib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, context);
	unsigned int i;
	int err = 0;

	if (IS_ERR(cq))
		return kverbs_fail(report, "ib_alloc_cq(): error %ld", PTR_ERR(cq));
	for (i = 0; i < ARRAY_SIZE(invalid) && !err; i++)
		err = expect_change(report, invalid[i].what, cq, &invalid[i].options, -EINVAL);
	err = err ?: change_class(report, cq, context);
	ib_free_cq(cq);
	return err;
}

static void no_event(struct ib_cq *cq, void *context)
{
}

/* A ULP with a handler of its own polls itself. */
static int change_other_cqs(struct kverbs_report *report)
{
	const struct cxib_cq_options options = { .context = CXIB_CQ_SOFTIRQ };
	const struct ib_cq_init_attr attr = { .cqe = ENTRIES };
	struct ib_cq *cq = ib_create_cq(kverbs_device(0), no_event, NULL, NULL, &attr);
	int err;

	if (IS_ERR(cq))
		return kverbs_fail(report, "ib_create_cq(): error %ld", PTR_ERR(cq));
	err = expect_change(report, "CQ of ib_create_cq()", cq, &options, -EINVAL);
	ib_destroy_cq(cq);
	if (err)
		return err;
	cq = ib_cq_pool_get(kverbs_device(0), ENTRIES, -1, IB_POLL_SOFTIRQ);
	if (IS_ERR(cq))
		return kverbs_fail(report, "ib_cq_pool_get(): error %ld", PTR_ERR(cq));
	err = expect_change(report, "CQ of the pool", cq, &options, -EOPNOTSUPP);
	ib_cq_pool_put(cq, ENTRIES);
	return err;
}

/* mlx5_ib has the driver id of cxib, so only the owner of the operations distinguishes the two. */
static int use_device_of_another_driver(struct kverbs_report *report)
{
	struct ib_device *other = kmemdup(kverbs_device(0), sizeof(*other), GFP_KERNEL);
	const struct cxib_cq_options options = { .context = CXIB_CQ_SOFTIRQ };
	const struct cxib_poll_contexts *functions = cxib_poll_contexts(kverbs_device(0));
	struct ib_cq cq = { .device = other };
	int err;

	if (!other)
		return -ENOMEM;
	other->ops.owner = NULL;
	err = expect_refusal(report, "device of another driver",
			     cxib_alloc_cq(other, NULL, ENTRIES, 0, &options), -EOPNOTSUPP) ?:
	      expect_change(report, "CQ of another driver", &cq, &options, -EOPNOTSUPP) ?:
	      expect_refusal(report, "device of another driver, by the functions of this one",
			     functions->alloc_cq(other, NULL, ENTRIES, 0, &options, KBUILD_MODNAME), -EOPNOTSUPP);
	if (!err && functions->set_context(&cq, &options) != -EOPNOTSUPP)
		err = kverbs_fail(report, "CQ of another driver, by the functions of this one: not refused");
	kfree(other);
	return err;
}

/* Each vector gets a CQ before one gets the second: all are equally near here. */
static int choose_vectors(struct kverbs_report *report)
{
	const struct cxib_cq_options options = { .context = CXIB_CQ_THREAD };
	struct ib_device *device = kverbs_device(0);
	struct ib_cq *cq[8];
	unsigned int i, count, used = 0;
	int err = 0;

	count = min_t(unsigned int, ARRAY_SIZE(cq), 2 * device->num_comp_vectors);
	for (i = 0; i < count && !err; i++) {
		cq[i] = cxib_alloc_cq(device, NULL, ENTRIES, CXIB_ANY_VECTOR, &options);
		if (IS_ERR(cq[i]))
			err = kverbs_fail(report, "any vector: error %ld", PTR_ERR(cq[i]));
		else
			used |= BIT(cq[i]->comp_vector);
	}
	while (i--)
		if (!IS_ERR(cq[i]))
			ib_free_cq(cq[i]);
	if (!err && device->num_comp_vectors <= 4 && used != BIT(device->num_comp_vectors) - 1)
		err = kverbs_fail(report, "%u CQs use only the vectors 0x%x", count, used);
	return err;
}

/**
 * struct killed_caller - a thread that is killed before it asks for a CQ with a thread
 * @report: report
 * @cq: CQ whose change was refused; NULL: none was
 * @err: what it has found
 * @done: it has
 */
struct killed_caller {
	struct kverbs_report *report;
	struct ib_cq *cq;
	int err;
	struct completion done;
};

static const struct cxib_cq_options own_thread = { .context = CXIB_CQ_THREAD, .flags = CXIB_CQ_OWN_THREAD };

static int alloc_killed(struct kverbs_report *report)
{
	unsigned int i;

	for (i = 0; i < KILLED_CALLS; i++) {
		struct ib_cq *cq = cxib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, &own_thread);

		if (IS_ERR(cq))
			return expect_refusal(report, "killed", cq, -EINTR);
		ib_free_cq(cq);
	}
	return kverbs_fail(report, "killed: none of %u calls is refused", KILLED_CALLS);
}

/* A CQ that has a thread needs no other one, so each call has another CQ. */
static int change_killed(struct killed_caller *caller)
{
	unsigned int i;
	int err;

	for (i = 0; i < KILLED_CALLS; i++) {
		struct ib_cq *cq = ib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, IB_POLL_WORKQUEUE);

		if (IS_ERR(cq))
			return kverbs_fail(caller->report, "ib_alloc_cq(): error %ld", PTR_ERR(cq));
		err = cxib_cq_set_context(cq, &own_thread);
		if (err) {
			caller->cq = cq;
			return err == -EINTR ? 0 : kverbs_fail(caller->report, "killed: error %d instead of %d",
							       err, -EINTR);
		}
		ib_free_cq(cq);
	}
	return kverbs_fail(caller->report, "killed: none of %u changes is refused", KILLED_CALLS);
}

/* A kernel thread survives the signal that kthread_create() sees. The next caller is served. */
static int call_killed(void *data)
{
	struct killed_caller *caller = data;

	allow_signal(SIGKILL);
	send_sig(SIGKILL, current, 1);
	caller->err = alloc_killed(caller->report) ?: change_killed(caller);
	flush_signals(current);
	if (!caller->err)
		caller->err = expect_change(caller->report, "alive", caller->cq, &own_thread, 0);
	complete(&caller->done);
	while (!kthread_should_stop())
		schedule_timeout_idle(1);
	return caller->err;
}

static int run_killed(struct killed_caller *caller)
{
	struct task_struct *task = kthread_run(call_killed, caller, "killed");

	if (IS_ERR(task))
		return PTR_ERR(task);
	wait_for_completion(&caller->done);
	return kthread_stop(task);
}

/**
 * kverbs_context_killed() - the case of a caller that is killed while its thread is created
 * @report: report
 * @settings: unused
 *
 * Return: 0, or an error, after kverbs_fail() unless there is no thread.
 */
int kverbs_context_killed(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct killed_caller caller = { .report = report };
	int err;

	init_completion(&caller.done);
	err = run_killed(&caller);
	if (caller.cq)
		ib_free_cq(caller.cq);
	return err;
}

/**
 * kverbs_context_no_options() - the case of a caller that passes no options, which the kernel log reports
 * @report: report
 * @settings: unused
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_context_no_options(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct ib_cq *cq = ib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, IB_POLL_SOFTIRQ);
	int err;

	if (IS_ERR(cq))
		return kverbs_fail(report, "ib_alloc_cq(): error %ld", PTR_ERR(cq));
	err = expect_refusal(report, "no options", cxib_alloc_cq(kverbs_device(0), NULL, ENTRIES, 0, NULL),
			     -EINVAL) ?:
	      expect_change(report, "no options", cq, NULL, -EINVAL);
	ib_free_cq(cq);
	return err;
}

/**
 * kverbs_context_input() - the case of invalid arguments
 * @report: report
 * @settings: unused
 *
 * Return: 0, or an error after kverbs_fail().
 */
int kverbs_context_input(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return alloc_with_invalid_options(report) ?: alloc_as_device(report) ?: alloc_with_invalid_size(report) ?:
	       change_with_invalid_options(report, IB_POLL_DIRECT) ?:
	       change_with_invalid_options(report, IB_POLL_SOFTIRQ) ?:
	       change_with_invalid_options(report, IB_POLL_WORKQUEUE) ?:
	       change_with_invalid_options(report, IB_POLL_UNBOUND_WORKQUEUE) ?:
	       change_other_cqs(report) ?: use_device_of_another_driver(report) ?:
	       choose_vectors(report);
}
