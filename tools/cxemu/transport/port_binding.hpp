// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// One port as the transport sees it: packets in, port events to the host.
#pragma once

#include "fabric/hca_port.hpp"
#include "hca/hca.hpp"
#include "queues/queue_pair.hpp"
#include "transport/packet_receiver.hpp"
#include "transport/special_queue_pairs.hpp"

namespace cxemu::transport {

/// Posts the event that tells the host of \p event at port number \p port; some are of no interest
/// to it.
void post_port_event(hca::Hca& hca, std::uint8_t port, fabric::PortEvent event);

/// The client of a port, as long as it lives.
class PortBinding final : public fabric::PortClient {
public:
    /// All must outlive this.
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
