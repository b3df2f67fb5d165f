// SPDX-License-Identifier: GPL-2.0-only
/* Module information of the suites. */
#include <linux/module.h>

MODULE_DESCRIPTION("KUnit suites of cxib");
MODULE_LICENSE("GPL");
MODULE_IMPORT_NS(EXPORTED_FOR_KUNIT_TESTING);
