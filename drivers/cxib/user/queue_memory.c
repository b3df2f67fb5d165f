// SPDX-License-Identifier: GPL-2.0-only
/*
 * Queue buffers and doorbell records in user memory: pinned, accounted,
 * DMA-mapped.
 *
 * A page can contain the doorbell records of many queues, so it is pinned once for all of them.
 */
#include <linux/refcount.h>
#include <linux/sched/mm.h>
#include <rdma/iter.h>

#include "compat/umem.h"
#include "user/bfreg.h"
#include "user/user.h"

/**
 * struct cxib_dbr_page - a pinned page with doorbell records
 * @node: entry in the record_pages of @context
 * @context: user context; NULL: the page was removed from the list of the context
 * @umem: the page
 * @users: number of queues and orphans with a record in the page; raised under the lock of the
 *	context
 */
struct cxib_dbr_page {
	struct list_head node;
	struct cxib_ucontext *context;
	struct ib_umem *umem;
	refcount_t users;
};

static int qmem_list_pages(struct ib_umem *umem, struct cxib_buffer *buffer)
{
	struct ib_block_iter block;

	buffer->offset = offset_in_page(umem->address);
	buffer->page_count = 0;
	buffer->pages = kvcalloc(ib_umem_num_pages(umem), sizeof(*buffer->pages),
				 GFP_KERNEL_ACCOUNT);
	if (!buffer->pages)
		return -ENOMEM;
	rdma_umem_for_each_dma_block(umem, &block, PAGE_SIZE)
		buffer->pages[buffer->page_count++].dma = rdma_block_iter_dma_address(&block);
	return 0;
}

/**
 * cxib_pin_buffer() - pins the buffer of a queue
 * @ib: RDMA device
 * @memory: location of the buffer; @dbr is ignored
 * @user: its @umem is set
 * @buffer: output: DMA addresses of the pages
 *
 * Return: as cxib_pin_queue().
 */
int cxib_pin_buffer(struct ib_device *ib, const struct cxib_user_memory *memory,
		    struct cxib_user_queue *user, struct cxib_buffer *buffer)
{
	int err;

	if (!memory->size)
		return 0;
	if (!IS_ALIGNED(memory->buffer, CXIB_BUFFER_ALIGNMENT)) {
		ibdev_dbg(ib, "queue buffer 0x%llx: not aligned to %lu\n",
			  memory->buffer, CXIB_BUFFER_ALIGNMENT);
		return -EINVAL;
	}
	user->pinned.umem = ib_umem_get_va(ib, memory->buffer, memory->size, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(user->pinned.umem)) {
		err = PTR_ERR(user->pinned.umem);
		user->pinned.umem = NULL;
		return err;
	}
	err = qmem_list_pages(user->pinned.umem, buffer);
	if (err) {
		ib_umem_release(user->pinned.umem);
		user->pinned.umem = NULL;
	}
	return err;
}

static struct cxib_dbr_page *qmem_find_page(struct cxib_ucontext *context, u64 address)
{
	struct cxib_dbr_page *page;

	lockdep_assert_held(&context->lock);

	/*
	 * A child process of the process that has opened the context has other pages at the same
	 * addresses.
	 */
	list_for_each_entry(page, &context->record_pages, node)
		if (page->umem->address == address && page->umem->owning_mm == current->mm)
			return page;
	return NULL;
}

static struct cxib_dbr_page *qmem_pin_page(struct cxib_ucontext *context, u64 address)
{
	struct cxib_dbr_page *page;
	int err;

	lockdep_assert_held(&context->lock);

	page = kzalloc(sizeof(*page), GFP_KERNEL_ACCOUNT);
	if (!page)
		return ERR_PTR(-ENOMEM);
	refcount_set(&page->users, 1);
	page->context = context;
	page->umem = ib_umem_get_va(context->ib.device, address, PAGE_SIZE, IB_ACCESS_LOCAL_WRITE);
	if (IS_ERR(page->umem)) {
		err = PTR_ERR(page->umem);
		kfree(page);
		return ERR_PTR(err);
	}
	list_add(&page->node, &context->record_pages);
	return page;
}

static int qmem_pin_record(struct cxib_ucontext *context, u64 address, struct cxib_user_queue *user,
			   dma_addr_t *record)
{
	struct cxib_dbr_page *page;

	if (!IS_ALIGNED(address, sizeof(u64))) {
		ibdev_dbg(context->ib.device,
			  "doorbell record 0x%llx: not aligned to 8\n",
			  address);
		return -EINVAL;
	}
	guard(mutex)(&context->lock);
	page = qmem_find_page(context, address & PAGE_MASK);
	if (page)
		refcount_inc(&page->users);
	else
		page = qmem_pin_page(context, address & PAGE_MASK);
	if (IS_ERR(page))
		return PTR_ERR(page);
	user->pinned.dbr_page = page;
	*record = sg_dma_address(page->umem->sgt_append.sgt.sgl) + offset_in_page(address);
	return 0;
}

static bool qmem_put_record(struct cxib_dbr_page *page)
{
	struct cxib_ucontext *context = READ_ONCE(page->context);

	if (!context)
		return refcount_dec_and_test(&page->users);
	might_lock(&context->lock);
	if (!refcount_dec_and_mutex_lock(&page->users, &context->lock))
		return false;
	list_del(&page->node);
	mutex_unlock(&context->lock);
	return true;
}

/**
 * cxib_unpin_record() - releases a reference to a page with doorbell records
 * @page: the page
 *
 * Context: process context, may sleep.
 */
void cxib_unpin_record(struct cxib_dbr_page *page)
{
	if (!qmem_put_record(page))
		return;
	ib_umem_release(page->umem);
	kfree(page);
}

/*
 * Takes the page from its user context, which it may outlive. Later queues of the context pin the
 * memory again.
 */
static void qmem_detach_record(struct cxib_dbr_page *page)
{
	struct cxib_ucontext *context = READ_ONCE(page->context);

	if (!context)
		return;
	guard(mutex)(&context->lock);
	list_del_init(&page->node);
	WRITE_ONCE(page->context, NULL);
}

/**
 * cxib_detach_records() - leaves the pages with doorbell records to the orphans
 * @context: user context without queues that is being closed
 *
 * Context: process context, may sleep.
 */
void cxib_detach_records(struct cxib_ucontext *context)
{
	struct cxib_dbr_page *page, *next;

	guard(mutex)(&context->lock);
	list_for_each_entry_safe(page, next, &context->record_pages, node) {
		list_del_init(&page->node);
		WRITE_ONCE(page->context, NULL);
	}
}

/**
 * cxib_pin_queue() - pins buffer and doorbell record of a queue
 * @context: user context
 * @memory: location of the queue
 * @user: output, except @uar and bfreg
 * @buffer: output: DMA addresses of the pages
 * @record: output: DMA address of the doorbell record
 *
 * Context: process context of user space, may sleep.
 * Return: 0, or
 *	-EINVAL when buffer or record is misaligned,
 *	-ENOMEM when allocation fails or RLIMIT_MEMLOCK is exceeded,
 *	-EFAULT when the addresses are not mapped.
 */
int cxib_pin_queue(struct cxib_ucontext *context, const struct cxib_user_memory *memory,
		   struct cxib_user_queue *user, struct cxib_buffer *buffer, dma_addr_t *record)
{
	int err;

	err = cxib_pin_buffer(context->ib.device, memory, user, buffer);
	if (err)
		return err;
	err = qmem_pin_record(context, memory->dbr, user, record);
	if (err)
		cxib_unpin_queue(user, buffer);
	return err;
}

/**
 * cxib_unpin_queue() - undo cxib_pin_queue(), and release UAR and bfreg
 * @user: resources of a queue; zeroed
 * @buffer: pages of the queue, which the device no longer accesses; zeroed
 *
 * Context: process context, may sleep.
 */
void cxib_unpin_queue(struct cxib_user_queue *user, struct cxib_buffer *buffer)
{
	if (user->bfregs)
		cxib_bfreg_free(user->bfregs, user->bfreg_index);
	if (user->uar)
		rdma_user_mmap_entry_put(user->uar);
	if (user->pinned.dbr_page)
		cxib_unpin_record(user->pinned.dbr_page);
	kvfree(buffer->pages);
	if (user->pinned.umem)
		ib_umem_release(user->pinned.umem);
	*buffer = (struct cxib_buffer){};
	*user = (struct cxib_user_queue){};
}

/**
 * cxib_unpin_failed_queue() - cxib_unpin_queue() after a failed creation
 * @ib: RDMA device
 * @user: resources of the queue; zeroed
 * @buffer: its pages; zeroed
 * @err: error of the create command
 *
 * If the result of the command is unknown, the memory stays pinned
 * (verbs/quarantine.h).
 *
 * Context: process context of user space, may sleep.
 */
void cxib_unpin_failed_queue(struct ib_device *ib, struct cxib_user_queue *user,
			     struct cxib_buffer *buffer, int err)
{
	struct cxib_ibdev *ibdev = to_ibdev(ib);

	if (user->pinned.dbr_page && cxib_result_is_unknown(ibdev, err))
		qmem_detach_record(user->pinned.dbr_page);
	cxib_release_pinned(ibdev, &user->pinned, err);
	cxib_unpin_queue(user, buffer);
}
