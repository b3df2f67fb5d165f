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
 * The timer has its own 4 KiB of BAR 0. The 4 KiB before them contain the rest of the init segment,
 * with addresses of kernel memory; UAR pages follow them. So user space may map the timer only if
 * host pages are not larger than 4 KiB.
 */
static inline bool cxib_core_clock_is_mappable(size_t host_page)
{
	return host_page <= SZ_4K;
}

void cxib_clock_start(struct cxib_ibdev *ibdev);
void cxib_clock_stop(struct cxib_ibdev *ibdev);
struct page *cxib_clock_page(const struct cxib_ibdev *ibdev);

#endif
