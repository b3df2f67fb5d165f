/* SPDX-License-Identifier: GPL-2.0-or-later */
/*
 * A small target that posts its response together with the data. The second end is the target: it
 * writes blocks with protection information in its memory to the first end, the client, which
 * sees plain data, and then sends its response.
 */
#ifndef CXIB_ULP_PIPELINED_TARGET_H
#define CXIB_ULP_PIPELINED_TARGET_H

#include <cxib/signature_pipelining.h>
#include <linux/mutex.h>
#include <linux/prandom.h>

#include "single.h"

#define KVERBS_TARGET_DEPTH	8
#define KVERBS_TARGET_MRS	3
#define KVERBS_TARGET_DATA	1024 /* bytes of an MR, two blocks */
#define KVERBS_TARGET_ARRIVED	64 /* more than there are WRs with a completion, and a power of two */

/**
 * struct kverbs_command - a command
 * @number: of the command
 * @cqe: of the response that follows the data
 * @error_cqe: of the response after an error
 * @busy: between start and both ends
 * @posted: the first response was posted and has not completed
 * @error_posted: the second one
 * @answered: the client has received a response
 * @mrs: MRs
 * @registered: they are
 * @bad: block of the MR that is wrong; -1: none
 * @data: what the client has to see, unless a block is wrong
 * @guard: right guard of the wrong block, and the one in memory
 */
struct kverbs_command {
	u32 number;
	struct ib_cqe cqe;
	struct ib_cqe error_cqe;
	bool busy;
	bool posted;
	bool error_posted;
	bool answered;
	struct ib_mr *mrs[KVERBS_TARGET_MRS];
	bool registered[KVERBS_TARGET_MRS];
	int bad[KVERBS_TARGET_MRS];
	u8 data[KVERBS_TARGET_MRS][KVERBS_TARGET_DATA];
	u16 guard[KVERBS_TARGET_MRS][2];
};

/**
 * struct kverbs_target_spec - what a target is like
 * @manual: the policy
 * @depth: commands at a time
 * @num_mrs: MRs of a command
 * @bad_chance: percentage of MRs with a wrong block
 * @bad_every: instead of @bad_chance: so many commands are one with a wrong block; 0: none
 * @bad_mrs: instead of @bad_chance: these MRs of each command have a wrong block; 0: none
 * @reads: RDMA READs between the commands
 * @may_die: the connection ends now and then, by the target or by the device, and a new one begins
 * @unsignaled: the response that follows the data does not complete
 * @invalidates: responses invalidate the key of the client's exposed area
 * @core_polls: the RDMA core polls the CQs, when it drains the QP
 * @pooled: the RDMA core polls the target's CQs, which are of its pool
 * @more_wrs: room for so many send WRs of the case
 * @seed: of the random numbers
 */
struct kverbs_target_spec {
	bool manual;
	u32 depth;
	u32 num_mrs;
	u32 bad_chance;
	u32 bad_every;
	u32 bad_mrs;
	bool reads;
	bool may_die;
	bool unsignaled;
	bool invalidates;
	bool core_polls;
	bool pooled;
	u32 more_wrs;
	u64 seed;
};

/**
 * struct kverbs_target - the target and its client
 * @spec: what it is like
 * @pair: two ends
 * @table: functions of the target's device
 * @dead: the connection has ended
 * @slots: commands
 * @read_cqe: of these READs
 * @reads_posted: those that have not completed
 * @random: random numbers
 * @started: number of commands
 * @good: number of good responses
 * @cancelled: number of responses that completed as cancelled
 * @stops: number of stops, by the manual policy
 * @failed: number of MRs fetched at them
 * @cancelling: held from the look for an MR that has failed until its response is cancelled
 * @lock: of the completions that the RDMA core has polled
 * @arrived: these completions
 * @num_arrived: how many there were
 * @num_taken: how many of them were handled
 */
struct kverbs_target {
	struct kverbs_target_spec spec;
	struct kverbs_pair *pair;
	const struct cxib_signature_pipelining *table;
	bool dead;
	struct kverbs_command slots[KVERBS_TARGET_DEPTH];
	struct ib_cqe read_cqe;
	u32 reads_posted;
	struct rnd_state random;
	u32 started;
	u32 good;
	u32 cancelled;
	u32 stops;
	u32 failed;
	struct mutex cancelling;
	spinlock_t lock;
	struct ib_wc arrived[KVERBS_TARGET_ARRIVED];
	u32 num_arrived;
	u32 num_taken;
};

static inline struct kverbs_end *target_end(struct kverbs_target *target)
{
	return &target->pair->ends[1];
}

static inline struct kverbs_end *client_end(struct kverbs_target *target)
{
	return &target->pair->ends[0];
}

/* pipelined_target.c */
int kverbs_target_run(struct kverbs_report *report, const struct kverbs_target_spec *spec,
		      int (*test)(struct kverbs_target *target));
int kverbs_target_start(struct kverbs_target *target, struct kverbs_command *slot);
int kverbs_target_commands(struct kverbs_target *target, u32 count);
int kverbs_target_cancel_failed(struct kverbs_target *target);
int kverbs_target_find_bad(struct kverbs_target *target, struct kverbs_command *slot);
int kverbs_target_answer_error(struct kverbs_target *target, struct kverbs_command *slot);

#endif
