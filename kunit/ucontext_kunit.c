// SPDX-License-Identifier: GPL-2.0-only
/* Creation of user contexts: refused requests, the response, and the clean-up after an error. */
#include <linux/mman.h>
#include <linux/swiotlb.h>
#include <linux/uaccess.h>
#include <rdma/mlx5-abi.h>
#include <rdma/uverbs_ioctl.h>

#include "fake_queue_pair.h"
#include "hw/commands_events.h"
#include "hw/commands_objects.h"
#include "user/bfreg.h"
#include "user/user.h"

#define UID		0x1234
#define FIRST_UAR	0x10
#define SPARE		0x40	/* offset of the response in the page of the request */

/* libmlx5 of 2016 and older has no lib_caps. */
#define OLD_REQUEST	offsetof(struct mlx5_ib_alloc_ucontext_req_v2, lib_caps)

/**
 * struct fixture - a device and a process that opens it
 * @fake: the device
 * @context: the context
 * @attrs: the request of the process
 * @page: memory of the process, for request and response
 * @request: what the process asks for
 * @response: where it wants the response
 * @refused: the device refuses this command; 0: none
 * @uars: UARs that the device has allocated and not freed
 * @uctxs: UCTXs that the device has created and not destroyed
 */
struct fixture {
	struct fake_queue_pair *fake;
	struct cxib_ucontext context;
	struct uverbs_attr_bundle attrs;
	unsigned long page;
	struct mlx5_ib_alloc_ucontext_req_v2 request;
	void __user *response;
	u16 refused;
	int uars;
	int uctxs;
};

static u8 run_command(struct fake_hca *hca, const void *in, u32 in_length, void *out,
		      u32 out_length)
{
	struct fixture *fixture = hca->script_context;
	u16 opcode = hw_cmd_in_get_opcode(in);

	if (opcode == fixture->refused)
		return HW_COMMAND_STATUS_EXCEEDS_LIMIT;
	fixture->uars += (opcode == HW_CMD_ALLOC_UAR) - (opcode == HW_CMD_DEALLOC_UAR);
	fixture->uctxs += (opcode == HW_CMD_CREATE_UCTX) - (opcode == HW_CMD_DESTROY_UCTX);
	if (opcode == HW_CMD_ALLOC_UAR)
		hw_alloc_uar_out_set_uar(out, FIRST_UAR + fixture->uars);
	if (opcode == HW_CMD_CREATE_UCTX)
		hw_create_uctx_out_set_uid(out, UID);
	return HW_COMMAND_STATUS_OK;
}

static int ucontext_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->fake = fake_queue_pair_create(test);
	fake_queue_pair_start(fixture->fake, run_command, fixture);
	mutex_init(&fixture->fake->ibdev.wc_lock);
	fixture->fake->ibdev.wc_state = CXIB_WC_UNSUPPORTED;
	fixture->page = kunit_vm_mmap(test, NULL, 0, PAGE_SIZE, PROT_READ | PROT_WRITE,
				      MAP_ANONYMOUS | MAP_PRIVATE, 0);
	KUNIT_ASSERT_FALSE(test, IS_ERR_VALUE(fixture->page));
	KUNIT_ASSERT_NE(test, 0, fixture->page);
	fixture->request.lib_caps = MLX5_LIB_CAP_4K_UAR | MLX5_LIB_CAP_DYN_UAR;
	fixture->response = (void __user *)(fixture->page + SPARE);
	test->priv = fixture;
	return 0;
}

/* Does what ib_uverbs does for a process with a request and a response of these lengths. */
static int open_context(struct fixture *fixture, size_t request, size_t response)
{
	struct ib_udata *udata = &fixture->attrs.driver_udata;
	struct ib_ucontext *ib = &fixture->context.ib;

	memset(&fixture->context, 0, sizeof(fixture->context));
	ib->device = &fixture->fake->ibdev.ib;
	xa_init_flags(&ib->mmap_xa, XA_FLAGS_ALLOC);
	udata->inbuf = (const void __user *)fixture->page;
	udata->inlen = request;
	udata->outbuf = fixture->response;
	udata->outlen = response;
	if (copy_to_user((void __user *)fixture->page, &fixture->request,
			 sizeof(fixture->request)))
		return -EFAULT;
	return cxib_user_interface.ops->alloc_ucontext(ib, udata);
}

static int open_usual(struct fixture *fixture)
{
	return open_context(fixture, sizeof(fixture->request),
			    sizeof(struct mlx5_ib_alloc_ucontext_resp));
}

static void close_context(struct fixture *fixture)
{
	cxib_user_interface.ops->dealloc_ucontext(&fixture->context.ib);
}

static struct mlx5_ib_alloc_ucontext_resp response_of(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct mlx5_ib_alloc_ucontext_resp response = {};

	KUNIT_ASSERT_EQ(test, 0, copy_from_user(&response,
						fixture->response, sizeof(response)));
	return response;
}

static void expect_nothing_left(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, fixture->uars);
	KUNIT_EXPECT_EQ(test, 0, fixture->uctxs);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->context.ib.mmap_xa));
	KUNIT_EXPECT_NULL(test, fixture->context.bfregs);
}

static void ucontext_shorter_request_returns_einval(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	size_t min = offsetof(struct mlx5_ib_alloc_ucontext_req_v2, max_cqe_version);

	KUNIT_EXPECT_EQ(test, -EINVAL, open_context(fixture, min - 1, 0));
	KUNIT_EXPECT_EQ(test, -EINVAL, open_context(fixture, 0, 0));
	expect_nothing_left(test);
}

static void ucontext_unknown_attributes_return_eopnotsupp(struct kunit *test)
{
	static const struct mlx5_ib_alloc_ucontext_req_v2 unknown[] = {
		{ .comp_mask = 1 },
		{ .reserved0 = 1 },
		{ .reserved1 = 1 },
		{ .reserved2 = 1 },
		{ .flags = MLX5_IB_ALLOC_UCTX_DEVX << 1 },
		{ .flags = MLX5_IB_ALLOC_UCTX_DEVX | BIT(31) },
	};
	struct fixture *fixture = test->priv;
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(unknown); i++) {
		fixture->request = unknown[i];
		fixture->request.lib_caps = MLX5_LIB_CAP_DYN_UAR;
		KUNIT_EXPECT_EQ_MSG(test, -EOPNOTSUPP, open_usual(fixture), "attribute %u", i);
	}
	expect_nothing_left(test);
}

static void ucontext_unreadable_request_returns_efault(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->attrs.driver_udata.inlen = sizeof(fixture->request);
	fixture->attrs.driver_udata.inbuf = NULL;
	fixture->context.ib.device = &fixture->fake->ibdev.ib;
	KUNIT_EXPECT_EQ(test, -EFAULT,
			cxib_user_interface.ops->alloc_ucontext(&fixture->context.ib,
								&fixture->attrs.driver_udata));
	expect_nothing_left(test);
}

/* The swiotlb is forced (swiotlb=force). */
static void ucontext_with_bounced_dma_returns_eopnotsupp(struct kunit *test)
{
	struct io_tlb_mem bounced = { .force_bounce = true };
	struct fixture *fixture = test->priv;
	struct device *dev = fixture->fake->hca->bus.dev;
	struct io_tlb_mem *before = dev->dma_io_tlb_mem;

	dev->dma_io_tlb_mem = &bounced;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, open_usual(fixture));
	dev->dma_io_tlb_mem = before;
	expect_nothing_left(test);
}

/* The version is the highest that both support; the device reports the latest one. */
static void ucontext_cqe_version_is_minimum_of_both(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int ours, theirs;

	for (ours = 0; ours < 2; ours++) {
		for (theirs = 0; theirs < 3; theirs++) {
			fixture->fake->hw.caps.cqe_version = ours;
			fixture->request.max_cqe_version = theirs;
			KUNIT_ASSERT_EQ(test, 0, open_usual(fixture));
			KUNIT_EXPECT_EQ(test, min(ours, theirs), fixture->context.cqe_version);
			KUNIT_EXPECT_EQ(test, min(ours, theirs), response_of(test).cqe_version);
			close_context(fixture);
		}
	}
}

static void ucontext_with_dynamic_uars_allocates_none(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->request.total_num_bfregs = 16;
	KUNIT_ASSERT_EQ(test, 0, open_usual(fixture));
	KUNIT_EXPECT_EQ(test, 0, fixture->uars);
	KUNIT_EXPECT_EQ(test, 0, response_of(test).tot_bfregs);
	KUNIT_EXPECT_EQ(test, sizeof(struct mlx5_ib_alloc_ucontext_resp),
			response_of(test).response_length);
	close_context(fixture);
	expect_nothing_left(test);
}

/* An older libmlx5 sends no lib_caps, so the driver must not read what follows its request. */
static void ucontext_of_older_library_asks_for_static_uars(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->request.total_num_bfregs = CXIB_BFREGS_PER_UAR;
	fixture->refused = HW_CMD_ALLOC_UAR;
	KUNIT_ASSERT_EQ(test, 0, open_usual(fixture));
	close_context(fixture);
	KUNIT_EXPECT_EQ(test, -ENOMEM, open_context(fixture, OLD_REQUEST,
						    sizeof(struct mlx5_ib_alloc_ucontext_resp)));
	expect_nothing_left(test);
}

static void ucontext_shorter_response_is_cut(struct kunit *test)
{
	size_t length = offsetofend(struct mlx5_ib_alloc_ucontext_resp, response_length);
	struct fixture *fixture = test->priv;
	struct mlx5_ib_alloc_ucontext_resp response;

	KUNIT_ASSERT_EQ(test, 0, open_context(fixture, sizeof(fixture->request), length));
	response = response_of(test);
	KUNIT_EXPECT_EQ(test, length, response.response_length);
	KUNIT_EXPECT_NULL(test, memchr_inv((u8 *)&response + length, 0,
					   sizeof(response) - length));
	close_context(fixture);
}

static void ucontext_of_devx_has_uctx_until_close(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->request.flags = MLX5_IB_ALLOC_UCTX_DEVX;
	fixture->fake->hw.caps.log_max_uctx = 0;
	KUNIT_EXPECT_EQ(test, -EOPNOTSUPP, open_usual(fixture));
	fixture->fake->hw.caps.log_max_uctx = 4;
	KUNIT_ASSERT_EQ(test, 0, open_usual(fixture));
	KUNIT_EXPECT_EQ(test, UID, fixture->context.uid);
	KUNIT_EXPECT_EQ(test, 1, fixture->uctxs);
	close_context(fixture);
	expect_nothing_left(test);
}

static void ucontext_failed_step_undoes_steps_before(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->request.flags = MLX5_IB_ALLOC_UCTX_DEVX;
	fixture->request.lib_caps = 0;
	fixture->request.total_num_bfregs = 4;
	fixture->fake->hw.caps.log_max_uctx = 4;
	fixture->refused = HW_CMD_CREATE_UCTX;
	KUNIT_EXPECT_NE(test, 0, open_usual(fixture));
	expect_nothing_left(test);
	fixture->refused = HW_CMD_ALLOC_UAR;
	KUNIT_EXPECT_NE(test, 0, open_usual(fixture));
	expect_nothing_left(test);
	fixture->refused = 0;
	fixture->request.total_num_bfregs = CXIB_BFREGS_MAX + 1;
	KUNIT_EXPECT_EQ(test, -EINVAL, open_usual(fixture));
	expect_nothing_left(test);
}

/* The last step of a creation writes to the memory of the process. */
static void ucontext_unwritable_response_undoes_steps_before(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->request.flags = MLX5_IB_ALLOC_UCTX_DEVX;
	fixture->fake->hw.caps.log_max_uctx = 4;
	fixture->response = NULL;
	KUNIT_EXPECT_EQ(test, -EFAULT, open_usual(fixture));
	expect_nothing_left(test);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(ucontext_shorter_request_returns_einval),
	KUNIT_CASE(ucontext_unknown_attributes_return_eopnotsupp),
	KUNIT_CASE(ucontext_unreadable_request_returns_efault),
	KUNIT_CASE(ucontext_with_bounced_dma_returns_eopnotsupp),
	KUNIT_CASE(ucontext_cqe_version_is_minimum_of_both),
	KUNIT_CASE(ucontext_with_dynamic_uars_allocates_none),
	KUNIT_CASE(ucontext_of_older_library_asks_for_static_uars),
	KUNIT_CASE(ucontext_shorter_response_is_cut),
	KUNIT_CASE(ucontext_of_devx_has_uctx_until_close),
	KUNIT_CASE(ucontext_failed_step_undoes_steps_before),
	KUNIT_CASE(ucontext_unwritable_response_undoes_steps_before),
	{}
};

static struct kunit_suite suite = {
	.name = "ucontext",
	.init = ucontext_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
