// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/device_faults.hpp"

#include "check/seeded_random.hpp"
#include "queues/event_queue.hpp"

#include <array>
#include <memory>

namespace cxemu::program {

namespace {

void report(hca::Hca& hca, std::uint8_t syndrome, bool warning) {
    const hca::HealthReport report{.syndrome = static_cast<hca::HealthSyndrome>(syndrome),
                                   .reset_required = !warning,
                                   .severity = warning ? hca::HealthSeverity::warning
                                                       : hca::HealthSeverity::emergency};
    if (warning)
        hca.health().set_report(report);
    else
        hca.fail_fatally(report);
}

/// Posts random EQEs to all EQs, of the type in \p fault if it has one.
void invent_events(hca::Hca& hca, const check::DeviceFault& fault) {
    check::SeededRandom random(fault.seed);
    hca.objects().of<queues::EventQueue>().for_each([&](queues::EventQueue& queue) {
        if (queue.stopped() || queue.unconsumed() >= queue.size() / 2)
            return; // the driver is not to blame for an overrun
        std::array<std::byte, hwtab::eqe.size> entry{};
        random.fill(entry);
        if (fault.event)
            hwtab::View<hwtab::eqe>{std::span(entry)}.set<"event_type">(*fault.event);
        queue.post_raw(entry);
    });
}

} // namespace

void inject(Adapter& adapter, const check::DeviceFault& fault) {
    using Kind = check::DeviceFault::Kind;
    switch (fault.kind) {
    case Kind::health:
        return report(adapter.hca(), fault.syndrome, fault.warning);
    case Kind::health_stuck:
        return adapter.hca().health().stop_counter(true);
    case Kind::surprise_removal:
        return adapter.remove(fault.gone_for);
    case Kind::function_reset:
        return adapter.function().reset_function();
    case Kind::event:
        return invent_events(adapter.hca(), fault);
    }
}

} // namespace cxemu::program
