// SPDX-License-Identifier: GPL-2.0-only
/* A device with random completions and events. The driver must trust no value of the device. */
#include <linux/slab.h>

#include "fake_hca.h"
#include "hw/hw.h"
#include "kernel_kunit.h"

#define SEEDS		100
#define SHORT_MS	20
#define EVENTS		20

/* Minimum share of the seeds for each outcome: the device comes up, or it does not. */
#define SEEDS_OF_EACH	(SEEDS / 10)

static struct cxib_hw *alloc_hw(struct kunit *test, struct fake_hca *hca)
{
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	hw->command_timeout_ms = SHORT_MS;
	return hw;
}

static void run_for_a_while(struct fake_hca *hca, struct cxib_hw *hw)
{
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		fake_hca_post_random(hca);
		hca->registers[HW_INITIAL_SEG_OFFSET_HEALTH_COUNTER / 4]++;
		cxib_health_check(&hw->health);
	}
	flush_workqueue(hw->workqueue);
}

/* DMA is off and all interrupts are freed. */
static void expect_dma_off(struct kunit *test, struct fake_hca *hca, unsigned int seed)
{
	unsigned int i;

	KUNIT_EXPECT_FALSE_MSG(test, hca->dma, "seed %u", seed);
	KUNIT_EXPECT_EQ_MSG(test, 0, hca->vectors_given, "seed %u", seed);
	for (i = 0; i < FAKE_VECTORS; i++)
		KUNIT_EXPECT_NULL_MSG(test, hca->irqs[i].handler, "seed %u", seed);
}

static void hostile_device_random_faults_leave_dma_off(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);
	unsigned int brought_up = 0;
	struct cxib_hw *hw;
	unsigned int seed;

	fake_hca_want_few_pages(hca);
	hca->dma = false;
	for (seed = 1; seed <= SEEDS; seed++) {
		hw = alloc_hw(test, hca);
		prandom_seed_state(&hca->random, seed);
		hca->chance = 1 + seed % 12;
		if (!cxib_hw_bring_up(hw)) {
			brought_up++;
			run_for_a_while(hca, hw);
			cxib_hw_tear_down(hw);
		}
		hca->chance = 0;
		expect_dma_off(test, hca, seed);
		fake_hca_reset(hca);
		kunit_kfree(test, hw);
	}
	/* Both outcomes occur. */
	KUNIT_EXPECT_GT(test, brought_up, SEEDS_OF_EACH);
	KUNIT_EXPECT_LT(test, brought_up, SEEDS - SEEDS_OF_EACH);

	hca->complaints = 0;
	hw = alloc_hw(test, hca);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_SLOW(hostile_device_random_faults_leave_dma_off),
	{}
};

static struct kunit_suite suite = {
	.name = "hostile_device",
	.test_cases = cases,
};

kunit_test_suite(suite);
