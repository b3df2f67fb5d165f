// SPDX-License-Identifier: GPL-2.0-only
/*
 * Resizing completion queues of the kernel.
 *
 * The device writes one more entry into the old ring, which says that it was the
 * last one, and goes on in the new ring. What was not polled moves there: every
 * entry one place further on, for that last one counts. Until then polling stops
 * at it.
 */
#include <kunit/visibility.h>
#include <linux/log2.h>

#include "hw/qp.h"
#include "verbs/cq/cq_poll.h"

static struct hw_cqe64 *place_in(const struct cxib_buffer *ring, unsigned int log_size, u32 index)
{
	return cxib_buffer_at(ring, (index & (BIT(log_size) - 1)) * sizeof(struct hw_cqe64));
}

static bool is_last(const struct cxib_cq *cq, u32 index)
{
	return hw_cqe64_get_opcode(cxib_cq_cqe(cq, index)) == HW_CQE_OPCODE_RESIZE_CQ;
}

/* Returns false if the device has not said where the old ring ends, or there is more than fits. */
static bool move_entries(struct cxib_cq *cq, const struct cxib_buffer *ring,
			 unsigned int log_size)
{
	u32 max = min(BIT(log_size), BIT(cq->log_size));
	u32 at;

	lockdep_assert_held(&cq->lock);

	for (at = cq->cons_index; cxib_cqe_is_sw_owned(cq, at) && !is_last(cq, at); at++) {
		struct hw_cqe64 *to = place_in(ring, log_size, at + 1);

		if (at - cq->cons_index >= max)
			return false;
		memcpy(to, cxib_cq_cqe(cq, at), sizeof(*to));
		hw_cqe64_set_owner(to, (at + 1) >> log_size & 1);
	}
	return cxib_cqe_is_sw_owned(cq, at);
}

/**
 * cxib_cq_switch_ring() - goes on in another ring, as the device does
 * @cq: completion queue
 * @ring: memory of the new ring; of the old one afterwards
 * @log_size: log2 of its entries
 */
void cxib_cq_switch_ring(struct cxib_cq *cq, struct cxib_buffer *ring, unsigned int log_size)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);
	bool moved;

	scoped_guard(spinlock_irq, &cq->lock) {
		moved = move_entries(cq, ring, log_size);
		swap(cq->buffer, *ring);
		cq->log_size = log_size;
		cq->ib.cqe = BIT(log_size) - 1;
		cq->cons_index++;
		cq->resizing = false;
		cxib_cq_update_ci(cq);
	}
	if (moved)
		return;
	ibdev_err(&ibdev->ib, "completion queue 0x%x was resized, and its old ring has no end\n",
		  cq->cqn);
	cxib_health_set_fatal(&ibdev->hw->health,
			      "it resizes completion queues without saying where");
}
EXPORT_SYMBOL_IF_KUNIT(cxib_cq_switch_ring);

/**
 * cxib_resize_failed() - before the new ring of a queue is freed
 * @cq: completion queue; its lock is not held
 * @err: how the command ended
 * @status: HW_COMMAND_STATUS_… of the answer; 0 without one
 *
 * A device that has refused has changed nothing, whichever error number its status is.
 * A command whose answer did not come, or makes no sense, may have been carried
 * out, or may be carried out later. Then nobody knows into which ring the device
 * writes, so it must not write any more, and is started again.
 *
 * Context: process context, may sleep.
 */
void cxib_resize_failed(struct cxib_cq *cq, int err, u8 status)
{
	struct cxib_ibdev *ibdev = to_ibdev(cq->ib.device);

	if (status || (err != -ETIMEDOUT && err != -EBADMSG && err != -EIO))
		return;
	ibdev_err(&ibdev->ib, "completion queue 0x%x was resized, or was not: error %d\n", cq->cqn,
		  err);
	cxib_health_set_fatal(&ibdev->hw->health,
			      "it does not say where a completion queue goes on");
	cxib_hw_dma_off(ibdev->hw);
}

static int change_size(struct cxib_cq *cq, unsigned int log_size)
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
	if (!err)
		cxib_cq_switch_ring(cq, &ring, log_size);
	else
		cxib_resize_failed(cq, err, status);
	scoped_guard(spinlock_irq, &cq->lock)
		cq->resizing = false;
	cxib_buffer_destroy(&ring, dev);
	return err;
}

/**
 * cxib_resize_cq_kernel() - more or less room for completions
 * @ib: completion queue of the kernel
 * @entries: that it shall have room for at least
 *
 * Completions may come, and may be polled, meanwhile.
 *
 * Context: process context, may sleep.
 * Return: 0; -EOPNOTSUPP when the device cannot do that; -EINVAL when @entries
 * are none, more than it can do, or fewer than there are completions; -ENOMEM;
 * an error of the command.
 */
int cxib_resize_cq_kernel(struct ib_cq *ib, int entries)
{
	struct cxib_cq *cq = to_cq(ib);
	unsigned int log_size;

	if (!to_ibdev(ib->device)->hw->caps.cq_resize)
		return -EOPNOTSUPP;
	if (entries < 1 || entries > ib->device->attrs.max_cqe) {
		ibdev_dbg(ib->device, "a completion queue of %d entries is not possible, 1 to %d are\n",
			  entries, ib->device->attrs.max_cqe);
		return -EINVAL;
	}
	log_size = order_base_2(entries + 1);
	guard(mutex)(&cq->resize_lock);
	return log_size == cq->log_size ? 0 : change_size(cq, log_size);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_resize_cq_kernel);
