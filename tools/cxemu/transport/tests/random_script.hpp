// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Shared by tests with random scripts: links that lose, duplicate, reorder and delay packets, and
/// the reduction of failing scripts.
///
/// CXEMU_TRANSPORT_SEEDS=N tries N seeds instead of the few of each build, CXEMU_TRANSPORT_SEED=N
/// only that one.
#pragma once

#include "base/event_loop.hpp"
#include "check/seeded_random.hpp"
#include "fabric/link.hpp"
#include "transport/testing/peers.hpp"
#include "transport/tests/reference_model.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace cxemu::transport::testing {

/// Fault rates of the link, in percent.
struct LinkQuality {
    std::uint32_t lost = 0;
    std::uint32_t doubled = 0;
    std::uint32_t overtaken = 0;
    std::uint32_t late = 0;

    /// A response that arrives after a NAK counts as lost, because its request is retried.
    [[nodiscard]] bool loses_responses() const { return lost != 0 || overtaken != 0 || late != 0; }
};

/// The quality of links: good, bad, or a single kind of fault.
LinkQuality draw_link(check::SeededRandom& random);

/// Applies the quality of the link to packets.
class Weather {
public:
    Weather(EventLoop& loop, LinkQuality quality, std::uint64_t seed)
        : loop_(loop), quality_(quality), random_(seed) {}

    void take(fabric::Link& link, fabric::LinkDirection direction, fabric::Packet packet);

private:
    bool hits(std::uint32_t percent) { return random_.below(100) < percent; }
    void hold(fabric::Link& link, fabric::LinkDirection direction, fabric::Packet packet,
              std::uint64_t microseconds);

    EventLoop& loop_;
    LinkQuality quality_;
    check::SeededRandom random_;
    std::uint8_t losses_ = 0; ///< a bit for each of the last eight packets, the newest in bit 0
    std::vector<std::unique_ptr<Timer>> timers_;
};

/// The model's status of a completion.
model::Status status_of(const Result& result);

/// Runs the seeds of the environment, by default \p usual ones; each failing seed fails the test.
/// \param attempt returns the difference from the model
void try_seeds(std::uint64_t usual,
               const std::function<std::optional<std::string>(std::uint64_t seed)>& attempt);

/// Removes the elements of \p steps that aren't needed for \p fails to be true.
template <class Step>
void shorten(std::vector<Step>& steps, const std::function<bool()>& fails) {
    for (std::size_t size = steps.size() / 2; size != 0; size /= 2) {
        for (std::size_t at = 0; at + size <= steps.size();) {
            const auto before = steps;
            const auto first = steps.begin() + static_cast<std::ptrdiff_t>(at);
            steps.erase(first, first + static_cast<std::ptrdiff_t>(size));
            if (!fails()) {
                steps = before;
                at += size;
            }
        }
    }
}

} // namespace cxemu::transport::testing
