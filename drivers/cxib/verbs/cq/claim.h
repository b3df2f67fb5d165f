/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The claim on a CQ: set by arming, taken by the event.
 *
 * Arming sets a claim, then rings the doorbell. The event takes the claim before it is delivered.
 * An event that finds no claim was not requested or is late, and is dropped.
 *
 * A CQ of ib_alloc_cq() has at most one poller at any time, the one that has taken the claim last.
 * If this poller arms the CQ and then finds a CQE, it takes its claim back and continues to poll.
 * Otherwise the event takes the claim, and may start another poller.
 */
#ifndef CXIB_VERBS_CQ_CLAIM_H
#define CXIB_VERBS_CQ_CLAIM_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

/**
 * struct cxib_claim - armings of a CQ and their events
 * @count: number of armings whose event has not been delivered
 * @arm_sn: twice the arm_sn of the next arming, plus 1 if an arming has already named this arm_sn
 * @num_events: number of completion events; written only in the interrupt of the CQ's EQ
 * @num_late: number of events that found no claim; written like @num_events
 */
struct cxib_claim {
	atomic_t count;
	atomic_t arm_sn;
	u32 num_events;
	u32 num_late;
};

/**
 * cxib_claim_set() - set the claim, before cxib_claim_name() and the doorbell
 * @claim: claim of a CQ of ib_alloc_cq(), which only its poller arms: a second arming adds no claim
 *
 * The device ignores an arming with the arm_sn of its last event. The exchange is a full barrier
 * that pairs with the barrier in cxib_claim_count_event(): either the caller reads the arm_sn that
 * follows the last event, or the last event finds this claim.
 */
static inline void cxib_claim_set(struct cxib_claim *claim)
{
	atomic_xchg(&claim->count, 1);
}

/**
 * cxib_claim_add() - add a claim, before cxib_claim_name() and the doorbell
 * @claim: claim of a CQ whose ULP has its own comp_handler
 *
 * Several threads of such a ULP may arm an armed CQ again, and wait after each arming. The device
 * may raise an event for each arming, and each event is delivered.
 *
 * A full barrier like cxib_claim_set() if it adds a claim. With INT_MAX claims it adds none,
 * because an event that takes one of these claims is delivered after this call has begun.
 */
static inline void cxib_claim_add(struct cxib_claim *claim)
{
	atomic_add_unless(&claim->count, 1, INT_MAX);
}

/**
 * cxib_claim_name() - returns the arm_sn of an arming
 * @claim: claim of the CQ, which is locked
 *
 * Return: the number; the device compares its last two bits.
 */
static inline u32 cxib_claim_name(struct cxib_claim *claim)
{
	u32 arm_sn = atomic_read(&claim->arm_sn);

	if (!(arm_sn & 1))
		atomic_inc(&claim->arm_sn);
	return arm_sn >> 1;
}

/**
 * cxib_claim_count_event() - count an event, before its claim is taken
 * @claim: claim of the CQ
 *
 * If a device repeats the event of an arming, only the first event advances the arm_sn. Four
 * advances would bring the two bits back to those of the last event, and the device ignores an
 * arming with that number.
 *
 * An event finds either that an arming has named the arm_sn, or that another event has advanced it
 * since. In both cases the next arming names another number.
 */
static inline void cxib_claim_count_event(struct cxib_claim *claim)
{
	WRITE_ONCE(claim->num_events, claim->num_events + 1);
	if (!(atomic_read(&claim->arm_sn) & 1))
		return;
	atomic_inc(&claim->arm_sn);
	/*
	 * Pairs with cxib_claim_set() and cxib_claim_add(). Needed because cxib_claim_take_one() is
	 * no barrier when it fails.
	 */
	smp_mb__after_atomic();
}

/**
 * cxib_claim_take() - take all claims, for an event that is delivered once for all armings
 * @claim: claim of the CQ
 *
 * A full barrier: the caller sees all writes that precede cxib_claim_set().
 *
 * Return: true if there was a claim; then the caller must deliver the event, or poll.
 */
static inline bool cxib_claim_take(struct cxib_claim *claim)
{
	return atomic_xchg(&claim->count, 0);
}

/**
 * cxib_claim_is_set() - is there a claim that an event may take
 * @claim: of the CQ
 *
 * Return: false while a CQ of ib_alloc_cq() is polled.
 */
static inline bool cxib_claim_is_set(const struct cxib_claim *claim)
{
	return atomic_read(&claim->count);
}

/**
 * cxib_claim_take_one() - take one of the claims
 * @claim: claim of a CQ whose ULP has its own comp_handler
 *
 * A full barrier on success: the caller sees all writes that precede cxib_claim_add().
 *
 * Return: true if there was a claim; then the caller must deliver the event.
 */
static inline bool cxib_claim_take_one(struct cxib_claim *claim)
{
	return atomic_dec_if_positive(&claim->count) >= 0;
}

#endif
