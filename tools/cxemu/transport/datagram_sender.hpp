// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// From send WQEs of a datagram QP (UD, QP0, QP1) to packets.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"

#include <cstdint>
#include <expected>
#include <string_view>

namespace cxemu::transport {

/// Reason why a datagram can't be sent. The number is the vendor syndrome of the error completion.
enum class SendFault : std::uint8_t {
    no_such_port = 0xa1,   ///< the QP's port doesn't exist
    unsupported_operation, ///< neither a send nor a send with immediate data
    no_address,            ///< the WQE has no address vector
    bad_destination,       ///< LID 0, or the permissive LID for any QP but QP0
    bad_partition_index,   ///< the P_Key index is beyond the table of the port
    bad_source_gid_index,  ///< the source GID index is beyond the table of the port
    message_too_long,      ///< exceeds the path MTU
    unreadable_data,       ///< mkey access fault
    absent_data,           ///< page fault that software can't resolve
};

/// "longer than the path MTU"
std::string_view describe(SendFault fault);

/// The completion error of a failed send WQE.
queues::CompletionError completion_error(SendFault fault);

/// Longest message that \p queue_pair can send through \p port, in bytes.
std::size_t longest_datagram(const queues::QueuePair& queue_pair, const fabric::HcaPort& port);

/// All headers of the packet for \p request, with the current PSN.
std::expected<fabric::PacketHeaders, SendFault>
datagram_headers(const queues::QueuePair& queue_pair, const queues::SendWqe& request,
                 const fabric::HcaPort& port);

/// A packet before padding and CRCs are added.
struct Datagram {
    fabric::PacketHeaders headers;
    std::vector<std::byte> payload;

    [[nodiscard]] fabric::Packet packet() const { return fabric::build(headers, payload); }
};

/// Headers and data of the packet for \p request. Increments the PSN of the QP.
std::expected<Datagram, SendFault> make_datagram(queues::QueuePair& queue_pair,
                                                 const queues::SendWqe& request,
                                                 const fabric::HcaPort& port);

} // namespace cxemu::transport
