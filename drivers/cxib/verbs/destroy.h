/* SPDX-License-Identifier: GPL-2.0-only */
/* Results of destroy commands: whether the object still exists, and what happens to its memory. */
#ifndef CXIB_VERBS_DESTROY_H
#define CXIB_VERBS_DESTROY_H

struct cxib_destroy;
struct cxib_ibdev;
struct cxib_pinned;
struct ib_ucontext;
struct ib_udata;

void cxib_finish_destroy(struct cxib_ibdev *ibdev, int err);
void cxib_discard_object(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
			 const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err);
struct ib_ucontext *cxib_udata_context(struct ib_udata *udata);
int cxib_finish_user_destroy(struct cxib_ibdev *ibdev, struct ib_udata *udata,
			     const struct cxib_destroy *destroy, struct cxib_pinned *pinned,
			     int err);

#endif
