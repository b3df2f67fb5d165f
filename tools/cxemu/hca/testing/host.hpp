// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The host of an HCA for unit tests: guest memory with a command queue, a manual clock, and a
/// recorder of events.
#pragma once

#include "base/byte_order.hpp"
#include "check/fault_plan.hpp"
#include "hca/hca.hpp"
#include "hca/testing/command_driver.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

namespace cxemu::hca::testing {

/// Records events.
class RecordedEvents final : public EventSink {
public:
    struct Event {
        EventType type;
        std::uint8_t sub_type;
        EventData data;
    };

    [[nodiscard]] bool subscribed(EventType type) const override {
        return subscriptions.contains(type);
    }
    bool post_event(EventType type, std::uint8_t sub_type,
                    std::span<const std::byte> data) override {
        if (!subscribed(type))
            return false;
        Event event{.type = type, .sub_type = sub_type, .data = {}};
        std::ranges::copy(data, event.data.begin());
        events.push_back(event);
        return true;
    }

    std::set<EventType> subscriptions;
    std::vector<Event> events;
};

inline HcaSettings default_settings() {
    HcaSettings settings;
    settings.profile = find_profile(std::string_view("connectx5"));
    settings.node_guid = 0x0002'c903'00ce'0000;
    settings.pages = {.boot = 2, .init = 4, .regular = 0};
    return settings;
}

/// An HCA and its host.
class Host final : public CommandDriver {
public:
    explicit Host(CommandTable table, HcaSettings settings = default_settings())
        : hca({.loop = loop,
               .dma = dma,
               .interrupts = interrupts,
               .checker = checker,
               .faults = &faults},
              std::move(settings), std::move(table), make_silent_log()) {
        memory.map_into(dma, base);
        hca.set_event_sink(&events);
    }

    // --- BAR 0
    // ------------------------------------------------------------------------------------

    [[nodiscard]] std::uint32_t read32(std::uint64_t offset) {
        std::array<std::byte, 4> bytes{};
        hca.bar_read(offset, bytes);
        return load_be<std::uint32_t>(std::span<const std::byte>(bytes));
    }
    void write32(std::uint64_t offset, std::uint32_t value) {
        std::array<std::byte, 4> bytes{};
        store_be(std::span<std::byte>(bytes), value);
        hca.bar_write(offset, bytes);
    }

    // --- Command queue
    // ----------------------------------------------------------------------------

    /// Waits for the firmware and sets the queue address.
    void start_queue() {
        advance(std::chrono::milliseconds(20));
        write32(0x10, static_cast<std::uint32_t>(queue >> 32U));
        write32(0x14, static_cast<std::uint32_t>(queue));
    }

    void ring(std::uint32_t vector) override {
        write32(0x18, vector);
        loop.turn({});
    }

    // --- Memory and time
    // --------------------------------------------------------------------------

    void advance(EventLoop::Duration time) {
        now += time;
        loop.turn({});
    }

    EventLoop::TimePoint now{std::chrono::hours(1)};
    EventLoop loop{[this] { return now; }};
    vfio_user::DmaSpace dma{make_silent_log()};
    vfio_user::InterruptSet interrupts{8, make_silent_log()};
    check::Checker checker{make_silent_log()};
    check::FaultPlan faults{loop, make_silent_log()};
    RecordedEvents events;
    Hca hca;
};

} // namespace cxemu::hca::testing
