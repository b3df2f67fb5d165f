// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: umems, pinned and accounted. */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <rdma/iter.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#include "compat/umem.h"
#include "hw/uctx.h"
#include "user/devx.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

#define MEMORY_ACCESS	(IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE | IB_ACCESS_REMOTE_READ)

/* Page sizes of umems: 4 KiB to 2^31 times as much, because the size field has five bits. */
#define PAGE_SIZES	GENMASK_ULL(CXIB_LOG_DEVICE_PAGE + 31, CXIB_LOG_DEVICE_PAGE)

/**
 * struct cxib_devx_umem - a registered umem
 * @context: user context
 * @umem: pinned pages
 * @number: umem id
 */
struct cxib_devx_umem {
	struct cxib_ucontext *context;
	struct ib_umem *umem;
	u32 number;
};

/**
 * struct devx_umem_request - attributes of a registration
 * @address: start address
 * @length: length, bytes
 * @access: IB_ACCESS_…
 * @page_sizes: bitmap of allowed page sizes
 */
struct devx_umem_request {
	u64 address;
	u64 length;
	u32 access;
	u64 page_sizes;
};

static int devx_umem_get_request(struct uverbs_attr_bundle *attrs,
				 struct devx_umem_request *request)
{
	int err;

	/* The driver does not support dma-bufs: they are memory of other devices. */
	if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD))
		return -EOPNOTSUPP;
	err = uverbs_copy_from(&request->address, attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR);
	if (!err)
		err = uverbs_copy_from(&request->length, attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_LEN);
	if (!err)
		err = uverbs_get_flags32(&request->access, attrs,
					 MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS, MEMORY_ACCESS);
	if (err)
		return err;
	request->page_sizes = PAGE_SIZES;
	if (uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP))
		err = uverbs_copy_from(&request->page_sizes, attrs,
				       MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP);
	request->page_sizes &= PAGE_SIZES;
	return err;
}

/* Returns true if pages of this size contain nothing but the umem. */
static bool devx_umem_covers_only(struct ib_umem *umem, unsigned long page_size)
{
	return !ib_umem_dma_offset(umem, page_size) && IS_ALIGNED(umem->length, page_size);
}

/*
 * CREATE_UMEM has pages but no length, so commands can name any address in these pages. A system
 * page belongs to the user context as a whole. A larger page may also contain memory of others, so
 * it must contain nothing but the umem.
 */
static unsigned long devx_umem_find_page_size(const struct cxib_devx_umem *memory,
					      const struct devx_umem_request *request)
{
	u64 sizes = request->page_sizes;
	unsigned long size;

	do {
		size = ib_umem_find_best_pgoff(memory->umem, sizes, U32_MAX);
		if (size && (size <= PAGE_SIZE || devx_umem_covers_only(memory->umem, size)))
			return size;
		sizes &= size - 1;
	} while (size && sizes);
	ibdev_dbg(memory->context->ib.device, "umem 0x%llx: no page size of 0x%llx fits\n",
		  request->address, request->page_sizes);
	return 0;
}

static void devx_umem_list_pages(const struct cxib_devx_umem *memory, unsigned long page_size,
				 __be64 *pages)
{
	u64 access = CXIB_PAGE_READ | (memory->umem->writable ? CXIB_PAGE_WRITE : 0);
	struct ib_block_iter block;
	size_t i = 0;

	rdma_umem_for_each_dma_block(memory->umem, &block, page_size)
		pages[i++] = cpu_to_be64(rdma_block_iter_dma_address(&block) | access);
}

static int devx_umem_create_in_device(struct cxib_devx_umem *memory, unsigned long page_size)
{
	struct cxib_ucontext *context = memory->context;
	struct cxib_user_memory_params params = {
		.uid = context->uid,
		.page_count = ib_umem_num_dma_blocks(memory->umem, page_size),
		.log_page_size = ilog2(page_size),
		.offset = ib_umem_dma_offset(memory->umem, page_size),
	};
	__be64 *pages;
	int err;

	pages = kvcalloc(params.page_count, sizeof(*pages), GFP_KERNEL_ACCOUNT);
	if (!pages)
		return -ENOMEM;
	devx_umem_list_pages(memory, page_size, pages);
	params.pages = pages;
	err = cxib_cmd_create_umem(commands_of(to_ibdev(context->ib.device)), &params,
				   &memory->number);
	kvfree(pages);
	return err;
}

static struct cxib_devx_umem *devx_umem_register_memory(struct cxib_ucontext *context,
							const struct devx_umem_request *request)
{
	struct cxib_devx_umem *memory = kzalloc(sizeof(*memory), GFP_KERNEL_ACCOUNT);
	unsigned long page_size;
	int err;

	if (!memory)
		return ERR_PTR(-ENOMEM);
	memory->context = context;
	memory->umem = ib_umem_get_va(context->ib.device, request->address, request->length,
				      request->access);
	if (IS_ERR(memory->umem)) {
		err = PTR_ERR(memory->umem);
		goto free_memory;
	}
	page_size = devx_umem_find_page_size(memory, request);
	err = page_size ? devx_umem_create_in_device(memory, page_size) : -EINVAL;
	if (err)
		goto release_umem;
	return memory;

release_umem:
	cxib_release_umem(to_ibdev(context->ib.device), memory->umem, err);
free_memory:
	kfree(memory);
	return ERR_PTR(err);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_UMEM_REG)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	struct cxib_devx_umem *memory;
	struct devx_umem_request request;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	err = devx_umem_get_request(attrs, &request);
	if (err)
		return err;
	memory = devx_umem_register_memory(context, &request);
	if (IS_ERR(memory))
		return PTR_ERR(memory);
	uobject->object = memory;
	uverbs_finalize_uobj_create(attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE);
	return uverbs_copy_to(attrs, MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID, &memory->number,
			      sizeof(memory->number));
}

/* The pages stay pinned until the device has destroyed the umem. */
static int devx_umem_deregister_memory(struct ib_uobject *uobject, enum rdma_remove_reason why,
				       struct uverbs_attr_bundle *attrs)
{
	struct cxib_devx_umem *memory = uobject->object;
	struct cxib_ucontext *context = memory->context;
	struct cxib_ibdev *ibdev = to_ibdev(context->ib.device);
	const struct cxib_destroy destroy =
		cxib_destroy_object(HW_CMD_DESTROY_UMEM, context->uid, memory->number);
	struct cxib_pinned pinned = { .umem = memory->umem };
	int err;

	err = cxib_orphans_check(ibdev, &context->ib, &destroy) ?:
	      cxib_cmd_destroy_umem(commands_of(ibdev), context->uid, memory->number);
	err = cxib_finish_user_destroy(ibdev, &attrs->driver_udata, &destroy, &pinned, err);
	if (err)
		return err;
	ib_umem_release(pinned.umem);
	kfree(memory);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_UMEM_REG,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_UMEM_REG_HANDLE,
					    MLX5_IB_OBJECT_DEVX_UMEM, UVERBS_ACCESS_NEW,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ADDR,
					       UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_LEN,
					       UVERBS_ATTR_TYPE(u64), UA_MANDATORY),
			    UVERBS_ATTR_RAW_FD(MLX5_IB_ATTR_DEVX_UMEM_REG_DMABUF_FD, UA_OPTIONAL),
			    UVERBS_ATTR_FLAGS_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_ACCESS,
						 enum ib_access_flags),
			    UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_DEVX_UMEM_REG_PGSZ_BITMAP, u64),
			    UVERBS_ATTR_PTR_OUT(MLX5_IB_ATTR_DEVX_UMEM_REG_OUT_ID,
						UVERBS_ATTR_TYPE(u32), UA_MANDATORY));

DECLARE_UVERBS_NAMED_METHOD_DESTROY(MLX5_IB_METHOD_DEVX_UMEM_DEREG,
				    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_UMEM_DEREG_HANDLE,
						    MLX5_IB_OBJECT_DEVX_UMEM,
						    UVERBS_ACCESS_DESTROY, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_DEVX_UMEM,
			    UVERBS_TYPE_ALLOC_IDR(devx_umem_deregister_memory),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_UMEM_REG),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_UMEM_DEREG));

const struct uapi_definition cxib_devx_umem_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_DEVX_UMEM,
				      UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	{},
};
