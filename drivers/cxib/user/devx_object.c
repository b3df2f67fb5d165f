// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: objects that user space creates by commands. */
#include <linux/capability.h>
#include <linux/completion.h>
#include <linux/jiffies.h>
#include <linux/slab.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "hw/command_interface.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/dct.h"
#include "hw/names.h"
#include "user/devx.h"
#include "user/devx_command.h"
#include "user/devx_event.h"
#include "verbs/cq/cq.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/* Bits of an object number, except those of general objects. */
#define NUMBER_BITS	24

/* Timeout for draining a DCT, and the period in which the wait checks for a fatal device. */
#define DRAIN_LIMIT	msecs_to_jiffies(60 * MSEC_PER_SEC)
#define DRAIN_RECHECK	msecs_to_jiffies(100)

/**
 * struct cxib_devx_object - an object created by a command of user space
 * @context: user context
 * @identity: kind and number
 * @uar: UAR that the object uses, with a reference; NULL: none
 * @target: subscriptions to its events
 * @is_draining: the drain of a DCT has begun
 * @drained: completed by the event that reports the end of the drain
 * @num_qpns: number of QPNs that the object reserves
 */
struct cxib_devx_object {
	struct cxib_ucontext *context;
	struct cxib_devx_obj_id identity;
	struct rdma_user_mmap_entry *uar;
	struct cxib_devx_target target;
	bool is_draining;
	struct completion drained;
	u32 num_qpns;
};

static struct cxib_devx_events *devx_obj_events_of(const struct cxib_devx_object *object)
{
	return to_ibdev(object->context->ib.device)->devx_events;
}

static bool devx_obj_is_completion_eq(const struct cxib_hw *hw, u32 eqn)
{
	unsigned int i;

	for (i = 0; i < hw->completion_eq_count; i++)
		if (hw->comp_eqs[i].eqn == eqn)
			return true;
	return false;
}

/* Index of an object in devx_objects, which has the kinds to which commands can refer. */
static unsigned long devx_obj_index_of(enum cxib_devx_kind kind, u32 number)
{
	return (unsigned long)kind << NUMBER_BITS | number;
}

static bool devx_obj_has_devx(struct cxib_ucontext *context, enum cxib_devx_kind kind, u32 number)
{
	return xa_load(&context->devx_objects, devx_obj_index_of(kind, number));
}

static bool devx_obj_has_cq(struct cxib_ucontext *context, u32 number)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	const struct cxib_cq *cq;
	bool is_own;

	xa_lock_irq(&ibdev->cqs);
	cq = xa_load(&ibdev->cqs, number);
	is_own = cq && cq->uid == context->uid;
	xa_unlock_irq(&ibdev->cqs);
	return is_own || devx_obj_has_devx(context, CXIB_DEVX_CQ, number);
}

static bool devx_obj_has_srq(struct cxib_ucontext *context, u32 number)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	const struct cxib_srq *srq;
	bool is_own;

	xa_lock_irq(&ibdev->srqs);
	srq = xa_load(&ibdev->srqs, number);
	is_own = srq && srq->ib.srq_type == IB_SRQT_BASIC &&
		 to_pd(srq->ib.pd)->uid == context->uid;
	xa_unlock_irq(&ibdev->srqs);
	return is_own || devx_obj_has_devx(context, CXIB_DEVX_RMP, number) ||
	       devx_obj_has_devx(context, CXIB_DEVX_XRQ, number);
}

static int devx_obj_not_owned(const struct cxib_ucontext *context, const char *name, u32 number)
{
	ibdev_dbg(context->ib.device, "%s 0x%x not owned by the context\n", name, number);
	return -EINVAL;
}

/* The driver does not rely on the device to protect the kernel's objects. */
static int devx_obj_check_refs(struct cxib_ucontext *context, const struct cxib_devx_refs *refs)
{
	unsigned int i;

	lockdep_assert_held(&context->references);

	if (refs->net_raw && !capable(CAP_NET_RAW))
		return -EPERM;
	if (refs->has_eqn &&
	    !devx_obj_is_completion_eq(to_ibdev(context->ib.device)->hw, refs->eqn))
		return devx_obj_not_owned(context, "EQ", refs->eqn);
	if (refs->has_pd && !xa_load(&context->domains, refs->pd))
		return devx_obj_not_owned(context, "PD", refs->pd);
	for (i = 0; i < refs->cq_count; i++)
		if (!devx_obj_has_cq(context, refs->cqs[i]))
			return devx_obj_not_owned(context, "CQ", refs->cqs[i]);
	if (refs->has_srq && !devx_obj_has_srq(context, refs->srq))
		return devx_obj_not_owned(context, "SRQ", refs->srq);
	return 0;
}

static int devx_obj_hold_uar(struct cxib_devx_object *object, const struct cxib_devx_refs *refs)
{
	if (!refs->has_uar)
		return 0;
	object->uar = cxib_hold_uar(object->context, refs->uar);
	return object->uar ? 0 : devx_obj_not_owned(object->context, "UAR", refs->uar);
}

/*
 * A reserved QPN costs no memory, so without limits user space could reserve all QPNs. A user
 * context gets a quarter of the QPNs of the device, all user contexts together get half of them.
 */
static int devx_obj_reserve_qpns(struct cxib_devx_object *object, const void *in)
{
	struct cxib_ibdev *ibdev = to_ibdev(object->context->ib.device);
	const u32 max = BIT(ibdev->hw->caps.log_max_qp);
	const u32 count = cxib_devx_num_qpns(in);
	int err;

	err = cxib_devx_reserve_qpns(&object->context->reserved_qpns, count, max / 4);
	if (err)
		return err;
	err = cxib_devx_reserve_qpns(&ibdev->reserved_qpns, count, max / 2);
	if (err)
		atomic_sub(count, &object->context->reserved_qpns);
	else
		object->num_qpns = count;
	return err;
}

static void devx_obj_free(struct cxib_devx_object *object)
{
	atomic_sub(object->num_qpns, &to_ibdev(object->context->ib.device)->reserved_qpns);
	atomic_sub(object->num_qpns, &object->context->reserved_qpns);
	if (object->uar)
		rdma_user_mmap_entry_put(object->uar);
	kfree(object);
}

static int devx_obj_reject(const struct cxib_ucontext *context, const void *in, int err)
{
	ibdev_dbg(context->ib.device, "DEVX command %s (0x%03x) rejected: error %d\n",
		  hw_cmd_name(hw_cmd_in_get_opcode(in)), hw_cmd_in_get_opcode(in), err);
	return err;
}

static struct cxib_devx_object *devx_obj_prepare(struct cxib_ucontext *context, void *in,
						 size_t length)
{
	struct cxib_devx_object *object = kzalloc(sizeof(*object), GFP_KERNEL_ACCOUNT);
	struct cxib_devx_refs refs;
	int err;

	if (!object)
		return ERR_PTR(-ENOMEM);
	object->context = context;
	err = cxib_devx_check_create(in, length, &object->identity, &refs);
	if (!err)
		err = devx_obj_check_refs(context, &refs);
	if (!err)
		err = devx_obj_hold_uar(object, &refs);
	if (!err)
		err = devx_obj_reserve_qpns(object, in);
	if (err) {
		devx_obj_reject(context, in, err);
		devx_obj_free(object);
		return ERR_PTR(err);
	}
	return object;
}

static bool devx_obj_can_be_referred_to(const struct cxib_devx_object *object)
{
	switch (object->identity.kind) {
	case CXIB_DEVX_CQ:
	case CXIB_DEVX_RMP:
	case CXIB_DEVX_XRQ:
		return true;
	default:
		return false;
	}
}

/* From here on commands can refer to the object. */
static int devx_obj_publish(struct cxib_devx_object *object)
{
	const struct cxib_devx_obj_id *identity = &object->identity;

	if (!devx_obj_can_be_referred_to(object))
		return 0;
	return xa_err(xa_store(&object->context->devx_objects,
			       devx_obj_index_of(identity->kind, identity->number), object,
			       GFP_KERNEL));
}

static void devx_obj_unpublish(struct cxib_devx_object *object)
{
	const struct cxib_devx_obj_id *identity = &object->identity;

	if (devx_obj_can_be_referred_to(object))
		xa_erase(&object->context->devx_objects,
			 devx_obj_index_of(identity->kind, identity->number));
}

static int devx_obj_await_drained(struct cxib_devx_object *object)
{
	struct cxib_ibdev *ibdev = to_ibdev(object->context->ib.device);
	const unsigned long end = jiffies + DRAIN_LIMIT;

	while (!wait_for_completion_timeout(&object->drained, DRAIN_RECHECK)) {
		if (cxib_command_queue_is_fatal(commands_of(ibdev)))
			return -EIO;
		if (time_after(jiffies, end)) {
			ibdev_err(&ibdev->ib, "DCT 0x%x: drain timed out\n",
				  object->identity.number);
			return -ETIMEDOUT;
		}
	}
	return 0;
}

/* The device destroys only a DCT without connections. */
static int devx_obj_drain(struct cxib_devx_object *object)
{
	struct cxib_ucontext *context = object->context;
	int err = 0;

	if (object->identity.kind != CXIB_DEVX_DCT)
		return 0;
	if (!object->is_draining)
		err = cxib_cmd_drain_dct(commands_of(to_ibdev(context->ib.device)), context->uid,
					 object->identity.number);
	if (err)
		return err;
	object->is_draining = true;
	return devx_obj_await_drained(object);
}

static int devx_obj_execute_destroy(struct cxib_devx_object *object, struct cxib_destroy *destroy)
{
	struct hw_general_obj_in_cmd_hdr in;
	struct hw_general_obj_out_cmd_hdr out;
	int err;

	cxib_devx_build_destroy(&object->identity, &in);
	hw_general_obj_in_cmd_hdr_set_uid(&in, object->context->uid);
	*destroy = (struct cxib_destroy){ .in_length = sizeof(in), .out_length = sizeof(out) };
	memcpy(destroy->in, &in, sizeof(in));
	if (object->identity.kind == CXIB_DEVX_DCT)
		destroy->before = HW_CMD_DRAIN_DCT;
	err = cxib_orphans_check(to_ibdev(object->context->ib.device), &object->context->ib,
				 destroy) ?:
	      devx_obj_drain(object);
	if (err)
		return err;
	destroy->before = 0;
	/* From here on the device may give the number to another user context. */
	cxib_devx_target_detach(devx_obj_events_of(object), &object->target);
	return cxib_devx_exec(object->context, &in, sizeof(in), &out, sizeof(out));
}

static int devx_obj_destroy_in_device(struct cxib_devx_object *object, struct ib_udata *udata)
{
	struct cxib_destroy destroy;
	int err = devx_obj_execute_destroy(object, &destroy);

	return cxib_finish_user_destroy(to_ibdev(object->context->ib.device), udata, &destroy,
					NULL, err);
}

/* Destroys an object that user space does not know yet. */
static void devx_obj_discard(struct cxib_devx_object *object)
{
	struct ib_ucontext *context = &object->context->ib;
	struct cxib_destroy destroy;
	int err = devx_obj_execute_destroy(object, &destroy);

	cxib_devx_target_detach(devx_obj_events_of(object), &object->target);
	cxib_discard_object(to_ibdev(context->device), context, &destroy, NULL, err);
}

static int devx_obj_begin_events(struct cxib_devx_object *object)
{
	cxib_devx_target_init(&object->target, &object->identity);
	init_completion(&object->drained);
	if (object->identity.kind == CXIB_DEVX_DCT)
		object->target.drained = &object->drained;
	return cxib_devx_target_attach(devx_obj_events_of(object), &object->target);
}

static int devx_obj_create_in_device(struct cxib_devx_object *object, void *in, size_t in_length,
				     void *out, size_t out_length)
{
	int err;

	err = cxib_devx_exec(object->context, in, in_length, out, out_length);
	if (err)
		return err;
	cxib_devx_get_obj_id(out, out_length, &object->identity);
	err = devx_obj_begin_events(object);
	if (!err)
		err = devx_obj_publish(object);
	if (err)
		devx_obj_discard(object);
	return err;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_CREATE)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	void *in = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
	int in_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN);
	int out_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	struct cxib_devx_object *object;
	size_t out_size;
	void *out;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	out_size = cxib_devx_create_outlen(in, out_length);
	out = uverbs_zalloc(attrs, out_size);
	if (IS_ERR(out))
		return PTR_ERR(out);
	guard(rwsem_read)(&context->references);
	object = devx_obj_prepare(context, in, in_length);
	if (IS_ERR(object))
		return PTR_ERR(object);
	err = devx_obj_create_in_device(object, in, in_length, out, out_size);
	if (err) {
		devx_obj_free(object);
	} else {
		uobject->object = object;
		uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE);
	}
	return cxib_devx_copy_out(attrs, MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT, out, out_length,
				  err);
}

/* If the device has not executed the destroy command, events still arrive. */
static void devx_obj_resume_events(struct cxib_devx_object *object)
{
	if (object->target.has_events && RB_EMPTY_NODE(&object->target.node))
		cxib_devx_target_resume(devx_obj_events_of(object), &object->target);
}

/* Fails while other objects refer to the object, unless the user context is being closed. */
static int devx_obj_destroy(struct ib_uobject *uobject, enum rdma_remove_reason why,
			    struct uverbs_attr_bundle *attrs)
{
	struct cxib_devx_object *object = uobject->object;
	int err;

	guard(rwsem_write)(&object->context->references);
	err = devx_obj_destroy_in_device(object, &attrs->driver_udata);
	if (err) {
		devx_obj_resume_events(object);
		return err;
	}
	devx_obj_unpublish(object);
	cxib_devx_target_detach(devx_obj_events_of(object), &object->target);
	cxib_devx_target_end(devx_obj_events_of(object), &object->target);
	devx_obj_free(object);
	return 0;
}

/*
 * DEVX commands cannot name two kinds of verbs QPs:
 * - The RDMA core creates a struct ib_qp for each process that opens an XRC_TGT QP. It is not
 *   embedded in a struct cxib_qp, and all openers share the real QP.
 * - A DCT has its own commands, and no number before RTR.
 */
static int devx_obj_identify_qp(struct ib_qp *ib, struct cxib_devx_obj_id *identity)
{
	if (ib->real_qp != ib || ib->qp_type == IB_QPT_XRC_TGT || to_qp(ib)->dct)
		return -EINVAL;
	identity->kind = CXIB_DEVX_QP;
	identity->number = to_qp(ib)->qpn;
	return 0;
}

/* Identifies an object that a verb or DEVX has created. */
static int devx_obj_identify(struct ib_uobject *uobject, struct cxib_devx_obj_id *identity)
{
	const struct cxib_devx_object *object = uobject->object;
	struct ib_srq *srq = uobject->object;

	*identity = (struct cxib_devx_obj_id){ .from_verbs = true };
	switch (uobj_get_object_id(uobject)) {
	case MLX5_IB_OBJECT_DEVX_OBJ:
		*identity = object->identity;
		return 0;
	case UVERBS_OBJECT_CQ:
		identity->kind = CXIB_DEVX_CQ;
		identity->number = to_cq(uobject->object)->cqn;
		return 0;
	case UVERBS_OBJECT_QP:
		return devx_obj_identify_qp(uobject->object, identity);
	case UVERBS_OBJECT_SRQ:
		identity->kind = CXIB_DEVX_RMP;
		identity->number = to_srq(srq)->srqn;
		return srq->srq_type == IB_SRQT_BASIC ? 0 : -EINVAL;
	default:
		return -EINVAL;
	}
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_MODIFY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE);
	void *in = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
	int in_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN);
	int out_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	struct cxib_devx_obj_id identity;
	struct cxib_devx_refs refs;
	void *out;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	guard(rwsem_read)(&context->references);
	err = devx_obj_identify(uobject, &identity);
	if (!err)
		err = cxib_devx_check_modify(&identity, in, in_length, &refs);
	if (!err)
		err = devx_obj_check_refs(context, &refs);
	if (err)
		return devx_obj_reject(context, in, err);
	out = uverbs_zalloc(attrs, out_length);
	if (IS_ERR(out))
		return PTR_ERR(out);
	err = cxib_devx_exec(context, in, in_length, out, out_length);
	return cxib_devx_copy_out(attrs, MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT, out, out_length,
				  err);
}

/**
 * cxib_devx_query() - executes a query command of user space
 * @context: user context
 * @uobject: object of verbs or of DEVX, locked for reading
 * @in: input of the command, at least %CXIB_DEVX_MIN_SIZE bytes
 * @in_length: length of @in, bytes
 * @out: output: zeros, and at least %CXIB_DEVX_QUERY_MAX bytes
 * @out_length: output length that user space has requested, bytes
 *
 * Context: process context, may sleep.
 * Return: as cxib_devx_exec(); -EINVAL when the command is no query of the object.
 */
int cxib_devx_query(struct cxib_ucontext *context, struct ib_uobject *uobject, void *in,
		    size_t in_length, void *out, size_t out_length)
{
	struct cxib_devx_obj_id identity;
	int err;

	err = devx_obj_identify(uobject, &identity);
	if (!err)
		err = cxib_devx_check_query(&identity, in);
	if (err)
		return devx_obj_reject(context, in, err);
	err = cxib_devx_exec(context, in, in_length, out,
			     cxib_devx_query_outlen(&identity, out_length));
	cxib_devx_hide_addresses(&identity, out);
	return err;
}

/**
 * cxib_devx_target() - returns the subscriptions of an object
 * @uobject: %MLX5_IB_OBJECT_DEVX_OBJ, locked
 */
struct cxib_devx_target *cxib_devx_target(struct ib_uobject *uobject)
{
	struct cxib_devx_object *object = uobject->object;

	return &object->target;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE);
	void *in = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN);
	int in_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN);
	int out_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	void *out;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	out = uverbs_zalloc(attrs, max(out_length, CXIB_DEVX_QUERY_MAX));
	if (IS_ERR(out))
		return PTR_ERR(out);
	err = cxib_devx_query(context, uobject, in, in_length, out, out_length);
	return cxib_devx_copy_out(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT, out, out_length, err);
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_OBJ_CREATE,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_CREATE_HANDLE,
					    MLX5_IB_OBJECT_DEVX_OBJ, UVERBS_ACCESS_NEW,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_IN,
					       UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
					       UA_MANDATORY, UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_OBJ_CREATE_CMD_OUT,
						UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(MLX5_IB_METHOD_DEVX_OBJ_DESTROY,
				    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_DESTROY_HANDLE,
						    MLX5_IB_OBJECT_DEVX_OBJ,
						    UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_OBJ_MODIFY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_HANDLE,
					    UVERBS_IDR_ANY_OBJECT, UVERBS_ACCESS_WRITE,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_IN,
					       UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
					       UA_MANDATORY, UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_OBJ_MODIFY_CMD_OUT,
						UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_OBJ_QUERY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_QUERY_HANDLE,
					    UVERBS_IDR_ANY_OBJECT, UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_IN,
					       UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
					       UA_MANDATORY, UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_OBJ_QUERY_CMD_OUT,
						UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
						UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_DEVX_OBJ,
			    UVERBS_TYPE_ALLOC_IDR(devx_obj_destroy),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OBJ_CREATE),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OBJ_DESTROY),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OBJ_MODIFY),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OBJ_QUERY));

const struct uapi_definition cxib_devx_object_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_DEVX_OBJ,
				      UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	{},
};
