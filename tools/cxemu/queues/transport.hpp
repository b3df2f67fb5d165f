// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Interface of the transport, which executes send WQEs and receives packets.
#pragma once

#include "queues/qp_values.hpp"

#include <cstdint>

namespace cxemu::queues {

class QueuePair;

/// Registered with WorkQueues::set_transport(). It is called for QPs of all services except
/// REG_UMR. Calls come from the event loop, not from within a call to a QueuePair. Only
/// QueuePair::fail_send(), fail_receive() and enter_error() call state_changed() directly.
class Transport {
public:
    virtual ~Transport() = default;

    /// WQEs may be posted: call QueuePair::next_send() until it returns empty. Called after
    /// doorbells, after transitions to RTS, and when a fence no longer holds.
    virtual void sends_posted(QueuePair& queue_pair) = 0;

    /// The QP has entered queue_pair.state(). In ERR, RST and SQER the transport must drop all
    /// outstanding WQEs before this returns, because the QP flushes them.
    virtual void state_changed(QueuePair& queue_pair, QueuePairState from) = 0;

    /// A modification without a change of the state (RTS2RTS, INIT2INIT).
    virtual void attributes_changed(QueuePair& /*queue_pair*/) {}

    /// Writes current transport state to the context of the QP, for QUERY_QP.
    virtual void refresh(QueuePair& /*queue_pair*/) {}

    /// Software has resumed a page fault of the QP, possibly one from before a reset.
    /// \param token of the fault (PageFaults::raise)
    /// \param resolved the access may be tried again; otherwise the operation fails
    virtual void page_fault_resumed(QueuePair& /*queue_pair*/, std::uint32_t /*token*/,
                                    bool /*resolved*/) {}

    /// The QP is being destroyed, without a preceding state_changed().
    virtual void destroyed(QueuePair& queue_pair) = 0;
};

} // namespace cxemu::queues
