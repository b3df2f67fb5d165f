/* SPDX-License-Identifier: GPL-2.0-only */
/* Life time of objects: the delivery of events and polling hold references. */
#ifndef CXIB_VERBS_REFERENCE_H
#define CXIB_VERBS_REFERENCE_H

#include <linux/completion.h>
#include <linux/refcount.h>

/**
 * struct cxib_reference - keeps an object while one of its events is delivered
 * @count: number of references; the creator holds one
 * @gone: completed when the last reference is dropped
 */
struct cxib_reference {
	refcount_t count;
	struct completion gone;
};

static inline void cxib_reference_init(struct cxib_reference *reference)
{
	refcount_set(&reference->count, 1);
	init_completion(&reference->gone);
}

static inline void cxib_reference_put(struct cxib_reference *reference)
{
	if (refcount_dec_and_test(&reference->count))
		complete(&reference->gone);
}

/* Drops the creator's reference and waits for the others. */
static inline void cxib_reference_end(struct cxib_reference *reference)
{
	cxib_reference_put(reference);
	wait_for_completion(&reference->gone);
}

#endif
