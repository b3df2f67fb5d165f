/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Verbs of user space: contexts, UAR pages, queues in user memory. Requests, responses and mmap
 * offsets follow mlx5-abi.h, so that libmlx5 works.
 */
#ifndef CXIB_USER_USER_H
#define CXIB_USER_USER_H

#include <linux/rwsem.h>
#include <rdma/uverbs_ioctl.h>

#include "verbs/verbs.h"

struct cxib_bfregs;
struct mlx5_ib_alloc_ucontext_resp;

/**
 * struct cxib_ucontext - a user context
 * @ib: verbs object
 * @uid: uid for DEVX commands; 0: none
 * @cqe_version: CQE format that libmlx5 has chosen
 * @domains: struct cxib_pd by PDN
 * @devx_objects: struct cxib_devx_object by kind and number
 * @reserved_qpns: number of QPNs that DEVX objects reserve
 * @references: held for reading while a command refers to an object of the context, for writing
 *	while an object is destroyed
 * @uars: mmap page offset by UAR index
 * @bfregs: bfregs on static UARs; NULL if the context has dynamic UARs only
 * @resize_lock: serializes resize_cq
 * @lock: protects @record_pages
 * @record_pages: list of struct cxib_dbr_page of its queues
 * @registrations_lock: protects @registrations; held while a QP is opened for a registration
 * @registrations: struct cxib_xrc_registration by QPN
 */
struct cxib_ucontext {
	struct ib_ucontext ib;
	u16 uid;
	u8 cqe_version;
	struct xarray domains;
	struct xarray devx_objects;
	atomic_t reserved_qpns;
	struct rw_semaphore references; /* objects that commands refer to */
	struct xarray uars;
	struct cxib_bfregs *bfregs;
	struct mutex resize_lock; /* rings of its CQs */
	struct mutex lock; /* record_pages */
	struct list_head record_pages;
	struct mutex registrations_lock; /* registrations */
	struct xarray registrations;
};

static inline struct cxib_ucontext *to_ucontext(struct ib_ucontext *ib)
{
	return container_of(ib, struct cxib_ucontext, ib);
}

/**
 * struct cxib_user_memory - location of a queue in user memory
 * @buffer: address of the buffer; a multiple of %CXIB_BUFFER_ALIGNMENT
 * @size: length of the buffer, bytes; 0 if there is none
 * @dbr: address of the doorbell record
 */
struct cxib_user_memory {
	u64 buffer;
	size_t size;
	u64 dbr;
};

/* udata.c */
int cxib_copy_req(struct ib_udata *udata, void *request, size_t size, size_t min);
int cxib_copy_resp(struct ib_udata *udata, const void *response, size_t size);

/* queue_memory.c */
int cxib_pin_queue(struct cxib_ucontext *context, const struct cxib_user_memory *memory,
		   struct cxib_user_queue *user, struct cxib_buffer *buffer, dma_addr_t *record);
void cxib_unpin_queue(struct cxib_user_queue *user, struct cxib_buffer *buffer);
void cxib_unpin_failed_queue(struct ib_device *ib, struct cxib_user_queue *user,
			     struct cxib_buffer *buffer, int err);
void cxib_unpin_record(struct cxib_dbr_page *page);
void cxib_detach_records(struct cxib_ucontext *context);
int cxib_pin_buffer(struct ib_device *ib, const struct cxib_user_memory *memory,
		    struct cxib_user_queue *user, struct cxib_buffer *buffer);

/* udata.c */
int cxib_refuse_attributes(struct ib_device *ib, const char *verb,
			   const struct uverbs_attr_bundle *attrs, const u16 *ids, size_t count);

/* cq.c */
int cxib_create_cq(struct ib_cq *ib, const struct ib_cq_init_attr *attr,
		   struct uverbs_attr_bundle *attrs);
int cxib_destroy_cq(struct ib_cq *ib, struct ib_udata *udata);
int cxib_resize_cq_user(struct ib_cq *ib, unsigned int entries, struct ib_udata *udata);
extern const struct uapi_definition cxib_cq_definitions[];

/* cq_ops.c */
extern const struct ib_device_ops cxib_cq_ops;

/* pd.c */
int cxib_alloc_pd(struct ib_pd *ib, struct ib_udata *udata);
int cxib_dealloc_pd(struct ib_pd *ib, struct ib_udata *udata);

/* srq.c */
int cxib_create_srq(struct ib_srq *ib, struct ib_srq_init_attr *init, struct ib_udata *udata);
int cxib_destroy_srq(struct ib_srq *ib, struct ib_udata *udata);

/* qp.c */
int cxib_create_qp(struct ib_qp *ib, struct ib_qp_init_attr *init, struct ib_udata *udata);
int cxib_destroy_qp(struct ib_qp *ib, struct ib_udata *udata);
int cxib_modify_qp(struct ib_qp *ib, struct ib_qp_attr *attr, int mask,
		   struct ib_udata *udata);

/* context.c */
extern const struct cxib_user_interface cxib_user_interface;
void cxib_fill_ucontext_resp(const struct cxib_ucontext *context,
			     struct mlx5_ib_alloc_ucontext_resp *response);

/* mmap.c */
int cxib_mmap(struct ib_ucontext *ib, struct vm_area_struct *vma);
void cxib_mmap_free(struct rdma_user_mmap_entry *entry);

/* definitions.c */
extern const struct uapi_definition cxib_user_definitions[];

/* query.c */
int cxib_query_device(struct ib_device *ib, struct ib_device_attr *attr,
		      struct ib_udata *udata);
extern const struct uapi_definition cxib_query_definitions[];

/* uar.c */
extern const struct uapi_definition cxib_uar_definitions[];
u32 cxib_uar_index(struct rdma_user_mmap_entry *uar);
struct rdma_user_mmap_entry *cxib_hold_uar(struct cxib_ucontext *context, u32 number);

/* xrc_registration.c */
extern const struct uapi_definition cxib_xrc_registration_definitions[];

#endif
