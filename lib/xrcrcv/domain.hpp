// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * XRC domains by kernel handle.
 */
#pragma once

#include <cstdint>
#include <infiniband/verbs.h>

namespace xrcrcv {

/** An XRC domain of an open device. Its handle belongs to this context. */
struct Domain {
    const ibv_context& context;
    std::uint32_t handle;
};

/**
 * Reads the handle of an XRC domain of libibverbs, whose offset is not public. The kernel checks
 * the handle: each method refuses one that is not an XRC domain of the context.
 *
 * @return 0; ENOTSUP: libibverbs has not stored a handle at the known offset
 */
[[nodiscard]] int read_handle(const ibv_xrcd& xrcd, std::uint32_t& handle);

} // namespace xrcrcv
