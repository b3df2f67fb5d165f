// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "fake_kernel.hpp"
#include "xrcrcv/xrcrcv.h"

#include <cstring>
#include <gtest/gtest.h>

namespace xrcrcv::tests {
namespace {

/** Handle of the XRC domain; any number. */
constexpr std::uint32_t domain_handle = 42;
/** A QP that exists when the test starts. */
constexpr std::uint32_t qpn = 0x55;

class Attributes : public ::testing::Test {
protected:
    Attributes() { kernel_.qps[qpn] = domain_handle; }

    FakeKernel kernel_;
    FakeDomain domain_{kernel_, domain_handle};
};

/** A path whose fields all differ. */
ibv_ah_attr path_from(std::uint8_t first) {
    ibv_ah_attr path{};

    for (std::uint8_t at = 0; at < sizeof(path.grh.dgid.raw); ++at)
        path.grh.dgid.raw[at] = static_cast<std::uint8_t>(first + 16 + at);
    path.grh.flow_label = 0x10000U + first;
    path.grh.sgid_index = first;
    path.grh.hop_limit = static_cast<std::uint8_t>(first + 1);
    path.grh.traffic_class = static_cast<std::uint8_t>(first + 2);
    path.dlid = static_cast<std::uint16_t>(0x4000U + first);
    path.sl = static_cast<std::uint8_t>(first + 3);
    path.src_path_bits = static_cast<std::uint8_t>(first + 4);
    path.static_rate = static_cast<std::uint8_t>(first + 5);
    path.is_global = 1;
    path.port_num = static_cast<std::uint8_t>(first + 6);
    return path;
}

void expect_path(const ib_uverbs_qp_dest& dest, const ibv_ah_attr& path) {
    EXPECT_EQ(std::memcmp(dest.dgid, path.grh.dgid.raw, sizeof(dest.dgid)), 0);
    EXPECT_EQ(dest.flow_label, path.grh.flow_label);
    EXPECT_EQ(dest.sgid_index, path.grh.sgid_index);
    EXPECT_EQ(dest.hop_limit, path.grh.hop_limit);
    EXPECT_EQ(dest.traffic_class, path.grh.traffic_class);
    EXPECT_EQ(dest.dlid, path.dlid);
    EXPECT_EQ(dest.sl, path.sl);
    EXPECT_EQ(dest.src_path_bits, path.src_path_bits);
    EXPECT_EQ(dest.static_rate, path.static_rate);
    EXPECT_EQ(dest.is_global, path.is_global);
    EXPECT_EQ(dest.port_num, path.port_num);
}

/** Attributes that all differ, except for states, which must be valid. */
ibv_qp_attr various_attributes() {
    return {
        .qp_state = IBV_QPS_RTS,
        .cur_qp_state = IBV_QPS_RTR,
        .path_mtu = IBV_MTU_2048,
        .path_mig_state = IBV_MIG_REARM,
        .qkey = 0x11111111,
        .rq_psn = 0x222222,
        .sq_psn = 0x333333,
        .dest_qp_num = 0x444444,
        .qp_access_flags = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC,
        .ah_attr = path_from(20),
        .alt_ah_attr = path_from(80),
        .pkey_index = 0x5555,
        .alt_pkey_index = 0x6666,
        .en_sqd_async_notify = 121,
        .max_rd_atomic = 122,
        .max_dest_rd_atomic = 123,
        .min_rnr_timer = 124,
        .port_num = 125,
        .timeout = 126,
        .retry_cnt = 127,
        .rnr_retry = 128,
        .alt_port_num = 129,
        .alt_timeout = 130,
    };
}

TEST_F(Attributes, ModifyPassesAllAttributes) {
    const ibv_qp_attr attr = various_attributes();
    const int mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_DEST_QPN;

    ASSERT_EQ(xrcrcv_modify(domain_.get(), qpn, &attr, mask), 0);
    const ib_uverbs_modify_qp& request = kernel_.modify;
    EXPECT_EQ(request.attr_mask, static_cast<std::uint32_t>(mask));
    expect_path(request.dest, attr.ah_attr);
    expect_path(request.alt_dest, attr.alt_ah_attr);
    EXPECT_EQ(request.qp_state, attr.qp_state);
    EXPECT_EQ(request.cur_qp_state, attr.cur_qp_state);
    EXPECT_EQ(request.path_mtu, attr.path_mtu);
    EXPECT_EQ(request.path_mig_state, attr.path_mig_state);
    EXPECT_EQ(request.qkey, attr.qkey);
    EXPECT_EQ(request.rq_psn, attr.rq_psn);
    EXPECT_EQ(request.sq_psn, attr.sq_psn);
    EXPECT_EQ(request.dest_qp_num, attr.dest_qp_num);
    EXPECT_EQ(request.qp_access_flags, attr.qp_access_flags);
    EXPECT_EQ(request.pkey_index, attr.pkey_index);
    EXPECT_EQ(request.alt_pkey_index, attr.alt_pkey_index);
    EXPECT_EQ(request.en_sqd_async_notify, attr.en_sqd_async_notify);
    EXPECT_EQ(request.max_rd_atomic, attr.max_rd_atomic);
    EXPECT_EQ(request.max_dest_rd_atomic, attr.max_dest_rd_atomic);
    EXPECT_EQ(request.min_rnr_timer, attr.min_rnr_timer);
    EXPECT_EQ(request.port_num, attr.port_num);
    EXPECT_EQ(request.timeout, attr.timeout);
    EXPECT_EQ(request.retry_cnt, attr.retry_cnt);
    EXPECT_EQ(request.rnr_retry, attr.rnr_retry);
    EXPECT_EQ(request.alt_port_num, attr.alt_port_num);
    EXPECT_EQ(request.alt_timeout, attr.alt_timeout);
}

/** A response of the kernel whose values all differ. */
ib_uverbs_query_qp_resp various_response() {
    ib_uverbs_query_qp_resp response{
        .max_send_wr = 1,
        .max_recv_wr = 2,
        .max_send_sge = 3,
        .max_recv_sge = 4,
        .max_inline_data = 5,
        .qkey = 6,
        .rq_psn = 7,
        .sq_psn = 8,
        .dest_qp_num = 9,
        .qp_access_flags = 10,
        .pkey_index = 11,
        .alt_pkey_index = 12,
        .qp_state = IBV_QPS_SQD,
        .cur_qp_state = IBV_QPS_RTS,
        .path_mtu = IBV_MTU_4096,
        .path_mig_state = IBV_MIG_ARMED,
        .sq_draining = 13,
        .max_rd_atomic = 14,
        .max_dest_rd_atomic = 15,
        .min_rnr_timer = 16,
        .port_num = 17,
        .timeout = 18,
        .retry_cnt = 19,
        .rnr_retry = 20,
        .alt_port_num = 21,
        .alt_timeout = 22,
        .sq_sig_all = 1,
    };
    response.dest = {.flow_label = 30,
                     .dlid = 31,
                     .sgid_index = 32,
                     .hop_limit = 33,
                     .traffic_class = 34,
                     .sl = 35,
                     .src_path_bits = 36,
                     .static_rate = 37,
                     .is_global = 1,
                     .port_num = 38};
    response.dest.dgid[15] = 39;
    response.alt_dest = {.flow_label = 40,
                         .dlid = 41,
                         .sgid_index = 42,
                         .hop_limit = 43,
                         .traffic_class = 44,
                         .sl = 45,
                         .src_path_bits = 46,
                         .static_rate = 47,
                         .is_global = 1,
                         .port_num = 48};
    response.alt_dest.dgid[0] = 49;
    return response;
}

TEST_F(Attributes, QueryWithEmptyMaskReturnsAllAttributes) {
    const ib_uverbs_query_qp_resp response = various_response();
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr{};

    kernel_.query_response = response;
    ASSERT_EQ(xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr), 0);
    // All bits of enum ibv_qp_attr_mask except the newest, IBV_QP_RATE_LIMIT.
    EXPECT_EQ(kernel_.query.attr_mask, 0x1fffffU);
    expect_path(response.dest, attr.ah_attr);
    expect_path(response.alt_dest, attr.alt_ah_attr);
    EXPECT_EQ(attr.qkey, response.qkey);
    EXPECT_EQ(attr.rq_psn, response.rq_psn);
    EXPECT_EQ(attr.sq_psn, response.sq_psn);
    EXPECT_EQ(attr.dest_qp_num, response.dest_qp_num);
    EXPECT_EQ(attr.qp_access_flags, response.qp_access_flags);
    EXPECT_EQ(attr.pkey_index, response.pkey_index);
    EXPECT_EQ(attr.alt_pkey_index, response.alt_pkey_index);
    EXPECT_EQ(attr.qp_state, IBV_QPS_SQD);
    EXPECT_EQ(attr.cur_qp_state, IBV_QPS_RTS);
    EXPECT_EQ(attr.path_mtu, IBV_MTU_4096);
    EXPECT_EQ(attr.path_mig_state, IBV_MIG_ARMED);
    EXPECT_EQ(attr.sq_draining, response.sq_draining);
    EXPECT_EQ(attr.max_rd_atomic, response.max_rd_atomic);
    EXPECT_EQ(attr.max_dest_rd_atomic, response.max_dest_rd_atomic);
    EXPECT_EQ(attr.min_rnr_timer, response.min_rnr_timer);
    EXPECT_EQ(attr.port_num, response.port_num);
    EXPECT_EQ(attr.timeout, response.timeout);
    EXPECT_EQ(attr.retry_cnt, response.retry_cnt);
    EXPECT_EQ(attr.rnr_retry, response.rnr_retry);
    EXPECT_EQ(attr.alt_port_num, response.alt_port_num);
    EXPECT_EQ(attr.alt_timeout, response.alt_timeout);
}

TEST_F(Attributes, QueryDescribesReceiveQp) {
    ibv_qp_attr attr{};
    ibv_qp_init_attr init_attr;

    std::memset(&init_attr, 0xff, sizeof(init_attr));
    kernel_.query_response = various_response();
    ASSERT_EQ(xrcrcv_query(domain_.get(), qpn, &attr, 0, &init_attr), 0);
    EXPECT_EQ(init_attr.qp_type, IBV_QPT_XRC_RECV);
    EXPECT_EQ(init_attr.qp_context, nullptr);
    EXPECT_EQ(init_attr.send_cq, nullptr);
    EXPECT_EQ(init_attr.recv_cq, nullptr);
    EXPECT_EQ(init_attr.srq, nullptr);
    EXPECT_EQ(init_attr.sq_sig_all, 1);
    for (const ibv_qp_cap& cap : {init_attr.cap, attr.cap}) {
        EXPECT_EQ(cap.max_send_wr, 1U);
        EXPECT_EQ(cap.max_recv_wr, 2U);
        EXPECT_EQ(cap.max_send_sge, 3U);
        EXPECT_EQ(cap.max_recv_sge, 4U);
        EXPECT_EQ(cap.max_inline_data, 5U);
    }
}

} // namespace
} // namespace xrcrcv::tests
