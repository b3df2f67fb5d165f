// SPDX-License-Identifier: GPL-2.0-only
/* The end of an object: what the result of its destroy command means. */
#include <kunit/visibility.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs/destroy.h"
#include "verbs/ibdev.h"
#include "verbs/leftovers.h"

/**
 * cxib_finish_destroy() - handle the result of a command that destroys a kernel object
 * @ibdev: RDMA device
 * @err: result of the command
 *
 * Destroying a kernel object must not fail. If the command fails, the device becomes fatal with
 * DMA off. In any case the memory of the object can be freed afterwards.
 *
 * Context: process context, may sleep.
 */
void cxib_finish_destroy(struct cxib_ibdev *ibdev, int err)
{
	might_lock(&ibdev->hw->dma_lock);
	if (!err)
		return;
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
}

/**
 * cxib_discard_object() - handle the result of a command that destroys an object whose creation
 *	has failed afterwards
 * @ibdev: RDMA device
 * @context: user context of the object; NULL: kernel object
 * @destroy: the commands that destroy the object
 * @pinned: what the device can access through it; NULL: nothing
 * @err: result of the command
 *
 * The RDMA core does not know the object. If the command fails, an object of user space becomes a
 * leftover, together with @pinned, which is zeroed; for one of the kernel the device becomes
 * fatal, with DMA off. What @pinned still contains afterwards can be released.
 *
 * Context: process context, may sleep.
 */
void cxib_discard_object(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
			 const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err)
{
	if (err && context)
		cxib_leftovers_keep(ibdev, context, destroy, pinned, err);
	else
		cxib_finish_destroy(ibdev, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_discard_object);

/**
 * cxib_udata_context() - the user context of a request
 * @udata: driver data of an attribute bundle; or NULL
 *
 * Return: the user context; NULL if there is none.
 */
struct ib_ucontext *cxib_udata_context(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_uverbs_attr_bundle(udata)->context : NULL;
}

/*
 * The RDMA core destroys all objects of a user context when its file is closed, or the device is
 * unregistered. Then there is no request: a request has attributes if it is an ioctl(), and a
 * command structure (ucore) if it is a write().
 */
static bool has_request(struct ib_udata *udata)
{
	const struct uverbs_attr_bundle *attrs = rdma_udata_to_uverbs_attr_bundle(udata);

	return !bitmap_empty(attrs->attr_present, UVERBS_API_ATTR_BKEY_LEN) || attrs->ucore.inlen;
}

/**
 * cxib_finish_user_destroy() - handle the result of a command that destroys an object
 * @ibdev: RDMA device
 * @udata: driver data of an attribute bundle; NULL: kernel object
 * @destroy: the commands that destroy the object
 * @pinned: what the device can access through it; NULL: nothing
 * @err: result of the command
 *
 * A process that has requested the destruction gets the error of a refusal and keeps the object,
 * because objects that it has created by DEVX may refer to it. If the result is unknown, the
 * process must not repeat the command, because the number may be that of another object then. When
 * a user context ends, the RDMA core would leak an object whose destruction fails. In the last two
 * cases the object becomes a leftover, together with @pinned, which is zeroed.
 *
 * Context: process context, may sleep.
 * Return: 0 if the object no longer exists for the RDMA core, and what @pinned still contains can
 * be released; otherwise @err.
 */
int cxib_finish_user_destroy(struct cxib_ibdev *ibdev, struct ib_udata *udata,
			     const struct cxib_destroy *destroy, struct cxib_pinned *pinned,
			     int err)
{
	if (udata)
		might_lock(&ibdev->leftovers.lock);
	if (!err)
		return 0;
	if (!udata) {
		cxib_finish_destroy(ibdev, err);
		return 0;
	}
	if (!cxib_command_queue_is_fatal(commands_of(ibdev)) && !cxib_command_is_unknown(err) &&
	    has_request(udata)) {
		ibdev_dbg(&ibdev->ib, "destroy user object: command failed: %d\n", err);
		return err;
	}
	cxib_leftovers_keep(ibdev, cxib_udata_context(udata), destroy, pinned, err);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_finish_user_destroy);
