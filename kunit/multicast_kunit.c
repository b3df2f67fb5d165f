// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast groups: the device executes one command for each group, and a detach does not fail,
 * because the RDMA core cannot repeat it.
 */
#include "fake_queue_pair.h"
#include "hw/commands_port.h"
#include "verbs/qp/qp.h"

#define LID	0xc000

/**
 * struct fixture - a UD QP and the groups that its device knows
 * @fake: the QP and its device
 * @attached: number of ATTACH_TO_MCG commands that succeeded
 * @detached: number of DETACH_FROM_MCG commands that succeeded
 * @tried: number of DETACH_FROM_MCG commands
 * @refused: opcode of the commands that are refused; 0: none
 */
struct fixture {
	struct fake_queue_pair *fake;
	unsigned int attached;
	unsigned int detached;
	unsigned int tried;
	u16 refused;
};

static union ib_gid gid = { .raw = { 0xff, 0x12, 0x40, 0x1b, [15] = 0x77 } };

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);
	bool is_refused = opcode == fixture->refused;

	fixture->attached += opcode == HW_CMD_ATTACH_TO_MCG && !is_refused;
	fixture->tried += opcode == HW_CMD_DETACH_FROM_MCG;
	fixture->detached += opcode == HW_CMD_DETACH_FROM_MCG && !is_refused;
	return is_refused ? HW_COMMAND_STATUS_INTERNAL_ERROR : HW_COMMAND_STATUS_OK;
}

static int multicast_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake_queue_pair_create(test);
	fake_queue_pair_start(fixture->fake, run_command, fixture);
	mutex_init(&fixture->fake->qp.mutex);
	test->priv = fixture;
	return 0;
}

static void multicast_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (fixture)
		cxib_forget_mcast_groups(&fixture->fake->qp);
}

static int attach(struct fixture *fixture, u16 lid)
{
	return cxib_attach_mcast(&fixture->fake->qp.ib, &gid, lid);
}

static int detach(struct fixture *fixture, u16 lid)
{
	return cxib_detach_mcast(&fixture->fake->qp.ib, &gid, lid);
}

static void detach_mcast_last_lid_leaves_group(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID + 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->attached);
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 0, fixture->detached);
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID + 1));
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
	KUNIT_EXPECT_EQ(test, -EINVAL, detach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 1, fixture->tried);
}

static void attach_mcast_refused_leaves_nothing(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refused = HW_CMD_ATTACH_TO_MCG;
	KUNIT_EXPECT_NE(test, 0, attach(fixture, LID));
	KUNIT_EXPECT_EQ(test, -EINVAL, detach(fixture, LID));
	KUNIT_EXPECT_TRUE(test, hlist_empty(&fixture->fake->qp.groups));
}

static void detach_mcast_refused_tried_again_at_destruction(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID));
	fixture->refused = HW_CMD_DETACH_FROM_MCG;
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID));
	cxib_leave_mcast_groups(&fixture->fake->qp);
	KUNIT_EXPECT_EQ(test, 2, fixture->tried);
	fixture->refused = 0;
	cxib_leave_mcast_groups(&fixture->fake->qp);
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&fixture->fake->qp.groups));
}

static void detach_mcast_refused_then_attached_stays_member(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID));
	fixture->refused = HW_CMD_DETACH_FROM_MCG;
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID));
	fixture->refused = HW_CMD_ATTACH_TO_MCG;
	KUNIT_EXPECT_NE(test, 0, attach(fixture, LID));
	KUNIT_EXPECT_FALSE(test, hlist_empty(&fixture->fake->qp.groups));
	fixture->refused = 0;
	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 2, fixture->attached);
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
}

static void attach_with_bad_output(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->fake->hca, FAKE_FAULT_TOKEN, fixture->fake->hca->commands);
	KUNIT_EXPECT_EQ(test, -EBADMSG, attach(fixture, LID));
}

static void attach_mcast_with_unknown_result_leaves_group(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	attach_with_bad_output(test);
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&fixture->fake->qp.groups));
	KUNIT_EXPECT_EQ(test, 0, attach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
	KUNIT_EXPECT_EQ(test, 0, detach(fixture, LID));
	KUNIT_EXPECT_EQ(test, 2, fixture->detached);
}

/* The device may execute the attach after it has refused the detach. */
static void attach_mcast_with_unknown_result_detached_at_destruction(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->refused = HW_CMD_DETACH_FROM_MCG;
	attach_with_bad_output(test);
	KUNIT_EXPECT_EQ(test, 1, fixture->tried);
	KUNIT_EXPECT_FALSE(test, hlist_empty(&fixture->fake->qp.groups));
	fixture->refused = 0;
	cxib_leave_mcast_groups(&fixture->fake->qp);
	KUNIT_EXPECT_EQ(test, 1, fixture->detached);
	KUNIT_EXPECT_TRUE(test, hlist_empty(&fixture->fake->qp.groups));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(detach_mcast_last_lid_leaves_group),
	KUNIT_CASE(attach_mcast_refused_leaves_nothing),
	KUNIT_CASE(detach_mcast_refused_tried_again_at_destruction),
	KUNIT_CASE(detach_mcast_refused_then_attached_stays_member),
	KUNIT_CASE(attach_mcast_with_unknown_result_leaves_group),
	KUNIT_CASE(attach_mcast_with_unknown_result_detached_at_destruction),
	{}
};

static struct kunit_suite suite = {
	.name = "multicast",
	.init = multicast_init,
	.exit = multicast_exit,
	.test_cases = cases,
};

kunit_test_suite(suite);
