// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The M_Key: access control of port settings (InfiniBand specification, 14.2.4).
#pragma once

#include "base/event_loop.hpp"
#include "fabric/port.hpp"

#include <cstdint>

namespace cxemu::fabric {

/// Access that a MAD has.
enum class MKeyCheck : std::uint8_t {
    allowed,
    allowed_without_key, ///< read access, but the M_Key reads as zero
    refused,
};

/// Checks M_Keys. After the first violation the lease timer runs; unless a MAD with the valid key
/// arrives within the lease period, the protection is cleared.
class MKey {
public:
    /// \param port whose settings hold the key; must outlive this
    MKey(EventLoop& loop, Port& port);

    /// Checks a MAD. A valid key stops the lease timer; a violation is counted and starts it.
    /// \param changes Set or TrapRepress, not Get
    MKeyCheck check(std::uint64_t key, bool changes);

    /// Number of refused MADs; saturates at the maximum of PortInfo.
    [[nodiscard]] std::uint16_t violations() const;

    /// The protection settings have been written or reset: the lease timer is stopped until the
    /// next violation.
    void settings_changed();

private:
    [[nodiscard]] MKeyCheck check_access(std::uint64_t key, bool changes) const;
    void count_violation();

    Port& port_;
    Timer lease_;
};

} // namespace cxemu::fabric
