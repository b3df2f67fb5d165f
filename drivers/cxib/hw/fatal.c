// SPDX-License-Identifier: GPL-2.0-only
/* Fatal error of a device: the driver stops commands, then DMA, then notifies the client. */
#include <linux/mutex.h>
#include <linux/workqueue.h>

#include "hw/hw.h"

/**
 * cxib_hw_set_fatal() - stops issuing commands after an object could not be destroyed
 * @hw: the device
 *
 * Firmware refuses to destroy a parent before its children, so further destroy commands would fail.
 * Tear-down resets the device instead.
 */
void cxib_hw_set_fatal(struct cxib_hw *hw)
{
	cxib_command_queue_set_fatal(&hw->commands);
}

/**
 * cxib_hw_dma_off() - clears bus mastering
 * @hw: a device after a fatal error, or at tear-down
 *
 * When it returns, the device has finished all DMA, and memory whose address it knows may be freed.
 *
 * Context: process context, may sleep.
 */
void cxib_hw_dma_off(struct cxib_hw *hw)
{
	mutex_lock(&hw->dma_lock);
	if (cxib_hw_state(hw->bus) < CXIB_HW_DMA_OFF)
		hw->bus->ops->set_dma(hw->bus, false);
	cxib_hw_state_raise(hw->bus, CXIB_HW_DMA_OFF);
	mutex_unlock(&hw->dma_lock);
}

/**
 * cxib_hw_fatal_work_fn() - notifies the client of a fatal error
 * @work: @fatal_work of the device
 *
 * DMA is turned off before the client is notified.
 */
void cxib_hw_fatal_work_fn(struct work_struct *work)
{
	struct cxib_hw *hw = container_of(work, struct cxib_hw, fatal_work);
	const struct cxib_hw_client *client = cxib_event_client(&hw->sink);

	cxib_hw_dma_off(hw);
	if (client)
		client->ops->fatal(client->context);
	if (hw->on_fatal)
		hw->on_fatal(hw);
}
