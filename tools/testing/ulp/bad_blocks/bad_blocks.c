// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Simulates bad blocks of a disk in an NVMe target: changes a byte of each block that the target
 * reads, so that the protection information does not match. For tests.
 */
#include <linux/blkdev.h>
#include <linux/kprobes.h>
#include <linux/module.h>
#include <linux/scatterlist.h>
#include "nvmet.h"

#define BLOCKS_MAX	8

static ulong blocks[BLOCKS_MAX];
static unsigned int num_blocks;
module_param_array(blocks, ulong, &num_blocks, 0444);
MODULE_PARM_DESC(blocks, "logical blocks that are bad");

static atomic_t reads = ATOMIC_INIT(0);

static int show_reads(char *text, const struct kernel_param *parameter)
{
	return sysfs_emit(text, "%d\n", atomic_read(&reads));
}

static const struct kernel_param_ops reads_ops = { .get = show_reads };
module_param_cb(reads, &reads_ops, NULL, 0444);
MODULE_PARM_DESC(reads, "of bad blocks so far");

static void change_byte(struct scatterlist *list, unsigned int count, u64 offset)
{
	struct scatterlist *piece;
	unsigned int i;

	for_each_sg(list, piece, count, i) {
		if (offset < piece->length) {
			((u8 *)sg_virt(piece))[offset] ^= 0x10;
			return;
		}
		offset -= piece->length;
	}
}

/* nvmet_req_complete() has loaded its first argument at this point. */
static int on_complete(struct kprobe *probe, struct pt_regs *regs)
{
	struct nvmet_req *req = (void *)regs_get_kernel_argument(regs, 0);
	u64 first;
	unsigned int i;

	/* On the admin queue this opcode is another command. */
	if (req->cmd->common.opcode != nvme_cmd_read || !req->sq->qid || !req->ns)
		return 0;
	first = le64_to_cpu(req->cmd->rw.slba);
	for (i = 0; i < num_blocks; i++) {
		if (blocks[i] < first || blocks[i] > first + le16_to_cpu(req->cmd->rw.length))
			continue;
		change_byte(req->sg, req->sg_cnt, (blocks[i] - first) << req->ns->blksize_shift);
		atomic_inc(&reads);
	}
	return 0;
}
NOKPROBE_SYMBOL(on_complete);

static struct kprobe probe = {
	.symbol_name = "nvmet_req_complete",
	.pre_handler = on_complete,
};

static int __init bad_blocks_init(void)
{
	return register_kprobe(&probe);
}
module_init(bad_blocks_init);

static void __exit bad_blocks_exit(void)
{
	unregister_kprobe(&probe);
}
module_exit(bad_blocks_exit);

MODULE_DESCRIPTION("Blocks of a disk that go bad");
MODULE_LICENSE("GPL");
