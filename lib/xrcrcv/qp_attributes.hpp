// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * Converts QP attributes between libibverbs and the kernel's interface.
 */
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

namespace xrcrcv {

/** All bits that IB_USER_VERBS_CMD_MODIFY_QP and _QUERY_QP accept. */
inline constexpr std::uint32_t all_attributes = (std::uint32_t{IBV_QP_DEST_QPN} << 1) - 1;

/** The request to modify the attributes in @p mask, without the QP's handle. */
[[nodiscard]] ib_uverbs_modify_qp modify_request(const ibv_qp_attr& attr, int mask);

/** The attributes in the kernel's response to a query. */
[[nodiscard]] ibv_qp_attr attributes_of(const ib_uverbs_query_qp_resp& response);

/** The creation attributes of a receive QP, from the kernel's response to a query. */
[[nodiscard]] ibv_qp_init_attr init_attributes_of(const ib_uverbs_query_qp_resp& response);

} // namespace xrcrcv
