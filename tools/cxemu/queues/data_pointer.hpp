// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What entries of send and receive queues have in common.
#pragma once

#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <cstddef>
#include <cstdint>

namespace cxemu::queues {

inline constexpr std::size_t octword = 16; ///< bytes; unit of the length of an entry

/// Bytes that a data segment names.
inline std::uint32_t length_of(const hwtab::ConstView<hwtab::wqe_data_seg>& pointer) {
    constexpr std::uint32_t longest = 1U << 31U;
    const auto count = static_cast<std::uint32_t>(pointer.get<"byte_count">());
    return count == 0 ? longest : count;
}

} // namespace cxemu::queues
