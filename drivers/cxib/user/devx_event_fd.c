// SPDX-License-Identifier: GPL-2.0-only
/* DEVX: file descriptors from which user space reads events, and subscriptions to events. */
#include <linux/fs.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <rdma/mlx5_user_ioctl_cmds.h>
#include <rdma/mlx5_user_ioctl_verbs.h>
#include <rdma/uverbs_ioctl.h>
#include <rdma/uverbs_types.h>

#include "user/devx.h"
#include "user/devx_event.h"

#define UVERBS_MODULE_NAME cxib
#include <rdma/uverbs_named_ioctl.h>

/**
 * struct devx_event_file - a file descriptor for events
 * @uobject: uverbs object. The RDMA core keeps its memory until the file is released.
 * @queue: events to be read
 */
struct devx_event_file {
	struct ib_uobject uobject;
	struct cxib_devx_queue queue;
};

static struct devx_event_file *to_event_file(struct ib_uobject *uobject)
{
	return container_of(uobject, struct devx_event_file, uobject);
}

static struct cxib_devx_queue *devx_event_queue(struct file *filp)
{
	return &to_event_file(filp->private_data)->queue;
}

static int devx_event_wait(struct cxib_devx_queue *queue, struct cxib_devx_record *record,
			   size_t room, bool blocks)
{
	int length;

	for (;;) {
		length = cxib_devx_queue_take(queue, record, room);
		if (length != -EAGAIN || !blocks)
			return length;
		if (wait_event_interruptible(queue->wait, cxib_devx_queue_is_ready(queue)))
			return -ERESTARTSYS;
	}
}

static ssize_t devx_event_read(struct file *filp, char __user *buffer, size_t room, loff_t *pos)
{
	struct cxib_devx_record record;
	int length;

	static_assert(offsetof(struct cxib_devx_record, entry) ==
		      sizeof(struct mlx5_ib_uapi_devx_async_event_hdr));
	length = devx_event_wait(devx_event_queue(filp), &record, room,
				 !(filp->f_flags & O_NONBLOCK));
	if (length < 0)
		return length;
	return copy_to_user(buffer, &record, length) ? -EFAULT : length;
}

static __poll_t devx_event_poll(struct file *filp, struct poll_table_struct *table)
{
	struct cxib_devx_queue *queue = devx_event_queue(filp);
	__poll_t result = 0;

	poll_wait(filp, &queue->wait, table);
	if (cxib_devx_queue_is_ready(queue))
		result = EPOLLIN | EPOLLRDNORM;
	if (READ_ONCE(queue->is_destroyed))
		result |= EPOLLRDHUP;
	return result;
}

static const struct file_operations devx_event_operations = {
	.owner = THIS_MODULE,
	.read = devx_event_read,
	.poll = devx_event_poll,
	.release = uverbs_uobject_fd_release,
};

/*
 * User space has closed the file, or the device is being removed. In the second case user space may
 * still read the file.
 */
static void devx_event_destroy(struct ib_uobject *uobject, enum rdma_remove_reason why)
{
	struct cxib_ibdev *ibdev = to_ibdev(uobject->context->device);

	cxib_devx_queue_end(ibdev->devx_events, &to_event_file(uobject)->queue);
}

static int
UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE);
	u32 flags;
	int err;

	err = uverbs_get_flags32(&flags, attrs, MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
				 MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
	if (err)
		return err;
	return cxib_devx_queue_init(&to_event_file(uobject)->queue,
				    flags & MLX5_IB_UAPI_DEVX_CR_EV_CH_FLAGS_OMIT_DATA);
}

static int devx_get_types(struct uverbs_attr_bundle *attrs, struct cxib_devx_subscribe *request)
{
	const u16 list = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST;
	int length = uverbs_attr_get_len(attrs, list);

	if (length < 0)
		return length;
	request->types = uverbs_attr_get_alloced_ptr(attrs, list);
	request->count = length / sizeof(*request->types);
	return PTR_ERR_OR_ZERO(request->types);
}

/* An eventfd cannot report a cookie. */
static int devx_get_receiver(struct uverbs_attr_bundle *attrs,
			     struct cxib_devx_subscribe *request)
{
	const bool has_eventfd =
		uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
	int err;

	request->eventfd = -1;
	if (has_eventfd) {
		err = uverbs_copy_from(&request->eventfd, attrs,
				       MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM);
		if (err)
			return err;
		if (request->eventfd < 0)
			return -EBADF;
	}
	if (!uverbs_attr_is_valid(attrs, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE))
		return 0;
	if (has_eventfd)
		return -EINVAL;
	return uverbs_copy_from(&request->cookie, attrs,
				MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE);
}

static int UVERBS_HANDLER(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT)(struct uverbs_attr_bundle *attrs)
{
	struct ib_uobject *uobject =
		uverbs_attr_get_uobject(attrs, MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE);
	const u16 object = MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE;
	struct cxib_ucontext *context = cxib_devx_context(attrs);
	struct cxib_devx_subscribe request = {};
	int err;

	if (IS_ERR(context))
		return PTR_ERR(context);
	request.queue = &to_event_file(uobject)->queue;
	if (uverbs_attr_is_valid(attrs, object))
		request.target = cxib_devx_target(uverbs_attr_get_uobject(attrs, object));
	err = devx_get_types(attrs, &request);
	if (!err)
		err = devx_get_receiver(attrs, &request);
	if (!err)
		err = cxib_devx_subscribe(to_ibdev(context->ib.device)->devx_events, &request);
	if (err)
		ibdev_dbg(context->ib.device, "subscription to %u event types: error %d\n",
			  request.count, err);
	return err;
}

/**
 * cxib_devx_start() - prepares subscriptions of a device
 * @ibdev: RDMA device
 *
 * Return: 0 or -ENOMEM.
 */
int cxib_devx_start(struct cxib_ibdev *ibdev)
{
	ibdev->devx_events = kzalloc(sizeof(*ibdev->devx_events), GFP_KERNEL);
	if (!ibdev->devx_events)
		return -ENOMEM;
	cxib_devx_events_init(ibdev->devx_events);
	return 0;
}

/**
 * cxib_devx_stop() - undo cxib_devx_start()
 * @ibdev: RDMA device that has no user contexts and gets no events
 */
void cxib_devx_stop(struct cxib_ibdev *ibdev)
{
	cxib_devx_events_destroy(ibdev->devx_events);
	kfree(ibdev->devx_events);
}

/* struct cxib_user_interface */
bool cxib_devx_completion(struct cxib_ibdev *ibdev, u32 cqn)
{
	return cxib_devx_dispatch_completion(ibdev->devx_events, cqn);
}

/* struct cxib_user_interface */
void cxib_devx_event(struct cxib_ibdev *ibdev, const struct hw_eqe *entry)
{
	cxib_devx_dispatch(ibdev->devx_events, entry);
}

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC,
			    UVERBS_ATTR_FD(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_HANDLE,
					   MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
					   UVERBS_ACCESS_NEW, UA_MANDATORY),
			    UVERBS_ATTR_FLAGS_IN(MLX5_IB_ATTR_DEVX_ASYNC_EVENT_FD_ALLOC_FLAGS,
						 enum mlx5_ib_uapi_devx_create_event_channel_flags,
						 UA_MANDATORY));

DECLARE_UVERBS_NAMED_OBJECT(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
			    UVERBS_TYPE_ALLOC_FD(sizeof(struct devx_event_file),
						 devx_event_destroy, &devx_event_operations,
						 "[cxib_devx_event]", O_RDONLY),
			    &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_ASYNC_EVENT_FD_ALLOC));

DECLARE_UVERBS_NAMED_METHOD(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT,
			    UVERBS_ATTR_FD(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_HANDLE,
					   MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
					   UVERBS_ACCESS_READ, UA_MANDATORY),
			    UVERBS_ATTR_IDR(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_OBJ_HANDLE,
					    MLX5_IB_OBJECT_DEVX_OBJ, UVERBS_ACCESS_READ,
					    UA_OPTIONAL),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_TYPE_NUM_LIST,
					       UVERBS_ATTR_MIN_SIZE(sizeof(u16)), UA_MANDATORY,
					       UA_ALLOC_AND_COPY),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_COOKIE,
					       UVERBS_ATTR_TYPE(u64), UA_OPTIONAL),
			    UVERBS_ATTR_PTR_IN(MLX5_IB_ATTR_DEVX_SUBSCRIBE_EVENT_FD_NUM,
					       UVERBS_ATTR_TYPE(u32), UA_OPTIONAL));

ADD_UVERBS_METHODS(cxib_devx_subscription_methods, MLX5_IB_OBJECT_DEVX,
		   &UVERBS_METHOD(MLX5_IB_METHOD_DEVX_SUBSCRIBE_EVENT));

const struct uapi_definition cxib_devx_event_definitions[] = {
	UAPI_DEF_CHAIN_OBJ_TREE_NAMED(MLX5_IB_OBJECT_DEVX_ASYNC_EVENT_FD,
				      UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	UAPI_DEF_CHAIN_OBJ_TREE(MLX5_IB_OBJECT_DEVX, &cxib_devx_subscription_methods,
				UAPI_DEF_IS_OBJ_SUPPORTED(cxib_devx_is_supported)),
	{},
};
