// SPDX-License-Identifier: GPL-2.0-only
/* Functions of kernel_kunit.h that an older kernel's KUnit lacks. */
#include <linux/device.h>
#include <linux/glob.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>

#include "kernel_kunit.h"

#ifdef CXIB_LACKS_KUNIT_ACTIONS
struct action {
	void (*function)(void *data);
	void *data;
};

static void run_action(struct kunit_resource *resource)
{
	struct action *action = resource->data;

	action->function(action->data);
	kfree(action);
}

/* Runs @function with @data after the case, or at once if registration fails. */
int kunit_add_action_or_reset(struct kunit *test, void (*function)(void *data), void *data)
{
	struct action *action = kzalloc(sizeof(*action), GFP_KERNEL);

	if (action) {
		action->function = function;
		action->data = data;
		if (kunit_alloc_resource(test, NULL, run_action, GFP_KERNEL, action))
			return 0;
		kfree(action);
	}
	function(data);
	return -ENOMEM;
}
#endif

#ifdef CXIB_LACKS_KUNIT_DEVICES
static void unregister_device(void *device)
{
	root_device_unregister(device);
}

/* Returns a device without bus and driver, or an error pointer. */
struct device *kunit_device_register(struct kunit *test, const char *name)
{
	struct device *device = root_device_register(name);
	int err;

	if (IS_ERR(device))
		return device;
	err = kunit_add_action_or_reset(test, unregister_device, device);
	return err ? ERR_PTR(err) : device;
}
#endif

#ifdef CXIB_LACKS_KUNIT_USER_MEMORY
struct mapping {
	unsigned long address;
	size_t length;
};

/*
 * A module cannot create an address space, so the case uses that of the process that loads the
 * module.
 */
static struct mm_struct *loader_mm;

/* The loading process cleans up after an aborted case, whose thread has already left @loader_mm. */
static void detach_mm(void *unused)
{
	if (!(current->flags & PF_KTHREAD))
		return;
	kthread_unuse_mm(loader_mm);
	mmput(loader_mm);
}

static int attach_mm(struct kunit *test)
{
	if (current->mm)
		return 0;
	/* A thread that exits with an address space drops a user of it. */
	mmget(loader_mm);
	kthread_use_mm(loader_mm);
	return kunit_add_action_or_reset(test, detach_mm, NULL);
}

static void unmap(void *data)
{
	struct mapping *mapping = data;

	vm_munmap(mapping->address, mapping->length);
}

/* Returns an address in the address space of the case's thread, an error as an address, or 0. */
unsigned long kunit_vm_mmap(struct kunit *test, struct file *file, unsigned long addr,
			    unsigned long len, unsigned long prot, unsigned long flag,
			    unsigned long offset)
{
	struct mapping *mapping = kunit_kzalloc(test, sizeof(*mapping), GFP_KERNEL);

	if (!mapping || attach_mm(test))
		return 0;
	mapping->length = len;
	mapping->address = vm_mmap(file, addr, len, prot, flag, offset);
	if (IS_ERR_VALUE(mapping->address))
		return mapping->address;
	return kunit_add_action_or_reset(test, unmap, mapping) ? 0 : mapping->address;
}
#endif

#ifdef CXIB_LACKS_KUNIT_MODULE_FILTER
static char *filter_glob = "";

module_param(filter_glob, charp, 0);
MODULE_PARM_DESC(filter_glob, "Run only suites whose name matches, or SUITE.CASE");

static LIST_HEAD(suites);

/* Called by a constructor in the file of each suite. */
void kernel_kunit_add(struct kernel_kunit_suite *entry)
{
	list_add_tail(&entry->node, &suites);
}

/* Keeps the cases of @suite that match @glob; returns whether there are any. */
static bool filter_cases(struct kunit_suite *suite, const char *glob)
{
	struct kunit_case *kept = suite->test_cases, *each;

	kunit_suite_for_each_test_case(suite, each) {
		if (glob_match(glob, each->name))
			*kept++ = *each;
	}
	*kept = (struct kunit_case){};
	return suite->test_cases->run_case;
}

/* Keeps the suites that @filter_glob names; returns their number. */
static unsigned int filter_suites(void)
{
	char *case_glob = filter_glob, *suite_glob = strsep(&case_glob, ".");
	struct kernel_kunit_suite *entry, *next;
	unsigned int count = 0;

	list_for_each_entry_safe(entry, next, &suites, node) {
		if ((!*suite_glob || glob_match(suite_glob, entry->suite->name)) &&
		    (!case_glob || filter_cases(entry->suite, case_glob)))
			count++;
		else
			list_del(&entry->node);
	}
	return count;
}

static void run_suites(void)
{
	struct kernel_kunit_suite *entry;

	/* KUnit prints version and number only for built-in suites. */
	pr_info("KTAP version 1\n");
	pr_info("1..%u\n", filter_suites());
	list_for_each_entry(entry, &suites, node)
		__kunit_test_suites_init(&entry->suite, 1);
}

static void end_suites(void)
{
	struct kernel_kunit_suite *entry;

	list_for_each_entry(entry, &suites, node)
		__kunit_test_suites_exit(&entry->suite, 1);
}
#else
static void run_suites(void)
{
}

static void end_suites(void)
{
}
#endif

static int __init kernel_kunit_init(void)
{
#ifdef CXIB_LACKS_KUNIT_USER_MEMORY
	loader_mm = current->mm;
#endif
	run_suites();
	return 0;
}
module_init(kernel_kunit_init);

static void __exit kernel_kunit_exit(void)
{
	end_suites();
}
module_exit(kernel_kunit_exit);
