/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Dispatching events: the entries of event queues, which the device has
 * written, become calls with checked arguments.
 */
#ifndef CXIB_HW_DISPATCH_H
#define CXIB_HW_DISPATCH_H

#include <linux/atomic.h>
#include <linux/types.h>

#include "hw/events.h"

struct cxib_page_fault;
struct device;

/**
 * struct cxib_event_ops - who wants to know what; each may be NULL
 * @completion: completion queue @cqn has new entries. Interrupt context.
 * @commands_done: the commands in these slots are answered. Interrupt context.
 * @page_request: the firmware wants @count pages, or offers them, if negative.
 *	Process context, like all that follow.
 * @port_change: something about @port, counted from 1, has changed
 * @cq_error: completion queue @cqn has stopped
 * @queue_event: something happened to queue @number of kind @kind
 * @internal_error: the device failed
 * @page_fault: a transfer waits for pages, and for an answer
 */
struct cxib_event_ops {
	void (*completion)(void *context, u32 cqn);
	void (*commands_done)(void *context, u32 slots);
	void (*page_request)(void *context, u16 function, s32 count);
	void (*port_change)(void *context, unsigned int port,
			    enum hw_port_change_subtype change);
	void (*cq_error)(void *context, u32 cqn, u32 syndrome);
	void (*queue_event)(void *context, enum hw_event_type event,
			    enum hw_event_queue_type kind, u32 number);
	void (*internal_error)(void *context);
	void (*page_fault)(void *context, const struct cxib_page_fault *fault);
};

/**
 * struct cxib_event_sink - where the events of a device go
 * @dev: device, for messages
 * @handlers: who is called
 * @context: with what
 * @unknown: events of types that nobody knows
 * @unhandled: events that nobody wanted
 */
struct cxib_event_sink {
	struct device *dev;
	const struct cxib_event_ops *handlers;
	void *context;
	atomic64_t unknown;
	atomic64_t unhandled;
};

void cxib_dispatch_event(struct cxib_event_sink *sink, u64 expected, const struct hw_eqe *entry);

/* Types of the events that an asynchronous event queue is to take. */
u64 cxib_asynchronous_events(bool has_dct);

#endif
