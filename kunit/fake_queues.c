// SPDX-License-Identifier: GPL-2.0-only
/* The fake HCA's registers, EQs and interrupts. */
#include <linux/bitfield.h>
#include <linux/cpumask.h>
#include <linux/string.h>

#include "compat/workqueue.h"
#include "fake_hca.h"
#include "hw/commands_events.h"
#include "hw/events.h"
#include "hw/init_segment.h"
#include "hw/work_queue.h"

#define UAR_BYTES	0x1000

static struct fake_hca *to_hca(struct cxib_bus *bus)
{
	return container_of(bus, struct fake_hca, bus);
}

u8 fake_create_eq(struct fake_hca *hca, const void *in, void *out)
{
	const struct hw_eqc *context = hw_create_eq_in_get_eq_context_entry(in);
	const struct hw_create_eq_in *input = in;
	unsigned int eqn;

	for (eqn = 1; eqn < FAKE_EQS && hca->eqs[eqn].live; eqn++)
		;
	if (eqn == FAKE_EQS)
		return HW_COMMAND_STATUS_NO_RESOURCES;
	hca->eqs[eqn] = (struct fake_eq){
		.live = true,
		.ring = fake_hca_memory(hca, be64_to_cpu(input->pas[0])),
		.log_size = hw_eqc_get_log_eq_size(context),
		.vector = hw_eqc_get_intr(context),
		.events = hw_create_eq_in_get_event_bitmask(in, 0),
		.uid = hw_create_eq_in_get_uid(in),
	};
	hw_create_eq_out_set_eq_number(out, eqn);
	return HW_COMMAND_STATUS_OK;
}

u8 fake_destroy_eq(struct fake_hca *hca, const void *in, void *out)
{
	u32 eqn = hw_destroy_eq_in_get_eq_number(in);

	if (eqn >= FAKE_EQS || !hca->eqs[eqn].live)
		return HW_COMMAND_STATUS_BAD_RESOURCE;
	hca->eqs[eqn].live = false;
	return HW_COMMAND_STATUS_OK;
}

static void fire(struct fake_hca *hca, unsigned int vector)
{
	struct fake_irq *irq = &hca->irqs[vector];
	unsigned long flags;

	if (!irq->handler)
		return;
	local_irq_save(flags);
	irq->handler(vector, irq->context);
	local_irq_restore(flags);
}

/* Fires the interrupt of each EQ that is armed and not empty. */
void fake_refire(struct work_struct *work)
{
	struct fake_hca *hca = container_of(work, struct fake_hca, refire);
	unsigned int eqn;

	for (eqn = 0; eqn < FAKE_EQS; eqn++) {
		struct fake_eq *eq = &hca->eqs[eqn];
		bool due;

		spin_lock_irq(&hca->eq_lock);
		due = eq->live && eq->armed && eq->cons_index != (eq->producer & 0xffffff);
		if (due)
			eq->armed = false;
		spin_unlock_irq(&hca->eq_lock);
		if (due)
			fire(hca, eq->vector);
	}
}

void fake_eq_doorbell(struct fake_hca *hca, u32 offset, u32 value)
{
	u32 eqn = value >> 24;
	unsigned long flags;
	struct fake_eq *eq;

	if (eqn >= FAKE_EQS || !hca->eqs[eqn].live)
		return fake_hca_complain(hca, "a doorbell for EQ %u, which does not exist",
					 eqn);
	eq = &hca->eqs[eqn];
	spin_lock_irqsave(&hca->eq_lock, flags);
	if (((value - eq->cons_index) & 0xffffff) > ((eq->producer - eq->cons_index) & 0xffffff))
		fake_hca_complain(hca, "more events were consumed than there were");
	eq->cons_index = value & 0xffffff;
	eq->armed = offset == HW_UAR_OFFSET_EQ_DOORBELL_ARM;
	if (eq->armed && eq->cons_index != (eq->producer & 0xffffff))
		queue_work(system_dfl_wq, &hca->refire);
	spin_unlock_irqrestore(&hca->eq_lock, flags);
}

static bool append(struct fake_hca *hca, struct fake_eq *eq, struct hw_eqe *entry)
{
	const size_t last = ARRAY_SIZE(entry->dw) - 1;
	struct hw_eqe *place;
	unsigned long flags;
	bool due;
	u32 index;

	spin_lock_irqsave(&hca->eq_lock, flags);
	index = eq->producer & (BIT(eq->log_size) - 1);
	place = eq->ring + index * sizeof(*place);
	hw_eqe_set_owner(entry, eq->producer >> eq->log_size & 1);
	memcpy(place, entry, last * sizeof(u32));
	dma_wmb();
	WRITE_ONCE(place->dw[last], entry->dw[last]);
	eq->producer++;
	due = eq->armed;
	eq->armed = false;
	spin_unlock_irqrestore(&hca->eq_lock, flags);
	return due;
}

void fake_hca_post_to(struct fake_hca *hca, unsigned int eqn, u8 type, u8 sub_type,
		      const void *data, size_t length)
{
	struct fake_eq *eq = &hca->eqs[eqn];
	struct hw_eqe entry = {};

	hw_eqe_set_event_type(&entry, type);
	hw_eqe_set_event_sub_type(&entry, sub_type);
	memcpy(hw_eqe_event_data_comp_event(&entry), data, length);
	if (append(hca, eq, &entry))
		fire(hca, eq->vector);
}

/* Posts an EQE with random data to a random EQ. */
void fake_hca_post_random(struct fake_hca *hca)
{
	u32 number = prandom_u32_state(&hca->random);
	unsigned int eqn = number % FAKE_EQS;
	u8 data[28];

	if (!hca->dma || !hca->eqs[eqn].live)
		return;
	prandom_bytes_state(&hca->random, data, sizeof(data));
	/* Half of the types are below 0x20, where most known types are. */
	fake_hca_post_to(hca, eqn, number >> 8 & (number & BIT(31) ? 0xff : 0x1f), number >> 16,
			 data, sizeof(data));
}

static int eq_of(struct fake_hca *hca, u8 type)
{
	unsigned int eqn;

	for (eqn = 0; eqn < FAKE_EQS; eqn++)
		if (hca->eqs[eqn].live && type < 64 && hca->eqs[eqn].events & BIT_ULL(type))
			return eqn;
	return -1;
}

/* Returns false if no EQ receives events of @type. */
bool fake_hca_post(struct fake_hca *hca, u8 type, u8 sub_type, const void *data, size_t length)
{
	int eqn = eq_of(hca, type);

	if (eqn < 0)
		return false;
	fake_hca_post_to(hca, eqn, type, sub_type, data, length);
	return true;
}

/* Handles the driver's write to the lower half of the command queue's address. */
void fake_queue_address(struct fake_hca *hca)
{
	u64 high = hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32 / 4];
	u32 low = hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12 / 4];

	if (FIELD_GET(CXIB_NIC_INTERFACE_MASK, low)) {
		hca->queue = NULL;
		goto read_geometry;
	}
	if (low & 0xfff)
		fake_hca_complain(hca, "the command queue is at 0x%08x", low);
	hca->queue = fake_hca_memory(hca, high << 32 | low);
read_geometry:
	hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12 / 4] |=
		hca->log_size << 4 | hca->log_stride;
}

static u32 fake_read(struct cxib_bus *bus, u32 offset)
{
	struct fake_hca *hca = to_hca(bus);

	if (hca->gone)
		return CXIB_ALL_ONES;
	KUNIT_ASSERT_LT(hca->test, offset, FAKE_REGISTER_BYTES);
	return hca->registers[offset / sizeof(u32)];
}

static void fake_write(struct cxib_bus *bus, u32 offset, u32 value)
{
	struct fake_hca *hca = to_hca(bus);

	if (hca->gone)
		return;
	KUNIT_ASSERT_LT(hca->test, offset, FAKE_REGISTER_BYTES);
	hca->registers[offset / sizeof(u32)] = value;
	if (offset == HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12)
		fake_queue_address(hca);
	else if (offset == HW_INITIAL_SEG_OFFSET_COMMAND_DOORBELL_VECTOR)
		fake_command_doorbell(hca, value);
	else if (offset >= FAKE_FIRST_UAR * UAR_BYTES)
		fake_eq_doorbell(hca, offset % UAR_BYTES, value);
	else if (offset != HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32)
		fake_hca_complain(hca, "register 0x%x was written", offset);
}

static void fake_set_dma(struct cxib_bus *bus, bool enabled)
{
	to_hca(bus)->dma = enabled;
}

/* Posts a page request event. With a negative @count firmware offers to return pages. */
void fake_hca_request_pages(struct fake_hca *hca, s32 count)
{
	struct hw_pages_req_event data = {};

	hw_pages_req_event_set_num_pages(&data, (u32)count);
	if (!fake_hca_post(hca, HW_EVENT_TYPE_PAGE_REQUEST, 0, &data, sizeof(data)))
		fake_hca_complain(hca, "no EQ receives page requests");
}

/* Frees all resources of the driver. */
void fake_hca_reset(struct fake_hca *hca)
{
	hca->enabled = false;
	hca->initialized = false;
	hca->uars = 0;
	hca->queue = NULL;
	hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32 / 4] = 0;
	hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12 / 4] =
		FIELD_PREP(CXIB_NIC_INTERFACE_MASK, HW_NIC_INTERFACE_DISABLED) |
		hca->log_size << 4 | hca->log_stride;
	fake_hca_unconfigure(hca);
	hca->held = 0;
	xa_destroy(&hca->pages);
	hca->page_count = 0;
	memset(hca->eqs, 0, sizeof(hca->eqs));
}

static int fake_reset(struct cxib_bus *bus)
{
	struct fake_hca *hca = to_hca(bus);

	hca->resets++;
	hca->dma_at_reset = hca->dma;
	if (hca->reset_error)
		return hca->reset_error;
	fake_hca_reset(hca);
	return 0;
}

static int fake_allocate_vectors(struct cxib_bus *bus, unsigned int minimum, unsigned int maximum)
{
	struct fake_hca *hca = to_hca(bus);

	if (hca->vectors < minimum)
		return -ENOSPC;
	hca->vectors_given = min(hca->vectors, maximum);
	return hca->vectors_given;
}

static void fake_free_vectors(struct cxib_bus *bus)
{
	to_hca(bus)->vectors_given = 0;
}

static int fake_request_irq(struct cxib_bus *bus, unsigned int vector, int cpu,
			    irq_handler_t handler, const char *name, void *context)
{
	struct fake_hca *hca = to_hca(bus);

	KUNIT_ASSERT_LT(hca->test, vector, hca->vectors_given);
	hca->irqs[vector] = (struct fake_irq){ handler, context, cpu };
	return 0;
}

static void fake_free_irq(struct cxib_bus *bus, unsigned int vector, void *context)
{
	to_hca(bus)->irqs[vector] = (struct fake_irq){};
}

/* Handlers run synchronously in fire(). */
static void fake_synchronize_irq(struct cxib_bus *bus, unsigned int vector)
{
}

const struct cxib_bus_ops fake_bus_ops = {
	.read = fake_read,
	.write = fake_write,
	.set_dma = fake_set_dma,
	.reset = fake_reset,
	.allocate_vectors = fake_allocate_vectors,
	.free_vectors = fake_free_vectors,
	.request_irq = fake_request_irq,
	.free_irq = fake_free_irq,
	.synchronize_irq = fake_synchronize_irq,
};
