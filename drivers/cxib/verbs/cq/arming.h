/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The arming state of a CQ: ib_req_notify_cq() sets it, the event takes it.
 *
 * The caller sets the arming, then rings the doorbell. The event takes the arming before it is
 * delivered. An event that finds no arming was not requested or is late, and is dropped.
 *
 * A CQ of ib_alloc_cq() has at most one poller at any time, the one that has taken the arming last.
 * If this poller arms the CQ and then finds a CQE, it takes its arming back and continues to poll.
 * Otherwise the event takes the arming, and may start another poller.
 */
#ifndef CXIB_VERBS_CQ_ARMING_H
#define CXIB_VERBS_CQ_ARMING_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

/**
 * struct cxib_arming - armings of a CQ and their events
 * @count: number of armings whose event has not been delivered
 * @arm_sn: twice the arm_sn of the next arming, plus 1 if an arming has already named this arm_sn
 * @num_events: number of completion events; written only in the interrupt of the CQ's EQ
 * @num_late: number of events that found no arming; written like @num_events
 */
struct cxib_arming {
	atomic_t count;
	atomic_t arm_sn;
	u32 num_events;
	u32 num_late;
};

/**
 * cxib_arming_set() - set the arming, before cxib_arming_sn() and the doorbell
 * @arming: arming of a CQ of ib_alloc_cq(), which only its poller arms: a second one adds nothing
 *
 * The device ignores an arming with the arm_sn of its last event. The exchange is a full barrier
 * that pairs with the barrier in cxib_arming_count_event(): either the caller reads the arm_sn that
 * follows the last event, or the last event finds this arming.
 */
static inline void cxib_arming_set(struct cxib_arming *arming)
{
	atomic_xchg(&arming->count, 1);
}

/**
 * cxib_arming_add() - add an arming, before cxib_arming_sn() and the doorbell
 * @arming: arming of a CQ whose ULP has its own comp_handler
 *
 * Several threads of such a ULP may arm an armed CQ again, and wait after each arming. The device
 * may raise an event for each arming, and each event is delivered.
 *
 * A full barrier like cxib_arming_set() if it adds an arming. With INT_MAX armings it adds none,
 * because an event that takes one of these armings is delivered after this call has begun.
 */
static inline void cxib_arming_add(struct cxib_arming *arming)
{
	atomic_add_unless(&arming->count, 1, INT_MAX);
}

/**
 * cxib_arming_sn() - returns the arm_sn of an arming
 * @arming: arming of the CQ, which is locked
 *
 * Return: the number; the device compares its last two bits.
 */
static inline u32 cxib_arming_sn(struct cxib_arming *arming)
{
	u32 arm_sn = atomic_read(&arming->arm_sn);

	if (!(arm_sn & 1))
		atomic_inc(&arming->arm_sn);
	return arm_sn >> 1;
}

/**
 * cxib_arming_count_event() - count an event, before its arming is taken
 * @arming: arming of the CQ
 *
 * If a device repeats the event of an arming, only the first event advances the arm_sn. Four
 * advances would bring the two bits back to those of the last event, and the device ignores an
 * arming with that number.
 *
 * An event finds either that an arming has named the arm_sn, or that another event has advanced it
 * since. In both cases the next arming names another number.
 */
static inline void cxib_arming_count_event(struct cxib_arming *arming)
{
	WRITE_ONCE(arming->num_events, arming->num_events + 1);
	if (!(atomic_read(&arming->arm_sn) & 1))
		return;
	atomic_inc(&arming->arm_sn);
	/*
	 * Pairs with cxib_arming_set() and cxib_arming_add(). Needed because
	 * cxib_arming_take_one() is no barrier when it fails.
	 */
	smp_mb__after_atomic();
}

/**
 * cxib_arming_take() - take all armings, for an event that is delivered once for all armings
 * @arming: arming of the CQ
 *
 * A full barrier: the caller sees all writes that precede cxib_arming_set().
 *
 * Return: true if there was an arming; then the caller must deliver the event, or poll.
 */
static inline bool cxib_arming_take(struct cxib_arming *arming)
{
	return atomic_xchg(&arming->count, 0);
}

/**
 * cxib_arming_is_set() - is there an arming that an event may take
 * @arming: of the CQ
 *
 * Return: false while a CQ of ib_alloc_cq() is polled.
 */
static inline bool cxib_arming_is_set(const struct cxib_arming *arming)
{
	return atomic_read(&arming->count);
}

/**
 * cxib_arming_take_one() - take one of the armings
 * @arming: arming of a CQ whose ULP has its own comp_handler
 *
 * A full barrier on success: the caller sees all writes that precede cxib_arming_add().
 *
 * Return: true if there was an arming; then the caller must deliver the event.
 */
static inline bool cxib_arming_take_one(struct cxib_arming *arming)
{
	return atomic_dec_if_positive(&arming->count) >= 0;
}

#endif
