/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * DEVX: which user contexts get which events of the device. User space subscribes to event types of
 * objects of its user context, or of the device, and reads the events from a queue or waits for an
 * eventfd.
 */
#ifndef CXIB_USER_DEVX_EVENT_H
#define CXIB_USER_DEVX_EVENT_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/rbtree.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/wait.h>

#include "hw/events.h"
#include "user/devx_command.h"

struct completion;

/* Maximum number of event types of one request. */
#define CXIB_DEVX_TYPES_MAX		16

/*
 * Maximum number of subscriptions of one object, which an interrupt handler walks. The same limit
 * applies to the subscriptions of one queue to events of the device.
 */
#define CXIB_DEVX_SUBSCRIPTIONS_MAX	64

/* Maximum number of unread events of a queue with event data. */
#define CXIB_DEVX_EVENTS_MAX		256

/**
 * struct cxib_devx_record - an event as user space reads it
 * @cookie: value that user space has passed for the subscription
 * @entry: EQE; omitted in queues without event data
 */
struct cxib_devx_record {
	u64 cookie;
	struct hw_eqe entry;
};

/**
 * struct cxib_devx_events - subscriptions of a device
 * @mutex: held while subscriptions are added or removed; protects @device
 * @lock: protects @targets and their subscriptions; taken in interrupts
 * @targets: struct cxib_devx_target by kind and number
 * @device: subscriptions to events of the device
 */
struct cxib_devx_events {
	struct mutex mutex; /* device, changes of subscriptions */
	spinlock_t lock; /* targets and their subscriptions */
	struct rb_root targets;
	struct list_head device;
};

/**
 * struct cxib_devx_target - an object that events are about
 * @node: in the tree of targets; empty: the target is not attached
 * @key: kind and number
 * @has_events: the device raises events about objects of this kind
 * @count: number of @subscriptions
 * @subscriptions: subscriptions to events of the object
 * @drained: the event that reports a drained DCT completes it; NULL for other kinds of objects
 */
struct cxib_devx_target {
	struct rb_node node;
	u64 key;
	bool has_events;
	unsigned int count;
	struct list_head subscriptions;
	struct completion *drained;
};

/**
 * struct cxib_devx_queue - events that user space has not read yet
 * @lock: protects all members except @subscriptions and @device_count; taken in interrupts
 * @wait: readers
 * @omits_data: user space reads cookies only. Then @pending contains each subscription with unread
 *	events once, whatever their number. Otherwise @ring contains the events.
 * @is_overflow: events were lost
 * @is_destroyed: user space gets errors only
 * @pending: subscriptions with events
 * @ring: %CXIB_DEVX_EVENTS_MAX events
 * @first: index of the oldest event in @ring
 * @count: number of events in @ring
 * @subscriptions: subscriptions that use this queue; protected by the mutex of the events
 * @device_count: number of these subscriptions that are to events of the device; protected like
 *	@subscriptions
 */
struct cxib_devx_queue {
	spinlock_t lock; /* unread events */
	wait_queue_head_t wait;
	bool omits_data;
	bool is_overflow;
	bool is_destroyed;
	struct list_head pending;
	struct cxib_devx_record *ring;
	unsigned int first;
	unsigned int count;
	struct list_head subscriptions;
	unsigned int device_count;
};

/**
 * struct cxib_devx_subscribe - a request for events
 * @queue: queue of the user context
 * @target: object of the user context; NULL: the device
 * @types: event types
 * @count: number of @types
 * @cookie: value that identifies the events
 * @eventfd: eventfd that is signaled instead of @queue; negative: none
 */
struct cxib_devx_subscribe {
	struct cxib_devx_queue *queue;
	struct cxib_devx_target *target;
	const u16 *types;
	unsigned int count;
	u64 cookie;
	int eventfd;
};

void cxib_devx_events_init(struct cxib_devx_events *events);
void cxib_devx_events_destroy(struct cxib_devx_events *events);

void cxib_devx_target_init(struct cxib_devx_target *target, const struct cxib_devx_obj_id *object);
int cxib_devx_target_attach(struct cxib_devx_events *events, struct cxib_devx_target *target);
void cxib_devx_target_detach(struct cxib_devx_events *events, struct cxib_devx_target *target);
void cxib_devx_target_resume(struct cxib_devx_events *events, struct cxib_devx_target *target);
void cxib_devx_target_end(struct cxib_devx_events *events, struct cxib_devx_target *target);

int cxib_devx_queue_init(struct cxib_devx_queue *queue, bool omits_data);
void cxib_devx_queue_end(struct cxib_devx_events *events, struct cxib_devx_queue *queue);
bool cxib_devx_queue_is_ready(struct cxib_devx_queue *queue);
int cxib_devx_queue_take(struct cxib_devx_queue *queue, struct cxib_devx_record *record,
			 size_t room);

int cxib_devx_subscribe(struct cxib_devx_events *events,
			const struct cxib_devx_subscribe *request);
void cxib_devx_dispatch(struct cxib_devx_events *events, const struct hw_eqe *entry);
bool cxib_devx_dispatch_completion(struct cxib_devx_events *events, u32 cqn);

#endif
