/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event queues: rings of entries in which the device tells of completions,
 * answered commands, and everything that happens by itself.
 */
#ifndef CXIB_HW_EQ_H
#define CXIB_HW_EQ_H

#include <linux/interrupt.h>
#include <linux/spinlock.h>
#include <linux/types.h>
#include <linux/workqueue.h>

struct cxib_bus;
struct cxib_command_queue;
struct cxib_event_sink;
struct hw_eqe;

/**
 * struct cxib_eq - one event queue
 * @bus: the way to the device
 * @sink: who is told of events
 * @name: name of its interrupt
 * @eqn: its number
 * @uar: number of the UAR page with its doorbell
 * @vector: its interrupt vector
 * @log_size: log2 of its entries
 * @ring: its memory
 * @dma: its bus address
 * @event_mask: bit n: events of type n may come
 * @workqueue: where @work runs, which dispatches events in process context;
 *	NULL: they are dispatched in the interrupt
 * @work: takes entries out of the ring
 * @lock: one reader of the ring at a time; protects what follows. Taken in
 *	interrupts; not held while an event is dispatched.
 * @cons_index: entries that were taken so far
 * @events: the same for statistics, never wraps
 */
struct cxib_eq {
	struct cxib_bus *bus;
	struct cxib_event_sink *sink;
	char name[32];
	u32 eqn;
	u32 uar;
	unsigned int vector;
	unsigned int log_size;
	struct hw_eqe *ring;
	dma_addr_t dma;
	u64 event_mask;
	struct workqueue_struct *workqueue;
	struct work_struct work;
	spinlock_t lock; /* the reader of the ring */
	u32 cons_index;
	u64 events;
};

/**
 * struct cxib_eq_attr - what an event queue shall be like
 * @name: for its interrupt, at most 31 characters
 * @uar: UAR page
 * @vector: interrupt vector, already allocated
 * @cpu: processor that the vector fires on at first; negative: any
 * @log_size: log2 of its entries, at least 6
 * @events: bit n: events of type n go there; 0 for a completion event queue
 * @workqueue: where events are dispatched; NULL: in the interrupt
 */
struct cxib_eq_attr {
	const char *name;
	u32 uar;
	unsigned int vector;
	int cpu;
	unsigned int log_size;
	u64 events;
	struct workqueue_struct *workqueue;
};

int cxib_eq_create(struct cxib_eq *eq, struct cxib_bus *bus,
		   struct cxib_command_queue *commands, struct cxib_event_sink *sink,
		   const struct cxib_eq_attr *attr);
int cxib_eq_destroy(struct cxib_eq *eq, struct cxib_command_queue *commands);
bool cxib_eq_free(struct cxib_eq *eq);
void cxib_eq_synchronize(struct cxib_eq *eq);
unsigned int cxib_eq_poll(struct cxib_eq *eq);

#endif
