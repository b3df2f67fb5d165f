/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Takes the place of this header on kernels without it, which have its functions in another header.
 */
#include <linux/string_helpers.h>
