// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Includes all generated headers in one translation unit and uses each kind of accessor once.
 * sparse reads it, and it is compiled as part of a module. With REFUSED=n it contains a mistake
 * that must stop the compiler; the comment after the mistake is the expected message.
 */
#include <linux/module.h>

#include "all_headers.h" /* written by the script "run": includes every header of include/hw */

u64 use_getters(const struct hw_create_eq_in *eq, const struct hw_pamp_reg *register_,
		const struct hw_init_hca_in *init, const struct hw_cqc *cq);
void use_setters(struct hw_create_eq_in *eq, struct hw_pamp_reg *register_,
		 struct hw_init_hca_in *init, struct hw_cqc *cq);
u8 use_pointers(struct hw_create_qp_in *in, const struct hw_query_hca_cap_out *out);
__be64 use_lists(struct hw_create_qp_in *in, const struct hw_query_hca_vport_gid_out *gids);
void use_packers(struct hw_wqe_ctrl_seg *control, struct hw_wqe_data_seg *data);
const char *use_names(u32 value);

u64 use_getters(const struct hw_create_eq_in *eq, const struct hw_pamp_reg *register_,
		const struct hw_init_hca_in *init, const struct hw_cqc *cq)
{
	return hw_cqc_get_status(cq) + hw_cqc_get_dbr_addr(cq) +
	       hw_pamp_reg_get_index_data(register_, 17) + hw_init_hca_in_get_sw_owner_id(init, 3) +
	       hw_create_eq_in_get_event_bitmask(eq, 3);
}

void use_setters(struct hw_create_eq_in *eq, struct hw_pamp_reg *register_,
		 struct hw_init_hca_in *init, struct hw_cqc *cq)
{
	hw_cqc_set_status(cq, 0xf);
	hw_cqc_set_dbr_addr(cq, ~0ULL);
	hw_pamp_reg_set_index_data(register_, 17, 0xffff);
	hw_init_hca_in_set_sw_owner_id(init, 3, U32_MAX);
	hw_create_eq_in_set_event_bitmask(eq, 3, ~0ULL);
#if REFUSED == 1
	hw_cqc_set_status(cq, 0x10); /* value is too large for cqc.status */
#elif REFUSED == 2
	hw_pamp_reg_set_index_data(register_, 18, 0); /* index is too large for pamp_reg.index_data */
#elif REFUSED == 3
	hw_pamp_reg_set_index_data(register_, 0, 0x10000); /* value is too large for pamp_reg.index_data */
#elif REFUSED == 4
	hw_init_hca_in_set_sw_owner_id(init, 0, -1); /* value is too large for init_hca_in.sw_owner_id */
#elif REFUSED == 5
	hw_cqc_set_status(eq, 0); /* incompatible pointer type */
#endif
}

u8 use_pointers(struct hw_create_qp_in *in, const struct hw_query_hca_cap_out *out)
{
	struct hw_ads *path = hw_qpc_primary_address_path(hw_create_qp_in_qpc(in));
	const struct hw_cmd_hca_cap *cap = hw_query_hca_cap_out_get_capability_cmd_hca_cap(out);

	hw_ads_rgid_rip(path)[15] = hw_cmd_hca_cap_get_log_max_qp(cap);
#if REFUSED == 6
	hw_create_qp_in_get_qpc(in)->dw[0] = 0; /* assignment of member .* in read-only object */
#endif
	return hw_ads_get_rgid_rip(path)[0];
}

__be64 use_lists(struct hw_create_qp_in *in, const struct hw_query_hca_vport_gid_out *gids)
{
	in->pas[1] = cpu_to_be64(hw_gid_get_gid(&gids->gid[1])[0]);
	return in->pas[0];
}

void use_packers(struct hw_wqe_ctrl_seg *control, struct hw_wqe_data_seg *data)
{
	control->dw[0] = hw_wqe_ctrl_seg_pack_00(0, U16_MAX, HW_WQE_OPCODE_SEND);
	hw_wqe_data_seg_pack(data, 0, 64, 0x100, 0);
#if REFUSED == 7
	control->dw[1] = hw_wqe_ctrl_seg_pack_04(1, 64); /* value is too large for wqe_ctrl_seg.ds */
#endif
}

const char *use_names(u32 value)
{
	return value == HW_CMD_CREATE_CQ ? hw_cmd_name(value) : hw_command_status_name(value);
}

MODULE_DESCRIPTION("Uses of the generated headers");
MODULE_LICENSE("GPL");
