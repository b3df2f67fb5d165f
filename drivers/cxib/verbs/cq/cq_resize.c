// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resizing kernel CQs.
 *
 * The device ends the old ring with a RESIZE_CQ CQE and continues in the new ring. The driver moves
 * the CQEs that are not polled yet to the new ring. Each of them moves one place further, because
 * the RESIZE_CQ CQE also counts. Until the move, polling stops at the RESIZE_CQ CQE.
 */
#include <kunit/visibility.h>
#include <linux/log2.h>

#include "hw/cq.h"
#include "verbs/cq/cq_poll.h"

static struct hw_cqe64 *cq_resize_cqe_in(const struct cxib_buffer *ring, unsigned int log_size,
					 u32 index)
{
	return cxib_buffer_at(ring, (index & (BIT(log_size) - 1)) * sizeof(struct hw_cqe64));
}

static bool cq_resize_is_cqe(const struct cxib_cq *cq, u32 index)
{
	return hw_cqe64_get_opcode(cxib_cq_cqe(cq, index)) == HW_CQE_OPCODE_RESIZE_CQ;
}

/* Returns false if the old ring has no RESIZE_CQ CQE, or the CQEs do not fit in the new one. */
static bool cq_resize_move_cqes(struct cxib_cq *cq, const struct cxib_buffer *ring,
				unsigned int log_size)
{
	u32 max = min(BIT(log_size), BIT(cq->log_size));
	u32 at;

	lockdep_assert_held(&cq->lock);

	for (at = cq->cons_index; cxib_cqe_is_sw_owned(cq, at) && !cq_resize_is_cqe(cq, at);
	     at++) {
		struct hw_cqe64 *to = cq_resize_cqe_in(ring, log_size, at + 1);

		if (at - cq->cons_index >= max)
			return false;
		memcpy(to, cxib_cq_cqe(cq, at), sizeof(*to));
		hw_cqe64_set_owner(to, (at + 1) >> log_size & 1);
	}
	return cxib_cqe_is_sw_owned(cq, at);
}

/**
 * cxib_cq_switch_ring() - continue polling in the new ring after RESIZE_CQ
 * @cq: CQ
 * @ring: new ring; on return the old ring, which the caller owns
 * @log_size: log2 of the number of CQEs of the new ring
 */
void cxib_cq_switch_ring(struct cxib_cq *cq, struct cxib_buffer *ring, unsigned int log_size)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	bool moved, is_due;

	scoped_guard(spinlock_irq, &cq->lock) {
		moved = cq_resize_move_cqes(cq, ring, log_size);
		swap(cq->buffer, *ring);
		cq->log_size = log_size;
		cq->ib.cqe = BIT(log_size) - 1;
		cq->cons_index++;
		cxib_cq_update_ci(cq);
		is_due = cxib_cq_end_resize(cq);
	}
	if (is_due)
		cxib_cq_hand_over(cq);
	if (moved)
		return;
	ibdev_err(&ibdev->ib, "CQ 0x%x: no RESIZE_CQ CQE in the old ring\n",
		  cq->cqn);
	cxib_health_set_fatal(&ibdev->hw->health,
			      "no RESIZE_CQ CQE in the old ring of a CQ");
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_switch_ring);

/**
 * cxib_resize_failed() - make it safe to free the new ring after RESIZE_CQ failed
 * @cq: CQ; its lock is not held
 * @err: result of the command, negative
 * @status: HW_COMMAND_STATUS_… of the output; 0: no output
 *
 * A command that was not delivered, or that has a bad status, has changed nothing. A command
 * without output, or with a malformed output, may have been executed or may be executed later. Then
 * the driver does not know which ring the device writes, so it makes the device fatal, turns DMA
 * off, and the recovery resets the device.
 *
 * Context: process context, may sleep.
 */
void cxib_resize_failed(struct cxib_cq *cq, int err, u8 status)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	if (status || !cxib_result_is_unknown(ibdev, err))
		return;
	/* After a fatal error, commands that were not issued cannot be told from others. */
	if (!cxib_health_is_fatal(&ibdev->hw->health))
		ibdev_err(&ibdev->ib, "CQ 0x%x: RESIZE_CQ result unknown: %d\n", cq->cqn, err);
	cxib_health_set_fatal(&ibdev->hw->health,
			      "RESIZE_CQ result unknown");
	cxib_hw_dma_off(ibdev->hw);
}

/* The CQ keeps its ring. */
static void cq_resize_abandon(struct cxib_cq *cq)
{
	bool is_due;

	scoped_guard(spinlock_irq, &cq->lock)
		is_due = cxib_cq_end_resize(cq);
	if (is_due)
		cxib_cq_hand_over(cq);
}

static int cq_resize_change_size(struct cxib_cq *cq, unsigned int log_size)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	struct device *dev = ibdev->hw->bus->dev;
	struct cxib_buffer ring;
	const struct cxib_cq_params params = { .buffer = &ring, .log_size = log_size };
	u8 status;
	int err;

	lockdep_assert_held(&cq->resize_lock);

	err = cxib_buffer_create(&ring, dev, sizeof(struct hw_cqe64) << log_size);
	if (err)
		return err;
	cxib_cq_invalidate(&ring, log_size);
	scoped_guard(spinlock_irq, &cq->lock)
		cq->resizing = true;
	err = cxib_cmd_resize_cq(commands_of(ibdev), cq->cqn, &params, &status);
	if (!err) {
		cxib_cq_switch_ring(cq, &ring, log_size);
	} else {
		cxib_resize_failed(cq, err, status);
		cq_resize_abandon(cq);
	}
	cxib_buffer_destroy(&ring, dev);
	return err;
}

/**
 * cxib_resize_cq_kernel() - resize a kernel CQ
 * @ib: kernel CQ
 * @entries: minimum number of CQEs, 1 to max_cqe
 *
 * The device may write CQEs, and the ULP may poll them, during the resize.
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP if the device has no cq_resize capability; -EINVAL if
 * @entries is out of range or smaller than the number of CQEs in the ring; -ENOMEM;
 * an error of the command.
 */
int cxib_resize_cq_kernel(struct ib_cq *ib, int entries)
{
	struct cxib_cq *cq = to_cq(ib);
	unsigned int log_size;

	if (!to_ibdev(ib->device)->hw->caps.cq_resize)
		return -EOPNOTSUPP;
	if (entries < 1 || entries > ib->device->attrs.max_cqe) {
		ibdev_dbg(ib->device, "resize CQ: cqe %d out of range [1, %d]\n",
			  entries, ib->device->attrs.max_cqe);
		return -EINVAL;
	}
	log_size = order_base_2(entries + 1);
	guard(mutex)(&cq->resize_lock);
	return log_size == cq->log_size ? 0 : cq_resize_change_size(cq, log_size);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_resize_cq_kernel);
