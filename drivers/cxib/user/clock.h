/* SPDX-License-Identifier: GPL-2.0-only */
/* Clock info page: maps device clock cycles to host time for user space. */
#ifndef CXIB_USER_CLOCK_H
#define CXIB_USER_CLOCK_H

struct cxib_clock;
struct cxib_ibdev;
struct page;

void cxib_clock_start(struct cxib_ibdev *ibdev);
void cxib_clock_stop(struct cxib_ibdev *ibdev);
struct page *cxib_clock_page(const struct cxib_ibdev *ibdev);

#endif
