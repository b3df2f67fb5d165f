// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Test data for signatures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace cxemu::memory::testing {

using Bytes = std::vector<std::byte>;

inline constexpr std::uint64_t all_ones = ~std::uint64_t{0};

} // namespace cxemu::memory::testing
