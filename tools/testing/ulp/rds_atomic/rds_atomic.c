// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Allows a peer to use atomic operations on memory that RDS offers. For tests.
 *
 * RDS of Linux 6.12 posts atomic operations, but registers the offered memory for reading and
 * writing only, so that its peer refuses them. While it is loaded, this module adds the atomic
 * access right to everything that is registered.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <rdma/ib_verbs.h>

static char *symbol = "cxib_post_send";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the driver's function that posts send requests");

/* The second argument of the function is the caller's list of WRs. */
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
