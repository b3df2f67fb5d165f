// SPDX-License-Identifier: GPL-2.0-only
/*
 * Posting send requests.
 *
 * A request is made of octwords that follow each other in the ring of the send
 * queue, and go on at its start when they meet its end. A block of four never
 * crosses a page.
 */
#include <kunit/visibility.h>

#include "hw/doorbell.h"
#include "hw/work_queue.h"
#include "verbs/post.h"
#include "verbs/qp.h"

/* Word of a queue pair's doorbell record. */
#define RECORD_SENDS	1

#define OCTWORDS_IN_BLOCK	(CXIB_SEND_BLOCK / CXIB_OCTWORD)

/* An octword of the send queue, counted like the blocks. */
static void *octword_at(const struct cxib_qp *qp, u32 octword)
{
	size_t mask = BIT(qp->sends.log_size + CXIB_LOG_SEND_BLOCK) - 1;

	return cxib_buffer_at(&qp->buffer,
			      qp->sends.offset + (((size_t)octword << CXIB_LOG_OCTWORD) & mask));
}

/* The vector of the address, completed by what the request brings. */
static void write_address(struct hw_wqe_datagram_seg *segment, const struct ib_ud_wr *ud)
{
	struct hw_av *vector = hw_wqe_datagram_seg_av(segment);

	*vector = to_ah(ud->ah)->vector;
	vector->dw[0] = hw_av_pack_00(ud->remote_qkey);
	vector->dw[2] = hw_av_pack_08(1, ud->remote_qpn);
}

static void write_control(const struct cxib_qp *qp, struct hw_wqe_ctrl_seg *control,
			  const struct ib_send_wr *wr, enum hw_wqe_opcode opcode, u32 octwords)
{
	bool signalled = qp->signal_all || wr->send_flags & IB_SEND_SIGNALED;
	bool solicited = wr->send_flags & IB_SEND_SOLICITED;
	bool immediate = wr->opcode == IB_WR_SEND_WITH_IMM;
	enum hw_completion_mode completion = HW_COMPLETION_MODE_ONLY_ERROR;
	enum hw_fence_mode fence = HW_FENCE_MODE_NONE;

	if (signalled)
		completion = HW_COMPLETION_MODE_CQ_UPDATE;
	if (wr->send_flags & IB_SEND_FENCE)
		fence = HW_FENCE_MODE_FENCE;
	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, qp->sends.produced & U16_MAX, opcode);
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(qp->number, octwords);
	control->dw[2] = hw_wqe_ctrl_seg_pack_08(0, fence, completion, solicited);
	control->dw[3] = immediate ? wr->ex.imm_data : 0;
}

/* An entry of no bytes would mean 2 GiB. Returns the number of octwords up to the end. */
static u32 write_data(const struct cxib_qp *qp, const struct ib_send_wr *wr, u32 octwords)
{
	u32 first = qp->sends.produced * OCTWORDS_IN_BLOCK;
	int i;

	for (i = 0; i < wr->num_sge; i++) {
		const struct ib_sge *sge = &wr->sg_list[i];

		if (sge->length)
			hw_wqe_data_seg_pack(octword_at(qp, first + octwords++), 0, sge->length,
					     sge->lkey, sge->addr);
	}
	return octwords;
}

static int opcode_of(const struct ib_send_wr *wr)
{
	switch (wr->opcode) {
	case IB_WR_SEND:
		return HW_WQE_OPCODE_SEND;
	case IB_WR_SEND_WITH_IMM:
		return HW_WQE_OPCODE_SEND_IMM;
	default:
		return -EOPNOTSUPP;
	}
}

/*
 * The entries of the blocks are written before anybody can see that they are
 * used. Only the first one says that a request begins there.
 */
static void remember(struct cxib_qp *qp, const struct ib_send_wr *wr, u32 blocks)
{
	struct cxib_send_queue *sends = &qp->sends;
	const u32 mask = BIT(sends->log_size) - 1;
	u32 i;

	for (i = 1; i < blocks; i++)
		sends->entries[(sends->produced + i) & mask].blocks = 0;
	sends->entries[sends->produced & mask] = (struct cxib_send_entry){
		.wr_id = wr->wr_id,
		.blocks = blocks,
		.opcode = IB_WC_SEND,
	};
	/* Pairs with cxib_retire_send(). */
	smp_store_release(&sends->produced, sends->produced + blocks);
}

/**
 * cxib_build_send() - writes a datagram request into the send queue
 * @qp: queue pair for datagrams; its send queue is locked
 * @wr: the request
 * @control: filled: where its control segment is
 *
 * Return: 0, or
 *	-EOPNOTSUPP when the queue pair cannot do the operation,
 *	-EINVAL when there are more data segments than it was made for,
 *	-ENOMEM when the send queue has no room.
 */
int cxib_build_send(struct cxib_qp *qp, const struct ib_send_wr *wr,
		    const struct hw_wqe_ctrl_seg **control)
{
	struct cxib_send_queue *sends = &qp->sends;
	u32 first = sends->produced * OCTWORDS_IN_BLOCK;
	struct hw_wqe_ctrl_seg *begin;
	int opcode = opcode_of(wr);
	u32 octwords, blocks, used;

	if (opcode < 0 || wr->send_flags & IB_SEND_INLINE)
		return -EOPNOTSUPP;
	if (wr->num_sge > sends->max_sge)
		return -EINVAL;
	octwords = OCTWORDS_IN_BLOCK + wr->num_sge;
	blocks = DIV_ROUND_UP(octwords, OCTWORDS_IN_BLOCK);
	used = sends->produced - READ_ONCE(sends->consumed);
	if (used + blocks > BIT(sends->log_size))
		return -ENOMEM;

	/* Control and address fill the first block. */
	begin = octword_at(qp, first);
	write_address(octword_at(qp, first + 1), ud_wr(wr));
	octwords = write_data(qp, wr, OCTWORDS_IN_BLOCK);
	write_control(qp, begin, wr, opcode, octwords);
	remember(qp, wr, DIV_ROUND_UP(octwords, OCTWORDS_IN_BLOCK));
	*control = begin;
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_build_send);

/* The last request's first two words are the doorbell. */
static void ring(struct cxib_verbs *verbs, struct cxib_qp *qp,
		 const struct hw_wqe_ctrl_seg *control)
{
	union cxib_doorbell doorbell = { .words = { control->dw[0], control->dw[1] } };

	/* The requests are there when the device sees how many there are. */
	dma_wmb();
	WRITE_ONCE(qp->record.words[RECORD_SENDS], cpu_to_be32(qp->sends.produced & U16_MAX));
	cxib_doorbell_ring(verbs->hw->doorbells + HW_UAR_OFFSET_BLUE_FLAME, doorbell);
}

int cxib_post_send(struct ib_qp *ib, const struct ib_send_wr *wr, const struct ib_send_wr **bad)
{
	struct cxib_verbs *verbs = to_verbs(ib->device);
	const struct hw_wqe_ctrl_seg *last = NULL;
	struct cxib_qp *qp = to_qp(ib);
	unsigned long flags;
	int err = 0;

	if (READ_ONCE(qp->state) < IB_QPS_RTS || !qp->has_sends) {
		*bad = wr;
		return -EINVAL;
	}
	spin_lock_irqsave(&qp->sends.lock, flags);
	for (; wr && !err; wr = wr->next) {
		err = cxib_build_send(qp, wr, &last);
		if (err)
			*bad = wr;
	}
	if (last)
		ring(verbs, qp, last);
	spin_unlock_irqrestore(&qp->sends.lock, flags);
	if (cxib_is_dead(verbs))
		cxib_flush_later(verbs);
	return err;
}
