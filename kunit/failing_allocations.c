// SPDX-License-Identifier: GPL-2.0-only
#include <linux/sched.h>
#include <linux/slab.h>

#include "failing_allocations.h"

/* Walks without a failure are rare, so this many in a row do not occur by chance. */
#define WALKS_MAX 20

/* Makes allocation @number of this thread fail, counted from 1 from now on. */
void fail_allocation(unsigned int number)
{
#ifdef CONFIG_FAULT_INJECTION
	WRITE_ONCE(current->fail_nth, number);
#endif
}

/* Lets all allocations succeed again. Returns whether the failing one has been reached. */
bool stop_failing_allocation(void)
{
	bool failed = false;

#ifdef CONFIG_FAULT_INJECTION
	/* should_fail() counts this value down. */
	failed = !READ_ONCE(current->fail_nth);
	WRITE_ONCE(current->fail_nth, 0);
#endif
	return failed;
}

/* Makes the next allocation of the walk fail. */
void fail_next_allocation(struct failing_walk *walk)
{
	fail_allocation(++walk->number);
}

/*
 * Lets all allocations succeed again, after the operation has returned @err. Returns whether to
 * repeat the operation: until one walk has had @minimum failures, or %WALKS_MAX walks have had
 * fewer.
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

/* By default failslab skips allocations that may sleep. */
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
