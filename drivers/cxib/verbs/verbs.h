/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMA device of an HCA and its objects: what the files of verbs/ share. */
#ifndef CXIB_VERBS_VERBS_H
#define CXIB_VERBS_VERBS_H

#include <linux/completion.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/wait.h>
#include <linux/xarray.h>
#include <rdma/ib_verbs.h>

#include "hw/buffer.h"
#include "hw/bus.h"
#include "hw/dbr.h"
#include "hw/hw.h"
#include "hw/port.h"
#include "hw/work_queue.h"
#include "verbs/quarantine.h"

#define CXIB_PORTS_MAX		2
#define CXIB_COUNTERS_MAX	24

/* Entries of a region that requests register: lists of 64 KiB with the largest ones. */
#define CXIB_FAST_REG_MAX	4096

/* Bits of the device's clock that completions have, and that can be mapped. */
#define CXIB_TIMESTAMP_MASK	GENMASK_ULL(62, 0)

struct cxib_gsi;
struct cxib_mkey_params;

/**
 * struct cxib_port - a port
 * @number: counted from 1
 * @vl_count: enum hw_vl_count
 * @gid_count: length of the GID table
 * @pkey_count: length of the P_Key table
 * @has_smi: subnet management packets come to this function
 * @grh_required: all packets need a global route header
 * @lock: protects what follows
 * @gids: copy of the GID table
 * @pkeys: copy of the P_Key table
 * @gids_valid: @gids is what the device has said last
 * @pkeys_valid: @pkeys is what the device has said last
 * @gsi: what its general services send by; NULL without such services
 * @counter_set: counters that its queue pairs have, if there are any
 *
 * The RDMA core reads the tables entry by entry, beginning with the first; the
 * device gives them as a whole. So a copy is taken whenever the first entry is
 * read, or any one after the device has told of a change.
 */
struct cxib_port {
	unsigned int number;
	u32 vl_count;
	unsigned int gid_count;
	unsigned int pkey_count;
	bool has_smi;
	bool grh_required;
	struct mutex lock; /* tables */
	struct hw_gid *gids;
	u16 *pkeys;
	bool gids_valid;
	bool pkeys_valid;
	struct cxib_gsi *gsi;
	u8 counter_set;
};

struct cxib_clock;
struct cxib_bfregs;
struct cxib_user_interface;

/**
 * struct cxib_xrc - what XRC queue pairs have where others have something of their users'
 * @lock: protects what follows
 * @ready: it is there; made for the first XRC queue pair
 * @pd: number of the protection domain of receiving queue pairs
 * @xrcd: number of the XRC domain of sending queue pairs
 * @cqn: completion queue that gets nothing
 * @srqn: shared receive queue that gets nothing, in @xrcd
 * @buffer: memory of both queues
 * @dbrs: their doorbell records
 */
struct cxib_xrc {
	struct mutex lock; /* see above */
	bool ready;
	u32 pd;
	u32 xrcd;
	u32 cqn;
	u32 srqn;
	struct cxib_buffer buffer;
	struct cxib_dbr dbrs[2];
};

/* Whether requests can be written into doorbell registers. */
enum cxib_write_combining {
	CXIB_WC_UNKNOWN,
	CXIB_WC_SUPPORTED,
	CXIB_WC_UNSUPPORTED,
};

struct cxib_qp;

/* Whether memory keys can be changed by requests of the driver's own. */
enum cxib_umr_state {
	CXIB_UMR_DOWN,
	CXIB_UMR_UP,
	CXIB_UMR_RECOVERING,
};

/**
 * struct cxib_umr - how memory keys are changed while they are in use
 * @making: the queue pair is made or destroyed; taken before @lock, and not where
 *	memory is reclaimed
 * @pd: protection domain of @qp
 * @cq: completion queue of @qp
 * @qp: queue pair of the service REG_UMR; NULL when there is none
 * @recovery: makes another one
 * @changed: woken when @state was changed
 * @lock: one request at a time; protects what follows, and who posts to @qp. Taken
 *	where memory is reclaimed.
 * @state: written with @lock, read without it
 * @list: pages that the device reads; NULL until @qp is needed for the first time
 * @list_dma: its bus address
 * @cqe: finds the completion's way
 * @done: the request is done
 * @status: how; written before @done
 */
struct cxib_umr {
	struct mutex making; /* see above */
	struct ib_pd *pd;
	struct ib_cq *cq;
	struct cxib_qp *qp;
	struct work_struct recovery;
	wait_queue_head_t changed;
	struct mutex lock; /* see above */
	enum cxib_umr_state state;
	__be64 *list;
	dma_addr_t list_dma;
	struct ib_cqe cqe;
	struct completion done;
	enum ib_wc_status status;
};

/**
 * struct cxib_odp - memory that programs have, and the device gets when it needs it
 * @lock: protects @workqueue while it is made
 * @workqueue: where faults are handled and pages brought in ahead; NULL until there
 *	is a region that needs it
 * @regions: struct cxib_odp_mr by index of its keys, those of parts among them. A
 *	region without its first key here is going
 * @faults: faults that wait for a worker, or have one
 * @fault_done: woken when @faults has become less
 * @prefetches: prefetches that are queued or carried out
 */
struct cxib_odp {
	struct mutex lock; /* see above */
	struct workqueue_struct *workqueue;
	struct xarray regions;
	atomic_t faults;
	wait_queue_head_t fault_done;
	atomic_t prefetches;
};

/**
 * struct cxib_ibdev - the RDMA device of an HCA
 * @ib: as the RDMA core sees it
 * @hw: the HCA
 * @client: tells of events
 * @ports: its ports
 * @system_image_guid: GUID of what the HCA is part of
 * @has_counters: its ports have counters
 * @counters: which ones
 * @counter_count: their number
 * @key_variant: lower 8 bits of the next memory key
 * @dump_fill_key: memory key that discards writes and reads as zeros, for programs; 0: none
 * @qps: struct cxib_qp by number; read in interrupts
 * @cqs: struct cxib_cq by number; read in interrupts
 * @srqs: struct cxib_srq by number
 * @sig_mrs: struct cxib_sig_mr by index of its key; read in interrupts
 * @user: what programs need
 * @workqueue: for what follows; it gets on without memory
 * @flush: has the users of all completion queues look into them
 * @fail_datagrams: has those of the management fail that a quiet device has not sent
 * @flush_lock: a completion queue whose user is told to look keeps the queue
 *	pairs that report there: without any it may be about to be freed, and its
 *	user has no interest. Taken in process context, before the queues' locks.
 * @xrc: what XRC queue pairs share
 * @umr: changes memory keys
 * @paging: brings in pages when the device needs them
 * @clock: tells programs the time; NULL if there is none
 * @combining_lock: protects @combining; held while it is tried
 * @combining: whether requests can be written into doorbell registers
 * @device_memory_lock: protects @device_memory_pages
 * @device_memory_pages: bit n: a program has memory on page n of the device's
 */
struct cxib_ibdev {
	struct ib_device ib;
	struct cxib_hw *hw;
	struct cxib_hw_client client;
	struct cxib_port ports[CXIB_PORTS_MAX];
	u64 system_image_guid;
	bool has_counters;
	struct rdma_stat_desc counters[CXIB_COUNTERS_MAX];
	unsigned int counter_count;
	atomic_t key_variant;
	u32 dump_fill_key;
	struct xarray qps;
	struct xarray cqs;
	struct xarray srqs;
	struct xarray sig_mrs;
	const struct cxib_user_interface *user;
	struct workqueue_struct *workqueue;
	struct work_struct flush;
	struct delayed_work fail_datagrams;
	spinlock_t flush_lock; /* see above */
	struct cxib_xrc xrc;
	struct cxib_umr umr;
	struct cxib_odp paging;
	struct cxib_clock *clock;
	struct mutex combining_lock; /* see above */
	enum cxib_write_combining combining;
	struct mutex device_memory_lock; /* see above */
	unsigned long *device_memory_pages;
};

/**
 * struct cxib_reference - keeps an object while an event of it is told
 * @count: who uses it; the creator is one
 * @gone: completed by the last user
 */
struct cxib_reference {
	refcount_t count;
	struct completion gone;
};

struct cxib_dbr_page;

/**
 * struct cxib_rq_entry - what the driver knows of a request to receive
 * @wr_id: what the poster calls it
 * @length: bytes that a message may have
 */
struct cxib_rq_entry {
	u64 wr_id;
	u64 length;
};

/**
 * struct cxib_user_queue - what a program has brought for a queue
 * @umem: its memory; NULL if it has none, and for queues of the kernel
 * @record_page: the page with its doorbell record; NULL for queues of the kernel
 * @uar: its page of doorbells; NULL for queues of the kernel
 * @registers: doorbells of the program, of which the driver has chosen one for it;
 *	NULL if the program has said which page it uses
 * @register_number: the one that was chosen
 */
struct cxib_user_queue {
	struct ib_umem *umem;
	struct cxib_dbr_page *record_page;
	struct rdma_user_mmap_entry *uar;
	struct cxib_bfregs *registers;
	unsigned int register_number;
};

/**
 * struct cxib_pd - a protection domain
 * @ib: as the RDMA core sees it
 * @pdn: as the device sees it
 * @uid: user context of the program that it belongs to; 0: the kernel's
 * @key_lock: protects @key and @has_key while it is made
 * @key: of all memory, see cxib_pd_create_dma_mkey()
 * @has_key: there is @key, made by the driver
 */
struct cxib_pd {
	struct ib_pd ib;
	u32 pdn;
	u16 uid;
	struct mutex key_lock; /* see above */
	u32 key;
	bool has_key;
};

/**
 * struct cxib_ah - an address
 * @ib: as the RDMA core sees it
 * @vector: as it stands in requests, but for what each request brings
 * @port: that it is of
 */
struct cxib_ah {
	struct ib_ah ib;
	struct hw_av vector;
	u8 port;
};

/**
 * struct cxib_xrcd - an XRC domain
 * @ib: as the RDMA core sees it
 * @xrcdn: as the device sees it
 */
struct cxib_xrcd {
	struct ib_xrcd ib;
	u32 xrcdn;
};

/**
 * struct cxib_mw - a memory window
 * @ib: as the RDMA core sees it; its key is all there is to it
 */
struct cxib_mw {
	struct ib_mw ib;
};

/**
 * struct cxib_mr - a memory region
 * @ib: as the RDMA core sees it
 * @umem: pages of the program's memory; NULL for memory of the kernel or the device
 * @umem_error: how the creation of another key for @umem has failed; 0: it has not
 * @umem_in_doubt: pages that the key may stand for, too, since a change of it failed; or NULL
 * @access: IB_ACCESS_… of a program's region
 * @descs: entries of a region that requests register; NULL for others
 * @desc_map: the same as the device sees it
 * @list_size: bytes that it takes
 * @desc_size: bytes of an entry
 * @max_descs: entries that it has room for
 * @ndescs: entries that are filled
 * @xlt_octowords: what the device reads of them
 * @log_page_size: log2 of the bytes of a page, when they are filled
 * @is_indirect: entries are pieces of any length, not pages
 */
struct cxib_mr {
	struct ib_mr ib;
	struct ib_umem *umem;
	struct ib_umem *umem_in_doubt;
	int umem_error;
	u32 access;
	void *descs;
	dma_addr_t desc_map;
	size_t list_size;
	unsigned int desc_size;
	unsigned int max_descs;
	unsigned int ndescs;
	u32 xlt_octowords;
	u8 log_page_size;
	bool is_indirect;
};

static inline struct cxib_ibdev *to_ibdev(struct ib_device *ib)
{
	return container_of(ib, struct cxib_ibdev, ib);
}

static inline struct cxib_pd *to_pd(struct ib_pd *ib)
{
	return container_of(ib, struct cxib_pd, ib);
}

static inline struct cxib_ah *to_ah(struct ib_ah *ib)
{
	return container_of(ib, struct cxib_ah, ib);
}

static inline struct cxib_xrcd *to_xrcd(struct ib_xrcd *ib)
{
	return container_of(ib, struct cxib_xrcd, ib);
}

static inline struct cxib_mr *to_mr(struct ib_mr *ib)
{
	return container_of(ib, struct cxib_mr, ib);
}

static inline struct cxib_command_queue *commands_of(struct cxib_ibdev *ibdev)
{
	return &ibdev->hw->commands;
}

/*
 * The device was given up, and cannot access memory any more: only then may its
 * requests be flushed, for who gets them back uses their memory again.
 */
static inline bool cxib_verbs_dma_off(const struct cxib_ibdev *ibdev)
{
	return unlikely(cxib_hw_is_dma_off(ibdev->hw));
}

/*
 * How long datagrams of the management that a quiet device has not sent are left
 * alone before they fail: ib_cm lets go of a connection before it tells of such an
 * error, so those who take leave of it at the same time must have done so by then.
 */
#define CXIB_MAD_FLUSH_DELAY	HZ

/*
 * For who has posted, or waits, and the device does nothing about it. Memory may be
 * reclaimed by way of a disk that waits, so this must get on without memory.
 */
static inline void cxib_flush_later(struct cxib_ibdev *ibdev)
{
	queue_work(ibdev->workqueue, &ibdev->flush);
	queue_delayed_work(ibdev->workqueue, &ibdev->fail_datagrams, CXIB_MAD_FLUSH_DELAY);
}

static inline void cxib_reference_init(struct cxib_reference *reference)
{
	refcount_set(&reference->count, 1);
	init_completion(&reference->gone);
}

static inline void cxib_reference_put(struct cxib_reference *reference)
{
	if (refcount_dec_and_test(&reference->count))
		complete(&reference->gone);
}

/* Gives up the creator's reference and waits for the others. */
static inline void cxib_reference_end(struct cxib_reference *reference)
{
	cxib_reference_put(reference);
	wait_for_completion(&reference->gone);
}

/**
 * struct cxib_user_interface - what programs need beyond what the kernel does
 * @ops: to be added to those of verbs/
 * @definitions: objects and methods of the driver's own
 * @start: called before there can be programs; leaves nothing behind if it
 *	returns an error
 * @stop: called when there cannot be any more
 */
struct cxib_user_interface {
	const struct ib_device_ops *ops;
	const struct uapi_definition *definitions;
	int (*start)(struct cxib_ibdev *ibdev);
	void (*stop)(struct cxib_ibdev *ibdev);
};

/* device.c */
struct cxib_ibdev *cxib_verbs_register(struct cxib_hw *hw,
				       const struct cxib_user_interface *user);
void cxib_verbs_unregister(struct cxib_ibdev *ibdev);
int cxib_end_in_device(struct cxib_ibdev *ibdev, const struct ib_udata *udata, int err);
int cxib_fill_device_attr(struct ib_device *ib, struct ib_device_attr *attr,
			  struct ib_udata *udata);
int cxib_modify_device(struct ib_device *ib, int mask, struct ib_device_modify *change);
void cxib_get_dev_fw_str(struct ib_device *ib, char *text);

/* port.c */
int cxib_ports_create(struct cxib_ibdev *ibdev);
void cxib_ports_destroy(struct cxib_ibdev *ibdev);
void cxib_port_changed(void *context, unsigned int number, enum hw_port_change_subtype change);
int cxib_query_port(struct ib_device *ib, u32 number, struct ib_port_attr *attr);
int cxib_modify_port(struct ib_device *ib, u32 number, int mask, struct ib_port_modify *change);
int cxib_get_port_immutable(struct ib_device *ib, u32 number, struct ib_port_immutable *facts);
enum rdma_link_layer cxib_get_link_layer(struct ib_device *ib, u32 number);
int cxib_query_gid(struct ib_device *ib, u32 number, int index, union ib_gid *gid);
int cxib_query_pkey(struct ib_device *ib, u32 number, u16 index, u16 *pkey);

/* mad.c */
int cxib_process_mad(struct ib_device *ib, int flags, u32 number, const struct ib_wc *in_wc,
		     const struct ib_grh *in_grh, const struct ib_mad *in, struct ib_mad *out,
		     size_t *out_size, u16 *out_pkey_index);

/* counters.c */
int cxib_counters_create(struct cxib_ibdev *ibdev);
void cxib_counters_destroy(struct cxib_ibdev *ibdev);
u8 cxib_port_q_counter(const struct cxib_ibdev *ibdev, u32 port);

/* pd.c */
int cxib_alloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata);
int cxib_dealloc_pd_kernel(struct ib_pd *ib, struct ib_udata *udata);
int cxib_pd_create_dma_mkey(struct ib_pd *ib);

/* ah.c */
int cxib_create_ah(struct ib_ah *ib, struct rdma_ah_init_attr *init, struct ib_udata *udata);
int cxib_modify_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int cxib_query_ah(struct ib_ah *ib, struct rdma_ah_attr *attr);
int cxib_destroy_ah(struct ib_ah *ib, u32 flags);
u8 cxib_rate_to_ib(u32 code);
/* The last rate that the kernel knows. */
#ifdef CXIB_LACKS_RATE_800
#define CXIB_RATE_MAX	IB_RATE_600_GBPS
#else
#define CXIB_RATE_MAX	IB_RATE_800_GBPS
#endif
int cxib_static_rate(const struct cxib_device_caps *caps, u8 rate);

/* mr.c */
struct ib_mr *cxib_get_dma_mr(struct ib_pd *ib, int access);
struct ib_mr *cxib_reg_user_mr(struct ib_pd *ib, u64 start, u64 length, u64 address,
			       int access, struct ib_udata *udata);
struct ib_mr *cxib_rereg_user_mr(struct ib_mr *ib, int flags, u64 start, u64 length,
				 u64 address, int access, struct ib_pd *pd,
				 struct ib_udata *udata);
#ifdef CXIB_LACKS_SHARED_BUFFER_ATTRIBUTES
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access, struct ib_udata *udata);
#else
struct ib_mr *cxib_reg_user_mr_dmabuf(struct ib_pd *ib, u64 offset, u64 length, u64 address,
				      int fd, int access, struct uverbs_attr_bundle *attrs);
#endif
struct ib_mr *cxib_reg_memic_mr(struct ib_pd *ib, u64 start, u64 length, int access);
struct ib_mr *cxib_alloc_mr(struct ib_pd *ib, enum ib_mr_type type, u32 max);
int cxib_map_mr_sg(struct ib_mr *ib, struct scatterlist *list, int count, unsigned int *offset);
int cxib_mr_create_mkey(struct cxib_mr *mr, struct ib_pd *pd, struct cxib_mkey_params *params);
int cxib_dereg_mr(struct ib_mr *ib, struct ib_udata *udata);
u8 cxib_next_mkey_variant(struct cxib_ibdev *ibdev);
int cxib_mr_alloc_descs(struct ib_device *ib, struct cxib_mr *mr);
void cxib_mr_free_descs(struct ib_device *ib, struct cxib_mr *mr);
void cxib_mr_set_ndescs(struct cxib_mr *mr, unsigned int count);

/* mw.c */
int cxib_alloc_mw(struct ib_mw *ib, struct ib_udata *udata);
int cxib_dealloc_mw(struct ib_mw *ib);

/* xrcd.c */
int cxib_alloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);
int cxib_dealloc_xrcd(struct ib_xrcd *ib, struct ib_udata *udata);
int cxib_xrc_init(struct cxib_ibdev *ibdev);
void cxib_xrc_destroy(struct cxib_ibdev *ibdev);

/* write_combining.c */
bool cxib_wc_supported(struct cxib_ibdev *ibdev);

#endif
