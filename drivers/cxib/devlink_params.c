// SPDX-License-Identifier: GPL-2.0-only
/* devlink parameters: polling contexts of the CQs of ULPs that have not chosen one. */
#include <linux/string.h>
#include <linux/stringify.h>
#include <net/devlink.h>

#include <cxib/poll_context.h>

#include "device.h"

enum {
	SOFTIRQ_CONTEXT = DEVLINK_PARAM_GENERIC_ID_MAX + 1,
	PROCESS_CONTEXT,
	QUANTUM_US,
	BUSY_POLL_US,
};

static struct cxib_poll_policy *policy_of(struct devlink *devlink)
{
	struct cxib_device *device = devlink_priv(devlink);

	return &device->poll_policy;
}

/* Changes one member; settings of several parameters are set one by one under devlink's lock. */
static int change(struct cxib_poll_settings *settings, u32 id,
		  const union devlink_param_value *value)
{
	switch (id) {
	case SOFTIRQ_CONTEXT:
		return cxib_poll_softirq_target(value->vstr, &settings->softirq);
	case PROCESS_CONTEXT:
		return cxib_poll_process_target(value->vstr, &settings->process);
	case QUANTUM_US:
		settings->quantum_us = value->vu32;
		return 0;
	default:
		settings->busy_poll_us = value->vu32;
		return 0;
	}
}

static void show_target(char *value, enum cxib_poll_target target)
{
	strscpy(value, cxib_poll_target_name(target), __DEVLINK_PARAM_MAX_STRING_VALUE);
}

static void read_param(struct devlink *devlink, u32 id, union devlink_param_value *value)
{
	struct cxib_poll_settings settings;

	cxib_poll_policy_get(policy_of(devlink), &settings);
	switch (id) {
	case SOFTIRQ_CONTEXT:
		show_target(value->vstr, settings.softirq);
		break;
	case PROCESS_CONTEXT:
		show_target(value->vstr, settings.process);
		break;
	case QUANTUM_US:
		value->vu32 = settings.quantum_us;
		break;
	default:
		value->vu32 = settings.busy_poll_us;
		break;
	}
}

static int apply_param(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		       struct netlink_ext_ack *extack)
{
	struct cxib_poll_settings settings;
	int err;

	cxib_poll_policy_get(policy_of(devlink), &settings);
	err = change(&settings, id, &ctx->val);
	if (!err)
		err = cxib_poll_policy_set(policy_of(devlink), &settings);
	if (err)
		NL_SET_ERR_MSG(extack, "a thread or workqueue could not be created");
	return err;
}

static int check_context(u32 id, const union devlink_param_value *value,
			 struct netlink_ext_ack *extack)
{
	struct cxib_poll_settings unused;

	if (!change(&unused, id, value))
		return 0;
	if (id == SOFTIRQ_CONTEXT)
		NL_SET_ERR_MSG(extack, "values are core, softirq and thread");
	else
		NL_SET_ERR_MSG(extack, "values are core, workqueue, unbound and thread");
	return -EINVAL;
}

static int check_quantum(u32 quantum_us, struct netlink_ext_ack *extack)
{
	if (quantum_us >= CXIB_POLL_QUANTUM_US_MIN && quantum_us <= CXIB_POLL_QUANTUM_US_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "microseconds out of range [" __stringify(CXIB_POLL_QUANTUM_US_MIN)
		       ", " __stringify(CXIB_POLL_QUANTUM_US_MAX) "]");
	return -EINVAL;
}

static int check_busy_poll(u32 busy_poll_us, struct netlink_ext_ack *extack)
{
	if (busy_poll_us <= CXIB_CQ_BUSY_POLL_US_MAX)
		return 0;
	NL_SET_ERR_MSG(extack, "microseconds out of range [0, "
		       __stringify(CXIB_CQ_BUSY_POLL_US_MAX) "]");
	return -EINVAL;
}

static int check_param(u32 id, const union devlink_param_value *value,
		       struct netlink_ext_ack *extack)
{
	switch (id) {
	case QUANTUM_US:
		return check_quantum(value->vu32, extack);
	case BUSY_POLL_US:
		return check_busy_poll(value->vu32, extack);
	default:
		return check_context(id, value, extack);
	}
}

#ifdef CXIB_LACKS_DEVLINK_GET_EXTACK
static int get_param(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
#else
static int get_param(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		     struct netlink_ext_ack *extack)
#endif
{
	read_param(devlink, id, &ctx->val);
	return 0;
}

#ifdef CXIB_LACKS_DEVLINK_SET_EXTACK
static int set_param(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx)
{
	return apply_param(devlink, id, ctx, NULL);
}
#else
static int set_param(struct devlink *devlink, u32 id, struct devlink_param_gset_ctx *ctx,
		     struct netlink_ext_ack *extack)
{
	return apply_param(devlink, id, ctx, extack);
}
#endif

#ifdef CXIB_LACKS_DEVLINK_VALUE_POINTER
static int validate_param(struct devlink *devlink, u32 id, union devlink_param_value value,
			  struct netlink_ext_ack *extack)
{
	return check_param(id, &value, extack);
}
#else
static int validate_param(struct devlink *devlink, u32 id, union devlink_param_value *value,
			  struct netlink_ext_ack *extack)
{
	return check_param(id, value, extack);
}
#endif

#define PARAM(id, name, type)									\
	DEVLINK_PARAM_DRIVER(id, name, type, BIT(DEVLINK_PARAM_CMODE_RUNTIME), get_param,	\
			     set_param, validate_param)

static const struct devlink_param params[] = {
	PARAM(SOFTIRQ_CONTEXT, "cq_softirq_context", DEVLINK_PARAM_TYPE_STRING),
	PARAM(PROCESS_CONTEXT, "cq_process_context", DEVLINK_PARAM_TYPE_STRING),
	PARAM(QUANTUM_US, "cq_quantum_us", DEVLINK_PARAM_TYPE_U32),
	PARAM(BUSY_POLL_US, "cq_busy_poll_us", DEVLINK_PARAM_TYPE_U32),
};

/**
 * cxib_device_register_params() - register the devlink parameters of a device
 * @device: a device whose devlink instance is not registered
 *
 * Return: 0, or the error of devlink_params_register().
 */
int cxib_device_register_params(struct cxib_device *device)
{
	return devlink_params_register(priv_to_devlink(device), params, ARRAY_SIZE(params));
}

/**
 * cxib_device_unregister_params() - undo cxib_device_register_params()
 * @device: a device whose devlink instance is not registered any more
 */
void cxib_device_unregister_params(struct cxib_device *device)
{
	devlink_params_unregister(priv_to_devlink(device), params, ARRAY_SIZE(params));
}
