// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Automatic path migration: from the primary path of a connection to the alternate one (IBA volume
/// 1, 17.2.8).
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"
#include "queues/queue_pair.hpp"

#include <cstdint>

namespace cxemu::transport {

/// The MigReq bit of each packet tells whether the sender has migrated. If both sides have an
/// alternate path and each has learned that the other is rearmed, they are armed. When one side
/// changes to the alternate path, the other side follows with the first packet that it receives on
/// that path.
///
/// ```
///   migrated ──software──> rearm ──packet of a peer that hasn't migrated──> armed
///      ▲                                                                      │
///      └── retries exhausted, software, or a migrated peer on the alternate path
/// ```
class PathMigration {
public:
    /// \p queue_pair must outlive this.
    explicit PathMigration(queues::QueuePair& queue_pair) : queue_pair_(queue_pair) {}

    /// Initializes the state from the QP context.
    void start();
    /// Software has modified the QP context: it may have requested migration.
    void attributes_changed();

    /// The MigReq bit of sent packets.
    [[nodiscard]] bool migrated() const;

    /// Migrates to the alternate path if it is armed.
    /// \return whether it was armed
    bool leave_primary();

    /// A packet of the peer has arrived on the primary path.
    void arrived_on_primary(const fabric::ParsedPacket& packet);
    /// True if the peer has migrated and this side is armed, so that the packet must arrive on the
    /// alternate path.
    [[nodiscard]] bool expects_alternate(const fabric::ParsedPacket& packet) const;
    /// The packet has arrived on the alternate path: this side migrates as well.
    void arrived_on_alternate() { migrate(); }
    /// The packet has arrived on the primary path.
    void refuse();

private:
    enum class State : std::uint8_t;
    [[nodiscard]] State state() const;
    void set_state(State state);
    void migrate();

    queues::QueuePair& queue_pair_;
    bool armed_ = false; ///< path migration state at the last modification by software
};

} // namespace cxemu::transport
