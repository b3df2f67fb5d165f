// SPDX-License-Identifier: GPL-2.0-only
/* Results of destroy commands: whether the object still exists, and what happens to its memory. */
#include <kunit/visibility.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs/destroy.h"
#include "verbs/ibdev.h"
#include "verbs/orphans.h"

/**
 * cxib_finish_destroy() - handle the result of a command that destroys a kernel object
 * @ibdev: RDMA device
 * @err: result of the command
 *
 * The destruction of a kernel object must not fail. If the command fails, the device becomes fatal
 * with DMA off, so the caller can free the memory of the object in any case.
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
 * cxib_discard_object() - handle the result of a command that undoes the creation of an object
 * @ibdev: RDMA device
 * @context: user context of the object; NULL: kernel object
 * @destroy: the commands that destroy the object
 * @pinned: what the device can access through it; NULL: nothing
 * @err: result of the command
 *
 * A later step of the creation has failed, so the RDMA core does not know the object. If the
 * command fails, an object of user space becomes an orphan, together with @pinned, which is
 * zeroed. An object of the kernel makes the device fatal, with DMA off. The caller can release what
 * @pinned contains on return.
 *
 * Context: process context, may sleep.
 */
void cxib_discard_object(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
			 const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err)
{
	if (err && context)
		cxib_orphans_keep(ibdev, context, destroy, pinned, err);
	else
		cxib_finish_destroy(ibdev, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_discard_object);

/**
 * cxib_udata_context() - returns the user context of a request
 * @udata: driver data of an attribute bundle; or NULL
 *
 * Return: the user context; NULL if there is none.
 */
struct ib_ucontext *cxib_udata_context(struct ib_udata *udata)
{
	return udata ? rdma_udata_to_uverbs_attr_bundle(udata)->context : NULL;
}

/*
 * Returns true if a process has requested the destruction. The RDMA core also destroys the objects
 * of a user context when its file is closed or the device is unregistered, which is no request. A
 * request has attributes if it is an ioctl(), and a command structure (ucore) if it is a write().
 */
static bool destroy_has_request(struct ib_udata *udata)
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
 * If firmware refuses the command and a process has requested the destruction, the process gets the
 * error and keeps the object, because its DEVX objects may refer to the object. The object becomes
 * an orphan, together with @pinned, which is zeroed, in two cases:
 * - The result is unknown. The process must not repeat the command, because another object may have
 *   the number by then.
 * - The user context is being closed. The RDMA core would leak an object whose destruction fails.
 *
 * Context: process context, may sleep.
 * Return: 0 if the object no longer exists for the RDMA core; then the caller can release what
 * @pinned contains. Otherwise @err.
 */
int cxib_finish_user_destroy(struct cxib_ibdev *ibdev, struct ib_udata *udata,
			     const struct cxib_destroy *destroy, struct cxib_pinned *pinned,
			     int err)
{
	if (udata)
		might_lock(&ibdev->orphans.lock);
	if (!err)
		return 0;
	if (!udata) {
		cxib_finish_destroy(ibdev, err);
		return 0;
	}
	if (!cxib_command_queue_is_fatal(commands_of(ibdev)) && !cxib_command_is_unknown(err) &&
	    destroy_has_request(udata)) {
		ibdev_dbg(&ibdev->ib, "destroy user object: command failed: %d\n", err);
		return err;
	}
	cxib_orphans_keep(ibdev, cxib_udata_context(udata), destroy, pinned, err);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_finish_user_destroy);
