// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Port of a QP.
#pragma once

#include "queues/queue_pair.hpp"

#include <cstdint>

namespace cxemu::transport {

/// Port number, counted from 1. Software that uses a single port may set 0.
inline std::uint8_t port_number(const queues::QueuePair& queue_pair) {
    const auto number = queue_pair.context().get<"primary_address_path.vhca_port_num">();
    return number == 0 ? 1 : static_cast<std::uint8_t>(number);
}

} // namespace cxemu::transport
