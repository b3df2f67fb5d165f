/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The life of a CQ that runners poll: who has it, and how its turns end.
 *
 *	ARMED	until an event takes the arming; also while comp_handler polls
 *	  |  an event has taken the arming
 *	QUEUED	linked in the list of a runner
 *	  |  the runner has unlinked it
 *	RUNNING	the runner polls
 *	  |- the quantum is used up: back to QUEUED; ARMED as after an event, if another runner is
 *	  |  to poll
 *	  `- the CQ is empty: ARMED again before it is armed, because the event may come before the
 *	     arming returns
 *	GONE	cxib_poll_free(): from any other phase; the last one
 *
 * The lock of the vector is held around all changes but the one before the arming, so that a CQ is
 * QUEUED exactly while it is linked. The event takes a reference when it links a CQ, which is
 * dropped when neither the list nor a runner refers to the CQ.
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
 * enum cxib_poll_end - how a turn has ended
 * @CXIB_POLL_END_QUANTUM: the quantum is used up
 * @CXIB_POLL_END_MISSED: a completion came while the CQ was armed, and the arming was taken back
 * @CXIB_POLL_END_ARMED: the event owns the CQ: only the reference may be touched
 * @CXIB_POLL_END_GONE: the CQ is being freed, which waits for the reference
 */
enum cxib_poll_end {
	CXIB_POLL_END_QUANTUM,
	CXIB_POLL_END_MISSED,
	CXIB_POLL_END_ARMED,
	CXIB_POLL_END_GONE,
};

/* Whether the next event may queue the CQ. Its arming may have been taken for the RDMA core. */
static inline bool cxib_poll_is_armed(const atomic_t *phase)
{
	return atomic_read(phase) == CXIB_POLL_ARMED;
}

/*
 * A full barrier if it succeeds. It fails if the CQ is GONE, or if the event comes for a CQ that a
 * ULP has armed while a runner had it: that runner polls it in any case.
 */
static inline bool cxib_poll_change(atomic_t *phase, enum cxib_poll_phase from,
				    enum cxib_poll_phase to)
{
	int expected = from;

	return atomic_try_cmpxchg(phase, &expected, to);
}

/*
 * Ends a turn. Returns true if the CQ has completions left and is in @next now: QUEUED, to be
 * linked with the reference of the turn; or ARMED, to be handed over like an event whose arming was
 * taken. False: the event or who frees the CQ has it, and the turn only drops its reference.
 */
static inline bool cxib_poll_leave(atomic_t *phase, enum cxib_poll_end end,
				   enum cxib_poll_phase next)
{
	switch (end) {
	case CXIB_POLL_END_QUANTUM:
		return cxib_poll_change(phase, CXIB_POLL_RUNNING, next);
	case CXIB_POLL_END_MISSED:
		return cxib_poll_change(phase, CXIB_POLL_ARMED, next);
	default:
		return false;
	}
}

/*
 * Ends the turns of a CQ that has no events any more. Returns true if it was linked: the caller
 * unlinks it and drops the reference. A turn may still be running, until it drops its own.
 */
static inline bool cxib_poll_free(atomic_t *phase)
{
	return atomic_xchg(phase, CXIB_POLL_GONE) == CXIB_POLL_QUEUED;
}

#endif
