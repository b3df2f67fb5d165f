/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks that memory reclaim takes: it invalidates an ODP MR before it frees the pages of the MR. */
#ifndef CXIB_HW_RECLAIM_H
#define CXIB_HW_RECLAIM_H

#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>

/*
 * Tells lockdep that reclaim takes @lock, so that it reports allocations with @lock held even if no
 * reclaim runs.
 */
static inline void cxib_lockdep_reclaim(struct mutex *lock)
{
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

#endif
