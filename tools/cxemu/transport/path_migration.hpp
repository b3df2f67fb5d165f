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

/// Each side tells in all its packets whether it has migrated. Sides that both have an alternate
/// path, and have heard so of each other, are armed; then whoever gives up the primary path takes
/// the alternate one, and the other side follows with the first packet that comes on it.
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

    /// The connection begins with what the context says.
    void start();
    /// Software has changed the context: it may have told to migrate.
    void attributes_changed();

    /// What packets tell the peer.
    [[nodiscard]] bool migrated() const;

    /// Gives the primary path up, if there is an alternate one that is armed.
    /// \return whether there was
    bool give_up_primary();

    /// A packet of the peer has arrived on the primary path.
    void arrived_on_primary(const fabric::ParsedPacket& packet);
    /// True when the peer has migrated and this side is armed: the packet has to come on the
    /// alternate path.
    [[nodiscard]] bool expects_alternate(const fabric::ParsedPacket& packet) const;
    /// ... and it has: this side follows.
    void arrived_on_alternate() { migrate(); }
    /// ... and it has not.
    void refuse();

private:
    enum class State : std::uint8_t;
    [[nodiscard]] State state() const;
    void set_state(State state);
    void migrate();

    queues::QueuePair& queue_pair_;
    bool armed_ = false; ///< when software was heard of last
};

} // namespace cxemu::transport
