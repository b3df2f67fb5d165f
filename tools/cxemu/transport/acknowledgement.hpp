// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Contents of acknowledgements: the AETH syndrome, credits, RNR timers.
#pragma once

#include "base/event_loop.hpp"

#include <cstdint>
#include <optional>

namespace cxemu::transport {

enum class NakCode : std::uint8_t {
    sequence_error = 0,  ///< an earlier packet is missing
    invalid_request = 1, ///< request unsupported by the responder
    remote_access = 2,   ///< key, range or access rights violation
    remote_operation = 3 ///< the responder failed while executing the request
};

struct Syndrome {
    enum class Kind : std::uint8_t {
        acknowledge = 0,
        receiver_not_ready = 1,
        reserved = 2,
        refusal = 3,
    };
    Kind kind = Kind::acknowledge;
    std::uint8_t value = 0; ///< 5 bits: credit count, RNR timer or NAK code
};

Syndrome decode_syndrome(std::uint8_t syndrome);

/// Returns the ACK syndrome. \param credits number of posted receive WQEs that are not in use;
/// nothing: no credit count (SRQs)
std::uint8_t ack_syndrome(std::optional<std::uint32_t> credits);
/// \param timer RNR timer code
std::uint8_t rnr_nak_syndrome(std::uint8_t timer);
std::uint8_t nak_syndrome(NakCode code);

/// The credit count of an ACK; nothing if the responder does not count credits.
std::optional<std::uint32_t> credits_of(std::uint8_t code);

/// Delay of the requester after an RNR NAK. \param code 5 bits
EventLoop::Duration not_ready_delay(std::uint8_t code);

/// ACK timeout of the requester: 4.096 us * 2^code; nothing (infinite) for code 0. \param code 5
/// bits
std::optional<EventLoop::Duration> acknowledge_timeout(std::uint8_t code);

} // namespace cxemu::transport
