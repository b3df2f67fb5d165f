/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Order in which the CQs of one completion vector are polled: deficit round robin in nanoseconds.
 *
 * A turn ends when the CQ has used its quantum of time or is empty. Completions are not counted
 * against each other, because done() of one ULP may cost a hundred times that of another.
 *
 * A round is one pass through the CQs that were waiting when it began; no CQ has more than one turn
 * in it. CQs that wait with more completions than fit a turn are in @old, in order. A CQ that was
 * empty and is not in debt is in @fresh, which is served first: an idle CQ does not wait for a
 * whole round.
 *
 * Bounds, for n CQs with turns of at most Q (quantum × weight) and a batch that overruns its turn
 * by at most D:
 *
 * - A fresh CQ waits at most Q + D for the turn that is running, and Q + D for each CQ in @fresh
 *   before it.
 * - Between two turns of a CQ that stays full pass at most (n - 1)(Q + D) if the others stay full,
 *   too. One that empties in between may come back as fresh once, and counts twice.
 * - A CQ that has overrun its turns by more than Q is in debt: it skips as many turns as cover the
 *   debt, which never exceeds CXIB_POLL_MAX_DEBT_NS.
 *
 * D is one done() as long as the cost of done() does not rise within a batch, at most
 * CXIB_POLL_MAX_BATCH of them otherwise.
 *
 * Nothing here locks or reads a clock: the caller holds one lock around all calls with the same
 * list, and passes times. Only the CQ that is having its turn may be charged without it.
 */
#ifndef CXIB_ULP_POLL_LIST_H
#define CXIB_ULP_POLL_LIST_H

#include <linux/list.h>
#include <linux/time64.h>
#include <linux/types.h>

/* Completions between two looks at the clock, at most: IB_POLL_BATCH of the RDMA core. */
#define CXIB_POLL_MAX_BATCH	16
/*
 * No completion is cheaper: taking a CQE and calling done() is more than a hundred instructions.
 * A turn therefore ends even if the clock does not advance.
 */
#define CXIB_POLL_MIN_COST_NS	16
/*
 * Maximum debt of a CQ. A done() of this length is reported by the kernel as hogging the processor
 * (workqueue.cpu_intensive_thresh_us), so whatever seems longer is more likely a clock that jumped
 * or a guest that was stopped; the CQ that happened to be polled must not pay for that.
 */
#define CXIB_POLL_MAX_DEBT_NS	(10 * NSEC_PER_MSEC)

/**
 * struct cxib_poll_list - the CQs of one vector that have completions
 * @fresh: CQs that were empty before; each is served once a round, before those in @old
 * @old: CQs that wait for their turn in this round, then those that wait for the next one
 * @quantum_ns: time that a CQ of weight 1 gets in a round; not 0. May be changed between two calls,
 *	and applies from the next turn on
 * @round: number of the round
 */
struct cxib_poll_list {
	struct list_head fresh;
	struct list_head old;
	u32 quantum_ns;
	unsigned long round;
};

/**
 * struct cxib_poll_entry - one CQ
 * @node: entry in one of the lists; empty while the CQ has its turn or nothing to poll
 * @weight: quanta in a round; not 0. May be changed between two calls
 * @cost_ns: what a completion costs, 0 if not known: follows a rise at once and a fall slowly
 * @deficit_ns: time left of the turn; negative: time that the next turns have to pay for
 * @round: round of the last turn; of the next one while the CQ is in @old
 */
struct cxib_poll_entry {
	struct list_head node;
	u32 weight;
	u32 cost_ns;
	s64 deficit_ns;
	unsigned long round;
};

void cxib_poll_list_init(struct cxib_poll_list *list, u32 quantum_ns);
void cxib_poll_list_add(struct cxib_poll_list *list, struct cxib_poll_entry *entry);
bool cxib_poll_list_idle(struct cxib_poll_list *list);
struct cxib_poll_entry *cxib_poll_list_next(struct cxib_poll_list *list);
bool cxib_poll_list_repay(struct cxib_poll_list *list);
void cxib_poll_list_requeue(struct cxib_poll_list *list, struct cxib_poll_entry *entry);

void cxib_poll_entry_init(struct cxib_poll_entry *entry, u32 weight);
unsigned int cxib_poll_entry_batch(const struct cxib_poll_entry *entry);
bool cxib_poll_entry_charge(struct cxib_poll_entry *entry, unsigned int completions, s64 ns);

#endif
