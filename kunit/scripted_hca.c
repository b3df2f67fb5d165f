// SPDX-License-Identifier: GPL-2.0-only
#include <linux/string.h>

#include "scripted_hca.h"

static u8 script(struct fake_hca *hca, const void *in, u32 in_length, void *out, u32 out_length)
{
	struct scripted_hca *scripted = hca->script_context;

	KUNIT_EXPECT_LE(hca->test, in_length, SCRIPTED_BYTES);
	KUNIT_EXPECT_LE(hca->test, out_length, SCRIPTED_BYTES);
	scripted->in_length = min_t(u32, in_length, SCRIPTED_BYTES);
	scripted->out_length = min_t(u32, out_length, SCRIPTED_BYTES);
	memcpy(scripted->in, in, scripted->in_length);
	memcpy(out, scripted->out, scripted->out_length);
	return scripted->status;
}

struct scripted_hca *scripted_hca_create(struct kunit *test)
{
	struct scripted_hca *scripted = kunit_kzalloc(test, sizeof(*scripted), GFP_KERNEL);

	KUNIT_ASSERT_NOT_NULL(test, scripted);
	scripted->in = kunit_kzalloc(test, SCRIPTED_BYTES, GFP_KERNEL);
	scripted->out = kunit_kzalloc(test, SCRIPTED_BYTES, GFP_KERNEL);
	KUNIT_ASSERT_NOT_NULL(test, scripted->in);
	KUNIT_ASSERT_NOT_NULL(test, scripted->out);
	scripted->hca = fake_hca_create(test);
	scripted->hca->script = script;
	scripted->hca->script_context = scripted;
	fake_hca_start_queue(scripted->hca, &scripted->queue);
	return scripted;
}
