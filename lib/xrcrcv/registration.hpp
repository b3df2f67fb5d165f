// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * The driver's methods for registrations of XRC receive QPs. All return 0 or a positive errno.
 * Common errors: ENOSYS: the driver has no such methods; ENOTSUP: the kernel lacks what they need;
 * EBUSY: another thread is closing the XRC domain; EINVAL: the handle is not an XRC domain; EIO.
 */
#pragma once

#include "domain.hpp"

#include <cstdint>

namespace xrcrcv {

/** Checks that the driver of an open device has the methods. ENOSYS: it does not; EIO. */
[[nodiscard]] int check_methods(const ibv_context& context);

/** Finds the registration of a QP in this context. ENOENT: no such registration or XRC domain. */
[[nodiscard]] int find_registration(const Domain& domain, std::uint32_t qpn,
                                    std::uint32_t& registration);

/** Registers a QP. EEXIST: this context has already registered it; EINVAL: no such QP. */
[[nodiscard]] int create_registration(const Domain& domain, std::uint32_t qpn);

/**
 * Destroys a registration. EINVAL: it does not belong to this QP and XRC domain; ENOENT, EBUSY:
 * another thread is creating or destroying it.
 */
[[nodiscard]] int destroy_registration(const Domain& domain, std::uint32_t qpn,
                                       std::uint32_t registration);

} // namespace xrcrcv
