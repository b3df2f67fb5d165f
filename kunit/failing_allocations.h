/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation failures of the running thread. A case repeats an operation and makes its next
 * allocation fail each time, until the operation ends before that allocation.
 *
 * Page allocations of the slab allocator fail as well, without an effect: it then allocates smaller
 * pages. They do not occur in each run, so a number may be another allocation each time, and a walk
 * may miss all failures that the operation notices. The case then starts another walk.
 */
#ifndef CXIB_KUNIT_FAILING_ALLOCATIONS_H
#define CXIB_KUNIT_FAILING_ALLOCATIONS_H

#include "kernel_kunit.h"

void skip_unless_allocations_can_fail(struct kunit *test);
void fail_allocation(unsigned int number);
bool stop_failing_allocation(void);

/**
 * struct failing_walk - a walk through the allocations of an operation; zeroed at the start
 * @number: allocation that fails this time, counted from 1
 * @refused: number of failures of the operation in this walk
 * @walks: number of ended walks
 */
struct failing_walk {
	unsigned int number;
	unsigned int refused;
	unsigned int walks;
};

void fail_next_allocation(struct failing_walk *walk);
bool failing_walk_goes_on(struct failing_walk *walk, int err, unsigned int minimum);

#endif
