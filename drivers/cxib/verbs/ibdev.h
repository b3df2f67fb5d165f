/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device of an HCA. */
#ifndef CXIB_VERBS_IBDEV_H
#define CXIB_VERBS_IBDEV_H

#include <linux/workqueue.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "hw/hw.h"
#include "verbs/orphans.h"
#include "verbs/mr/umr_types.h"
#include "verbs/odp/odp_types.h"
#include "verbs/port/port.h"
#include "verbs/xrc/xrc.h"

struct cxib_clock;
struct cxib_cq;
struct cxib_devx_events;
struct cxib_poll_device;
struct cxib_poll_interface;
struct cxib_poll_policy;
struct cxib_user_interface;
struct hw_eqe;
struct sk_buff;

#define CXIB_PORTS_MAX		2
#define CXIB_COUNTERS_MAX	24

/* Bits of the device clock in CQE timestamps and in the mapped core clock. */
#define CXIB_TIMESTAMP_MASK	GENMASK_ULL(62, 0)

/* Result of the test whether WQEs can be written into BlueFlame registers. */
enum cxib_write_combining {
	CXIB_WC_UNKNOWN,
	CXIB_WC_SUPPORTED,
	CXIB_WC_UNSUPPORTED,
};

/**
 * struct cxib_ibdev - the RDMA device of an HCA
 * @ib: the RDMA core's device
 * @hw: the HCA
 * @bus: bus access of @hw; the data path reads its state
 * @client: receives the events of the HCA
 * @ports: ports
 * @system_image_guid: system image GUID
 * @has_counters: the ports have queue counters
 * @counters: supported counters
 * @counter_count: number of @counters
 * @key_variant: lower 8 bits of the next mkey
 * @dump_fill_mkey: mkey that discards writes and reads as zeros, for user space; 0: none
 * @qps: struct cxib_qp by QPN; read in interrupts
 * @cqs: struct cxib_cq by CQN; read in interrupts
 * @num_unknown_cq_events: number of completion events whose CQN was not in @cqs
 * @reserved_qpns: number of QPNs that the DEVX objects of all user contexts reserve
 * @srqs: struct cxib_srq by SRQN
 * @sig_mrs: struct cxib_sig_mr by index of its mkey; read in interrupts
 * @orphans: objects of user space that firmware has refused to destroy
 * @user: user space interface
 * @polling: scheduler of the CQs that the RDMA core would poll; NULL: none
 * @poll_device: the scheduler's part of the device
 * @poll_policy: settings of the scheduler, owned by the HCA
 * @workqueue: runs the work items below; WQ_MEM_RECLAIM
 * @flush: raises an event for each armed CQ when DMA is off
 * @flush_mads_work: flushes the MADs that were not sent when DMA is off
 * @flush_lock: held while @flush raises a completion event, and while a QP is removed from its CQs.
 *	So a CQ with an event keeps its QPs; a CQ without QPs may be about to be freed, and gets no
 *	event. Taken in process context, before the locks of CQs.
 * @xrc: objects that XRC QPs share
 * @umr: UMR QP
 * @odp: ODP
 * @clock: clock info page for user space; NULL: none
 * @devx_events: events that user space has subscribed to; NULL: none
 * @wc_lock: protects @wc_state; held during the test
 * @wc_state: whether WQEs can be written into BlueFlame registers
 * @memic_lock: protects @memic_pages
 * @memic_pages: bit n: user space owns page n of the MEMIC
 */
struct cxib_ibdev {
	struct ib_device ib;
	struct cxib_hw *hw;
	const struct cxib_bus *bus;
	struct cxib_hw_client client;
	struct cxib_port ports[CXIB_PORTS_MAX];
	u64 system_image_guid;
	bool has_counters;
	struct rdma_stat_desc counters[CXIB_COUNTERS_MAX];
	unsigned int counter_count;
	atomic_t key_variant;
	u32 dump_fill_mkey;
	struct xarray qps;
	struct xarray cqs;
	atomic_t num_unknown_cq_events;
	atomic_t reserved_qpns;
	struct xarray srqs;
	struct xarray sig_mrs;
	struct cxib_orphans orphans;
	const struct cxib_user_interface *user;
	const struct cxib_poll_interface *polling;
	struct cxib_poll_device *poll_device;
	struct cxib_poll_policy *poll_policy;
	struct workqueue_struct *workqueue;
	struct work_struct flush;
	struct delayed_work flush_mads_work;
	spinlock_t flush_lock; /* QPs of a CQ, while an event is raised */
	struct cxib_xrc xrc;
	struct cxib_umr umr;
	struct cxib_odp odp;
	struct cxib_clock *clock;
	struct cxib_devx_events *devx_events;
	struct mutex wc_lock; /* wc_state */
	enum cxib_write_combining wc_state;
	struct mutex memic_lock; /* memic_pages */
	unsigned long *memic_pages;
};

static inline struct cxib_ibdev *to_ibdev(struct ib_device *ib)
{
	return container_of(ib, struct cxib_ibdev, ib);
}

static inline struct cxib_command_queue *commands_of(struct cxib_ibdev *ibdev)
{
	return &ibdev->hw->commands;
}

/*
 * Returns true if the device is fatal and cannot access memory. Only then may the driver flush
 * outstanding WRs, because the ULP reuses their memory afterwards.
 */
static inline bool cxib_verbs_dma_off(const struct cxib_ibdev *ibdev)
{
	return unlikely(cxib_hw_state(ibdev->bus) >= CXIB_HW_DMA_OFF);
}

/*
 * Time from DMA off to the flush of MADs that were not sent. ib_cm releases a connection before it
 * reports such an error, so a ULP that disconnects at the same time needs time to finish.
 */
#define CXIB_MAD_FLUSH_DELAY	HZ

/*
 * Flushes the WRs of a ULP that has posted or armed after DMA was turned off. Memory reclaim may
 * wait for a disk on this device, so the work must not depend on memory allocations.
 */
static inline void cxib_flush_later(struct cxib_ibdev *ibdev)
{
	queue_work(ibdev->workqueue, &ibdev->flush);
	queue_delayed_work(ibdev->workqueue, &ibdev->flush_mads_work, CXIB_MAD_FLUSH_DELAY);
}

/**
 * struct cxib_user_interface - user space part of the driver
 * @ops: added to the ops of verbs/
 * @cq_ops: operations of CQs, added as well
 * @definitions: uverbs objects and methods of the driver
 * @start: called before user contexts can exist; has undone its work if it returns an error
 * @stop: called after the last user context is closed
 * @unpin_record: releases a reference to a page with doorbell records
 * @free_dm: frees the state of MEMIC that the device no longer has
 * @completion: delivers the completion event of a CQ that no verb has created. Returns false if
 *	user space has no such CQ. Interrupt context.
 * @event: called for each event of an object or a port. Process context.
 */
struct cxib_user_interface {
	const struct ib_device_ops *ops;
	const struct ib_device_ops *cq_ops;
	const struct uapi_definition *definitions;
	int (*start)(struct cxib_ibdev *ibdev);
	void (*stop)(struct cxib_ibdev *ibdev);
	void (*unpin_record)(struct cxib_dbr_page *page);
	void (*free_dm)(struct cxib_dm *memory);
	bool (*completion)(struct cxib_ibdev *ibdev, u32 cqn);
	void (*event)(struct cxib_ibdev *ibdev, const struct hw_eqe *entry);
};

/**
 * struct cxib_poll_interface - scheduler of kernel CQs
 * @start: called before the first CQ is created; has undone its work if it returns an error
 * @stop: called after the last CQ is destroyed
 * @create_cq: called for each kernel CQ, except for that of the UMR QP, before its first event. The
 *	scheduler may set cq->poll then or later. Process context, may sleep.
 * @destroy_cq: called for each kernel CQ after its last event and before its memory is freed; waits
 *	until the scheduler no longer refers to the CQ. Process context, may sleep.
 * @synchronize: waits for the done() handlers that the scheduler is calling for a CQ; the caller
 *	keeps the CQ. Process context, may sleep.
 * @fill_res_cq: adds the scheduling of a kernel CQ to @message, for 'rdma resource show cq -dd'.
 *	Returns 0 or -EMSGSIZE.
 * @queue: called in place of comp_handler for a CQ with cq->poll, after its arming was taken.
 *	Returns true if the scheduler polls the CQ until it arms it, false if the caller must call
 *	comp_handler. Interrupts are off; flush_lock may be held.
 */
struct cxib_poll_interface {
	int (*start)(struct cxib_ibdev *ibdev);
	void (*stop)(struct cxib_ibdev *ibdev);
	void (*create_cq)(struct cxib_cq *cq);
	void (*destroy_cq)(struct cxib_cq *cq);
	void (*synchronize)(struct cxib_cq *cq);
	int (*fill_res_cq)(struct sk_buff *message, struct cxib_cq *cq);
	bool (*queue)(struct cxib_cq *cq);
};

#endif
