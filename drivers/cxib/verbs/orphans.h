/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Orphans: objects of user space that the RDMA core has freed, but that the device may still
 * have. Either firmware has refused to destroy the object when its user context was closed, or the
 * result of the destroy command is unknown. Memory that the device can access through an orphan
 * stays pinned and mapped until the orphan is destroyed or DMA is off.
 *
 * The memory also stays charged to the memory cgroup of the process and to the pinned_vm of its
 * address space, so a process cannot keep more memory than it could pin.
 */
#ifndef CXIB_VERBS_ORPHANS_H
#define CXIB_VERBS_ORPHANS_H

#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/refcount.h>
#include <linux/types.h>

struct cxib_dbr_page;
struct cxib_dm;
struct cxib_ibdev;
struct dentry;
struct ib_ucontext;
struct ib_umem;

/* Words of the longest destroy command, MODIFY_MEMIC: both input and output. */
#define CXIB_DESTROY_WORDS	16

/**
 * struct cxib_destroy - the commands that destroy an object
 * @before: opcode of a command with the same input that must succeed first; 0: none
 * @in_length: length of @in, bytes
 * @out_length: length of the output, bytes
 * @is_xrc_tgt: the object is an XRC_TGT QP of user space, which belongs to no user context
 * @xrcdn: XRCDN of the QP; the XRC domain may belong to any user context
 * @in: input of the destroy command
 */
struct cxib_destroy {
	u16 before;
	u8 in_length;
	u8 out_length;
	bool is_xrc_tgt;
	u32 xrcdn;
	__be32 in[CXIB_DESTROY_WORDS];
};

/**
 * struct cxib_pinned - what the device can access through an object of user space
 * @umem: user memory; or NULL
 * @umem_users: number of objects that map @umem; NULL: only this object
 * @umem_in_doubt: memory that an mkey may still map after a failed update; or NULL
 * @dbr_page: page with the doorbell record of a queue; or NULL
 * @dm: MEMIC; or NULL
 */
struct cxib_pinned {
	struct ib_umem *umem;
	refcount_t *umem_users;
	struct ib_umem *umem_in_doubt;
	struct cxib_dbr_page *dbr_page;
	struct cxib_dm *dm;
};

/**
 * struct cxib_orphans - orphans of an RDMA device
 * @lock: protects the other members. Held while the commands of orphans are executed.
 * @list: list of struct cxib_orphan
 * @others: number of general objects in the list, which may refer to any object
 * @closed: number of orphans of closed user contexts
 * @groups: number of user contexts that have left any
 * @file: debugfs file
 */
struct cxib_orphans {
	struct mutex lock; /* list and numbers below */
	struct list_head list;
	unsigned int others;
	unsigned int closed;
	unsigned int groups;
	struct dentry *file;
};

struct cxib_destroy cxib_destroy_object(u16 opcode, u16 uid, u32 number);

void cxib_orphans_init(struct cxib_ibdev *ibdev);
void cxib_orphans_keep(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
		       const struct cxib_destroy *destroy, struct cxib_pinned *pinned, int err);
int cxib_orphans_check(struct cxib_ibdev *ibdev, const struct ib_ucontext *context,
		       const struct cxib_destroy *destroy);
void cxib_orphans_close(struct cxib_ibdev *ibdev, const struct ib_ucontext *context);
void cxib_orphans_end(struct cxib_ibdev *ibdev);
void cxib_orphans_debugfs(struct cxib_ibdev *ibdev);

#endif
