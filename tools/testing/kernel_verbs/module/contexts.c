// SPDX-License-Identifier: GPL-2.0-or-later
/* Polling contexts of cxib. The functions are looked up, so that the module runs without cxib, too. */
#include <linux/module.h>

#include "kverbs.h"

/**
 * kverbs_alloc_cq() - cxib_alloc_cq()
 * @device: HCA
 * @context: cq_context
 * @nr_cqe: minimum number of CQEs
 * @comp_vector: completion vector
 * @options: polling context
 *
 * Return: as cxib_alloc_cq(); -EOPNOTSUPP without cxib.
 */
struct ib_cq *kverbs_alloc_cq(struct ib_device *device, void *context, int nr_cqe, int comp_vector,
			      const struct cxib_cq_options *options)
{
	typeof(__cxib_alloc_cq) *alloc = symbol_get(__cxib_alloc_cq);
	struct ib_cq *cq;

	if (!alloc)
		return ERR_PTR(-EOPNOTSUPP);
	cq = alloc(device, context, nr_cqe, comp_vector, options, KBUILD_MODNAME);
	symbol_put(__cxib_alloc_cq);
	return cq;
}

/**
 * kverbs_set_context() - cxib_cq_set_context()
 * @cq: CQ
 * @options: polling context
 *
 * Return: as cxib_cq_set_context(); -EOPNOTSUPP without cxib.
 */
int kverbs_set_context(struct ib_cq *cq, const struct cxib_cq_options *options)
{
	typeof(cxib_cq_set_context) *set = symbol_get(cxib_cq_set_context);
	int err;

	if (!set)
		return -EOPNOTSUPP;
	err = set(cq, options);
	symbol_put(cxib_cq_set_context);
	return err;
}
