// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What the queues need from the transport: whoever turns work requests into packets.
#pragma once

#include "queues/qp_values.hpp"

#include <cstdint>

namespace cxemu::queues {

class QueuePair;

/// Registered with WorkQueues::set_transport(). Called for queue pairs of all services but memory
/// registration. Calls come from the event loop, never from within a call to a QueuePair, except
/// state_changed(), which QueuePair::fail_send(), fail_receive() and enter_error() cause.
class Transport {
public:
    virtual ~Transport() = default;

    /// There may be something to send: take it with QueuePair::next_send() until that yields
    /// nothing. Called after doorbells, after transitions to RTS, and after a fence has been
    /// lifted.
    virtual void sends_posted(QueuePair& queue_pair) = 0;

    /// The queue pair is in queue_pair.state() now. In ERR, RST and SQER everything that was under
    /// way must be forgotten before this returns: the queue pair flushes it.
    virtual void state_changed(QueuePair& queue_pair, QueuePairState from) = 0;

    /// A modification without a change of the state (RTS2RTS, INIT2INIT).
    virtual void attributes_changed(QueuePair& /*queue_pair*/) {}

    /// Writes the transport's numbers of this moment into the context of the queue pair, for
    /// QUERY_QP.
    virtual void refresh(QueuePair& /*queue_pair*/) {}

    /// Software has answered a page fault of the queue pair, maybe one from before a reset.
    /// \param token of the fault (PageFaults::raise)
    /// \param resolved the access may be tried again; otherwise what needed it fails
    virtual void page_fault_resumed(QueuePair& /*queue_pair*/, std::uint32_t /*token*/,
                                    bool /*resolved*/) {}

    /// The queue pair is about to go. No state_changed() comes before.
    virtual void destroyed(QueuePair& queue_pair) = 0;
};

} // namespace cxemu::queues
