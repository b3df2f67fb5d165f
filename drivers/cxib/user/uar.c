// SPDX-License-Identifier: GPL-2.0-only
/* UAR pages that user space allocates and maps. */
#include <linux/slab.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#include "hw/commands_objects.h"
#include "user/devx.h"
#include "user/dm.h"
#include "user/mmap.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct cxib_uar - a UAR page
 * @mapping: its mmap entry
 * @index: UAR index in the device
 */
struct cxib_uar {
	struct cxib_mmap_entry mapping;
	u32 index;
};

static struct cxib_uar *to_uar(struct rdma_user_mmap_entry *entry)
{
	return container_of(to_mmap_entry(entry), struct cxib_uar, mapping);
}

/*
 * A queue that firmware has refused to destroy may still use the UAR. Then no other process may get
 * it, so the UAR becomes an orphan.
 */
static void uar_dealloc(struct cxib_ucontext *context, u32 index)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DEALLOC_UAR, context->uid, index);
	int err = cxib_orphans_check(ibdev, &context->ib, &destroy) ?:
		  cxib_cmd_dealloc_uar(commands_of(ibdev), context->uid, index);

	if (err)
		cxib_orphans_keep(ibdev, &context->ib, &destroy, NULL, err);
}

/* Called after the entry was removed and the last mapping is gone. */
static void uar_free(struct cxib_mmap_entry *mapping)
{
	struct cxib_uar *uar = container_of(mapping, struct cxib_uar, mapping);
	struct cxib_ucontext *context = to_ucontext(mapping->entry.ucontext);

	xa_erase(&context->uars, uar->index);
	uar_dealloc(context, uar->index);
	kfree(uar);
}

/**
 * cxib_create_uar() - allocates a UAR page
 * @context: user context
 * @kind: CXIB_MMAP_UAR_NC or CXIB_MMAP_UAR_WC
 *
 * Return: the mmap entry, to be released by rdma_user_mmap_entry_remove();
 * -ENOMEM; -EBUSY when no mmap offset is free; errors of cxib_cmd_alloc_uar().
 */
struct rdma_user_mmap_entry *cxib_create_uar(struct cxib_ucontext *context,
					     enum cxib_mmap_kind kind)
{
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	struct cxib_uar *uar;
	int err;

	uar = kzalloc(sizeof(*uar), GFP_KERNEL_ACCOUNT);
	if (!uar)
		return ERR_PTR(-ENOMEM);
	err = cxib_cmd_alloc_uar(commands_of(ibdev), context->uid, &uar->index);
	if (err)
		goto free_uar;
	uar->mapping = (struct cxib_mmap_entry){
		.kind = kind,
		.address = cxib_uar_offset(ibdev->hw->bus, uar->index),
		.length = PAGE_SIZE,
		.free = uar_free,
	};
	err = cxib_mmap_insert(&context->ib, &uar->mapping);
	if (err)
		goto dealloc_uar;
	err = xa_insert(&context->uars, uar->index,
			xa_mk_value(uar->mapping.entry.start_pgoff), GFP_KERNEL);
	if (err) {
		/* Drops the last reference: uar_free() frees it. */
		rdma_user_mmap_entry_remove(&uar->mapping.entry);
		return ERR_PTR(err);
	}
	return &uar->mapping.entry;

dealloc_uar:
	uar_dealloc(context, uar->index);
free_uar:
	kfree(uar);
	return ERR_PTR(err);
}

/**
 * cxib_uar_index() - returns the UAR index for commands
 * @uar: mmap entry of a UAR page
 */
u32 cxib_uar_index(struct rdma_user_mmap_entry *uar)
{
	return to_uar(uar)->index;
}

/**
 * cxib_hold_uar() - takes a reference to a UAR page for a queue
 * @context: user context
 * @number: UAR index
 *
 * Return: the mmap entry, to be released by rdma_user_mmap_entry_put(); NULL if
 * the context does not own this UAR.
 */
struct rdma_user_mmap_entry *cxib_hold_uar(struct cxib_ucontext *context, u32 number)
{
	void *offset = xa_load(&context->uars, number);
	struct rdma_user_mmap_entry *entry;

	if (!offset)
		return NULL;
	entry = rdma_user_mmap_entry_get_pgoff(&context->ib, xa_to_value(offset));
	if (!entry)
		return NULL;
	/* The offset may have been reused by another UAR. */
	if (cxib_mmap_is_uar(to_mmap_entry(entry)) && to_uar(entry)->index == number)
		return entry;
	rdma_user_mmap_entry_put(entry);
	return NULL;
}

static int uar_copy_resp(struct uverbs_attr_bundle *attrs, struct rdma_user_mmap_entry *uar)
{
	u64 offset = rdma_user_mmap_get_offset(uar);
	u32 number = cxib_uar_index(uar);
	u32 length = PAGE_SIZE;
	int err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET, &offset,
			     sizeof(offset));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID, &number,
				     sizeof(number));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH, &length,
				     sizeof(length));
	return err;
}

/* libmlx5 allocates type BF unless bf_reg_size is 0. */
static int uar_choose_kind(struct cxib_ibdev *ibdev, enum mlx5_ib_uapi_uar_alloc_type type,
			   enum cxib_mmap_kind *kind)
{
	switch (type) {
	case MLX5_IB_UAPI_UAR_ALLOC_TYPE_NC:
		*kind = CXIB_MMAP_UAR_NC;
		return 0;
	case MLX5_IB_UAPI_UAR_ALLOC_TYPE_BF:
		*kind = CXIB_MMAP_UAR_WC;
		return cxib_wc_supported(ibdev) ? 0 : -EOPNOTSUPP;
	default:
		return -EOPNOTSUPP;
	}
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_UAR_OBJ_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *object = uverbs_attr_get_uobject(attrs,
							    MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	struct ib_ucontext *ib = ib_uverbs_get_ucontext(attrs);
	enum mlx5_ib_uapi_uar_alloc_type type;
	enum cxib_mmap_kind kind;
	struct rdma_user_mmap_entry *uar;
	int err;

	if (IS_ERR(ib))
		return PTR_ERR(ib);
	err = uverbs_get_const(&type, attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE);
	if (err)
		return err;
	err = uar_choose_kind(to_ibdev(ib->device), type, &kind);
	if (err)
		return err;
	uar = cxib_create_uar(to_ucontext(ib), kind);
	if (IS_ERR(uar))
		return PTR_ERR(uar);
	object->object = uar;
	uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE);
	return uar_copy_resp(attrs, uar);
}

static int uar_destroy(struct ib_uobject *object, enum rdma_remove_reason why,
		       struct uverbs_attr_bundle *attrs)
{
	rdma_user_mmap_entry_remove(object->object);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_ALLOC_HANDLE,
					    MLX5_IB_OBJECT_UAR, UVERBS_ACCESS_NEW,
					    UA_MANDATORY),
			    UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_UAR_OBJ_ALLOC_TYPE,
						 enum mlx5_ib_uapi_uar_alloc_type,
						 UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_PAGE_ID,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_LENGTH,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_UAR_OBJ_ALLOC_MMAP_OFFSET,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(MLX5_IB_METHOD_UAR_OBJ_DESTROY,
				    UVERBS_ATTR_IDR(MLX5_IB_ATTR_UAR_OBJ_DESTROY_HANDLE,
						    MLX5_IB_OBJECT_UAR,
						    UVERBS_ACCESS_DESTROY,
						    UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_UAR,
			    UVERBS_TYPE_ALLOC_IDR(uar_destroy),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_ALLOC),
			    &UVERBS_METHOD(MLX5_IB_METHOD_UAR_OBJ_DESTROY));

const struct uapi_definition cxib_uar_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_UAR),
	{},
};
