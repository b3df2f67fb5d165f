/* SPDX-License-Identifier: GPL-2.0-only */
/* How many of its places a case tries that tries them one by one. */
#ifndef CXIB_KUNIT_SAMPLE_H
#define CXIB_KUNIT_SAMPLE_H

/*
 * Module parameter: a fault is tried at one of so many places. The first place is another one for
 * each kind of fault, so that every place meets a fault where there are as many kinds.
 */
extern unsigned int kunit_sample;

#endif
