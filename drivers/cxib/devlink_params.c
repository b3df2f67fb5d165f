// SPDX-License-Identifier: GPL-2.0-only
/* devlink parameters: polling contexts of CQs whose ULP has not chosen one. */
#include <kunit/visibility.h>
#include <linux/build_bug.h>
#include <linux/string.h>
#include <linux/stringify.h>

#include <cxib/poll_context.h>

#include "device.h"
#include "devlink_params.h"

/* Each id has a row in @params. */
enum {
	PARAM_FIRST = DEVLINK_PARAM_GENERIC_ID_MAX + 1,
	PARAM_SOFTIRQ_CONTEXT = PARAM_FIRST,
	PARAM_PROCESS_CONTEXT,
	PARAM_QUANTUM_US,
	PARAM_BUSY_POLL_US,
	PARAM_END,
};

/* Values of the parameters that select what polls a CQ, by target; NULL: not selectable. */
static const char *const softirq_contexts[CXIB_POLL_NUM_TARGETS] = {
	[CXIB_POLL_CORE] = "core",
	[CXIB_POLL_SOFTIRQ] = "softirq",
	[CXIB_POLL_THREAD] = "thread",
};

static const char *const process_contexts[CXIB_POLL_NUM_TARGETS] = {
	[CXIB_POLL_CORE] = "core",
	[CXIB_POLL_OWN_THREAD] = "thread",
	[CXIB_POLL_WORKQUEUE] = "workqueue",
	[CXIB_POLL_UNBOUND] = "unbound",
};

/* Returns the target that a value names, or -EINVAL. */
static int params_find_target(const char *const *contexts, const char *value)
{
	int i;

	for (i = 0; i < CXIB_POLL_NUM_TARGETS; i++)
		if (contexts[i] && !strcmp(contexts[i], value))
			return i;
	return -EINVAL;
}

static struct cxib_poll_policy *params_policy(struct devlink *devlink)
{
	struct cxib_device *device = devlink_priv(devlink);

	return &device->poll_policy;
}

static int params_check_softirq(const union devlink_param_value *value,
				struct netlink_ext_ack *extack)
{
	if (params_find_target(softirq_contexts, value->vstr) >= 0)
		return 0;
	NL_SET_ERR_MSG(extack, "values are core, softirq and thread");
	return -EINVAL;
}

static int params_check_process(const union devlink_param_value *value,
				struct netlink_ext_ack *extack)
{
	if (params_find_target(process_contexts, value->vstr) >= 0)
		return 0;
	NL_SET_ERR_MSG(extack, "values are core, workqueue, unbound and thread");
	return -EINVAL;
}

static int params_check_quantum(const union devlink_param_value *value,
				struct netlink_ext_ack *extack)
{
	if (value->vu32 >= CXIB_POLL_QUANTUM_US_MIN && value->vu32 <= CXIB_POLL_QUANTUM_US_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "microseconds out of range [" __stringify(CXIB_POLL_QUANTUM_US_MIN)
		       ", " __stringify(CXIB_POLL_QUANTUM_US_MAX) "]");
	return -EINVAL;
}

static int params_check_busy_poll(const union devlink_param_value *value,
				  struct netlink_ext_ack *extack)
{
	if (value->vu32 <= CXIB_CQ_BUSY_POLL_US_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "microseconds out of range [0, "
		       __stringify(CXIB_CQ_BUSY_POLL_US_MAX) "]");
	return -EINVAL;
}

#ifdef CXIB_LACKS_DEVLINK_GET_EXTACK
static int params_get(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
#else
static int params_get(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		      struct netlink_ext_ack *extack)
#endif
{
	/* devlink's lock is held. */
	return cxib_param_load(&params_policy(devlink)->settings, id, &ctx->val);
}

/* devlink's lock is held, so only one parameter changes the settings at a time. */
static int params_apply(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
			struct netlink_ext_ack *extack)
{
	struct cxib_poll_settings settings = params_policy(devlink)->settings;
	int err;

	err = cxib_param_store(&settings, id, &ctx->val);
	if (err)
		return err;
	err = cxib_poll_policy_set(params_policy(devlink), &settings);
	if (err)
		NL_SET_ERR_MSG(extack, "a thread or workqueue could not be created");
	return err;
}

#ifdef CXIB_LACKS_DEVLINK_SET_EXTACK
static int params_set(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	return params_apply(devlink, id, ctx, NULL);
}
#else
static int params_set(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		      struct netlink_ext_ack *extack)
{
	return params_apply(devlink, id, ctx, extack);
}
#endif

#ifdef CXIB_LACKS_DEVLINK_VALUE_POINTER
static int params_validate(struct devlink *devlink, u32 id, union devlink_param_value value,
			   struct netlink_ext_ack *extack)
{
	return cxib_param_check(id, &value, extack);
}
#else
static int params_validate(struct devlink *devlink, u32 id, union devlink_param_value *value,
			   struct netlink_ext_ack *extack)
{
	return cxib_param_check(id, value, extack);
}
#endif

#define PARAM(id, name, type, member)                                                       \
	.devlink = DEVLINK_PARAM_DRIVER(id, name, DEVLINK_PARAM_TYPE_##type,                \
					BIT(DEVLINK_PARAM_CMODE_RUNTIME), params_get, \
					params_set, params_validate),           \
	.offset = offsetof(struct cxib_poll_settings, member)

/* The parameters by id: each row has id, name, type, member and range of a parameter. */
static const struct cxib_param params[] = {
	[PARAM_SOFTIRQ_CONTEXT - PARAM_FIRST] = {
		PARAM(PARAM_SOFTIRQ_CONTEXT, "cq_softirq_context", STRING, softirq),
		.contexts = softirq_contexts,
		.check = params_check_softirq,
	},
	[PARAM_PROCESS_CONTEXT - PARAM_FIRST] = {
		PARAM(PARAM_PROCESS_CONTEXT, "cq_process_context", STRING, process),
		.contexts = process_contexts,
		.check = params_check_process,
	},
	[PARAM_QUANTUM_US - PARAM_FIRST] = {
		PARAM(PARAM_QUANTUM_US, "cq_quantum_us", U32, quantum_us),
		.check = params_check_quantum,
	},
	[PARAM_BUSY_POLL_US - PARAM_FIRST] = {
		PARAM(PARAM_BUSY_POLL_US, "cq_busy_poll_us", U32, busy_poll_us),
		.check = params_check_busy_poll,
	},
};

static_assert(ARRAY_SIZE(params) == PARAM_END - PARAM_FIRST);

/**
 * cxib_param_at() - returns one of the parameters
 * @index: from 0
 *
 * Return: the parameter; NULL after the last one.
 */
const struct cxib_param *cxib_param_at(unsigned int index)
{
	return index < ARRAY_SIZE(params) ? &params[index] : NULL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_param_at);

/**
 * cxib_param_find() - finds a parameter
 * @id: its id in devlink
 *
 * Return: the parameter; NULL if the driver has none with this id.
 */
const struct cxib_param *cxib_param_find(u32 id)
{
	return cxib_param_at(id - PARAM_FIRST);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_param_find);

/**
 * cxib_param_store() - stores the value of a parameter
 * @settings: settings, of which one member changes
 * @id: the parameter
 * @value: the new value, which cxib_param_check() has accepted
 *
 * Return: 0; -EINVAL if there is no such parameter, or a string names no target.
 */
int cxib_param_store(struct cxib_poll_settings *settings, u32 id,
		     const union devlink_param_value *value)
{
	const struct cxib_param *param = cxib_param_find(id);
	void *member;
	int target;

	if (!param)
		return -EINVAL;
	member = (void *)settings + param->offset;
	if (!param->contexts) {
		*(u32 *)member = value->vu32;
		return 0;
	}
	target = params_find_target(param->contexts, value->vstr);
	if (target < 0)
		return target;
	*(enum cxib_poll_target *)member = target;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_param_store);

/**
 * cxib_param_load() - reads the value of a parameter
 * @settings: settings
 * @id: the parameter
 * @value: filled with its value
 *
 * Return: 0; -EINVAL if there is no such parameter.
 */
int cxib_param_load(const struct cxib_poll_settings *settings, u32 id,
		    union devlink_param_value *value)
{
	const struct cxib_param *param = cxib_param_find(id);
	const void *member;

	if (!param)
		return -EINVAL;
	member = (const void *)settings + param->offset;
	if (param->contexts)
		strscpy(value->vstr, param->contexts[*(const enum cxib_poll_target *)member],
			sizeof(value->vstr));
	else
		value->vu32 = *(const u32 *)member;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_param_load);

/**
 * cxib_param_check() - checks the value of a parameter
 * @id: the parameter
 * @value: the value
 * @extack: gets a message with the range if the value is out of range; may be NULL
 *
 * Return: 0; -EINVAL if there is no such parameter, or the value is out of range.
 */
int cxib_param_check(u32 id, const union devlink_param_value *value,
		     struct netlink_ext_ack *extack)
{
	const struct cxib_param *param = cxib_param_find(id);

	return param ? param->check(value, extack) : -EINVAL;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_param_check);

static void params_unregister(struct cxib_device *device, unsigned int count)
{
	while (count)
		devlink_params_unregister(priv_to_devlink(device), &params[--count].devlink, 1);
}

/**
 * cxib_device_register_params() - registers the devlink parameters of a device
 * @device: a device whose devlink instance is not registered
 *
 * Return: 0, or the error of devlink_params_register().
 */
int cxib_device_register_params(struct cxib_device *device)
{
	unsigned int i;
	int err;

	for (i = 0; i < ARRAY_SIZE(params); i++) {
		err = devlink_params_register(priv_to_devlink(device), &params[i].devlink, 1);
		if (err) {
			params_unregister(device, i);
			return err;
		}
	}
	return 0;
}

/**
 * cxib_device_unregister_params() - undo cxib_device_register_params()
 * @device: a device whose devlink instance is no longer registered
 */
void cxib_device_unregister_params(struct cxib_device *device)
{
	params_unregister(device, ARRAY_SIZE(params));
}
