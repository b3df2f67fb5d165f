// SPDX-License-Identifier: GPL-2.0-only
/* The life of one CQ in a scheduler of CQs. */
#include <kunit/visibility.h>

#include "ulp/poll_state.h"

/*
 * A full barrier where it succeeds. It fails if the CQ is GONE, or if a ULP has armed it
 * while it is queued or polled, and the event has come: then it is polled anyway.
 */
static bool change(struct cxib_poll_state *state, enum cxib_poll_phase from,
		   enum cxib_poll_phase to)
{
	int expected = from;

	return atomic_try_cmpxchg(&state->phase, &expected, to);
}

/**
 * cxib_poll_init() - initialise a CQ that is not polled yet
 * @state: of the CQ
 */
void cxib_poll_init(struct cxib_poll_state *state)
{
	atomic_set(&state->phase, CXIB_POLL_ARMED);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_init);

/**
 * cxib_poll_event() - queue a CQ whose claim the event has taken
 * @state: of the CQ
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must link the CQ, with a reference; false if it is GONE, or
 * has an owner that polls it before arming.
 */
bool cxib_poll_event(struct cxib_poll_state *state)
{
	return change(state, CXIB_POLL_ARMED, CXIB_POLL_QUEUED);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_event);

/**
 * cxib_poll_begin() - begin the turn of a linked CQ
 * @state: of the CQ
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must unlink the CQ and call cxib_poll_turn(); it then has the
 * reference of the list. False if the CQ was not linked.
 */
bool cxib_poll_begin(struct cxib_poll_state *state)
{
	return change(state, CXIB_POLL_QUEUED, CXIB_POLL_RUNNING);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_begin);

static enum cxib_poll_end arm(struct cxib_poll_state *state, const struct cxib_poll_ops *ops)
{
	/*
	 * ARMED before the claim is set, since the event that takes the claim expects it.
	 * Both are full barriers, as is taking the claim.
	 */
	if (!change(state, CXIB_POLL_RUNNING, CXIB_POLL_ARMED))
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
enum cxib_poll_end cxib_poll_turn(struct cxib_poll_state *state, const struct cxib_poll_ops *ops)
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
	return arm(state, ops);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_turn);

/**
 * cxib_poll_requeue() - queue a CQ again after its turn
 * @state: of the CQ; not touched if the event owns the CQ
 * @end: result of cxib_poll_turn()
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must link the CQ, which keeps the reference; false if the
 * caller must drop the reference.
 */
bool cxib_poll_requeue(struct cxib_poll_state *state, enum cxib_poll_end end)
{
	switch (end) {
	case CXIB_POLL_END_QUANTUM:
		return change(state, CXIB_POLL_RUNNING, CXIB_POLL_QUEUED);
	case CXIB_POLL_END_MISSED:
		/* The claim was taken, by the runner instead of the event. */
		return cxib_poll_event(state);
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_requeue);

/**
 * cxib_poll_release() - give a CQ away after its turn
 * @state: of the CQ; not touched if the event owns the CQ
 * @end: result of cxib_poll_turn()
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must deliver the event whose claim was taken for the turn, and drop
 * the reference afterwards; false if it must drop the reference.
 */
bool cxib_poll_release(struct cxib_poll_state *state, enum cxib_poll_end end)
{
	switch (end) {
	case CXIB_POLL_END_QUANTUM:
		return change(state, CXIB_POLL_RUNNING, CXIB_POLL_ARMED);
	case CXIB_POLL_END_MISSED:
		return cxib_poll_is_armed(state);
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_release);

/**
 * cxib_poll_free() - end the turns of a CQ
 * @state: of a CQ that has no events any more
 *
 * A turn may still be running, which the caller awaits by the reference.
 *
 * Context: any; the lock of the list is held.
 * Return: true if the caller must unlink the CQ and drop the reference of the list.
 */
bool cxib_poll_free(struct cxib_poll_state *state)
{
	return atomic_xchg(&state->phase, CXIB_POLL_GONE) == CXIB_POLL_QUEUED;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_free);
