// SPDX-License-Identifier: GPL-2.0-only
/* The end of an object: what the result of its destroy command means. */
#include "verbs/destroy.h"
#include "verbs/ibdev.h"

/*
 * The device may have an object of a timed-out create command, and refuse to destroy its
 * parent. The destroy command has waited for the late output: cxib_creations_await().
 */
static bool has_open_commands(struct cxib_ibdev *ibdev)
{
	return READ_ONCE(commands_of(ibdev)->open);
}

/**
 * cxib_finish_destroy() - handle the result of a destroy command
 * @ibdev: RDMA device
 * @udata: not NULL if user space asked for it, so an error can be returned
 * @err: result of the command
 *
 * Destroying a kernel object must not fail. If the command fails, the device becomes
 * fatal with DMA off; likewise while the result of a create command is unknown.
 *
 * Context: process context, may sleep.
 * Return: 0 if the memory of the object can be freed, otherwise @err.
 */
int cxib_finish_destroy(struct cxib_ibdev *ibdev, const struct ib_udata *udata, int err)
{
	if (!err)
		return 0;
	if (udata && !cxib_command_queue_is_fatal(commands_of(ibdev)) &&
	    !has_open_commands(ibdev)) {
		ibdev_dbg(&ibdev->ib, "destroy user object: command failed: %d\n", err);
		return err;
	}
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
	return 0;
}
