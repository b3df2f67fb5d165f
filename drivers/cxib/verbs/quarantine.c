// SPDX-License-Identifier: GPL-2.0-only
/* Keeps memory as long as the device may still execute a failed command. */
#include <kunit/visibility.h>
#include <linux/slab.h>
#include <rdma/ib_umem.h>

#include "hw/buffer.h"
#include "hw/bus.h"
#include "hw/pending_creates.h"
#include "hw/dbr.h"
#include "verbs/verbs.h"

/**
 * struct quarantine_memory - user memory, or memory of a kernel queue
 * @pending: in the list of the command queue
 * @ibdev: RDMA device; outlives this, see cxib_quarantine_end()
 * @umem: user memory; or NULL
 * @users: number of objects that map @umem; NULL: only one
 * @dbr_page: page of a user context with the doorbell record of a queue; or NULL
 * @buffer: ring of a kernel queue; none if pages is NULL
 * @dbr: doorbell record of a kernel queue; none if words is NULL
 */
struct quarantine_memory {
	struct cxib_pending_memory pending;
	struct cxib_ibdev *ibdev;
	struct ib_umem *umem;
	refcount_t *users;
	struct cxib_dbr_page *dbr_page;
	struct cxib_buffer buffer;
	struct cxib_dbr dbr;
};

static void quarantine_put_umem(struct ib_umem *umem, refcount_t *users)
{
	if (users && !refcount_dec_and_test(users))
		return;
	kfree(users);
	ib_umem_release(umem);
}

static void quarantine_free_memory(const struct quarantine_memory *memory)
{
	struct cxib_buffer buffer = memory->buffer;
	struct cxib_dbr dbr = memory->dbr;

	quarantine_put_umem(memory->umem, memory->users);
	if (memory->dbr_page)
		memory->ibdev->user->unpin_record(memory->dbr_page);
	if (dbr.words)
		cxib_dbr_free(memory->ibdev->hw, &dbr);
	if (buffer.pages)
		cxib_buffer_destroy(&buffer, memory->ibdev->hw->bus->dev);
}

static void quarantine_free_pending(struct cxib_pending_memory *pending)
{
	struct quarantine_memory *memory = container_of(pending, struct quarantine_memory, pending);

	quarantine_free_memory(memory);
	kfree(memory);
}

/**
 * cxib_result_is_unknown() - whether the device may still execute a failed command
 * @ibdev: RDMA device
 * @err: result of the command
 */
bool cxib_result_is_unknown(struct cxib_ibdev *ibdev, int err)
{
	return err && (cxib_command_is_unknown(err) ||
		       cxib_command_queue_is_fatal(commands_of(ibdev)));
}

static void quarantine_release(const struct quarantine_memory *memory, int err)
{
	struct quarantine_memory *copy;

	if (!cxib_result_is_unknown(memory->ibdev, err)) {
		quarantine_free_memory(memory);
		return;
	}
	copy = kmemdup(memory, sizeof(*memory), GFP_KERNEL | __GFP_NOFAIL);
	copy->pending.free = quarantine_free_pending;
	cxib_pending_creates_keep(commands_of(memory->ibdev), &copy->pending);
}

/**
 * cxib_release_umem() - release user memory, now or after the device can no longer access it
 * @ibdev: RDMA device
 * @umem: user memory, owned by this function; NULL: none
 * @err: result of the command that passed it to the device; 0: no longer in use
 *
 * Context: process context, may sleep.
 */
void cxib_release_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, int err)
{
	cxib_release_shared_umem(ibdev, umem, NULL, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_release_umem);

/**
 * cxib_release_shared_umem() - drop a reference of an object to user memory, now or after the
 *	device can no longer access the memory through the object
 * @ibdev: RDMA device
 * @umem: user memory, released with its last reference; NULL: none
 * @users: number of references to @umem, freed with the last one; NULL: the object owns @umem
 * @err: result of the command that passed it to the device; 0: no longer in use
 *
 * Context: process context, may sleep.
 */
void cxib_release_shared_umem(struct cxib_ibdev *ibdev, struct ib_umem *umem, refcount_t *users,
			      int err)
{
	const struct quarantine_memory memory = { .ibdev = ibdev, .umem = umem, .users = users };

	if (umem)
		quarantine_release(&memory, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_release_shared_umem);

/**
 * cxib_release_pinned() - release memory of a user queue, now or after the device can no longer
 * access it
 * @ibdev: RDMA device
 * @pinned: its umem and dbr_page are released and zeroed. If the result of the command is unknown,
 *	the page must no longer need its user context.
 * @err: result of the command that passed it to the device; 0: no longer in use
 *
 * Context: process context, may sleep.
 */
void cxib_release_pinned(struct cxib_ibdev *ibdev, struct cxib_pinned *pinned, int err)
{
	const struct quarantine_memory memory = {
		.ibdev = ibdev, .umem = pinned->umem, .dbr_page = pinned->dbr_page,
	};

	*pinned = (struct cxib_pinned){};
	quarantine_release(&memory, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_release_pinned);

/**
 * cxib_free_queue_memory() - free memory of a kernel queue, now or after the device can no longer
 * access it
 * @ibdev: RDMA device
 * @buffer: ring, owned by this function
 * @dbr: doorbell record, owned by this function
 * @err: result of the command that passed it to the device; 0: no longer in use
 *
 * Context: process context, may sleep.
 */
void cxib_free_queue_memory(struct cxib_ibdev *ibdev, struct cxib_buffer *buffer,
			    struct cxib_dbr *dbr, int err)
{
	const struct quarantine_memory memory = {
		.ibdev = ibdev, .buffer = *buffer, .dbr = *dbr,
	};

	quarantine_release(&memory, err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_free_queue_memory);

/**
 * cxib_quarantine_end() - free all memory in quarantine
 * @ibdev: RDMA device without users
 *
 * If the result of a create command is still unknown, the device becomes fatal and DMA is turned
 * off before the memory is freed. Tear-down then resets the device.
 *
 * Context: process context, may sleep.
 */
void cxib_quarantine_end(struct cxib_ibdev *ibdev)
{
	if (!cxib_has_pending_creates(commands_of(ibdev)))
		return;
	cxib_hw_set_fatal(ibdev->hw);
	cxib_hw_dma_off(ibdev->hw);
	cxib_pending_creates_free(commands_of(ibdev));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_quarantine_end);
