// SPDX-License-Identifier: GPL-2.0-only
/*
 * Doorbells of libraries that do not allocate pages of them.
 *
 * Such a library writes to the first register without a lock, with one access
 * each time. Those behind it are shared by queue pairs, with a lock of the
 * library. The last ones have one queue pair each, without a lock.
 */
#include <kunit/visibility.h>
#include <linux/export.h>
#include <linux/math.h>
#include <linux/mm.h>
#include <linux/nospec.h>

#include "user/bfreg.h"
#include "user/mmap.h"

/* By which the library counts registers on a page when it is told which one a queue pair has. */
#define NAMES_OF_PAGE	4

static unsigned int own_pages(const struct cxib_bfregs *registers)
{
	return registers->count / CXIB_BFREGS_PER_UAR;
}

/**
 * cxib_bfregs_init() - checks what a library wants
 * @registers: filled: numbers and the lock
 * @count: how many registers it wants; there will be whole pages of them
 * @exclusive: how many of them are for one queue pair each
 *
 * Return: 0; -EINVAL when there cannot be as many, or none is left for all.
 */
int cxib_bfregs_init(struct cxib_bfregs *registers, u32 count, u32 exclusive)
{
	if (!count || count > CXIB_BFREGS_MAX)
		return -EINVAL;
	count = roundup(count, CXIB_BFREGS_PER_UAR);
	if (exclusive >= count)
		return -EINVAL;
	registers->count = count;
	registers->num_low_latency = exclusive;
	mutex_init(&registers->lock);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfregs_init);

static unsigned int least_loaded(const struct cxib_bfregs *registers, unsigned int first,
				 unsigned int end)
{
	unsigned int min = first;
	unsigned int i;

	for (i = first; i < end; i++)
		if (registers->qp_count[i] < registers->qp_count[min])
			min = i;
	return min;
}

static unsigned int choose(const struct cxib_bfregs *registers)
{
	unsigned int first_exclusive = registers->count - registers->num_low_latency;
	unsigned int number;

	if (registers->num_low_latency) {
		number = least_loaded(registers, first_exclusive, registers->count);
		if (!registers->qp_count[number])
			return number;
	}
	/* The first register is for all where nothing else is. */
	return first_exclusive > 1 ? least_loaded(registers, 1, first_exclusive) : 0;
}

/**
 * cxib_bfreg_alloc() - a register for a queue pair
 * @registers: those of its context
 *
 * Return: its number.
 */
unsigned int cxib_bfreg_alloc(struct cxib_bfregs *registers)
{
	unsigned int number;

	guard(mutex)(&registers->lock);
	number = choose(registers);
	registers->qp_count[number]++;
	return number;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_alloc);

/**
 * cxib_bfreg_free() - a queue pair does not need its register any more
 * @registers: those of its context
 * @number: what cxib_bfreg_alloc() has returned
 */
void cxib_bfreg_free(struct cxib_bfregs *registers, unsigned int number)
{
	guard(mutex)(&registers->lock);
	registers->qp_count[number]--;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_free);

/**
 * cxib_bfreg_index() - what the library calls a register
 * @number: its number
 */
u32 cxib_bfreg_index(unsigned int number)
{
	return number / CXIB_BFREGS_PER_UAR * NAMES_OF_PAGE + number % CXIB_BFREGS_PER_UAR;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_bfreg_index);

static int make_pages(struct cxib_ucontext *context, struct cxib_bfregs *registers)
{
	struct rdma_user_mmap_entry *page;
	unsigned int i;

	for (i = 0; i < own_pages(registers); i++) {
		page = cxib_create_uar(context, CXIB_MMAP_UAR_NC);
		if (IS_ERR(page))
			return PTR_ERR(page);
		registers->uars[i] = page;
	}
	return 0;
}

/**
 * cxib_bfregs_create() - makes the doorbells of a context
 * @context: context of a library that does not allocate any
 * @count: as for cxib_bfregs_init()
 * @exclusive: as for cxib_bfregs_init()
 *
 * Return: 0; -ENOMEM; as cxib_bfregs_init() and cxib_create_uar().
 */
int cxib_bfregs_create(struct cxib_ucontext *context, u32 count, u32 exclusive)
{
	struct cxib_bfregs *registers;
	int err;

	registers = kvzalloc(sizeof(*registers), GFP_KERNEL_ACCOUNT);
	if (!registers)
		return -ENOMEM;
	err = cxib_bfregs_init(registers, count, exclusive);
	if (err) {
		ibdev_dbg(context->ib.device, "%u registers for doorbells, %u of them exclusive, are not possible; the limit is %u\n",
			  count, exclusive, CXIB_BFREGS_MAX);
		kvfree(registers);
		return err;
	}
	context->registers = registers;
	err = make_pages(context, registers);
	if (err)
		cxib_bfregs_destroy(context);
	return err;
}

/**
 * cxib_bfregs_destroy() - the reverse; programs keep pages that they map
 * @context: context without queues; perhaps of a library that allocates its doorbells
 */
void cxib_bfregs_destroy(struct cxib_ucontext *context)
{
	struct cxib_bfregs *registers = context->registers;
	unsigned int i;

	if (!registers)
		return;
	context->registers = NULL;
	for (i = 0; i < CXIB_PAGES_MAX; i++)
		if (registers->uars[i])
			rdma_user_mmap_entry_remove(registers->uars[i]);
	mutex_destroy(&registers->lock);
	kvfree(registers);
}

/**
 * cxib_bfregs_uar() - a page that came with the context
 * @registers: the doorbells of a context; NULL if the library allocates them
 * @place: counted from 0
 *
 * Return: NULL if there is none.
 */
struct rdma_user_mmap_entry *cxib_bfregs_uar(const struct cxib_bfregs *registers,
					     unsigned long place)
{
	if (!registers || place >= own_pages(registers))
		return NULL;
	return registers->uars[array_index_nospec(place, own_pages(registers))];
}

/**
 * cxib_bfregs_dyn_uar() - a page that the program adds
 * @context: the context
 * @place: what the program calls it, counted from 0
 *
 * It is made when it is asked for the first time, and stays as long as the context.
 *
 * Return: the page; -EINVAL when there cannot be one; as cxib_create_uar().
 */
struct rdma_user_mmap_entry *cxib_bfregs_dyn_uar(struct cxib_ucontext *context,
						 unsigned long place)
{
	struct cxib_bfregs *registers = context->registers;
	struct rdma_user_mmap_entry *page;

	if (!registers || place >= CXIB_PAGES_ADDED)
		return ERR_PTR(-EINVAL);
	place = own_pages(registers) + array_index_nospec(place, CXIB_PAGES_ADDED);
	guard(mutex)(&registers->lock);
	page = registers->uars[place];
	if (page)
		return page;
	page = cxib_create_uar(context, CXIB_MMAP_UAR_NC);
	if (!IS_ERR(page))
		registers->uars[place] = page;
	return page;
}

/**
 * cxib_bfregs_dyn_uar_index() - what the device calls the page of a register
 * @registers: the doorbells of a context; NULL if the library allocates them
 * @added: number of a register on pages that the program has added
 * @page: filled: the number of the page
 *
 * Return: 0; -EINVAL when there is none.
 */
int cxib_bfregs_dyn_uar_index(struct cxib_bfregs *registers, u32 added, u32 *page)
{
	struct rdma_user_mmap_entry *entry;

	if (!registers || added >= CXIB_BFREGS_DYN)
		return -EINVAL;
	added = array_index_nospec(added, CXIB_BFREGS_DYN);
	guard(mutex)(&registers->lock);
	entry = registers->uars[own_pages(registers) + added / CXIB_BFREGS_PER_UAR];
	if (!entry)
		return -EINVAL;
	*page = cxib_uar_index(entry);
	return 0;
}
