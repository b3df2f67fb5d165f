// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulates memory corruption between the computation of protection information and the HCA:
 * changes a byte of the data just before the RDMA core gets them. For tests.
 *
 * Each write of n to the parameter `armed` corrupts the next n transfers.
 */
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/scatterlist.h>

static char *symbol = "ib_map_mr_sg_pi";
module_param(symbol, charp, 0444);
MODULE_PARM_DESC(symbol, "the function that is handed the data");

static unsigned int argument = 1;
module_param(argument, uint, 0444);
MODULE_PARM_DESC(argument, "which of its arguments is the scatterlist, counted from 0");

static unsigned int offset = 100;
module_param(offset, uint, 0644);
MODULE_PARM_DESC(offset, "of the byte in the first piece");

static int armed;
module_param(armed, int, 0644);
MODULE_PARM_DESC(armed, "transfers that are still to be changed");

static int change_byte(struct kprobe *probe, struct pt_regs *regs)
{
	struct scatterlist *list = (void *)regs_get_kernel_argument(regs, argument);
	u8 *data;

	if (READ_ONCE(armed) <= 0 || offset >= list->length)
		return 0;
	WRITE_ONCE(armed, armed - 1);
	data = sg_virt(list);
	data[offset] ^= 0x10;
	return 0;
}
NOKPROBE_SYMBOL(change_byte);

static struct kprobe probe = { .pre_handler = change_byte };

static int __init corruption_init(void)
{
	probe.symbol_name = symbol;
	return register_kprobe(&probe);
}
module_init(corruption_init);

static void __exit corruption_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(corruption_exit);

MODULE_DESCRIPTION("Data that goes bad on its way");
MODULE_LICENSE("GPL");
