/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The claim on a CQ: set by arming, taken by the event.
 *
 * Arming sets a claim, then rings the doorbell. The event takes the claim before it is
 * delivered; an event without a claim was not requested, or is late, and is dropped.
 * For a CQ of ib_alloc_cq(), the poller that has armed and then finds a CQE takes its claim
 * back and goes on polling. Such a CQ has at most one poller at any time, the one that has
 * taken the claim last, so each event may be delivered to another one.
 */
#ifndef CXIB_VERBS_CQ_CLAIM_H
#define CXIB_VERBS_CQ_CLAIM_H

#include <linux/atomic.h>
#include <linux/compiler.h>
#include <linux/limits.h>
#include <linux/types.h>

/**
 * struct cxib_claim - armings of a CQ and their events
 * @count: armings whose event has not been delivered
 * @arm_sn: twice the arm_sn of the next arming, and 1 if an arming has named it already
 * @num_events: completion events; written in the interrupt of the CQ's EQ only
 * @num_late: events without a claim; likewise
 */
struct cxib_claim {
	atomic_t count;
	atomic_t arm_sn;
	u32 num_events;
	u32 num_late;
};

/**
 * cxib_claim_set() - set the claim, before cxib_claim_name() and the doorbell
 * @claim: of a CQ of ib_alloc_cq(), whose poller arms: a second arming adds nothing to the first
 *
 * The device ignores an arming with the arm_sn of its last event. The exchange is a full
 * barrier that pairs with the one in cxib_claim_count_event(): either the caller reads the
 * arm_sn after that event, or that event finds this claim.
 */
static inline void cxib_claim_set(struct cxib_claim *claim)
{
	atomic_xchg(&claim->count, 1);
}

/**
 * cxib_claim_add() - add a claim, before cxib_claim_name() and the doorbell
 * @claim: of a CQ whose ULP has its own comp_handler
 *
 * Such a ULP may arm again while armed, from several threads, and wait after each: the device
 * may raise an event for each arming, and each is delivered.
 *
 * A full barrier as in cxib_claim_set() where it adds. It does not at INT_MAX claims, where the
 * event that takes one of them is delivered after this call has begun.
 */
static inline void cxib_claim_add(struct cxib_claim *claim)
{
	atomic_add_unless(&claim->count, 1, INT_MAX);
}

/**
 * cxib_claim_name() - the arm_sn of an arming
 * @claim: of the CQ, which is locked
 *
 * Return: the number, of which the device compares the last two bits
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
 * @claim: of the CQ
 *
 * Of several events for one arming, of a device that repeats them, only the first advances the
 * arm_sn: four would bring it back to that of the last event, whose arming the device ignores.
 * An event of an arming finds that its number has been named, or that another event has
 * advanced it: in both cases the next arming names another one.
 */
static inline void cxib_claim_count_event(struct cxib_claim *claim)
{
	WRITE_ONCE(claim->num_events, claim->num_events + 1);
	if (!(atomic_read(&claim->arm_sn) & 1))
		return;
	atomic_inc(&claim->arm_sn);
	/*
	 * Pairs with cxib_claim_set() and cxib_claim_add(); cxib_claim_take_one() is no barrier
	 * where it fails.
	 */
	smp_mb__after_atomic();
}

/**
 * cxib_claim_take() - take every claim, for an event that is delivered once for all armings
 * @claim: of the CQ
 *
 * A full barrier: what the caller of cxib_claim_set() did before is visible.
 *
 * Return: true if there was one; then the caller must deliver the event, or poll.
 */
static inline bool cxib_claim_take(struct cxib_claim *claim)
{
	return atomic_xchg(&claim->count, 0);
}

/**
 * cxib_claim_take_one() - take one of the claims
 * @claim: of a CQ whose ULP has its own comp_handler
 *
 * A full barrier on success: what the caller of cxib_claim_add() did before is visible.
 *
 * Return: true if there was one; then the caller must deliver the event.
 */
static inline bool cxib_claim_take_one(struct cxib_claim *claim)
{
	return atomic_dec_if_positive(&claim->count) >= 0;
}

#endif
