/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Polling contexts: what polls a CQ of the kernel after an event.
 *
 * A runner is an entity that polls CQs: the softirq or the thread of a completion vector, the
 * thread or the work item of one CQ. An event queues its CQ with a runner, which owns the CQ until
 * it arms it again (poll_state.h), and shares its time fairly between its CQs (poll_list.h).
 */
#ifndef CXIB_ULP_POLL_H
#define CXIB_ULP_POLL_H

#include <linux/irq_poll.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

#include "ulp/poll_list.h"
#include "ulp/poll_policy.h"
#include "ulp/poll_state.h"
#include "verbs/cq/cq.h"

struct cxib_cq_options;
struct cxib_poll_contexts;
struct cxib_poll_vector;
struct task_struct;

/**
 * struct cxib_poll_runner - polls CQs, one at a time
 * @vector: completion vector of its CQs
 * @target: what it is; changes between the two kinds of work items
 * @list: CQs to poll; protected by the lock of the vector
 * @is_active: the entity has been kicked and has not become idle since; likewise
 */
struct cxib_poll_runner {
	struct cxib_poll_vector *vector;
	enum cxib_poll_target target;
	struct cxib_poll_list list;
	bool is_active;
};

/**
 * struct cxib_poll_thread - the thread of a completion vector or of a CQ
 * @runner: the CQs that it polls
 * @task: the thread; NULL: not created. Changes with the policy lock held, while no CQ is queued
 *	with @runner or can be.
 */
struct cxib_poll_thread {
	struct cxib_poll_runner runner;
	struct task_struct *task;
};

/**
 * struct cxib_poll_work - the work item of a CQ
 * @runner: the CQ that it polls
 * @work: runs one turn
 * @workqueue: where @work is queued next; changes with the lock of the vector held
 */
struct cxib_poll_work {
	struct cxib_poll_runner runner;
	struct work_struct work;
	struct workqueue_struct *workqueue;
};

/**
 * struct cxib_poll_vector - a completion vector
 * @lock: protects the runners of its CQs, which of them a CQ is queued with, and where its next
 *	event goes; taken in interrupts
 * @softirq: its softirq
 * @iop: polls the CQs of @softirq
 * @thread: its thread
 * @num_cqs: number of CQs with events; protected by the policy lock
 */
struct cxib_poll_vector {
	spinlock_t lock; /* runners, where CQs are queued */
	struct cxib_poll_runner softirq;
	struct irq_poll iop;
	struct cxib_poll_thread thread;
	unsigned int num_cqs;
};

/**
 * struct cxib_poll_statistics - what a CQ has seen of its runners
 * @turns: number of turns
 * @completed: number of completions
 * @quantum_ends: number of turns that ended with completions left
 * @missed: number of times that the CQ had completions when it was armed
 * @wait_us_max: longest time between queueing and turn, in microseconds
 */
struct cxib_poll_statistics {
	u64 turns;
	u64 completed;
	u64 quantum_ends;
	u64 missed;
	u32 wait_us_max;
};

/**
 * struct cxib_poll_cq - scheduling of a kernel CQ that a runner polls or has polled
 * @cq: the CQ
 * @vector: its completion vector
 * @is_explicit: the ULP has chosen the context; else the settings of the HCA apply. Protected by
 *	the policy lock.
 * @next_runner: runner that has the CQ from the end of its turn or the next event on; NULL: the
 *	RDMA core. Protected by the lock of the vector. Written with the policy lock held, too.
 * @runner: runner that the CQ was last queued with; NULL: the RDMA core has polled it since then.
 *	Protected by the lock of the vector.
 * @reference: held while a runner owns the CQ
 * @phase: enum cxib_poll_phase, who has the CQ; changed by the functions of poll_state.h
 * @weight: weight at the next turn
 * @entry: place in the list of the runner that owns the CQ
 * @busy_poll_ns: how long an empty CQ is polled before it is armed; 0: not at all
 * @batch_start: local_clock() at the start of the batch
 * @batch_ran: processor time of the task at its last switch before the batch
 * @batch_switches: number of its switches before the batch
 * @linger_until: local_clock() at which polling of the empty CQ ends; 0: it is not empty
 * @completed: number of completions since the CQ was armed
 * @queued_at: local_clock() when the CQ was queued
 * @statistics: written by the owner of the CQ, read at any time
 * @batch: odd while done() handlers may be running; written by the owner of the CQ
 * @done_task: task in which done() handlers run; NULL: none. A softirq runs in any task.
 * @thread: its own thread
 * @work: its work item
 */
struct cxib_poll_cq {
	struct cxib_cq *cq;
	struct cxib_poll_vector *vector;
	bool is_explicit;
	struct cxib_poll_runner *next_runner;
	struct cxib_poll_runner *runner;
	struct cxib_reference reference;
	atomic_t phase;
	u32 weight;
	struct cxib_poll_entry entry;
	u64 busy_poll_ns;
	u64 batch_start;
	u64 batch_ran;
	unsigned long batch_switches;
	u64 linger_until;
	unsigned int completed;
	u64 queued_at;
	struct cxib_poll_statistics statistics;
	u32 batch;
	struct task_struct *done_task;
	struct cxib_poll_thread thread;
	struct cxib_poll_work work;
};

/* Own threads of a device: 8 MiB of stacks. A CQ that gets none is polled by the RDMA core. */
#define CXIB_POLL_THREADS_MAX	512

/**
 * struct cxib_poll_device - the polling contexts of an RDMA device
 * @ibdev: RDMA device
 * @policy: settings of the HCA; its lock protects the members below
 * @cqs: struct cxib_cq with events and done() handlers, by poll_node
 * @bound: runs work items on the CPU of the interrupt; NULL: not needed so far
 * @unbound: runs work items on any CPU; NULL: not needed so far
 * @num_threads: number of own threads
 * @stop_threads: stops own threads that are not needed any more
 * @debugfs: file "completion_queues"
 * @num_vectors: number of @vectors
 * @vectors: by completion vector
 */
struct cxib_poll_device {
	struct cxib_ibdev *ibdev;
	struct cxib_poll_policy *policy;
	struct list_head cqs;
	struct workqueue_struct *bound;
	struct workqueue_struct *unbound;
	unsigned int num_threads;
	struct delayed_work stop_threads;
	struct dentry *debugfs;
	unsigned int num_vectors;
	struct cxib_poll_vector vectors[] __counted_by(num_vectors);
};

static inline struct cxib_poll_device *polling_of(const struct cxib_cq *cq)
{
	return to_ibdev(cq->ib.device)->poll_device;
}

/* Whether the CQ has events, and done() handlers that a runner can call. */
static inline bool cxib_poll_is_possible(const struct cxib_cq *cq)
{
	return !list_empty(&cq->poll_node);
}

/* Whether the ULP has chosen the context. The caller of these functions holds the policy lock. */
static inline bool cxib_poll_is_explicit(const struct cxib_cq *cq)
{
	return cq->poll && cq->poll->is_explicit;
}

/* What the settings want to poll a CQ whose ULP has not chosen a context. */
static inline enum cxib_poll_target
cxib_poll_settings_target(const struct cxib_cq *cq, const struct cxib_poll_settings *settings)
{
	return cq->ib.poll_ctx == IB_POLL_SOFTIRQ ? settings->softirq : settings->process;
}

/* poll_runner.c */
void cxib_poll_runner_init(struct cxib_poll_runner *runner, struct cxib_poll_vector *vector,
			   enum cxib_poll_target target, u32 quantum_us);
bool cxib_poll_runner_queue(struct cxib_cq *cq);
void cxib_poll_runner_remove(struct cxib_poll_cq *poll);
void cxib_poll_runner_synchronize(struct cxib_cq *cq);
bool cxib_poll_runner_turn(struct cxib_poll_runner *runner);

/* poll_entity.c */
void cxib_poll_vector_init(struct cxib_poll_vector *vector, u32 quantum_us);
void cxib_poll_vector_stop(struct cxib_poll_vector *vector);
int cxib_poll_thread_create(struct cxib_poll_thread *thread, const struct cxib_ibdev *ibdev,
			    const char *kind, u32 number);
void cxib_poll_thread_set_slice(struct cxib_poll_cq *poll);
void cxib_poll_thread_stop(struct cxib_poll_thread *thread);
void cxib_poll_work_init(struct cxib_poll_work *work, struct cxib_poll_vector *vector,
			 u32 quantum_us);
struct workqueue_struct *cxib_poll_workqueue(struct cxib_poll_device *polling, bool is_unbound);

/* poll_context.c */
extern const struct cxib_poll_contexts cxib_poll_functions;

/* poll_device.c */
int cxib_poll_device_set_options(struct cxib_cq *cq, const struct cxib_cq_options *options);
unsigned int cxib_poll_device_choose_vector(struct cxib_poll_device *polling);

/* poll_statistics.c */
int cxib_poll_fill_res_cq(struct sk_buff *message, struct cxib_cq *cq);
struct dentry *cxib_poll_debugfs(struct cxib_poll_device *polling);

#endif
