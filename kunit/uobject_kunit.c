// SPDX-License-Identifier: GPL-2.0-only
/* Event handlers of files of asynchronous events, and pinned uobjects. */
#include <linux/slab.h>
#include <rdma/ib_verbs.h>
#include <rdma/uverbs_std_types.h>
#include <rdma/uverbs_types.h>

#include "kernel_kunit.h"
#include "user/uobject.h"

/**
 * struct event_file - a uobject with an event handler, as in the RDMA core
 * @uobject: uobject
 * @handler: its event handler
 */
struct event_file {
	struct ib_uobject uobject;
	struct ib_event_handler handler;
};

static const struct uverbs_obj_type event_file_type = {
	.obj_size = sizeof(struct event_file),
};

static const struct uverbs_api_object event_file_object = {
	.type_attrs = &event_file_type,
};

/**
 * struct fixture - a device and adjacent files
 * @ib: device; not registered
 * @context: user context
 * @files: files of asynchronous events, adjacent in memory
 */
struct fixture {
	struct ib_device ib;
	struct ib_ucontext context;
	struct event_file files[2];
};

static int uobject_init(struct kunit *test)
{
	struct fixture *fixture = kunit_kzalloc(test, sizeof(*fixture), GFP_KERNEL);
	unsigned int i;

	KUNIT_ASSERT_NOT_NULL(test, fixture);
	init_rwsem(&fixture->ib.event_handler_rwsem);
	INIT_LIST_HEAD(&fixture->ib.event_handler_list);
	fixture->context.device = &fixture->ib;
	for (i = 0; i < ARRAY_SIZE(fixture->files); i++) {
		fixture->files[i].uobject.context = &fixture->context;
		fixture->files[i].uobject.uapi_object = &event_file_object;
		kref_init(&fixture->files[i].uobject.ref);
	}
	test->priv = fixture;
	return 0;
}

static void add_handler(struct fixture *fixture, struct ib_event_handler *handler)
{
	list_add_tail(&handler->list, &fixture->ib.event_handler_list);
}

static void event_handler_of_file_is_inner_one(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_event_handler foreign = {};
	unsigned int i;

	add_handler(fixture, &foreign);
	add_handler(fixture, &fixture->files[0].handler);
	add_handler(fixture, &fixture->files[1].handler);
	for (i = 0; i < ARRAY_SIZE(fixture->files); i++)
		KUNIT_EXPECT_PTR_EQ(test, &fixture->files[i].handler,
				    cxib_async_event_handler(&fixture->files[i].uobject));
}

/* Both neighbours have a handler, directly before and directly after the file. */
static void event_handler_of_file_without_one_is_not_found(struct kunit *test)
{
	struct {
		struct event_file before, file, behind;
	} *memory = kunit_kzalloc(test, sizeof(*memory), GFP_KERNEL);
	struct fixture *fixture = test->priv;

	KUNIT_ASSERT_NOT_NULL(test, memory);
	memory->file.uobject = fixture->files[0].uobject;
	add_handler(fixture, &memory->before.handler);
	add_handler(fixture, (struct ib_event_handler *)&memory->behind);
	KUNIT_EXPECT_NULL(test, cxib_async_event_handler(&memory->file.uobject));
}

static void event_handler_that_is_not_wholly_inside_is_not_found(struct kunit *test)
{
	const struct uverbs_obj_type shorter = {
		.obj_size = sizeof(struct event_file) - 1,
	};
	const struct uverbs_api_object object = { .type_attrs = &shorter };
	struct fixture *fixture = test->priv;

	fixture->files[0].uobject.uapi_object = &object;
	add_handler(fixture, &fixture->files[0].handler);
	KUNIT_EXPECT_NULL(test, cxib_async_event_handler(&fixture->files[0].uobject));
}

/* 1 means one reader, as uverbs_try_lock_object() counts; a writer needs 0. */
static void uobject_pinned_has_reader_and_reference(struct kunit *test)
{
	struct fixture *fixture = test->priv;
	struct ib_uobject *uobject = &fixture->files[0].uobject;

	cxib_uobject_pin(uobject);
	KUNIT_EXPECT_EQ(test, 1, atomic_read(&uobject->usecnt));
	KUNIT_EXPECT_EQ(test, 2, kref_read(&uobject->ref));
	cxib_uobject_unpin(uobject);
	KUNIT_EXPECT_EQ(test, 0, atomic_read(&uobject->usecnt));
	KUNIT_EXPECT_EQ(test, 1, kref_read(&uobject->ref));
}

static struct kunit_case cases[] = {
	KUNIT_CASE(event_handler_of_file_is_inner_one),
	KUNIT_CASE(event_handler_of_file_without_one_is_not_found),
	KUNIT_CASE(event_handler_that_is_not_wholly_inside_is_not_found),
	KUNIT_CASE(uobject_pinned_has_reader_and_reference),
	{},
};

static struct kunit_suite uobject_suite = {
	.name = "uobject",
	.init = uobject_init,
	.test_cases = cases,
};

kunit_test_suite(uobject_suite);
