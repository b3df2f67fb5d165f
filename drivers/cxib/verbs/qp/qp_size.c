// SPDX-License-Identifier: GPL-2.0-only
/* Sizes of the work queues of a QP. */
#include <kunit/visibility.h>
#include <linux/log2.h>

#include "verbs/qp/post.h"
#include "verbs/qp/qp.h"

/* Maximum bytes of a send WQE. */
#define SEND_WQE_MAX	1024U

/* Returns the bytes of a send WQE before its data segments. */
static unsigned int qp_size_send_header(enum ib_qp_type type)
{
	unsigned int size = sizeof(struct hw_wqe_ctrl_seg);

	switch (type) {
	case IB_QPT_UD:
	case IB_QPT_SMI:
	case IB_QPT_GSI:
		return size + sizeof(struct hw_wqe_datagram_seg);
	default:
		return size + sizeof(struct hw_wqe_raddr_seg) +
		       sizeof(struct hw_wqe_masked_atomic_seg);
	}
}

/*
 * Returns the bytes of the WQEs of IB_WR_REG_MR or IB_WR_REG_MR_INTEGRITY; 0 if the QP supports
 * neither.
 */
static unsigned int qp_size_umr_wqe(enum ib_qp_type type, u32 flags)
{
	if (type != IB_QPT_RC && type != CXIB_QPT_UMR)
		return 0;
	if (flags & IB_QP_CREATE_INTEGRITY_EN)
		return CXIB_SIG_REG_WQEBBS * CXIB_WQEBB_SIZE;
	return sizeof(struct hw_wqe_ctrl_seg) + sizeof(struct hw_wqe_umr_ctrl_seg) +
	       sizeof(struct hw_mkey_seg) + sizeof(struct hw_wqe_data_seg);
}

/* Returns the bytes of the largest send WQE. */
static unsigned int qp_size_send_wqe(const struct ib_qp_init_attr *init)
{
	const struct ib_qp_cap *cap = &init->cap;
	unsigned int inlined = cap->max_inline_data ?
			       ALIGN(sizeof(struct hw_wqe_inline_seg) + cap->max_inline_data,
				     CXIB_DS_SIZE) : 0;
	unsigned int sges = cap->max_send_sge * sizeof(struct hw_wqe_data_seg);

	return max(qp_size_send_header(init->qp_type) + max(inlined, sges),
		   qp_size_umr_wqe(init->qp_type, init->create_flags));
}

static int qp_size_refuse(const struct cxib_ibdev *ibdev, const char *name, u32 value, u32 limit)
{
	ibdev_dbg(&ibdev->ib, "create QP: %s %u out of range [0, %u]\n", name, value, limit);
	return -EINVAL;
}

static int qp_size_sq(const struct cxib_ibdev *ibdev, struct cxib_qp *qp,
		      struct ib_qp_init_attr *init)
{
	struct ib_qp_cap *cap = &init->cap;
	const struct cxib_device_caps *caps = &ibdev->hw->caps;
	unsigned int header = qp_size_send_header(qp->ib.qp_type);
	unsigned int longest = min(SEND_WQE_MAX, caps->max_wqe_sz_sq);
	unsigned int max = min_t(unsigned int, CXIB_SEND_SGE_MAX,
				 (longest - header) / sizeof(struct hw_wqe_data_seg));
	unsigned int wqebbs, wqe_wqebbs, max_inline_data;

	qp->has_sq = cap->max_send_wr;
	if (!qp->has_sq) {
		cap->max_send_sge = 0;
		cap->max_inline_data = 0;
		return 0;
	}
	if (cap->max_send_sge > max)
		return qp_size_refuse(ibdev, "max_send_sge", cap->max_send_sge, max);
	max_inline_data = longest - header - sizeof(struct hw_wqe_inline_seg);
	if (cap->max_inline_data > max_inline_data)
		return qp_size_refuse(ibdev, "max_inline_data", cap->max_inline_data,
				      max_inline_data);
	wqe_wqebbs = DIV_ROUND_UP(qp_size_send_wqe(init), CXIB_WQEBB_SIZE);
	if (cap->max_send_wr > BIT(caps->log_max_qp_sz) / wqe_wqebbs)
		return qp_size_refuse(ibdev, "max_send_wr", cap->max_send_wr,
				      BIT(caps->log_max_qp_sz) / wqe_wqebbs);
	wqebbs = roundup_pow_of_two(cap->max_send_wr * wqe_wqebbs);
	qp->sq.log_size = ilog2(wqebbs);
	qp->sq.mask = wqebbs - 1;
	qp->sq.max_inline = min(wqe_wqebbs * CXIB_WQEBB_SIZE - header -
				(unsigned int)sizeof(struct hw_wqe_inline_seg), max_inline_data);
	cap->max_inline_data = qp->sq.max_inline;
	qp->sq.max_sge = (wqe_wqebbs * CXIB_WQEBB_SIZE - header) / sizeof(struct hw_wqe_data_seg);
	qp->sq.max_sge = min(qp->sq.max_sge, max);
	cap->max_send_sge = qp->sq.max_sge;
	cap->max_send_wr = wqebbs / wqe_wqebbs;
	return 0;
}

static int qp_size_rq(const struct cxib_ibdev *ibdev, struct cxib_qp *qp,
		      struct ib_qp_init_attr *init)
{
	struct ib_qp_cap *cap = &init->cap;
	const struct cxib_device_caps *caps = &ibdev->hw->caps;
	unsigned int max = caps->max_wqe_sz_rq / sizeof(struct hw_wqe_data_seg);
	unsigned int stride, count;

	qp->has_rq = cap->max_recv_wr && !init->srq;
	if (!qp->has_rq) {
		cap->max_recv_wr = 0;
		cap->max_recv_sge = 0;
		return 0;
	}
	if (cap->max_recv_sge > max)
		return qp_size_refuse(ibdev, "max_recv_sge", cap->max_recv_sge, max);
	if (cap->max_recv_wr > BIT(caps->log_max_qp_sz))
		return qp_size_refuse(ibdev, "max_recv_wr", cap->max_recv_wr,
				      BIT(caps->log_max_qp_sz));
	stride = roundup_pow_of_two(max(cap->max_recv_sge, 1U)) * sizeof(struct hw_wqe_data_seg);
	/* The SQ follows the RQ and must begin at a WQEBB. */
	count = max_t(unsigned int, roundup_pow_of_two(cap->max_recv_wr),
		      CXIB_WQEBB_SIZE / stride);
	qp->rq.log_stride = ilog2(stride);
	qp->rq.log_size = ilog2(count);
	qp->rq.max_sge = stride / sizeof(struct hw_wqe_data_seg);
	cap->max_recv_sge = qp->rq.max_sge;
	cap->max_recv_wr = count;
	return 0;
}

/**
 * cxib_qp_size() - calculate the sizes of the work queues of a QP
 * @ibdev: RDMA device
 * @qp: the caller has set its type; the function fills sizes and offsets
 * @init: cap contains the minimum on entry, and the actual capabilities on return
 *
 * Return: 0, or -EINVAL if a capability exceeds the limit of the device.
 */
int cxib_qp_size(const struct cxib_ibdev *ibdev, struct cxib_qp *qp, struct ib_qp_init_attr *init)
{
	int err;

	err = qp_size_rq(ibdev, qp, init);
	if (!err)
		err = qp_size_sq(ibdev, qp, init);
	if (!err && qp->has_rq)
		qp->sq.offset = BIT(qp->rq.log_size + qp->rq.log_stride);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_size);

/**
 * cxib_qp_buffer_size() - returns the size of the memory of the work queues
 * @qp: QP after cxib_qp_size()
 *
 * Return: bytes.
 */
size_t cxib_qp_buffer_size(const struct cxib_qp *qp)
{
	size_t size = qp->sq.offset;

	if (qp->has_sq)
		size += BIT(qp->sq.log_size + CXIB_LOG_WQEBB_SIZE);
	return size;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_qp_buffer_size);
