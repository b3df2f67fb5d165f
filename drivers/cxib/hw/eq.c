// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues: made, read, destroyed.
 *
 * An entry is copied out of the ring before anybody looks at it: as soon as
 * the device knows that it was taken, it may write another one in its place.
 */
#include <kunit/visibility.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/bus.h"
#include "hw/command_queue.h"
#include "hw/commands_events.h"
#include "hw/dispatch.h"
#include "hw/eq.h"
#include "hw/events.h"
#include "hw/work_queue.h"

#define LOG_UAR_SIZE	12
#define DEVICE_PAGE	4096UL
#define COUNTER_MASK	GENMASK(23, 0)

/* The device learns this often, at least, that there is room in the ring. */
#define BATCH		8

/* Which owner bit the entries have that were written in the pass of @consumer. */
static u32 owner_in_pass(const struct cxib_eq *eq)
{
	return eq->cons_index >> eq->log_size & 1;
}

/* Copies the next entry. Returns false if there is none. */
static bool next_entry(struct cxib_eq *eq, struct hw_eqe *copy)
{
	const struct hw_eqe *entry = &eq->ring[eq->cons_index & (BIT(eq->log_size) - 1)];
	__be32 last = READ_ONCE(entry->dw[ARRAY_SIZE(entry->dw) - 1]);

	lockdep_assert_held(&eq->lock);

	if ((be32_to_cpu(last) & 1) != owner_in_pass(eq))
		return false;
	/* The rest of the entry may be read only after its owner bit. */
	dma_rmb();
	memcpy(copy, entry, sizeof(*copy));
	eq->cons_index++;
	eq->events++;
	return true;
}

static void ring_doorbell(struct cxib_eq *eq, enum hw_uar_offset doorbell)
{
	lockdep_assert_held(&eq->lock);

	cxib_bus_write(eq->bus, (eq->uar << LOG_UAR_SIZE) + doorbell,
		       eq->eqn << 24 | (eq->cons_index & COUNTER_MASK));
}

/*
 * Takes up to a batch of entries and tells the device; the last batch arms the
 * interrupt, and if there are new entries by then, the device fires it at once.
 */
static unsigned int take_batch(struct cxib_eq *eq, struct hw_eqe *batch, bool last)
{
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	while (count < BATCH && next_entry(eq, &batch[count]))
		count++;
	ring_doorbell(eq, last || count < BATCH ? HW_UAR_OFFSET_EQ_DOORBELL_ARM :
						  HW_UAR_OFFSET_EQ_DOORBELL);
	spin_unlock_irqrestore(&eq->lock, flags);
	return count;
}

/**
 * cxib_eq_poll() - dispatches the events that are there
 * @eq: an event queue; its interrupt is armed afterwards
 *
 * Returns to the caller after as many events as the ring has entries, so that
 * a device that never stops cannot keep a processor for ever.
 *
 * Context: that of the queue's events: its work item, or any for a queue
 * whose events are dispatched in the interrupt.
 * Return: how many events there were.
 */
unsigned int cxib_eq_poll(struct cxib_eq *eq)
{
	const unsigned int limit = 1U << eq->log_size;
	struct hw_eqe batch[BATCH];
	unsigned int total = 0;
	unsigned int count, i;

	do {
		count = take_batch(eq, batch, total + BATCH >= limit);
		for (i = 0; i < count; i++)
			cxib_dispatch_event(eq->sink, eq->event_mask, &batch[i]);
		total += count;
	} while (count == BATCH && total < limit);
	return total;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_poll);

/**
 * cxib_eq_synchronize() - waits for the interrupt's end if it runs now
 * @eq: an event queue whose events are dispatched in the interrupt
 *
 * Context: process context, may sleep.
 */
void cxib_eq_synchronize(struct cxib_eq *eq)
{
	eq->bus->ops->synchronize_irq(eq->bus, eq->vector);
}

static void poll_later(struct work_struct *work)
{
	cxib_eq_poll(container_of(work, struct cxib_eq, work));
}

static irqreturn_t handle_interrupt(int irq, void *context)
{
	struct cxib_eq *eq = context;

	if (eq->workqueue)
		queue_work(eq->workqueue, &eq->work);
	else
		cxib_eq_poll(eq);
	return IRQ_HANDLED;
}

static size_t ring_size(const struct cxib_eq *eq)
{
	return sizeof(struct hw_eqe) << eq->log_size;
}

/* No entry is valid in the first pass, which the device writes with owner bit 0. */
static int allocate_ring(struct cxib_eq *eq)
{
	size_t i;

	eq->ring = dma_alloc_coherent(eq->bus->dev, ring_size(eq), &eq->dma, GFP_KERNEL);
	if (!eq->ring)
		return -ENOMEM;
	for (i = 0; i < BIT(eq->log_size); i++)
		hw_eqe_set_owner(&eq->ring[i], 1);
	return 0;
}

/**
 * cxib_eq_free() - frees the memory of an event queue
 * @eq: a queue that the device does not write to any more; one that has no
 *	memory is left alone
 *
 * Context: process context, may sleep.
 * Return: true if there was memory to free.
 */
bool cxib_eq_free(struct cxib_eq *eq)
{
	if (!eq->ring)
		return false;
	dma_free_coherent(eq->bus->dev, ring_size(eq), eq->ring, eq->dma);
	eq->ring = NULL;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_free);

static void fill_context(const struct cxib_eq *eq, u64 events,
			 struct hw_create_eq_in *in, size_t pages)
{
	struct hw_eqc *context = hw_create_eq_in_eq_context_entry(in);
	size_t i;

	hw_create_eq_in_set_opcode(in, HW_CMD_CREATE_EQ);
	hw_eqc_set_log_eq_size(context, eq->log_size);
	hw_eqc_set_uar_page(context, eq->uar);
	hw_eqc_set_intr(context, eq->vector);
	hw_create_eq_in_set_event_bitmask(in, 0, events);
	for (i = 0; i < pages; i++)
		in->pas[i] = cpu_to_be64(eq->dma + i * DEVICE_PAGE);
}

static int create_in_device(struct cxib_eq *eq, struct cxib_command_queue *commands,
			    u64 events)
{
	size_t pages = DIV_ROUND_UP(ring_size(eq), DEVICE_PAGE);
	struct hw_create_eq_out out;
	struct hw_create_eq_in *in;
	struct cxib_command command = { .out = &out, .out_length = sizeof(out) };
	int err;

	command.in_length = struct_size(in, pas, pages);
	in = kvzalloc(command.in_length, GFP_KERNEL);
	if (!in)
		return -ENOMEM;
	command.in = in;
	fill_context(eq, events, in, pages);
	err = cxib_cmd_exec(commands, &command);
	eq->eqn = hw_create_eq_out_get_eq_number(&out);
	kvfree(in);
	return err;
}

static int destroy_in_device(struct cxib_eq *eq, struct cxib_command_queue *commands)
{
	struct hw_destroy_eq_in in = {};
	struct hw_destroy_eq_out out;

	hw_destroy_eq_in_set_opcode(&in, HW_CMD_DESTROY_EQ);
	hw_destroy_eq_in_set_eq_number(&in, eq->eqn);
	return cxib_cmd_exec_inout(commands, in, out);
}

static void arm(struct cxib_eq *eq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	ring_doorbell(eq, HW_UAR_OFFSET_EQ_DOORBELL_ARM);
	spin_unlock_irqrestore(&eq->lock, flags);
}

static void set_up(struct cxib_eq *eq, struct cxib_bus *bus,
		   struct cxib_event_sink *sink, const struct cxib_eq_attr *attr)
{
	*eq = (struct cxib_eq){
		.bus = bus,
		.sink = sink,
		.uar = attr->uar,
		.vector = attr->vector,
		.log_size = attr->log_size,
		.event_mask = attr->events ?: BIT_ULL(HW_EVENT_TYPE_COMP),
		.workqueue = attr->workqueue,
	};
	strscpy(eq->name, attr->name, sizeof(eq->name));
	spin_lock_init(&eq->lock);
	INIT_WORK(&eq->work, poll_later);
}

/**
 * cxib_eq_create() - CREATE_EQ: an event queue, armed
 * @eq: filled. If an error is returned and the memory of the ring is still
 *	there, the device may write to it: cxib_eq_free() frees it
 *	when the device cannot any more.
 * @bus: the way to the device
 * @commands: command queue
 * @sink: who is told of events
 * @attr: what it shall be like
 *
 * Context: process context, may sleep.
 * Return: 0, -ENOMEM, an error of a command or of the interrupt.
 */
int cxib_eq_create(struct cxib_eq *eq, struct cxib_bus *bus,
		   struct cxib_command_queue *commands, struct cxib_event_sink *sink,
		   const struct cxib_eq_attr *attr)
{
	int err;

	set_up(eq, bus, sink, attr);
	err = allocate_ring(eq);
	if (err)
		return err;
	err = create_in_device(eq, commands, attr->events);
	if (err)
		return err;
	err = bus->ops->request_irq(bus, eq->vector, attr->cpu, handle_interrupt, eq->name, eq);
	if (err) {
		dev_err(bus->dev, "cannot use interrupt vector %u for event queue %u: error %d\n",
			eq->vector, eq->eqn, err);
		if (!destroy_in_device(eq, commands))
			cxib_eq_free(eq);
		return err;
	}
	arm(eq);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_create);

/**
 * cxib_eq_destroy() - DESTROY_EQ, and everything that belongs to it
 * @eq: an event queue that was created
 * @commands: command queue; if this is its event queue, it is polled again
 *
 * Context: process context, may sleep; waits for events under way.
 * Return: 0, or the error of the command: then the memory of the ring is still
 * there, as with cxib_eq_create().
 */
int cxib_eq_destroy(struct cxib_eq *eq, struct cxib_command_queue *commands)
{
	int err = destroy_in_device(eq, commands);

	eq->bus->ops->free_irq(eq->bus, eq->vector, eq);
	cancel_work_sync(&eq->work);
	if (!err)
		cxib_eq_free(eq);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_destroy);
