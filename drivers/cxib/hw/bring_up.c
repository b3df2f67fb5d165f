// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up and tear-down of a device: an ordered list of steps.
 *
 * Memory that the device may access is acquired before the step that lets it
 * access memory, or kept in books that are made before it. So whatever goes
 * wrong, memory is freed only after the device has lost access to it.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>

#include "hw/bus.h"
#include "hw/dbr.h"
#include "hw/hw.h"
#include "hw/steps.h"

/* How often a slow firmware start is mentioned in the log. */
#define PROGRESS_MS	20000

/* The interface step that this driver speaks. */
#define ISSI_WANTED	1

struct bus_reader {
	struct cxib_init_segment_reader reader;
	struct cxib_bus *bus;
};

static void read_words(struct cxib_init_segment_reader *reader, struct hw_initial_seg *copy,
		       unsigned int first, unsigned int count)
{
	struct cxib_bus *bus = container_of(reader, struct bus_reader, reader)->bus;
	unsigned int i;

	for (i = first; i < first + count; i++)
		copy->dw[i] = cpu_to_be32(cxib_bus_read(bus, i * sizeof(u32)));
}

static void wait_for_firmware(struct cxib_init_segment_reader *reader,
			      unsigned int milliseconds, unsigned int waited)
{
	struct cxib_bus *bus = container_of(reader, struct bus_reader, reader)->bus;

	if (waited && waited % PROGRESS_MS == 0)
		dev_info(bus->dev, "firmware is initializing, waited %u s of at most %u s\n",
			 waited / 1000, CXIB_FIRMWARE_READY_LIMIT_MS / 1000);
	msleep(milliseconds);
}

static int await_firmware(struct cxib_hw *hw)
{
	struct bus_reader reader = {
		.reader = { .read = read_words, .wait = wait_for_firmware },
		.bus = hw->bus,
	};
	struct cxib_explanation explanation;
	int err;

	err = cxib_init_segment_await(&reader.reader, &hw->firmware, &explanation);
	if (err)
		dev_err(hw->bus->dev, "%s\n", explanation.text);
	return err;
}

/**
 * cxib_hw_set_fatal() - something could not be undone
 * @hw: device
 *
 * What would come next depends on it: a parent cannot be destroyed before its
 * child. So the device gets no command any more, and is reset at the end.
 */
void cxib_hw_set_fatal(struct cxib_hw *hw)
{
	cxib_command_queue_set_fatal(&hw->commands);
}

/**
 * cxib_hw_dma_off() - takes a device's access to memory away
 * @hw: device that was given up
 *
 * When it returns, memory that the device knows can be freed.
 *
 * Context: process context, may sleep.
 */
void cxib_hw_dma_off(struct cxib_hw *hw)
{
	mutex_lock(&hw->dma_lock);
	if (!hw->state)
		hw->bus->ops->set_dma(hw->bus, false);
	/* Pairs with cxib_hw_is_dma_off(). */
	smp_store_release(&hw->state, true);
	mutex_unlock(&hw->dma_lock);
}

static int make_workqueue(struct cxib_hw *hw)
{
	INIT_WORK(&hw->fatal_work, cxib_hw_fatal_work_fn);
	hw->workqueue = alloc_ordered_workqueue("cxib-%s", 0, dev_name(hw->bus->dev));
	return hw->workqueue ? 0 : -ENOMEM;
}

static void drop_workqueue(struct cxib_hw *hw)
{
	destroy_workqueue(hw->workqueue);
}

static int create_command_queue(struct cxib_hw *hw)
{
	int err = cxib_command_queue_create(&hw->commands, hw->bus);

	if (!err && hw->command_timeout_ms)
		hw->commands.timeout_ms = hw->command_timeout_ms;
	return err;
}

static void destroy_command_queue(struct cxib_hw *hw)
{
	cxib_command_queue_destroy(&hw->commands);
}

static int init_page_accounting(struct cxib_hw *hw)
{
	mutex_init(&hw->dma_lock);
	cxib_pages_init(&hw->pages, &hw->commands);
	return 0;
}

static void free_page_accounting(struct cxib_hw *hw)
{
	unsigned int rings = cxib_hw_free_eq_memory(hw);
	u32 pages = cxib_pages_free(&hw->pages);

	if (pages || rings)
		dev_warn(hw->bus->dev,
			 "freed %u firmware pages and %u event queues that the device had not given back\n",
			 pages, rings);
}

static int make_debugfs(struct cxib_hw *hw)
{
	hw->debugfs = debugfs_create_dir(dev_name(hw->bus->dev), hw->debugfs_root);
	cxib_command_queue_debugfs(&hw->commands, hw->debugfs);
	cxib_pages_debugfs(&hw->pages, hw->debugfs);
	cxib_device_caps_debugfs(&hw->caps, hw->debugfs);
	cxib_health_debugfs(&hw->health, hw->debugfs);
	return 0;
}

static void remove_debugfs(struct cxib_hw *hw)
{
	debugfs_remove_recursive(hw->debugfs);
}

static int reset_device(struct cxib_hw *hw)
{
	int err = hw->bus->ops->reset(hw->bus);

	hw->is_unclean = !!err;
	if (err)
		dev_err(hw->bus->dev, "cannot reset the device: error %d\n", err);
	return err;
}

/* Whoever has bus mastering can use every address that it was ever given. */
static int set_bus_master(struct cxib_hw *hw)
{
	int err;

	if (hw->is_unclean) {
		dev_warn(hw->bus->dev, "device was left running, resetting it\n");
		err = reset_device(hw);
		if (err)
			return err;
	}
	hw->state = false;
	hw->bus->ops->set_dma(hw->bus, true);
	return 0;
}

/* A device that may still know addresses must not find its way back to them later. */
static void clear_bus_master(struct cxib_hw *hw)
{
	cxib_hw_dma_off(hw);
	if (!cxib_command_queue_is_busy(&hw->commands))
		return;
	dev_warn(hw->bus->dev, "device was not left in order, resetting it\n");
	reset_device(hw);
}

static int start_command_queue(struct cxib_hw *hw)
{
	int err = cxib_command_queue_start(&hw->commands);

	/* The device may go back to initializing when it gets the queue. */
	return err ?: await_firmware(hw);
}

static void announce_given_up(struct cxib_health *health)
{
	struct cxib_hw *hw = container_of(health, struct cxib_hw, health);

	queue_work(hw->workqueue, &hw->fatal_work);
}

static void pass_on_change(struct cxib_health *health)
{
	struct cxib_hw *hw = container_of(health, struct cxib_hw, health);

	if (hw->health_changed)
		hw->health_changed(hw);
}

static const struct cxib_health_handlers health_handlers = {
	.fatal = announce_given_up,
	.changed = pass_on_change,
};

static int start_health(struct cxib_hw *hw)
{
	cxib_health_start(&hw->health, hw->bus, &hw->commands, &health_handlers);
	return 0;
}

static void stop_health(struct cxib_hw *hw)
{
	cxib_health_stop(&hw->health);
	cxib_command_queue_stop_settling(&hw->commands);
}

static int enable_function(struct cxib_hw *hw)
{
	return cxib_cmd_enable_hca(&hw->commands);
}

static void disable_function(struct cxib_hw *hw)
{
	if (cxib_cmd_disable_hca(&hw->commands))
		cxib_hw_set_fatal(hw);
}

static int choose_issi(struct cxib_hw *hw)
{
	u32 supported;
	int err;

	err = cxib_cmd_query_issi(&hw->commands, &supported);
	if (err)
		return err;
	if (supported & BIT(ISSI_WANTED))
		return cxib_cmd_set_issi(&hw->commands, ISSI_WANTED);
	dev_err(hw->bus->dev,
		"the firmware supports the interface steps 0x%x, this driver needs step %u; update the firmware\n",
		supported, ISSI_WANTED);
	return -EOPNOTSUPP;
}

/* A device that was given up is not asked. */
static void reclaim_pages(struct cxib_hw *hw)
{
	if (cxib_command_queue_is_fatal(&hw->commands))
		return;
	if (cxib_pages_reclaim(&hw->pages))
		cxib_hw_set_fatal(hw);
}

static int supply_boot_pages(struct cxib_hw *hw)
{
	int err = cxib_pages_supply(&hw->pages, CXIB_PAGES_BOOT);

	if (err)
		reclaim_pages(hw);
	return err;
}

/* What is given here too is taken back with the boot pages. */
static int supply_init_pages(struct cxib_hw *hw)
{
	return cxib_pages_supply(&hw->pages, CXIB_PAGES_INIT);
}

/* Firmware that does not take it has another way to know, or no use for it. */
static int set_host_endianness(struct cxib_hw *hw)
{
	if (hw->bus->is_virtual)
		return 0;
	return cxib_command_optional(cxib_cmd_set_host_endianness(&hw->commands));
}

static int configure(struct cxib_hw *hw)
{
	return cxib_device_caps_configure(&hw->commands, &hw->caps);
}

static int start_operation(struct cxib_hw *hw)
{
	return cxib_cmd_init_hca(&hw->commands);
}

static void end_operation(struct cxib_hw *hw)
{
	if (cxib_cmd_teardown_hca(&hw->commands))
		cxib_hw_set_fatal(hw);
}

static int set_driver_version(struct cxib_hw *hw)
{
	char version[64];

	if (!hw->caps.driver_version)
		return 0;
	snprintf(version, sizeof(version), "Linux,cxib,%s", utsname()->release);
	return cxib_command_optional(cxib_cmd_set_driver_version(&hw->commands, version));
}

static int query_adapter(struct cxib_hw *hw)
{
	int err = cxib_cmd_query_adapter(&hw->commands, &hw->adapter);

	if (cxib_command_is_refusal(err))
		strscpy(hw->adapter.board_id, "unknown", sizeof(hw->adapter.board_id));
	return cxib_command_optional(err);
}

static void dealloc_uar(struct cxib_hw *hw)
{
	if (cxib_cmd_dealloc_uar(&hw->commands, 0, hw->uar_index))
		cxib_hw_set_fatal(hw);
}

static int allocate_uar(struct cxib_hw *hw)
{
	int err = cxib_cmd_alloc_uar(&hw->commands, 0, &hw->uar_index);

	if (err || !hw->bus->bar)
		return err;
	hw->uar = ioremap(cxib_uar_address(hw->bus, hw->uar_index), CXIB_UAR_SIZE);
	if (!hw->uar) {
		dealloc_uar(hw);
		return -ENOMEM;
	}
	hw->bus->uar = hw->uar;
	hw->bus->uar_offset = hw->uar_index << CXIB_LOG_UAR_SIZE;
	return 0;
}

static void free_uar(struct cxib_hw *hw)
{
	if (hw->bus->uar)
		iounmap(hw->bus->uar);
	hw->bus->uar = NULL;
	hw->uar = NULL;
	dealloc_uar(hw);
}

static const struct cxib_step steps[] = {
	{ "a workqueue for events", make_workqueue, drop_workqueue },
	{ "memory for the command queue", create_command_queue, destroy_command_queue },
	{ "books of memory", init_page_accounting, free_page_accounting },
	{ "doorbell records", cxib_hw_create_dbr_pool, cxib_hw_destroy_dbr_pool },
	{ "debugfs", make_debugfs, remove_debugfs },
	{ "access to memory", set_bus_master, clear_bus_master },
	{ "waiting for the firmware", await_firmware, NULL },
	{ "handing over the command queue", start_command_queue, NULL },
	{ "watching the device's health", start_health, stop_health },
	{ "enabling the function", enable_function, disable_function },
	{ "choosing the interface step", choose_issi, NULL },
	{ "pages for the firmware's start", supply_boot_pages, reclaim_pages },
	{ "telling the byte order", set_host_endianness, NULL },
	{ "capabilities", configure, NULL },
	{ "pages for the firmware's operation", supply_init_pages, NULL },
	{ "starting operation", start_operation, end_operation },
	{ "telling the driver's version", set_driver_version, NULL },
	{ "identity of the adapter", query_adapter, NULL },
	{ "a page of doorbells", allocate_uar, free_uar },
	{ "interrupt vectors", cxib_hw_allocate_vectors, cxib_hw_free_vectors },
	{ "the command event queue", cxib_hw_create_cmd_eq, cxib_hw_destroy_cmd_eq },
	{ "the asynchronous event queue", cxib_hw_create_async_eq, cxib_hw_destroy_async_eq },
	{ "completion event queues", cxib_hw_create_comp_eqs,
	  cxib_hw_destroy_comp_eqs },
};

static const struct cxib_step_list bring_up = { steps, ARRAY_SIZE(steps) };

static void say_what_is_there(struct cxib_hw *hw, s64 milliseconds)
{
	dev_info(hw->bus->dev,
		 "firmware %u.%u.%u, command interface revision %u, board %s, %u completion vectors; up after %llu commands and %lld ms, the firmware has %u pages\n",
		 hw->firmware.firmware_major, hw->firmware.firmware_minor,
		 hw->firmware.firmware_subminor, hw->firmware.command_revision,
		 hw->adapter.board_id, hw->completion_eq_count, hw->commands.issued, milliseconds,
		 hw->pages.count);
}

/**
 * cxib_hw_bring_up() - makes a device ready for use
 * @hw: all zeros except for @hw->bus, @hw->debugfs_root, @hw->command_timeout_ms,
 *	@hw->given_up, @hw->health_changed, @hw->is_unclean
 *
 * Context: process context, may sleep, also for minutes while the firmware
 * starts.
 * Return: 0, or an error: then everything is undone, and the kernel log says
 * what failed. @hw->is_unclean says whether the next start has to begin with a
 * reset.
 */
int cxib_hw_bring_up(struct cxib_hw *hw)
{
	ktime_t begin = ktime_get();
	unsigned int taken;
	int err;

	err = cxib_steps_take(&bring_up, hw, &taken);
	if (err)
		dev_err(hw->bus->dev, "bring-up failed at step %u of %u, %s: error %d\n",
			taken + 1, bring_up.count, steps[taken].name, err);
	else
		say_what_is_there(hw, ktime_ms_delta(ktime_get(), begin));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_bring_up);

/**
 * cxib_hw_tear_down() - the reverse of cxib_hw_bring_up()
 * @hw: device that nobody uses any more
 *
 * A device that does not answer any more is reset; @hw->is_unclean says whether
 * that has failed.
 *
 * Context: process context, may sleep.
 */
void cxib_hw_tear_down(struct cxib_hw *hw)
{
	cxib_steps_undo(&bring_up, hw, bring_up.count);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_tear_down);

/**
 * cxib_hw_shut_down() - leaves a device behind that does nothing
 * @hw: device that is up; its users need not have let go of it
 *
 * The kernel ends, and nothing is freed: requests of users end with errors, and
 * the device, which is reset, writes to no memory that the next kernel has.
 *
 * Context: process context, may sleep.
 */
void cxib_hw_shut_down(struct cxib_hw *hw)
{
	int err;

	cxib_health_stop(&hw->health);
	cxib_health_shut_down(&hw->health);
	cxib_hw_dma_off(hw);
	err = hw->bus->ops->reset(hw->bus);
	if (err)
		dev_warn(hw->bus->dev,
			 "cannot reset the device: error %d; boot the next kernel through the firmware, not by kexec\n",
			 err);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_shut_down);
