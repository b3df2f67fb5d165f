// SPDX-License-Identifier: GPL-2.0-only
/* PD and XRC domain commands. */
#include <kunit/visibility.h>
#include <linux/export.h>

#include "hw/command_queue.h"
#include "hw/commands_objects.h"
#include "hw/pd.h"

/**
 * cxib_cmd_alloc_pd() - ALLOC_PD: allocates a PD
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @pd: output: PDN
 */
int cxib_cmd_alloc_pd(struct cxib_command_queue *queue, u16 uid, u32 *pd)
{
	struct hw_alloc_pd_in in = {};
	struct hw_alloc_pd_out out;
	int err;

	hw_alloc_pd_in_set_opcode(&in, HW_CMD_ALLOC_PD);
	hw_alloc_pd_in_set_uid(&in, uid);
	err = cxib_cmd_exec_inout(queue, in, out);
	*pd = hw_alloc_pd_out_get_pd(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_pd);

/**
 * cxib_cmd_dealloc_pd() - DEALLOC_PD: undo cxib_cmd_alloc_pd()
 * @queue: command queue
 * @uid: owner uid; 0: kernel
 * @pd: PDN, to which no object refers
 */
int cxib_cmd_dealloc_pd(struct cxib_command_queue *queue, u16 uid, u32 pd)
{
	struct hw_dealloc_pd_in in = {};
	struct hw_dealloc_pd_out out;

	hw_dealloc_pd_in_set_opcode(&in, HW_CMD_DEALLOC_PD);
	hw_dealloc_pd_in_set_uid(&in, uid);
	hw_dealloc_pd_in_set_pd(&in, pd);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_dealloc_pd);

/**
 * cxib_cmd_alloc_xrcd() - ALLOC_XRCD: allocates an XRC domain
 * @queue: command queue
 * @xrcd: output: XRCDN
 */
int cxib_cmd_alloc_xrcd(struct cxib_command_queue *queue, u32 *xrcd)
{
	struct hw_alloc_xrcd_in in = {};
	struct hw_alloc_xrcd_out out;
	int err;

	hw_alloc_xrcd_in_set_opcode(&in, HW_CMD_ALLOC_XRCD);
	err = cxib_cmd_exec_inout(queue, in, out);
	*xrcd = hw_alloc_xrcd_out_get_xrcd(&out);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_alloc_xrcd);

/**
 * cxib_cmd_dealloc_xrcd() - DEALLOC_XRCD: undo cxib_cmd_alloc_xrcd()
 * @queue: command queue
 * @xrcd: XRCDN, to which no object refers
 */
int cxib_cmd_dealloc_xrcd(struct cxib_command_queue *queue, u32 xrcd)
{
	struct hw_dealloc_xrcd_in in = {};
	struct hw_dealloc_xrcd_out out;

	hw_dealloc_xrcd_in_set_opcode(&in, HW_CMD_DEALLOC_XRCD);
	hw_dealloc_xrcd_in_set_xrcd(&in, xrcd);
	return cxib_cmd_exec_inout(queue, in, out);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_dealloc_xrcd);
