// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One port as seen by the transport: receives packets, reports port events to the host.
#pragma once

#include "fabric/hca_port.hpp"
#include "hca/hca.hpp"
#include "queues/queue_pair.hpp"
#include "transport/packet_receiver.hpp"
#include "transport/special_queue_pairs.hpp"

namespace cxemu::transport {

/// Posts the EQE of \p event at port number \p port; some events have no EQE.
void post_port_event(hca::Hca& hca, std::uint8_t port, fabric::PortEvent event);

/// Is the client of a port during its lifetime.
class PortBinding final : public fabric::PortClient {
public:
    /// All arguments must outlive the object.
    PortBinding(hca::Hca& hca, fabric::HcaPort& port, PacketReceiver& receiver,
                const SpecialQueuePairs& special);
    ~PortBinding() override;
    PortBinding(const PortBinding&) = delete;
    PortBinding& operator=(const PortBinding&) = delete;

    // --- fabric::PortClient
    void packet_arrived(const fabric::ParsedPacket& packet) override;
    void port_event(fabric::PortEvent event) override;
    [[nodiscard]] bool wants_subnet_management() const override;
    [[nodiscard]] bool wants_general_services() const override;

private:
    [[nodiscard]] bool receives(queues::ServiceType service) const;

    hca::Hca& hca_;
    fabric::HcaPort& port_;
    PacketReceiver& receiver_;
    const SpecialQueuePairs& special_;
};

} // namespace cxemu::transport
