// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Data segments of send and receive WQEs.
#pragma once

#include "hwtab/view.hpp"
#include "tables/work_queue.hpp"

#include <cstddef>
#include <cstdint>

namespace cxemu::queues {

inline constexpr std::size_t ds_size = 16; ///< bytes; unit of the length of a WQE

/// Bytes that a data segment names.
inline std::uint32_t length_of(const hwtab::ConstView<hwtab::wqe_data_seg>& pointer) {
    constexpr std::uint32_t longest = 1U << 31U;
    const auto count = static_cast<std::uint32_t>(pointer.get<"byte_count">());
    return count == 0 ? longest : count;
}

} // namespace cxemu::queues
