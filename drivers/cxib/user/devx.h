/* SPDX-License-Identifier: GPL-2.0-only */
/* DEVX: interfaces between devx_*.c. */
#ifndef CXIB_USER_DEVX_H
#define CXIB_USER_DEVX_H

#include "user/user.h"

struct cxib_devx_target;
struct hw_eqe;

/* Header size of the shortest input and output. */
#define CXIB_DEVX_MIN_SIZE		16

/* devx_context.c */
bool cxib_devx_is_supported(struct ib_device *ib);
int cxib_devx_open(struct cxib_ucontext *context);
void cxib_devx_close(struct cxib_ucontext *context);
struct cxib_ucontext *cxib_devx_context(struct uverbs_attr_bundle *attrs);
int cxib_devx_exec(struct cxib_ucontext *context, void *in, size_t in_length, void *out,
		   size_t out_length);
int cxib_devx_copy_out(struct uverbs_attr_bundle *attrs, u16 attribute, const void *out,
		       size_t length, int err);
extern const struct uapi_definition cxib_devx_definitions[];

/* devx_object.c */
struct cxib_devx_target *cxib_devx_target(struct ib_uobject *uobject);
int cxib_devx_query(struct cxib_ucontext *context, struct ib_uobject *uobject, void *in,
		    size_t in_length, void *out, size_t out_length);
extern const struct uapi_definition cxib_devx_object_definitions[];

/* devx_event_fd.c */
int cxib_devx_start(struct cxib_ibdev *ibdev);
void cxib_devx_stop(struct cxib_ibdev *ibdev);
bool cxib_devx_completion(struct cxib_ibdev *ibdev, u32 cqn);
void cxib_devx_event(struct cxib_ibdev *ibdev, const struct hw_eqe *entry);
extern const struct uapi_definition cxib_devx_event_definitions[];

/* devx_output_fd.c */
extern const struct uapi_definition cxib_devx_output_definitions[];

/* devx_umem.c */
extern const struct uapi_definition cxib_devx_umem_definitions[];

#endif
