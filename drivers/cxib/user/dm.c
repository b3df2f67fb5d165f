// SPDX-License-Identifier: GPL-2.0-only
/*
 * MEMIC: allocation, mapping and registration by user space.
 *
 * User space maps whole pages, so two allocations never share a page of BAR 0. A memic operation
 * has its own address; an access to that address executes the operation.
 */
#include <linux/bitmap.h>
#include <linux/io.h>
#include <linux/slab.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "hw/commands_memory.h"
#include "hw/memic.h"
#include "user/dm.h"
#include "user/mmap.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

#define MEMORY_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_READ | \
			 IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_ATOMIC | \
			 IB_ZERO_BASED | IB_ACCESS_OPTIONAL)

/**
 * struct cxib_dm - a MEMIC allocation
 * @ib: verbs object
 * @references: one reference for @mapping and one for each operation
 * @ibdev: RDMA device
 * @address: offset in BAR 0
 * @size: length, bytes
 * @mapping: mmap entry of the pages that contain it
 * @lock: protects @operations
 * @operations: struct cxib_dm_op by operation type
 */
struct cxib_dm {
	struct ib_dm ib;
	struct kref references;
	struct cxib_ibdev *ibdev;
	u64 address;
	u32 size;
	struct cxib_mmap_entry mapping;
	struct mutex lock; /* operations */
	struct xarray operations;
};

/**
 * struct cxib_dm_op - a memic operation on a MEMIC allocation
 * @mapping: mmap entry of its pages, as many as the allocation has
 * @memory: the allocation; a reference is held
 * @address: offset in BAR 0
 * @op: enum hw_memic_operation_type
 */
struct cxib_dm_op {
	struct cxib_mmap_entry mapping;
	struct cxib_dm *memory;
	u64 address;
	u8 op;
};

static struct cxib_dm *to_dm(struct ib_dm *ib)
{
	return container_of(ib, struct cxib_dm, ib);
}

static unsigned int dm_first_page(const struct cxib_dm *memory)
{
	return (memory->address - memory->ibdev->hw->caps.memic_bar_start) >> PAGE_SHIFT;
}

/* Number of pages of the allocation, or of one of its operations, at @address. */
static unsigned int dm_pages_at(const struct cxib_dm *memory, u64 address)
{
	return DIV_ROUND_UP(offset_in_page(address) + memory->size, PAGE_SIZE);
}

static unsigned int dm_pages_of(const struct cxib_dm *memory)
{
	return dm_pages_at(memory, memory->address);
}

static void dm_release_pages_of(const struct cxib_dm *memory)
{
	guard(mutex)(&memory->ibdev->memic_lock);
	bitmap_clear(memory->ibdev->memic_pages, dm_first_page(memory), dm_pages_of(memory));
}

/**
 * cxib_free_dm() - frees the state of MEMIC that the device no longer has
 * @memory: MEMIC that user space cannot map any longer; freed
 */
void cxib_free_dm(struct cxib_dm *memory)
{
	dm_release_pages_of(memory);
	mutex_destroy(&memory->lock);
	kfree(memory);
}

/* The user context outlives all mappings. Returns NULL if the MEMIC was never mapped. */
static const struct ib_ucontext *dm_context_of(const struct cxib_dm *memory)
{
	return memory->mapping.entry.ucontext;
}

static struct cxib_destroy dm_destroy_of(const struct cxib_dm *memory)
{
	struct hw_dealloc_memic_in in = {};
	struct cxib_destroy destroy = {
		.in_length = sizeof(in), .out_length = sizeof(struct hw_dealloc_memic_out),
	};

	hw_dealloc_memic_in_set_opcode(&in, HW_CMD_DEALLOC_MEMIC);
	hw_dealloc_memic_in_set_memic_start_addr(&in, memory->address);
	hw_dealloc_memic_in_set_memic_size(&in, memory->size);
	memcpy(destroy.in, &in, sizeof(in));
	return destroy;
}

static void dm_leave_operation(const struct cxib_dm *memory, u8 operation, int err)
{
	struct hw_modify_memic_in in = {};
	struct cxib_destroy destroy = {
		.in_length = sizeof(in), .out_length = sizeof(struct hw_modify_memic_out),
	};

	static_assert(sizeof(in) <= sizeof(destroy.in));
	hw_modify_memic_in_set_opcode(&in, HW_CMD_MODIFY_MEMIC);
	hw_modify_memic_in_set_op_mod(&in, HW_MODIFY_MEMIC_OP_MOD_DEALLOC);
	hw_modify_memic_in_set_memic_operation_type(&in, operation);
	hw_modify_memic_in_set_memic_start_addr(&in, memory->address);
	memcpy(destroy.in, &in, sizeof(in));
	cxib_orphans_keep(memory->ibdev, dm_context_of(memory), &destroy, NULL, err);
}

static void dm_dealloc_operation(const struct cxib_dm *memory, u8 operation)
{
	int err = cxib_cmd_dealloc_memic_op(commands_of(memory->ibdev), memory->address,
					    operation);

	if (err)
		dm_leave_operation(memory, operation, err);
}

static void dm_free_memory(struct kref *references)
{
	struct cxib_dm *memory = container_of(references, struct cxib_dm,
					      references);
	struct cxib_ibdev *ibdev = memory->ibdev;
	const struct cxib_destroy destroy = dm_destroy_of(memory);
	struct cxib_pinned pinned = { .dm = memory };
	int err = cxib_orphans_check(ibdev, dm_context_of(memory), &destroy) ?:
		  cxib_cmd_dealloc_memic(commands_of(ibdev), memory->address, memory->size);

	if (err)
		cxib_orphans_keep(ibdev, dm_context_of(memory), &destroy, &pinned, err);
	if (pinned.dm)
		cxib_free_dm(pinned.dm);
}

static void dm_free_memory_mapping(struct cxib_mmap_entry *mapping)
{
	struct cxib_dm *memory = container_of(mapping, struct cxib_dm,
					      mapping);

	kref_put(&memory->references, dm_free_memory);
}

static void dm_free_operation(struct cxib_mmap_entry *mapping)
{
	struct cxib_dm_op *operation = container_of(mapping, struct cxib_dm_op, mapping);
	struct cxib_dm *memory = operation->memory;

	dm_dealloc_operation(memory, operation->op);
	kref_put(&memory->references, dm_free_memory);
	kfree(operation);
}

static int dm_check_attr(struct cxib_ibdev *ibdev, const struct ib_dm_alloc_attr *attr)
{
	const struct cxib_device_caps *caps = &ibdev->hw->caps;

	if (!caps->memic)
		return -EOPNOTSUPP;
	if (!attr->length || attr->length > caps->memic_max_size) {
		ibdev_dbg(&ibdev->ib, "alloc DM: length %llu out of range [1, %u]\n",
			  attr->length, caps->memic_max_size);
		return attr->length ? -ENOMEM : -EINVAL;
	}
	if (attr->alignment > caps->memic_log_max_alignment) {
		ibdev_dbg(&ibdev->ib, "alloc DM: max log alignment %u exceeded: %u\n",
			  caps->memic_log_max_alignment, attr->alignment);
		return -EINVAL;
	}
	if (attr->flags)
		return -EOPNOTSUPP;
	return 0;
}

/* Firmware allocates within the free pages that the command offers as a range. */
static int dm_alloc_memic(struct cxib_dm *memory, u32 alignment)
{
	struct cxib_ibdev *ibdev = memory->ibdev;
	const struct cxib_device_caps *caps = &ibdev->hw->caps;
	unsigned int pages = caps->memic_bar_size >> PAGE_SHIFT;
	unsigned int num_pages = DIV_ROUND_UP(memory->size, PAGE_SIZE);
	struct cxib_memic_params params = {
		.range = num_pages << PAGE_SHIFT,
		.length = memory->size,
		.log_alignment = alignment,
	};
	unsigned int first = 0;
	int err = -EAGAIN;

	guard(mutex)(&ibdev->memic_lock);
	for (; err == -EAGAIN; first++) {
		first = bitmap_find_next_zero_area(ibdev->memic_pages, pages, first,
						   num_pages, 0);
		if (first >= pages)
			return -ENOMEM;
		params.start = caps->memic_bar_start + ((u64)first << PAGE_SHIFT);
		err = cxib_cmd_alloc_memic(commands_of(ibdev), &params, &memory->address);
		if (err)
			continue;
		if (memory->address - params.start > params.range - memory->size) {
			dev_err(ibdev->hw->bus->dev,
				"MEMIC 0x%llx: outside of the 0x%x bytes offered at 0x%llx\n",
				memory->address, params.range, params.start);
			return -EBADMSG;
		}
		bitmap_set(ibdev->memic_pages, first, num_pages);
	}
	return err;
}

static int dm_copy_resp(struct uverbs_attr_bundle *attrs, const struct cxib_dm *memory)
{
	u64 offset = offset_in_page(memory->address);
	u16 index = cxib_mmap_page_index(&memory->mapping);
	int err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET, &offset,
				     sizeof(offset));
	return err;
}

/*
 * The public interface does not say that the device clears MEMIC, so it may contain the data of its
 * last owner. Each store has 4 bytes, as in libmlx5, and the CPU may combine stores. The read
 * returns after all stores have reached the device.
 */
static int dm_clear_memory(const struct cxib_dm *memory)
{
	void __iomem *pages = ioremap_wc(memory->ibdev->hw->bus->bar + memory->mapping.address,
					 memory->mapping.length);
	u32 __iomem *words;
	u32 i;

	if (!pages)
		return -ENOMEM;
	words = pages + offset_in_page(memory->address);
	for (i = 0; i < memory->size / sizeof(*words); i++)
		__raw_writel(0, &words[i]);
	wmb(); /* flushes write-combining buffers; orders the read below after the stores */
	__raw_readl(words);
	iounmap(pages);
	return 0;
}

static struct cxib_dm *dm_create(struct cxib_ibdev *ibdev,
				 const struct ib_dm_alloc_attr *attr)
{
	struct cxib_dm *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	int err;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	kref_init(&memory->references);
	mutex_init(&memory->lock);
	xa_init(&memory->operations);
	memory->ibdev = ibdev;
	memory->size = round_up(attr->length, BIT(ibdev->hw->caps.memic_log_min_size));
	err = dm_alloc_memic(memory, attr->alignment);
	if (err) {
		kfree(memory);
		return ERR_PTR(err);
	}
	memory->mapping = (struct cxib_mmap_entry){
		.kind = CXIB_MMAP_MEMIC,
		.address = memory->address & PAGE_MASK,
		.length = dm_pages_of(memory) << PAGE_SHIFT,
		.free = dm_free_memory_mapping,
	};
	err = dm_clear_memory(memory);
	if (err) {
		kref_put(&memory->references, dm_free_memory);
		return ERR_PTR(err);
	}
	return memory;
}

struct ib_dm *cxib_alloc_dm(struct ib_device *ib, struct ib_ucontext *context,
			    struct ib_dm_alloc_attr *attr,
			    struct uverbs_attr_bundle *attrs)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);
	struct cxib_dm *memory;
	enum mlx5_ib_uapi_dm_type type;
	int err;

	err = uverbs_get_const_default(&type, attrs, MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE,
				       MLX5_IB_UAPI_DM_TYPE_MEMIC);
	if (err)
		return ERR_PTR(err);
	if (type != MLX5_IB_UAPI_DM_TYPE_MEMIC)
		return ERR_PTR(-EOPNOTSUPP);
	err = dm_check_attr(ibdev, attr);
	if (err)
		return ERR_PTR(err);
	memory = dm_create(ibdev, attr);
	if (IS_ERR(memory))
		return ERR_CAST(memory);
	err = cxib_mmap_insert(context, &memory->mapping);
	if (err) {
		kref_put(&memory->references, dm_free_memory);
		return ERR_PTR(err);
	}
	err = dm_copy_resp(attrs, memory);
	if (err) {
		rdma_user_mmap_entry_remove(&memory->mapping.entry);
		return ERR_PTR(err);
	}
	return &memory->ib;
}

/* Pages that are still mapped are freed at the last munmap. */
int cxib_dealloc_dm(struct ib_dm *ib, struct uverbs_attr_bundle *attrs)
{
	struct cxib_dm *memory = to_dm(ib);
	struct cxib_dm_op *operation;
	unsigned long number;

	mutex_lock(&memory->lock);
	xa_for_each(&memory->operations, number, operation) {
		xa_erase(&memory->operations, number);
		rdma_user_mmap_entry_remove(&operation->mapping.entry);
	}
	xa_destroy(&memory->operations);
	mutex_unlock(&memory->lock);
	rdma_user_mmap_entry_remove(&memory->mapping.entry);
	return 0;
}

struct ib_mr *cxib_reg_dm_mr(struct ib_pd *ib, struct ib_dm *dm, struct ib_dm_mr_attr *attr,
			     struct uverbs_attr_bundle *attrs)
{
	struct cxib_dm *memory = to_dm(dm);

	if (attr->access_flags & ~MEMORY_ACCESS) {
		ibdev_dbg(ib->device,
			  "DM MR: unsupported access flags 0x%x (mask 0x%lx)\n",
			  attr->access_flags, (unsigned long)MEMORY_ACCESS);
		return ERR_PTR(-EINVAL);
	}
	/* The RDMA core has checked offset and length against the DM. */
	return cxib_reg_memic_mr(ib, memory->address + attr->offset, attr->length,
				 attr->access_flags);
}

static struct cxib_dm_op *dm_create_operation(struct ib_ucontext *context,
					      struct cxib_dm *memory, u8 number)
{
	struct cxib_ibdev *ibdev = memory->ibdev;
	struct cxib_dm_op *operation;
	int err;

	lockdep_assert_held(&memory->lock);

	operation = kzalloc(sizeof(*operation), GFP_KERNEL_ACCOUNT);
	if (!operation)
		return ERR_PTR(-ENOMEM);
	err = cxib_cmd_alloc_memic_op(commands_of(ibdev), memory->address, number,
				      &operation->address);
	if (err)
		goto free_operation;
	operation->memory = memory;
	operation->op = number;
	operation->mapping = (struct cxib_mmap_entry){
		.kind = CXIB_MMAP_MEMIC_OP,
		.address = operation->address & PAGE_MASK,
		.length = dm_pages_at(memory, operation->address) << PAGE_SHIFT,
		.free = dm_free_operation,
	};
	if (operation->address > ibdev->hw->bus->bar_size - memory->size) {
		err = -EBADMSG;
		goto unmap_operation;
	}
	err = cxib_mmap_insert(context, &operation->mapping);
	if (err)
		goto unmap_operation;
	kref_get(&memory->references);
	err = xa_err(xa_store(&memory->operations, number, operation, GFP_KERNEL));
	if (err) {
		/* Drops the last reference: dm_free_operation() frees it. */
		rdma_user_mmap_entry_remove(&operation->mapping.entry);
		return ERR_PTR(err);
	}
	return operation;

unmap_operation:
	dm_dealloc_operation(memory, number);
free_operation:
	kfree(operation);
	return ERR_PTR(err);
}

static int dm_copy_op_addr(struct uverbs_attr_bundle *attrs, const struct cxib_dm_op *operation)
{
	u64 offset = offset_in_page(operation->address);
	u16 index = cxib_mmap_page_index(&operation->mapping);
	int err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET, &offset,
			     sizeof(offset));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX, &index,
				     sizeof(index));
	return err;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DM_MAP_OP_ADDR)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *object =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE);
	struct ib_dm *dm = object->object;
	struct cxib_dm *memory = to_dm(dm);
	struct cxib_dm_op *operation;
	u8 number;
	int err;

	err = uverbs_copy_from(&number, attrs, MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP);
	if (err)
		return err;
	if (number >= 32 ||
	    !(memory->ibdev->hw->caps.memic_operations & BIT(number))) {
		ibdev_dbg(dm->device, "map DM op: unsupported operation %u\n", number);
		return -EOPNOTSUPP;
	}
	guard(mutex)(&memory->lock);
	operation = xa_load(&memory->operations, number);
	if (!operation)
		operation = dm_create_operation(object->context, memory, number);
	if (IS_ERR(operation))
		return PTR_ERR(operation);
	return dm_copy_op_addr(attrs, operation);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DM_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *object =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE);
	struct ib_dm *dm = object->object;
	struct cxib_dm *memory = to_dm(dm);
	u64 offset = offset_in_page(memory->address);
	u16 index = cxib_mmap_page_index(&memory->mapping);
	u64 length = dm->length;
	int err;

	err = uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX, &index, sizeof(index));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET, &offset,
				     sizeof(offset));
	if (!err)
		err = uverbs_copy_to(attrs, MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH, &length,
				     sizeof(length));
	return err;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DM_QUERY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_QUERY_DM_REQ_HANDLE, UVERBS_OBJECT_DM,
					    UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_START_OFFSET,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_PAGE_INDEX,
						UVERBS_ATTR_TYPE(u16), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_QUERY_DM_RESP_LENGTH,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DM_MAP_OP_ADDR,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_HANDLE,
					    UVERBS_OBJECT_DM, UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DM_MAP_OP_ADDR_REQ_OP,
					       UVERBS_ATTR_TYPE(u8), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_START_OFFSET,
						UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DM_MAP_OP_ADDR_RESP_PAGE_INDEX,
						UVERBS_ATTR_TYPE(u16), UA_OPTIONAL));

ADD_UVERBS_ATTRIBUTES_SIMPLE(cxib_alloc_dm_attributes, UVERBS_OBJECT_DM, UVERBS_METHOD_DM_ALLOC,
			     UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_START_OFFSET,
						 UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			     UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_ALLOC_DM_RESP_PAGE_INDEX,
						 UVERBS_ATTR_TYPE(u16), UA_OPTIONAL),
			     UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_ALLOC_DM_REQ_TYPE,
						  enum mlx5_ib_uapi_dm_type, UA_OPTIONAL));

ADD_UVERBS_METHODS(cxib_dm_methods, UVERBS_OBJECT_DM,
		   &UVERBS_METHOD(MLX5_IB_METHOD_DM_MAP_OP_ADDR),
		   &UVERBS_METHOD(MLX5_IB_METHOD_DM_QUERY));

const struct uapi_definition cxib_dm_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &cxib_alloc_dm_attributes),
	UAPI_DEF_CHAIN_OBJ_TREE(UVERBS_OBJECT_DM, &cxib_dm_methods),
	{},
};
