// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the polling contexts: names, limits, and how a change reaches the CQs. */
#include <kunit/visibility.h>
#include <linux/string.h>

#include "ulp/poll.h"

struct choice {
	const char *name;
	enum cxib_poll_target target;
};

/* Values of devlink's cq_softirq_context and cq_process_context; the first is the default. */
static const struct choice softirq_choices[] = {
	{ "core", CXIB_POLL_CORE },
	{ "softirq", CXIB_POLL_SOFTIRQ },
	{ "thread", CXIB_POLL_THREAD },
};

static const struct choice process_choices[] = {
	{ "core", CXIB_POLL_CORE },
	{ "workqueue", CXIB_POLL_WORKQUEUE },
	{ "unbound", CXIB_POLL_UNBOUND },
	{ "thread", CXIB_POLL_OWN_THREAD },
};

static int find_choice(const struct choice *choices, size_t count, const char *name,
		       enum cxib_poll_target *target)
{
	size_t i;

	for (i = 0; i < count; i++)
		if (!strcmp(choices[i].name, name)) {
			*target = choices[i].target;
			return 0;
		}
	return -EINVAL;
}

/**
 * cxib_poll_softirq_target() - target of a value of cq_softirq_context
 * @name: value
 * @target: filled
 *
 * Return: 0; -EINVAL if there is no such value.
 */
int cxib_poll_softirq_target(const char *name, enum cxib_poll_target *target)
{
	return find_choice(softirq_choices, ARRAY_SIZE(softirq_choices), name, target);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_softirq_target);

/**
 * cxib_poll_process_target() - target of a value of cq_process_context
 * @name: value
 * @target: filled
 *
 * Return: 0; -EINVAL if there is no such value.
 */
int cxib_poll_process_target(const char *name, enum cxib_poll_target *target)
{
	return find_choice(process_choices, ARRAY_SIZE(process_choices), name, target);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_process_target);

/**
 * cxib_poll_target_name() - value of a devlink parameter
 * @target: target
 *
 * Return: its name as a value of cq_softirq_context or cq_process_context.
 */
const char *cxib_poll_target_name(enum cxib_poll_target target)
{
	static const char *const names[] = {
		[CXIB_POLL_CORE] = "core",
		[CXIB_POLL_SOFTIRQ] = "softirq",
		[CXIB_POLL_THREAD] = "thread",
		[CXIB_POLL_OWN_THREAD] = "thread",
		[CXIB_POLL_WORKQUEUE] = "workqueue",
		[CXIB_POLL_UNBOUND] = "unbound",
	};

	return names[target];
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_target_name);

/**
 * cxib_poll_policy_init() - set the defaults
 * @policy: zeroed policy of an HCA
 */
void cxib_poll_policy_init(struct cxib_poll_policy *policy)
{
	mutex_init(&policy->lock);
	policy->settings.quantum_us = CXIB_POLL_QUANTUM_US_DEFAULT;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_init);

/**
 * cxib_poll_policy_destroy() - undo cxib_poll_policy_init()
 * @policy: policy without an RDMA device
 */
void cxib_poll_policy_destroy(struct cxib_poll_policy *policy)
{
	mutex_destroy(&policy->lock);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_destroy);

/**
 * cxib_poll_policy_get() - read the settings
 * @policy: policy of an HCA
 * @settings: filled
 *
 * Context: process context, may sleep.
 */
void cxib_poll_policy_get(struct cxib_poll_policy *policy, struct cxib_poll_settings *settings)
{
	guard(mutex)(&policy->lock);
	*settings = policy->settings;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_get);

/**
 * cxib_poll_policy_set() - change the settings; the CQs follow at their next event
 * @policy: policy of an HCA
 * @settings: settings within their limits
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM or -EINTR if a thread or workqueue could not be created: the settings stay.
 */
int cxib_poll_policy_set(struct cxib_poll_policy *policy,
			 const struct cxib_poll_settings *settings)
{
	int err = 0;

	guard(mutex)(&policy->lock);
	if (policy->device)
		err = cxib_poll_device_apply(policy->device, settings);
	if (!err)
		policy->settings = *settings;
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_poll_policy_set);
