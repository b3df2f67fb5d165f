/* SPDX-License-Identifier: GPL-2.0-only */
/* Number of places at which a case tries a fault. */
#ifndef CXIB_KUNIT_SAMPLE_H
#define CXIB_KUNIT_SAMPLE_H

/*
 * Module parameter: a case tries a fault at one of so many places. Each kind of fault starts at
 * another place, so that every place gets a fault if there are as many kinds.
 */
extern unsigned int kunit_sample;

#endif
