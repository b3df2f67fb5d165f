// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Three ways to fill the control segment of a WQE. The test compares their machine code, as the
 * generated accessors must need no more instructions than handwritten stores.
 */
#include <linux/module.h>

#include "hw/work_queue.h"

struct hand_written {
	__be32 opmod_index_opcode;
	__be32 qpn_ds;
	__be32 signature_fm_ce_se;
	__be32 imm;
};

/* The arguments have the width of the fields where C has such a type. */
void fill_by_hand(struct hand_written *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm);
void fill_with_setters(struct hw_wqe_ctrl_seg *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm);
void fill_with_packers(struct hw_wqe_ctrl_seg *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm);

void fill_by_hand(struct hand_written *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm)
{
	s->opmod_index_opcode = cpu_to_be32(index << 8 | opcode);
	s->qpn_ds = cpu_to_be32(qpn << 8 | ds);
	s->signature_fm_ce_se = cpu_to_be32(2 << 2 | 1 << 1);
	s->imm = cpu_to_be32(imm);
}

void fill_with_setters(struct hw_wqe_ctrl_seg *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm)
{
	*s = (struct hw_wqe_ctrl_seg) {};
	hw_wqe_ctrl_seg_set_wqe_index(s, index);
	hw_wqe_ctrl_seg_set_opcode(s, opcode);
	hw_wqe_ctrl_seg_set_qpn(s, qpn);
	hw_wqe_ctrl_seg_set_ds(s, ds);
	hw_wqe_ctrl_seg_set_ce(s, 2);
	hw_wqe_ctrl_seg_set_se(s, 1);
	hw_wqe_ctrl_seg_set_imm(s, imm);
}

void fill_with_packers(struct hw_wqe_ctrl_seg *s, u8 opcode, u16 index, u32 qpn, u8 ds, u32 imm)
{
	s->dw[0] = hw_wqe_ctrl_seg_pack_00(0, index, opcode);
	s->dw[1] = hw_wqe_ctrl_seg_pack_04(qpn, ds);
	s->dw[2] = hw_wqe_ctrl_seg_pack_08(0, 0, 2, 1);
	s->dw[3] = hw_wqe_ctrl_seg_pack_0c(imm);
}

MODULE_DESCRIPTION("Ways to fill a work queue entry");
MODULE_LICENSE("GPL");
