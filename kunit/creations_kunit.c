// SPDX-License-Identifier: GPL-2.0-only
/* What becomes of a CREATE_MKEY whose answer comes late, is nonsense, or never comes. */
#include <linux/slab.h>
#include <linux/string.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/mkey.h"

#define SHORT_MS	20
#define KEY_INDEX	0x4711
#define PD		0x12
#define PSV_NUMBER	0x815

/* @keys, @psvs: that the device has; @destroyed: the last one that it had */
struct fixture {
	struct cxib_command_queue queue;
	struct fake_hca *hca;
	struct cxib_kept memory;
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

static void free_memory(struct cxib_kept *kept)
{
	container_of(kept, struct fixture, memory)->is_free = true;
}

static int creations_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fixture->hca->script = carry_out;
	fixture->memory.free = free_memory;
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(&fixture->queue, &fixture->hca->bus));
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(&fixture->queue));
	fixture->queue.timeout_ms = SHORT_MS;
	test->priv = fixture;
	return 0;
}

static void creations_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (fixture)
		cxib_command_queue_destroy(&fixture->queue);
}

static int create(struct fixture *fixture)
{
	const struct cxib_mkey_params params = { .pd = PD };
	u32 key;

	return cxib_cmd_create_mkey(&fixture->queue, &params, &key);
}

/* The device has the command, and the memory is not needed by anybody else any more. */
static void give_up_waiting(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->hold = true;
	KUNIT_ASSERT_EQ(test, -ETIMEDOUT, create(fixture));
	fixture->hca->hold = false;
	cxib_creations_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
}

static void complete_late(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_release(fixture->hca);
	cxib_creations_are_open(&fixture->queue);
}

static void key_that_is_made_late_is_destroyed_before_its_memory_is_freed(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	give_up_waiting(test);
	complete_late(test);
	KUNIT_EXPECT_EQ(test, fixture->destroyed, KEY_INDEX);
	KUNIT_EXPECT_EQ(test, fixture->keys, 0);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
	KUNIT_EXPECT_FALSE(test, fixture->freed_before_destroyed);
	KUNIT_EXPECT_EQ(test, 0, cxib_cmd_dealloc_pd(&fixture->queue, 0, PD));
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_busy(&fixture->queue));
}

/* A program makes one, the driver two at a time. */
static void as_many_psvs_are_destroyed_as_were_wanted(struct kunit *test)
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

static void memory_of_a_late_refusal_is_freed_at_once(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refusal = HW_COMMAND_STATUS_NO_RESOURCES;
	give_up_waiting(test);
	complete_late(test);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
	KUNIT_EXPECT_EQ(test, fixture->destroyed, 0);
	KUNIT_EXPECT_FALSE(test, cxib_command_queue_is_busy(&fixture->queue));
}

static void memory_without_an_answer_is_kept_until_dma_is_off(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	give_up_waiting(test);
	KUNIT_EXPECT_TRUE(test, cxib_creations_are_open(&fixture->queue));
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_busy(&fixture->queue));
	cxib_creations_free(&fixture->queue);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
}

static void answer_that_makes_no_sense_leaves_the_memory_in_doubt(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_TOKEN, 0);
	KUNIT_ASSERT_EQ(test, -EBADMSG, create(fixture));
	cxib_creations_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_TRUE(test, cxib_creations_are_open(&fixture->queue));
	KUNIT_EXPECT_FALSE(test, fixture->is_free);
	KUNIT_EXPECT_TRUE(test, cxib_command_queue_is_busy(&fixture->queue));
	cxib_creations_free(&fixture->queue);
}

/* Parents wait for the late answer as long as before. */
static void bad_output_leaves_time_for_a_late_answer(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const unsigned long ends = jiffies + 1000 * HZ;

	give_up_waiting(test);
	fixture->queue.late_deadline = ends;
	fake_hca_fail(fixture->hca, FAKE_FAULT_TOKEN, 0);
	KUNIT_ASSERT_EQ(test, -EBADMSG, create(fixture));
	KUNIT_EXPECT_EQ(test, ends, fixture->queue.late_deadline);
	cxib_creations_free(&fixture->queue);
}

static void memory_is_not_kept_when_every_command_is_answered(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refusal = HW_COMMAND_STATUS_NO_RESOURCES;
	KUNIT_EXPECT_EQ(test, -ENOMEM, create(fixture));
	cxib_creations_keep(&fixture->queue, &fixture->memory);
	KUNIT_EXPECT_TRUE(test, fixture->is_free);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(key_that_is_made_late_is_destroyed_before_its_memory_is_freed),
	KUNIT_CASE(as_many_psvs_are_destroyed_as_were_wanted),
	KUNIT_CASE(memory_of_a_late_refusal_is_freed_at_once),
	KUNIT_CASE(memory_without_an_answer_is_kept_until_dma_is_off),
	KUNIT_CASE(answer_that_makes_no_sense_leaves_the_memory_in_doubt),
	KUNIT_CASE(bad_output_leaves_time_for_a_late_answer),
	KUNIT_CASE(memory_is_not_kept_when_every_command_is_answered),
	{}
};

static struct kunit_suite suite = {
	.name = "creations",
	.init = creations_init,
	.exit = creations_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
