// SPDX-License-Identifier: GPL-2.0-only
/*
 * EQs of a device: one for command completions, one for asynchronous events,
 * one for page faults, and a completion EQ for each further vector.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hw/bounce.h"
#include "hw/bus.h"
#include "hw/hw.h"
#include "hw/names.h"
#include "hw/page_faults.h"
#include "hw/uctx.h"

#define COMMAND_VECTOR		0
#define ASYNC_VECTOR		1
#define ANY_CPU			(-1)

/*
 * At least two events per command slot: one for a command that was found by polling, one for the
 * next command. mlx5_core has no fewer.
 */
#define LOG_COMMAND_EVENTS	8
/*
 * Number of events that may occur before the handler runs: on a completion EQ one for each armed CQ
 * of the vector, on the page fault EQ one for each suspended transfer. An EQE has 64 bytes, so the
 * rings have 64, 64 and 256 KiB.
 */
#define LOG_ASYNC_EVENTS	10
#define LOG_COMPLETION_EVENTS	10
#define LOG_FAULT_EVENTS	12

static void eqs_on_commands_done(void *context, u32 slots)
{
	struct cxib_hw *hw = context;

	cxib_command_queue_complete(&hw->commands, slots);
}

static void eqs_on_page_request(void *context, u16 function, s32 count)
{
	struct cxib_hw *hw = context;

	cxib_pages_request(&hw->pages, function, count);
}

/*
 * Each suspended transfer must be resumed, so without a client the transfer is resumed with an
 * error.
 */
static void eqs_on_page_fault(void *context, const struct cxib_page_fault *fault)
{
	struct cxib_hw *hw = context;

	cxib_cmd_page_fault_resume(&hw->commands, fault, true);
}

static void eqs_on_internal_error(void *context)
{
	struct cxib_hw *hw = context;

	cxib_health_check(&hw->health);
	cxib_health_set_fatal(&hw->health, "internal error event");
}

static const struct cxib_event_ops handlers = {
	.commands_done = eqs_on_commands_done,
	.page_request = eqs_on_page_request,
	.internal_error = eqs_on_internal_error,
	.page_fault = eqs_on_page_fault,
};

/**
 * cxib_hw_synchronize_comp_eqs() - waits for running interrupt handlers of all completion EQs
 * @hw: device that is up
 *
 * Context: process context, may sleep.
 */
void cxib_hw_synchronize_comp_eqs(struct cxib_hw *hw)
{
	unsigned int i;

	for (i = 0; i < hw->completion_eq_count; i++)
		cxib_eq_synchronize(&hw->comp_eqs[i]);
}

/**
 * cxib_hw_set_client() - sets the receiver of events
 * @hw: device that is up
 * @client: client with all handlers, owned by the caller; NULL: no client, and no handler of the
 *	previous client is running on return
 *
 * Context: process context, may sleep; not in a handler.
 */
void cxib_hw_set_client(struct cxib_hw *hw, const struct cxib_hw_client *client)
{
	/* The members must be visible before the pointer. Pairs with cxib_event_client(). */
	smp_store_release(&hw->sink.client, client);
	if (client)
		return;
	cxib_hw_synchronize_comp_eqs(hw);
	flush_workqueue(hw->workqueue);
}

/* Vectors for the shared EQs, for a completion EQ per CPU, and for the page fault EQ. */
static unsigned int eqs_wanted_vectors(const struct cxib_hw *hw)
{
	const struct cxib_device_caps *caps = &hw->caps;
	unsigned int max = max_t(unsigned int, CXIB_SHARED_VECTORS + 1,
				 caps->max_num_eqs ?: 1U << caps->log_max_eq);

	return min_t(unsigned int, CXIB_SHARED_VECTORS + num_online_cpus() + caps->pg, max);
}

/**
 * cxib_hw_has_odp() - whether there is a vector for a page fault EQ
 * @hw: device with vectors
 *
 * The page fault EQ has the last vector. If there are too few vectors, completion EQs take
 * precedence. With bounced DMA there is no page fault EQ, because no ODP MR would work, not even
 * one of a kernel user such as RDS.
 */
bool cxib_hw_has_odp(const struct cxib_hw *hw)
{
	return hw->caps.pg && hw->vectors > CXIB_SHARED_VECTORS + 1 &&
	       !cxib_bounces_dma(hw->bus->dev);
}

static unsigned int eqs_completion_vectors(const struct cxib_hw *hw)
{
	return hw->vectors - CXIB_SHARED_VECTORS - cxib_hw_has_odp(hw);
}

/**
 * cxib_hw_allocate_vectors() - allocates interrupt vectors, one for each EQ
 * @hw: device whose capabilities are known
 *
 * Return: 0 or an error; -ENOSPC when there are too few.
 */
int cxib_hw_allocate_vectors(struct cxib_hw *hw)
{
	int count = hw->bus->ops->allocate_vectors(hw->bus, CXIB_SHARED_VECTORS + 1,
						   eqs_wanted_vectors(hw));

	if (count < 0) {
		dev_err(hw->bus->dev,
			"MSI-X: allocation of at least %u vectors failed: error %d\n",
			CXIB_SHARED_VECTORS + 1, count);
		return count;
	}
	hw->vectors = count;
	return 0;
}

/**
 * cxib_hw_free_vectors() - undo cxib_hw_allocate_vectors()
 * @hw: device without EQs
 */
void cxib_hw_free_vectors(struct cxib_hw *hw)
{
	hw->bus->ops->free_vectors(hw->bus);
}

static int eqs_create(struct cxib_hw *hw, struct cxib_eq *eq,
		      struct cxib_eq_attr *attr, const char *purpose)
{
	char name[32];

	snprintf(name, sizeof(name), "cxib-%s@%s", purpose, dev_name(hw->bus->dev));
	attr->name = name;
	attr->uar = hw->uar_index;
	return cxib_eq_create(eq, hw->bus, &hw->commands, &hw->sink, attr);
}

static void eqs_destroy(struct cxib_hw *hw, struct cxib_eq *eq)
{
	if (cxib_eq_destroy(eq, &hw->commands))
		cxib_hw_set_fatal(hw);
}

/**
 * cxib_hw_create_cmd_eq() - creates the command EQ and stops polling for completions
 * @hw: device with vectors
 *
 * Return: 0 or the error of cxib_eq_create().
 */
int cxib_hw_create_cmd_eq(struct cxib_hw *hw)
{
	struct cxib_eq_attr attr = {
		.vector = COMMAND_VECTOR,
		.cpu = ANY_CPU,
		.log_size = LOG_COMMAND_EVENTS,
		.events = BIT_ULL(HW_EVENT_TYPE_CMD),
	};
	int err;

	hw->sink.dev = hw->bus->dev;
	hw->sink.handlers = &handlers;
	hw->sink.context = hw;
	err = eqs_create(hw, &hw->cmd_eq, &attr, "commands");
	if (!err)
		cxib_command_queue_use_events(&hw->commands);
	return err;
}

/**
 * cxib_hw_destroy_cmd_eq() - undo cxib_hw_create_cmd_eq(); commands are polled again
 * @hw: device with a command EQ
 */
void cxib_hw_destroy_cmd_eq(struct cxib_hw *hw)
{
	cxib_command_queue_use_polling(&hw->commands);
	eqs_destroy(hw, &hw->cmd_eq);
}

/**
 * cxib_hw_create_async_eq() - creates the EQ for asynchronous events
 * @hw: device with vectors
 *
 * Return: 0 or the error of cxib_eq_create().
 */
int cxib_hw_create_async_eq(struct cxib_hw *hw)
{
	struct cxib_eq_attr attr = {
		.vector = ASYNC_VECTOR,
		.cpu = ANY_CPU,
		.log_size = LOG_ASYNC_EVENTS,
		.events = cxib_asynchronous_events(hw->caps.dct),
		.workqueue = hw->workqueue,
	};

	return eqs_create(hw, &hw->async_eq, &attr, "events");
}

/**
 * cxib_hw_destroy_async_eq() - undo cxib_hw_create_async_eq(), and stop page requests
 * @hw: device with an async EQ
 */
void cxib_hw_destroy_async_eq(struct cxib_hw *hw)
{
	eqs_destroy(hw, &hw->async_eq);
	cxib_pages_stop(&hw->pages);
}

/* Assigns one vector to each CPU, beginning with those of the device's NUMA node. */
static int eqs_vector_cpu(const struct cxib_hw *hw, unsigned int index)
{
	int cpu;

	/*
	 * cpumask_local_spread() walks the online CPUs twice, so they must not change in between.
	 */
	cpus_read_lock();
	cpu = cpumask_local_spread(index, dev_to_node(hw->bus->dev));
	cpus_read_unlock();
	return cpu;
}

static int eqs_create_completion_eq(struct cxib_hw *hw, unsigned int index)
{
	struct cxib_eq_attr attr = {
		.vector = CXIB_SHARED_VECTORS + index,
		.cpu = eqs_vector_cpu(hw, index),
		.log_size = LOG_COMPLETION_EVENTS,
		/* CQs of user contexts refer to the EQ. */
		.uid = cxib_shared_uid(&hw->caps),
		.optional = index,
	};
	char purpose[16];

	snprintf(purpose, sizeof(purpose), "comp%u", index);
	return eqs_create(hw, &hw->comp_eqs[index], &attr, purpose);
}

/**
 * cxib_hw_create_comp_eqs() - creates the completion EQs
 * @hw: device with vectors
 *
 * The first EQ is required. If firmware refuses a later one, the device has fewer completion EQs.
 *
 * Return: 0, -ENOMEM or the error of cxib_eq_create().
 */
int cxib_hw_create_comp_eqs(struct cxib_hw *hw)
{
	unsigned int count = eqs_completion_vectors(hw);
	int err;

	/* cxib_hw_free_eq_memory() frees the array together with the rings. */
	hw->comp_eqs = kcalloc_node(count, sizeof(*hw->comp_eqs), GFP_KERNEL,
				    dev_to_node(hw->bus->dev));
	if (!hw->comp_eqs)
		return -ENOMEM;
	for (; hw->completion_eq_count < count; hw->completion_eq_count++) {
		err = eqs_create_completion_eq(hw, hw->completion_eq_count);
		if (cxib_command_is_refusal(err))
			return 0;
		if (err) {
			cxib_hw_destroy_comp_eqs(hw);
			return err;
		}
	}
	return 0;
}

/**
 * cxib_hw_destroy_comp_eqs() - undo cxib_hw_create_comp_eqs()
 * @hw: device without CQs
 */
void cxib_hw_destroy_comp_eqs(struct cxib_hw *hw)
{
	while (hw->completion_eq_count)
		eqs_destroy(hw, &hw->comp_eqs[--hw->completion_eq_count]);
}

/**
 * cxib_hw_create_pf_eq() - creates the page fault EQ
 * @hw: device that is up, with cxib_hw_has_odp()
 * @workqueue: where faults are dispatched
 *
 * Return: 0 or the error of cxib_eq_create(); -EBUSY when the device may still
 * write to the ring of the previous one.
 */
int cxib_hw_create_pf_eq(struct cxib_hw *hw, struct workqueue_struct *workqueue)
{
	struct cxib_eq_attr attr = {
		.vector = hw->vectors - 1,
		.cpu = ANY_CPU,
		.log_size = LOG_FAULT_EVENTS,
		.events = BIT_ULL(HW_EVENT_TYPE_PAGE_FAULT),
		.workqueue = workqueue,
	};

	if (hw->pf_eq.ring)
		return -EBUSY;
	return eqs_create(hw, &hw->pf_eq, &attr, "faults");
}

/**
 * cxib_hw_destroy_pf_eq() - undo cxib_hw_create_pf_eq(); waits for running handlers
 * @hw: device with a page fault EQ
 */
void cxib_hw_destroy_pf_eq(struct cxib_hw *hw)
{
	eqs_destroy(hw, &hw->pf_eq);
}

/**
 * cxib_hw_free_eq_memory() - frees the rings of EQs that could not be destroyed
 * @hw: device whose DMA is off
 *
 * Return: number of rings.
 */
unsigned int cxib_hw_free_eq_memory(struct cxib_hw *hw)
{
	unsigned int freed = 0;
	unsigned int i;

	freed += cxib_eq_free(&hw->cmd_eq);
	freed += cxib_eq_free(&hw->async_eq);
	freed += cxib_eq_free(&hw->pf_eq);
	if (!hw->comp_eqs)
		return freed;
	for (i = 0; i < eqs_completion_vectors(hw); i++)
		freed += cxib_eq_free(&hw->comp_eqs[i]);
	kfree(hw->comp_eqs);
	hw->comp_eqs = NULL;
	return freed;
}
