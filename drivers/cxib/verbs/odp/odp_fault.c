// SPDX-License-Identifier: GPL-2.0-only
/*
 * Page faults: the driver finds the memory that a transfer waits for, faults it in and resumes the
 * transfer.
 *
 * There are three kinds of page faults:
 * - A memory page fault names the mkey and the address. Not all devices have memory page faults.
 * - An RDMA page fault names the memory that a remote peer has requested.
 * - A WQE page fault names the WQE. The driver reads the data segments of the WQE from the queue.
 *
 * User space can write anything to the queue, and the device can report anything. So both can only
 * select among the existing ODP MRs.
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
#include "verbs/lookup.h"
#include "verbs/odp/odp_fault.h"
#include "verbs/odp/odp_mr.h"
#include "verbs/qp/qp.h"
#include "verbs/srq/srq.h"

/*
 * Maximum number of bytes that are faulted in for a fault, so that a large transfer does not occupy
 * a worker. The device reports the rest as new faults.
 */
#define FAULT_BYTES_MAX	SZ_4M

/*
 * Maximum number of faults of a user that are queued: 8 MiB. If more faults arrive, their transfers
 * fail.
 */
#define FAULTS_MAX	32768

/* Length of a data segment whose byte count is 0. */
#define SGE_MAX_BYTES	BIT(31)

/*
 * KLMs can refer to indirect mkeys. User space chooses the number of mkeys and levels, and each
 * query is a command, so both are limited.
 */
#define LEVELS_MAX	4
#define QUERIES_MAX	64

/*
 * Maximum number of KLMs that are read for a fault. The outputs of all QUERY_MKEY commands for the
 * fault then have 64 KiB.
 */
#define KLMS_MAX	4096

/**
 * struct odp_fault - a page fault that the driver handles
 * @work: handles it
 * @ibdev: RDMA device
 * @context: user context whose workers handle the fault, with a reference
 * @owner: user context whose workers handle the fault next, with a reference; NULL: none
 * @fault: the decoded event
 * @of_odp_mr: the mkey of the event was one of an ODP MR when the event arrived
 * @wqe: copy of the WQE; NULL: not needed
 * @pdn: PD of its QP or SRQ
 */
struct odp_fault {
	struct work_struct work;
	struct cxib_ibdev *ibdev;
	struct cxib_odp_context *context;
	struct cxib_odp_context *owner;
	struct cxib_page_fault fault;
	bool of_odp_mr;
	struct cxib_pf_wqe *wqe;
	u32 pdn;
};

/**
 * struct fault_search - search for the ODP MRs of a fault
 * @fault: the fault
 * @level: number of indirect mkeys on the path
 * @queries: mkeys that may still be queried for this fault
 * @klms: KLMs that may still be read for this fault
 * @pdn: PD of the MRs that the search may find. User space can write mkeys of other processes to
 *	WQEs and KLMs, even after the device has checked them. %CXIB_ANY_PD: the device names the
 *	mkey.
 * @pages: pages that are present now
 */
struct fault_search {
	struct odp_fault *fault;
	unsigned int level;
	unsigned int queries;
	size_t klms;
	u32 pdn;
	u64 pages;
};

static struct fault_search fault_new_search(struct odp_fault *fault)
{
	return (struct fault_search){
		.fault = fault, .queries = QUERIES_MAX, .klms = KLMS_MAX,
		.pdn = CXIB_ANY_PD,
	};
}

static int fault_in_mkey(void *context, u32 key, u64 address, u64 length);

/* MRs without ODP are skipped, because their pages are pinned. */
static int fault_in_klms(struct fault_search *search, u32 key, u64 address, u64 length)
{
	int err;

	if (!search->queries)
		return 0;
	if (search->level == LEVELS_MAX)
		return -ELOOP;
	search->queries--;
	search->level++;
	err = cxib_pf_walk_mkey(commands_of(search->fault->ibdev), key, address, length,
				&search->klms, &search->pdn, fault_in_mkey, search);
	search->level--;
	return err;
}

static bool fault_has_pd(const struct fault_search *search, const struct cxib_odp_mr *odp_mr)
{
	return search->pdn == CXIB_ANY_PD || to_pd(odp_mr->mr.ib.pd)->pdn == search->pdn;
}

/*
 * If a fault names neither an ODP MR nor a known queue, workers that all users share search for its
 * MR. They do not wait for pages: they give the fault to the workers of the user of the MR.
 *
 * Returns true if the caller is to leave the fault to its new owner.
 */
static bool fault_give_to_owner(struct odp_fault *fault, const struct cxib_odp_mr *odp_mr)
{
	if (fault->context != &fault->ibdev->odp.others || fault->context == odp_mr->context)
		return false;
	refcount_inc(&odp_mr->context->users);
	fault->owner = odp_mr->context;
	return true;
}

static int fault_in_odp_mr(struct fault_search *search, struct cxib_odp_mr *odp_mr,
			   const struct cxib_odp_range *range)
{
	int pages;

	if (!fault_has_pd(search, odp_mr))
		return 0;
	if (fault_give_to_owner(search->fault, odp_mr))
		return -EXDEV;
	pages = cxib_odp_fault_in(odp_mr, range);
	if (pages > 0) {
		atomic64_add(pages, &odp_mr->faults);
		search->pages += pages;
	}
	return min(pages, 0);
}

static int fault_in_mkey(void *context, u32 key, u64 address, u64 length)
{
	const struct cxib_odp_range range = {
		.address = address, .length = length, .for_writing = true,
	};
	struct fault_search *search = context;
	struct cxib_odp_mr *odp_mr = cxib_odp_get_mr(search->fault->ibdev, key);
	int err;

	/* An ODP MR may have been destroyed meanwhile. Only other mkeys have KLMs. */
	if (!odp_mr)
		return search->fault->of_odp_mr ? 0 : fault_in_klms(search, key, address, length);
	err = fault_in_odp_mr(search, odp_mr, &range);
	cxib_reference_put(&odp_mr->reference);
	return err;
}

/* The last byte that the remote peer requests may be beyond FAULT_BYTES_MAX. */
static int fault_resolve_rdma(struct odp_fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	u64 left = event->length > event->bytes_committed ? event->length - event->bytes_committed :
						      event->packet_size;
	struct fault_search search = fault_new_search(fault);
	int err;

	err = fault_in_mkey(&search, event->key, event->address + event->bytes_committed,
			    min_t(u64, left, FAULT_BYTES_MAX));
	return err ?: search.pages ? 0 : -ENOENT;
}

/**
 * cxib_pf_mr_range() - range of an MR to fault in for a memory page fault
 * @event: the fault
 * @start: iova of the MR
 * @length: bytes of the MR
 * @ahead: include the pages before and after the missing pages that the device suggests
 * @range: filled in
 *
 * The pages of the event may begin before the MR and end after it.
 *
 * Return: false if none of these pages is in the MR.
 */
bool cxib_pf_mr_range(const struct cxib_page_fault *event, u64 start, u64 length, bool ahead,
		      struct cxib_odp_range *range)
{
	u64 first = ALIGN_DOWN(event->address, (u64)CXIB_FAULT_PAGE);
	u64 end = first + min3(U64_MAX - first, (u64)event->length, (u64)FAULT_BYTES_MAX);

	if (ahead) {
		first -= min3(first, (u64)event->before, (u64)FAULT_BYTES_MAX);
		end += min3(U64_MAX - end, (u64)event->after, (u64)FAULT_BYTES_MAX);
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

static int fault_in_range(struct cxib_odp_mr *odp_mr, const struct cxib_page_fault *event,
			  bool ahead)
{
	struct cxib_odp_range range;

	if (!cxib_pf_mr_range(event, odp_mr->mr.ib.iova, odp_mr->mr.ib.length, ahead, &range))
		return -EFAULT;
	return cxib_odp_fault_in(odp_mr, &range);
}

/* The pages that the device suggests need not be mapped in user space. */
static int fault_in_mr(struct cxib_odp_mr *odp_mr, const struct cxib_page_fault *event)
{
	int pages = -EFAULT;

	if (event->before || event->after)
		pages = fault_in_range(odp_mr, event, true);
	if (pages < 0)
		pages = fault_in_range(odp_mr, event, false);
	if (pages > 0)
		atomic64_add(pages, &odp_mr->faults);
	return pages;
}

/* An mkey that is not an ODP MR may have KLMs that refer to ODP MRs. */
static int fault_resolve_memory(struct odp_fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct fault_search search = fault_new_search(fault);
	struct cxib_odp_mr *odp_mr = cxib_odp_get_fault_mr(fault->ibdev, event->key);
	u64 length = event->length - event->address % CXIB_FAULT_PAGE;
	int pages, err;

	if (odp_mr) {
		pages = fault_give_to_owner(fault, odp_mr) ? -EXDEV : fault_in_mr(odp_mr, event);
		cxib_reference_put(&odp_mr->reference);
		return pages > 0 ? 0 : pages ?: -ENOENT;
	}
	err = fault_in_mkey(&search, event->key, event->address,
			    min_t(u64, length, FAULT_BYTES_MAX));
	return err ?: search.pages ? 0 : -ENOENT;
}

/**
 * cxib_pf_walk_sges() - call a function for each SGE of a WQE
 * @wqe: the WQE
 * @first: offset of its first data segment
 * @committed: bytes of the message to skip
 * @fn: called with each range, until it returns an error
 * @data: for @fn
 *
 * Return: 0 or the error of @fn.
 */
int cxib_pf_walk_sges(const struct cxib_pf_wqe *wqe, size_t first,
		      u64 committed, cxib_pf_sge_fn fn, void *data)
{
	size_t at = first;
	int err = 0;

	while (!err && at + CXIB_DS_SIZE <= wqe->length) {
		const struct hw_wqe_data_seg *segment = (const void *)&wqe->bytes[at];
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
			count = SGE_MAX_BYTES;
		}
		skipped = min_t(u64, count, committed);
		committed -= skipped;
		if (!is_inline && count > skipped)
			err = fn(data, hw_wqe_data_seg_get_lkey(segment),
				 hw_wqe_data_seg_get_addr(segment) + skipped, count - skipped);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_walk_sges);

/* Length of the AV of a UD or DC WQE. */
static size_t fault_address_length(const struct cxib_pf_wqe *wqe)
{
	const struct hw_wqe_datagram_seg *address =
		(const void *)&wqe->bytes[sizeof(struct hw_wqe_ctrl_seg)];

	return hw_av_get_extended(hw_wqe_datagram_seg_get_av(address)) ? sizeof(*address) :
									  CXIB_DS_SIZE;
}

static size_t fault_transport_length(enum ib_qp_type type, const struct cxib_pf_wqe *wqe)
{
	switch (type) {
	case IB_QPT_UD:
	case IB_QPT_GSI:
	case IB_QPT_SMI:
	case IB_QPT_DRIVER:
		return fault_address_length(wqe);
	case IB_QPT_XRC_INI:
		return CXIB_DS_SIZE;
	default:
		return 0;
	}
}

/*
 * @count: number of operands
 *
 * Each step of opmod doubles the operand size. Operands fill whole DS.
 */
static int fault_masked_atomic_length(const struct hw_wqe_ctrl_seg *control, u32 count)
{
	u32 opmod = hw_wqe_ctrl_seg_get_opmod(control);
	u32 size;

	if (opmod < HW_MASKED_ATOMIC_OPMOD_BYTES_4 || opmod > HW_MASKED_ATOMIC_OPMOD_BYTES_32)
		return -EINVAL;
	size = sizeof(u32) << (opmod - HW_MASKED_ATOMIC_OPMOD_BYTES_4);
	return sizeof(struct hw_wqe_raddr_seg) + max_t(u32, count * size, CXIB_DS_SIZE);
}

static int fault_operation_length(const struct hw_wqe_ctrl_seg *control)
{
	switch (hw_wqe_ctrl_seg_get_opcode(control)) {
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
		return fault_masked_atomic_length(control, 4);
	case HW_WQE_OPCODE_ATOMIC_MASKED_FA:
		return fault_masked_atomic_length(control, 2);
	default:
		return -EINVAL;
	}
}

/**
 * cxib_pf_data_offset() - offset of the data segments of a send WQE
 * @type: type of the QP
 * @wqe: the WQE; its length is set from the DS in its control segment
 *
 * Return: offset in bytes; -EINVAL if WQEs of this opcode have no data segments, if opmod of a
 * masked atomic has no valid operand size, or if the DS is out of range.
 */
int cxib_pf_data_offset(enum ib_qp_type type, struct cxib_pf_wqe *wqe)
{
	const struct hw_wqe_ctrl_seg *control = (const void *)wqe->bytes;
	int operation = fault_operation_length(control);
	size_t length = hw_wqe_ctrl_seg_get_ds(control) * CXIB_DS_SIZE;

	if (operation < 0 || length < sizeof(*control) || length > wqe->length)
		return -EINVAL;
	wqe->length = length;
	return sizeof(*control) + fault_transport_length(type, wqe) + operation;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_pf_data_offset);

static int fault_copy_from_queue(const struct cxib_buffer *buffer, struct ib_umem *umem, void *to,
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

/*
 * A WQE may wrap around at the end of the ring. The copy has a fixed length, so it includes the
 * bytes that follow the WQE.
 */
static int fault_copy_send_wqe(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *wqe)
{
	size_t ring = BIT(qp->sq.log_size + CXIB_LOG_WQEBB_SIZE);
	size_t at = (size_t)(index & (BIT(qp->sq.log_size) - 1)) << CXIB_LOG_WQEBB_SIZE;
	size_t bytes;
	int err;

	wqe->length = min(sizeof(wqe->bytes), ring);
	bytes = min(wqe->length, ring - at);
	err = fault_copy_from_queue(&qp->buffer, qp->user.pinned.umem, wqe->bytes,
				    qp->sq.offset + at, bytes);
	if (err || bytes == wqe->length)
		return err;
	return fault_copy_from_queue(&qp->buffer, qp->user.pinned.umem, wqe->bytes + bytes,
				     qp->sq.offset, wqe->length - bytes);
}

static int fault_read_send_wqe(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *wqe)
{
	int err;

	if (!qp->has_sq)
		return -EINVAL;
	err = fault_copy_send_wqe(qp, index, wqe);
	return err ?: cxib_pf_data_offset(qp->ib.qp_type, wqe);
}

static int fault_read_recv_wqe(const struct cxib_qp *qp, u16 index, struct cxib_pf_wqe *wqe)
{
	size_t stride = BIT(qp->rq.log_stride);
	size_t at = (size_t)(index & (BIT(qp->rq.log_size) - 1)) << qp->rq.log_stride;

	if (!qp->has_rq || stride > sizeof(wqe->bytes))
		return -EINVAL;
	wqe->length = stride;
	return fault_copy_from_queue(&qp->buffer, qp->user.pinned.umem, wqe->bytes, at, stride);
}

static int fault_read_srq_wqe(const struct cxib_srq *srq, u16 index, struct cxib_pf_wqe *wqe)
{
	size_t stride = BIT(srq->log_stride);
	size_t at = (size_t)(index & (BIT(srq->log_size) - 1)) << srq->log_stride;
	int err;

	if (stride > sizeof(wqe->bytes))
		return -EINVAL;
	wqe->length = stride;
	err = fault_copy_from_queue(&srq->buffer, srq->user.pinned.umem, wqe->bytes, at, stride);
	return err ?: sizeof(struct hw_wqe_srq_next_seg);
}

static int fault_read_wqe_of_srq(struct odp_fault *fault)
{
	struct cxib_srq *srq = cxib_get_srq(fault->ibdev, fault->fault.queue);
	int first;

	if (!srq)
		return -ENOENT;
	fault->pdn = to_pd(srq->ib.pd)->pdn;
	first = fault_read_srq_wqe(srq, fault->fault.wqe_index, fault->wqe);
	cxib_reference_put(&srq->reference);
	return first;
}

static bool fault_is_of_srq(const struct cxib_page_fault *event)
{
	return !(event->operation & (HW_PAGE_FAULT_FLAGS_REQUESTOR | HW_PAGE_FAULT_FLAGS_WRITE));
}

/* Returns the offset of the data segments, or an error. */
static int fault_read_wqe(struct odp_fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct cxib_qp *qp;
	int first;

	if (fault_is_of_srq(event))
		return fault_read_wqe_of_srq(fault);
	qp = cxib_get_qp(fault->ibdev, event->queue);
	if (!qp)
		return -ENOENT;
	fault->pdn = cxib_qp_pdn(qp);
	if (event->operation & HW_PAGE_FAULT_FLAGS_REQUESTOR)
		first = fault_read_send_wqe(qp, event->wqe_index, fault->wqe);
	else
		first = fault_read_recv_wqe(qp, event->wqe_index, fault->wqe);
	cxib_reference_put(&qp->reference);
	return first;
}

/**
 * struct fault_progress - progress of faulting in the memory of a WQE
 * @search: search for its MRs
 * @left: bytes that may still be faulted in for this fault
 */
struct fault_progress {
	struct fault_search search;
	u64 left;
};

static int fault_on_segment(void *context, u32 key, u64 address, u64 length)
{
	struct fault_progress *progress = context;
	u64 before = progress->search.pages;
	int err;

	length = min(length, progress->left);
	if (!length)
		return 0;
	err = fault_in_mkey(&progress->search, key, address, length);
	if (progress->search.pages > before)
		progress->left -= length;
	return err;
}

static int fault_resolve_wqe(struct odp_fault *fault)
{
	struct fault_progress progress = {
		.search = fault_new_search(fault),
		.left = FAULT_BYTES_MAX,
	};
	int first, err;

	fault->wqe = kzalloc(sizeof(*fault->wqe), GFP_KERNEL);
	if (!fault->wqe)
		return -ENOMEM;
	first = fault_read_wqe(fault);
	if (first < 0)
		return first;
	progress.search.pdn = fault->pdn;
	err = cxib_pf_walk_sges(fault->wqe, first, fault->fault.bytes_committed, fault_on_segment,
				&progress);
	/* If no page was faulted in, the resumed transfer would fault again forever. */
	return err ?: progress.search.pages ? 0 : -ENOENT;
}

static void fault_handle(struct odp_fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct ib_device *ib = &fault->ibdev->ib;
	int err;

	if (event->subtype == HW_PAGE_FAULT_SUBTYPE_MEMORY)
		err = fault_resolve_memory(fault);
	else if (event->subtype == HW_PAGE_FAULT_SUBTYPE_RDMA)
		err = fault_resolve_rdma(fault);
	else
		err = fault_resolve_wqe(fault);
	if (fault->owner)
		return;
	if (err)
		ibdev_dbg(ib, "page fault 0x%llx: queue 0x%x, WQE 0x%x, mkey 0x%x: error %d\n",
			  event->token, event->queue, event->wqe_index, event->key, err);
	if (err || event->last)
		cxib_cmd_page_fault_resume(commands_of(fault->ibdev), event, err);
}

static void fault_free(struct odp_fault *fault)
{
	cxib_odp_put_context(fault->ibdev, fault->context);
	kfree(fault->wqe);
	kfree(fault);
}

/*
 * The transfer fails if too many faults of the user are queued. The caller must not use the fault
 * afterwards.
 */
static void fault_queue(struct odp_fault *fault)
{
	struct cxib_odp_user *user = fault->context->user;

	if (atomic_add_unless(&user->faults, 1, FAULTS_MAX)) {
		queue_work(user->workqueue, &fault->work);
		return;
	}
	cxib_cmd_page_fault_resume(commands_of(fault->ibdev), &fault->fault, true);
	fault_free(fault);
}

/* The memory of a WQE is searched again, from the beginning. */
static void fault_hand_over(struct odp_fault *fault)
{
	cxib_odp_put_context(fault->ibdev, fault->context);
	fault->context = fault->owner;
	fault->owner = NULL;
	kfree(fault->wqe);
	fault->wqe = NULL;
	fault_queue(fault);
}

static void fault_work_fn(struct work_struct *work)
{
	struct odp_fault *fault = container_of(work, struct odp_fault, work);

	fault_handle(fault);
	atomic_dec(&fault->context->user->faults);
	if (fault->owner)
		fault_hand_over(fault);
	else
		fault_free(fault);
}

/*
 * Returns the user context of the QP or SRQ, which the caller may only compare; NULL if there is
 * none.
 */
static const struct ib_ucontext *fault_queue_owner(struct cxib_ibdev *ibdev,
						   const struct cxib_page_fault *event)
{
	const struct ib_ucontext *owner = NULL;
	struct cxib_srq *srq = NULL;
	struct cxib_qp *qp = NULL;

	if (event->subtype == HW_PAGE_FAULT_SUBTYPE_WQE && fault_is_of_srq(event))
		srq = cxib_get_srq(ibdev, event->queue);
	else
		qp = cxib_get_qp(ibdev, event->queue);
	if (srq) {
		owner = cxib_pd_context(srq->ib.pd);
		cxib_reference_put(&srq->reference);
	} else if (qp) {
		owner = cxib_pd_context(qp->ib.pd);
		cxib_reference_put(&qp->reference);
	}
	return owner;
}

/*
 * The user context is the one that owns the memory. If the event does not name an ODP MR, this is
 * the user context of the queue, because queue and memory have the same PD.
 */
static void fault_find_context(struct odp_fault *fault)
{
	const struct cxib_page_fault *event = &fault->fault;
	struct cxib_ibdev *ibdev = fault->ibdev;
	struct cxib_odp_mr *odp_mr = NULL;

	if (event->subtype != HW_PAGE_FAULT_SUBTYPE_WQE)
		odp_mr = cxib_odp_get_fault_mr(ibdev, event->key);
	if (odp_mr) {
		fault->of_odp_mr = true;
		fault->context = odp_mr->context;
		refcount_inc(&fault->context->users);
		cxib_reference_put(&odp_mr->reference);
	} else if (event->subtype == HW_PAGE_FAULT_SUBTYPE_MEMORY) {
		fault->context = cxib_odp_find_context(ibdev, NULL);
	} else {
		fault->context = cxib_odp_find_context(ibdev, fault_queue_owner(ibdev, event));
	}
}

/**
 * cxib_page_fault_event() - queue a page fault for handling
 * @context: RDMA device
 * @event: the decoded event
 *
 * The transfer fails if there is no memory, or if too many faults of its user are queued.
 *
 * Context: process context, may sleep; one at a time.
 */
void cxib_page_fault_event(void *context, const struct cxib_page_fault *event)
{
	struct cxib_ibdev *ibdev = context;
	struct odp_fault *fault = kzalloc(sizeof(*fault), GFP_KERNEL);

	if (!fault) {
		cxib_cmd_page_fault_resume(commands_of(ibdev), event, true);
		return;
	}
	fault->ibdev = ibdev;
	fault->fault = *event;
	fault_find_context(fault);
	INIT_WORK(&fault->work, fault_work_fn);
	fault_queue(fault);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_page_fault_event);
