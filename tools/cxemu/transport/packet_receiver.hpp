// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interface of receivers of packets at the ports of an HCA.
#pragma once

#include "fabric/hca_port.hpp"
#include "fabric/packet.hpp"

#include <cstdint>
#include <optional>

namespace cxemu::transport {

class PacketReceiver {
public:
    virtual ~PacketReceiver() = default;

    /// A packet has arrived at \p port.
    /// \param sender QP of this device that sent it, if the packet never left the device
    virtual void receive(fabric::HcaPort& port, const fabric::ParsedPacket& packet,
                         std::optional<std::uint32_t> sender) = 0;
};

} // namespace cxemu::transport
