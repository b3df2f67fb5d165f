// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Commits the selected fault when it is loaded, so that a test can check that the lab detects it:
 * insmod lab_provoke.ko fault=NAME
 */
#include <linux/delay.h>
#include <linux/dma-mapping.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/platform_device.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/workqueue.h>

static char *fault = "none";
module_param(fault, charp, 0);
MODULE_PARM_DESC(fault, "what to do wrong when loaded");

static DEFINE_MUTEX(first_lock);
static DEFINE_MUTEX(second_lock);
static DEFINE_SPINLOCK(spin_lock_of_fault);

static void warn(void)
{
	WARN(1, "lab_provoke was asked to warn\n");
}

static void dereference_null(void)
{
	int *volatile nowhere = NULL;

	*nowhere = 1;
}

static void write_beyond_allocation(void)
{
	char *bytes = kmalloc(40, GFP_KERNEL);
	/* OPTIMIZER_HIDE_VAR() hides the overflow from the compiler, which would refuse it. */
	size_t length = 40;

	OPTIMIZER_HIDE_VAR(length);
	if (!bytes)
		return;
	bytes[length] = 1;
	kfree(bytes);
}

static void shift_too_far(void)
{
	int distance = 40;
	int value = 1;

	OPTIMIZER_HIDE_VAR(distance);
	pr_info("lab_provoke: %d\n", value << distance);
}

static void invert_locks(void)
{
	mutex_lock(&first_lock);
	mutex_lock(&second_lock);
	mutex_unlock(&second_lock);
	mutex_unlock(&first_lock);

	mutex_lock(&second_lock);
	mutex_lock(&first_lock);
	mutex_unlock(&first_lock);
	mutex_unlock(&second_lock);
}

static void sleep_with_spin_lock(void)
{
	spin_lock(&spin_lock_of_fault);
	msleep(1);
	spin_unlock(&spin_lock_of_fault);
}

static void unmap_what_is_not_mapped(void)
{
	struct platform_device *device;

	device = platform_device_register_simple("lab_provoke", -1, NULL, 0);
	if (IS_ERR(device))
		return;
	if (!dma_coerce_mask_and_coherent(&device->dev, DMA_BIT_MASK(32)))
		dma_unmap_single(&device->dev, 0x1000, 64, DMA_TO_DEVICE);
	platform_device_unregister(device);
}

static void free_pending_work(void)
{
	struct delayed_work *work = kmalloc(sizeof(*work), GFP_KERNEL);

	if (!work)
		return;
	INIT_DELAYED_WORK(work, NULL);
	work->work.func = (work_func_t)(void *)warn;
	schedule_delayed_work(work, 1000 * HZ);
	kfree(work);
}

static void leak(void)
{
	void *volatile lost;
	int i;

	for (i = 0; i < 16; i++)
		lost = kmalloc(1000, GFP_KERNEL);
	lost = NULL;
	(void)lost;
}

static void hang(void)
{
	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule();
}

static const struct {
	const char *name;
	void (*commit)(void);
} faults[] = {
	{ "warn", warn },
	{ "null", dereference_null },
	{ "slab", write_beyond_allocation },
	{ "shift", shift_too_far },
	{ "locks", invert_locks },
	{ "atomic", sleep_with_spin_lock },
	{ "dma", unmap_what_is_not_mapped },
	{ "work", free_pending_work },
	{ "leak", leak },
	{ "hang", hang },
};

static int __init lab_provoke_init(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(faults); i++) {
		if (!strcmp(fault, faults[i].name)) {
			faults[i].commit();
			return 0;
		}
	}
	pr_err("lab_provoke: no fault is named '%s'\n", fault);
	return -EINVAL;
}
module_init(lab_provoke_init);

static void __exit lab_provoke_exit(void)
{
}
module_exit(lab_provoke_exit);

MODULE_DESCRIPTION("Provokes reports of the kernel, for tests of the lab");
MODULE_LICENSE("GPL");
