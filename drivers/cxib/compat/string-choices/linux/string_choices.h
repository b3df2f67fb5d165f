/* SPDX-License-Identifier: GPL-2.0-only */
/* In the include path of kernels without this header: they have the functions elsewhere. */
#include <linux/string_helpers.h>
