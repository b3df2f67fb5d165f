// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// From a send request of a datagram queue pair (UD, QP0, QP1) to a packet.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"

#include <cstdint>
#include <expected>
#include <string_view>

namespace cxemu::transport {

/// Why a datagram can't be sent. The number is the vendor syndrome of the error completion.
enum class SendFault : std::uint8_t {
    no_such_port = 0xa1,   ///< the queue pair names a port that the device doesn't have
    unsupported_operation, ///< neither a send nor a send with immediate data
    no_address,            ///< the entry has no address vector
    bad_destination,       ///< LID 0, or the permissive LID for anything but QP0
    bad_partition_index,   ///< the P_Key index is beyond the table of the port
    bad_source_gid_index,  ///< the source GID index is beyond the table of the port
    message_too_long,      ///< longer than a packet on this path may be
    unreadable_data,       ///< a memory key refused the access
    absent_data,           ///< a page isn't present, and software can't or won't bring it in
};

/// "longer than a packet may be"
std::string_view describe(SendFault fault);

/// What the completion of a request that failed so says.
queues::CompletionError completion_error(SendFault fault);

/// Longest message that \p queue_pair can send through \p port, in bytes.
std::size_t longest_datagram(const queues::QueuePair& queue_pair, const fabric::HcaPort& port);

/// All headers of the packet for \p request, with the present PSN.
std::expected<fabric::PacketHeaders, SendFault>
datagram_headers(const queues::QueuePair& queue_pair, const queues::SendWqe& request,
                 const fabric::HcaPort& port);

/// A packet before it gets its padding and checksums.
struct Datagram {
    fabric::PacketHeaders headers;
    std::vector<std::byte> payload;

    [[nodiscard]] fabric::Packet packet() const { return fabric::build(headers, payload); }
};

/// Headers and data of the packet for \p request. The PSN of the queue pair moves on.
std::expected<Datagram, SendFault> make_datagram(queues::QueuePair& queue_pair,
                                                 const queues::SendWqe& request,
                                                 const fabric::HcaPort& port);

} // namespace cxemu::transport
