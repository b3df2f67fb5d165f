/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocation failures of the running thread. A case repeats an operation, each time with its next
 * allocation failing, until the operation ends before the allocation that was to fail.
 */
#ifndef CXIB_KUNIT_FAILING_ALLOCATIONS_H
#define CXIB_KUNIT_FAILING_ALLOCATIONS_H

#include "kernel_kunit.h"

void skip_unless_allocations_can_fail(struct kunit *test);
void fail_allocation(unsigned int number);
bool stop_failing_allocation(void);

#endif
