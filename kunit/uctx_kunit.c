// SPDX-License-Identifier: GPL-2.0-only
/* UCTX and UMEM commands: input, and conversion of the output. */
#include "hw/commands_events.h"
#include "hw/commands_objects.h"
#include "hw/commands_queue_pairs.h"
#include "hw/pd.h"
#include "hw/cq.h"
#include "hw/qp.h"
#include "hw/uctx.h"
#include "scripted_hca.h"

#define UID		0x1234
#define RIGHTS		5
#define UMEM		0x654321
#define IN_PAGE		0x40
#define QPN		0x12345

static int uctx_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void create_uctx_passes_cap(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u16 uid;

	hw_create_uctx_out_set_uid(scripted->out, UID);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_uctx(&scripted->queue, RIGHTS, &uid));
	KUNIT_EXPECT_EQ(test, UID, uid);
	KUNIT_EXPECT_EQ(test, HW_CMD_CREATE_UCTX, hw_create_uctx_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, RIGHTS, hw_uctx_get_cap(hw_create_uctx_in_uctx(scripted->in)));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_uctx(&scripted->queue, uid));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_UCTX, hw_destroy_uctx_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_uctx_in_get_uid(scripted->in));
}

static void create_uctx_uid_0_returns_ebadmsg(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u16 uid;

	hw_create_uctx_out_set_uid(scripted->out, 0);
	KUNIT_EXPECT_EQ(test, -EBADMSG, cxib_cmd_create_uctx(&scripted->queue, 0, &uid));
}

/* log_page_size 0 means 4 KiB: umem in mlx5_ifc.h. */
static void create_umem_passes_pages(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	const __be64 pages[] = {
		cpu_to_be64(0x7000 | CXIB_PAGE_READ | CXIB_PAGE_WRITE),
		cpu_to_be64(0x3000 | CXIB_PAGE_READ),
	};
	const struct cxib_user_memory_params params = {
		.uid = UID, .pages = pages, .page_count = ARRAY_SIZE(pages),
		.log_page_size = 12, .offset = IN_PAGE,
	};
	const struct hw_umem *memory = hw_create_umem_in_umem(scripted->in);
	u32 number;

	hw_create_umem_out_set_umem_id(scripted->out, UMEM);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_umem(&scripted->queue, &params, &number));
	KUNIT_EXPECT_EQ(test, UMEM, number);
	KUNIT_EXPECT_EQ(test, UID, hw_create_umem_in_get_uid(scripted->in));
	KUNIT_EXPECT_EQ(test, 0, hw_umem_get_log_page_size(memory));
	KUNIT_EXPECT_EQ(test, IN_PAGE, hw_umem_get_page_offset(memory));
	KUNIT_EXPECT_EQ(test, ARRAY_SIZE(pages), hw_umem_get_num_of_mtt(memory));
	KUNIT_EXPECT_MEMEQ(test, memory->mtt, pages, sizeof(pages));
	KUNIT_EXPECT_EQ(test, scripted->in_length,
			sizeof(struct hw_create_umem_in) + sizeof(pages));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_umem(&scripted->queue, UID, number));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_umem_in_get_uid(scripted->in));
	KUNIT_EXPECT_EQ(test, UMEM, hw_destroy_umem_in_get_umem_id(scripted->in));
}

/* Commands for verbs objects of user space have the uid as well. */
static void object_commands_pass_uid(struct kunit *test)
{
	struct cxib_qp_transition transition = {
		.uid = UID, .opcode = HW_CMD_INIT2RTR_QP, .qpn = QPN,
	};
	struct scripted_hca *scripted = test->priv;
	u32 number;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_alloc_pd(&scripted->queue, UID, &number));
	KUNIT_EXPECT_EQ(test, UID, hw_alloc_pd_in_get_uid(scripted->in));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_pd(&scripted->queue, UID, 1));
	KUNIT_EXPECT_EQ(test, UID, hw_dealloc_pd_in_get_uid(scripted->in));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_cq(&scripted->queue, UID, 1));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_cq_in_get_uid(scripted->in));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_modify_qp(&scripted->queue, &transition));
	KUNIT_EXPECT_EQ(test, UID, hw_rst2init_qp_in_get_uid(scripted->in));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_2rst_qp(&scripted->queue, UID, 1));
	KUNIT_EXPECT_EQ(test, UID, hw_qp_2rst_in_get_uid(scripted->in));
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_qp(&scripted->queue, UID, 1));
	KUNIT_EXPECT_EQ(test, UID, hw_destroy_qp_in_get_uid(scripted->in));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_uctx_passes_cap),
	KUNIT_CASE(create_uctx_uid_0_returns_ebadmsg),
	KUNIT_CASE(create_umem_passes_pages),
	KUNIT_CASE(object_commands_pass_uid),
	{}
};

static struct kunit_suite suite = {
	.name = "uctx",
	.init = uctx_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
