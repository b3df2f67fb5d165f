// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The health buffer and counter of the device, in the initialization segment.
#pragma once

#include "base/event_loop.hpp"

#include <cstdint>

namespace cxemu::hca {

/// Syndromes of the health buffer. Software prints others as unrecognized.
enum class HealthSyndrome : std::uint8_t {
    none = 0x00,
    firmware_internal = 0x01,
    dead_processor = 0x07,
    hardware_fatal = 0x08,
    firmware_checksum = 0x09,
    icm_fetch_pci = 0x0a,
    icm_page = 0x0b,
    async_eq_overrun = 0x0c,
    eq_in_error = 0x0d,
    invalid_eq = 0x0e,
    unrecoverable = 0x0f,
    temperature = 0x10,
};

/// Severity; 0 is the highest.
enum class HealthSeverity : std::uint8_t {
    emergency = 0,
    alert = 1,
    critical = 2,
    error = 3,
    warning = 4,
    notice = 5,
    information = 6,
    debug = 7,
};

struct HealthReport {
    HealthSyndrome syndrome = HealthSyndrome::none;
    std::uint16_t extended_syndrome = 0;
    bool reset_required = false; ///< with a syndrome: fatal
    HealthSeverity severity = HealthSeverity::emergency;
    std::uint8_t processor = 0; ///< index of the failed irisc
};

class Health {
public:
    static constexpr auto tick = std::chrono::milliseconds(10);

    explicit Health(const EventLoop& loop) : loop_(loop), power_on_(loop.now()) {}

    /// 24 bits, increments every tick unless stopped.
    [[nodiscard]] std::uint32_t counter() const;
    /// Stops the counter, as a dead firmware would, or restarts it.
    void stop_counter(bool stopped);

    [[nodiscard]] const HealthReport& report() const { return report_; }
    void set_report(const HealthReport& report) { report_ = report; }
    [[nodiscard]] bool fatal() const {
        return report_.syndrome != HealthSyndrome::none && report_.reset_required;
    }

    /// The non-fatal syndrome next to the counter.
    [[nodiscard]] std::uint8_t miss_syndrome() const { return miss_syndrome_; }
    void set_miss_syndrome(std::uint8_t syndrome) { miss_syndrome_ = syndrome; }

    void reset();

private:
    [[nodiscard]] std::uint32_t ticks() const;

    const EventLoop& loop_;
    EventLoop::TimePoint power_on_;
    HealthReport report_;
    std::uint8_t miss_syndrome_ = 0;
    bool stopped_ = false;
    std::uint32_t stopped_at_ = 0;
};

} // namespace cxemu::hca
