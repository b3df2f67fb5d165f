// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Additions to QPs for dynamically connected transport: DCIs have streams, DCTs have an access key
/// and their own context.
///
/// cxemu implements a DCT as a receive-only QP, because DCTs and QPs share one number space.
#pragma once

#include "hwtab/view.hpp"
#include "tables/contexts.hpp"

#include <cstddef>
#include <cstdint>
#include <set>

namespace cxemu::queues {

/// Errored streams of a DCI. WQEs of other streams continue.
class ErroredStreams {
public:
    /// A DCI without streams enters the error state as a whole.
    ErroredStreams() = default;
    /// \param max_streams errored streams; the last of them moves the QP to the error state
    explicit ErroredStreams(std::size_t max_streams) : max_streams_(max_streams) {}

    [[nodiscard]] bool exist() const { return max_streams_ != 0; }
    [[nodiscard]] bool contain(std::uint16_t stream) const { return failed_.contains(stream); }
    /// \return false when the QP must enter the error state
    bool add(std::uint16_t stream);
    /// Software resets \p stream. \return false when it is not errored
    bool forgive(std::uint16_t stream) { return failed_.erase(stream) != 0; }
    void clear() { failed_.clear(); }

private:
    std::size_t max_streams_ = 0;
    std::set<std::uint16_t> failed_;
};

/// Packets with a wrong DC access key.
struct KeyViolations {
    std::uint32_t count = 0;
    bool armed = false; ///< the next one raises an event
};

/// Converts the context of a DCT to that of its QP.
void to_queue_pair(hwtab::ConstView<hwtab::dctc> target, hwtab::View<hwtab::qpc> queue_pair);
/// Converts the context of the QP to that of its DCT, without state and violations.
void to_target(hwtab::ConstView<hwtab::qpc> queue_pair, hwtab::View<hwtab::dctc> target);

} // namespace cxemu::queues
