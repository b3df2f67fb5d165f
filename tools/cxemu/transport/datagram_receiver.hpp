// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// From packets to receive completions of datagram QPs (UD, QP0, QP1).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "hca/hca.hpp"
#include "queues/queue_pair.hpp"
#include "transport/multicast_groups.hpp"
#include "transport/packet_receiver.hpp"
#include "transport/special_queue_pairs.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string_view>

namespace cxemu::transport {

/// Reason why a packet is dropped, in the order of the checks. The sender gets no report, because
/// datagrams are unreliable.
enum class DropReason : std::uint8_t {
    unsupported_opcode,   ///< the packet isn't a datagram
    wrong_virtual_lane,   ///< VL 15 and QP0 require each other
    foreign_gid,          ///< the DGID isn't one of the port's
    no_global_route,      ///< multicast without GRH
    no_group_members,     ///< the group has no members
    no_queue_pair,        ///< no such QPN at this port
    wrong_service,        ///< the QP isn't a datagram QP
    not_receiving,        ///< QP state without receiving
    own_multicast,        ///< the QP has multicast loopback disabled
    partition_key,        ///< partition mismatch, or both are limited members
    queue_key,            ///< Q_Key mismatch
    no_receive_request,   ///< no receive WQE is posted
    receive_queue_failed, ///< the receive queue is in error
    too_long,             ///< exceeds the receive WQE; the QP enters the error state
    unwritable_memory,    ///< mkey access fault; the QP enters the error state
};
inline constexpr std::size_t drop_reasons = 15;

/// "partition_key"
std::string_view name_of(DropReason reason);

struct ReceiveStatistics {
    std::uint64_t delivered = 0; ///< messages; of a multicast packet, one per receiver
    std::array<std::uint64_t, drop_reasons> dropped{};

    [[nodiscard]] std::uint64_t drops(DropReason reason) const {
        return dropped[static_cast<std::size_t>(reason)];
    }
    [[nodiscard]] nlohmann::json to_json() const;
};

class DatagramReceiver final : public PacketReceiver {
public:
    /// All arguments must outlive the object.
    DatagramReceiver(hca::Hca& hca, const SpecialQueuePairs& special, const MulticastGroups& groups)
        : hca_(hca), special_(special), groups_(groups) {}

    // --- PacketReceiver
    void receive(fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                 std::optional<std::uint32_t> sender) override;

    [[nodiscard]] const ReceiveStatistics& statistics() const { return statistics_; }

private:
    struct Arrival {
        fabric::HcaPort& port;
        const fabric::ParsedPacket& packet;
        std::optional<std::uint32_t> sender;

        [[nodiscard]] bool is_multicast() const {
            return packet.headers.transport.destination_qp == fabric::multicast_qp;
        }
    };

    void receive_unicast(const Arrival& arrival);
    void receive_multicast(const Arrival& arrival);
    [[nodiscard]] queues::QueuePair* find(const Arrival& arrival) const;
    [[nodiscard]] std::optional<DropReason> check(const Arrival& arrival,
                                                  const queues::QueuePair& queue_pair) const;
    [[nodiscard]] std::optional<DropReason> check_keys(const Arrival& arrival,
                                                       const queues::QueuePair& queue_pair) const;
    [[nodiscard]] std::optional<DropReason> deliver(const Arrival& arrival,
                                                    queues::QueuePair& queue_pair);
    void finish(std::optional<DropReason> drop);
    static void report_violation(const Arrival& arrival, DropReason reason);

    hca::Hca& hca_;
    const SpecialQueuePairs& special_;
    const MulticastGroups& groups_;
    ReceiveStatistics statistics_;
};

} // namespace cxemu::transport
