// SPDX-License-Identifier: GPL-2.0-only
/* Ownership of firmware pages, with correct and faulty firmware. */
#include <linux/sizes.h>

#include "fake_hca.h"
#include "hw/command_queue.h"
#include "hw/commands_device.h"
#include "hw/pages.h"
#include "kernel_kunit.h"

/*
 * Maximum number of pages of a page request event that the driver serves. The driver selects this
 * number.
 */
#define REQUEST_MAX	50000
#define BATCHES		10
#define REQUESTED	10

struct fixture {
	struct fake_hca *hca;
	struct cxib_command_queue queue;
	struct cxib_pages pages;
};

static int pages_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	fixture->hca = fake_hca_create(test);
	fake_hca_start_queue(fixture->hca, &fixture->queue);
	fixture->queue.timeout_ms = 20;
	cxib_pages_init(&fixture->pages, &fixture->queue);
	test->priv = fixture;
	return 0;
}

static void pages_exit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	if (!fixture)
		return;
	cxib_pages_stop(&fixture->pages);
	cxib_pages_free(&fixture->pages);
	KUNIT_EXPECT_EQ(test, fixture->hca->complaints, 0);
}

static void request(struct fixture *fixture, s32 count)
{
	cxib_pages_request(&fixture->pages, 0, count);
	flush_work(&fixture->pages.work);
}

static void expect_pages(struct kunit *test, u32 count)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, fixture->pages.count, count);
	KUNIT_EXPECT_EQ(test, fixture->hca->page_count, count);
}

static const u32 demands[] = {
	0, 1, CXIB_PAGES_BATCH - 1, CXIB_PAGES_BATCH, CXIB_PAGES_BATCH + 1,
	2 * CXIB_PAGES_BATCH + 1,
};

static void describe_demand(const u32 *demand, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%u pages", *demand);
}

KUNIT_ARRAY_PARAM(demand, demands, describe_demand);

static void pages_supply_and_reclaim_match_demand(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	const u32 *demand = test->param_value;

	fixture->hca->boot_pages = *demand;
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	expect_pages(test, *demand);
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.given, fixture->pages.taken);
	KUNIT_EXPECT_EQ(test, fixture->pages.peak, *demand);
}

static void page_request_changes_count(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	const s32 count = CXIB_PAGES_BATCH + 52;

	/* The number of pages exceeds that of one command. */
	request(fixture, count);
	expect_pages(test, count);
	request(fixture, 1 - count);
	expect_pages(test, 1);
	request(fixture, -100);
	expect_pages(test, 0);
}

static void page_request_invalid_is_ignored(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	request(fixture, S32_MIN);
	cxib_pages_request(&fixture->pages, 3, 10);
	flush_work(&fixture->pages.work);
	expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 0);
}

/* Firmware waits for MANAGE_PAGES with op_mod ALLOCATION_FAIL. */
static void page_request_beyond_maximum_is_refused(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	request(fixture, REQUEST_MAX + 1);
	expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.failed, 1);
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 1);
	request(fixture, REQUESTED);
	expect_pages(test, REQUESTED);
}

static void page_request_sum_is_served_in_batches(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	unsigned int i;

	/* At the limit the driver refuses each batch without an allocation. */
	fixture->pages.rejected = fixture->pages.limit;
	fixture->pages.requested = BATCHES * REQUEST_MAX;
	for (i = 0; i < BATCHES + 2; i++)
		request(fixture, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.requested, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.failed, BATCHES);
	fixture->pages.rejected = 0;
}

static void pages_reclaim_empty_outputs_retries(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	fixture->hca->empty_outputs = 3;
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	expect_pages(test, 0);
}

/* The device may have accepted the pages although it reported an error. */
static void pages_supply_refused_counts_rejected_pages(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 1);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.rejected, FAKE_BOOT_PAGES);
	KUNIT_EXPECT_FALSE(test, xa_empty(&fixture->pages.held));

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_free(&fixture->pages));
	KUNIT_EXPECT_EQ(test, fixture->pages.rejected, 0);
	KUNIT_EXPECT_TRUE(test, xa_empty(&fixture->pages.held));
}

static void rejected_pages_count_towards_limit(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 1);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	fixture->hca->boot_pages = fixture->pages.limit - FAKE_BOOT_PAGES + 1;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_free(&fixture->pages));
}

static void pages_supply_timeout_keeps_pages(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_NEVER, 1);
	KUNIT_EXPECT_EQ(test, -ETIMEDOUT, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	KUNIT_EXPECT_EQ(test, fixture->pages.count, FAKE_BOOT_PAGES);
	KUNIT_EXPECT_EQ(test, FAKE_BOOT_PAGES, cxib_pages_free(&fixture->pages));
}

/* The second command, MANAGE_PAGES with op_mod ALLOCATION_FAIL, notifies firmware. */
static void page_request_failed_reports_allocation_fail(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 0);
	request(fixture, REQUESTED);
	KUNIT_EXPECT_EQ(test, fixture->pages.failed, 1);
	KUNIT_EXPECT_EQ(test, fixture->hca->commands, 2);
	expect_pages(test, 0);
}

static void pages_supply_beyond_limit_returns_enospc(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->boot_pages = fixture->pages.limit + 1;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	expect_pages(test, 0);
	fixture->hca->boot_pages = S32_MAX;
	KUNIT_EXPECT_EQ(test, -ENOSPC, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
}

/* 2 TiB in pages of 4 KiB need 4 GiB of MTTs, which the limit must allow. */
static void pages_limit_is_share_of_memory(struct kunit *test)
{
	KUNIT_EXPECT_EQ(test, SZ_256M >> 12, cxib_pages_limit(SZ_256M));
	KUNIT_EXPECT_EQ(test, SZ_256M >> 12, cxib_pages_limit(SZ_1G));
	KUNIT_EXPECT_EQ(test, SZ_1G >> 12, cxib_pages_limit(4ULL * SZ_1G));
	KUNIT_EXPECT_GT(test, cxib_pages_limit(2048ULL * SZ_1G), 8ULL * SZ_1G >> 12);
	KUNIT_EXPECT_EQ(test, S32_MAX, cxib_pages_limit(U64_MAX));
}

static void pages_supply_negative_demand_is_ignored(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->hca->boot_pages = 0x80000000;
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	expect_pages(test, 0);
}

static void pages_reclaim_unreturned_returns_ebusy(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	fixture->hca->keep_pages = true;
	KUNIT_EXPECT_EQ(test, -EBUSY, cxib_pages_reclaim(&fixture->pages));
	KUNIT_EXPECT_EQ(test, FAKE_BOOT_PAGES, cxib_pages_free(&fixture->pages));
}

static void pages_reclaim_unknown_page_returns_ebadmsg(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	/* Count and addresses consist of bytes FAKE_GARBAGE. */
	fake_hca_fail(fixture->hca, FAKE_FAULT_GARBAGE, fixture->hca->commands);
	KUNIT_EXPECT_EQ(test, -EBADMSG, cxib_pages_reclaim(&fixture->pages));
	expect_pages(test, FAKE_BOOT_PAGES);
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	expect_pages(test, 0);
}

/* log2 of a host page: 4 KiB as firmware pages, 16 KiB, 64 KiB. */
static const u32 host_pages[] = { 12, 14, 16 };

static void describe_host_page(const u32 *log_size, char *description)
{
	snprintf(description, KUNIT_PARAM_DESC_SIZE, "%lu KiB", BIT(*log_size - 10));
}

KUNIT_ARRAY_PARAM(host_page, host_pages, describe_host_page);

/* Not a multiple of 16, the number of firmware pages in 64 KiB. */
#define SHARED	37
#define FREED	20

/*
 * Returns the number of host pages for @count firmware pages; a host page has 1, 4 or 16 of them.
 */
static u32 host_pages_of(const struct fixture *fixture, u32 count)
{
	return DIV_ROUND_UP(count, 1U << (fixture->pages.log_host_page - 12));
}

static void host_page_is_shared_by_firmware_pages(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->pages.log_host_page = *(const u32 *)test->param_value;
	request(fixture, SHARED);
	expect_pages(test, SHARED);
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, host_pages_of(fixture, SHARED));

	request(fixture, -FREED);
	expect_pages(test, SHARED - FREED);
	KUNIT_EXPECT_LE(test, fixture->pages.mapped, host_pages_of(fixture, SHARED));
	/* The driver reuses freed firmware pages before it maps another host page. */
	request(fixture, FREED);
	expect_pages(test, SHARED);
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, host_pages_of(fixture, SHARED));

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	expect_pages(test, 0);
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, 0);
}

static void host_page_with_rejected_page_is_kept(struct kunit *test)
{
	struct fixture *fixture = test->priv;

	fixture->pages.log_host_page = *(const u32 *)test->param_value;
	fixture->hca->boot_pages = 1;
	/* The first command queries the demand. */
	fake_hca_fail(fixture->hca, FAKE_FAULT_STATUS, 1);
	KUNIT_EXPECT_EQ(test, -EIO, cxib_pages_supply(&fixture->pages, CXIB_PAGES_BOOT));
	request(fixture, SHARED);
	expect_pages(test, SHARED);
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, host_pages_of(fixture, SHARED + 1));

	KUNIT_EXPECT_EQ(test, 0, cxib_pages_reclaim(&fixture->pages));
	KUNIT_EXPECT_EQ(test, fixture->pages.rejected, 1);
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, 1);
	KUNIT_EXPECT_EQ(test, 0, cxib_pages_free(&fixture->pages));
	KUNIT_EXPECT_EQ(test, fixture->pages.mapped, 0);
}

static struct kunit_case pages_cases[] = {
	KUNIT_CASE_PARAM(pages_supply_and_reclaim_match_demand, demand_gen_params),
	KUNIT_CASE(page_request_changes_count),
	KUNIT_CASE(page_request_invalid_is_ignored),
	KUNIT_CASE(page_request_beyond_maximum_is_refused),
	KUNIT_CASE(page_request_sum_is_served_in_batches),
	KUNIT_CASE(pages_reclaim_empty_outputs_retries),
	KUNIT_CASE(pages_supply_refused_counts_rejected_pages),
	KUNIT_CASE(rejected_pages_count_towards_limit),
	KUNIT_CASE(pages_supply_timeout_keeps_pages),
	KUNIT_CASE(page_request_failed_reports_allocation_fail),
	KUNIT_CASE(pages_supply_beyond_limit_returns_enospc),
	KUNIT_CASE(pages_limit_is_share_of_memory),
	KUNIT_CASE(pages_supply_negative_demand_is_ignored),
	KUNIT_CASE(pages_reclaim_unreturned_returns_ebusy),
	KUNIT_CASE(pages_reclaim_unknown_page_returns_ebadmsg),
	KUNIT_CASE_PARAM(host_page_is_shared_by_firmware_pages, host_page_gen_params),
	KUNIT_CASE_PARAM(host_page_with_rejected_page_is_kept, host_page_gen_params),
	{}
};

static struct kunit_suite pages_suite = {
	.name = "pages",
	.init = pages_init,
	.exit = pages_exit,
	.test_cases = pages_cases,
};

kunit_test_suite(pages_suite);
