// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What acknowledgements say: the syndrome of the AETH, credits, times to wait.
#pragma once

#include "base/event_loop.hpp"

#include <cstdint>
#include <optional>

namespace cxemu::transport {

enum class NakCode : std::uint8_t {
    sequence_error = 0,  ///< an earlier packet is missing
    invalid_request = 1, ///< the responder can't carry out such a request
    remote_access = 2,   ///< key, range or right don't fit
    remote_operation = 3 ///< the responder failed while it carried out the request
};

struct Syndrome {
    enum class Kind : std::uint8_t {
        acknowledge = 0,
        receiver_not_ready = 1,
        reserved = 2,
        refusal = 3,
    };
    Kind kind = Kind::acknowledge;
    std::uint8_t value = 0; ///< 5 bits: code of credits, timer or reason
};

Syndrome decode_syndrome(std::uint8_t syndrome);

/// Positive acknowledgement. \param credits receive requests that are posted and not in use;
/// nothing: the responder doesn't count them (shared receive queues)
std::uint8_t ack_syndrome(std::optional<std::uint32_t> credits);
/// \param timer code of the time to wait
std::uint8_t rnr_nak_syndrome(std::uint8_t timer);
std::uint8_t nak_syndrome(NakCode code);

/// The number of credits of a positive acknowledgement; nothing when the responder doesn't count.
std::optional<std::uint32_t> credits_of(std::uint8_t code);

/// What the requester waits after "receiver not ready". \param code 5 bits
EventLoop::Duration not_ready_delay(std::uint8_t code);

/// How long the requester waits for an acknowledgement: 4.096 us * 2^code; nothing for code 0, for
/// ever. \param code 5 bits
std::optional<EventLoop::Duration> acknowledge_timeout(std::uint8_t code);

} // namespace cxemu::transport
