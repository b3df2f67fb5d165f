/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of one CQ in a scheduler of CQs: which turns it gets, and how they end.
 *
 *	ARMED	until an event takes the arming; also while comp_handler polls
 *	  |  cxib_poll_event(): the arming was taken
 *	QUEUED	linked in a list of the scheduler
 *	  |  cxib_poll_begin(): a runner has unlinked it
 *	RUNNING	a runner polls in cxib_poll_turn()
 *	  |- cxib_poll_requeue(): the quantum is used up; back to QUEUED
 *	  |- cxib_poll_release(): the same, but another runner is to poll; ARMED as after an event
 *	  `- the CQ is empty: ARMED again before it is armed, because the event may come
 *	     before the arming returns
 *	GONE	cxib_poll_free(): from any other phase; the last one
 *
 * The scheduler holds the lock of its list around all functions but cxib_poll_turn(), so
 * that a CQ is QUEUED exactly while it is linked. It takes a reference when it links a CQ,
 * and drops it when neither the list nor a runner refers to the CQ. This file has no clock,
 * no list and no lock: the operations in struct cxib_poll_ops use those of the scheduler.
 */
#ifndef CXIB_ULP_POLL_STATE_H
#define CXIB_ULP_POLL_STATE_H

#include <linux/atomic.h>
#include <linux/types.h>

enum cxib_poll_phase {
	CXIB_POLL_ARMED,
	CXIB_POLL_QUEUED,
	CXIB_POLL_RUNNING,
	CXIB_POLL_GONE,
};

/**
 * struct cxib_poll_state - a CQ in a scheduler
 * @phase: enum cxib_poll_phase; written by this file only
 */
struct cxib_poll_state {
	atomic_t phase;
};

/**
 * enum cxib_poll_end - how a turn has ended
 * @CXIB_POLL_END_QUANTUM: the quantum is used up; to be queued again
 * @CXIB_POLL_END_MISSED: a completion came while the CQ was armed; to be queued again
 * @CXIB_POLL_END_ARMED: the event owns the CQ: only the reference may be touched
 * @CXIB_POLL_END_GONE: the CQ is being freed, which waits for the reference
 */
enum cxib_poll_end {
	CXIB_POLL_END_QUANTUM,
	CXIB_POLL_END_MISSED,
	CXIB_POLL_END_ARMED,
	CXIB_POLL_END_GONE,
};

/**
 * struct cxib_poll_ops - what a turn needs of the scheduler; constant, so that the calls are direct
 * @batch: returns how many completions to poll at once, at least 1
 * @poll: polls at most @budget completions and calls their done(); returns their number,
 *	less than @budget if the CQ was empty
 * @charge: called after each @poll with its result, unless that is 0: a look at an empty CQ is
 *	free. Returns true if the quantum is used up.
 * @linger: called when the CQ is empty; returns true to poll again before arming
 * @arm: arms the CQ. Returns a positive value if there are completions and the arming was
 *	taken back, 0 if the event owns the CQ.
 */
struct cxib_poll_ops {
	unsigned int (*batch)(struct cxib_poll_state *state);
	int (*poll)(struct cxib_poll_state *state, int budget);
	bool (*charge)(struct cxib_poll_state *state, int completions);
	bool (*linger)(struct cxib_poll_state *state);
	int (*arm)(struct cxib_poll_state *state);
};

/* Whether the next event may queue the CQ. Its arming may have been taken for the RDMA core. */
static inline bool cxib_poll_is_armed(const struct cxib_poll_state *state)
{
	return atomic_read(&state->phase) == CXIB_POLL_ARMED;
}

/*
 * A full barrier if it succeeds. It fails if the CQ is GONE, or if the event comes for a CQ that a
 * ULP has armed while a runner had it: that runner polls it in any case.
 */
static inline bool cxib_poll_change(struct cxib_poll_state *state, enum cxib_poll_phase from,
				    enum cxib_poll_phase to)
{
	int expected = from;

	return atomic_try_cmpxchg(&state->phase, &expected, to);
}

/**
 * cxib_poll_init() - initialise a CQ that is not polled yet
 * @state: of the CQ
 */
static inline void cxib_poll_init(struct cxib_poll_state *state)
{
	atomic_set(&state->phase, CXIB_POLL_ARMED);
}

/**
 * cxib_poll_event() - queue a CQ whose arming the event has taken
 * @state: of the CQ
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must link the CQ, with a reference; false if it is GONE, or
 * has an owner that polls it before arming.
 */
static inline bool cxib_poll_event(struct cxib_poll_state *state)
{
	return cxib_poll_change(state, CXIB_POLL_ARMED, CXIB_POLL_QUEUED);
}

/**
 * cxib_poll_begin() - begin the turn of a linked CQ
 * @state: of the CQ
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must unlink the CQ and call cxib_poll_turn(); it then has the
 * reference of the list. False if the CQ was not linked.
 */
static inline bool cxib_poll_begin(struct cxib_poll_state *state)
{
	return cxib_poll_change(state, CXIB_POLL_QUEUED, CXIB_POLL_RUNNING);
}

static __always_inline enum cxib_poll_end
cxib_poll_arm(struct cxib_poll_state *state, const struct cxib_poll_ops *ops)
{
	/*
	 * ARMED before the arming is set, since the event that takes the arming expects it.
	 * Both are full barriers, as is taking the arming.
	 */
	if (!cxib_poll_change(state, CXIB_POLL_RUNNING, CXIB_POLL_ARMED))
		return CXIB_POLL_END_GONE;
	return ops->arm(state) > 0 ? CXIB_POLL_END_MISSED : CXIB_POLL_END_ARMED;
}

/**
 * cxib_poll_turn() - poll a CQ until its quantum is used up or it is empty, then arm it
 * @state: of the CQ, after cxib_poll_begin()
 * @ops: operations
 *
 * An empty CQ may be polled for longer than its quantum: @linger looks after the others.
 *
 * Context: that of done(); the lock of the list is not held.
 * Return: how the turn has ended; the caller passes it to cxib_poll_requeue().
 */
static __always_inline enum cxib_poll_end
cxib_poll_turn(struct cxib_poll_state *state, const struct cxib_poll_ops *ops)
{
	bool is_empty, is_over;
	int budget, polled;

	do {
		budget = ops->batch(state);
		polled = ops->poll(state, budget);
		is_empty = polled < budget;
		is_over = polled && ops->charge(state, polled);
		if (is_over && !is_empty)
			return CXIB_POLL_END_QUANTUM;
	} while (!is_empty || ops->linger(state));
	return cxib_poll_arm(state, ops);
}

/**
 * cxib_poll_requeue() - queue a CQ again after its turn
 * @state: of the CQ; not touched if the event owns the CQ
 * @end: result of cxib_poll_turn()
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must link the CQ, which keeps the reference; false if the
 * caller must drop the reference.
 */
static inline bool cxib_poll_requeue(struct cxib_poll_state *state, enum cxib_poll_end end)
{
	switch (end) {
	case CXIB_POLL_END_QUANTUM:
		return cxib_poll_change(state, CXIB_POLL_RUNNING, CXIB_POLL_QUEUED);
	case CXIB_POLL_END_MISSED:
		/* The arming was taken, by the runner instead of the event. */
		return cxib_poll_event(state);
	default:
		return false;
	}
}

/**
 * cxib_poll_release() - give a CQ away after its turn
 * @state: of the CQ; not touched if the event owns the CQ
 * @end: result of cxib_poll_turn()
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must deliver the event whose arming was taken for the turn, and drop
 * the reference afterwards; false if it must drop the reference.
 */
static inline bool cxib_poll_release(struct cxib_poll_state *state, enum cxib_poll_end end)
{
	switch (end) {
	case CXIB_POLL_END_QUANTUM:
		return cxib_poll_change(state, CXIB_POLL_RUNNING, CXIB_POLL_ARMED);
	case CXIB_POLL_END_MISSED:
		return cxib_poll_is_armed(state);
	default:
		return false;
	}
}

/**
 * cxib_poll_free() - end the turns of a CQ
 * @state: of a CQ that has no events any more
 *
 * A turn may still be running, which the caller awaits by the reference.
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must unlink the CQ and drop the reference of the list.
 */
static inline bool cxib_poll_free(struct cxib_poll_state *state)
{
	return atomic_xchg(&state->phase, CXIB_POLL_GONE) == CXIB_POLL_QUEUED;
}

#endif
