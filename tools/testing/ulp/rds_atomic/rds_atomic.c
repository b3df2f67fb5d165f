// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Lets RDS offer memory that a peer may work on with atomic operations.
 *
 * RDS of Linux 6.12 posts atomic operations, but registers the memory that it
 * offers to its peer for reading and writing only, so its own peer refuses
 * them. This module stands for a peer that allows them: it adds the right to
 * what is registered while it is loaded, whoever registers it. For tests.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static char *symbol = "cxib_post_send";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the driver's function that posts send requests");

/* The second argument of the function is the list of WRs, which belongs to the caller. */
static int add_right(struct kprobe *probe, struct pt_regs *regs)
{
	struct ib_send_wr *wr = (struct ib_send_wr *)regs_get_kernel_argument(regs, 1);

	for (; wr; wr = (struct ib_send_wr *)wr->next)
		if (wr->opcode == IB_WR_REG_MR)
			container_of(wr, struct ib_reg_wr, wr)->access |= IB_ACCESS_REMOTE_ATOMIC;
	return 0;
}
NOKPROBE_SYMBOL(add_right);

static struct kprobe probe = { .pre_handler = add_right };

static int __init rds_atomic_init(void)
{
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}
module_init(rds_atomic_init);

static void __exit rds_atomic_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(rds_atomic_exit);

MODULE_DESCRIPTION("Memory of RDS for atomic operations");
MODULE_LICENSE("GPL");
