// SPDX-License-Identifier: GPL-2.0-only
/*
 * Each allocation fails in turn: that is an error or does not matter, nothing
 * is left of it, and without it all works.
 */
#include <linux/sched.h>
#include <linux/slab.h>

#include "hw/buffer.h"
#include "hw/device.h"
#include "hw/hw.h"
#include "hw/mkey.h"
#include "hw/pages.h"
#include "hw/port.h"
#include "hw/qp.h"
#include "hw/srq.h"
#include "scripted_hca.h"

#define BUFFER_BYTES	20000

/* Has the allocation of this number, from 1 on, fail in this thread; 0: none any more. */
static void fail_allocation(unsigned int number)
{
#ifdef CONFIG_FAULT_INJECTION
	WRITE_ONCE(current->fail_nth, number);
#endif
}

/* How many allocations are to come until one fails, 0 if it has failed. */
static unsigned int allocations_left(void)
{
#ifdef CONFIG_FAULT_INJECTION
	return READ_ONCE(current->fail_nth);
#else
	return 0;
#endif
}

/* The kernel is not asked to fail those that may sleep, unless somebody has set it up so. */
static void skip_unless_allocations_can_fail(struct kunit *test)
{
	bool failed;
	void *memory;

	fail_allocation(1);
	memory = kmalloc(BUFFER_BYTES / 100, GFP_KERNEL);
	fail_allocation(0);
	failed = !memory;
	kfree(memory);
	if (!failed)
		kunit_skip(test, "nobody has set failslab/ignore-gfp-wait to N");
}

/**
 * struct action - something that allocates
 * @name: for the log
 * @run: does it and undoes it; returns the first error
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

static int use_for_shared_queue(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_srq_params params = { .buffer = buffer, .log_size = 5,
						   .log_stride = 6 };
	u32 number;
	u16 limit;

	return cxib_cmd_create_rmp(&scripted->queue, &params, &number) ?:
	       cxib_cmd_arm_rmp(&scripted->queue, 0, number, 1) ?:
	       cxib_cmd_query_rmp(&scripted->queue, 0, number, &limit) ?:
	       cxib_cmd_destroy_rmp(&scripted->queue, 0, number);
}

static int create_shared_queue(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_shared_queue);
}

static int use_for_xrc_queue(struct scripted_hca *scripted, struct cxib_buffer *buffer)
{
	struct cxib_srq_params params = { .buffer = buffer, .log_size = 5,
						   .log_stride = 6 };
	u32 number;

	return cxib_cmd_create_xrc_srq(&scripted->queue, &params, &number) ?:
	       cxib_cmd_destroy_xrc_srq(&scripted->queue, 0, number);
}

static int create_xrc_queue(struct scripted_hca *scripted)
{
	return with_buffer(scripted, use_for_xrc_queue);
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
	       cxib_cmd_destroy_mkey(&scripted->queue, key);
}

static int ask_the_port(struct scripted_hca *scripted)
{
	struct cxib_command_queue *queue = &scripted->queue;
	struct cxib_vport vport;
	struct cxib_link link;
	struct cxib_mtu mtu;
	u32 lanes;

	return cxib_cmd_query_hca_vport(queue, 1, &vport) ?:
	       cxib_cmd_modify_hca_vport(queue, 1, 2, 2) ?:
	       cxib_cmd_query_ptys(queue, 1, &link) ?:
	       cxib_cmd_query_pmtu(queue, 1, &mtu) ?:
	       cxib_cmd_query_pvlc(queue, 1, &lanes);
}

static int ask_for_tables(struct scripted_hca *scripted)
{
	struct hw_gid gids[4];
	u16 pkeys[128];

	hw_query_hca_vport_gid_out_set_gids_num(scripted->out, ARRAY_SIZE(gids));
	return cxib_cmd_query_vport_gid(&scripted->queue, 1, ARRAY_SIZE(gids), gids) ?:
	       cxib_cmd_query_vport_pkey(&scripted->queue, 1, ARRAY_SIZE(pkeys), pkeys);
}

static int describe_the_node(struct scripted_hca *scripted)
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

static int ask_for_capabilities(struct scripted_hca *scripted)
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
	{ "completion queue", create_cq },
	{ "queue pair", create_qp },
	{ "shared receive queue", create_shared_queue },
	{ "shared receive queue of XRC", create_xrc_queue },
	{ "shared receive queue with tags", create_xrq },
	{ "memory key", create_mkey },
	{ "port", ask_the_port },
	{ "tables of the port", ask_for_tables },
	{ "node description", describe_the_node },
	{ "management datagram", process_mad },
	{ "capabilities", ask_for_capabilities },
	{ "command queue", create_command_queue },
};

static void describe_action(const struct action *action, char *description)
{
	strscpy(description, action->name, KUNIT_PARAM_DESC_SIZE);
}

KUNIT_ARRAY_PARAM(action, actions, describe_action);

/* The device works in threads of its own, where nothing fails. */
static void may_fail_in_a_command(struct kunit *test)
{
	struct scripted_hca *scripted = scripted_hca_create(test);
	const struct action *action = test->param_value;
	unsigned int number = 0, refused = 0;
	bool failed;
	int err;

	skip_unless_allocations_can_fail(test);
	scripted->hca->asynchronous = true;
	do {
		fail_allocation(++number);
		err = action->run(scripted);
		failed = !allocations_left();
		fail_allocation(0);
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %u", number);
		refused += !!err;
	} while (failed);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, refused, 0);
}

static struct cxib_hw *make_hw(struct kunit *test, struct fake_hca *hca)
{
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	return hw;
}

static void may_fail_in_bring_up(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);
	unsigned int number = 0;
	bool failed;
	int err;

	skip_unless_allocations_can_fail(test);
	fake_hca_want_few_pages(hca);
	hca->asynchronous = true;
	hca->dma = false;
	do {
		struct cxib_hw *hw = make_hw(test, hca);

		fail_allocation(++number);
		err = cxib_hw_bring_up(hw);
		failed = !allocations_left();
		fail_allocation(0);
		if (err)
			KUNIT_EXPECT_EQ_MSG(test, err, -ENOMEM, "allocation %u", number);
		else
			cxib_hw_tear_down(hw);
		fake_hca_expect_clean(hca);
	} while (failed);
	KUNIT_EXPECT_EQ(test, err, 0);
	KUNIT_EXPECT_GT(test, number, 50);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_PARAM(may_fail_in_a_command, action_gen_params),
	KUNIT_CASE(may_fail_in_bring_up),
	{}
};

static struct kunit_suite suite = {
	.name = "allocations",
	.test_cases = cases,
};

kunit_test_suite(suite);
