// SPDX-License-Identifier: GPL-2.0-only
/* A device that does anything: the driver takes nothing on trust. */
#include <kunit/test.h>
#include <linux/slab.h>

#include "fake_hca.h"
#include "hw/hw.h"

#define SEEDS		100
#define SHORT_MS	20
#define EVENTS		20

static struct cxib_hw *make_hw(struct kunit *test, struct fake_hca *hca)
{
	struct cxib_hw *hw = kunit_kzalloc(test, sizeof(*hw), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, hw);
	hw->bus = &hca->bus;
	hw->command_timeout_ms = SHORT_MS;
	return hw;
}

static void use_for_a_while(struct fake_hca *hca, struct cxib_hw *hw)
{
	unsigned int i;

	for (i = 0; i < EVENTS; i++) {
		fake_hca_post_random(hca);
		hca->registers[0x1010 / 4]++;
		cxib_health_check(&hw->health);
	}
	flush_workqueue(hw->workqueue);
}

/* The device cannot reach anything any more, and nobody listens to it. */
static void expect_cut_off(struct kunit *test, struct fake_hca *hca, unsigned int seed)
{
	unsigned int i;

	KUNIT_EXPECT_FALSE_MSG(test, hca->dma, "seed %u", seed);
	KUNIT_EXPECT_EQ_MSG(test, 0, hca->vectors_given, "seed %u", seed);
	for (i = 0; i < FAKE_VECTORS; i++)
		KUNIT_EXPECT_NULL_MSG(test, hca->irqs[i].handler, "seed %u", seed);
}

static void survives_whatever_it_does(struct kunit *test)
{
	struct fake_hca *hca = fake_hca_create(test);
	unsigned int brought_up = 0;
	struct cxib_hw *hw;
	unsigned int seed;

	fake_hca_want_few_pages(hca);
	hca->dma = false;
	for (seed = 1; seed <= SEEDS; seed++) {
		hw = make_hw(test, hca);
		prandom_seed_state(&hca->random, seed);
		hca->chance = 1 + seed % 12;
		if (!cxib_hw_bring_up(hw)) {
			brought_up++;
			use_for_a_while(hca, hw);
			cxib_hw_tear_down(hw);
		}
		hca->chance = 0;
		expect_cut_off(test, hca, seed);
		fake_hca_reset(hca);
		kunit_kfree(test, hw);
	}
	/* Otherwise this would not say much. */
	KUNIT_EXPECT_GT(test, brought_up, 10);
	KUNIT_EXPECT_LT(test, brought_up, SEEDS - 10);

	hca->complaints = 0;
	hw = make_hw(test, hca);
	KUNIT_ASSERT_EQ(test, 0, cxib_hw_bring_up(hw));
	cxib_hw_tear_down(hw);
	fake_hca_expect_clean(hca);
}

static struct kunit_case cases[] = {
	KUNIT_CASE_SLOW(survives_whatever_it_does),
	{}
};

static struct kunit_suite suite = {
	.name = "hostile_device",
	.test_cases = cases,
};

kunit_test_suite(suite);
