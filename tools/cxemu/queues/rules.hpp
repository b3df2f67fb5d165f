// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Rules of the strict checker about queues and doorbells.
#pragma once

#include "check/rule.hpp"

namespace cxemu::queues::rules {

inline constexpr check::Rule event_queue_doorbell_unknown{
    "event_queue_doorbell_unknown",
    "An event queue doorbell names no event queue, or came through another UAR page than its own."};
inline constexpr check::Rule event_queue_consumer_beyond_producer{
    "event_queue_consumer_beyond_producer",
    "An event queue doorbell reports entries as consumed that the device has not written."};
inline constexpr check::Rule event_queue_overrun{
    "event_queue_overrun", "An event queue overran because software did not consume its entries."};

inline constexpr check::Rule event_queue_named_falsely{
    "event_queue_named_falsely",
    "A fault plan has forged the number of an event queue, so its doorbells named another one: "
    "an event queue overran, or the other one received them."};

inline constexpr check::Rule completion_queue_doorbell_unknown{
    "completion_queue_doorbell_unknown",
    "A completion queue doorbell names no completion queue, or came through another UAR page than "
    "its own."};
inline constexpr check::Rule completion_queue_consumer_beyond_producer{
    "completion_queue_consumer_beyond_producer",
    "A doorbell record reports completions as consumed that the device has not written."};
inline constexpr check::Rule completion_queue_overrun{"completion_queue_overrun",
                                                      "A completion queue overran."};

inline constexpr check::Rule send_doorbell_unknown{
    "send_doorbell_unknown",
    "A send doorbell names no queue pair with a send queue, or came through another UAR page than "
    "its own."};
inline constexpr check::Rule send_doorbell_in_wrong_state{
    "send_doorbell_in_wrong_state", "A send doorbell was rung for a queue pair before RTS."};
inline constexpr check::Rule send_doorbell_beyond_ring{
    "send_doorbell_beyond_ring", "More WQEBBs were posted than the send queue has."};
inline constexpr check::Rule receive_doorbell_beyond_ring{
    "receive_doorbell_beyond_ring", "More receive WQEs were posted than the receive queue has."};
inline constexpr check::Rule send_entry_malformed{"send_entry_malformed",
                                                  "A send queue entry can't be decoded."};
inline constexpr check::Rule send_entry_misnumbered{
    "send_entry_misnumbered",
    "The control segment of a send queue entry has another index or queue pair than it should."};
inline constexpr check::Rule send_entry_reserved_bits{
    "send_entry_reserved_bits", "A reserved field of a send queue entry is not zero."};
inline constexpr check::Rule send_entry_changed{
    "send_entry_changed",
    "A posted send queue entry was changed while its queue pair was not in SQD, or into anything "
    "but a NOP."};
inline constexpr check::Rule shared_receive_chain_corrupt{
    "shared_receive_chain_corrupt",
    "The chain of a shared receive queue leads out of the queue or back to the same entry."};

} // namespace cxemu::queues::rules
