// SPDX-License-Identifier: GPL-2.0-only
/*
 * DEVX: which user contexts get which events of the device.
 *
 * A target is in the tree only while its object has the number of the target, so an event never
 * reaches a user context whose former object had the same number.
 *
 * Lock order: the mutex of the events, the lock of the events, the lock of a queue.
 */
#include <kunit/visibility.h>
#include <linux/completion.h>
#include <linux/err.h>
#include <linux/eventfd.h>
#include <linux/export.h>
#include <linux/slab.h>

#include "compat/eventfd.h"
#include "user/devx_event.h"

/**
 * struct devx_subscription - one event type of one target, for one queue
 * @target_entry: in the list of the target, or of the device
 * @queue_entry: entry in the list of the queue
 * @pending_entry: in the list of subscriptions with unread events; empty: no event is unread
 * @queue: queue
 * @target: object; NULL: the device
 * @eventfd: signaled instead of @queue; NULL: none
 * @cookie: value that user space has given
 * @type: event type
 * @is_orphan: the object is destroyed; the reader of the event frees the subscription
 */
struct devx_subscription {
	struct list_head target_entry;
	struct list_head queue_entry;
	struct list_head pending_entry;
	struct cxib_devx_queue *queue;
	struct cxib_devx_target *target;
	struct eventfd_ctx *eventfd;
	u64 cookie;
	u16 type;
	bool is_orphan;
};

/* SRQs of all kinds share a number space and the event types. */
static u64 devx_key(enum cxib_devx_kind kind, u32 number)
{
	if (kind == CXIB_DEVX_XRQ)
		kind = CXIB_DEVX_RMP;
	return (u64)kind << 32 | number;
}

static bool devx_kind_has_events(enum cxib_devx_kind kind)
{
	switch (kind) {
	case CXIB_DEVX_CQ:
	case CXIB_DEVX_QP:
	case CXIB_DEVX_DCT:
	case CXIB_DEVX_RMP:
	case CXIB_DEVX_XRQ:
		return true;
	default:
		return false;
	}
}

static bool devx_is_object_type(u16 type)
{
	switch (type) {
	case HW_EVENT_TYPE_COMP:
	case HW_EVENT_TYPE_PATH_MIG:
	case HW_EVENT_TYPE_COMM_EST:
	case HW_EVENT_TYPE_SQ_DRAINED:
	case HW_EVENT_TYPE_CQ_ERROR:
	case HW_EVENT_TYPE_WQ_CATAS_ERROR:
	case HW_EVENT_TYPE_PATH_MIG_FAILED:
	case HW_EVENT_TYPE_WQ_INVAL_REQ_ERROR:
	case HW_EVENT_TYPE_WQ_ACCESS_ERROR:
	case HW_EVENT_TYPE_SRQ_CATAS_ERROR:
	case HW_EVENT_TYPE_SRQ_LAST_WQE:
	case HW_EVENT_TYPE_SRQ_RQ_LIMIT:
	case HW_EVENT_TYPE_DCT_DRAINED:
	case HW_EVENT_TYPE_DCT_KEY_VIOLATION:
		return true;
	default:
		return false;
	}
}

static bool devx_is_device_type(u16 type)
{
	return type == HW_EVENT_TYPE_PORT_CHANGE;
}

/**
 * cxib_devx_events_init() - initializes subscriptions without a member
 * @events: subscriptions of a device
 */
void cxib_devx_events_init(struct cxib_devx_events *events)
{
	mutex_init(&events->mutex);
	spin_lock_init(&events->lock);
	events->targets = RB_ROOT;
	INIT_LIST_HEAD(&events->device);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_events_init);

/**
 * cxib_devx_events_destroy() - undo cxib_devx_events_init()
 * @events: subscriptions of a device without user contexts
 */
void cxib_devx_events_destroy(struct cxib_devx_events *events)
{
	WARN_ON(!RB_EMPTY_ROOT(&events->targets) || !list_empty(&events->device));
	mutex_destroy(&events->mutex);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_events_destroy);

static struct cxib_devx_target *devx_target_of(const struct rb_node *node)
{
	return rb_entry(node, struct cxib_devx_target, node);
}

static int devx_compare_key(const void *key, const struct rb_node *node)
{
	const u64 wanted = *(const u64 *)key;
	const u64 found = devx_target_of(node)->key;

	return wanted < found ? -1 : wanted > found;
}

static int devx_compare_nodes(struct rb_node *added, const struct rb_node *node)
{
	return devx_compare_key(&devx_target_of(added)->key, node);
}

/**
 * cxib_devx_target_init() - initializes a target without subscriptions
 * @target: target, not attached
 * @object: object
 */
void cxib_devx_target_init(struct cxib_devx_target *target, const struct cxib_devx_obj_id *object)
{
	*target = (struct cxib_devx_target){
		.key = devx_key(object->kind, object->number),
		.has_events = devx_kind_has_events(object->kind),
	};
	RB_CLEAR_NODE(&target->node);
	INIT_LIST_HEAD(&target->subscriptions);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_target_init);

/**
 * cxib_devx_target_attach() - lets events reach a target
 * @events: subscriptions of the device
 * @target: target that is not attached; its object exists
 *
 * Return: 0; -EEXIST if another object has the number: the device is faulty.
 */
int cxib_devx_target_attach(struct cxib_devx_events *events, struct cxib_devx_target *target)
{
	struct rb_node *other = NULL;

	if (!target->has_events)
		return 0;
	scoped_guard(spinlock_irq, &events->lock)
		other = rb_find_add(&target->node, &events->targets, devx_compare_nodes);
	return other ? -EEXIST : 0;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_target_attach);

/**
 * cxib_devx_target_detach() - stops the delivery of events to a target
 * @events: subscriptions of the device
 * @target: target; nothing happens if it is not attached
 *
 * The target keeps its subscriptions. The caller detaches the target before it destroys the object,
 * because the device may give the number to another user context at once.
 */
void cxib_devx_target_detach(struct cxib_devx_events *events, struct cxib_devx_target *target)
{
	scoped_guard(spinlock_irq, &events->lock) {
		if (!RB_EMPTY_NODE(&target->node)) {
			rb_erase(&target->node, &events->targets);
			RB_CLEAR_NODE(&target->node);
		}
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_target_detach);

static void devx_report_loss(struct devx_subscription *subscription)
{
	struct cxib_devx_queue *queue = subscription->queue;

	/*
	 * An eventfd cannot report an error, so it is signaled and its reader looks at the object.
	 */
	if (subscription->eventfd) {
		cxib_eventfd_signal(subscription->eventfd);
		return;
	}
	scoped_guard(spinlock_irq, &queue->lock)
		queue->is_overflow = true;
	wake_up_interruptible(&queue->wait);
}

/**
 * cxib_devx_target_resume() - undo cxib_devx_target_detach() because the object still exists
 * @events: subscriptions of the device
 * @target: target that is not attached
 *
 * Events may have been lost in the meantime: the next reader of each queue gets -EOVERFLOW, and
 * each eventfd is signaled.
 */
void cxib_devx_target_resume(struct cxib_devx_events *events, struct cxib_devx_target *target)
{
	struct devx_subscription *subscription;

	/* Fails if a faulty device has given the number to another object. */
	cxib_devx_target_attach(events, target);
	guard(mutex)(&events->mutex);
	list_for_each_entry(subscription, &target->subscriptions, target_entry)
		devx_report_loss(subscription);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_target_resume);

static void devx_subscription_free(struct devx_subscription *subscription)
{
	if (subscription->eventfd)
		eventfd_ctx_put(subscription->eventfd);
	kfree(subscription);
}

static struct devx_subscription *
devx_subscription_alloc(const struct cxib_devx_subscribe *request, u16 type)
{
	struct devx_subscription *subscription =
		kzalloc(sizeof(*subscription), GFP_KERNEL_ACCOUNT);
	struct eventfd_ctx *eventfd = NULL;

	if (!subscription)
		return ERR_PTR(-ENOMEM);
	if (request->eventfd >= 0)
		eventfd = eventfd_ctx_fdget(request->eventfd);
	if (IS_ERR(eventfd)) {
		kfree(subscription);
		return ERR_CAST(eventfd);
	}
	subscription->queue = request->queue;
	subscription->target = request->target;
	subscription->eventfd = eventfd;
	subscription->cookie = request->cookie;
	subscription->type = type;
	INIT_LIST_HEAD(&subscription->pending_entry);
	return subscription;
}

static void devx_subscription_link(struct cxib_devx_events *events,
				   struct devx_subscription *subscription)
{
	struct cxib_devx_target *target = subscription->target;

	lockdep_assert_held(&events->mutex);

	list_add_tail(&subscription->queue_entry, &subscription->queue->subscriptions);
	if (!target) {
		list_add_tail(&subscription->target_entry, &events->device);
		subscription->queue->device_count++;
		return;
	}
	scoped_guard(spinlock_irq, &events->lock) {
		list_add_tail(&subscription->target_entry, &target->subscriptions);
		target->count++;
	}
}

/* On return no further event reaches the subscription, but an event may still be unread. */
static void devx_subscription_unlink(struct cxib_devx_events *events,
				     struct devx_subscription *subscription)
{
	struct cxib_devx_target *target = subscription->target;

	lockdep_assert_held(&events->mutex);

	list_del(&subscription->queue_entry);
	if (!target) {
		list_del(&subscription->target_entry);
		subscription->queue->device_count--;
		return;
	}
	scoped_guard(spinlock_irq, &events->lock) {
		list_del(&subscription->target_entry);
		target->count--;
	}
}

/* User space can still read an event that came before its object was destroyed. */
static void devx_subscription_retire(struct devx_subscription *subscription)
{
	bool is_pending = false;

	scoped_guard(spinlock_irq, &subscription->queue->lock) {
		is_pending = !list_empty(&subscription->pending_entry);
		subscription->is_orphan = is_pending;
	}
	/* The reader frees an orphan, possibly at this moment. */
	if (!is_pending)
		devx_subscription_free(subscription);
}

/**
 * cxib_devx_target_end() - frees the subscriptions of a target
 * @events: subscriptions of the device
 * @target: target that is not attached
 *
 * Context: process context, may sleep.
 */
void cxib_devx_target_end(struct cxib_devx_events *events, struct cxib_devx_target *target)
{
	struct devx_subscription *subscription, *next;

	guard(mutex)(&events->mutex);
	list_for_each_entry_safe(subscription, next, &target->subscriptions, target_entry) {
		devx_subscription_unlink(events, subscription);
		devx_subscription_retire(subscription);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_target_end);

/**
 * cxib_devx_queue_init() - initializes an empty queue
 * @queue: queue
 * @omits_data: user space reads cookies only
 *
 * Return: 0 or -ENOMEM.
 */
int cxib_devx_queue_init(struct cxib_devx_queue *queue, bool omits_data)
{
	spin_lock_init(&queue->lock);
	init_waitqueue_head(&queue->wait);
	INIT_LIST_HEAD(&queue->pending);
	INIT_LIST_HEAD(&queue->subscriptions);
	queue->omits_data = omits_data;
	if (omits_data)
		return 0;
	queue->ring = kvcalloc(CXIB_DEVX_EVENTS_MAX, sizeof(*queue->ring), GFP_KERNEL_ACCOUNT);
	return queue->ring ? 0 : -ENOMEM;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_queue_init);

static void devx_free_orphans(struct list_head *orphans)
{
	struct devx_subscription *subscription, *next;

	list_for_each_entry_safe(subscription, next, orphans, pending_entry)
		devx_subscription_free(subscription);
}

/**
 * cxib_devx_queue_end() - frees the subscriptions and events of a queue; readers get -EIO
 * @events: subscriptions of the device
 * @queue: queue; its memory must stay as long as there may be readers
 *
 * Context: process context, may sleep.
 */
void cxib_devx_queue_end(struct cxib_devx_events *events, struct cxib_devx_queue *queue)
{
	struct devx_subscription *subscription, *next;
	struct cxib_devx_record *ring;
	LIST_HEAD(orphans);

	scoped_guard(mutex, &events->mutex)
		list_for_each_entry_safe(subscription, next, &queue->subscriptions, queue_entry) {
			devx_subscription_unlink(events, subscription);
			devx_subscription_retire(subscription);
		}
	scoped_guard(spinlock_irq, &queue->lock) {
		queue->is_destroyed = true;
		queue->count = 0;
		ring = queue->ring;
		queue->ring = NULL;
		list_splice_init(&queue->pending, &orphans);
	}
	wake_up_interruptible(&queue->wait);
	devx_free_orphans(&orphans);
	kvfree(ring);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_queue_end);

static bool devx_queue_is_empty(const struct cxib_devx_queue *queue)
{
	return queue->omits_data ? list_empty(&queue->pending) : !queue->count;
}

/**
 * cxib_devx_queue_is_ready() - whether a read returns without waiting
 * @queue: queue
 */
bool cxib_devx_queue_is_ready(struct cxib_devx_queue *queue)
{
	bool is_ready = false;

	scoped_guard(spinlock_irq, &queue->lock)
		is_ready = !devx_queue_is_empty(queue) || queue->is_overflow ||
			   queue->is_destroyed;
	return is_ready;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_queue_is_ready);

static u64 devx_take_cookie(struct cxib_devx_queue *queue)
{
	struct devx_subscription *subscription =
		list_first_entry(&queue->pending, struct devx_subscription, pending_entry);
	const u64 cookie = subscription->cookie;

	lockdep_assert_held(&queue->lock);

	list_del_init(&subscription->pending_entry);
	if (subscription->is_orphan)
		devx_subscription_free(subscription);
	return cookie;
}

static int devx_take(struct cxib_devx_queue *queue, struct cxib_devx_record *record, size_t room)
{
	const int length = queue->omits_data ? sizeof(record->cookie) : sizeof(*record);

	lockdep_assert_held(&queue->lock);

	if (queue->is_overflow) {
		queue->is_overflow = false;
		return -EOVERFLOW;
	}
	if (queue->is_destroyed)
		return -EIO;
	if (devx_queue_is_empty(queue))
		return -EAGAIN;
	if (room < length)
		return -EINVAL;
	if (queue->omits_data) {
		record->cookie = devx_take_cookie(queue);
		return length;
	}
	*record = queue->ring[queue->first];
	queue->first = (queue->first + 1) % CXIB_DEVX_EVENTS_MAX;
	queue->count--;
	return length;
}

/**
 * cxib_devx_queue_take() - takes the oldest event
 * @queue: queue
 * @record: output
 * @room: bytes that the caller has for the record
 *
 * Return: the length of the record, bytes; or
 *	-EOVERFLOW when events were lost since the last call,
 *	-EIO when the queue is destroyed,
 *	-EAGAIN when there is no event,
 *	-EINVAL when @room is too small.
 */
int cxib_devx_queue_take(struct cxib_devx_queue *queue, struct cxib_devx_record *record,
			 size_t room)
{
	int result = 0;

	scoped_guard(spinlock_irq, &queue->lock)
		result = devx_take(queue, record, room);
	return result;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_queue_take);

static void devx_put(struct cxib_devx_queue *queue, struct devx_subscription *subscription,
		     const struct hw_eqe *entry)
{
	lockdep_assert_held(&queue->lock);

	if (queue->omits_data) {
		if (list_empty(&subscription->pending_entry))
			list_add_tail(&subscription->pending_entry, &queue->pending);
	} else if (queue->count == CXIB_DEVX_EVENTS_MAX) {
		queue->is_overflow = true;
	} else {
		queue->ring[(queue->first + queue->count) % CXIB_DEVX_EVENTS_MAX] =
			(struct cxib_devx_record){ subscription->cookie, *entry };
		queue->count++;
	}
}

static void devx_notify(struct devx_subscription *subscription, const struct hw_eqe *entry)
{
	struct cxib_devx_queue *queue = subscription->queue;

	if (subscription->eventfd) {
		cxib_eventfd_signal(subscription->eventfd);
		return;
	}
	scoped_guard(spinlock_irqsave, &queue->lock)
		devx_put(queue, subscription, entry);
	wake_up_interruptible(&queue->wait);
}

static void devx_deliver(struct list_head *subscriptions, const struct hw_eqe *entry)
{
	const u32 type = hw_eqe_get_event_type(entry);
	struct devx_subscription *subscription;

	list_for_each_entry(subscription, subscriptions, target_entry)
		if (subscription->type == type)
			devx_notify(subscription, entry);
}

static bool devx_has_room(const struct cxib_devx_subscribe *request)
{
	const unsigned int count = request->target ? request->target->count :
						     request->queue->device_count;

	return count + request->count <= CXIB_DEVX_SUBSCRIPTIONS_MAX;
}

static bool devx_types_are_valid(const struct cxib_devx_subscribe *request)
{
	unsigned int i;

	if (!request->count || request->count > CXIB_DEVX_TYPES_MAX)
		return false;
	for (i = 0; i < request->count; i++)
		if (request->target ? !devx_is_object_type(request->types[i]) :
				      !devx_is_device_type(request->types[i]))
			return false;
	return true;
}

static int devx_subscriptions_alloc(const struct cxib_devx_subscribe *request,
				    struct list_head *list)
{
	struct devx_subscription *subscription;
	unsigned int i;

	for (i = 0; i < request->count; i++) {
		subscription = devx_subscription_alloc(request, request->types[i]);
		if (IS_ERR(subscription))
			return PTR_ERR(subscription);
		list_add_tail(&subscription->queue_entry, list);
	}
	return 0;
}

/**
 * cxib_devx_subscribe() - subscribes to all events of a request, or to none
 * @events: subscriptions of the device
 * @request: request; the caller keeps its queue and target during the call
 *
 * Context: process context, may sleep.
 * Return: 0, or
 *	-EINVAL when the target has no events of a type, or there are too many types,
 *	-ENOSPC when the target has too many subscriptions,
 *	-ENOMEM; the error of eventfd_ctx_fdget().
 */
int cxib_devx_subscribe(struct cxib_devx_events *events,
			const struct cxib_devx_subscribe *request)
{
	struct devx_subscription *subscription, *next;
	LIST_HEAD(added);
	int err;

	if (!devx_types_are_valid(request))
		return -EINVAL;
	err = devx_subscriptions_alloc(request, &added);
	guard(mutex)(&events->mutex);
	if (!err && !devx_has_room(request))
		err = -ENOSPC;
	list_for_each_entry_safe(subscription, next, &added, queue_entry) {
		list_del(&subscription->queue_entry);
		if (err)
			devx_subscription_free(subscription);
		else
			devx_subscription_link(events, subscription);
	}
	return err;
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_subscribe);

static struct cxib_devx_target *devx_find(struct cxib_devx_events *events, u64 key)
{
	struct rb_node *node;

	lockdep_assert_held(&events->lock);

	node = rb_find(&key, &events->targets, devx_compare_key);
	return node ? devx_target_of(node) : NULL;
}

static void devx_dispatch_to_target(struct cxib_devx_target *target, const struct hw_eqe *entry)
{
	if (target->drained && hw_eqe_get_event_type(entry) == HW_EVENT_TYPE_DCT_DRAINED)
		complete_all(target->drained);
	devx_deliver(&target->subscriptions, entry);
}

static bool devx_dispatch_to(struct cxib_devx_events *events, u64 key, const struct hw_eqe *entry)
{
	struct cxib_devx_target *target = NULL;

	scoped_guard(spinlock_irqsave, &events->lock) {
		target = devx_find(events, key);
		if (target)
			devx_dispatch_to_target(target, entry);
	}
	return target;
}

static void devx_dispatch_queue(struct cxib_devx_events *events, const struct hw_eqe *entry)
{
	const struct hw_qp_events *data = hw_eqe_get_event_data_qp_events(entry);
	enum cxib_devx_kind kind = CXIB_DEVX_QP;

	switch (hw_eqe_get_event_type(entry)) {
	case HW_EVENT_TYPE_SRQ_CATAS_ERROR:
	case HW_EVENT_TYPE_SRQ_RQ_LIMIT:
		kind = CXIB_DEVX_RMP;
		break;
	default:
		if (hw_qp_events_get_type(data) != HW_EVENT_QUEUE_TYPE_QP)
			return;
		break;
	}
	devx_dispatch_to(events, devx_key(kind, hw_qp_events_get_qpn_rqn_sqn(data)), entry);
}

/**
 * cxib_devx_dispatch() - delivers an event to its subscribers
 * @events: subscriptions of the device
 * @entry: EQE of an event that is no completion event
 *
 * Context: process context, may sleep.
 */
void cxib_devx_dispatch(struct cxib_devx_events *events, const struct hw_eqe *entry)
{
	u32 number;

	switch (hw_eqe_get_event_type(entry)) {
	case HW_EVENT_TYPE_PORT_CHANGE:
		scoped_guard(mutex, &events->mutex)
			devx_deliver(&events->device, entry);
		return;
	case HW_EVENT_TYPE_CQ_ERROR:
		number = hw_cq_error_get_cqn(hw_eqe_get_event_data_cq_error(entry));
		devx_dispatch_to(events, devx_key(CXIB_DEVX_CQ, number), entry);
		return;
	case HW_EVENT_TYPE_DCT_DRAINED:
	case HW_EVENT_TYPE_DCT_KEY_VIOLATION:
		number = hw_dct_events_get_dct_number(hw_eqe_get_event_data_dct_events(entry));
		devx_dispatch_to(events, devx_key(CXIB_DEVX_DCT, number), entry);
		return;
	default:
		devx_dispatch_queue(events, entry);
	}
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_dispatch);

/**
 * cxib_devx_dispatch_completion() - delivers a completion event to its subscribers
 * @events: subscriptions of the device
 * @cqn: CQN of a CQ that no verb has created
 *
 * Context: any.
 * Return: whether user space has a CQ with this CQN.
 */
bool cxib_devx_dispatch_completion(struct cxib_devx_events *events, u32 cqn)
{
	struct hw_eqe entry = {};

	hw_eqe_set_event_type(&entry, HW_EVENT_TYPE_COMP);
	hw_comp_event_set_cq_number(hw_eqe_event_data_comp_event(&entry), cqn);
	return devx_dispatch_to(events, devx_key(CXIB_DEVX_CQ, cqn), &entry);
}
EXPORT_SYMBOL_IF_KUNIT(cxib_devx_dispatch_completion);
