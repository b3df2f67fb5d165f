/* SPDX-License-Identifier: GPL-2.0-only */
/* devlink parameters: their names, their valid values, and where the driver stores the values. */
#ifndef CXIB_DEVLINK_PARAMS_H
#define CXIB_DEVLINK_PARAMS_H

#include <linux/types.h>
#include <net/devlink.h>

#include "ulp/poll_policy.h"

struct netlink_ext_ack;

/**
 * struct cxib_param - a devlink parameter
 * @devlink: id, name, type and operations
 * @offset: offset of the member of struct cxib_poll_settings that stores the value
 * @contexts: values by enum cxib_poll_target; for %DEVLINK_PARAM_TYPE_STRING only
 * @check: returns 0; -EINVAL for a value out of range, with the range in @extack
 */
struct cxib_param {
	struct devlink_param devlink;
	size_t offset;
	const char *const *contexts;
	int (*check)(const union devlink_param_value *value, struct netlink_ext_ack *extack);
};

const struct cxib_param *cxib_param_at(unsigned int index);
const struct cxib_param *cxib_param_find(u32 id);
int cxib_param_store(struct cxib_poll_settings *settings, u32 id,
		     const union devlink_param_value *value);
int cxib_param_load(const struct cxib_poll_settings *settings, u32 id,
		    union devlink_param_value *value);
int cxib_param_check(u32 id, const union devlink_param_value *value,
		     struct netlink_ext_ack *extack);

#endif
