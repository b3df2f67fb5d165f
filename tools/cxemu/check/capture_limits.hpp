// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Size limits of a packet capture.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace cxemu::check {

/// Limits of a capture; unlimited by default.
struct CaptureLimits {
    std::size_t packet = std::numeric_limits<std::size_t>::max();   ///< bytes of each packet
    std::uint64_t file = std::numeric_limits<std::uint64_t>::max(); ///< bytes of the file
};

} // namespace cxemu::check
