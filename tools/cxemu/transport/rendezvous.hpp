// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A rendezvous: the receiver of a matched message reads the data from the memory of the sender,
/// and tells it when that is done.
#pragma once

#include "hca/objects.hpp"
#include "queues/receive_request.hpp"
#include "queues/send_request.hpp"
#include "transport/tagged_message.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace cxemu::transport {

struct Rendezvous {
    std::uint16_t index = 0;            ///< of the tag in its list
    queues::RecvWqe receive;     ///< memory of the tag
    std::shared_ptr<hca::Object> owner; ///< keeps the queue of the tag in memory
    TagHeader header;                   ///< of the message that asked for it
    RendezvousHeader source;
    queues::ReceiveCompletion completion{}; ///< what its end reports

    /// The request that reads the data, and the one that says so to the sender. Neither is in a
    /// send queue: they yield no completion of their own.
    [[nodiscard]] queues::SendWqe read() const;
    [[nodiscard]] queues::SendWqe finish() const;
};

} // namespace cxemu::transport
