// SPDX-License-Identifier: GPL-2.0-only
/* Watches the firmware; latches that the device is broken. */
#include <kunit/visibility.h>
#include <linux/debugfs.h>
#include <linux/device.h>
#include <linux/seq_file.h>
#include <linux/string_choices.h>

#include "hw/bus.h"
#include "hw/command_interface.h"
#include "hw/command_queue.h"
#include "hw/health.h"
#include "hw/names.h"

/* Words of the init segment. */
#define INTERFACE_WORD		0x14
#define HEALTH_BUFFER		0x200
#define SEVERITY_WORD		0x238
#define SYNDROME_WORD		0x23c
#define COUNTER_WORD		0x1010
#define HEALTH_WORDS		(sizeof(struct hw_health_buffer) / sizeof(u32))

#define INTERFACE_SHIFT		8
#define INTERFACE_MASK		7
#define COUNTER_MASK		0xffffffU
#define DETECTED_SHIFT		24
#define RESET_BIT		BIT(31) /* rfr */
#define SYNDROME_SHIFT		16
#define SYNDROME_MASK		0xff

/**
 * cxib_health_read() - reads what the device says of itself
 * @health: health of the device
 * @buffer: filled; ones when it does not answer
 */
void cxib_health_read(struct cxib_health *health, struct hw_health_buffer *buffer)
{
	unsigned int i;

	for (i = 0; i < HEALTH_WORDS; i++)
		buffer->dw[i] = cpu_to_be32(cxib_bus_read(health->bus,
							  HEALTH_BUFFER + i * sizeof(u32)));
}

static void say_what_is_wrong(struct cxib_health *health, const struct hw_health_buffer *buffer)
{
	u32 syndrome = hw_health_buffer_get_synd(buffer);
	const char *severity = "not given";

	if (hw_health_buffer_get_valid(buffer))
		severity = hw_health_severity_name(hw_health_buffer_get_severity(buffer));
	dev_err(health->bus->dev,
		"the device reports %s (syndrome 0x%x, extended 0x%x), severity %s, processor %u, firmware 0x%08x, assert at 0x%08x called from 0x%08x%s\n",
		hw_health_syndrome_name(syndrome), syndrome,
		hw_health_buffer_get_ext_synd(buffer), severity,
		hw_health_buffer_get_irisc_index(buffer), hw_health_buffer_get_fw_version(buffer),
		hw_health_buffer_get_assert_existptr(buffer),
		hw_health_buffer_get_assert_callra(buffer),
		hw_health_buffer_get_rfr(buffer) ? "; it has to be reset" : "");
}

static void let_go(struct cxib_health *health)
{
	cxib_command_queue_set_fatal(health->commands);
	if (health->handlers->fatal)
		health->handlers->fatal(health);
}

/**
 * cxib_health_set_fatal() - the device is beyond hope
 * @health: health of the device
 * @reason: why, for the kernel log
 *
 * Commands under way end with an error, and there are no others. Only the
 * first call has an effect.
 *
 * Context: any that may wake somebody.
 */
void cxib_health_set_fatal(struct cxib_health *health, const char *reason)
{
	if (atomic_xchg(&health->fatal, 1))
		return;
	dev_err(health->bus->dev, "device is given up: %s\n", reason);
	let_go(health);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_set_fatal);

/**
 * cxib_health_shut_down() - as cxib_health_set_fatal(), of a device without fault
 * @health: health of the device
 *
 * Context: any that may wake somebody.
 */
void cxib_health_shut_down(struct cxib_health *health)
{
	if (!atomic_xchg(&health->fatal, 1))
		let_go(health);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_shut_down);

/**
 * cxib_health_is_fatal() - whether the device is beyond hope
 * @health: health of the device
 *
 * Return: true from the first cxib_health_set_fatal() on.
 */
bool cxib_health_is_fatal(const struct cxib_health *health)
{
	return atomic_read(&health->fatal);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_is_fatal);

static void check_interface(struct cxib_health *health)
{
	u32 mode = cxib_bus_read(health->bus, INTERFACE_WORD) >> INTERFACE_SHIFT & INTERFACE_MASK;

	if (mode == HW_NIC_INTERFACE_DISABLED)
		cxib_health_set_fatal(health, "its interface was disabled from elsewhere");
	else if (mode == HW_NIC_INTERFACE_REQUEST_SW_RESET)
		cxib_health_set_fatal(health, "somebody has asked for its reset");
}

/*
 * The firmware may ask for its reset (rfr) some time after it has told the
 * syndrome, while its counter still moves. So rfr counts at every look, not
 * only when the syndrome is new, and it is read after the syndrome.
 */
static void check_buffer(struct cxib_health *health)
{
	u32 syndrome = cxib_bus_read(health->bus, SYNDROME_WORD) >> SYNDROME_SHIFT & SYNDROME_MASK;
	bool is_fatal = cxib_bus_read(health->bus, SEVERITY_WORD) & RESET_BIT;
	struct hw_health_buffer buffer;

	if (syndrome && syndrome != health->syndrome) {
		cxib_health_read(health, &buffer);
		say_what_is_wrong(health, &buffer);
	}
	if (syndrome && is_fatal)
		cxib_health_set_fatal(health, "it reports a fatal fault");
	health->reported &= syndrome == health->syndrome;
	health->syndrome = syndrome;
}

static void check_commands(struct cxib_health *health)
{
	unsigned int timed_out;

	if (cxib_command_queue_is_fatal(health->commands))
		cxib_health_set_fatal(health, "it does not answer commands");
	cxib_command_queue_reap_late(health->commands);
	timed_out = cxib_command_queue_timed_out(health->commands);
	health->reported &= timed_out == health->timed_out;
	health->timed_out = timed_out;
}

static void check_counter(struct cxib_health *health, u32 word)
{
	u32 counter = word & COUNTER_MASK;
	u8 detected = word >> DETECTED_SHIFT;

	if (detected && detected != health->health_syndrome)
		dev_warn(health->bus->dev, "the device has detected %s (syndrome 0x%x)\n",
			 hw_health_syndrome_name(detected), detected);
	health->health_syndrome = detected;

	health->stalls = counter == health->counter ? health->stalls + 1 : 0;
	health->counter = counter;
	if (health->stalls == CXIB_HEALTH_STALL_WARN)
		dev_warn(health->bus->dev,
			 "the firmware makes no progress: its health counter is 0x%06x for %u ms\n",
			 counter, health->stalls * CXIB_HEALTH_PERIOD_MS);
	if (health->stalls == CXIB_HEALTH_STALL_MAX)
		cxib_health_set_fatal(health, "its firmware has stopped, its counter stands still");
}

/**
 * cxib_health_check() - looks at the device
 * @health: health of the device
 *
 * Context: process context.
 */
void cxib_health_check(struct cxib_health *health)
{
	u32 word = cxib_bus_read(health->bus, COUNTER_WORD);

	if (word == CXIB_ALL_ONES) {
		cxib_health_set_fatal(health,
				      "it does not answer, all its registers read as ones; it was removed, has no power or its PCIe link is down");
		return;
	}
	check_interface(health);
	check_buffer(health);
	check_counter(health, word);
	check_commands(health);
	if (!health->reported && !cxib_health_is_fatal(health) && health->handlers->changed)
		health->handlers->changed(health);
	health->reported = true;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_check);

static void check_regularly(struct work_struct *work)
{
	struct cxib_health *health = container_of(to_delayed_work(work), struct cxib_health, work);

	cxib_health_check(health);
	if (!cxib_health_is_fatal(health))
		queue_delayed_work(system_freezable_wq, &health->work,
				   msecs_to_jiffies(CXIB_HEALTH_PERIOD_MS));
}

/**
 * cxib_health_start() - begins to watch a device
 * @health: filled
 * @bus: the way to the device
 * @commands: its command queue, which was handed over to it
 * @handlers: who is told
 */
void cxib_health_start(struct cxib_health *health, struct cxib_bus *bus,
		       struct cxib_command_queue *commands,
		       const struct cxib_health_handlers *handlers)
{
	*health = (struct cxib_health){
		.bus = bus,
		.commands = commands,
		.handlers = handlers,
		/* A value that the counter never has: the first look only takes it. */
		.counter = CXIB_ALL_ONES,
	};
	INIT_DELAYED_WORK(&health->work, check_regularly);
	queue_delayed_work(system_freezable_wq, &health->work,
			   msecs_to_jiffies(CXIB_HEALTH_PERIOD_MS));
}
EXPORT_SYMBOL_IF_KUNIT(cxib_health_start);

/**
 * cxib_health_stop() - ends watching
 * @health: health of the device; it stays broken if it is
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
		   "broken: %s\ncounter: 0x%06x\ncounter stood still: %u times\nsyndrome: 0x%x "
		   "%s\ndetected: 0x%x %s\n",
		   str_yes_no(cxib_health_is_fatal(health)), health->counter & COUNTER_MASK,
		   health->stalls, health->syndrome,
		   health->syndrome ? hw_health_syndrome_name(health->syndrome) : "none",
		   health->health_syndrome,
		   health->health_syndrome ? hw_health_syndrome_name(health->health_syndrome)
					   : "none");
	return 0;
}
DEFINE_SHOW_ATTRIBUTE(health);

/**
 * cxib_health_debugfs() - makes the file "health"
 * @health: health of a device; outlives the file
 * @directory: where to make it
 */
void cxib_health_debugfs(struct cxib_health *health, struct dentry *directory)
{
	debugfs_create_file("health", 0400, directory, health, &health_fops);
}
