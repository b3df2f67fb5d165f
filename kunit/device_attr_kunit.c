// SPDX-License-Identifier: GPL-2.0-only
/* Attributes of the RDMA device, for devices with and without a capability. */
#include <linux/pci.h>
#include <rdma/ib_verbs.h>

#include "hw/capabilities.h"
#include "kernel_kunit.h"
#include "verbs/verbs.h"

/* Mellanox ConnectX-5: device ID in pci.ids. */
#define DEVICE_ID	0x1017

/* Firmware of a ConnectX-4 of 2016, from snabb's public trace. */
#define FIRMWARE_MAJOR		14
#define FIRMWARE_MINOR		12
#define FIRMWARE_SUBMINOR	1220

struct fixture {
	struct pci_dev pdev;
	struct cxib_bus bus;
	struct cxib_hw hw;
	struct cxib_ibdev ibdev;
	struct ib_device_attr attr;
};

/* Creates a device with all capabilities under test. Cases remove some. */
static int device_attr_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	struct cxib_device_caps *caps;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->pdev.device = DEVICE_ID;
	fixture->bus.dev = &fixture->pdev.dev;
	fixture->hw.bus = &fixture->bus;
	fixture->ibdev.hw = &fixture->hw;
	fixture->hw.firmware.firmware_major = FIRMWARE_MAJOR;
	fixture->hw.firmware.firmware_minor = FIRMWARE_MINOR;
	fixture->hw.firmware.firmware_subminor = FIRMWARE_SUBMINOR;
	caps = &fixture->hw.caps;
	caps->imaicl = 1;
	caps->log_max_mkey = 4;
	caps->atomic = 1;
	caps->atomic_host_endian = 1;
	caps->atomic_size_qp = HW_ATOMIC_SIZE_BYTES_8;
	caps->atomic_operations = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD |
				  HW_ATOMIC_OPERATIONS_EXTENDED_CMP_SWAP |
				  HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	test->priv = fixture;
	return 0;
}

static const struct ib_device_attr *attr_of(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_fill_device_attr(&fixture->ibdev.ib, &fixture->attr, NULL));
	return &fixture->attr;
}

static void attr_reports_device_and_firmware(struct kunit *test)
{
	const struct ib_device_attr *attr = attr_of(test);

	KUNIT_EXPECT_EQ(test, DEVICE_ID, attr->vendor_part_id);
	/* Format of mlx5_ib: fw_ver_major << 32, fw_ver_minor << 16. */
	KUNIT_EXPECT_EQ(test, (u64)FIRMWARE_MAJOR << 32 | FIRMWARE_MINOR << 16 | FIRMWARE_SUBMINOR,
			attr->fw_ver);
}

/*
 * mlx5_ib_query_device() always sets IB_DEVICE_MEM_MGT_EXTENSIONS, and the following bits with
 * imaicl.
 */
static void attr_without_imaicl_offers_fast_registration_only(struct kunit *test)
{
	const u64 windows = IB_DEVICE_MEM_WINDOW | IB_DEVICE_MEM_WINDOW_TYPE_2B;
	struct fixture *fixture = test->priv;
	const struct ib_device_attr *attr = attr_of(test);

	KUNIT_EXPECT_TRUE(test, attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS);
	KUNIT_EXPECT_EQ(test, windows, attr->device_cap_flags & windows);
	KUNIT_EXPECT_TRUE(test, attr->kernel_cap_flags & IBK_SG_GAPS_REG);
	KUNIT_EXPECT_EQ(test, attr->max_mr, attr->max_mw);
	fixture->hw.caps.imaicl = 0;
	attr = attr_of(test);
	KUNIT_EXPECT_TRUE(test, attr->device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS);
	KUNIT_EXPECT_EQ(test, 0, attr->device_cap_flags & windows);
	KUNIT_EXPECT_FALSE(test, attr->kernel_cap_flags & IBK_SG_GAPS_REG);
	KUNIT_EXPECT_EQ(test, 0, attr->max_mw);
}

static void expect_atomics(struct kunit *test, enum ib_atomic_cap plain, enum ib_atomic_cap masked)
{
	const struct ib_device_attr *attr = attr_of(test);

	KUNIT_EXPECT_EQ(test, plain, attr->atomic_cap);
	KUNIT_EXPECT_EQ(test, masked, attr->masked_atomic_cap);
}

/* Otherwise callers would get the old value in big-endian byte order. */
static void attr_without_host_byte_order_offers_no_atomics(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	expect_atomics(test, IB_ATOMIC_HCA, IB_ATOMIC_HCA);
	fixture->hw.caps.atomic_host_endian = 0;
	expect_atomics(test, IB_ATOMIC_NONE, IB_ATOMIC_NONE);
}

static void attr_offers_atomics_of_8_bytes_whose_operations_are_all_there(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct cxib_device_caps *caps = &fixture->hw.caps;

	caps->atomic_operations &= ~HW_ATOMIC_OPERATIONS_EXTENDED_FETCH_ADD;
	expect_atomics(test, IB_ATOMIC_HCA, IB_ATOMIC_NONE);
	caps->atomic_operations &= ~HW_ATOMIC_OPERATIONS_CMP_SWAP;
	expect_atomics(test, IB_ATOMIC_NONE, IB_ATOMIC_NONE);
	caps->atomic_operations = HW_ATOMIC_OPERATIONS_CMP_SWAP | HW_ATOMIC_OPERATIONS_FETCH_ADD;
	caps->atomic_size_qp = HW_ATOMIC_SIZE_BYTES_4;
	expect_atomics(test, IB_ATOMIC_NONE, IB_ATOMIC_NONE);
}

/* rdma_rw registers READs with more SGEs: rdma_rw_io_needs_mr(). */
static void attr_max_sgl_rd_is_that_of_device(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, attr_of(test)->max_sgl_rd);
	fixture->hw.caps.max_sgl_for_optimized_performance = 3;
	KUNIT_EXPECT_EQ(test, 3, attr_of(test)->max_sgl_rd);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(attr_max_sgl_rd_is_that_of_device),
	KUNIT_CASE(attr_reports_device_and_firmware),
	KUNIT_CASE(attr_without_imaicl_offers_fast_registration_only),
	KUNIT_CASE(attr_without_host_byte_order_offers_no_atomics),
	KUNIT_CASE(attr_offers_atomics_of_8_bytes_whose_operations_are_all_there),
	{}
};

static struct kunit_suite suite = {
	.name = "device_attr",
	.init = device_attr_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
