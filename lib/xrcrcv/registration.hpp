// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/**
 * @file
 * The methods of the driver for registrations of XRC receive QPs. All return 0 or a positive errno.
 */
#pragma once

#include "domain.hpp"

#include <cstdint>

namespace xrcrcv {

/** Finds the registration of a QP in this context. ENOENT: there is none. */
[[nodiscard]] int find_registration(const Domain& domain, std::uint32_t qpn,
                                    std::uint32_t& registration);

/** Registers a QP. EEXIST: this context has registered it. */
[[nodiscard]] int create_registration(const Domain& domain, std::uint32_t qpn);

/** Destroys a registration, provided that it is still one of that QP and XRC domain. */
[[nodiscard]] int destroy_registration(const Domain& domain, std::uint32_t qpn,
                                       std::uint32_t registration);

} // namespace xrcrcv
