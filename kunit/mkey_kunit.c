// SPDX-License-Identifier: GPL-2.0-only
/* PD, XRCD, UAR and mkey commands: input, and conversion of the output. */
#include <linux/sizes.h>

#include "hw/commands_device.h"
#include "hw/commands_memory.h"
#include "hw/commands_objects.h"
#include "hw/contexts.h"
#include "hw/device.h"
#include "hw/init_segment.h"
#include "hw/mkey.h"
#include "hw/pd.h"
#include "scripted_hca.h"

#define PDN		0xabcdef
#define XRCDN		0xfedcba
#define RESD_LKEY	0x300
#define NULL_MKEY	0x200
#define DUMP_FILL_MKEY	0x400

/* An mkey is its index and 8 bits of variant: mkey_7_0 in mlx5_ifc.h. */
#define INDEX		0x123456
#define VARIANT		0x5a
#define MKEY		(INDEX << 8 | VARIANT)

/* QPN of an mkey that any QP of the PD may use: mkc.qpn in mlx5_ifc.h. */
#define ANY_QPN		0xffffff

#define START		0x7f0000000123ULL
#define LENGTH		0x2345
#define LOG_PAGE	12
#define OCTOWORDS	24
#define OCTOWORD	16
#define ODP_START	0x7f0000000000ULL
#define ODP_LENGTH	BIT_ULL(39)
#define MEMIC_START	0x2100040
#define MEMIC_LENGTH	0x180

static int mkey_init(struct kunit *test)
{
	test->priv = scripted_hca_create(test);
	return 0;
}

static void alloc_pd_returns_pdn(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u32 pd;

	hw_alloc_pd_out_set_pd(scripted->out, PDN);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_alloc_pd(&scripted->queue, 0, &pd));
	KUNIT_EXPECT_EQ(test, pd, PDN);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_pd(&scripted->queue, 0, pd));
	KUNIT_EXPECT_EQ(test, HW_CMD_DEALLOC_PD, hw_dealloc_pd_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, PDN, hw_dealloc_pd_in_get_pd(scripted->in));
}

static void query_special_contexts_returns_mkeys(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_special_keys keys;

	hw_query_special_contexts_out_set_resd_lkey(scripted->out, RESD_LKEY);
	hw_query_special_contexts_out_set_null_mkey(scripted->out, NULL_MKEY);
	hw_query_special_contexts_out_set_dump_fill_mkey(scripted->out, DUMP_FILL_MKEY);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_query_special_contexts(&scripted->queue, false, &keys));
	KUNIT_EXPECT_EQ(test, HW_CMD_QUERY_SPECIAL_CONTEXTS,
			hw_query_special_contexts_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, RESD_LKEY, keys.resd_lkey);
	KUNIT_EXPECT_EQ(test, NULL_MKEY, keys.null_mkey);
	KUNIT_EXPECT_EQ(test, DUMP_FILL_MKEY, keys.dump_fill);
}

/* User space maps UAR pages, so the init segment must not be among them. */
static void alloc_uar_outside_bar_returns_ebadmsg(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	const u32 first = DIV_ROUND_UP(CXIB_INIT_SEGMENT_SIZE, CXIB_UAR_SIZE);
	const u32 pages = scripted->queue.bus->bar_size / CXIB_UAR_SIZE;
	const u32 good[] = { first, pages - 1 };
	const u32 bad[] = { 0, first - 1, pages, U32_MAX >> 8 };
	u32 uar;
	int i;

	KUNIT_ASSERT_GT(test, pages, first);
	for (i = 0; i < ARRAY_SIZE(good); i++) {
		hw_alloc_uar_out_set_uar(scripted->out, good[i]);
		KUNIT_EXPECT_EQ(test, 0, cxib_cmd_alloc_uar(&scripted->queue, 0, &uar));
		KUNIT_EXPECT_EQ(test, good[i], uar);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++) {
		hw_alloc_uar_out_set_uar(scripted->out, bad[i]);
		KUNIT_EXPECT_EQ(test, -EBADMSG, cxib_cmd_alloc_uar(&scripted->queue, 0, &uar));
		/* The driver returns the bad UAR. */
		KUNIT_EXPECT_EQ(test, HW_CMD_DEALLOC_UAR,
				hw_dealloc_uar_in_get_opcode(scripted->in));
		KUNIT_EXPECT_EQ(test, bad[i], hw_dealloc_uar_in_get_uar(scripted->in));
	}
}

/*
 * For a BAR of 256 KiB, whose first 0x400c bytes are the init segment (mlx5_ifc.h). With a distance
 * of 4 KiB the device allocates the first UAR page of a host page.
 */
static const struct {
	unsigned int log_distance;
	size_t host_page;
	u32 uar;
	bool good;
} uar_places[] = {
	{ 12, SZ_4K, 4, false },
	{ 12, SZ_4K, 5, true },
	{ 12, SZ_4K, 0x3f, true },
	{ 12, SZ_4K, 0x40, false },
	{ 12, SZ_16K, 0x3c, true },
	{ 12, SZ_16K, 0x3d, false },
	{ 12, SZ_16K, 0x3f, false },
	{ 12, SZ_16K, 0x40, false },
	{ 14, SZ_16K, 0xf, true },
	{ 14, SZ_16K, 0x10, false },
	{ 14, SZ_16K, 1, false },
	{ 14, SZ_16K, 2, true },
	{ 12, SZ_64K, 0x30, true },
	{ 12, SZ_64K, 0x34, false },
	{ 16, SZ_64K, 3, true },
	{ 16, SZ_64K, 4, false },
	{ 16, SZ_64K, U32_MAX, false },
};

static void uar_shares_host_page_is_not_mappable(struct kunit *test)
{
	struct cxib_bus bus = { .bar_size = SZ_256K };
	int i;

	for (i = 0; i < ARRAY_SIZE(uar_places); i++) {
		bus.log_uar_distance = uar_places[i].log_distance;
		KUNIT_EXPECT_EQ_MSG(test, uar_places[i].good,
				    cxib_uar_is_mappable(&bus, uar_places[i].uar,
							 uar_places[i].host_page),
				    "UAR 0x%x, host page %zu", uar_places[i].uar,
				    uar_places[i].host_page);
	}
}

static void create_mkey_without_pages_uses_pa_mode(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_mkey_params params = { .pd = PDN, .variant = VARIANT, .local_write = true };
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(scripted->in);
	u32 key;

	hw_create_mkey_out_set_mkey_index(scripted->out, INDEX);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
	KUNIT_EXPECT_EQ(test, key, MKEY);
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(struct hw_create_mkey_in));
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_PA, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_length64(context));
	KUNIT_EXPECT_EQ(test, VARIANT, hw_mkc_get_mkey_7_0(context));
	KUNIT_EXPECT_EQ(test, PDN, hw_mkc_get_pd(context));
	KUNIT_EXPECT_EQ(test, ANY_QPN, hw_mkc_get_qpn(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_lr(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_lw(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_rr(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_rw(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_a(context));
}

/* The three pages of the list fill two octowords of 16 bytes, each of which holds two pages. */
static void create_mkey_pages_fill_mtts(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	const __be64 pages[] = { cpu_to_be64(0x1000), cpu_to_be64(0x3000), cpu_to_be64(0x2000) };
	struct cxib_mkey_params params = {
		.remote_read = true, .remote_write = true, .remote_atomic = true,
		.start_addr = START, .length = LENGTH, .log_page_size = LOG_PAGE,
		.pages = pages, .page_count = ARRAY_SIZE(pages),
	};
	struct hw_create_mkey_in *in = scripted->in;
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(in);
	u32 key;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in) + 2 * OCTOWORD);
	KUNIT_EXPECT_EQ(test, 2, hw_create_mkey_in_get_translations_octword_actual_size(in));
	KUNIT_EXPECT_EQ(test, 2, hw_mkc_get_translations_octword_size(context));
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_MTT, hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_length64(context));
	KUNIT_EXPECT_EQ(test, START, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, LENGTH, hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, LOG_PAGE, hw_mkc_get_log_page_size(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_rr(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_rw(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_a(context));
	KUNIT_EXPECT_EQ(test, 0, hw_mkc_get_lw(context));
	KUNIT_EXPECT_MEMEQ(test, in->klm_pas_mtt, pages, sizeof(pages));
}

static void alloc_xrcd_returns_xrcdn(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	u32 xrcd;

	hw_alloc_xrcd_out_set_xrcd(scripted->out, XRCDN);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_alloc_xrcd(&scripted->queue, &xrcd));
	KUNIT_EXPECT_EQ(test, xrcd, XRCDN);
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_dealloc_xrcd(&scripted->queue, xrcd));
	KUNIT_EXPECT_EQ(test, HW_CMD_DEALLOC_XRCD, hw_dealloc_xrcd_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, XRCDN, hw_dealloc_xrcd_in_get_xrcd(scripted->in));
}

/* UMR WQEs fill the list, so the command has none. */
static void create_mkey_empty_list_sets_free(struct kunit *test)
{
	static const struct {
		bool indirect;
		enum hw_mkey_access_mode mode;
	} kinds[] = {
		{ false, HW_MKEY_ACCESS_MODE_MTT },
		{ true, HW_MKEY_ACCESS_MODE_KLMS },
	};
	struct scripted_hca *scripted = test->priv;
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(scripted->in);
	size_t i;
	u32 key;

	for (i = 0; i < ARRAY_SIZE(kinds); i++) {
		struct cxib_mkey_params params = {
			.xlt_octowords = OCTOWORDS, .indirect = kinds[i].indirect,
			.log_page_size = LOG_PAGE,
		};

		KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
		KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(struct hw_create_mkey_in));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
		KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_umr_en(context));
		KUNIT_EXPECT_EQ(test, OCTOWORDS, hw_mkc_get_translations_octword_size(context));
		KUNIT_EXPECT_EQ(test, kinds[i].mode, hw_mkc_get_access_mode_1_0(context));
	}
}

/* The length of the command does not depend on that of the MR. */
static void create_mkey_odp_has_no_list(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct hw_create_mkey_in *in = scripted->in;
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(in);
	struct cxib_mkey_params params = {
		.start_addr = ODP_START, .length = ODP_LENGTH, .log_page_size = LOG_PAGE,
		.xlt_octowords = BIT(26), .odp = true,
	};
	u32 key;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
	KUNIT_EXPECT_EQ(test, scripted->in_length, sizeof(*in));
	KUNIT_EXPECT_EQ(test, 0, hw_create_mkey_in_get_translations_octword_actual_size(in));
	KUNIT_EXPECT_EQ(test, 1, hw_create_mkey_in_get_pg_access(in));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_free(context));
	KUNIT_EXPECT_EQ(test, ODP_START, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, ODP_LENGTH, hw_mkc_get_len(context));
	params.ksm = true;
	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_KSM, hw_mkc_get_access_mode_1_0(context));
}

static void create_mkey_memic_uses_memic_mode(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_mkey_params params = {
		.memic = true,
		.start_addr = MEMIC_START,
		.length = MEMIC_LENGTH,
		.relaxed_ordering_read = true,
		.relaxed_ordering_write = true,
		.remote_invalidate = true,
	};
	struct hw_mkc *context = hw_create_mkey_in_memory_key_mkey_entry(scripted->in);
	u32 key;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_create_mkey(&scripted->queue, &params, &key));
	KUNIT_EXPECT_EQ(test, HW_MKEY_ACCESS_MODE_MEMIC,
			hw_mkc_get_access_mode_4_2(context) << 2 |
			hw_mkc_get_access_mode_1_0(context));
	KUNIT_EXPECT_EQ(test, MEMIC_START, hw_mkc_get_start_addr(context));
	KUNIT_EXPECT_EQ(test, MEMIC_LENGTH, hw_mkc_get_len(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_relaxed_ordering_read(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_relaxed_ordering_write(context));
	KUNIT_EXPECT_EQ(test, 1, hw_mkc_get_en_rinval(context));
}

static void destroy_mkey_passes_index(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;

	KUNIT_ASSERT_EQ(test, 0, cxib_cmd_destroy_mkey(&scripted->queue, MKEY, false));
	KUNIT_EXPECT_EQ(test, HW_CMD_DESTROY_MKEY, hw_destroy_mkey_in_get_opcode(scripted->in));
	KUNIT_EXPECT_EQ(test, INDEX, hw_destroy_mkey_in_get_mkey_index(scripted->in));
}

static void mkey_command_errors_are_returned(struct kunit *test)
{
	struct scripted_hca *scripted = test->priv;
	struct cxib_mkey_params params = {};
	u32 number;

	scripted->status = HW_COMMAND_STATUS_EXCEEDS_LIMIT;
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_cmd_alloc_pd(&scripted->queue, 0, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_cmd_create_mkey(&scripted->queue, &params, &number));
	KUNIT_EXPECT_EQ(test, -ENOMEM, cxib_cmd_alloc_xrcd(&scripted->queue, &number));
	scripted->status = HW_COMMAND_STATUS_RESOURCE_BUSY;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_dealloc_pd(&scripted->queue, 0, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_dealloc_xrcd(&scripted->queue, 1));
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_cmd_destroy_mkey(&scripted->queue, MKEY, false));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(alloc_pd_returns_pdn),
	KUNIT_CASE(alloc_xrcd_returns_xrcdn),
	KUNIT_CASE(query_special_contexts_returns_mkeys),
	KUNIT_CASE(alloc_uar_outside_bar_returns_ebadmsg),
	KUNIT_CASE(uar_shares_host_page_is_not_mappable),
	KUNIT_CASE(create_mkey_without_pages_uses_pa_mode),
	KUNIT_CASE(create_mkey_pages_fill_mtts),
	KUNIT_CASE(create_mkey_empty_list_sets_free),
	KUNIT_CASE(create_mkey_odp_has_no_list),
	KUNIT_CASE(create_mkey_memic_uses_memic_mode),
	KUNIT_CASE(destroy_mkey_passes_index),
	KUNIT_CASE(mkey_command_errors_are_returned),
	{}
};

static struct kunit_suite suite = {
	.name = "mkey",
	.init = mkey_init,
	.test_cases = cases,
};

kunit_test_suite(suite);
