// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The M_Key: who may read and change the settings of a port (InfiniBand specification, 14.2.4).
#pragma once

#include "base/event_loop.hpp"
#include "fabric/port.hpp"

#include <cstdint>

namespace cxemu::fabric {

/// What a datagram with some key may do.
enum class MKeyCheck : std::uint8_t {
    allowed,
    allowed_without_key, ///< read, but the M_Key reads as zero
    refused,
};

/// Checks keys, and lets the protection lapse when a lease runs out: after the first violation
/// somebody with the right key must come within the lease period, or the port is open again.
class MKey {
public:
    /// \param port whose settings hold the key; must outlive this
    MKey(EventLoop& loop, Port& port);

    /// Judges a datagram; a right key stops the lease timer, a refusal counts and starts it.
    /// \param changes Set or TrapRepress, not Get
    MKeyCheck check(std::uint64_t key, bool changes);

    /// Datagrams that were refused; stops at the highest number that PortInfo can show.
    [[nodiscard]] std::uint16_t violations() const;

    /// The settings of the protection have been written, or reset: the lease starts anew when the
    /// next violation comes.
    void settings_changed();

private:
    [[nodiscard]] MKeyCheck judge(std::uint64_t key, bool changes) const;
    void count_violation();

    Port& port_;
    Timer lease_;
};

} // namespace cxemu::fabric
