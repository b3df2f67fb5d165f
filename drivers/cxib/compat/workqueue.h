/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Workqueues under the names of the newest kernel, which warns about the older names at run time.
 */
#ifndef CXIB_COMPAT_WORKQUEUE_H
#define CXIB_COMPAT_WORKQUEUE_H

#include <linux/workqueue.h>

#ifdef CXIB_LACKS_WORKQUEUE_KINDS
#define WQ_PERCPU		0
#define system_dfl_wq		system_unbound_wq
#define system_percpu_wq	system_wq
#endif

#endif
