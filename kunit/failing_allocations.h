/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation failures of the running thread. A case repeats an operation, each time with its next
 * allocation failing, until the operation ends before the allocation that was to fail.
 *
 * Pages of the slab allocator fail, too, without consequence: it goes on with smaller ones. They
 * are not allocated each time, so the same number can be another allocation each time, and a walk
 * can pass by all that the operation notices. Then it is another walk's turn.
 */
#ifndef CXIB_KUNIT_FAILING_ALLOCATIONS_H
#define CXIB_KUNIT_FAILING_ALLOCATIONS_H

#include "kernel_kunit.h"

void skip_unless_allocations_can_fail(struct kunit *test);
void fail_allocation(unsigned int number);
bool stop_failing_allocation(void);

/**
 * struct failing_walk - a walk through the allocations of an operation; all zero at the start
 * @number: the allocation that fails this time, from 1 on
 * @refused: how often the operation has failed in this walk
 * @walks: walks that were ended
 */
struct failing_walk {
	unsigned int number;
	unsigned int refused;
	unsigned int walks;
};

void fail_next_allocation(struct failing_walk *walk);
bool failing_walk_goes_on(struct failing_walk *walk, int err, unsigned int minimum);

#endif
