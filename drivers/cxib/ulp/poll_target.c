// SPDX-License-Identifier: GPL-2.0-only
/* Names of what polls CQs. */
#include <kunit/visibility.h>
#include <linux/kernel.h>
#include <linux/errno.h>
#include <linux/string.h>

#include "ulp/poll_policy.h"

/**
 * struct poll_target - names of a target
 * @name: in debugfs and in the resource tracker
 * @softirq: value of devlink's cq_softirq_context; NULL: none
 * @process: value of devlink's cq_process_context; NULL: none
 */
struct poll_target {
	const char *name;
	const char *softirq;
	const char *process;
};

static const struct poll_target targets[] = {
	[CXIB_POLL_CORE] = { "core", "core", "core" },
	[CXIB_POLL_SOFTIRQ] = { "softirq", "softirq", NULL },
	[CXIB_POLL_THREAD] = { "thread", "thread", NULL },
	[CXIB_POLL_OWN_THREAD] = { "own thread", NULL, "thread" },
	[CXIB_POLL_WORKQUEUE] = { "workqueue", NULL, "workqueue" },
	[CXIB_POLL_UNBOUND] = { "unbound workqueue", NULL, "unbound" },
};

/**
 * cxib_poll_softirq_target() - target of a value of cq_softirq_context
 * @value: value
 *
 * Return: the target; -EINVAL if there is no such value.
 */
int cxib_poll_softirq_target(const char *value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].softirq && !strcmp(targets[i].softirq, value))
			return i;
	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_softirq_target);

/**
 * cxib_poll_process_target() - target of a value of cq_process_context
 * @value: value
 *
 * Return: the target; -EINVAL if there is no such value.
 */
int cxib_poll_process_target(const char *value)
{
	int i;

	for (i = 0; i < ARRAY_SIZE(targets); i++)
		if (targets[i].process && !strcmp(targets[i].process, value))
			return i;
	return -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_process_target);

/**
 * cxib_poll_target_value() - value of a devlink parameter
 * @target: target
 *
 * Return: its name as a value of cq_softirq_context or cq_process_context.
 */
const char *cxib_poll_target_value(enum cxib_poll_target target)
{
	return targets[target].softirq ?: targets[target].process;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_target_value);

/**
 * cxib_poll_target_name() - name of a target
 * @target: target
 *
 * Return: its name in debugfs and in the resource tracker.
 */
const char *cxib_poll_target_name(enum cxib_poll_target target)
{
	return targets[target].name;
}
