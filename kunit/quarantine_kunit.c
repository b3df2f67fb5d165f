// SPDX-License-Identifier: GPL-2.0-only
/* Memory of queues whose create command has an unknown outcome stays allocated. */
#include "fake_queue_pair.h"
#include "hw/buffer.h"

static struct fake_queue_pair *create_fake(struct kunit *test, struct cxib_buffer *buffer)
{
	struct fake_queue_pair *fake = fake_queue_pair_create(test);

	KUNIT_ASSERT_EQ(test, 0, cxib_hw_create_dbr_pool(&fake->hw));
	KUNIT_ASSERT_EQ(test, 0, cxib_buffer_create(buffer, fake->hca->bus.dev, PAGE_SIZE));
	return fake;
}

/* Frees the memory of a queue whose create command has returned @err. */
static void free_after(struct kunit *test, struct fake_queue_pair *fake,
		       struct cxib_buffer *buffer, int err)
{
	struct cxib_dbr dbr;

	KUNIT_ASSERT_EQ(test, 0, cxib_dbr_alloc(&fake->hw, &dbr));
	cxib_free_queue_memory(&fake->ibdev, buffer, &dbr, err);
}

static void create_refused_frees_memory(struct kunit *test)
{
	struct cxib_buffer buffer;
	struct fake_queue_pair *fake = create_fake(test, &buffer);

	free_after(test, fake, &buffer, -EINVAL);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_TRUE(test, fake->hca->dma);
	cxib_hw_destroy_dbr_pool(&fake->hw);
}

static void expect_kept_until_dma_is_off(struct kunit *test, int err)
{
	struct cxib_buffer buffer;
	struct fake_queue_pair *fake = create_fake(test, &buffer);

	fake->hw.commands.num_pending = 1;
	free_after(test, fake, &buffer, err);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_TRUE(test, fake->hca->dma);
	cxib_quarantine_end(&fake->ibdev);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_FALSE(test, fake->hca->dma);
	cxib_hw_destroy_dbr_pool(&fake->hw);
}

static void create_timeout_keeps_memory_until_dma_off(struct kunit *test)
{
	expect_kept_until_dma_is_off(test, -ETIMEDOUT);
}

static void create_bad_output_keeps_memory_until_dma_off(struct kunit *test)
{
	expect_kept_until_dma_is_off(test, -EBADMSG);
}

/* The command was outstanding when the device became fatal, and DMA is still on. */
static void create_on_fatal_device_keeps_memory_until_dma_off(struct kunit *test)
{
	struct cxib_buffer buffer;
	struct fake_queue_pair *fake = create_fake(test, &buffer);

	fake->hw.commands.num_pending = 1;
	cxib_command_queue_set_fatal(&fake->hw.commands);
	free_after(test, fake, &buffer, -EIO);
	KUNIT_EXPECT_FALSE(test, list_empty(&fake->hw.commands.pending_memory));
	cxib_quarantine_end(&fake->ibdev);
	KUNIT_EXPECT_TRUE(test, list_empty(&fake->hw.commands.pending_memory));
	KUNIT_EXPECT_FALSE(test, fake->hca->dma);
	cxib_hw_destroy_dbr_pool(&fake->hw);
}

static unsigned int num_unpinned;

static void count_unpinned(struct cxib_dbr_page *page)
{
	num_unpinned++;
}

/* The page of a user queue outlives the queue and its user context. */
static void release_pinned_after(struct kunit *test, int err, unsigned int expected)
{
	static const struct cxib_user_interface user = { .unpin_record = count_unpinned };
	/* Never read. */
	struct cxib_pinned pinned = { .dbr_page = (struct cxib_dbr_page *)1 };
	struct cxib_buffer buffer;
	struct fake_queue_pair *fake = create_fake(test, &buffer);

	num_unpinned = 0;
	fake->ibdev.user = &user;
	fake->hw.commands.num_pending = 1;
	cxib_release_pinned(&fake->ibdev, &pinned, err);
	KUNIT_EXPECT_NULL(test, pinned.dbr_page);
	KUNIT_EXPECT_EQ(test, expected, num_unpinned);
	KUNIT_EXPECT_TRUE(test, fake->hca->dma);
	cxib_quarantine_end(&fake->ibdev);
	KUNIT_EXPECT_EQ(test, 1, num_unpinned);
	cxib_buffer_destroy(&buffer, fake->hca->bus.dev);
	cxib_hw_destroy_dbr_pool(&fake->hw);
}

static void create_user_queue_timeout_keeps_doorbell_page(struct kunit *test)
{
	release_pinned_after(test, -ETIMEDOUT, 0);
}

static void create_user_queue_refused_frees_doorbell_page(struct kunit *test)
{
	release_pinned_after(test, -EINVAL, 1);
}

static struct kunit_case cases[] = {
	KUNIT_CASE(create_refused_frees_memory),
	KUNIT_CASE(create_timeout_keeps_memory_until_dma_off),
	KUNIT_CASE(create_bad_output_keeps_memory_until_dma_off),
	KUNIT_CASE(create_user_queue_timeout_keeps_doorbell_page),
	KUNIT_CASE(create_user_queue_refused_frees_doorbell_page),
	KUNIT_CASE(create_on_fatal_device_keeps_memory_until_dma_off),
	{}
};

static struct kunit_suite suite = {
	.name = "quarantine",
	.test_cases = cases,
};

kunit_test_suite(suite);
