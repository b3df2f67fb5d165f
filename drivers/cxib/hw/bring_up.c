// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bring-up and tear-down of a device: an ordered list of steps.
 *
 * Memory that the device may access is allocated before the step that sets bus mastering, or is
 * tracked by accounting initialized before it. Steps are undone in reverse order, so memory is
 * freed only after bus mastering is cleared, even if a step fails.
 */
#include <kunit/visibility.h>
#include <linux/array_size.h>
#include <linux/bitfield.h>
#include <linux/debugfs.h>
#include <linux/delay.h>
#include <linux/device.h>
#include <linux/io.h>
#include <linux/utsname.h>
#include <linux/workqueue.h>

#include "hw/bus.h"
#include "hw/dbr.h"
#include "hw/hw.h"
#include "hw/reclaim.h"
#include "hw/state.h"
#include "hw/steps.h"

/* Period of log messages while firmware initializes: a few during a slow boot. */
#define PROGRESS_MS	20000

/* The ISSI that this driver implements. */
#define ISSI_WANTED	1

struct bring_up_bus_reader {
	struct cxib_init_segment_reader reader;
	struct cxib_bus *bus;
};

static void bring_up_read_words(struct cxib_init_segment_reader *reader,
				struct hw_initial_seg *copy, unsigned int first, unsigned int count)
{
	struct cxib_bus *bus = container_of(reader, struct bring_up_bus_reader, reader)->bus;
	unsigned int i;

	for (i = first; i < first + count; i++)
		copy->dw[i] = cpu_to_be32(cxib_bus_read(bus, i * sizeof(u32)));
}

static void bring_up_wait_for_firmware(struct cxib_init_segment_reader *reader,
				       unsigned int milliseconds, unsigned int waited)
{
	struct cxib_bus *bus = container_of(reader, struct bring_up_bus_reader, reader)->bus;

	if (waited && waited % PROGRESS_MS == 0)
		dev_info(bus->dev, "firmware initializing: waited %u s (limit %u s)\n",
			 waited / 1000, CXIB_FIRMWARE_READY_LIMIT_MS / 1000);
	msleep(milliseconds);
}

static int bring_up_await_firmware(struct cxib_hw *hw)
{
	struct bring_up_bus_reader reader = {
		.reader = { .read = bring_up_read_words, .wait = bring_up_wait_for_firmware },
		.bus = hw->bus,
	};
	struct cxib_explanation explanation;
	int err;

	err = cxib_init_segment_await(&reader.reader, &hw->firmware, &explanation);
	if (err)
		dev_err(hw->bus->dev, "%s\n", explanation.text);
	return err;
}

static int bring_up_create_event_workqueue(struct cxib_hw *hw)
{
	INIT_WORK(&hw->fatal_work, cxib_hw_fatal_work_fn);
	hw->workqueue = alloc_ordered_workqueue("cxib-%s", 0, dev_name(hw->bus->dev));
	return hw->workqueue ? 0 : -ENOMEM;
}

static void bring_up_destroy_event_workqueue(struct cxib_hw *hw)
{
	destroy_workqueue(hw->workqueue);
}

static int bring_up_create_command_queue(struct cxib_hw *hw)
{
	int err;

	WRITE_ONCE(hw->bus->state, CXIB_HW_UP);
	err = cxib_command_queue_create(&hw->commands, hw->bus);

	if (!err && hw->command_timeout_ms)
		hw->commands.timeout_ms = hw->command_timeout_ms;
	return err;
}

static void bring_up_destroy_command_queue(struct cxib_hw *hw)
{
	cxib_command_queue_destroy(&hw->commands);
}

static int bring_up_init_page_accounting(struct cxib_hw *hw)
{
	mutex_init(&hw->dma_lock);
	cxib_lockdep_reclaim(&hw->dma_lock);
	cxib_pages_init(&hw->pages, &hw->commands);
	return 0;
}

static void bring_up_free_page_accounting(struct cxib_hw *hw)
{
	unsigned int rings = cxib_hw_free_eq_memory(hw);
	u32 pages = cxib_pages_free(&hw->pages);

	if (pages || rings)
		dev_warn(hw->bus->dev,
			 "freed %u firmware pages and %u EQs not returned by firmware\n",
			 pages, rings);
}

static int bring_up_create_debugfs(struct cxib_hw *hw)
{
	hw->debugfs = debugfs_create_dir(dev_name(hw->bus->dev), hw->debugfs_root);
	cxib_command_queue_debugfs(&hw->commands, hw->debugfs);
	cxib_pages_debugfs(&hw->pages, hw->debugfs);
	cxib_device_caps_debugfs(&hw->caps, hw->debugfs);
	cxib_health_debugfs(&hw->health, hw->debugfs);
	return 0;
}

static void bring_up_remove_debugfs(struct cxib_hw *hw)
{
	debugfs_remove_recursive(hw->debugfs);
}

/*
 * Disables the interface of a function that could not be reset. Firmware then stops its DMA and
 * keeps the word until a reset, so another instance of this module or the next kernel can detect
 * the unclean function. mlx5_core leaves the same word after a fast teardown. The address in the
 * word does not change.
 */
static void bring_up_disable_interface(struct cxib_hw *hw)
{
	u32 word = cxib_bus_read(hw->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12);

	if (word == CXIB_ALL_ONES)
		return;
	word &= HW_INITIAL_SEG_MASK_CMDQ_PHY_ADDR_31_12;
	word |= FIELD_PREP(CXIB_NIC_INTERFACE_MASK, HW_NIC_INTERFACE_REQUEST_DISABLED);
	cxib_bus_write(hw->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12, word);
}

/* A reset also disables the interface, but it clears the address of the command queue. */
static bool bring_up_is_disabled_without_reset(struct cxib_hw *hw)
{
	u32 high = cxib_bus_read(hw->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_63_32);
	u32 word = cxib_bus_read(hw->bus, HW_INITIAL_SEG_OFFSET_CMDQ_PHY_ADDR_31_12);
	u32 mode = FIELD_GET(CXIB_NIC_INTERFACE_MASK, word);

	if (word == CXIB_ALL_ONES || mode != HW_NIC_INTERFACE_DISABLED)
		return false;
	return high || word & HW_INITIAL_SEG_MASK_CMDQ_PHY_ADDR_31_12;
}

static int bring_up_reset_device(struct cxib_hw *hw)
{
	int err = hw->bus->ops->reset(hw->bus);

	hw->is_unclean = !!err;
	if (!err)
		return 0;
	dev_err(hw->bus->dev, "cannot reset the device: error %d\n", err);
	bring_up_disable_interface(hw);
	return err;
}

/* With bus mastering set, an unclean function could DMA to any address that it ever received. */
static int bring_up_set_bus_master(struct cxib_hw *hw)
{
	int err;

	if (hw->is_unclean || bring_up_is_disabled_without_reset(hw)) {
		dev_warn(hw->bus->dev, "device was left running, resetting it\n");
		err = bring_up_reset_device(hw);
		if (err)
			return err;
	}
	hw->bus->ops->set_dma(hw->bus, true);
	return 0;
}

/* A busy device may know DMA addresses: only a reset makes it safe to set bus mastering again. */
static void bring_up_clear_bus_master(struct cxib_hw *hw)
{
	const bool is_busy = cxib_command_queue_is_busy(&hw->commands);

	cxib_hw_dma_off(hw);
	if (!is_busy)
		return;
	dev_warn(hw->bus->dev, "teardown incomplete, resetting device\n");
	bring_up_reset_device(hw);
}

static int bring_up_start_command_queue(struct cxib_hw *hw)
{
	int err = cxib_command_queue_start(&hw->commands);

	/* Firmware may set "initializing" again when it gets the queue address. */
	return err ?: bring_up_await_firmware(hw);
}

static void bring_up_queue_fatal_work(struct cxib_health *health)
{
	struct cxib_hw *hw = container_of(health, struct cxib_hw, health);

	queue_work(hw->workqueue, &hw->fatal_work);
}

static void bring_up_report_health_change(struct cxib_health *health)
{
	struct cxib_hw *hw = container_of(health, struct cxib_hw, health);

	if (hw->health_changed)
		hw->health_changed(hw);
}

static const struct cxib_health_handlers health_handlers = {
	.fatal = bring_up_queue_fatal_work,
	.changed = bring_up_report_health_change,
};

static int bring_up_start_health(struct cxib_hw *hw)
{
	cxib_health_start(&hw->health, hw->bus, &hw->commands, &health_handlers);
	return 0;
}

static void bring_up_stop_health(struct cxib_hw *hw)
{
	cxib_health_stop(&hw->health);
	cxib_command_queue_stop_late_work(&hw->commands);
}

static int bring_up_enable_hca(struct cxib_hw *hw)
{
	return cxib_cmd_enable_hca(&hw->commands);
}

static void bring_up_disable_hca(struct cxib_hw *hw)
{
	if (cxib_cmd_disable_hca(&hw->commands))
		cxib_hw_set_fatal(hw);
}

static int bring_up_set_issi(struct cxib_hw *hw)
{
	u32 supported;
	int err;

	err = cxib_cmd_query_issi(&hw->commands, &supported);
	if (err)
		return err;
	if (supported & BIT(ISSI_WANTED))
		return cxib_cmd_set_issi(&hw->commands, ISSI_WANTED);
	dev_err(hw->bus->dev, "supported ISSI mask 0x%x lacks ISSI %u\n", supported, ISSI_WANTED);
	return -EOPNOTSUPP;
}

/* After a fatal error no command is issued; the pages are freed once bus mastering is cleared. */
static void bring_up_reclaim_pages(struct cxib_hw *hw)
{
	if (cxib_command_queue_is_fatal(&hw->commands))
		return;
	if (cxib_pages_reclaim(&hw->pages))
		cxib_hw_set_fatal(hw);
}

static int bring_up_supply_boot_pages(struct cxib_hw *hw)
{
	int err = cxib_pages_supply(&hw->pages, CXIB_PAGES_BOOT);

	if (err)
		bring_up_reclaim_pages(hw);
	return err;
}

/* No undo: init pages are reclaimed together with the boot pages. */
static int bring_up_supply_init_pages(struct cxib_hw *hw)
{
	return cxib_pages_supply(&hw->pages, CXIB_PAGES_INIT);
}

/* Optional: firmware that refuses the command detects the endianness itself or does not need it. */
static int bring_up_set_host_endianness(struct cxib_hw *hw)
{
	if (hw->bus->is_virtual)
		return 0;
	return cxib_command_optional(cxib_cmd_set_host_endianness(&hw->commands));
}

static int bring_up_configure_caps(struct cxib_hw *hw)
{
	return cxib_device_caps_configure(&hw->commands, &hw->caps);
}

static int bring_up_init_hca(struct cxib_hw *hw)
{
	return cxib_cmd_init_hca(&hw->commands);
}

static void bring_up_teardown_hca(struct cxib_hw *hw)
{
	if (cxib_cmd_teardown_hca(&hw->commands))
		cxib_hw_set_fatal(hw);
}

static int bring_up_read_back_caps(struct cxib_hw *hw)
{
	return cxib_device_caps_read_back(&hw->commands, &hw->caps);
}

static int bring_up_query_memic(struct cxib_hw *hw)
{
	return cxib_command_optional(cxib_device_caps_query_memic(&hw->commands, &hw->caps));
}

static int bring_up_set_driver_version(struct cxib_hw *hw)
{
	char version[64];

	if (!hw->caps.driver_version)
		return 0;
	snprintf(version, sizeof(version), "Linux,cxib,%s", utsname()->release);
	return cxib_command_optional(cxib_cmd_set_driver_version(&hw->commands, version));
}

static int bring_up_query_adapter(struct cxib_hw *hw)
{
	int err = cxib_cmd_query_adapter(&hw->commands, &hw->adapter);

	if (cxib_command_is_refusal(err))
		strscpy(hw->adapter.board_id, "unknown", sizeof(hw->adapter.board_id));
	return cxib_command_optional(err);
}

static void bring_up_dealloc_uar(struct cxib_hw *hw)
{
	if (cxib_cmd_dealloc_uar(&hw->commands, 0, hw->uar_index))
		cxib_hw_set_fatal(hw);
}

static int bring_up_alloc_uar(struct cxib_hw *hw)
{
	int err = cxib_cmd_alloc_uar(&hw->commands, 0, &hw->uar_index);

	if (err || !hw->bus->bar)
		return err;
	hw->uar = ioremap(cxib_uar_address(hw->bus, hw->uar_index), CXIB_UAR_SIZE);
	if (!hw->uar) {
		bring_up_dealloc_uar(hw);
		return -ENOMEM;
	}
	hw->bus->uar = hw->uar;
	hw->bus->uar_offset = cxib_uar_offset(hw->bus, hw->uar_index);
	return 0;
}

static void bring_up_free_uar(struct cxib_hw *hw)
{
	if (hw->bus->uar)
		iounmap(hw->bus->uar);
	hw->bus->uar = NULL;
	hw->uar = NULL;
	bring_up_dealloc_uar(hw);
}

static const struct cxib_step steps[] = {
	{ "event workqueue", bring_up_create_event_workqueue, bring_up_destroy_event_workqueue },
	{ "command queue memory", bring_up_create_command_queue, bring_up_destroy_command_queue },
	{ "page accounting", bring_up_init_page_accounting, bring_up_free_page_accounting },
	{ "DBR pool", cxib_hw_create_dbr_pool, cxib_hw_destroy_dbr_pool },
	{ "debugfs", bring_up_create_debugfs, bring_up_remove_debugfs },
	{ "bus mastering", bring_up_set_bus_master, bring_up_clear_bus_master },
	{ "firmware initialization", bring_up_await_firmware, NULL },
	{ "command queue", bring_up_start_command_queue, NULL },
	{ "health poll", bring_up_start_health, bring_up_stop_health },
	{ "ENABLE_HCA", bring_up_enable_hca, bring_up_disable_hca },
	{ "ISSI", bring_up_set_issi, NULL },
	{ "boot pages", bring_up_supply_boot_pages, bring_up_reclaim_pages },
	{ "HOST_ENDIANNESS", bring_up_set_host_endianness, NULL },
	{ "HCA capabilities", bring_up_configure_caps, NULL },
	{ "init pages", bring_up_supply_init_pages, NULL },
	{ "INIT_HCA", bring_up_init_hca, bring_up_teardown_hca },
	{ "HCA capabilities after INIT_HCA", bring_up_read_back_caps, NULL },
	{ "SET_DRIVER_VERSION", bring_up_set_driver_version, NULL },
	{ "MEMIC", bring_up_query_memic, NULL },
	{ "QUERY_ADAPTER", bring_up_query_adapter, NULL },
	{ "UAR", bring_up_alloc_uar, bring_up_free_uar },
	{ "MSI-X vectors", cxib_hw_allocate_vectors, cxib_hw_free_vectors },
	{ "command EQ", cxib_hw_create_cmd_eq, cxib_hw_destroy_cmd_eq },
	{ "async EQ", cxib_hw_create_async_eq, cxib_hw_destroy_async_eq },
	{ "completion EQs", cxib_hw_create_comp_eqs, cxib_hw_destroy_comp_eqs },
};

static const struct cxib_step_list bring_up = { steps, ARRAY_SIZE(steps) };

static void bring_up_log_device(struct cxib_hw *hw, s64 milliseconds)
{
	dev_info(hw->bus->dev,
		 "firmware %u.%u.%u, command interface revision %u, board %s, %u completion vectors; up after %llu commands and %lld ms, the firmware has %u pages\n",
		 hw->firmware.firmware_major, hw->firmware.firmware_minor,
		 hw->firmware.firmware_subminor, hw->firmware.command_revision,
		 hw->adapter.board_id, hw->completion_eq_count, hw->commands.issued, milliseconds,
		 hw->pages.count);
}

/**
 * cxib_hw_bring_up() - brings a device up
 * @hw: all zeros except for @hw->bus, @hw->debugfs_root, @hw->command_timeout_ms,
 *	@hw->on_fatal, @hw->health_changed, @hw->is_unclean
 *
 * Context: process context, may sleep for minutes while firmware initializes.
 * Return: 0, or the error of the step that failed. After an error all steps are undone, the kernel
 * log has the cause, and @hw->is_unclean says whether the device must be reset before the next
 * bring-up.
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
		bring_up_log_device(hw, ktime_ms_delta(ktime_get(), begin));
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_bring_up);

/**
 * cxib_hw_tear_down() - undo cxib_hw_bring_up()
 * @hw: a device without users
 *
 * A device that no longer completes commands is reset; @hw->is_unclean is set if that fails.
 *
 * Context: process context, may sleep.
 */
void cxib_hw_tear_down(struct cxib_hw *hw)
{
	cxib_steps_undo(&bring_up, hw, bring_up.count);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_tear_down);

/**
 * cxib_hw_shut_down() - stops and resets a device at system shutdown
 * @hw: a device that is up; it may still have users
 *
 * Nothing is freed: WRs of users complete with errors, and the reset device does not DMA to
 * memory that the next kernel uses.
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
	if (!err)
		return;
	dev_warn(hw->bus->dev, "cannot reset the device at shutdown: error %d\n", err);
	bring_up_disable_interface(hw);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_hw_shut_down);
