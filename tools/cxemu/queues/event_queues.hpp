// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Dispatch of events to EQs.
#pragma once

#include "hca/events.hpp"
#include "hca/hca.hpp"
#include "hca/part.hpp"
#include "queues/event_queue.hpp"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string_view>

namespace cxemu::queues {

/// Each asynchronous event type has at most one subscribed EQ. Completion events are posted to the
/// EQ of the CQ, whatever its event mask.
class EventQueues final : public hca::Part, public hca::EventSink {
public:
    explicit EventQueues(hca::Hca& hca) : hca_(hca) { hca.set_event_sink(this); }
    ~EventQueues() override { hca_.set_event_sink(nullptr); }

    /// The EQ with \p type in its event mask, or nullptr.
    [[nodiscard]] EventQueue* subscriber(hca::EventType type) const;

    // --- hca::EventSink
    [[nodiscard]] bool subscribed(hca::EventType type) const override {
        return subscriber(type) != nullptr;
    }
    bool post_event(hca::EventType type, std::uint8_t sub_type,
                    std::span<const std::byte> data) override;

    // --- hca::Part
    [[nodiscard]] std::string_view name() const override { return "event_queues"; }
    void vectors_changed(std::uint32_t first, std::uint32_t count) override;
    [[nodiscard]] nlohmann::json statistics() const override;

private:
    hca::Hca& hca_;
    std::uint64_t posted_ = 0;
    std::uint64_t lost_ = 0; ///< no EQ had subscribed, or it was in error
};

} // namespace cxemu::queues
