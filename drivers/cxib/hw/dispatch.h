/* SPDX-License-Identifier: GPL-2.0-only */
/* Event dispatch: converts EQEs to handler calls with checked arguments. */
#ifndef CXIB_HW_DISPATCH_H
#define CXIB_HW_DISPATCH_H

#include <linux/atomic.h>
#include <linux/types.h>
#include <asm/barrier.h>

#include "hw/events.h"

struct cxib_eq;
struct cxib_page_fault;
struct device;

/**
 * struct cxib_event_ops - handlers of the events that hw/ itself handles; each may be NULL
 * @commands_done: the commands in these slots have completed. Interrupt context.
 * @page_request: firmware requests @count pages or, if negative, returns them.
 *	Process context, like the handlers below.
 * @internal_error: the device has failed
 * @page_fault: a transfer is suspended until PAGE_FAULT_RESUME, and no client handles it
 */
struct cxib_event_ops {
	void (*commands_done)(void *context, u32 slots);
	void (*page_request)(void *context, u16 function, s32 count);
	void (*internal_error)(void *context);
	void (*page_fault)(void *context, const struct cxib_page_fault *fault);
};

/**
 * struct cxib_client_ops - handlers of the events of objects
 * @completion: @eq reports that CQ @cqn has new CQEs. Interrupt context.
 * @port_change: state or attributes of @port, counted from 1, have changed.
 *	Process context, like the handlers below.
 * @cq_error: CQ @cqn is in error
 * @queue_event: event of queue @number of kind @kind
 * @event: called before the handler of a port event, CQ error or queue event, with the event as the
 *	device has written it
 * @page_fault: a transfer is suspended until PAGE_FAULT_RESUME
 * @fatal: the device is fatal, and DMA is off
 */
struct cxib_client_ops {
	void (*completion)(void *context, const struct cxib_eq *eq, u32 cqn);
	void (*port_change)(void *context, unsigned int port,
			    enum hw_port_change_subtype change);
	void (*cq_error)(void *context, u32 cqn, u32 syndrome);
	void (*queue_event)(void *context, enum hw_event_type event,
			    enum hw_event_queue_type kind, u32 number);
	void (*event)(void *context, const struct hw_eqe *entry);
	void (*page_fault)(void *context, const struct cxib_page_fault *fault);
	void (*fatal)(void *context);
};

/**
 * struct cxib_hw_client - the client of a device that is up
 * @ops: handlers of the client; none is NULL
 * @context: first argument of the handlers
 */
struct cxib_hw_client {
	const struct cxib_client_ops *ops;
	void *context;
};

/**
 * struct cxib_event_sink - destination of the events of a device
 * @dev: device, for messages
 * @handlers: handlers of hw/
 * @context: first argument of these handlers
 * @client: handles the events of objects; NULL: no client. Changes while EQs are in use, so readers
 *	call cxib_event_client().
 * @unknown: number of events of unknown types
 * @unhandled: number of events without a handler
 */
struct cxib_event_sink {
	struct device *dev;
	const struct cxib_event_ops *handlers;
	void *context;
	const struct cxib_hw_client *client;
	atomic64_t unknown;
	atomic64_t unhandled;
};

static inline const struct cxib_hw_client *cxib_event_client(const struct cxib_event_sink *sink)
{
	/* Pairs with the release in cxib_hw_set_client(). */
	return smp_load_acquire(&sink->client);
}

void cxib_dispatch_event(const struct cxib_eq *eq, const struct hw_eqe *entry);

u64 cxib_asynchronous_events(bool has_dct);

#endif
