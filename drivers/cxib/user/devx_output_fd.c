// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEVX: file descriptors from which user space reads outputs of query commands.
 *
 * A query command is executed before the request returns. The object is locked until then, so no
 * command is outstanding after the process has exited or the device was removed. Only the output
 * waits for its reader.
 */
#include <linux/fs.h>
#include <linux/list.h>
#include <linux/minmax.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/spinlock.h>
#include <linux/wait.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#include "user/devx.h"
#include "user/devx_command.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/* Maximum bytes of the unread outputs of a file. */
#define OUTPUT_BYTES_MAX	SZ_1M

/**
 * struct devx_output - the output of a command
 * @entry: entry in the list of the file
 * @length: bytes of @record, including its header
 * @record: what user space reads
 */
struct devx_output {
	struct list_head entry;
	size_t length;
	struct mlx5_ib_uapi_devx_async_cmd_hdr record;
};

/**
 * struct cxib_devx_output_file - a file descriptor for outputs
 * @uobject: uverbs object. The RDMA core keeps its memory until the file is released.
 * @lock: protects all members that follow
 * @wait: readers
 * @is_destroyed: user space gets errors only
 * @bytes: memory of @outputs and of outputs that are being filled
 * @outputs: list of struct devx_output
 */
struct cxib_devx_output_file {
	struct ib_uobject uobject;
	spinlock_t lock; /* unread outputs */
	wait_queue_head_t wait;
	bool is_destroyed;
	size_t bytes;
	struct list_head outputs;
};

static struct cxib_devx_output_file *to_output_file(struct ib_uobject *uobject)
{
	return container_of(uobject, struct cxib_devx_output_file, uobject);
}

static size_t devx_output_size(size_t out_length)
{
	return sizeof(struct devx_output) + max_t(size_t, out_length, CXIB_DEVX_QUERY_MAX);
}

static bool devx_output_reserve(struct cxib_devx_output_file *file, size_t size)
{
	bool is_reserved = false;

	scoped_guard(spinlock, &file->lock) {
		is_reserved = size <= OUTPUT_BYTES_MAX - file->bytes;
		if (is_reserved)
			file->bytes += size;
	}
	return is_reserved;
}

static void devx_output_release(struct cxib_devx_output_file *file, size_t size)
{
	scoped_guard(spinlock, &file->lock)
		file->bytes -= size;
}

static void devx_output_free(struct cxib_devx_output_file *file, struct devx_output *output)
{
	const size_t size = devx_output_size(output->length - sizeof(output->record));

	kvfree(output);
	devx_output_release(file, size);
}

static struct devx_output *devx_output_alloc(struct cxib_devx_output_file *file, size_t out_length)
{
	const size_t size = devx_output_size(out_length);
	struct devx_output *output;

	if (!devx_output_reserve(file, size))
		return ERR_PTR(-EAGAIN);
	output = kvzalloc(size, GFP_KERNEL_ACCOUNT);
	if (!output) {
		devx_output_release(file, size);
		return ERR_PTR(-ENOMEM);
	}
	output->length = sizeof(output->record) + out_length;
	return output;
}

static void devx_output_put(struct cxib_devx_output_file *file, struct devx_output *output)
{
	scoped_guard(spinlock, &file->lock)
		list_add_tail(&output->entry, &file->outputs);
	wake_up_interruptible(&file->wait);
}

/* The uobject of the file is locked for reading, so the file is not destroyed during the query. */
static int devx_output_query(struct cxib_devx_output_file *file, struct cxib_ucontext *context,
			     struct ib_uobject *uobject, struct uverbs_attr_bundle *attrs,
			     size_t out_length, u64 wr_id)
{
	void *in = uverbs_attr_get_alloced_ptr(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
	int in_length = uverbs_attr_get_len(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN);
	struct devx_output *output;
	int err;

	output = devx_output_alloc(file, out_length);
	if (IS_ERR(output))
		return PTR_ERR(output);
	output->record.wr_id = wr_id;
	err = cxib_devx_query(context, uobject, in, in_length, output->record.out_data,
			      out_length);
	if (err && err != -EREMOTEIO) {
		devx_output_free(file, output);
		return err;
	}
	devx_output_put(file, output);
	return 0;
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE);
	struct ib_uobject *file =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD);
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	u16 out_length;
	u64 wr_id;
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	err = uverbs_get_const(&out_length, attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN);
	if (!err)
		err = uverbs_copy_from(&wr_id, attrs, MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID);
	if (err)
		return err;
	if (out_length < CXIB_DEVX_MIN_SIZE)
		return -EINVAL;
	return devx_output_query(to_output_file(file), context, uobject, attrs, out_length, wr_id);
}

static struct devx_output *devx_output_first(struct cxib_devx_output_file *file, size_t room)
{
	struct devx_output *output;

	lockdep_assert_held(&file->lock);

	if (file->is_destroyed)
		return ERR_PTR(-EIO);
	output = list_first_entry_or_null(&file->outputs, struct devx_output, entry);
	if (!output)
		return ERR_PTR(-EAGAIN);
	if (output->length > room)
		return ERR_PTR(-ENOSPC);
	return output;
}

/* Returns the oldest output, or an ERR_PTR(): -EAGAIN if there is none. */
static struct devx_output *devx_output_take(struct cxib_devx_output_file *file, size_t room)
{
	struct devx_output *output = NULL;

	scoped_guard(spinlock, &file->lock) {
		output = devx_output_first(file, room);
		if (!IS_ERR(output))
			list_del(&output->entry);
	}
	return output;
}

static bool devx_output_is_ready(struct cxib_devx_output_file *file)
{
	bool is_ready = false;

	scoped_guard(spinlock, &file->lock)
		is_ready = file->is_destroyed || !list_empty(&file->outputs);
	return is_ready;
}

static struct devx_output *devx_output_wait(struct cxib_devx_output_file *file, size_t room,
					    bool blocks)
{
	struct devx_output *output;

	for (;;) {
		output = devx_output_take(file, room);
		if (output != ERR_PTR(-EAGAIN) || !blocks)
			return output;
		if (wait_event_interruptible(file->wait, devx_output_is_ready(file)))
			return ERR_PTR(-ERESTARTSYS);
	}
}

static ssize_t devx_output_read(struct file *filp, char __user *buffer, size_t room, loff_t *pos)
{
	struct cxib_devx_output_file *file = to_output_file(filp->private_data);
	struct devx_output *output;
	ssize_t length;

	output = devx_output_wait(file, room, !(filp->f_flags & O_NONBLOCK));
	if (IS_ERR(output))
		return PTR_ERR(output);
	length = output->length;
	if (copy_to_user(buffer, &output->record, length))
		length = -EFAULT;
	devx_output_free(file, output);
	return length;
}

static __poll_t devx_output_poll(struct file *filp, struct poll_table_struct *table)
{
	struct cxib_devx_output_file *file = to_output_file(filp->private_data);
	__poll_t result = 0;

	poll_wait(filp, &file->wait, table);
	if (devx_output_is_ready(file))
		result = EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(file->is_destroyed))
		result |= EPOLLRDHUP;
	return result;
}

static const struct file_operations devx_output_operations = {
	.owner = THIS_MODULE,
	.read = devx_output_read,
	.poll = devx_output_poll,
	.release = uverbs_uobject_fd_release,
};

/*
 * User space has closed the file, or the device is being removed. In the second case user space may
 * still read the file.
 */
static void devx_output_destroy(struct ib_uobject *uobject, enum rdma_remove_reason why)
{
	struct cxib_devx_output_file *file = to_output_file(uobject);
	struct devx_output *output, *next;
	LIST_HEAD(outputs);

	scoped_guard(spinlock, &file->lock) {
		file->is_destroyed = true;
		list_splice_init(&file->outputs, &outputs);
	}
	wake_up_interruptible(&file->wait);
	list_for_each_entry_safe(output, next, &outputs, entry)
		devx_output_free(file, output);
}

static int
UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE);
	struct cxib_devx_output_file *file = to_output_file(uobject);

	spin_lock_init(&file->lock);
	init_waitqueue_head(&file->wait);
	INIT_LIST_HEAD(&file->outputs);
	return 0;
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC,
			    UVERBS_ATTR_FD(MLX5_IB_ATTR_DEVX_ASYNC_CMD_FD_ALLOC_HANDLE,
					   MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
					   UVERBS_ACCESS_NEW, UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct cxib_devx_output_file),
						 devx_output_destroy, &devx_output_operations,
						 "[cxib_devx_output]", O_RDONLY),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_ASYNC_CMD_FD_ALLOC));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY,
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_HANDLE,
					    UVERBS_IDR_ANY_OBJECT, UVERBS_ACCESS_READ,
					    UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_CMD_IN,
					       UVERBS_ATTR_MIN_SIZE(CXIB_DEVX_MIN_SIZE),
					       UA_MANDATORY, UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_CONST_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_OUT_LEN, u16,
						 UA_MANDATORY),
			    UVERBS_ATTR_FD(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_FD,
					   MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD, UVERBS_ACCESS_READ,
					   UA_MANDATORY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_OBJ_QUERY_ASYNC_WR_ID,
					       UVERBS_ATTR_TYPE(u64), UA_MANDATORY));

ADD_UVERBS_METHODS(cxib_devx_query_methods, MLX5_IB_OBJECT_DEVX_OBJ,
		   &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_OBJ_ASYNC_QUERY));

const struct uapi_definition cxib_devx_output_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_DEVX_ASYNC_CMD_FD,
				      UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	UAPI_DEF_CHAIN_OBJ_TREE(MLX5_IB_OBJECT_DEVX_OBJ, &cxib_devx_query_methods,
				UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	{},
};
