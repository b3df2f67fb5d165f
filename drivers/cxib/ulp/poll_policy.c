// SPDX-License-Identifier: GPL-2.0-only
/* Settings of the polling contexts, and how a change reaches the CQs. */
#include <kunit/visibility.h>

#include "ulp/poll.h"

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
