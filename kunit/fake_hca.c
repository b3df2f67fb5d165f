// SPDX-License-Identifier: GPL-2.0-only
/* The fake HCA's command queue and commands. */
#include <linux/dma-direct.h>
#include <linux/dma-mapping.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "compat/workqueue.h"
#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/commands_events.h"
#include "hw/commands_objects.h"
#include "hw/commands_port.h"
#include "hw/device.h"
#include "hw/events.h"
#include "kernel_kunit.h"

#define INLINE_BYTES	16
#define BOX_BYTES	512

/* One command during its execution. */
struct execution {
	struct hw_cmd_queue_entry *entry;
	u32 in_length;
	u32 out_length;
	u8 token;
	void *in;
	void *out;
	u16 opcode;
	u16 op_mod;
};

typedef u8 (*fake_command)(struct fake_hca *hca, const struct execution *execution);

void fake_hca_complain(struct fake_hca *hca, const char *format, ...)
{
	struct va_format text;
	va_list args;

	va_start(args, format);
	text.fmt = format;
	text.va = &args;
	/* Also called with interrupts disabled. */
	pr_warn("fake HCA: the driver broke a rule: %pV\n", &text);
	va_end(args);
	hca->complaints++;
}

/* Memory at a DMA address; requires direct mapping without an IOMMU. */
void *fake_hca_memory(struct fake_hca *hca, u64 address)
{
	if (!hca->dma)
		fake_hca_complain(hca, "the device accesses 0x%llx without permission", address);
	return phys_to_virt(dma_to_phys(hca->bus.dev, address));
}

static struct hw_cmd_if_box *box_at(struct fake_hca *hca, u64 address, u32 number, u8 token)
{
	struct hw_cmd_if_box *box;

	if (!address || address & 1023) {
		fake_hca_complain(hca, "mailbox %u is at 0x%llx", number, address);
		return NULL;
	}
	box = fake_hca_memory(hca, address);
	if (hw_cmd_if_box_get_token(box) != token)
		fake_hca_complain(hca, "mailbox %u has another token", number);
	if (hw_cmd_if_box_get_block_number(box) != number)
		fake_hca_complain(hca, "mailbox %u is numbered %u", number,
				  hw_cmd_if_box_get_block_number(box));
	return box;
}

static void copy_boxes(struct fake_hca *hca, u64 address, u8 token, void *data, size_t length,
		       bool to_driver)
{
	u32 number = 0;

	while (length) {
		size_t here = min_t(size_t, length, BOX_BYTES);
		struct hw_cmd_if_box *box = box_at(hca, address, number++, token);

		if (!box)
			return;
		if (to_driver)
			memcpy(hw_cmd_if_box_mailbox_data(box), data, here);
		else
			memcpy(data, hw_cmd_if_box_mailbox_data(box), here);
		data += here;
		length -= here;
		address = (u64)hw_cmd_if_box_get_next_pointer_63_32(box) << 32 |
			  (u64)hw_cmd_if_box_get_next_pointer_31_10(box) << 10;
	}
}

static void check_entry(struct fake_hca *hca, const struct hw_cmd_queue_entry *entry)
{
	const u8 *bytes = (const u8 *)entry;
	u8 sum = 0;
	size_t i;

	for (i = 0; i < sizeof(*entry); i++)
		sum ^= bytes[i];
	if (sum != 0xff)
		fake_hca_complain(hca, "the signature of an entry is wrong");
	if (hw_cmd_queue_entry_get_type(entry) != 7)
		fake_hca_complain(hca, "the type of an entry is %u",
				  hw_cmd_queue_entry_get_type(entry));
	if (!hw_cmd_queue_entry_get_ownership(entry))
		fake_hca_complain(hca, "a doorbell was rung for an entry owned by software");
	if (!hw_cmd_queue_entry_get_token(entry))
		fake_hca_complain(hca, "an entry has no token");
}

static u64 input_pointer(const struct hw_cmd_queue_entry *entry)
{
	return (u64)hw_cmd_queue_entry_get_input_mailbox_pointer_63_32(entry) << 32 |
	       (u64)hw_cmd_queue_entry_get_input_mailbox_pointer_31_9(entry) << 9;
}

static u64 output_pointer(const struct hw_cmd_queue_entry *entry)
{
	return (u64)hw_cmd_queue_entry_get_output_mailbox_pointer_63_32(entry) << 32 |
	       (u64)hw_cmd_queue_entry_get_output_mailbox_pointer_31_9(entry) << 9;
}

static bool fetch(struct fake_hca *hca, struct execution *execution)
{
	struct hw_cmd_queue_entry *entry = execution->entry;

	check_entry(hca, entry);
	execution->token = hw_cmd_queue_entry_get_token(entry);
	execution->in_length = hw_cmd_queue_entry_get_input_length(entry);
	execution->out_length = hw_cmd_queue_entry_get_output_length(entry);
	execution->in = kvzalloc(execution->in_length, GFP_KERNEL);
	execution->out = kvzalloc(max(execution->out_length, 16U), GFP_KERNEL);
	if (!execution->in || !execution->out)
		return false;
	memcpy(execution->in, hw_cmd_queue_entry_get_command_input_inline_data(entry),
	       INLINE_BYTES);
	copy_boxes(hca, input_pointer(entry), execution->token, execution->in + INLINE_BYTES,
		   execution->in_length - INLINE_BYTES, false);
	execution->opcode = hw_cmd_in_get_opcode(execution->in);
	execution->op_mod = hw_cmd_in_get_op_mod(execution->in);
	return true;
}

static u8 run_nop(struct fake_hca *hca, const struct execution *execution)
{
	return HW_COMMAND_STATUS_OK;
}

/* Returns the input data as output. */
static u8 run_access_register(struct fake_hca *hca, const struct execution *execution)
{
	size_t length = min(execution->in_length, execution->out_length);

	if (length > INLINE_BYTES)
		memcpy(execution->out + INLINE_BYTES, execution->in + INLINE_BYTES,
		       length - INLINE_BYTES);
	return HW_COMMAND_STATUS_OK;
}

/* Sets current values below those that the driver wants, so that it must send SET_HCA_CAP. */
void fake_hca_unconfigure(struct fake_hca *hca)
{
	hw_cmd_hca_cap_set_log_max_qp(hca->current_caps, 12);
}

static u8 run_enable(struct fake_hca *hca, const struct execution *execution)
{
	hca->enabled = true;
	return HW_COMMAND_STATUS_OK;
}

static u8 run_disable(struct fake_hca *hca, const struct execution *execution)
{
	if (hca->initialized)
		return HW_COMMAND_STATUS_BAD_SYSTEM_STATE;
	if (hca->page_count)
		fake_hca_complain(hca, "DISABLE_HCA with %u pages in the device", hca->page_count);
	hca->enabled = false;
	fake_hca_unconfigure(hca);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_query_issi(struct fake_hca *hca, const struct execution *execution)
{
	if (!hca->issi)
		return HW_COMMAND_STATUS_BAD_OPERATION;
	hw_query_issi_out_set_supported_issi_dw0(execution->out, hca->issi);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_set_issi(struct fake_hca *hca, const struct execution *execution)
{
	u32 wanted = hw_set_issi_in_get_current_issi(execution->in);

	return hca->issi & BIT(wanted) ? HW_COMMAND_STATUS_OK : HW_COMMAND_STATUS_BAD_PARAMETER;
}

static u8 run_query_pages(struct fake_hca *hca, const struct execution *execution)
{
	u32 wanted = hca->boot_pages;

	if (execution->op_mod == HW_QUERY_PAGES_OP_MOD_INIT_PAGES)
		wanted += hca->init_pages;
	hw_query_pages_out_set_num_pages(execution->out,
					 wanted > hca->page_count ? wanted - hca->page_count : 0);
	return HW_COMMAND_STATUS_OK;
}

static u8 give_page(struct fake_hca *hca, u64 address)
{
	if (!address || address & 4095) {
		fake_hca_complain(hca, "page 0x%llx was given", address);
		return HW_COMMAND_STATUS_BAD_PARAMETER;
	}
	if (xa_insert(&hca->pages, address >> 12, hca, GFP_KERNEL)) {
		fake_hca_complain(hca, "page 0x%llx was given twice", address);
		return HW_COMMAND_STATUS_BAD_PARAMETER;
	}
	/* Firmware writes to its pages. */
	memset(fake_hca_memory(hca, address), 0x5a, 4096);
	hca->page_count++;
	return HW_COMMAND_STATUS_OK;
}

static u8 take_pages(struct fake_hca *hca, const struct execution *execution)
{
	u32 wanted = hw_manage_pages_in_get_input_num_entries(execution->in);
	struct hw_manage_pages_out *out = execution->out;
	unsigned long number;
	u32 count = 0;
	void *entry;

	wanted = min_t(u32, wanted, (execution->out_length - 16) / sizeof(u64));
	xa_for_each(&hca->pages, number, entry) {
		if (count == wanted || hca->keep_pages || hca->empty_outputs)
			break;
		out->pas[count++] = cpu_to_be64((u64)number << 12);
		xa_erase(&hca->pages, number);
	}
	if (hca->empty_outputs)
		hca->empty_outputs--;
	hca->page_count -= count;
	hw_manage_pages_out_set_output_num_entries(out, count);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_manage_pages(struct fake_hca *hca, const struct execution *execution)
{
	const struct hw_manage_pages_in *in = execution->in;
	u32 count = hw_manage_pages_in_get_input_num_entries(in);
	u8 status = HW_COMMAND_STATUS_OK;
	u32 i;

	if (execution->op_mod == HW_MANAGE_PAGES_OP_MOD_HCA_RETURN_PAGES)
		return take_pages(hca, execution);
	if (execution->op_mod == HW_MANAGE_PAGES_OP_MOD_ALLOCATION_FAIL)
		return HW_COMMAND_STATUS_OK;
	if (execution->in_length != sizeof(*in) + count * sizeof(u64))
		return HW_COMMAND_STATUS_BAD_INPUT_LENGTH;
	for (i = 0; i < count && !status; i++)
		status = give_page(hca, be64_to_cpu(in->pas[i]));
	return status;
}

static u8 run_query_caps(struct fake_hca *hca, const struct execution *execution)
{
	bool current_ones = execution->op_mod & HW_HCA_CAP_MODE_CURRENT;

	switch (execution->op_mod >> 1) {
	case HW_HCA_CAP_TYPE_GENERAL:
		memcpy(hw_query_hca_cap_out_capability_cmd_hca_cap(execution->out),
		       current_ones ? hca->current_caps : hca->maximum, sizeof(*hca->maximum));
		return HW_COMMAND_STATUS_OK;
	case HW_HCA_CAP_TYPE_GENERAL_2:
		*hw_query_hca_cap_out_capability_cmd_hca_cap_2(execution->out) = hca->general_2;
		return HW_COMMAND_STATUS_OK;
	case HW_HCA_CAP_TYPE_ODP:
		*hw_query_hca_cap_out_capability_odp_cap(execution->out) = hca->odp;
		return HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_BAD_PARAMETER;
	}
}

static u8 run_set_caps(struct fake_hca *hca, const struct execution *execution)
{
	if (hca->initialized)
		return HW_COMMAND_STATUS_BAD_SYSTEM_STATE;
	switch (execution->op_mod >> 1) {
	case HW_HCA_CAP_TYPE_GENERAL:
		memcpy(hca->current_caps,
		       hw_set_hca_cap_in_get_capability_cmd_hca_cap(execution->in),
		       sizeof(*hca->current_caps));
		return HW_COMMAND_STATUS_OK;
	case HW_HCA_CAP_TYPE_ODP:
		hca->odp = *hw_set_hca_cap_in_get_capability_odp_cap(execution->in);
		return HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_BAD_PARAMETER;
	}
}

static u8 run_init(struct fake_hca *hca, const struct execution *execution)
{
	if (hca->page_count < hca->boot_pages + hca->init_pages)
		return HW_COMMAND_STATUS_BAD_SYSTEM_STATE;
	hca->initialized = true;
	return HW_COMMAND_STATUS_OK;
}

static u8 run_teardown(struct fake_hca *hca, const struct execution *execution)
{
	unsigned int i;

	for (i = 0; i < FAKE_EQS; i++)
		if (hca->eqs[i].live)
			fake_hca_complain(hca, "TEARDOWN_HCA with EQ %u", i);
	hca->initialized = false;
	return HW_COMMAND_STATUS_OK;
}

static u8 run_query_adapter(struct fake_hca *hca, const struct execution *execution)
{
	struct hw_query_adapter_param_block *adapter =
		hw_query_adapter_out_query_adapter_struct(execution->out);

	memcpy(hw_query_adapter_param_block_vsd_contd_psid(adapter), FAKE_BOARD_ID,
	       sizeof(FAKE_BOARD_ID));
	return HW_COMMAND_STATUS_OK;
}

static u8 run_alloc_uar(struct fake_hca *hca, const struct execution *execution)
{
	if (!hca->initialized)
		return HW_COMMAND_STATUS_BAD_SYSTEM_STATE;
	hw_alloc_uar_out_set_uar(execution->out, FAKE_FIRST_UAR + hca->uars++);
	return HW_COMMAND_STATUS_OK;
}

static u8 run_dealloc_uar(struct fake_hca *hca, const struct execution *execution)
{
	u32 uar = hw_dealloc_uar_in_get_uar(execution->in);

	if (uar < FAKE_FIRST_UAR || uar >= FAKE_FIRST_UAR + hca->uars)
		return HW_COMMAND_STATUS_BAD_RESOURCE;
	hca->uars--;
	return HW_COMMAND_STATUS_OK;
}

static u8 run_create_eq(struct fake_hca *hca, const struct execution *execution)
{
	return fake_create_eq(hca, execution->in, execution->out);
}

static u8 run_destroy_eq(struct fake_hca *hca, const struct execution *execution)
{
	return fake_destroy_eq(hca, execution->in, execution->out);
}

static const struct {
	u16 opcode;
	fake_command run;
} commands[] = {
	{ HW_CMD_NOP, run_nop },
	{ HW_CMD_ACCESS_REGISTER, run_access_register },
	{ HW_CMD_ENABLE_HCA, run_enable },
	{ HW_CMD_DISABLE_HCA, run_disable },
	{ HW_CMD_QUERY_ISSI, run_query_issi },
	{ HW_CMD_SET_ISSI, run_set_issi },
	{ HW_CMD_QUERY_PAGES, run_query_pages },
	{ HW_CMD_MANAGE_PAGES, run_manage_pages },
	{ HW_CMD_QUERY_HCA_CAP, run_query_caps },
	{ HW_CMD_SET_HCA_CAP, run_set_caps },
	{ HW_CMD_INIT_HCA, run_init },
	{ HW_CMD_TEARDOWN_HCA, run_teardown },
	{ HW_CMD_SET_DRIVER_VERSION, run_nop },
	{ HW_CMD_QUERY_ADAPTER, run_query_adapter },
	{ HW_CMD_ALLOC_UAR, run_alloc_uar },
	{ HW_CMD_DEALLOC_UAR, run_dealloc_uar },
	{ HW_CMD_CREATE_EQ, run_create_eq },
	{ HW_CMD_DESTROY_EQ, run_destroy_eq },
};

static u8 carry_out(struct fake_hca *hca, const struct execution *execution)
{
	size_t i;

	if (hca->script)
		return hca->script(hca, execution->in, execution->in_length, execution->out,
				   execution->out_length);
	for (i = 0; i < ARRAY_SIZE(commands); i++)
		if (commands[i].opcode == execution->opcode)
			return commands[i].run(hca, execution);
	return HW_COMMAND_STATUS_BAD_OPERATION;
}

static bool by_chance(struct fake_hca *hca)
{
	return prandom_u32_state(&hca->random) % 100 < hca->chance;
}

/* Returns the fault of the next command. */
static enum fake_fault fault_of(struct fake_hca *hca, u16 opcode)
{
	bool due = hca->always ? hca->commands >= hca->fault_at :
				 hca->commands == hca->fault_at;

	if (hca->chance && by_chance(hca))
		return 1 + prandom_u32_state(&hca->random) % (FAKE_FAULTS - 1);
	if (hca->fault_opcode && hca->fault_opcode != opcode)
		return FAKE_FAULT_NONE;
	return due ? hca->fault : FAKE_FAULT_NONE;
}

static void corrupt_output(struct fake_hca *hca, struct execution *execution,
			   enum fake_fault fault)
{
	switch (fault) {
	case FAKE_FAULT_STATUS:
		hw_cmd_out_set_status(execution->out, HW_COMMAND_STATUS_BAD_SYSTEM_STATE);
		hw_cmd_out_set_syndrome(execution->out, FAKE_STATUS_SYND);
		break;
	case FAKE_FAULT_UNKNOWN_STATUS:
		hw_cmd_out_set_status(execution->out, 0x77);
		break;
	case FAKE_FAULT_GARBAGE:
		memset(execution->out, FAKE_GARBAGE, execution->out_length);
		if (hca->chance) {
			prandom_bytes_state(&hca->random, execution->out, execution->out_length);
			/*
			 * The number must not exist: the driver would destroy an existing object
			 * with it.
			 */
			((u8 *)execution->out)[11] |= 0x80;
		}
		hw_cmd_out_set_status(execution->out, 0);
		break;
	default:
		break;
	}
}

/* Returns the last dword of the entry: token, signature, delivery status, ownership. */
static __be32 corrupt_entry(struct fake_hca *hca, struct execution *execution,
			    enum fake_fault fault)
{
	struct hw_cmd_queue_entry copy = *execution->entry;

	hw_cmd_queue_entry_set_ownership(&copy, HW_COMMAND_OWNER_SOFTWARE);
	hw_cmd_queue_entry_set_signature(&copy, 0);
	if (fault == FAKE_FAULT_TOKEN)
		hw_cmd_queue_entry_set_token(&copy, execution->token ^ 1);
	if (fault == FAKE_FAULT_DELIVERY)
		hw_cmd_queue_entry_set_status(&copy,
					      HW_COMMAND_DELIVERY_STATUS_INPUT_LENGTH_ERROR);
	if (fault == FAKE_FAULT_LONG)
		hw_cmd_queue_entry_set_output_length(execution->entry,
						     execution->out_length + 1);
	if (fault == FAKE_FAULT_SHORT)
		hw_cmd_queue_entry_set_output_length(execution->entry, 7);
	return copy.dw[ARRAY_SIZE(copy.dw) - 1];
}

static void finish(struct fake_hca *hca, struct execution *execution, enum fake_fault fault)
{
	struct hw_cmd_queue_entry *entry = execution->entry;
	__be32 last;

	corrupt_output(hca, execution, fault);
	memcpy(hw_cmd_queue_entry_command_output_inline_data(entry), execution->out,
	       INLINE_BYTES);
	if (execution->out_length > INLINE_BYTES) {
		copy_boxes(hca, output_pointer(entry), execution->token,
			   execution->out + INLINE_BYTES, execution->out_length - INLINE_BYTES,
			   true);
		if (fault == FAKE_FAULT_MAILBOX_TOKEN)
			hw_cmd_if_box_set_token(fake_hca_memory(hca, output_pointer(entry)),
						execution->token ^ 1);
	}
	last = corrupt_entry(hca, execution, fault);
	dma_wmb();
	WRITE_ONCE(entry->dw[ARRAY_SIZE(entry->dw) - 1], last);
}

static void announce(struct fake_hca *hca, unsigned int slot)
{
	struct hw_cmd_inter_comp_event data = {};

	hw_cmd_inter_comp_event_set_command_completion_vector(&data, BIT(slot));
	if (!fake_hca_post(hca, HW_EVENT_TYPE_CMD, 0, &data, sizeof(data)) && hca->announce)
		hca->announce(hca, BIT(slot));
}

/*
 * Returns whether the driver may see success, so that the command must take effect. An output
 * without mailboxes cannot have a wrong mailbox token.
 */
static bool may_succeed(const struct fake_hca *hca, enum fake_fault fault)
{
	if (!hca->chance)
		return !fault;
	return !fault || fault == FAKE_FAULT_GARBAGE || fault == FAKE_FAULT_MAILBOX_TOKEN;
}

static bool execute(struct fake_hca *hca, unsigned int slot)
{
	struct execution execution = { .entry = hca->queue + (slot << hca->log_stride) };
	enum fake_fault fault;
	bool completed = false;
	u8 status;

	if (fetch(hca, &execution)) {
		fault = fault_of(hca, execution.opcode);
		if (hca->commands < FAKE_LOG_SIZE)
			hca->log[hca->commands] = execution.opcode;
		hca->commands++;
		if (fault != FAKE_FAULT_NEVER) {
			status = HW_COMMAND_STATUS_OK;
			if (may_succeed(hca, fault))
				status = carry_out(hca, &execution);
			hw_cmd_out_set_status(execution.out, status);
			finish(hca, &execution, fault);
			completed = true;
		}
	}
	kvfree(execution.in);
	kvfree(execution.out);
	return completed;
}

static void run_slot(struct fake_hca *hca, unsigned int slot)
{
	bool completed;

	mutex_lock(&hca->mutex);
	completed = execute(hca, slot);
	mutex_unlock(&hca->mutex);
	if (completed)
		announce(hca, slot);
	if (hca->chance && by_chance(hca))
		fake_hca_post_random(hca);
}

static void run_slot_later(struct work_struct *work)
{
	struct fake_slot *slot = container_of(work, struct fake_slot, work);

	run_slot(slot->hca, slot->number);
}

void fake_command_doorbell(struct fake_hca *hca, u32 vector)
{
	unsigned long slots = vector;
	unsigned int i;

	if (!hca->queue)
		return fake_hca_complain(hca, "a doorbell was rung without a queue");
	for_each_set_bit(i, &slots, FAKE_SLOTS) {
		if (hca->hold)
			set_bit(i, &hca->held);
		else if (hca->asynchronous)
			queue_work(system_dfl_wq, &hca->slots[i].work);
		else
			run_slot(hca, i);
	}
}

/* Executes the held commands, the last slot first. */
void fake_hca_release(struct fake_hca *hca)
{
	int i;

	for (i = FAKE_SLOTS - 1; i >= 0; i--)
		if (test_and_clear_bit(i, &hca->held))
			run_slot(hca, i);
}

/* Injects @fault into command number @at. */
void fake_hca_fail(struct fake_hca *hca, enum fake_fault fault, unsigned int at)
{
	hca->fault = fault;
	hca->fault_at = at;
	hca->fault_opcode = 0;
	hca->always = false;
}

/* Checks that the device holds no resource of the driver and that the driver has broken no rule. */
void fake_hca_expect_clean(struct fake_hca *hca)
{
	unsigned int i;

	KUNIT_EXPECT_EQ(hca->test, hca->complaints, 0);
	KUNIT_EXPECT_EQ(hca->test, hca->page_count, 0);
	KUNIT_EXPECT_EQ(hca->test, hca->uars, 0);
	KUNIT_EXPECT_FALSE(hca->test, hca->initialized);
	KUNIT_EXPECT_FALSE(hca->test, hca->dma);
	KUNIT_EXPECT_EQ(hca->test, hca->vectors_given, 0);
	for (i = 0; i < FAKE_VECTORS; i++)
		KUNIT_EXPECT_NULL(hca->test, hca->irqs[i].handler);
	for (i = 0; i < FAKE_EQS; i++)
		KUNIT_EXPECT_FALSE(hca->test, hca->eqs[i].live);
}

/* Checks that the driver has issued @count commands with these opcodes. */
void fake_hca_expect_commands(struct fake_hca *hca, const u16 *opcodes, unsigned int count)
{
	unsigned int i;

	KUNIT_ASSERT_EQ(hca->test, count, hca->commands);
	for (i = 0; i < count; i++)
		KUNIT_EXPECT_EQ_MSG(hca->test, opcodes[i], hca->log[i], "command %u", i);
}

const char *fake_fault_name(enum fake_fault fault)
{
	static const char * const names[] = {
		[FAKE_FAULT_NONE] = "no fault",
		[FAKE_FAULT_STATUS] = "bad status",
		[FAKE_FAULT_UNKNOWN_STATUS] = "unknown status",
		[FAKE_FAULT_DELIVERY] = "delivery error",
		[FAKE_FAULT_TOKEN] = "wrong token",
		[FAKE_FAULT_MAILBOX_TOKEN] = "wrong token in a mailbox",
		[FAKE_FAULT_LONG] = "output too long",
		[FAKE_FAULT_SHORT] = "output too short",
		[FAKE_FAULT_GARBAGE] = "garbage",
		[FAKE_FAULT_NEVER] = "no completion",
	};

	return names[fault];
}

static void fake_hca_free_pages(void *context)
{
	struct fake_hca *hca = context;
	unsigned int i;

	for (i = 0; i < FAKE_SLOTS; i++)
		cancel_work_sync(&hca->slots[i].work);
	cancel_work_sync(&hca->refire);
	xa_destroy(&hca->pages);
}

static void set_default_capabilities(struct hw_cmd_hca_cap *caps)
{
	hw_cmd_hca_cap_set_log_max_qp(caps, 18);
	hw_cmd_hca_cap_set_log_max_qp_sz(caps, 15);
	hw_cmd_hca_cap_set_log_max_srq(caps, 18);
	hw_cmd_hca_cap_set_log_max_srq_sz(caps, 15);
	hw_cmd_hca_cap_set_log_max_cq(caps, 18);
	hw_cmd_hca_cap_set_log_max_cq_sz(caps, 22);
	hw_cmd_hca_cap_set_log_max_eq(caps, FAKE_LOG_MAX_EQ);
	hw_cmd_hca_cap_set_log_max_eq_sz(caps, 22);
	hw_cmd_hca_cap_set_log_max_mkey(caps, 20);
	hw_cmd_hca_cap_set_log_max_pd(caps, 20);
	hw_cmd_hca_cap_set_log_max_msg(caps, 30);
	hw_cmd_hca_cap_set_num_ports(caps, 1);
	hw_cmd_hca_cap_set_log_pg_sz(caps, 12);
	hw_cmd_hca_cap_set_max_wqe_sz_sq(caps, 1024);
	hw_cmd_hca_cap_set_max_wqe_sz_rq(caps, 512);
	hw_cmd_hca_cap_set_cqe_version(caps, 1);
	hw_cmd_hca_cap_set_log_bf_reg_size(caps, 9);
	hw_cmd_hca_cap_set_rc(caps, 1);
	hw_cmd_hca_cap_set_ud(caps, 1);
	hw_cmd_hca_cap_set_ib_virt(caps, 1);
	hw_cmd_hca_cap_set_driver_version(caps, 1);
}

static void set_default_registers(struct fake_hca *hca)
{
	hca->log_size = 5;
	hca->log_stride = 6;
	hca->registers[0] = FAKE_FIRMWARE_MINOR << 16 | FAKE_FIRMWARE_MAJOR;
	hca->registers[1] = 5 << 16 | FAKE_FIRMWARE_SUBMINOR;
	hca->registers[HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12 / 4] =
		hca->log_size << 4 | hca->log_stride;
	hca->registers[(HW_INITIAL_SEG_OFFSET_HEALTH_BUFFER +
			HW_HEALTH_BUFFER_OFFSET_FW_VERSION) / 4] =
		0x10230fbe;
}

static void allocate_parts(struct fake_hca *hca)
{
	struct kunit *test = hca->test;

	hca->registers = kunit_kzalloc(test, FAKE_REGISTER_BYTES, GFP_KERNEL);
	hca->maximum = kunit_kzalloc(test, sizeof(*hca->maximum), GFP_KERNEL);
	hca->current_caps = kunit_kzalloc(test, sizeof(*hca->current_caps), GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, hca->registers);
	KUNIT_ASSERT_NOT_NULL(test, hca->maximum);
	KUNIT_ASSERT_NOT_NULL(test, hca->current_caps);
}

/*
 * For cases with hundreds of bring-ups: a page takes as long as a command. Two pages per phase are
 * sufficient to test more than one.
 */
void fake_hca_want_few_pages(struct fake_hca *hca)
{
	hca->boot_pages = 2;
	hca->init_pages = 2;
}

/* Returns a working device. KUnit frees it with the case. */
struct fake_hca *fake_hca_create(struct kunit *test)
{
	struct fake_hca *hca = kunit_kzalloc(test, sizeof(*hca), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, hca);
	hca->test = test;
	allocate_parts(hca);
	hca->bus.dev = kunit_device_register(test, "fake_hca");
	KUNIT_ASSERT_NOT_ERR_OR_NULL(test, hca->bus.dev);
	KUNIT_ASSERT_EQ(test, 0, dma_coerce_mask_and_coherent(hca->bus.dev, DMA_BIT_MASK(64)));
	hca->bus.ops = &fake_bus_ops;
	hca->bus.bar_size = FAKE_REGISTER_BYTES;
	hca->bus.log_uar_distance = CXIB_LOG_UAR_SIZE;
	mutex_init(&hca->mutex);
	spin_lock_init(&hca->eq_lock);
	INIT_WORK(&hca->refire, fake_refire);
	xa_init(&hca->pages);
	for (i = 0; i < FAKE_SLOTS; i++) {
		hca->slots[i].hca = hca;
		hca->slots[i].number = i;
		INIT_WORK(&hca->slots[i].work, run_slot_later);
	}
	set_default_registers(hca);
	set_default_capabilities(hca->maximum);
	set_default_capabilities(hca->current_caps);
	fake_hca_unconfigure(hca);
	hca->issi = 3;
	hca->boot_pages = FAKE_BOOT_PAGES;
	hca->init_pages = FAKE_INIT_PAGES;
	hca->vectors = FAKE_VECTORS;
	hca->dma = true;
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, fake_hca_free_pages, hca));
	return hca;
}

static void destroy_queue(void *data)
{
	cxib_command_queue_destroy(data);
}

/* Gives the device a command queue. KUnit destroys it with the case. */
void fake_hca_start_queue(struct fake_hca *hca, struct cxib_command_queue *queue)
{
	struct kunit *test = hca->test;

	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(queue, &hca->bus));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_queue, queue));
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(queue));
}
