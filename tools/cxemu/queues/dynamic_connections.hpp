// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// What queue pairs of dynamically connected transport have beside the others: initiators (DCI)
/// have streams, targets (DCT) have an access key and a context of their own.
///
/// The device keeps a target as a queue pair that only receives, so both share their numbers.
#pragma once

#include "hwtab/view.hpp"
#include "tables/contexts.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

namespace cxemu::queues {

/// Streams of an initiator that have failed. Requests of others go on.
class ErroredStreams {
public:
    /// An initiator without streams fails as a whole.
    ErroredStreams() = default;
    /// \param most streams that may fail; with the last of them the queue pair does
    explicit ErroredStreams(std::size_t most) : most_(most) {}

    [[nodiscard]] bool exist() const { return most_ != 0; }
    [[nodiscard]] bool contain(std::uint16_t stream) const { return failed_.contains(stream); }
    /// \return false when the queue pair has to stop
    bool add(std::uint16_t stream);
    /// Software wants to go on with \p stream. \return false when it hasn't failed
    bool forgive(std::uint16_t stream) { return failed_.erase(stream) != 0; }
    void clear() { failed_.clear(); }

private:
    std::size_t most_ = 0;
    std::set<std::uint16_t> failed_;
};

/// Packets that presented a wrong access key to a target.
struct KeyViolations {
    std::uint32_t count = 0;
    bool armed = false; ///< the next one raises an event
};

/// Writes what the context of a target says into the context of the queue pair that stands for it.
void to_queue_pair(hwtab::ConstView<hwtab::dctc> target, hwtab::View<hwtab::qpc> queue_pair);
/// The reverse, without state and violations.
void to_target(hwtab::ConstView<hwtab::qpc> queue_pair, hwtab::View<hwtab::dctc> target);

} // namespace cxemu::queues
