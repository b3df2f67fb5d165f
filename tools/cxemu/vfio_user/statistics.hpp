// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What a device's vfio-user session has done so far; counted over all connections.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cxemu::vfio_user {

struct SessionStatistics {
    static constexpr std::size_t command_slots = 32;

    std::array<std::uint64_t, command_slots> messages{}; ///< by command number; 0 for the rest
    std::uint64_t errors_answered = 0;
    std::uint64_t errors_unanswered = 0; ///< a posted request failed
    std::uint64_t unexpected_replies = 0;
    std::uint64_t connections = 0;
    std::uint64_t connections_dropped = 0; ///< ended by us, for broken framing
    std::uint64_t connections_refused = 0; ///< while another client was connected
    std::uint64_t bytes_received = 0;
    std::uint64_t bytes_sent = 0;
};

} // namespace cxemu::vfio_user
