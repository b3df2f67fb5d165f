// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Statistics of a device's vfio-user sessions, over all connections.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace cxemu::vfio_user {

struct SessionStatistics {
    static constexpr std::size_t command_slots = 32;

    std::array<std::uint64_t, command_slots> messages{}; ///< by command number; 0 for the rest
    std::uint64_t errors_with_reply = 0;
    std::uint64_t errors_without_reply = 0; ///< a message without reply has failed
    std::uint64_t unexpected_replies = 0;
    std::uint64_t connections = 0;
    std::uint64_t connections_dropped = 0; ///< closed by the server, for malformed framing
    std::uint64_t connections_refused = 0; ///< while another client was connected
    std::uint64_t bytes_received = 0;
    std::uint64_t bytes_sent = 0;
};

} // namespace cxemu::vfio_user
