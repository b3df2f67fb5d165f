// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Signature pipelining: other threads use the queue pair of a target whose blocks are wrong at times. Each
 * operation is legal for a ULP at any moment, and none may resume the queue pair before the response
 * of a wrong block is cancelled.
 */
#include <linux/delay.h>
#include <linux/kthread.h>

#include "pipelined_target.h"

/* Send WRs that another thread may have posted and that have not completed. */
#define OTHER_WRS	6
/* Looks for failed MRs without a pause. */
#define FETCHES	1000

/**
 * struct other_user - another thread
 * @target: target whose queue pair it uses
 * @act: what it does, again and again; returns an error that a ULP must not get
 * @random: random numbers
 * @invalidated: number of commands when it has posted last
 * @done: how often it has acted
 * @err: the first such error
 */
struct other_user {
	struct kverbs_target *target;
	int (*act)(struct other_user *user);
	struct rnd_state random;
	u32 invalidated;
	u32 done;
	int err;
};

static struct ib_qp *qp_of(const struct other_user *user)
{
	return target_end(user->target)->qp;
}

/* The queue pair may have died, or may be in any state of a new connection. */
static int expect_legal(const struct other_user *user, int err)
{
	return err == -EBUSY || user->target->spec.may_die ? 0 : err;
}

static int modify_running(struct other_user *user)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_RTS,
		.min_rnr_timer = 1,
		.qp_access_flags = user->target->pair->spec.access,
	};
	int mask = IB_QP_STATE | (user->done % 2 ? IB_QP_MIN_RNR_TIMER : IB_QP_ACCESS_FLAGS);

	return expect_legal(user, ib_modify_qp(qp_of(user), &attr, mask));
}

/* Until it is done: otherwise the queue pair would stand for ever. */
static int return_to_rts(struct other_user *user)
{
	struct kverbs_end *end = target_end(user->target);
	const unsigned long limit = jiffies + KVERBS_PATIENCE;
	int err;

	while ((err = kverbs_to_state(end, IB_QPS_RTS)) == -EBUSY) {
		if (time_after(jiffies, limit))
			return -ETIMEDOUT;
		usleep_range(20, 100);
	}
	return expect_legal(user, err);
}

static int drain_and_return(struct other_user *user)
{
	struct ib_qp_attr attr = {
		.qp_state = IB_QPS_SQD,
		/* The event of the manual policy is that of a stop. */
		.en_sqd_async_notify = !user->target->spec.manual && user->done % 2,
	};
	int mask = IB_QP_STATE | IB_QP_EN_SQD_ASYNC_NOTIFY;
	int err = expect_legal(user, ib_modify_qp(qp_of(user), &attr, mask));

	usleep_range(20, 1000);
	return err ?: return_to_rts(user);
}

static int query(struct other_user *user)
{
	struct ib_qp_init_attr init;
	struct ib_qp_attr attr;

	return expect_legal(user, ib_query_qp(qp_of(user), &attr, IB_QP_STATE, &init));
}

/* No WR has this wr_cqe. */
static int cancel_nothing(struct other_user *user)
{
	struct kverbs_target *target = user->target;
	struct ib_cqe none = {};
	int err = target->table->cancel(qp_of(user), &none);

	if (err == -ENOTCONN)
		return expect_legal(user, err);
	return err == (target->spec.manual ? -EBUSY : -EINVAL) || !err ? 0 : -EPROTO;
}

/* Of the automatic policy; with the manual one it would take the place of the ULP. */
static int resume_nothing(struct other_user *user)
{
	if (user->target->spec.manual)
		return 0;
	return user->target->table->resume(qp_of(user)) == -EINVAL ? 0 : -EPROTO;
}

/* Unsignaled WRs, which the completion of a later command retires before the next ones are posted. */
static int register_and_invalidate(struct other_user *user)
{
	struct kverbs_end *end = target_end(user->target);
	const u32 started = READ_ONCE(user->target->started);
	struct kverbs_single reg = {}, inv = {};
	int err;

	/* What a connection that has died leaves of a key is not known. */
	if (user->target->spec.may_die || started - user->invalidated <= user->target->spec.depth)
		return 0;
	user->invalidated = started;
	err = kverbs_map_key(end->local_key, end->dma + KVERBS_LOCAL, PAGE_SIZE);
	if (err)
		return err;
	reg.send.opcode = IB_WR_REG_MR;
	reg.reg.mr = end->local_key;
	reg.reg.key = end->local_key->rkey;
	reg.reg.access = IB_ACCESS_LOCAL_WRITE;
	reg.send.next = &inv.send;
	inv.send.opcode = IB_WR_LOCAL_INV;
	inv.send.ex.invalidate_rkey = end->local_key->rkey;
	err = ib_post_send(end->qp, &reg.send, NULL);
	/* In RESET, or while the responses that complete wait for RTS. */
	return err == -ENOMEM ? 0 : expect_legal(user, err);
}

/* Another MR of the PD of the queue pair. */
static int allocate_mr(struct other_user *user)
{
	struct ib_mr *mr = ib_alloc_mr_integrity(target_end(user->target)->pd, 1, 1);

	return IS_ERR(mr) ? PTR_ERR(mr) : ib_dereg_mr(mr);
}

/* Another queue pair of the CQs and the PD, whose destruction cleans the CQs. */
static int create_queue_pair(struct other_user *user)
{
	const struct kverbs_end *end = target_end(user->target);
	struct ib_qp_init_attr attr = {
		.send_cq = end->send_cq,
		.recv_cq = end->recv_cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.create_flags = IB_QP_CREATE_INTEGRITY_EN,
	};
	struct ib_qp *qp = ib_create_qp(end->pd, &attr);
	int err;

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	err = user->target->table->enable(qp, CXIB_SIGNATURE_AUTOMATIC);
	return ib_destroy_qp(qp) ?: err;
}

/* Each MR that has failed can be cancelled, whichever thread fetches it, and while the other one resumes the QP. */
static int cancel_failed_often(struct other_user *user)
{
	u32 i;
	int err = 0;

	for (i = 0; i < FETCHES && !err; i++) {
		err = kverbs_target_cancel_failed(user->target);
		cond_resched();
	}
	return err;
}

static int act_at_random(struct other_user *user)
{
	static int (*const acts[])(struct other_user *user) = {
		modify_running, drain_and_return, query, cancel_nothing, resume_nothing,
		register_and_invalidate, allocate_mr, create_queue_pair,
	};

	return acts[prandom_u32_state(&user->random) % ARRAY_SIZE(acts)](user);
}

static int use_queue_pair(void *data)
{
	struct other_user *user = data;

	while (!kthread_should_stop()) {
		int err = user->act(user);

		if (err && !user->err)
			user->err = err;
		user->done++;
		usleep_range(10, 1000);
	}
	return 0;
}

/* The commands of the target, with another thread that acts meanwhile. */
static int run_with_user(struct kverbs_target *target, u32 commands, int (*act)(struct other_user *user))
{
	struct other_user user = { .target = target, .act = act };
	struct task_struct *task;
	int err;

	prandom_seed_state(&user.random, target->spec.seed + 1);
	task = kthread_run(use_queue_pair, &user, "kverbs_user");
	if (IS_ERR(task))
		return PTR_ERR(task);
	err = kverbs_target_commands(target, commands);
	kthread_stop(task);
	if (err)
		return kverbs_fail(target->pair->report, "%u commands, %u cancelled, another thread has acted %u times, error %d",
				   target->started, target->cancelled, user.done, user.err);
	if (user.err)
		return kverbs_fail(target->pair->report, "the other thread gets error %d", user.err);
	return 0;
}

static int modify_beside(struct kverbs_target *target)
{
	return run_with_user(target, 100, modify_running);
}

static int drain_beside(struct kverbs_target *target)
{
	return run_with_user(target, 100, drain_and_return);
}

static int fetch_beside(struct kverbs_target *target)
{
	return run_with_user(target, 300, cancel_failed_often);
}

static int act_beside(struct kverbs_target *target)
{
	return run_with_user(target, 60, act_at_random);
}

static int run_beside(struct kverbs_report *report, const struct kverbs_settings *settings, bool manual,
		      int (*test)(struct kverbs_target *target))
{
	const struct kverbs_target_spec spec = {
		.manual = manual,
		.depth = 4,
		.num_mrs = 1,
		.bad_chance = 50,
		.more_wrs = OTHER_WRS,
		.seed = settings->seed,
	};

	return kverbs_target_run(report, &spec, test);
}

static int run_modify(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_beside(report, settings, false, modify_beside);
}

static int run_modify_manual(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_beside(report, settings, true, modify_beside);
}

static int run_fetch_manual(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_beside(report, settings, true, fetch_beside);
}

static int run_drain(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_beside(report, settings, false, drain_beside);
}

static int run_drain_manual(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	return run_beside(report, settings, true, drain_beside);
}

/* The seed chooses what the target is like, and what the other thread does. */
static int run_random(struct kverbs_report *report, const struct kverbs_settings *settings)
{
	struct kverbs_target_spec spec = { .more_wrs = OTHER_WRS };
	struct rnd_state random;

	prandom_seed_state(&random, settings->seed);
	spec.manual = prandom_u32_state(&random) % 2;
	spec.depth = 1 + prandom_u32_state(&random) % KVERBS_TARGET_DEPTH;
	spec.num_mrs = 1 + prandom_u32_state(&random) % KVERBS_TARGET_MRS;
	spec.bad_chance = prandom_u32_state(&random) % 60;
	spec.reads = prandom_u32_state(&random) % 2;
	spec.pooled = prandom_u32_state(&random) % 2;
	spec.may_die = prandom_u32_state(&random) % 2;
	spec.seed = prandom_u32_state(&random);
	if (!kverbs_target_run(report, &spec, act_beside))
		return 0;
	return kverbs_fail(report, "%s, depth %u, %u MRs, %u%% bad, reads %d, CQs of the pool %d, dies %d",
			   spec.manual ? "manual" : "automatic", spec.depth, spec.num_mrs, spec.bad_chance,
			   spec.reads, spec.pooled, spec.may_die);
}

const struct kverbs_case kverbs_pipelining_thread_cases[] = {
	{ "pipelining_modify_in_other_thread", run_modify },
	{ "pipelining_modify_in_other_thread_manual", run_modify_manual },
	{ "pipelining_cancel_in_other_thread_manual", run_fetch_manual },
	{ "pipelining_drain_in_other_thread", run_drain },
	{ "pipelining_drain_in_other_thread_manual", run_drain_manual },
	{ "pipelining_random_threads", run_random },
	{}
};
