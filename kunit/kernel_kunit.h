/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KUnit with the names of the newest kernel. Suites include this header instead of <kunit/test.h>.
 * scripts/kernel_symbols lists what each kernel has; kernel_kunit.c provides what an older kernel
 * lacks.
 */
#ifndef CXIB_KUNIT_KERNEL_KUNIT_H
#define CXIB_KUNIT_KERNEL_KUNIT_H

#include <kunit/resource.h>
#include <kunit/test.h>
#include <linux/list.h>
#include <linux/string.h>

#ifdef CXIB_LACKS_KUNIT_ACTIONS
int kunit_add_action_or_reset(struct kunit *test, void (*action)(void *data), void *data);
#endif

#ifdef CXIB_LACKS_KUNIT_DEVICES
struct device *kunit_device_register(struct kunit *test, const char *name);
#else
#include <kunit/device.h>
#endif

#ifdef CXIB_LACKS_KUNIT_USER_MEMORY
unsigned long kunit_vm_mmap(struct kunit *test, struct file *file, unsigned long addr,
			    unsigned long len, unsigned long prot, unsigned long flag,
			    unsigned long offset);
#endif

#ifdef CXIB_LACKS_KUNIT_SLOW_CASES
#define KUNIT_CASE_SLOW(test_name) KUNIT_CASE(test_name)
#endif

#ifdef CXIB_LACKS_KUNIT_MEMORY_EXPECTATIONS
#define KUNIT_EXPECT_MEMEQ(test, left, right, size)						\
	KUNIT_EXPECT_EQ(test, 0, memcmp(left, right, size))
#endif

#ifdef CXIB_LACKS_KUNIT_MODULE_FILTER
/**
 * struct kernel_kunit_suite - a suite of the module
 * @node: entry in the list of suites to run
 * @suite: pointer to the suite, in the form that KUnit expects
 */
struct kernel_kunit_suite {
	struct list_head node;
	struct kunit_suite *suite;
};

void kernel_kunit_add(struct kernel_kunit_suite *entry);

/*
 * Such a kernel runs all suites in section .kunit_test_suites before it sets module parameters. So
 * the suites are not in this section, and the module runs them when it is loaded.
 */
#undef kunit_test_suite
#define kunit_test_suite(name)									\
	static void __attribute__((__constructor__)) add_suite(void)				\
	{											\
		static struct kernel_kunit_suite entry = { .suite = &(name) };			\
												\
		kernel_kunit_add(&entry);							\
	}
#endif

#endif
