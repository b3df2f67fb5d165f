// SPDX-License-Identifier: GPL-2.0-only
/* What each device offers to kernel modules: include/cxib/functions.h. */
#include <cxib/functions.h>
#include <kunit/visibility.h>

#include "ulp/functions.h"
#include "ulp/poll.h"
#include "verbs/qp/pipelining.h"
#include "verbs/verbs.h"

static const struct cxib_functions functions = {
	.abi = CXIB_FUNCTIONS_ABI,
	.poll_contexts = &cxib_poll_functions,
	.signature_pipelining = cxib_find_signature_pipelining,
	.group = { .attrs = cxib_attributes },
};

const struct ib_device_ops cxib_ulp_ops = {
	.owner = THIS_MODULE,
	.device_group = &functions.group,
};
EXPORT_SYMBOL_IF_KUNIT(cxib_ulp_ops);
