// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/connection.hpp"

#include "transport/operation.hpp"

#include <utility>

namespace cxemu::transport {

using queues::QueuePairState;

Connection::Connection(hca::Hca& hca, queues::QueuePair& queue_pair, Loopback& loopback,
                       SendScheduler& turns, ConnectionNumbers& numbers)
    : channel_(hca, queue_pair, loopback), turns_(turns),
      requester_(channel_, numbers, [this] { ask_for_turn(); }),
      responder_(
          channel_, [this] { ask_for_turn(); },
          [this](Rendezvous rendezvous) { requester_.fetch(std::move(rendezvous)); }) {}

void Connection::state_changed(QueuePairState from) {
    switch (queue_pair().state()) {
    case QueuePairState::init:
        break;
    case QueuePairState::ready_to_receive:
        channel_.migration().start();
        responder_.start();
        break;
    case QueuePairState::ready_to_send:
        channel_.migration().attributes_changed();
        if (from == QueuePairState::ready_to_receive)
            requester_.start();
        else
            requester_.resume();
        break;
    case QueuePairState::send_queue_draining:
        requester_.hold_back();
        break;
    case QueuePairState::send_queue_drained:
        break;
    case QueuePairState::send_queue_error:
        requester_.stop();
        break;
    case QueuePairState::error:
        requester_.stop();
        responder_.stop();
        break;
    case QueuePairState::reset:
        requester_.stop();
        responder_.reset();
        break;
    }
}

void Connection::packet_arrived(fabric::HcaPort& port, const fabric::ParsedPacket& packet) {
    const auto opcode = packet.headers.transport.opcode;
    const auto operation = operation_of(opcode);
    if (!operation || !belongs_to(queue_pair().service(), opcode) || !queue_pair().can_receive() ||
        !channel_.accepts(port, packet))
        return;
    if (is_response(operation->verb))
        requester_.response_arrived(packet, *operation);
    else if (!queues::is_dynamic(queue_pair().service()))
        responder_.request_arrived(port, packet, *operation);
}

void Connection::page_fault_resumed(std::uint32_t token, bool resolved) {
    requester_.page_fault_resumed(token, resolved);
    responder_.page_fault_resumed(token, resolved);
}

void Connection::ask_for_turn() {
    if (!std::exchange(has_asked_, true))
        turns_.ask(queue_pair().number());
}

void Connection::sends_posted() {
    int budget = packets_per_slice;
    if (requester_.send(budget))
        ask_for_turn();
}

/// Responses first: the peer waits for them.
void Connection::run_slice() {
    has_asked_ = false;
    int budget = packets_per_slice;
    const bool more_responses = responder_.send(budget);
    const bool more_requests = requester_.send(budget);
    if (more_responses || more_requests)
        ask_for_turn();
}

void Connection::refresh() {
    requester_.refresh();
    responder_.refresh();
}

} // namespace cxemu::transport
