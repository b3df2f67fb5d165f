/* SPDX-License-Identifier: GPL-2.0-only */
/* Clock info page: maps device clock cycles to host time for user space. */
#ifndef CXIB_USER_CLOCK_H
#define CXIB_USER_CLOCK_H

#include <linux/sizes.h>
#include <linux/types.h>

struct cxib_clock;
struct cxib_ibdev;
struct page;

/*
 * In BAR 0 the timer has 4 KiB of its own. Before them is the rest of the init segment, which has
 * addresses in kernel memory, behind them are UAR pages.
 */
static inline bool cxib_core_clock_is_mappable(size_t host_page)
{
	return host_page <= SZ_4K;
}

void cxib_clock_start(struct cxib_ibdev *ibdev);
void cxib_clock_stop(struct cxib_ibdev *ibdev);
struct page *cxib_clock_page(const struct cxib_ibdev *ibdev);

#endif
