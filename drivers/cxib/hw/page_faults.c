// SPDX-License-Identifier: GPL-2.0-only
/* Page faults: events and PAGE_FAULT_RESUME. */
#include <kunit/visibility.h>
#include <linux/kernel.h>
#include <linux/minmax.h>

#include "hw/command_queue.h"
#include "hw/commands_memory.h"
#include "hw/contexts.h"
#include "hw/page_faults.h"

#define TOKEN_MASK	GENMASK(23, 0)

/* Word of the token in a WQE fault event; the public description does not have it. */
#define TOKEN_WORD	3

static void page_fault_decode_wqe(const struct hw_wqe_associated_page_fault_event *event,
				  struct cxib_page_fault *fault)
{
	fault->token = be32_to_cpu(event->dw[TOKEN_WORD]) & TOKEN_MASK;
	fault->queue = hw_wqe_associated_page_fault_event_get_qpn(event);
	fault->bytes_committed = hw_wqe_associated_page_fault_event_get_bytes_committed(event);
	fault->packet_size = hw_wqe_associated_page_fault_event_get_len(event);
	fault->wqe_index = hw_wqe_associated_page_fault_event_get_wqe_index(event);
	if (hw_wqe_associated_page_fault_event_get_requestor(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_REQUESTOR;
	if (hw_wqe_associated_page_fault_event_get_write_read(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_WRITE;
	if (hw_wqe_associated_page_fault_event_get_rdma(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_RDMA;
}

static void page_fault_decode_rdma(const struct hw_rdma_page_fault_event *event,
				   struct cxib_page_fault *fault)
{
	fault->token = hw_rdma_page_fault_event_get_qp_number(event);
	fault->queue = fault->token;
	fault->bytes_committed = hw_rdma_page_fault_event_get_bytes_committed(event);
	fault->packet_size = hw_rdma_page_fault_event_get_packet_len(event);
	fault->key = hw_rdma_page_fault_event_get_r_key(event);
	fault->length = hw_rdma_page_fault_event_get_rdma_op_len(event);
	fault->address = hw_rdma_page_fault_event_get_rdma_va(event);
	if (hw_rdma_page_fault_event_get_requestor(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_REQUESTOR;
	if (hw_rdma_page_fault_event_get_write(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_WRITE;
	if (hw_rdma_page_fault_event_get_rdma(event))
		fault->operation |= HW_PAGE_FAULT_FLAGS_RDMA;
}

static void page_fault_decode_memory(const struct hw_memory_page_fault_event *event,
				     struct cxib_page_fault *fault)
{
	u64 upper = hw_memory_page_fault_event_get_fault_token_47_32(event);
	u32 pages = hw_memory_page_fault_event_get_demand_fault_pages(event);
	u32 before = hw_memory_page_fault_event_get_pre_demand_fault_pages(event);
	u32 after = hw_memory_page_fault_event_get_post_demand_fault_pages(event);

	fault->last = hw_memory_page_fault_event_get_last(event);
	fault->token = upper << 32 | hw_memory_page_fault_event_get_fault_token_31_0(event);
	fault->key = hw_memory_page_fault_event_get_mkey(event);
	fault->address = hw_memory_page_fault_event_get_va(event);
	/* Some firmware reports 0 pages here for less than a page. */
	fault->length = max(pages, 1u) * CXIB_FAULT_PAGE;
	fault->before = before * CXIB_FAULT_PAGE;
	fault->after = after * CXIB_FAULT_PAGE;
}

/**
 * cxib_page_fault_decode() - decodes a page fault event
 * @entry: a copy of the EQE
 * @fault: output; not validated
 *
 * Return: false when the sub-type is unknown.
 */
bool cxib_page_fault_decode(const struct hw_eqe *entry, struct cxib_page_fault *fault)
{
	*fault = (struct cxib_page_fault){
		.subtype = hw_eqe_get_event_sub_type(entry),
		.last = true,
	};
	switch (fault->subtype) {
	case HW_PAGE_FAULT_SUBTYPE_WQE:
		page_fault_decode_wqe(hw_eqe_get_event_data_wqe_associated_page_fault_event(entry),
				      fault);
		return true;
	case HW_PAGE_FAULT_SUBTYPE_RDMA:
		page_fault_decode_rdma(hw_eqe_get_event_data_rdma_page_fault_event(entry), fault);
		return true;
	case HW_PAGE_FAULT_SUBTYPE_MEMORY:
		page_fault_decode_memory(hw_eqe_get_event_data_memory_page_fault_event(entry),
					 fault);
		return true;
	default:
		return false;
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_page_fault_decode);

static void page_fault_resume_transport(struct hw_page_fault_resume_in *in,
					const struct cxib_page_fault *fault, bool failed)
{
	struct hw_trans_page_fault_info *info =
		hw_page_fault_resume_in_page_fault_info_trans_page_fault_info(in);

	hw_trans_page_fault_info_set_error(info, failed);
	hw_trans_page_fault_info_set_page_fault_type(info, fault->operation);
	hw_trans_page_fault_info_set_wq_number(info, fault->queue);
	hw_trans_page_fault_info_set_fault_token(info, fault->token);
}

static void page_fault_resume_memory(struct hw_page_fault_resume_in *in,
				     const struct cxib_page_fault *fault, bool failed)
{
	struct hw_mem_page_fault_info *info =
		hw_page_fault_resume_in_page_fault_info_mem_page_fault_info(in);

	hw_mem_page_fault_info_set_error(info, failed);
	hw_mem_page_fault_info_set_fault_token_47_32(info, upper_32_bits(fault->token));
	hw_mem_page_fault_info_set_fault_token_31_0(info, lower_32_bits(fault->token));
}

/**
 * cxib_cmd_page_fault_resume() - PAGE_FAULT_RESUME: resumes a suspended transfer
 * @queue: command queue
 * @fault: decoded event
 * @failed: the transfer fails
 *
 * Firmware rejects the command if the suspended transfer no longer exists, so errors are not
 * logged.
 *
 * Context: process context, may sleep.
 * Return: as cxib_cmd_exec().
 */
int cxib_cmd_page_fault_resume(struct cxib_command_queue *queue,
			       const struct cxib_page_fault *fault, bool failed)
{
	struct hw_page_fault_resume_in in = {};
	struct hw_page_fault_resume_out out;
	struct cxib_command command = {
		.in = &in, .in_length = sizeof(in),
		.out = &out, .out_length = sizeof(out),
		.no_log = true,
	};

	hw_page_fault_resume_in_set_opcode(&in, HW_CMD_PAGE_FAULT_RESUME);
	if (fault->subtype == HW_PAGE_FAULT_SUBTYPE_MEMORY)
		page_fault_resume_memory(&in, fault, failed);
	else
		page_fault_resume_transport(&in, fault, failed);
	return cxib_cmd_exec(queue, &command);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cmd_page_fault_resume);
