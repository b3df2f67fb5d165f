// SPDX-License-Identifier: GPL-2.0-only
/* CREATE_MKEY and CREATE_PSV whose completion is late, bad or missing. */
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/mkey.h"
#include "hw/pd.h"

#define SHORT_MS	20
#define KEY_INDEX	0x4711
#define PD		0x12
#define PSV_NUMBER	0x815

/* @keys, @psvs: objects in the device; @destroyed: index of the last destroyed mkey */
struct fixture {
	struct cxib_command_queue queue;
	struct fake_hca *hca;
	struct cxib_pending_memory memory;
	bool is_free;
	u8 refusal;
	unsigned int keys;
	unsigned int psvs;
	u32 destroyed;
	bool freed_before_destroyed;
};

static u8 create_mkey(struct fixture *fixture, void *out)
{
	if (fixture->refusal)
		return fixture->refusal;
	fixture->keys++;
	hw_create_mkey_out_set_mkey_index(out, KEY_INDEX);
	return HW_COMMAND_STATUS_OK;
}

static u8 destroy_mkey(struct fixture *fixture, const void *in)
{
	fixture->freed_before_destroyed = fixture->is_free;
	fixture->destroyed = hw_destroy_mkey_in_get_mkey_index(in);
	fixture->keys--;
	return HW_COMMAND_STATUS_OK;
}

static u8 create_psv(struct fixture *fixture, const void *in, void *out)
{
	fixture->psvs += hw_create_psv_in_get_num_psv(in);
	hw_create_psv_out_set_psv0_index(out, PSV_NUMBER);
	return HW_COMMAND_STATUS_OK;
}

static u8 destroy_psv(struct fixture *fixture, const void *in)
{
	if (hw_destroy_psv_in_get_psvn(in) != PSV_NUMBER)
		return HW_COMMAND_STATUS_BAD_RESOURCE;
	fixture->psvs--;
	return HW_COMMAND_STATUS_OK;
}

static u8 carry_out(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	struct fixture *fixture = hca->test->priv;

	switch (hw_cmd_in_get_opcode(in)) {
	case HW_CMD_CREATE_MKEY:
		return create_mkey(fixture, out);
	case HW_CMD_DESTROY_MKEY:
		return destroy_mkey(fixture, in);
	case HW_CMD_CREATE_PSV:
		return create_psv(fixture, in, out);
	case HW_CMD_DESTROY_PSV:
		return destroy_psv(fixture, in);
	case HW_CMD_DEALLOC_PD:
		return fixture->keys ? HW_COMMAND_STATUS_RESOURCE_BUSY : HW_COMMAND_STATUS_OK;
	default:
		return HW_COMMAND_STATUS_BAD_OPERATION;
	}
}

static void free_memory(struct cxib_pending_memory *memory)
{
	container_of(memory, struct fixture, memory)->is_free = true;
}

static int pending_creates_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fixture->hca->script = carry_out;
	fixture->memory.free = free_memory;
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	fixture->queue.timeout_ms = SHORT_MS;
	test->priv = fixture;
	return 0;
}

static int create(struct fixture *fixture)
{
	const struct cxib_mkey_params params = { .pd = PD };
	u32 key;

	return cxib_cmd_create_mkey(&fixture->queue, &params, &key);
}

/* The device still has the command, so only the device may use the memory. */
static void time_out_create(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->hold = true;
	KUNIT_ASSERT_EQ(test, -ETIMEDOUT, create(fixture));
	fixture->hca->hold = false;
	cxib_pending_creates_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
}

static void complete_late(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_release(fixture->hca);
	cxib_has_pending_creates(&fixture->queue);
}

static void create_mkey_late_completion_destroys_mkey_before_free(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	time_out_create(test);
	complete_late(test);
	KUNIT_EXPECT_EQ(test, fixture->destroyed, KEY_INDEX);
	KUNIT_EXPECT_EQ(test, fixture->keys, 0);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
	KUNIT_EXPECT_FALSE(test, fixture->freed_before_destroyed);
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_dealloc_pd(&fixture->queue, 0, PD));
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_busy(&fixture->queue));
}

/* User space creates one PSV per command, the driver creates two. */
static void create_psv_late_completion_destroys_num_psv(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct hw_create_psv_in in = {};
	struct hw_create_psv_out out;

	hw_create_psv_in_set_opcode(&in, HW_CMD_CREATE_PSV);
	hw_create_psv_in_set_num_psv(&in, 1);
	hw_create_psv_in_set_pd(&in, PD);
	fixture->hca->hold = true;
	KUNIT_ASSERT_EQ(test, -ETIMEDOUT, cxib_cmd_exec_inout(&fixture->queue, in, out));
	fixture->hca->hold = false;
	complete_late(test);
	KUNIT_EXPECT_EQ(test, fixture->psvs, 0);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_busy(&fixture->queue));
}

static void create_mkey_late_refusal_frees_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refusal = HW_COMMAND_STATUS_NO_RESOURCES;
	time_out_create(test);
	complete_late(test);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
	KUNIT_EXPECT_EQ(test, fixture->destroyed, 0);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_busy(&fixture->queue));
}

static void create_mkey_timeout_keeps_memory_until_dma_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	time_out_create(test);
	KUNIT_EXPECT_TRUE(test, cxib_has_pending_creates(&fixture->queue));
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_busy(&fixture->queue));
	cxib_pending_creates_free(&fixture->queue);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
}

static void create_mkey_bad_output_keeps_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_TOKEN, 0);
	KUNIT_ASSERT_EQ(test, -EBADMSG, create(fixture));
	cxib_pending_creates_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_TRUE(test, cxib_has_pending_creates(&fixture->queue));
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_busy(&fixture->queue));
	cxib_pending_creates_free(&fixture->queue);
}

/* The destruction of a parent object waits for the late completion until the original deadline. */
static void create_mkey_bad_output_keeps_late_deadline(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const unsigned long deadline = jiffies + 1000 * HZ;

	time_out_create(test);
	fixture->queue.late_deadline = deadline;
	fake_hca_fail(fixture->hca, FAKE_FAULT_TOKEN, 0);
	KUNIT_ASSERT_EQ(test, -EBADMSG, create(fixture));
	KUNIT_EXPECT_EQ(test, deadline, fixture->queue.late_deadline);
	cxib_pending_creates_free(&fixture->queue);
}

static void create_mkey_refused_frees_memory(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refusal = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, -ENOMEM, create(fixture));
	cxib_pending_creates_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_mkey_late_completion_destroys_mkey_before_free),
	KUNIT_CASE(create_psv_late_completion_destroys_num_psv),
	KUNIT_CASE(create_mkey_late_refusal_frees_memory),
	KUNIT_CASE(create_mkey_timeout_keeps_memory_until_dma_off),
	KUNIT_CASE(create_mkey_bad_output_keeps_memory),
	KUNIT_CASE(create_mkey_bad_output_keeps_late_deadline),
	KUNIT_CASE(create_mkey_refused_frees_memory),
	{}
};

static struct kunit_suite suite = {
	.name = "pending_creates",
	.init = pending_creates_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
