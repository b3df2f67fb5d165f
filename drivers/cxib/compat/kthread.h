/* SPDX-License-Identifier: GPL-2.0-only */
/* CPUs of a kernel thread that has not run yet. */
#ifndef CXIB_COMPAT_KTHREAD_H
#define CXIB_COMPAT_KTHREAD_H

#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/sched.h>

/*
 * Since Linux 6.14 the kernel sets the CPUs of a thread when it begins, and when a CPU comes
 * online: it takes those that are preferred, else those of the thread's node. The first kernels
 * that do so have no function for modules.
 */
static inline void cxib_prefer_cpus(struct task_struct *task, const struct cpumask *cpus)
{
#ifndef CXIB_LACKS_KTHREAD_AFFINITY
	int (*prefer)(struct task_struct *task, const struct cpumask *cpus);

	prefer = symbol_get(kthread_affine_preferred);
	if (prefer) {
		prefer(task, cpus);
		symbol_put(kthread_affine_preferred);
		return;
	}
#endif
	set_cpus_allowed_ptr(task, cpus);
}

#endif
