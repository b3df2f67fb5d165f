// SPDX-License-Identifier: GPL-2.0-only
/*
 * The event queues of a device: one for answered commands, one for what
 * happens by itself, and one for completions for each further vector.
 */
#include <linux/cpu.h>
#include <linux/cpumask.h>
#include <linux/device.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "hw/bus.h"
#include "hw/hw.h"
#include "hw/names.h"
#include "hw/page_faults.h"

#define COMMAND_VECTOR		0
#define ASYNC_VECTOR		1
#define ANY_CPU			(-1)

/* Each slot of the command queue can be in it twice: polled, and told of. */
#define LOG_COMMAND_EVENTS	7
#define LOG_ASYNC_EVENTS	10
#define LOG_COMPLETION_EVENTS	10
#define LOG_FAULT_EVENTS	12

static void on_commands_done(void *context, u32 slots)
{
	struct cxib_hw *hw = context;

	cxib_command_queue_complete(&hw->commands, slots);
}

static void on_page_request(void *context, u16 function, s32 count)
{
	struct cxib_hw *hw = context;

	cxib_pages_request(&hw->pages, function, count);
}

/* Also in interrupts. */
static const struct cxib_hw_client *client_of(struct cxib_hw *hw)
{
	/* Pairs with the release in cxib_hw_set_client(). */
	return smp_load_acquire(&hw->client);
}

static void on_completion(void *context, u32 cqn)
{
	const struct cxib_hw_client *client = client_of(context);

	if (client)
		client->handlers->completion(client->context, cqn);
}

static void on_cq_error(void *context, u32 cqn, u32 syndrome)
{
	const struct cxib_hw_client *client = client_of(context);

	if (client)
		client->handlers->cq_error(client->context, cqn, syndrome);
}

static void on_queue_event(void *context, enum hw_event_type event,
			   enum hw_event_queue_type kind, u32 number)
{
	const struct cxib_hw_client *client = client_of(context);

	if (client)
		client->handlers->queue_event(client->context, event, kind, number);
}

static void on_port_change(void *context, unsigned int port, enum hw_port_change_subtype change)
{
	const struct cxib_hw_client *client = client_of(context);
	struct cxib_hw *hw = context;

	dev_dbg(hw->bus->dev, "port %u: %s\n", port, hw_port_change_subtype_name(change));
	if (client)
		client->handlers->port_change(client->context, port, change);
}

/* Whoever waits for pages is answered in any case. */
static void on_page_fault(void *context, const struct cxib_page_fault *fault)
{
	const struct cxib_hw_client *client = client_of(context);
	struct cxib_hw *hw = context;

	if (client)
		client->handlers->page_fault(client->context, fault);
	else
		cxib_cmd_page_fault_resume(&hw->commands, fault, true);
}

static void on_internal_error(void *context)
{
	struct cxib_hw *hw = context;

	cxib_health_check(&hw->health);
	cxib_health_set_fatal(&hw->health, "it has sent an event of an internal error");
}

/**
 * cxib_hw_fatal_work_fn() - tells that the device was given up
 * @work: @obituary of the device
 *
 * It has lost its access to memory before anybody knows.
 */
void cxib_hw_fatal_work_fn(struct work_struct *work)
{
	struct cxib_hw *hw = container_of(work, struct cxib_hw, fatal_work);
	const struct cxib_hw_client *client = client_of(hw);

	cxib_hw_dma_off(hw);
	if (client)
		client->handlers->internal_error(client->context);
	if (hw->on_fatal)
		hw->on_fatal(hw);
}

static const struct cxib_event_ops handlers = {
	.completion = on_completion,
	.commands_done = on_commands_done,
	.page_request = on_page_request,
	.port_change = on_port_change,
	.cq_error = on_cq_error,
	.queue_event = on_queue_event,
	.internal_error = on_internal_error,
	.page_fault = on_page_fault,
};

/**
 * cxib_hw_set_client() - who is told of events from now on
 * @hw: a device that is up
 * @client: has all handlers that it may have; NULL: nobody. Then no handler of
 *	the one before runs any more when this returns.
 *
 * Context: process context, may sleep; not in a handler.
 */
void cxib_hw_set_client(struct cxib_hw *hw, const struct cxib_hw_client *client)
{
	unsigned int i;

	/* Whoever sees the client sees what it consists of; pairs with client_of(). */
	smp_store_release(&hw->client, client);
	if (client)
		return;
	for (i = 0; i < hw->completion_eq_count; i++)
		cxib_eq_synchronize(&hw->comp_eqs[i]);
	flush_workqueue(hw->workqueue);
}

/* One for each processor, and one for page faults. */
static unsigned int wanted_vectors(const struct cxib_hw *hw)
{
	const struct cxib_device_caps *caps = &hw->caps;
	unsigned int max = max_t(unsigned int, CXIB_SHARED_VECTORS + 1,
				 caps->max_num_eqs ?: 1U << caps->log_max_eq);

	return min_t(unsigned int, CXIB_SHARED_VECTORS + num_online_cpus() + caps->pg, max);
}

/**
 * cxib_hw_has_odp() - whether there can be an event queue for page faults
 * @hw: device with vectors
 *
 * It has the last vector. Where there are too few of them, completions come first.
 */
bool cxib_hw_has_odp(const struct cxib_hw *hw)
{
	return hw->caps.pg && hw->vectors > CXIB_SHARED_VECTORS + 1;
}

static unsigned int completion_vectors(const struct cxib_hw *hw)
{
	return hw->vectors - CXIB_SHARED_VECTORS - cxib_hw_has_odp(hw);
}

/**
 * cxib_hw_allocate_vectors() - interrupt vectors, one for each event queue
 * @hw: device whose capabilities are known
 *
 * Return: 0 or an error; -ENOSPC when there are too few.
 */
int cxib_hw_allocate_vectors(struct cxib_hw *hw)
{
	int count = hw->bus->ops->allocate_vectors(hw->bus, CXIB_SHARED_VECTORS + 1,
						   wanted_vectors(hw));

	if (count < 0) {
		dev_err(hw->bus->dev,
			"cannot get %u interrupt vectors (MSI-X), the least that are needed: error %d\n",
			CXIB_SHARED_VECTORS + 1, count);
		return count;
	}
	hw->vectors = count;
	return 0;
}

/**
 * cxib_hw_free_vectors() - the reverse
 * @hw: device without event queues
 */
void cxib_hw_free_vectors(struct cxib_hw *hw)
{
	hw->bus->ops->free_vectors(hw->bus);
}

static int create(struct cxib_hw *hw, struct cxib_eq *eq,
		  struct cxib_eq_attr *attr, const char *purpose)
{
	char name[32];

	snprintf(name, sizeof(name), "cxib-%s@%s", purpose, dev_name(hw->bus->dev));
	attr->name = name;
	attr->uar = hw->uar_index;
	return cxib_eq_create(eq, hw->bus, &hw->commands, &hw->sink, attr);
}

static void destroy(struct cxib_hw *hw, struct cxib_eq *eq)
{
	if (cxib_eq_destroy(eq, &hw->commands))
		cxib_hw_set_fatal(hw);
}

/**
 * cxib_hw_create_cmd_eq() - commands are answered by event from now on
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
	err = create(hw, &hw->cmd_eq, &attr, "commands");
	if (!err)
		cxib_command_queue_use_events(&hw->commands);
	return err;
}

/**
 * cxib_hw_destroy_cmd_eq() - answers are polled for from now on
 * @hw: device with a command event queue
 */
void cxib_hw_destroy_cmd_eq(struct cxib_hw *hw)
{
	cxib_command_queue_use_polling(&hw->commands);
	destroy(hw, &hw->cmd_eq);
}

/**
 * cxib_hw_create_async_eq() - what happens by itself is told from now on
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

	return create(hw, &hw->async_eq, &attr, "events");
}

/**
 * cxib_hw_destroy_async_eq() - the reverse; page requests are not answered any more
 * @hw: device with an asynchronous event queue
 */
void cxib_hw_destroy_async_eq(struct cxib_hw *hw)
{
	destroy(hw, &hw->async_eq);
	cxib_pages_stop(&hw->pages);
}

/* Processors of the device's NUMA node come first, each has one vector. */
static int home_of(const struct cxib_hw *hw, unsigned int index)
{
	int cpu;

	/* The spread counts online processors, and then looks for them. */
	cpus_read_lock();
	cpu = cpumask_local_spread(index, dev_to_node(hw->bus->dev));
	cpus_read_unlock();
	return cpu;
}

static int create_completion_eq(struct cxib_hw *hw, unsigned int index)
{
	struct cxib_eq_attr attr = {
		.vector = CXIB_SHARED_VECTORS + index,
		.cpu = home_of(hw, index),
		.log_size = LOG_COMPLETION_EVENTS,
	};
	char purpose[16];

	snprintf(purpose, sizeof(purpose), "comp%u", index);
	return create(hw, &hw->comp_eqs[index], &attr, purpose);
}

/**
 * cxib_hw_create_comp_eqs() - event queues for completions
 * @hw: device with vectors
 *
 * A device that refuses one of them after the first has as many as it has.
 *
 * Return: 0, -ENOMEM or the error of cxib_eq_create().
 */
int cxib_hw_create_comp_eqs(struct cxib_hw *hw)
{
	unsigned int count = completion_vectors(hw);
	int err;

	/* Freed with the memory of the rings, cxib_hw_free_eq_memory(). */
	hw->comp_eqs = kcalloc_node(count, sizeof(*hw->comp_eqs), GFP_KERNEL,
				    dev_to_node(hw->bus->dev));
	if (!hw->comp_eqs)
		return -ENOMEM;
	for (; hw->completion_eq_count < count; hw->completion_eq_count++) {
		err = create_completion_eq(hw, hw->completion_eq_count);
		if (hw->completion_eq_count && cxib_command_is_refusal(err))
			return 0;
		if (err) {
			cxib_hw_destroy_comp_eqs(hw);
			return err;
		}
	}
	return 0;
}

/**
 * cxib_hw_destroy_comp_eqs() - the reverse
 * @hw: device whose completion queues are destroyed
 */
void cxib_hw_destroy_comp_eqs(struct cxib_hw *hw)
{
	while (hw->completion_eq_count)
		destroy(hw, &hw->comp_eqs[--hw->completion_eq_count]);
}

/**
 * cxib_hw_create_pf_eq() - page faults are told from now on
 * @hw: device that is up and can page
 * @workqueue: where
 *
 * Return: 0 or the error of cxib_eq_create(); -EBUSY when the device may still
 * write to the one before.
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
	return create(hw, &hw->pf_eq, &attr, "faults");
}

/**
 * cxib_hw_destroy_pf_eq() - the reverse; no event is dispatched any more
 * @hw: device with such an event queue
 */
void cxib_hw_destroy_pf_eq(struct cxib_hw *hw)
{
	destroy(hw, &hw->pf_eq);
}

/**
 * cxib_hw_free_eq_memory() - frees rings of queues that could not be destroyed
 * @hw: device that cannot access memory any more
 *
 * Return: how many that were.
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
	for (i = 0; i < completion_vectors(hw); i++)
		freed += cxib_eq_free(&hw->comp_eqs[i]);
	kfree(hw->comp_eqs);
	hw->comp_eqs = NULL;
	return freed;
}
