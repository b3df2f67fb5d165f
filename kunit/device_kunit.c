// SPDX-License-Identifier: GPL-2.0-only
/* A device during system shutdown: nothing may restart it. */
#include <linux/jiffies.h>
#include <linux/pci.h>

#include "device.h"
#include "kernel_kunit.h"

struct fixture {
	struct pci_dev pdev;
	struct cxib_device device;
};

/* The function is marked as removed, so that the driver does not access its missing PCI bus. */
static int device_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct cxib_device *device;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	device_initialize(&fixture->pdev.dev);
	fixture->pdev.dev.init_name = "device";
	fixture->pdev.error_state = pci_channel_io_perm_failure;
	device = &fixture->device;
	device->pdev = &fixture->pdev;
	INIT_DELAYED_WORK(&device->recovery, cxib_device_recovery_fn);
	test->priv = fixture;
	return 0;
}

static void device_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (fixture)
		cancel_delayed_work_sync(&fixture->device.recovery);
}

static enum cxib_hw_state state_of(const struct fixture *fixture)
{
	return cxib_hw_state(&fixture->device.bus.bus);
}

static void restart_absent_function_awaits_return(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, -ENODEV, cxib_device_restart(&fixture->device));
	KUNIT_EXPECT_EQ(test, CXIB_HW_GONE, state_of(fixture));
	KUNIT_EXPECT_TRUE(test, delayed_work_pending(&fixture->device.recovery));
}

static void restart_after_shut_down_returns_eshutdown(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_device_shut_down(&fixture->device);
	KUNIT_EXPECT_EQ(test, -ESHUTDOWN, cxib_device_restart(&fixture->device));
	KUNIT_EXPECT_EQ(test, CXIB_HW_UP, state_of(fixture));
	KUNIT_EXPECT_FALSE(test, delayed_work_pending(&fixture->device.recovery));
}

/* The time has passed in which the function could return. */
static void recover(struct fixture *fixture)
{
	fixture->device.bus.bus.state = CXIB_HW_GONE;
	fixture->device.gone_until = jiffies - 1;
	cxib_device_recovery_fn(&fixture->device.recovery.work);
}

static void recovery_of_absent_function_ends_with_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	recover(fixture);
	KUNIT_EXPECT_EQ(test, CXIB_HW_DMA_OFF, state_of(fixture));
}

static void recovery_after_shut_down_does_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	cxib_device_shut_down(&fixture->device);
	recover(fixture);
	KUNIT_EXPECT_EQ(test, CXIB_HW_GONE, state_of(fixture));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(restart_absent_function_awaits_return),
	KUNIT_CASE(restart_after_shut_down_returns_eshutdown),
	KUNIT_CASE(recovery_of_absent_function_ends_with_dma_off),
	KUNIT_CASE(recovery_after_shut_down_does_nothing),
	{}
};

static struct kunit_suite suite = {
	.name = "device",
	.init = device_init,
	.exit = device_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
