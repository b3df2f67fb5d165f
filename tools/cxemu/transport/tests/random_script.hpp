// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What tests with random scripts share: links that lose, double, reorder and delay packets, and
/// the search for the shortest script that fails.
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

/// How bad the link is, in percent.
struct LinkQuality {
    std::uint32_t lost = 0;
    std::uint32_t doubled = 0;
    std::uint32_t overtaken = 0;
    std::uint32_t late = 0;

    /// An answer that a refusal overtakes is as good as lost: it is asked for again.
    [[nodiscard]] bool loses_answers() const { return lost != 0 || overtaken != 0 || late != 0; }
};

/// The quality of links: good, bad, or one thing that goes wrong.
LinkQuality draw_link(check::SeededRandom& random);

/// Does to packets what the quality of the link says.
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
    int lost_in_a_row_ = 0;
    std::vector<std::unique_ptr<Timer>> timers_;
};

/// What the model calls the end of a request.
model::Status status_of(const Result& result);

/// Tries the seeds that the environment wants, \p usual of them if it wants nothing; a failure of
/// one is a failure of the test.
/// \param attempt returns what is wrong
void try_seeds(std::uint64_t usual,
               const std::function<std::optional<std::string>(std::uint64_t seed)>& attempt);

/// Leaves out of \p steps what needn't be there for \p fails to be true.
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
