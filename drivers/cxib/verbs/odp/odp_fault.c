// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults: which memory a transfer waits for, and its answer.
 *
 * Faults name the memory where the device can do that. Elsewhere only one of the peer's
 * request does. One of a work request names the request, which is read from the queue:
 * its segments say where the memory is. A program can have written anything there, and
 * the device can say anything, so both only choose among the regions of pages on demand
 * that there are.
 */
#include <kunit/visibility.h>
#include <linux/align.h>
#include <linux/limits.h>
#include <linux/minmax.h>
#include <linux/sizes.h>
#include <linux/slab.h>
#include <linux/workqueue.h>
#include <rdma/ib_umem.h>

#include "hw/page_faults.h"
#include "verbs/odp/odp.h"
#include "verbs/odp/odp_fault.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

/* What is brought in for one fault, at most. The device tells of the rest when it gets there. */
#define BYTES_AT_ONCE	SZ_4M

/*
 * Faults that wait for a worker, or have one. A device that tells of more waits: its
 * events stay in their queue.
 */
#define FAULTS_AT_ONCE	1024

/* What a data segment carries that says 0. */
#define LONGEST_SEGMENT	BIT(31)

/* Keys can consist of pieces of keys, and so on; programs say how many. */
#define LEVELS_MAX	4
#define QUESTIONS_MAX	64

/**
 * struct fault - a fault that is handled
 * @work: handles it
 * @ibdev: RDMA device
 * @fault: what the device has said
 * @request: the work request
 */
struct fault {
	struct work_struct work;
	struct cxib_ibdev *ibdev;
	struct cxib_page_fault fault;
	struct cxib_pf_wqe request;
};

/**
 * struct search - for the regions that have the memory of a fault
 * @ibdev: RDMA device
 * @level: keys of keys that lead here
 * @questions: that the device may still be asked for this fault
 * @pages: that are there now
 */
struct search {
	struct cxib_ibdev *ibdev;
	unsigned int level;
	unsigned int questions;
	u64 pages;
};

static int bring_in_key(void *context, u32 key, u64 address, u64 length);

/* Keys whose pages are there anyway are passed over. */
static int fault_in_klms(struct search *search, u32 key, u64 address, u64 length)
{
	int err;

	if (!search->questions)
		return 0;
	if (search->level == LEVELS_MAX)
		return -ELOOP;
	search->questions--;
	search->level++;
	err = cxib_pf_walk_mkey(commands_of(search->ibdev), key, address, length, bring_in_key,
				search);
	search->level--;
	return err;
}

static int bring_in_key(void *context, u32 key, u64 address, u64 length)
{
	const struct cxib_odp_range range = {
		.address = address, .length = length, .for_writing = true,
	};
	struct search *search = context;
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(search->ibdev, key);
	int pages;

	if (!odp_mr)
		return fault_in_klms(search, key, address, length);
	pages = cxib_odp_fault_in(odp_mr, &range);
	if (pages > 0) {
		atomic64_add(pages, &odp_mr->faults);
		search->pages += pages;
	}
	cxib_reference_put(&odp_mr->reference);
	return min(pages, 0);
}

/* The last page that the peer wants may be beyond what comes in at once. */
static int resolve_remote(struct fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	u64 left = event->length > event->bytes_committed ? event->length - event->bytes_committed :
						      event->packet_size;
	struct search search = { .ibdev = fault->ibdev, .questions = QUESTIONS_MAX };
	int err;

	err = bring_in_key(&search, event->key, event->address + event->bytes_committed,
			   min_t(u64, left, BYTES_AT_ONCE));
	return err ?: search.pages ? 0 : -ENOENT;
}

/**
 * cxib_pf_mr_range() - what of a region comes in for a fault that names the memory
 * @event: the fault
 * @start: where the region begins
 * @length: its bytes
 * @ahead: also what the device suggests around the missing pages
 * @range: filled
 *
 * The pages that the device counts may begin before the region, and end behind it.
 *
 * Return: false when none of it is in the region.
 */
bool cxib_pf_mr_range(const struct cxib_page_fault *event, u64 start, u64 length, bool ahead,
		      struct cxib_odp_range *range)
{
	u64 first = ALIGN_DOWN(event->address, (u64)CXIB_FAULT_PAGE);
	u64 end = first + min3(U64_MAX - first, (u64)event->length, (u64)BYTES_AT_ONCE);

	if (ahead) {
		first -= min3(first, (u64)event->before, (u64)BYTES_AT_ONCE);
		end += min3(U64_MAX - end, (u64)event->after, (u64)BYTES_AT_ONCE);
	}
	first = max(first, start);
	end = min(end, start + min(U64_MAX - start, length));
	if (first >= end)
		return false;
	*range = (struct cxib_odp_range){
		.address = first, .length = end - first, .for_writing = true,
	};
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_mr_range);

static int bring_in_range(struct cxib_odp_mr *odp_mr, const struct cxib_page_fault *event,
			  bool ahead)
{
	struct cxib_odp_range range;

	if (!cxib_pf_mr_range(event, odp_mr->mr.ib.iova, odp_mr->mr.ib.length, ahead, &range))
		return -EFAULT;
	return cxib_odp_fault_in(odp_mr, &range);
}

/* The program need not have what the device suggests. */
static int bring_in_region(struct cxib_odp_mr *odp_mr, const struct cxib_page_fault *event)
{
	int pages = -EFAULT;

	if (event->before || event->after)
		pages = bring_in_range(odp_mr, event, true);
	if (pages < 0)
		pages = bring_in_range(odp_mr, event, false);
	if (pages > 0)
		atomic64_add(pages, &odp_mr->faults);
	return pages;
}

/* A key that is none of a region may consist of keys that are. */
static int resolve_memory(struct fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct search search = { .ibdev = fault->ibdev, .questions = QUESTIONS_MAX };
	struct cxib_odp_mr *odp_mr = cxib_odp_get_fault_mr(fault->ibdev, event->key);
	u64 length = event->length - event->address % CXIB_FAULT_PAGE;
	int pages, err;

	if (odp_mr) {
		pages = bring_in_region(odp_mr, event);
		cxib_reference_put(&odp_mr->reference);
		return pages > 0 ? 0 : pages ?: -ENOENT;
	}
	err = bring_in_key(&search, event->key, event->address,
			   min_t(u64, length, BYTES_AT_ONCE));
	return err ?: search.pages ? 0 : -ENOENT;
}

/**
 * cxib_pf_for_each_sge() - the memory of a work request, from a byte on
 * @request: the request
 * @first: where its data segments begin
 * @committed: bytes of the message that are passed over
 * @fn: told of each range, until it returns an error
 * @context: for @fn
 *
 * Return: 0 or the error of @fn.
 */
int cxib_pf_for_each_sge(const struct cxib_pf_wqe *request, size_t first,
			 u64 committed, cxib_pf_sge_fn fn, void *data)
{
	size_t at = first;
	int err = 0;

	while (!err && at + CXIB_DS_SIZE <= request->length) {
		const struct hw_wqe_data_seg *segment = (const void *)&request->bytes[at];
		u32 count = hw_wqe_data_seg_get_byte_count(segment);
		bool is_inline = hw_wqe_data_seg_get_inline_seg(segment);
		u64 skipped;

		at += CXIB_DS_SIZE;
		if (is_inline) {
			const struct hw_wqe_inline_seg *header = (const void *)segment;

			count = hw_wqe_inline_seg_get_byte_count(header);
			at += ALIGN(sizeof(*header) + count, CXIB_DS_SIZE) - CXIB_DS_SIZE;
		}
		if (!is_inline && !count) {
			if (hw_wqe_data_seg_get_lkey(segment) ==
			    HW_SPECIAL_LKEY_TERMINATE_SCATTER_LIST)
				break;
			count = LONGEST_SEGMENT;
		}
		skipped = min_t(u64, count, committed);
		committed -= skipped;
		if (!is_inline && count > skipped)
			err = fn(context, hw_wqe_data_seg_get_lkey(segment),
				 hw_wqe_data_seg_get_addr(segment) + skipped, count - skipped);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_for_each_sge);

/* What a datagram has before its data: an address, short or whole. */
static size_t address_length(const struct cxib_pf_wqe *request)
{
	const struct hw_wqe_datagram_seg *address =
		(const void *)&request->bytes[sizeof(struct hw_wqe_ctrl_seg)];

	return hw_av_get_extended(hw_wqe_datagram_seg_get_av(address)) ? sizeof(*address) :
									  CXIB_DS_SIZE;
}

static size_t transport_length(enum ib_qp_type type, const struct cxib_pf_wqe *request)
{
	switch (type) {
	case IB_QPT_UD:
	case IB_QPT_GSI:
	case IB_QPT_SMI:
	case IB_QPT_DRIVER:
		return address_length(request);
	case IB_QPT_XRC_INI:
		return CXIB_DS_SIZE;
	default:
		return 0;
	}
}

static int operation_length(u32 opcode)
{
	switch (opcode) {
	case HW_WQE_OPCODE_SEND:
	case HW_WQE_OPCODE_SEND_IMM:
	case HW_WQE_OPCODE_SEND_INVAL:
		return 0;
	case HW_WQE_OPCODE_RDMA_WRITE:
	case HW_WQE_OPCODE_RDMA_WRITE_IMM:
	case HW_WQE_OPCODE_RDMA_READ:
		return sizeof(struct hw_wqe_raddr_seg);
	case HW_WQE_OPCODE_ATOMIC_CS:
	case HW_WQE_OPCODE_ATOMIC_FA:
		return sizeof(struct hw_wqe_raddr_seg) + sizeof(struct hw_wqe_atomic_seg);
	case HW_WQE_OPCODE_ATOMIC_MASKED_CS:
	case HW_WQE_OPCODE_ATOMIC_MASKED_FA:
		return sizeof(struct hw_wqe_raddr_seg) + sizeof(struct hw_wqe_masked_atomic_seg);
	default:
		return -EINVAL;
	}
}

/**
 * cxib_pf_data_offset() - where the data segments of a request to send begin
 * @type: type of the queue pair
 * @request: the request; its length is filled, as it says
 *
 * Return: bytes from its begin; -EINVAL when no memory belongs to such a request, or
 * it is longer than one can be.
 */
int cxib_pf_data_offset(enum ib_qp_type type, struct cxib_pf_wqe *request)
{
	const struct hw_wqe_ctrl_seg *control = (const void *)request->bytes;
	int operation = operation_length(hw_wqe_ctrl_seg_get_opcode(control));
	size_t length = hw_wqe_ctrl_seg_get_ds(control) * CXIB_DS_SIZE;

	if (operation < 0 || length < sizeof(*control) || length > request->length)
		return -EINVAL;
	request->length = length;
	return sizeof(*control) + transport_length(type, request) + operation;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_data_offset);

static int copy_from_queue(const struct cxib_buffer *buffer, struct ib_umem *umem, void *to,
			   size_t offset, size_t length)
{
	size_t done, bytes;

	if (umem)
		return ib_umem_copy_from(to, umem, offset, length);
	for (done = 0; done < length; done += bytes) {
		bytes = min_t(size_t, length - done, CXIB_DS_SIZE);
		memcpy(to + done, cxib_buffer_at(buffer, offset + done), bytes);
	}
	return 0;
}

/* A request may go on at the start of the ring. What is behind it is copied, too. */
static int copy_send(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *request)
{
	size_t ring = BIT(qp->sq.log_size + CXIB_LOG_WQEBB_SIZE);
	size_t at = (size_t)(index & (BIT(qp->sq.log_size) - 1)) << CXIB_LOG_WQEBB_SIZE;
	size_t bytes;
	int err;

	request->length = min(sizeof(request->bytes), ring);
	bytes = min(request->length, ring - at);
	err = copy_from_queue(&qp->buffer, qp->user.umem, request->bytes, qp->sq.offset + at,
			      bytes);
	if (err || bytes == request->length)
		return err;
	return copy_from_queue(&qp->buffer, qp->user.umem, request->bytes + bytes,
			       qp->sq.offset, request->length - bytes);
}

static int read_send(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *request)
{
	int err;

	if (!qp->has_sq)
		return -EINVAL;
	err = copy_send(qp, index, request);
	return err ?: cxib_pf_data_offset(qp->ib.qp_type, request);
}

static int read_receive(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *request)
{
	size_t stride = BIT(qp->rq.log_stride);
	size_t at = (size_t)(index & (BIT(qp->rq.log_size) - 1)) << qp->rq.log_stride;

	if (!qp->has_rq || stride > sizeof(request->bytes))
		return -EINVAL;
	request->length = stride;
	return copy_from_queue(&qp->buffer, qp->user.umem, request->bytes, at, stride);
}

static int read_shared(const struct cxib_srq *srq, u16 index,
		       struct cxib_pf_wqe *request)
{
	size_t stride = BIT(srq->log_stride);
	size_t at = (size_t)(index & (BIT(srq->log_size) - 1)) << srq->log_stride;
	int err;

	if (stride > sizeof(request->bytes))
		return -EINVAL;
	request->length = stride;
	err = copy_from_queue(&srq->buffer, srq->user.umem, request->bytes, at, stride);
	return err ?: sizeof(struct hw_wqe_srq_next_seg);
}

static int read_from_shared_queue(struct fault *fault)
{
	struct cxib_srq *srq = cxib_get_srq(fault->ibdev, fault->fault.queue);
	int first;

	if (!srq)
		return -ENOENT;
	first = read_shared(srq, fault->fault.wqe_index, &fault->request);
	cxib_reference_put(&srq->reference);
	return first;
}

/* Returns where the data segments begin, or an error. */
static int read_request(struct fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct cxib_qp *qp;
	int first;

	if (!(event->operation & (HW_PAGE_FAULT_FLAGS_REQUESTOR | HW_PAGE_FAULT_FLAGS_WRITE)))
		return read_from_shared_queue(fault);
	qp = cxib_get_qp(fault->ibdev, event->queue);
	if (!qp)
		return -ENOENT;
	if (event->operation & HW_PAGE_FAULT_FLAGS_REQUESTOR)
		first = read_send(qp, event->wqe_index, &fault->request);
	else
		first = read_receive(qp, event->wqe_index, &fault->request);
	cxib_reference_put(&qp->reference);
	return first;
}

/**
 * struct progress - of bringing in the memory of a work request
 * @search: for it
 * @left: bytes that may still come in for this fault
 */
struct progress {
	struct search search;
	u64 left;
};

static int on_segment(void *context, u32 key, u64 address, u64 length)
{
	struct progress *progress = context;
	u64 before = progress->search.pages;
	int err;

	length = min(length, progress->left);
	if (!length)
		return 0;
	err = bring_in_key(&progress->search, key, address, length);
	if (progress->search.pages > before)
		progress->left -= length;
	return err;
}

static int resolve_request(struct fault *fault)
{
	struct progress progress = {
		.search = { .ibdev = fault->ibdev, .questions = QUESTIONS_MAX },
		.left = BYTES_AT_ONCE,
	};
	int first = read_request(fault);
	int err;

	if (first < 0)
		return first;
	err = cxib_pf_for_each_sge(&fault->request, first, fault->fault.bytes_committed, on_segment,
				   &progress);
	/* The device would meet it again and again. */
	return err ?: progress.search.pages ? 0 : -ENOENT;
}

static void handle(struct fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct ib_device *ib = &fault->ibdev->ib;
	int err;

	if (event->subtype == HW_PAGE_FAULT_SUBTYPE_MEMORY)
		err = resolve_memory(fault);
	else if (event->subtype == HW_PAGE_FAULT_SUBTYPE_RDMA)
		err = resolve_remote(fault);
	else
		err = resolve_request(fault);
	if (err)
		ibdev_dbg(ib, "page fault 0x%llx of queue 0x%x, request 0x%x, key 0x%x: error %d\n",
			  event->token, event->queue, event->wqe_index, event->key, err);
	if (err || event->last)
		cxib_cmd_page_fault_resume(commands_of(fault->ibdev), event, err);
}

static void handle_later(struct work_struct *work)
{
	struct fault *fault = container_of(work, struct fault, work);
	struct cxib_odp *paging = &fault->ibdev->paging;

	handle(fault);
	kfree(fault);
	atomic_dec(&paging->faults);
	wake_up(&paging->fault_done);
}

/**
 * cxib_page_fault_event() - a transfer waits for pages
 * @context: RDMA device
 * @event: what the device says
 *
 * Context: process context, may sleep; one at a time.
 */
void cxib_page_fault_event(void *context, const struct cxib_page_fault *event)
{
	struct cxib_ibdev *ibdev = context;
	struct cxib_odp *paging = &ibdev->paging;
	struct fault *fault = kzalloc(sizeof(*fault), GFP_KERNEL);

	if (!fault) {
		cxib_cmd_page_fault_resume(commands_of(ibdev), event, true);
		return;
	}
	wait_event(paging->fault_done, atomic_add_unless(&paging->faults, 1, FAULTS_AT_ONCE));
	fault->ibdev = ibdev;
	fault->fault = *event;
	INIT_WORK(&fault->work, handle_later);
	queue_work(paging->workqueue, &fault->work);
}
