// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: user contexts, and commands without an object. */
#include <linux/capability.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>

#include "hw/capabilities.h"
#include "hw/commands_objects.h"
#include "hw/names.h"
#include "hw/uctx.h"
#include "user/bfreg.h"
#include "user/devx.h"
#include "user/devx_command.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/* capable() writes to the audit log, so it is called only if the device supports the right. */
static u32 devx_rights_of_caller(u32 uctx_cap)
{
	return cxib_devx_rights(uctx_cap,
				uctx_cap & HW_UCTX_CAP_RAW_TX && capable(CAP_NET_RAW),
				uctx_cap & HW_UCTX_CAP_INTERNAL_DEV_RES && capable(CAP_SYS_RAWIO));
}

/**
 * cxib_devx_is_supported() - whether a device has user contexts
 * @ib: RDMA device
 *
 * Return: true if the device has user contexts. Otherwise uverbs registers no DEVX objects, so
 * libmlx5 and applications get -EPROTONOSUPPORT instead of the error of a forbidden command.
 */
bool cxib_devx_is_supported(struct ib_device *ib)
{
	return to_ibdev(ib)->hw->caps.log_max_uctx;
}

/**
 * cxib_devx_open() - creates the DEVX user context of a context
 * @context: user context; @uid is set
 *
 * Context: process context of user space, may sleep.
 * Return: 0; -EOPNOTSUPP when the device has no user contexts; errors of
 * cxib_cmd_create_uctx().
 */
int cxib_devx_open(struct cxib_ucontext *context)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);

	if (!cxib_devx_is_supported(&ibdev->ib)) {
		ibdev_dbg(&ibdev->ib, "alloc ucontext: DEVX not supported\n");
		return -EOPNOTSUPP;
	}
	return cxib_cmd_create_uctx(commands_of(ibdev),
				    devx_rights_of_caller(ibdev->hw->caps.uctx_cap), &context->uid);
}

/**
 * cxib_devx_close() - undo cxib_devx_open()
 * @context: user context without objects
 */
void cxib_devx_close(struct cxib_ucontext *context)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);

	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DESTROY_UCTX, 0, context->uid);
	int err;

	if (!context->uid)
		return;
	/*
	 * An orphan is destroyed with the uid that has created it, so the user context stays while
	 * it has orphans.
	 */
	err = cxib_orphans_check(ibdev, &context->ib, &destroy) ?:
	      cxib_cmd_destroy_uctx(commands_of(ibdev), context->uid);
	if (err)
		cxib_orphans_keep(ibdev, &context->ib, &destroy, NULL, err);
}

/**
 * cxib_devx_context() - returns the user context of a DEVX method
 * @attrs: attributes of the method
 *
 * Return: the context, or an ERR_PTR(): -EPERM when it was opened without DEVX.
 */
struct cxib_ucontext *cxib_devx_context(struct uverbs_attr_bundle *attrs)
{
	struct ib_ucontext *ib = ib_uverbs_get_ucontext(attrs);

	if (IS_ERR(ib))
		return ERR_CAST(ib);
	if (to_ucontext(ib)->uid)
		return to_ucontext(ib);
	ibdev_dbg(ib->device, "context opened without DEVX\n");
	return ERR_PTR(-EPERM);
}

/**
 * cxib_devx_exec() - executes a command for user space
 * @context: user context, whose uid is set in @in
 * @in: input, already checked
 * @in_length: length of @in, bytes
 * @out: output; only status and syndrome if the command failed
 * @out_length: length of @out, bytes
 *
 * Context: process context, may sleep.
 * Return: -EREMOTEIO when the command failed with a status, which is in @out; -EPERM when @in names
 * another function; otherwise as cxib_cmd_exec().
 */
int cxib_devx_exec(struct cxib_ucontext *context, void *in, size_t in_length, void *out,
		   size_t out_length)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	struct cxib_command command = {
		.in = in, .in_length = in_length, .out = out, .out_length = out_length,
		.no_log = true, .for_user = true,
	};
	int err;

	if (cxib_devx_is_tunnelled(in)) {
		ibdev_dbg(&ibdev->ib, "DEVX command %s: vhca_tunnel_id 0x%x (must be 0)\n",
			  hw_cmd_name(hw_cmd_in_get_opcode(in)),
			  hw_general_obj_in_cmd_hdr_get_vhca_tunnel_id(in));
		return -EPERM;
	}
	hw_general_obj_in_cmd_hdr_set_uid(in, context->uid);
	err = cxib_cmd_exec(commands_of(ibdev), &command);
	if (!command.status)
		return err;
	ibdev_dbg(&ibdev->ib, "DEVX command %s failed: %s (status 0x%x), syndrome 0x%x\n",
		  hw_cmd_name(hw_cmd_in_get_opcode(in)), hw_command_status_name(command.status),
		  command.status, command.syndrome);
	hw_cmd_out_set_status(out, command.status);
	hw_cmd_out_set_syndrome(out, command.syndrome);
	return -EREMOTEIO;
}

/**
 * cxib_devx_copy_out() - copies the output of a command to user space
 * @attrs: attributes of the method
 * @attribute: id of the output attribute
 * @out: output of the command
 * @length: length of @out, bytes
 * @err: return value of cxib_devx_exec()
 *
 * Return: @err, or -EFAULT when the output cannot be written.
 */
int cxib_devx_copy_out(struct uverbs_attr_bundle *attrs, u16 attribute, const void *out,
		       size_t length, int err)
{
	int copied;

	if (err && err != -EREMOTEIO)
		return err;
	copied = uverbs_copy_to(attrs, attribute, out, length);
	return err ?: copied;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OTHER)(struct uverbs_attr_bundle *attrs)
{
	void *in = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
	int in_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OTHER_CMD_IN);
	int out_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	void *out;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	if (!cxib_devx_is_general_cmd(in)) {
		ibdev_dbg(context->ib.device, "DEVX command %s (0x%03x) not allowed without an object\n",
			  hw_cmd_name(hw_cmd_in_get_opcode(in)), hw_cmd_in_get_opcode(in));
		return -EINVAL;
	}
	out = uverbs_zalloc(attrs, out_length);
	if (IS_ERR(out))
		return PTR_ERR(out);
	err = cxib_devx_exec(context, in, in_length, out, out_length);
	return cxib_devx_copy_out(attrs, MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT, out, out_length, err);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_QUERY_EQN)(struct uverbs_attr_bundle *attrs)
{
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	const struct cxib_hw *hw;
	u32 vector, eqn;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	err = uverbs_copy_from(&vector, attrs, MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC);
	if (err)
		return err;
	hw = to_ibdev(context->ib.device)->hw;
	if (vector >= hw->completion_eq_count) {
		ibdev_dbg(context->ib.device, "completion vector %u out of range [0, %u]\n",
			  vector, hw->completion_eq_count - 1);
		return -EINVAL;
	}
	eqn = hw->comp_eqs[vector].eqn;
	return uverbs_copy_to(attrs, MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN, &eqn, sizeof(eqn));
}

/*
 * Returns the index of a dynamic UAR without a uobject. The allocation of a UAR uobject returns its
 * index itself.
 */
static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_QUERY_UAR)(struct uverbs_attr_bundle *attrs)
{
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	u32 added, page;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	err = uverbs_copy_from(&added, attrs, MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX);
	if (err)
		return err;
	err = cxib_bfregs_dyn_uar_index(context->bfregs, added, &page);
	if (err) {
		ibdev_dbg(context->ib.device, "dynamic bfreg %u not allocated\n",
			  added);
		return err;
	}
	return uverbs_copy_to(attrs, MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX, &page, sizeof(page));
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_OTHER,
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OTHER_CMD_IN,
					       UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
					       UA_MANDATORY, UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_OTHER_CMD_OUT,
						UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_QUERY_EQN,
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_QUERY_EQN_USER_VEC,
					       UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_QUERY_EQN_DEV_EQN,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_QUERY_UAR,
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_QUERY_UAR_USER_IDX,
					       UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_QUERY_UAR_DEV_IDX,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_GLOBAL_METHODS(MLX5_IB_OBJECT_DEVX,
			      &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OTHER),
			      &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_QUERY_UAR),
			      &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_QUERY_EQN));

const struct uapi_definition cxib_devx_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_DEVX,
				      UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	{},
};
