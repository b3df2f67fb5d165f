// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * XRC domains as the kernel knows them.
 */
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace xrcrcv {

/** An XRC domain of an open device: its handle is one of this context. */
struct Domain {
    const ibv_context& context;
    std::uint32_t handle;
};

/**
 * Reads the handle out of an XRC domain of libibverbs. Its offset is not public. The kernel checks
 * the handle: each method refuses one that is not that of an XRC domain of the context.
 *
 * @return 0; ENOTSUP: libibverbs has stored no handle where it is known to
 */
[[nodiscard]] int read_handle(const ibv_xrcd& xrcd, std::uint32_t& handle);

} // namespace xrcrcv
