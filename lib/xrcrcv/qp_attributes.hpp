// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * QP attributes of libibverbs and of the kernel's interface, one made from the other.
 */
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>
#include <rdma/ib_user_verbs.h>

namespace xrcrcv {

/** All bits that IB_USER_VERBS_CMD_MODIFY_QP and _QUERY_QP take. */
inline constexpr std::uint32_t all_attributes = (std::uint32_t{IBV_QP_DEST_QPN} << 1) - 1;

/** The request to change the attributes that @p mask names, without the QP's handle. */
[[nodiscard]] ib_uverbs_modify_qp modify_request(const ibv_qp_attr& attr, int mask);

/** The attributes in the kernel's response to a query. */
[[nodiscard]] ibv_qp_attr attributes_of(const ib_uverbs_query_qp_resp& response);

/** What a receive QP was created with, by the kernel's response to a query. */
[[nodiscard]] ibv_qp_init_attr init_attributes_of(const ib_uverbs_query_qp_resp& response);

} // namespace xrcrcv
