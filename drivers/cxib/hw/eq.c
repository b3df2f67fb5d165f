// SPDX-License-Identifier: GPL-2.0-only
/*
 * Event queues: create, poll, destroy.
 *
 * An EQE is copied from the ring before it is dispatched: once the consumer
 * index is updated, the device may overwrite it.
 */
#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/device.h>
#include <linux/dma-mapping.h>
#include <linux/mm.h>
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "hw/bus.h"
#include "hw/command_queue.h"
#include "hw/commands_events.h"
#include "hw/device.h"
#include "hw/dispatch.h"
#include "hw/eq.h"
#include "hw/events.h"
#include "hw/work_queue.h"

#define DEVICE_PAGE	4096UL
#define COUNTER_MASK	GENMASK(23, 0)

/*
 * Number of EQEs that are copied under the lock for each doorbell. A smaller batch would ring the
 * doorbell, an MMIO write, more often; a larger one would take more than 512 bytes of the stack in
 * an interrupt. A batch that is not full leaves no EQE in the ring, so its doorbell also arms the
 * EQ. A full batch may leave EQEs, and arming would only raise the interrupt again.
 */
#define BATCH		8
/* Maximum number of events of one call, and thus of handlers in one hard interrupt. */
#define EVENTS_MAX	128U

/* Owner bit of EQEs that were written in the current pass of cons_index. */
static u32 eq_owner_in_pass(const struct cxib_eq *eq)
{
	return eq->cons_index >> eq->log_size & 1;
}

/* Copies the next EQE. Returns false if there is none. */
static bool eq_next_entry(struct cxib_eq *eq, struct hw_eqe *copy)
{
	const struct hw_eqe *entry = &eq->ring[eq->cons_index & (BIT(eq->log_size) - 1)];
	__be32 last = READ_ONCE(entry->dw[ARRAY_SIZE(entry->dw) - 1]);

	lockdep_assert_held(&eq->lock);

	if (FIELD_GET(HW_EQE_MASK_OWNER, be32_to_cpu(last)) != eq_owner_in_pass(eq))
		return false;
	/* The other words of the EQE must be read after its owner bit. */
	dma_rmb();
	memcpy(copy, entry, sizeof(*copy));
	eq->cons_index++;
	eq->events++;
	return true;
}

static void eq_ring_doorbell(struct cxib_eq *eq, enum hw_uar_offset doorbell)
{
	lockdep_assert_held(&eq->lock);

	cxib_bus_write(eq->bus, cxib_uar_offset(eq->bus, eq->uar) + doorbell,
		       be32_to_cpu(hw_eq_doorbell_pack_00(eq->eqn,
							  eq->cons_index & COUNTER_MASK)));
}

/*
 * Reads up to a batch of EQEs and updates the consumer index. The last batch also arms the EQ; if
 * the ring has EQEs then, the device raises the interrupt at once.
 */
static unsigned int eq_read_batch(struct cxib_eq *eq, struct hw_eqe *batch, bool last)
{
	unsigned int count = 0;
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	while (count < BATCH && eq_next_entry(eq, &batch[count]))
		count++;
	eq_ring_doorbell(eq, last || count < BATCH ? HW_UAR_OFFSET_EQ_DOORBELL_ARM :
						  HW_UAR_OFFSET_EQ_DOORBELL);
	spin_unlock_irqrestore(&eq->lock, flags);
	return count;
}

/**
 * cxib_eq_poll() - dispatches the pending events of an EQ
 * @eq: EQ; armed on return
 *
 * Dispatches at most %EVENTS_MAX events, so that neither many CQs nor a faulty device occupy the
 * CPU in one interrupt. If more events are pending, arming raises the next interrupt.
 *
 * Context: the work item of the EQ, or any context for an EQ that is dispatched in interrupts.
 * Return: number of events.
 */
unsigned int cxib_eq_poll(struct cxib_eq *eq)
{
	const unsigned int limit = min(1U << eq->log_size, EVENTS_MAX);
	struct hw_eqe batch[BATCH];
	unsigned int total = 0;
	unsigned int count, i;

	do {
		count = eq_read_batch(eq, batch, total + BATCH >= limit);
		for (i = 0; i < count; i++)
			cxib_dispatch_event(eq, &batch[i]);
		total += count;
	} while (count == BATCH && total < limit);
	return total;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_poll);

/**
 * cxib_eq_synchronize() - waits for a running interrupt handler
 * @eq: EQ that is dispatched in interrupts
 *
 * Context: process context, may sleep.
 */
void cxib_eq_synchronize(struct cxib_eq *eq)
{
	eq->bus->ops->synchronize_irq(eq->bus, eq->vector);
}

static void eq_poll_work_fn(struct work_struct *work)
{
	cxib_eq_poll(container_of(work, struct cxib_eq, work));
}

static irqreturn_t eq_handle_interrupt(int irq, void *context)
{
	struct cxib_eq *eq = context;

	if (eq->workqueue)
		queue_work(eq->workqueue, &eq->work);
	else
		cxib_eq_poll(eq);
	return IRQ_HANDLED;
}

static size_t eq_ring_size(const struct cxib_eq *eq)
{
	return sizeof(struct hw_eqe) << eq->log_size;
}

/*
 * In the first pass over the ring the device writes owner bit 0, so bit 1 marks all EQEs as not
 * valid yet.
 */
static int eq_allocate_ring(struct cxib_eq *eq)
{
	size_t i;

	eq->ring = dma_alloc_coherent(eq->bus->dev, eq_ring_size(eq), &eq->dma, GFP_KERNEL);
	if (!eq->ring)
		return -ENOMEM;
	for (i = 0; i < BIT(eq->log_size); i++)
		hw_eqe_set_owner(&eq->ring[i], 1);
	return 0;
}

/**
 * cxib_eq_free() - frees the ring of an EQ
 * @eq: EQ whose ring the device no longer accesses; may have no ring
 *
 * Context: process context, may sleep.
 * Return: true if there was a ring.
 */
bool cxib_eq_free(struct cxib_eq *eq)
{
	if (!eq->ring)
		return false;
	dma_free_coherent(eq->bus->dev, eq_ring_size(eq), eq->ring, eq->dma);
	eq->ring = NULL;
	return true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_free);

static void eq_fill_context(const struct cxib_eq *eq, u64 events,
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

static int eq_create_in_device(struct cxib_eq *eq, struct cxib_command_queue *commands,
			       const struct cxib_eq_attr *attr)
{
	size_t pages = DIV_ROUND_UP(eq_ring_size(eq), DEVICE_PAGE);
	struct hw_create_eq_out out;
	struct hw_create_eq_in *in;
	struct cxib_command command = {
		.out = &out, .out_length = sizeof(out), .optional = attr->optional,
	};
	int err;

	in = cxib_command_alloc_in(&command, struct_size(in, pas, pages));
	if (!in)
		return -ENOMEM;
	hw_create_eq_in_set_uid(in, attr->uid);
	eq_fill_context(eq, attr->events, in, pages);
	err = cxib_cmd_exec(commands, &command);
	eq->eqn = hw_create_eq_out_get_eq_number(&out);
	kvfree(in);
	return err;
}

static int eq_destroy_in_device(struct cxib_eq *eq, struct cxib_command_queue *commands)
{
	struct hw_destroy_eq_in in = {};
	struct hw_destroy_eq_out out;

	hw_destroy_eq_in_set_opcode(&in, HW_CMD_DESTROY_EQ);
	hw_destroy_eq_in_set_eq_number(&in, eq->eqn);
	return cxib_cmd_exec_inout(commands, in, out);
}

static void eq_arm(struct cxib_eq *eq)
{
	unsigned long flags;

	spin_lock_irqsave(&eq->lock, flags);
	eq_ring_doorbell(eq, HW_UAR_OFFSET_EQ_DOORBELL_ARM);
	spin_unlock_irqrestore(&eq->lock, flags);
}

static void eq_init(struct cxib_eq *eq, struct cxib_bus *bus,
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
	INIT_WORK(&eq->work, eq_poll_work_fn);
}

/**
 * cxib_eq_create() - CREATE_EQ: creates and arms an EQ
 * @eq: output. After an error, @ring is not NULL if the device may still write
 *	to it; the caller must call cxib_eq_free() once DMA is off.
 * @bus: bus access
 * @commands: command queue
 * @sink: destination of its events
 * @attr: attributes of the EQ
 *
 * Context: process context, may sleep.
 * Return: 0; -ENOMEM; -EREMOTEIO when firmware refuses an optional EQ; another error of a command
 * or of @request_irq.
 */
int cxib_eq_create(struct cxib_eq *eq, struct cxib_bus *bus,
		   struct cxib_command_queue *commands, struct cxib_event_sink *sink,
		   const struct cxib_eq_attr *attr)
{
	int err;

	eq_init(eq, bus, sink, attr);
	err = eq_allocate_ring(eq);
	if (err)
		return err;
	err = eq_create_in_device(eq, commands, attr);
	if (cxib_command_is_refusal(err))
		cxib_eq_free(eq);
	if (err)
		return err;
	err = bus->ops->request_irq(bus, eq->vector, attr->cpu, eq_handle_interrupt, eq->name, eq);
	if (err) {
		dev_err(bus->dev, "interrupt vector %u: request for EQ %u failed: error %d\n",
			eq->vector, eq->eqn, err);
		if (!eq_destroy_in_device(eq, commands))
			cxib_eq_free(eq);
		return err;
	}
	eq_arm(eq);
	return 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_create);

/**
 * cxib_eq_destroy() - DESTROY_EQ: undo cxib_eq_create()
 * @eq: EQ
 * @commands: command queue, which must poll if this is its EQ
 *
 * Context: process context, may sleep; waits for running handlers.
 * Return: 0, or the error of the command. After an error the ring is not freed, as after an error
 * of cxib_eq_create().
 */
int cxib_eq_destroy(struct cxib_eq *eq, struct cxib_command_queue *commands)
{
	int err = eq_destroy_in_device(eq, commands);

	eq->bus->ops->free_irq(eq->bus, eq->vector, eq);
	cancel_work_sync(&eq->work);
	if (!err)
		cxib_eq_free(eq);
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_eq_destroy);
