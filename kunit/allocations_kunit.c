// SPDX-License-Identifier: GPL-2.0-only
/*
 * Allocation failures: each allocation of an operation fails in turn. The operation then returns
 * -ENOMEM or succeeds, and leaks nothing; a repetition succeeds.
 */
#include <linux/slab.h>

#include "failing_allocations.h"
#include "hw/buffer.h"
#include "hw/device.h"
#include "hw/hw.h"
#include "hw/mkey.h"
#include "hw/pages.h"
#include "hw/port.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/srq.h"
#include "sample.h"
#include "scripted_hca.h"

#define BUFFER_BYTES	20000

/*
 * Bring-up allocates pages, EQs and mailboxes one by one. A walk that ends after fewer failures has
 * not reached all of them.
 */
#define BRING_UP_MIN	50

/**
 * struct action - an operation that allocates
 * @name: parameter description
 * @run: runs and undoes the operation; returns the first error
 */
struct action {
	const char *name;
	int (*run)(struct scripted_hca *scripted);
};

static int with_buffer(struct scripted_hca *scripted,
		       int (*use)(struct scripted_hca *scripted, struct cxib_buffer *buffer))
{
	struct cxib_buffer buffer;
	int err = cxib_buffer_create(&buffer, scripted->hca->bus.dev, BUFFER_BYTES);

	if (err)
		return err;
	err = use(scripted, &buffer);
	cxib_buffer_destroy(&buffer, scripted->hca->bus.dev);
	return err;
}

static int use_for_cq(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_cq_params params = { .buffer = buffer, .log_size = 8 };
	u8 status;
	u32 cqn;

	return cxib_cmd_create_cq(&scripted->queue, &params, &cqn) ?:
	       cxib_cmd_resize_cq(&scripted->queue, cqn, &params, &status) ?:
	       cxib_cmd_destroy_cq(&scripted->queue, 0, cqn);
}

static int create_cq(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_cq);
}

static int use_for_qp(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct hw_qpc context = {};
	u32 qpn;

	return cxib_cmd_create_qp(&scripted->queue, 0, &context, buffer, &qpn) ?:
	       cxib_cmd_destroy_qp(&scripted->queue, 0, qpn);
}

static int create_qp(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_qp);
}

static int use_for_rmp(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_srq_params params = { .buffer = buffer, .log_size = 5, .log_stride = 6 };
	u32 number;
	u16 limit;

	return cxib_cmd_create_rmp(&scripted->queue, &params, &number) ?:
	       cxib_cmd_arm_rmp(&scripted->queue, 0, number, 1) ?:
	       cxib_cmd_query_rmp(&scripted->queue, 0, number, &limit) ?:
	       cxib_cmd_destroy_rmp(&scripted->queue, 0, number);
}

static int create_rmp(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_rmp);
}

static int use_for_xrc_srq(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_srq_params params = { .buffer = buffer, .log_size = 5, .log_stride = 6 };
	u32 number;

	return cxib_cmd_create_xrc_srq(&scripted->queue, &params, &number) ?:
	       cxib_cmd_destroy_xrc_srq(&scripted->queue, 0, number);
}

static int create_xrc_srq(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_xrc_srq);
}

static int use_for_xrq(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_srq_params params = { .buffer = buffer, .log_size = 5,
					  .log_stride = 6, .log_tm_list_size = 2 };
	u32 number;

	return cxib_cmd_create_xrq(&scripted->queue, &params, &number) ?:
	       cxib_cmd_destroy_xrq(&scripted->queue, 0, number);
}

static int create_xrq(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_xrq);
}

static int create_mkey(struct scripted_hca *scripted)
{
	const __be64 pages[3] = {};
	struct cxib_mkey_params params = { .log_page_size = 12, .length = SZ_8K,
					   .pages = pages, .page_count = ARRAY_SIZE(pages) };
	u32 key;

	return cxib_cmd_create_mkey(&scripted->queue, &params, &key) ?:
	       cxib_cmd_destroy_mkey(&scripted->queue, key, false);
}

static int query_port(struct scripted_hca *scripted)
{
	struct cxib_command_queue *queue = &scripted->queue;
	struct cxib_vport vport;
	struct cxib_link link;
	struct cxib_mtu mtu;
	u32 lanes;

	return cxib_cmd_query_hca_vport(queue, 1, &vport) ?:
	       cxib_cmd_modify_hca_vport(queue, 1, 2, 2) ?:
	       cxib_cmd_query_ptys(queue, 1, false, &link) ?:
	       cxib_cmd_query_pmtu(queue, 1, false, &mtu) ?:
	       cxib_cmd_query_pvlc(queue, 1, &lanes);
}

static int query_port_tables(struct scripted_hca *scripted)
{
	struct hw_gid gids[4];
	u16 pkeys[4];

	hw_query_hca_vport_gid_out_set_gids_num(scripted->out, ARRAY_SIZE(gids));
	return cxib_cmd_query_vport_gid(&scripted->queue, 1, ARRAY_SIZE(gids), gids) ?:
	       cxib_cmd_query_vport_pkey(&scripted->queue, 1, ARRAY_SIZE(pkeys), pkeys);
}

static int set_node_desc(struct scripted_hca *scripted)
{
	char text[CXIB_NODE_DESCRIPTION_SIZE] = "node";

	return cxib_cmd_set_node_desc(&scripted->queue, text) ?:
	       cxib_cmd_query_node_desc(&scripted->queue, text);
}

static int process_mad(struct scripted_hca *scripted)
{
	u8 request[CXIB_MAD_SIZE] = {}, response[CXIB_MAD_SIZE];
	struct cxib_mad mad = { .port = 1, .ignore_m_key = true, .ignore_b_key = true,
				.request = request, .response = response };

	return cxib_cmd_mad_ifc(&scripted->queue, &mad);
}

static int query_and_set_caps(struct scripted_hca *scripted)
{
	struct cxib_command_queue *queue = &scripted->queue;
	struct hw_cmd_hca_cap *general = scripted->hca->current_caps;
	struct hw_atomic_caps atomic;

	return cxib_cmd_query_general_caps(queue, CXIB_CAP_CURRENT, general) ?:
	       cxib_cmd_set_general_caps(queue, general) ?:
	       cxib_cmd_query_atomic_caps(queue, CXIB_CAP_CURRENT, &atomic) ?:
	       cxib_cmd_set_atomic_caps(queue, &atomic);
}

static int create_command_queue(struct scripted_hca *scripted)
{
	struct cxib_command_queue *queue = kzalloc(sizeof(*queue), GFP_KERNEL);
	int err;

	if (!queue)
		return -ENOMEM;
	err = cxib_command_queue_create(queue, &scripted->hca->bus);
	if (!err)
		cxib_command_queue_destroy(queue);
	kfree(queue);
	return err;
}

static const struct action actions[] = {
	{ "CQ", create_cq },
	{ "QP", create_qp },
	{ "RMP", create_rmp },
	{ "XRC SRQ", create_xrc_srq },
	{ "XRQ", create_xrq },
	{ "mkey", create_mkey },
	{ "port", query_port },
	{ "port tables", query_port_tables },
	{ "node description", set_node_desc },
	{ "MAD", process_mad },
	{ "capabilities", query_and_set_caps },
	{ "command queue", create_command_queue },
};

static void describe_action(const struct action *action, char *description)
{
	strscpy(description, action->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(action, actions, describe_action);

/* Allocations of the fake device do not fail, because it runs in other threads. */
static void cmd_failed_allocation_returns_enomem(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	const struct action *action = test->param_value;
	struct failing_walk walk = {};
	bool more;
	int err;

	skip_unless_allocations_can_fail(test);
	scripted->hca->asynchronous = true;
	do {
		fail_next_allocation(&walk);
		err = action->run(scripted);
		more = failing_walk_goes_on(&walk, err, 1);
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %u", walk.number);
	} while (more);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, walk.refused, 0);
}

static struct cxib_hw *alloc_hw(struct kunit *test, struct fake_hca *hca)
{
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	return hw;
}

static void bring_up_failed_allocation_returns_enomem(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);
	unsigned int number = 1;
	bool failed;
	int err;

	skip_unless_allocations_can_fail(test);
	fake_hca_want_few_pages(hca);
	hca->asynchronous = true;
	hca->dma = false;
	do {
		struct cxib_hw *hw = alloc_hw(test, hca);

		fail_allocation(number);
		err = cxib_hw_bring_up(hw);
		failed = stop_failing_allocation();
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %u", number);
		else
			cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
		number += kunit_sample;
	} while (failed);
	KUNIT_EXPECT_EQ(test, err, 0);
	/* One behind the last allocation that was made to fail. */
	KUNIT_EXPECT_GT(test, number - 2 * kunit_sample + 1, BRING_UP_MIN);
}

static void destroy_queue(void *data)
{
	cxib_command_queue_destroy(data);
}

/* A device with a second general page, of which the driver uses 0x10000, and with ODP. */
static struct cxib_command_queue *create_queue(struct kunit *test)
{
	struct cxib_command_queue *queue = kunit_kzalloc(test, sizeof(*queue), GFP_KERNEL);
	struct fake_hca *hca = fake_hca_create(test);

	KUNIT_ASSERT_NOT_NULL(test, queue);
	hca->asynchronous = true;
	hw_cmd_hca_cap_set_hca_cap_2(hca->current_caps, 1);
	hw_cmd_hca_cap_2_set_max_num_eqs_24b(&hca->general_2, 0x10000);
	hw_cmd_hca_cap_set_pg(hca->current_caps, 1);
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_create(queue, &hca->bus));
	KUNIT_ASSERT_EQ(test, 0, kunit_add_action_or_reset(test, destroy_queue, queue));
	KUNIT_ASSERT_EQ(test, 0, cxib_command_queue_start(queue));
	return queue;
}

/*
 * The driver works without optional pages, but only if the device refuses them. An allocation
 * failure returns -ENOMEM, as a command status does. kvmalloc() may succeed after a failed
 * kmalloc().
 */
static void caps_failed_allocation_loses_no_optional_page(struct kunit *test)
{
	struct cxib_command_queue *queue = create_queue(test);
	struct cxib_device_caps caps;
	struct failing_walk walk = {};
	bool more;
	int err;

	skip_unless_allocations_can_fail(test);
	do {
		caps = (struct cxib_device_caps){};
		fail_next_allocation(&walk);
		err = cxib_device_caps_configure(queue, &caps);
		more = failing_walk_goes_on(&walk, err, 1);
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, -ENOMEM, err, "allocation %u", walk.number);
		if (err)
			continue;
		KUNIT_EXPECT_EQ_MSG(test, 0x10000, caps.max_num_eqs, "allocation %u", walk.number);
		KUNIT_EXPECT_EQ_MSG(test, 1, caps.pg, "allocation %u", walk.number);
	} while (more);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, walk.refused, 0);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(cmd_failed_allocation_returns_enomem, action_gen_params),
	KUNIT_CASE(bring_up_failed_allocation_returns_enomem),
	KUNIT_CASE(caps_failed_allocation_loses_no_optional_page),
	{}
};

static struct kunit_suite suite = {
	.name = "allocations",
	.test_cases = cases,
};

kunit_test_suite(suite);
