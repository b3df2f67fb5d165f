// SPDX-License-Identifier: GPL-2.0-only
/* Keeps memory from others as long as a command may come true. */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "hw/buffer.h"
#include "hw/bus.h"
#include "hw/creations.h"
#include "hw/dbr.h"
#include "verbs/verbs.h"

/**
 * struct memory - memory of a program, or of a queue of the kernel
 * @kept: in the list of the command queue
 * @ibdev: RDMA device; cxib_quarantine_end() frees the memory before it goes
 * @umem: memory of a program; or NULL
 * @buffer: ring of a queue; no pages: there is none
 * @dbr: its doorbell record; NULL as @words: there is none
 */
struct memory {
	struct cxib_kept kept;
	struct cxib_ibdev *ibdev;
	struct ib_umem *umem;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
};

static void let_go(const struct memory *memory)
{
	struct cxib_buffer buffer = memory->buffer;
	struct cxib_dbr record = memory->dbr;

	ib_umem_release(memory->umem);
	if (record.words)
		cxib_dbr_free(memory->ibdev->hw, &record);
	if (buffer.pages)
		cxib_buffer_destroy(&buffer, memory->ibdev->hw->bus->dev);
}

static void free_kept(struct cxib_kept *kept)
{
	struct memory *memory = container_of(kept, struct memory, kept);

	let_go(memory);
	kfree(memory);
}

/**
 * cxib_may_come_true() - whether the device may carry out a command although it has failed
 * @ibdev: RDMA device
 * @err: how the command has ended
 */
bool cxib_may_come_true(struct cxib_ibdev *ibdev, int err)
{
	return err && (!cxib_command_is_refusal(err) ||
		       cxib_command_queue_is_fatal(commands_of(ibdev)));
}

static void release(const struct memory *memory, int err)
{
	struct memory *copy;

	if (!cxib_may_come_true(memory->ibdev, err)) {
		let_go(memory);
		return;
	}
	copy = kmemdup(memory, sizeof(*memory), GFP_KERNEL | __GFP_NOFAIL);
	copy->kept.free = free_kept;
	cxib_creations_keep(commands_of(memory->ibdev), &copy->kept);
}

/**
 * cxib_release_umem() - lets go of memory of a program, unless the device may use it
 * @ibdev: RDMA device
 * @umem: the memory; goes over. NULL: none
 * @err: how the command has ended that told the device of it; 0: it has ended its use
 *
 * Context: process context, may sleep.
 */
void cxib_release_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, int err)
{
	if (umem)
		release(&(struct memory){ .ibdev = ibdev, .umem = umem }, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_release_umem);

/**
 * cxib_free_queue_memory() - frees memory of a queue of the kernel, unless the device may use it
 * @ibdev: RDMA device
 * @buffer: its ring; goes over
 * @record: its doorbell record; goes over
 * @err: how the command has ended that told the device of it; 0: it has ended its use
 *
 * Context: process context, may sleep.
 */
void cxib_free_queue_memory(struct cxib_ibdev *ibdev, struct cxib_buffer *buffer,
			    struct cxib_dbr *record, int err)
{
	release(&(struct memory){ .ibdev = ibdev, .buffer = *buffer, .dbr = *record }, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_free_queue_memory);

/**
 * cxib_quarantine_end() - frees what is kept
 * @ibdev: RDMA device without users
 *
 * A device that may have an object that the driver does not know loses its access to memory
 * first, and is reset at the end.
 *
 * Context: process context, may sleep.
 */
void cxib_quarantine_end(struct cxib_ibdev *ibdev)
{
	if (!cxib_creations_are_open(commands_of(ibdev)))
		return;
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
	cxib_creations_free(commands_of(ibdev));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_quarantine_end);
