/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The world of one CQ that runners poll: device, interrupt, RDMA core, scheduler and flush, and the
 * moves that each can make.
 *
 * A move is what one processor or the device does without another one seeing anything in
 * between: an atomic operation, a doorbell, an entry polled. The atomic operations are those of
 * verbs/cq/arming.h and ulp/poll_state.h themselves. The steps of a turn are those of
 * cxib_poll_runner_turn(), which poll_runner_kunit.c tests.
 */
#ifndef CXIB_KUNIT_POLL_WORLD_H
#define CXIB_KUNIT_POLL_WORLD_H

#include "ulp/poll_state.h"
#include "verbs/cq/arming.h"

#define NUM_RUNNERS	2
#define NUM_DOORBELLS	6

enum violation {
	NO_VIOLATION,
	TWO_OWNERS,
	MORE_EVENTS_THAN_ARMS,
	TOUCHED_WITHOUT_OWNING,
	TOUCHED_AFTER_FREE,
	NOT_GONE,
	LOST_COMPLETION,
	FREE_NEVER_ENDS,
	OUT_OF_BOUNDS,
};

enum handler { HANDLER_IDLE, HANDLER_FOUND, HANDLER_COUNTED, HANDLER_CLAIMED };
enum flush { FLUSH_IDLE, FLUSH_DUE, FLUSH_HOLDS_CQ, FLUSH_CLAIMED };
enum arming { ARM_SET, ARM_DOORBELL, ARM_LOOK, ARM_TAKE };
enum core { CORE_IDLE, CORE_QUEUED, CORE_POLLS, CORE_ARMS, CORE_LEAVES };

/* The steps of a turn, in their order. */
enum runner_step {
	RUNNER_IDLE, RUNNER_POLLS, RUNNER_CHARGES, RUNNER_LINGERS, RUNNER_LEAVES, RUNNER_ARMS,
	RUNNER_ENDS, RUNNER_HANDS_OVER,
};

/**
 * struct poller - the arming of a poller
 * @step: enum arming
 * @owns: it may touch the CQ
 */
struct poller {
	u8 step;
	bool owns;
};

/**
 * struct runner - a thread or softirq that has a turn
 * @arm: its arming
 * @step: enum runner_step
 * @end: enum cxib_poll_end, when the turn ends
 * @is_empty: the last batch has found the CQ empty
 */
struct runner {
	struct poller arm;
	u8 step;
	u8 end;
	bool is_empty;
};

/**
 * struct world - everything that a move may change
 * @arming: of the CQ
 * @phase: enum cxib_poll_phase of the CQ
 * @written: CQEs that the device has written
 * @consumed: CQEs that were polled
 * @is_dma_off: the device has stopped; the CQEs that it did not write are flushed
 * @has_pending_flush: the flush work is to run
 * @device_armed: the device raises an event for the next CQE
 * @device_ci: consumer index of the last arming that the device has read
 * @device_sn: arm_sn of that
 * @event_sn: arm_sn of the last event; SEQUENCE_MASK + 1: none
 * @num_doorbells: doorbells that the device has not read
 * @doorbell_sn: their arm_sn
 * @doorbell_ci: their consumer indices
 * @events: EQEs that the driver has not handled
 * @handler: enum handler
 * @flush: enum flush
 * @core: enum core
 * @core_again: comp_handler was called while the work ran
 * @core_arm: the arming of the RDMA core
 * @runners: runners of the scheduler
 * @is_linked: in the list of the scheduler
 * @references: that the scheduler holds
 * @is_fair: events are delivered to the scheduler, not to comp_handler
 * @flips: how often @is_fair may change
 * @repeats: how often the device repeats its next event
 * @lingers: how often an empty CQ may be polled again before it is armed
 * @outstanding: armings without an event, at most 3
 * @num_freed: steps of freeing that are done
 * @is_erased: events do not find the CQ
 * @is_dead: destroyed in the device
 * @is_stopped: not armed any more
 * @is_gone: ended in the scheduler
 * @is_freed: the memory is freed
 * @intruders: how often the ULP may arm the CQ
 * @intruder: its arming
 * @violation: enum violation
 */
struct world {
	struct cxib_arming arming;
	atomic_t phase;
	u8 written;
	u8 consumed;
	bool is_dma_off;
	bool has_pending_flush;
	bool device_armed;
	u8 device_ci;
	u8 device_sn;
	u8 event_sn;
	u8 num_doorbells;
	u8 doorbell_sn[NUM_DOORBELLS];
	u8 doorbell_ci[NUM_DOORBELLS];
	u8 events;
	u8 handler;
	u8 flush;
	u8 core;
	bool core_again;
	struct poller core_arm;
	struct runner runners[NUM_RUNNERS];
	bool is_linked;
	u8 references;
	bool is_fair;
	u8 flips;
	u8 repeats;
	u8 lingers;
	u8 outstanding;
	u8 num_freed;
	bool is_erased;
	bool is_dead;
	bool is_stopped;
	bool is_gone;
	bool is_freed;
	u8 intruders;
	struct poller intruder;
	u8 violation;
};

/**
 * struct model - what a search explores
 * @completions: number of CQEs
 * @flips: of struct world
 * @repeats: of struct world
 * @lingers: of struct world
 * @batch: entries polled at once
 * @num_runners: runners of the scheduler
 * @starts_fair: events go to the scheduler at first
 * @can_fail: the device may stop at any time
 * @intruders: of struct world
 * @free_steps: how the CQ is freed, at any time; NULL: it is not
 * @ignores_arming: each event is delivered: a variant that must be found wrong
 * @arms_first: a runner arms the CQ before this is ARMED: a variant that must be found wrong
 */
struct model {
	u8 completions;
	u8 flips;
	u8 repeats;
	u8 lingers;
	u8 batch;
	u8 num_runners;
	bool starts_fair;
	bool can_fail;
	u8 intruders;
	const char *free_steps;
	bool ignores_arming;
	bool arms_first;
};

/*
 * Freeing. s: is_stopped is set. e: erased from the table. d: DESTROY_CQ. y: the interrupt is
 * synchronized. r: the flush has dropped the CQ. p: the scheduler unlinks. w: it waits for the
 * references. c: the RDMA core cancels the work. f: the memory is freed.
 */
#define FREE_IN_ORDER		"sedyrpwcf"
/* The RDMA core without pre_destroy_cq, before the driver has stopped the events. */
#define FREE_CANCEL_FIRST	"csedyrpwf"

/* The moves; those from WRITE_CQE on need not come. */
enum move {
	HANDLE_EVENT, READ_DOORBELL, FLUSH, CORE, CORE_BUDGET, RUNNER_0, RUNNER_0_CHOICE, RUNNER_1,
	RUNNER_1_CHOICE, FREE, WRITE_CQE, STOP_DEVICE, FLIP, ARM_AS_ULP, NUM_MOVES
};

void poll_world_init(struct world *w, const struct model *explored);
bool poll_world_move(struct world *w, enum move move);
void poll_world_check(struct world *w);
void poll_world_check_end(struct world *w);

#endif
