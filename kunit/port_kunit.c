// SPDX-License-Identifier: GPL-2.0-only
/* Ports: conversion to ib_verbs.h, MADs for firmware agents, static rates. */
#include <rdma/ib_mad.h>
#include <rdma/ib_smi.h>

#include "hw/registers.h"
#include "kernel_kunit.h"
#include "verbs/port/mad.h"
#include "verbs/port/port.h"
#include "verbs/verbs.h"

static void link_width_unknown_returns_4x(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, IB_WIDTH_1X, cxib_link_width(HW_IB_LINK_WIDTH_1X));
	KUNIT_EXPECT_EQ(test, IB_WIDTH_2X, cxib_link_width(HW_IB_LINK_WIDTH_2X));
	KUNIT_EXPECT_EQ(test, IB_WIDTH_4X, cxib_link_width(HW_IB_LINK_WIDTH_4X));
	KUNIT_EXPECT_EQ(test, IB_WIDTH_8X, cxib_link_width(HW_IB_LINK_WIDTH_8X));
	KUNIT_EXPECT_EQ(test, IB_WIDTH_12X, cxib_link_width(HW_IB_LINK_WIDTH_12X));
	KUNIT_EXPECT_EQ(test, IB_WIDTH_4X, cxib_link_width(0));
}

/* The speed bits of the device equal those of ib_verbs.h. */
static_assert((int)HW_IB_PROTO_SDR == IB_SPEED_SDR);
static_assert((int)HW_IB_PROTO_FDR10 == IB_SPEED_FDR10);
static_assert((int)HW_IB_PROTO_EDR == IB_SPEED_EDR);
static_assert((int)HW_IB_PROTO_NDR == IB_SPEED_NDR);

/* IBA 14.2.5.6, VLCap: 1 is VL0, 2 VL0-1, 3 VL0-3, 4 VL0-7, 5 VL0-14. */
static void vl_code_unknown_returns_0(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, 1, cxib_vl_code(HW_VL_COUNT_VL0));
	KUNIT_EXPECT_EQ(test, 3, cxib_vl_code(HW_VL_COUNT_VL0_3));
	KUNIT_EXPECT_EQ(test, 5, cxib_vl_code(HW_VL_COUNT_VL0_14));
	KUNIT_EXPECT_EQ(test, 0, cxib_vl_code(HW_VL_COUNT_VL0_2));
	KUNIT_EXPECT_EQ(test, 0, cxib_vl_code(0));
}

static void expect_event(struct kunit *test, enum hw_port_change_subtype change,
			 enum ib_event_type wanted)
{
	enum ib_event_type event;

	KUNIT_ASSERT_TRUE(test, cxib_port_event(change, &event));
	KUNIT_EXPECT_EQ(test, wanted, event);
}

static void port_event_unknown_returns_false(struct kunit *test)
{
	enum ib_event_type event;

	expect_event(test, HW_PORT_CHANGE_SUBTYPE_DOWN, IB_EVENT_PORT_ERR);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_ACTIVE, IB_EVENT_PORT_ACTIVE);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_INITIALIZED, IB_EVENT_PORT_ERR);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_LID, IB_EVENT_LID_CHANGE);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_PKEY, IB_EVENT_PKEY_CHANGE);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_GUID, IB_EVENT_GID_CHANGE);
	expect_event(test, HW_PORT_CHANGE_SUBTYPE_CLIENT_REREG, IB_EVENT_CLIENT_REREGISTER);
	KUNIT_EXPECT_FALSE(test, cxib_port_event(0, &event));
	/* port_change has 4 bits in mlx5_ifc.h. */
	KUNIT_EXPECT_FALSE(test, cxib_port_event(GENMASK(3, 0), &event));
}

struct mad {
	u8 mgmt_class;
	u8 method;
	__be16 attr_id;
	bool is_for_agent;
};

static void mad_is_for_agent_by_class_and_method(struct kunit *test)
{
	static const struct mad mads[] = {
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET, IB_SMP_ATTR_PORT_INFO, true },
		{ IB_MGMT_CLASS_SUBN_DIRECTED_ROUTE, IB_MGMT_METHOD_SET, IB_SMP_ATTR_PORT_INFO,
		  true },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_TRAP_REPRESS, IB_SMP_ATTR_NOTICE,
		  true },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET, IB_SMP_ATTR_SM_INFO, false },
		{ IB_MGMT_CLASS_SUBN_LID_ROUTED, IB_MGMT_METHOD_GET_RESP, IB_SMP_ATTR_PORT_INFO,
		  false },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET, 0, true },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_SET, 0, true },
		{ IB_MGMT_CLASS_PERF_MGMT, IB_MGMT_METHOD_GET_RESP, 0, false },
		{ CXIB_MGMT_CLASS_VENDOR_1, IB_MGMT_METHOD_GET, 0, true },
		{ IB_MGMT_CLASS_SUBN_ADM, IB_MGMT_METHOD_GET, 0, false },
		{ IB_MGMT_CLASS_CM, IB_MGMT_METHOD_SEND, 0, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(mads); i++) {
		const struct ib_mad_hdr header = {
			.mgmt_class = mads[i].mgmt_class,
			.method = mads[i].method,
			.attr_id = mads[i].attr_id,
		};

		KUNIT_EXPECT_EQ_MSG(test, mads[i].is_for_agent,
				    cxib_mad_is_for_agent(&header), "MAD %zu", i);
	}
}

/* stat_rate of mlx5_ifc.h is enum ib_rate plus this offset: MLX5_STAT_RATE_OFFSET of mlx5_ib. */
#define OFFSET	5

/* enum ib_rate begins with IB_RATE_2_5_GBPS; 1 is reserved, and 255 is none. */
static void static_rate_rounds_down_to_supported(struct kunit *test)
{
	const struct cxib_device_caps caps = {
		.stat_rate_support = BIT(IB_RATE_2_5_GBPS + OFFSET) | BIT(IB_RATE_10_GBPS + OFFSET),
	};
	const struct cxib_device_caps all = {
		.stat_rate_support = GENMASK(15, IB_RATE_2_5_GBPS + OFFSET),
	};
	const struct cxib_device_caps none = {};

	KUNIT_EXPECT_EQ(test, 0, cxib_static_rate(&caps, IB_RATE_PORT_CURRENT));
	KUNIT_EXPECT_EQ(test, IB_RATE_10_GBPS + OFFSET, cxib_static_rate(&caps, IB_RATE_10_GBPS));
	KUNIT_EXPECT_EQ(test, IB_RATE_10_GBPS + OFFSET, cxib_static_rate(&caps, IB_RATE_400_GBPS));
	KUNIT_EXPECT_EQ(test, IB_RATE_2_5_GBPS + OFFSET, cxib_static_rate(&caps, IB_RATE_2_5_GBPS));
	KUNIT_EXPECT_EQ(test, 0, cxib_static_rate(&none, IB_RATE_10_GBPS));
	/* Rates above 14 Gb/s have smaller codes. */
	KUNIT_EXPECT_EQ(test, IB_RATE_10_GBPS + OFFSET, cxib_static_rate(&all, IB_RATE_14_GBPS));
	KUNIT_EXPECT_EQ(test, IB_RATE_20_GBPS + OFFSET, cxib_static_rate(&all, IB_RATE_25_GBPS));
	KUNIT_EXPECT_EQ(test, IB_RATE_40_GBPS + OFFSET, cxib_static_rate(&all, IB_RATE_50_GBPS));
	KUNIT_EXPECT_EQ(test, IB_RATE_120_GBPS + OFFSET, cxib_static_rate(&all, IB_RATE_400_GBPS));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_static_rate(&caps, 1));
	KUNIT_EXPECT_EQ(test, -EINVAL, cxib_static_rate(&caps, 255));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(link_width_unknown_returns_4x),
	KUNIT_CASE(vl_code_unknown_returns_0),
	KUNIT_CASE(port_event_unknown_returns_false),
	KUNIT_CASE(mad_is_for_agent_by_class_and_method),
	KUNIT_CASE(static_rate_rounds_down_to_supported),
	{}
};

static struct kunit_suite suite = {
	.name = "port",
	.test_cases = cases,
};

kunit_test_suite(suite);
