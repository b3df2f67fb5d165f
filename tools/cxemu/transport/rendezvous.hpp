// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Rendezvous: the receiver of a matched message reads the data from the memory of the sender and
/// then notifies it with FIN.
#pragma once

#include "hca/objects.hpp"
#include "queues/recv_wqe.hpp"
#include "queues/send_wqe.hpp"
#include "transport/tagged_message.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cxemu::transport {

struct Rendezvous {
    std::uint16_t index = 0;            ///< of the tag in its list
    queues::RecvWqe receive;            ///< receive buffer of the tag
    std::shared_ptr<hca::Object> owner; ///< keeps the queue that owns the tag alive
    TagHeader header;                   ///< of the rendezvous request
    RendezvousHeader source;
    queues::ReceiveCompletion completion{}; ///< completion of the rendezvous

    /// The RDMA read of the data, and the FIN to the sender. Neither is in a send queue, so they
    /// have no CQEs.
    [[nodiscard]] queues::SendWqe read() const;
    [[nodiscard]] queues::SendWqe finish() const;
};

} // namespace cxemu::transport
