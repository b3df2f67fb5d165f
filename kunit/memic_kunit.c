// SPDX-License-Identifier: GPL-2.0-only
/* MEMIC commands: input, and conversion of the output. */
#include "hw/commands_memory.h"
#include "hw/memic.h"
#include "scripted_hca.h"

#define ADDRESS		0x2100040ULL
#define OPERATION	0x2180000ULL
#define START		0x2100000ULL
#define RANGE		0x3000
#define LENGTH		0x180
#define LOG_ALIGNMENT	9
#define TYPE		3

static int memic_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void alloc_memic_passes_range(struct kunit *test)
{
	const struct cxib_memic_params params = {
		.start = START, .range = RANGE, .length = LENGTH, .log_alignment = LOG_ALIGNMENT,
	};
	struct scripted_hca *scripted = test->priv;
	u64 address;

	hw_alloc_memic_out_set_memic_start_addr(scripted->out, ADDRESS);
	KUNIT_ASSERT_EQ(test, 0,
			cxib_cmd_alloc_memic(&scripted->queue, &params, &address));
	KUNIT_EXPECT_EQ(test, address, ADDRESS);
	KUNIT_EXPECT_EQ(test, HW_CMD_ALLOC_MEMIC, hw_alloc_memic_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, START,
			hw_alloc_memic_in_get_range_start_addr(scripted->in));
	KUNIT_EXPECT_EQ(test, RANGE, hw_alloc_memic_in_get_range_size(scripted->in));
	KUNIT_EXPECT_EQ(test, LENGTH, hw_alloc_memic_in_get_memic_size(scripted->in));
	KUNIT_EXPECT_EQ(test, LOG_ALIGNMENT - CXIB_MEMIC_LOG_UNIT,
			hw_alloc_memic_in_get_log_memic_addr_alignment(scripted->in));
}

/* mlx5_cmd_alloc_memic() in mlx5_ib/dm.c: the device counts in units of 64 bytes. */
static void alloc_memic_up_to_64_bytes_asks_for_no_alignment(struct kunit *test)
{
	struct cxib_memic_params params = { .range = RANGE, .length = LENGTH };
	struct scripted_hca *scripted = test->priv;
	u64 address;

	for (; params.log_alignment <= CXIB_MEMIC_LOG_UNIT; params.log_alignment++) {
		KUNIT_ASSERT_EQ(test, 0,
				cxib_cmd_alloc_memic(&scripted->queue, &params, &address));
		KUNIT_EXPECT_EQ(test, 0,
				hw_alloc_memic_in_get_log_memic_addr_alignment(scripted->in));
	}
}

static void alloc_memic_range_full_returns_eagain(struct kunit *test)
{
	const struct cxib_memic_params params = { .range = 0x1000, .length = 0x40 };
	struct scripted_hca *scripted = test->priv;
	u64 address;

	scripted->status = HW_COMMAND_STATUS_NOT_READY;
	KUNIT_EXPECT_EQ(test, -EAGAIN,
			cxib_cmd_alloc_memic(&scripted->queue, &params, &address));
}

static void dealloc_memic_passes_address_and_size(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_memic(&scripted->queue, ADDRESS, LENGTH));
	KUNIT_EXPECT_EQ(test, HW_CMD_DEALLOC_MEMIC, hw_dealloc_memic_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, ADDRESS, hw_dealloc_memic_in_get_memic_start_addr(scripted->in));
	KUNIT_EXPECT_EQ(test, LENGTH, hw_dealloc_memic_in_get_memic_size(scripted->in));
	scripted->status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY,
			cxib_cmd_dealloc_memic(&scripted->queue, ADDRESS, LENGTH));
}

static void alloc_memic_op_returns_address(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u64 address;

	hw_modify_memic_out_set_memic_operation_addr(scripted->out, OPERATION);
	KUNIT_ASSERT_EQ(test, 0,
			cxib_cmd_alloc_memic_op(&scripted->queue, ADDRESS, TYPE, &address));
	KUNIT_EXPECT_EQ(test, OPERATION, address);
	KUNIT_EXPECT_EQ(test, HW_CMD_MODIFY_MEMIC, hw_modify_memic_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, HW_MODIFY_MEMIC_OP_MOD_ALLOC,
			hw_modify_memic_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, TYPE, hw_modify_memic_in_get_memic_operation_type(scripted->in));
	KUNIT_EXPECT_EQ(test, ADDRESS, hw_modify_memic_in_get_memic_start_addr(scripted->in));
}

static void dealloc_memic_op_passes_type(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_memic_op(&scripted->queue, ADDRESS, TYPE));
	KUNIT_EXPECT_EQ(test, HW_MODIFY_MEMIC_OP_MOD_DEALLOC,
			hw_modify_memic_in_get_op_mod(scripted->in));
	KUNIT_EXPECT_EQ(test, TYPE, hw_modify_memic_in_get_memic_operation_type(scripted->in));
	KUNIT_EXPECT_EQ(test, ADDRESS, hw_modify_memic_in_get_memic_start_addr(scripted->in));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(alloc_memic_passes_range),
	KUNIT_CASE(alloc_memic_up_to_64_bytes_asks_for_no_alignment),
	KUNIT_CASE(alloc_memic_range_full_returns_eagain),
	KUNIT_CASE(dealloc_memic_passes_address_and_size),
	KUNIT_CASE(alloc_memic_op_returns_address),
	KUNIT_CASE(dealloc_memic_op_passes_type),
	{}
};

static struct kunit_suite suite = {
	.name = "memic",
	.init = memic_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
