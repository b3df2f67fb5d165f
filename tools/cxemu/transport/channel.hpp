// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The channel between a connected QP and its port: properties that all packets of the connection
/// share.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "hca/hca.hpp"
#include "memory/memory_keys.hpp"
#include "queues/queue_pair.hpp"
#include "transport/loopback.hpp"
#include "transport/path_migration.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

namespace cxemu::transport {

/// The remote peer of a DC connection; it isn't in the QP context.
struct DcPeer {
    std::uint32_t queue_pair = 0;
    fabric::Lid lid = fabric::unassigned_lid;
    std::uint8_t path_bits = 0;
    std::uint8_t service_level = 0;
    bool force_loopback = false;
    std::optional<fabric::Grh> global;
    fabric::DcEth header; ///< of requests to the peer

    bool operator==(const DcPeer&) const = default;
};

class Channel {
public:
    /// All arguments must outlive the object.
    Channel(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback)
        : hca_(hca), keys_(hca.part<memory::MemoryKeys>()), queue_pair_(queue_pair),
          loopback_(loopback), migration_(queue_pair) {}

    [[nodiscard]] queues::QueuePair& queue_pair() const { return queue_pair_; }
    [[nodiscard]] hca::Hca& hca() const { return hca_; }
    [[nodiscard]] memory::MemoryKeys& keys() const { return keys_; }
    [[nodiscard]] PathMigration& migration() { return migration_; }

    /// The port of the QP; nullptr when there is none.
    [[nodiscard]] fabric::HcaPort* port() const;
    /// Sets the peer of a DC connection; nothing: unconnected.
    void set_peer(std::optional<DcPeer> peer) { peer_ = std::move(peer); }
    [[nodiscard]] const std::optional<DcPeer>& peer() const { return peer_; }
    /// QPN of the remote peer.
    [[nodiscard]] std::uint32_t remote_queue_pair() const;

    /// Payload size of every packet but the last of a message, bytes.
    [[nodiscard]] std::uint32_t path_mtu() const;

    /// Headers for a packet to the peer, without opcode and PSN. Nothing if there is no peer, or
    /// while the port cannot send the packet (no LID yet, index beyond one of its tables).
    [[nodiscard]] std::optional<fabric::PacketHeaders> headers() const;

    /// Sends a packet; it is lost if the port can't send it.
    void send(fabric::Packet packet);

    /// True for a packet from the peer on the path of the connection. A P_Key violation is reported
    /// to the subnet manager. A packet on the alternate path may migrate the connection.
    [[nodiscard]] bool accepts(fabric::HcaPort& port, const fabric::ParsedPacket& packet);

private:
    [[nodiscard]] std::optional<fabric::PacketHeaders> headers_to_peer() const;
    [[nodiscard]] bool is_from_peer(const fabric::HcaPort& port,
                                    const fabric::ParsedPacket& packet) const;
    [[nodiscard]] bool follows_peer(fabric::HcaPort& port, const fabric::ParsedPacket& packet);

    hca::Hca& hca_;
    memory::MemoryKeys& keys_;
    queues::QueuePair& queue_pair_;
    Loopback& loopback_;
    PathMigration migration_;
    std::optional<DcPeer> peer_;
};

} // namespace cxemu::transport
