/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Event queues: rings of EQEs that report completions, completed commands and
 * asynchronous events.
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
 * struct cxib_eq - an event queue
 * @bus: bus access
 * @sink: destination of its events
 * @name: name of its interrupt
 * @eqn: EQN
 * @uar: index of the UAR page with its doorbell
 * @vector: interrupt vector
 * @log_size: log2 of the number of EQEs
 * @ring: ring of EQEs; NULL if freed
 * @dma: DMA address of the ring
 * @event_mask: bit n: events of type n are valid
 * @workqueue: where @work dispatches events in process context; NULL: they are
 *	dispatched in the interrupt
 * @work: polls the EQ
 * @lock: serializes readers of the ring; protects the members below. Taken in
 *	interrupts; not held while an event is dispatched.
 * @cons_index: consumer index
 * @events: number of events for statistics, never wraps
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
	spinlock_t lock; /* cons_index, events */
	u32 cons_index;
	u64 events;
};

/**
 * struct cxib_eq_attr - attributes of an EQ
 * @name: name of its interrupt, at most 31 characters
 * @uar: UAR index
 * @vector: interrupt vector, allocated by the caller
 * @cpu: initial affinity of the vector; negative: any CPU
 * @log_size: log2 of the number of EQEs, at least 6
 * @events: bit n: the EQ gets events of type n; 0 for a completion EQ
 * @uid: owner uid
 * @workqueue: where events are dispatched; NULL: in the interrupt
 * @optional: the caller continues without the EQ if firmware refuses it
 */
struct cxib_eq_attr {
	const char *name;
	u32 uar;
	unsigned int vector;
	int cpu;
	unsigned int log_size;
	u64 events;
	u16 uid;
	struct workqueue_struct *workqueue;
	bool optional;
};

int cxib_eq_create(struct cxib_eq *eq, struct cxib_bus *bus,
		   struct cxib_command_queue *commands, struct cxib_event_sink *sink,
		   const struct cxib_eq_attr *attr);
int cxib_eq_destroy(struct cxib_eq *eq, struct cxib_command_queue *commands);
bool cxib_eq_free(struct cxib_eq *eq);
void cxib_eq_synchronize(struct cxib_eq *eq);
unsigned int cxib_eq_poll(struct cxib_eq *eq);

#endif
