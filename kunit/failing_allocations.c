// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>
#include <linux/slab.h>

#include "failing_allocations.h"

/* A walk without failures is rare: seen once. So many in a row are no chance. */
#define WALKS_MAX 20

/* Lets allocation @number of this thread from now on fail, counted from 1. */
void fail_allocation(unsigned int number)
{
#ifdef CONFIG_FAULT_INJECTION
	WRITE_ONCE(current->fail_nth, number);
#endif
}

/* Lets all succeed again. Returns whether the one that was to fail has been reached. */
bool stop_failing_allocation(void)
{
	bool failed = false;

#ifdef CONFIG_FAULT_INJECTION
	/* should_fail() counts down. */
	failed = !READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
#endif
	return failed;
}

/* Lets the next allocation of the walk fail. */
void fail_next_allocation(struct failing_walk *walk)
{
	fail_allocation(++walk->number);
}

/*
 * Lets all succeed again, after the operation has returned @err. Returns whether to repeat it:
 * until a whole walk has had @minimum failures, or %WALKS_MAX walks had fewer.
 */
bool failing_walk_goes_on(struct failing_walk *walk, int err, unsigned int minimum)
{
	walk->refused += !!err;
	if (stop_failing_allocation())
		return true;
	if (walk->refused >= minimum || ++walk->walks == WALKS_MAX)
		return false;
	walk->number = 0;
	walk->refused = 0;
	return true;
}

/* By default failslab does not fail allocations that may sleep. */
void skip_unless_allocations_can_fail(struct kunit *test)
{
	void *memory;

	fail_allocation(1);
	memory = kmalloc(1, GFP_KERNEL);
	stop_failing_allocation();
	kfree(memory);
	if (memory)
		kunit_skip(test, "failslab/ignore-gfp-wait is not N");
}
