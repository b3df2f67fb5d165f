// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/rendezvous.hpp"

namespace cxemu::transport {

queues::SendWqe Rendezvous::read() const {
    queues::SendWqe request;
    request.opcode = queues::SendOpcode::rdma_read;
    request.completion = queues::CompletionMode::only_error;
    request.remote = {.address = source.address, .key = source.key};
    request.length = source.length;
    return request;
}

queues::SendWqe Rendezvous::finish() const {
    const TagHeader fin = header.fin();
    queues::SendWqe request;
    request.opcode = queues::SendOpcode::send;
    request.completion = queues::CompletionMode::only_error;
    request.bytes.assign(fin.bytes.begin(), fin.bytes.end());
    request.data.emplace_back(queues::InlineData{.offset = 0, .length = TagHeader::size});
    request.length = TagHeader::size;
    return request;
}

} // namespace cxemu::transport
