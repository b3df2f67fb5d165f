// SPDX-License-Identifier: GPL-2.0-only
/* Module information of the suites. */
#include <linux/module.h>

#include "sample.h"

unsigned int kunit_sample = 1;

static int set_sample(const char *value, const struct kernel_param *param)
{
	return param_set_uint_minmax(value, param, 1, 64);
}

static const struct kernel_param_ops sample_ops = {
	.set = set_sample,
	.get = param_get_uint,
};

module_param_cb(sample, &sample_ops, &kunit_sample, 0444);
MODULE_PARM_DESC(sample, "A fault is tried at one of so many places (1 to 64)");

MODULE_DESCRIPTION("KUnit suites of cxib");
MODULE_LICENSE("GPL");
/* MODULE_IMPORT_NS() takes a name up to Linux 6.12 and a string later. */
MODULE_INFO(import_ns, "EXPORTED_FOR_KUNIT_TESTING");
