/* SPDX-License-Identifier: GPL-2.0-only */
/* eventfd functions under the names of the newest kernel. */
#ifndef CXIB_COMPAT_EVENTFD_H
#define CXIB_COMPAT_EVENTFD_H

#include <linux/eventfd.h>

/* Adds one to the counter of an eventfd. Context: any. */
static inline void cxib_eventfd_signal(struct eventfd_ctx *eventfd)
{
#ifdef CXIB_LACKS_EVENTFD_SIGNAL_BY_ONE
	eventfd_signal(eventfd, 1);
#else
	eventfd_signal(eventfd);
#endif
}

#endif
