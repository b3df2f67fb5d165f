// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The performance management agent: counters of ports as attributes (InfiniBand specification,
/// 16.1).
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"
#include "fabric/port_state.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

namespace cxemu::fabric {

/// A node from the view of its performance management agent.
class CountedNode {
public:
    virtual ~CountedNode() = default;

    /// Counters of the port of a PortSelect. \return nullptr for an invalid port
    [[nodiscard]] virtual PortCounters* counters(std::uint8_t port) = 0;

    /// Ports that PortSelect 255 adds up; empty when the node doesn't support it.
    [[nodiscard]] virtual std::vector<std::uint8_t> all_ports() const = 0;
};

class PerformanceAgent {
public:
    PerformanceAgent(EventLoop& loop, CountedNode& node);

    /// \return the response; nothing if \p request is no request or of another class
    std::optional<Mad> process(const Mad& request);

    /// Cancels sampling and clears its results.
    void reset();

private:
    static constexpr std::size_t sample_counters = 3;

    struct Sampling {
        enum class Status : std::uint8_t { done = 0, started = 1, running = 2 };
        Status status = Status::done;
        std::uint8_t port = 0;
        std::uint16_t tag = 0;
        std::uint32_t interval = 0; ///< ticks
        std::uint32_t start = 0;    ///< ticks
        std::array<std::uint16_t, sample_counters> select{};
        std::array<std::uint64_t, sample_counters> before{};
        std::array<std::uint64_t, sample_counters> result{};
    };

    using Handler = MadStatus (PerformanceAgent::*)(Mad& mad, bool set);
    [[nodiscard]] static Handler find_handler(std::uint16_t attribute);

    MadStatus class_port_info(Mad& mad, bool set);
    MadStatus port_counters(Mad& mad, bool set);
    MadStatus port_counters_extended(Mad& mad, bool set);
    MadStatus port_samples_control(Mad& mad, bool set);
    MadStatus port_samples_result(Mad& mad, bool set);
    MadStatus start_sampling(const Mad& mad);

    [[nodiscard]] std::optional<std::vector<std::uint8_t>> selected(std::uint8_t port) const;
    [[nodiscard]] PortCounters sum(const std::vector<std::uint8_t>& ports) const;
    void begin_sample();
    void end_sample();

    CountedNode& node_;
    Timer timer_;
    Sampling sampling_;
};

} // namespace cxemu::fabric
