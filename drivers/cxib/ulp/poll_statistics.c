// SPDX-License-Identifier: GPL-2.0-only
/* Polling contexts in debugfs and in 'rdma resource show cq -dd'. */
#include <linux/debugfs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <rdma/rdma_netlink.h>

#include "hw/hw.h"
#include "ulp/poll.h"

static const char *const target_names[] = {
	[CXIB_POLL_CORE] = "core",
	[CXIB_POLL_SOFTIRQ] = "softirq",
	[CXIB_POLL_THREAD] = "thread",
	[CXIB_POLL_OWN_THREAD] = "own thread",
	[CXIB_POLL_WORKQUEUE] = "workqueue",
	[CXIB_POLL_UNBOUND] = "unbound workqueue",
};

static const char *const phase_names[] = {
	[CXIB_POLL_ARMED] = "armed",
	[CXIB_POLL_QUEUED] = "queued",
	[CXIB_POLL_RUNNING] = "running",
	[CXIB_POLL_GONE] = "destroyed",
};

/* Stands for the state of a CQ that only the RDMA core has polled. */
static const struct cxib_poll_cq core_polled;

/* What polls the CQ now, or after the next event if nothing does. The policy lock is held. */
static const char *poll_stat_target_name(const struct cxib_cq *cq)
{
	const struct cxib_poll_cq *poll = cq->poll;
	const struct cxib_poll_runner *runner;

	if (!poll)
		return target_names[CXIB_POLL_CORE];
	scoped_guard(spinlock_irqsave, &poll->vector->lock) {
		runner = poll->next_runner;
		if (!cxib_poll_is_armed(&poll->phase))
			runner = poll->runner ?: runner;
		else if (!poll->runner && !cxib_arming_is_set(&cq->arming))
			runner = NULL;
	}
	return target_names[runner ? runner->target : CXIB_POLL_CORE];
}

/*
 * Adds the polling context of a CQ to its entry in the resource tracker, which still lists a CQ
 * that is being destroyed. Returns -EMSGSIZE if the message is full.
 */
int cxib_poll_fill_res_cq(struct sk_buff *message, struct cxib_cq *cq)
{
	const struct cxib_poll_statistics *statistics;

	guard(mutex)(&polling_of(cq)->policy->lock);
	if (!cxib_poll_is_possible(cq))
		return 0;
	statistics = &(cq->poll ?: &core_polled)->statistics;
	if (rdma_nl_put_driver_string(message, "context", poll_stat_target_name(cq)) ||
	    rdma_nl_put_driver_u64(message, "completed", READ_ONCE(statistics->completed)) ||
	    rdma_nl_put_driver_u64(message, "quantum_ends", READ_ONCE(statistics->quantum_ends)) ||
	    rdma_nl_put_driver_u32(message, "wait_us_max", READ_ONCE(statistics->wait_us_max)))
		return -EMSGSIZE;
	return 0;
}

static pid_t poll_stat_thread_pid(const struct cxib_poll_thread *thread)
{
	return thread->task ? task_pid_nr(thread->task) : 0;
}

static void poll_stat_show_vectors(struct seq_file *file, const struct cxib_poll_device *polling)
{
	const struct cxib_poll_vector *vector;
	unsigned int i;

	seq_puts(file, "vector cqs pid\n");
	for (i = 0; i < polling->num_vectors; i++) {
		vector = &polling->vectors[i];
		seq_printf(file, "%u %u %d\n", i, vector->num_cqs,
			   poll_stat_thread_pid(&vector->thread));
	}
}

/* Number of CQs for which the context of the settings could not be prepared. */
static unsigned int poll_stat_count_left(const struct cxib_poll_device *polling)
{
	const struct cxib_poll_settings *settings = &polling->policy->settings;
	unsigned int count = 0;
	const struct cxib_cq *cq;

	list_for_each_entry(cq, &polling->cqs, poll_node)
		count += !cxib_poll_is_explicit(cq) &&
			 !(cq->poll && cq->poll->next_runner) &&
			 cxib_poll_settings_target(cq, settings) != CXIB_POLL_CORE;
	return count;
}

static void poll_stat_show_cq(struct seq_file *file, const struct cxib_cq *cq)
{
	const struct cxib_poll_cq *poll = cq->poll ?: &core_polled;
	const struct cxib_poll_statistics *statistics = &poll->statistics;

	seq_printf(file, "0x%x %u \"%s\" %s %d %llu %llu %llu %llu %u %u\n", cq->cqn,
		   cq->ib.comp_vector, poll_stat_target_name(cq),
		   phase_names[atomic_read(&poll->phase)],
		   poll_stat_thread_pid(&poll->thread), READ_ONCE(statistics->turns),
		   READ_ONCE(statistics->completed), READ_ONCE(statistics->quantum_ends),
		   READ_ONCE(statistics->missed), READ_ONCE(cq->arming.num_late),
		   READ_ONCE(statistics->wait_us_max));
}

static int completion_queues_show(struct seq_file *file, void *unused)
{
	struct cxib_poll_device *polling = file->private;
	const struct cxib_cq *cq;

	guard(mutex)(&polling->policy->lock);
	seq_printf(file, "own threads: %u, CQs left to the core: %u, events of unknown CQs: %u\n",
		   polling->num_threads, poll_stat_count_left(polling),
		   atomic_read(&polling->ibdev->num_unknown_cq_events));
	poll_stat_show_vectors(file, polling);
	seq_puts(file,
		 "cqn vector context state pid turns completed quantum_ends missed late wait_us_max\n");
	list_for_each_entry(cq, &polling->cqs, poll_node)
		poll_stat_show_cq(file, cq);
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(completion_queues);

/* Creates the debugfs file "completion_queues", which is removed before @polling is freed. */
struct dentry *cxib_poll_debugfs(struct cxib_poll_device *polling)
{
	return debugfs_create_file("completion_queues", 0400, polling->ibdev->hw->debugfs, polling,
				   &completion_queues_fops);
}
