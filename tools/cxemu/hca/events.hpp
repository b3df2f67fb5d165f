// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Events raised by the blocks of the device; the EQs (queues/) write them to memory.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace cxemu::hca {

enum class EventType : std::uint8_t {
    completion = 0x00,
    path_migrated = 0x01,
    communication_established = 0x02,
    send_queue_drained = 0x03,
    cq_error = 0x04,
    work_queue_catastrophic_error = 0x05,
    path_migration_failed = 0x07,
    internal_error = 0x08,
    port_change = 0x09,
    command_completion = 0x0a,
    page_request = 0x0b,
    page_fault = 0x0c,
    work_queue_invalid_request = 0x10,
    work_queue_access_error = 0x11,
    srq_catastrophic_error = 0x12,
    srq_last_wqe_reached = 0x13,
    srq_limit_reached = 0x14,
    gpio = 0x15,
    port_module = 0x16,
    temperature_warning = 0x17,
    doorbell_congestion = 0x1a,
    stall_vl = 0x1b,
    dct_drained = 0x1c,
    dct_key_violation = 0x1d,
    general_notification = 0x22,
};

/// Bytes of the event data, at 0x20 of the EQE.
inline constexpr std::size_t event_data_size = 28;
using EventData = std::array<std::byte, event_data_size>;

/// Receiver of all events but those of CQs. Implemented by the EQs.
class EventSink {
public:
    virtual ~EventSink() = default;

    /// True when an EQ has subscribed to \p type.
    [[nodiscard]] virtual bool subscribed(EventType type) const = 0;

    /// Writes an EQE to the EQ that has subscribed to \p type, and raises its vector.
    /// \param data at most event_data_size bytes; the rest of the event data is zero
    /// \return false when no EQ has subscribed; the event is lost then
    virtual bool post_event(EventType type, std::uint8_t sub_type,
                            std::span<const std::byte> data) = 0;
};

} // namespace cxemu::hca
