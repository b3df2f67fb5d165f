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
 * Reads the handle out of an XRC domain of libibverbs. Its offset is not public, so the value is
 * used only if the kernel has an XRC domain of that handle in this context.
 *
 * @return 0; EINVAL: @p xrcd is not an XRC domain of its context; ENOTSUP: libibverbs has stored no
 *         handle where it is known to; ENOMEM; an errno of the kernel
 */
[[nodiscard]] int read_handle(const ibv_xrcd& xrcd, std::uint32_t& handle);

/** Checks that a driver has registrations. ENOSYS: it has none; EIO: the device is gone. */
[[nodiscard]] int check_registrations(const ibv_context& context);

} // namespace xrcrcv
