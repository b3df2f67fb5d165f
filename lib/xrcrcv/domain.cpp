// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
#include "domain.hpp"

#include <cerrno>
#include <cstddef>

namespace xrcrcv {

namespace {

/** libibverbs allocates this structure for an ibv_xrcd, unchanged from rdma-core 44 to 65. */
struct XrcdOfLibibverbs {
    ibv_xrcd xrcd;
    std::uint32_t comp_mask;
    std::uint32_t handle;
};
static_assert(offsetof(XrcdOfLibibverbs, xrcd) == 0);
static_assert(offsetof(XrcdOfLibibverbs, handle) == sizeof(ibv_xrcd) + sizeof(std::uint32_t));

/** Bit of comp_mask: libibverbs has stored the handle (VERBS_XRCD_HANDLE in its sources). */
constexpr std::uint32_t has_handle = 1;

} // namespace

int read_handle(const ibv_xrcd& xrcd, std::uint32_t& handle) {
    const auto& memory = reinterpret_cast<const XrcdOfLibibverbs&>(xrcd);

    if (!(memory.comp_mask & has_handle))
        return ENOTSUP;
    handle = memory.handle;
    return 0;
}

} // namespace xrcrcv
