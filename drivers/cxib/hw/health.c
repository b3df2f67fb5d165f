// SPDX-License-Identifier: GPL-2.0-only
/* Health poll: health buffer, health counter, command timeouts; latches fatal errors. */
#include <kunit/visibility.h>
#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/seq_file.h>
#include <linux/string_helpers.h>

#include "hw/bus.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/health.h"
#include "hw/init_segment.h"
#include "hw/names.h"

#define HEALTH_WORDS		(sizeof(struct hw_health_buffer) / sizeof(u32))

static u32 health_read_word(struct cxib_health *health, u32 offset)
{
	return cxib_bus_read(health->bus, HW_INITIAL_SEG_OFFSET_HEALTH_BUFFER + offset);
}

/**
 * cxib_health_read() - reads the health buffer
 * @health: health of the device
 * @buffer: filled; all-ones when the device is absent
 */
void cxib_health_read(struct cxib_health *health, struct hw_health_buffer *buffer)
{
	unsigned int i;

	for (i = 0; i < HEALTH_WORDS; i++)
		buffer->dw[i] = cpu_to_be32(health_read_word(health, i * sizeof(u32)));
}

static void health_log_buffer(struct cxib_health *health, const struct hw_health_buffer *buffer)
{
	u32 syndrome = hw_health_buffer_get_synd(buffer);
	const char *severity = "not given";

	if (hw_health_buffer_get_valid(buffer))
		severity = hw_health_severity_name(hw_health_buffer_get_severity(buffer));
	dev_err(health->bus->dev,
		"health buffer: %s (syndrome 0x%x, ext_synd 0x%x), severity %s, irisc_index %u, fw_ver 0x%08x, assert_exit_ptr 0x%08x, assert_callra 0x%08x%s\n",
		hw_health_syndrome_name(syndrome), syndrome,
		hw_health_buffer_get_ext_synd(buffer), severity,
		hw_health_buffer_get_irisc_index(buffer), hw_health_buffer_get_fw_version(buffer),
		hw_health_buffer_get_assert_existptr(buffer),
		hw_health_buffer_get_assert_callra(buffer),
		hw_health_buffer_get_rfr(buffer) ? ", rfr" : "");
}

static void health_enter_fatal(struct cxib_health *health)
{
	cxib_command_queue_set_fatal(health->commands);
	if (health->handlers->fatal)
		health->handlers->fatal(health);
}

/**
 * cxib_health_set_fatal() - sets the fatal state
 * @health: health of the device
 * @reason: cause for the kernel log
 *
 * Outstanding commands fail, and no further one is issued. Only the first call has an effect.
 *
 * Context: any that may wake up tasks.
 */
void cxib_health_set_fatal(struct cxib_health *health, const char *reason)
{
	if (atomic_xchg(&health->announced, 1))
		return;
	dev_err(health->bus->dev, "fatal error: %s\n", reason);
	health_enter_fatal(health);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_set_fatal);

/**
 * cxib_health_shut_down() - sets the fatal state without logging a fault
 * @health: health of the device
 *
 * Context: any that may wake up tasks.
 */
void cxib_health_shut_down(struct cxib_health *health)
{
	if (!atomic_xchg(&health->announced, 1))
		health_enter_fatal(health);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_shut_down);

/**
 * cxib_health_is_fatal() - whether the device is in the fatal state
 * @health: health of the device
 *
 * Return: true after cxib_health_set_fatal() or cxib_health_shut_down().
 */
bool cxib_health_is_fatal(const struct cxib_health *health)
{
	return atomic_read(&health->announced);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_is_fatal);

static void health_check_interface(struct cxib_health *health)
{
	u32 mode = FIELD_GET(CXIB_NIC_INTERFACE_MASK,
			     cxib_bus_read(health->bus, HW_INITIAL_SEG_OFFSET_NIC_INTERFACE));

	if (mode == HW_NIC_INTERFACE_DISABLED)
		cxib_health_set_fatal(health, "NIC interface disabled");
	else if (mode == HW_NIC_INTERFACE_REQUEST_SW_RESET)
		cxib_health_set_fatal(health, "software reset requested");
}

/*
 * Firmware may set rfr (reset required) after the syndrome, while its health counter still
 * advances. So each poll checks rfr, not only a poll with a new syndrome, and reads it after the
 * syndrome.
 */
static void health_check_buffer(struct cxib_health *health)
{
	u32 syndrome = FIELD_GET(HW_HEALTH_BUFFER_MASK_SYND,
				 health_read_word(health, HW_HEALTH_BUFFER_OFFSET_SYND));
	bool is_fatal = FIELD_GET(HW_HEALTH_BUFFER_MASK_RFR,
				  health_read_word(health, HW_HEALTH_BUFFER_OFFSET_RFR));
	struct hw_health_buffer buffer;

	if (syndrome && syndrome != health->syndrome) {
		cxib_health_read(health, &buffer);
		health_log_buffer(health, &buffer);
	}
	if (syndrome && is_fatal)
		cxib_health_set_fatal(health, "fatal health syndrome");
	health->reported &= syndrome == health->syndrome;
	health->syndrome = syndrome;
}

static void health_check_commands(struct cxib_health *health)
{
	unsigned int timed_out;

	if (cxib_command_queue_is_fatal(health->commands))
		cxib_health_set_fatal(health, "command interface failed");
	cxib_command_queue_reap_late(health->commands);
	timed_out = cxib_command_queue_timed_out(health->commands);
	health->reported &= timed_out == health->timed_out;
	health->timed_out = timed_out;
}

static void health_check_counter(struct cxib_health *health, u32 word)
{
	u32 counter = FIELD_GET(HW_INITIAL_SEG_MASK_HEALTH_COUNTER, word);
	u8 detected = FIELD_GET(HW_INITIAL_SEG_MASK_HEALTH_SYNDROME, word);

	if (detected && detected != health->health_syndrome)
		dev_warn(health->bus->dev, "health_syndrome: %s (syndrome 0x%x)\n",
			 hw_health_syndrome_name(detected), detected);
	health->health_syndrome = detected;

	health->stalls = counter == health->counter ? health->stalls + 1 : 0;
	health->counter = counter;
	if (health->stalls == CXIB_HEALTH_STALL_WARN)
		dev_warn(health->bus->dev,
			 "health counter 0x%06x stalled for %u ms\n",
			 counter, health->stalls * CXIB_HEALTH_PERIOD_MS);
	if (health->stalls == CXIB_HEALTH_STALL_MAX)
		cxib_health_set_fatal(health, "health counter stalled");
}

/**
 * cxib_health_check() - polls the health of the device once
 * @health: health of the device
 *
 * Context: process context.
 */
void cxib_health_check(struct cxib_health *health)
{
	u32 word = cxib_bus_read(health->bus, HW_INITIAL_SEG_OFFSET_HEALTH_COUNTER);

	if (word == CXIB_ALL_ONES) {
		cxib_health_set_fatal(health, "PCI reads return all ones");
		return;
	}
	health_check_interface(health);
	health_check_buffer(health);
	health_check_counter(health, word);
	health_check_commands(health);
	if (!health->reported && !cxib_health_is_fatal(health) && health->handlers->changed)
		health->handlers->changed(health);
	health->reported = true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_check);

static void health_work_fn(struct work_struct *work)
{
	struct cxib_health *health = container_of(to_delayed_work(work), struct cxib_health, work);

	cxib_health_check(health);
	if (!cxib_health_is_fatal(health))
		queue_delayed_work(system_freezable_wq, &health->work,
				   msecs_to_jiffies(CXIB_HEALTH_PERIOD_MS));
}

/**
 * cxib_health_start() - starts the health poll
 * @health: filled
 * @bus: bus access to the device
 * @commands: its started command queue
 * @handlers: called on changes; must outlive @health
 */
void cxib_health_start(struct cxib_health *health, struct cxib_bus *bus,
		       struct cxib_command_queue *commands,
		       const struct cxib_health_handlers *handlers)
{
	*health = (struct cxib_health){
		.bus = bus,
		.commands = commands,
		.handlers = handlers,
		/* The 24-bit counter never has this value, so the first poll finds no stall. */
		.counter = CXIB_ALL_ONES,
	};
	INIT_DELAYED_WORK(&health->work, health_work_fn);
	queue_delayed_work(system_freezable_wq, &health->work,
			   msecs_to_jiffies(CXIB_HEALTH_PERIOD_MS));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_start);

/**
 * cxib_health_stop() - stops the health poll
 * @health: health of the device; the fatal state is kept
 *
 * Context: process context, may sleep.
 */
void cxib_health_stop(struct cxib_health *health)
{
	cancel_delayed_work_sync(&health->work);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_stop);

static int health_show(struct seq_file *file, void *unused)
{
	struct cxib_health *health = file->private;

	seq_printf(file,
		   "fatal: %s\ncounter: 0x%06x\nstalls: %u\nsyndrome: 0x%x %s\nhealth_syndrome: 0x%x %s\n",
		   str_yes_no(cxib_health_is_fatal(health)),
		   (u32)FIELD_GET(HW_INITIAL_SEG_MASK_HEALTH_COUNTER, health->counter),
		   health->stalls, health->syndrome,
		   health->syndrome ? hw_health_syndrome_name(health->syndrome) : "none",
		   health->health_syndrome,
		   health->health_syndrome ? hw_health_syndrome_name(health->health_syndrome)
					   : "none");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(health);

/**
 * cxib_health_debugfs() - creates the debugfs file "health"
 * @health: health of a device, which outlives the file
 * @directory: debugfs directory of the device
 */
void cxib_health_debugfs(struct cxib_health *health, struct dentry *directory)
{
	debugfs_create_file("health", 0400, directory, health, &health_fops);
}
