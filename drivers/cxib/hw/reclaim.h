/* SPDX-License-Identifier: GPL-2.0-only */
/* Locks that memory reclaim takes: an ODP MR is invalidated before its pages are reclaimed. */
#ifndef CXIB_HW_RECLAIM_H
#define CXIB_HW_RECLAIM_H

#include <linux/gfp.h>
#include <linux/lockdep.h>
#include <linux/mutex.h>
#include <linux/sched/mm.h>

/* Lets lockdep report memory that is allocated with @lock held, without any reclaim. */
static inline void cxib_lockdep_reclaim(struct mutex *lock)
{
	fs_reclaim_acquire(GFP_KERNEL);
	might_lock(lock);
	fs_reclaim_release(GFP_KERNEL);
}

#endif
