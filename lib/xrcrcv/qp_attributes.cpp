// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "qp_attributes.hpp"

#include <cstring>

namespace xrcrcv {

namespace {

ib_uverbs_qp_dest path_request(const ibv_ah_attr& path) {
    ib_uverbs_qp_dest dest{
        .flow_label = path.grh.flow_label,
        .dlid = path.dlid,
        .sgid_index = path.grh.sgid_index,
        .hop_limit = path.grh.hop_limit,
        .traffic_class = path.grh.traffic_class,
        .sl = path.sl,
        .src_path_bits = path.src_path_bits,
        .static_rate = path.static_rate,
        .is_global = path.is_global,
        .port_num = path.port_num,
    };
    static_assert(sizeof(dest.dgid) == sizeof(path.grh.dgid));

    std::memcpy(dest.dgid, &path.grh.dgid, sizeof(dest.dgid));
    return dest;
}

ibv_ah_attr path_of(const ib_uverbs_qp_dest& dest) {
    ibv_ah_attr path{
        .grh = {.flow_label = dest.flow_label,
                .sgid_index = dest.sgid_index,
                .hop_limit = dest.hop_limit,
                .traffic_class = dest.traffic_class},
        .dlid = dest.dlid,
        .sl = dest.sl,
        .src_path_bits = dest.src_path_bits,
        .static_rate = dest.static_rate,
        .is_global = dest.is_global,
        .port_num = dest.port_num,
    };

    std::memcpy(&path.grh.dgid, dest.dgid, sizeof(dest.dgid));
    return path;
}

ibv_qp_cap capacities_of(const ib_uverbs_query_qp_resp& response) {
    return {
        .max_send_wr = response.max_send_wr,
        .max_recv_wr = response.max_recv_wr,
        .max_send_sge = response.max_send_sge,
        .max_recv_sge = response.max_recv_sge,
        .max_inline_data = response.max_inline_data,
    };
}

} // namespace

ib_uverbs_modify_qp modify_request(const ibv_qp_attr& attr, int mask) {
    // The kernel reads only the fields that the mask names. The others may have any value.
    return {
        .dest = path_request(attr.ah_attr),
        .alt_dest = path_request(attr.alt_ah_attr),
        .attr_mask = static_cast<std::uint32_t>(mask),
        .qkey = attr.qkey,
        .rq_psn = attr.rq_psn,
        .sq_psn = attr.sq_psn,
        .dest_qp_num = attr.dest_qp_num,
        .qp_access_flags = attr.qp_access_flags,
        .pkey_index = attr.pkey_index,
        .alt_pkey_index = attr.alt_pkey_index,
        .qp_state = static_cast<std::uint8_t>(attr.qp_state),
        .cur_qp_state = static_cast<std::uint8_t>(attr.cur_qp_state),
        .path_mtu = static_cast<std::uint8_t>(attr.path_mtu),
        .path_mig_state = static_cast<std::uint8_t>(attr.path_mig_state),
        .en_sqd_async_notify = attr.en_sqd_async_notify,
        .max_rd_atomic = attr.max_rd_atomic,
        .max_dest_rd_atomic = attr.max_dest_rd_atomic,
        .min_rnr_timer = attr.min_rnr_timer,
        .port_num = attr.port_num,
        .timeout = attr.timeout,
        .retry_cnt = attr.retry_cnt,
        .rnr_retry = attr.rnr_retry,
        .alt_port_num = attr.alt_port_num,
        .alt_timeout = attr.alt_timeout,
    };
}

ibv_qp_attr attributes_of(const ib_uverbs_query_qp_resp& response) {
    return {
        .qp_state = static_cast<ibv_qp_state>(response.qp_state),
        .cur_qp_state = static_cast<ibv_qp_state>(response.cur_qp_state),
        .path_mtu = static_cast<ibv_mtu>(response.path_mtu),
        .path_mig_state = static_cast<ibv_mig_state>(response.path_mig_state),
        .qkey = response.qkey,
        .rq_psn = response.rq_psn,
        .sq_psn = response.sq_psn,
        .dest_qp_num = response.dest_qp_num,
        .qp_access_flags = response.qp_access_flags,
        .cap = capacities_of(response),
        .ah_attr = path_of(response.dest),
        .alt_ah_attr = path_of(response.alt_dest),
        .pkey_index = response.pkey_index,
        .alt_pkey_index = response.alt_pkey_index,
        .sq_draining = response.sq_draining,
        .max_rd_atomic = response.max_rd_atomic,
        .max_dest_rd_atomic = response.max_dest_rd_atomic,
        .min_rnr_timer = response.min_rnr_timer,
        .port_num = response.port_num,
        .timeout = response.timeout,
        .retry_cnt = response.retry_cnt,
        .rnr_retry = response.rnr_retry,
        .alt_port_num = response.alt_port_num,
        .alt_timeout = response.alt_timeout,
    };
}

ibv_qp_init_attr init_attributes_of(const ib_uverbs_query_qp_resp& response) {
    return {
        .cap = capacities_of(response),
        .qp_type = IBV_QPT_XRC_RECV,
        .sq_sig_all = response.sq_sig_all,
    };
}

} // namespace xrcrcv
