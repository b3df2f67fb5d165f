// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/tests/random_script.hpp"

#include <bit>
#include <chrono>
#include <cstdlib>
#include <gtest/gtest.h>
#include <map>
#include <utility>

namespace cxemu::transport::testing {

namespace {

std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
    const char* text = std::getenv(name);
    return text == nullptr ? otherwise : std::strtoull(text, nullptr, 0);
}

} // namespace

LinkQuality draw_link(check::SeededRandom& random) {
    LinkQuality link;
    if (random.below(4) == 0)
        return link;
    for (std::uint32_t* chance : {&link.lost, &link.doubled, &link.overtaken, &link.late}) {
        if (random.below(2) != 0)
            *chance = static_cast<std::uint32_t>(random.below(11));
    }
    return link;
}

void Weather::take(fabric::Link& link, fabric::LinkDirection direction, fabric::Packet packet) {
    // A try has two packets or more. With more losses, all tries of a request could fail.
    constexpr int max_of_last_eight = 3;
    losses_ = static_cast<std::uint8_t>(losses_ << 1U);
    if (hits(quality_.lost) && std::popcount(losses_) < max_of_last_eight) {
        losses_ |= 1U;
        return;
    }
    if (hits(quality_.late))
        return hold(link, direction, std::move(packet), 1 + random_.below(3'000));
    if (hits(quality_.overtaken))
        return hold(link, direction, std::move(packet), 1);
    if (hits(quality_.doubled))
        link.deliver(direction, packet);
    link.deliver(direction, std::move(packet));
}

void Weather::hold(fabric::Link& link, fabric::LinkDirection direction, fabric::Packet packet,
                   std::uint64_t microseconds) {
    auto held = std::make_shared<fabric::Packet>(std::move(packet));
    timers_.push_back(std::make_unique<Timer>(
        loop_, [&link, direction, held] { link.deliver(direction, std::move(*held)); }));
    timers_.back()->start(std::chrono::microseconds(microseconds));
}

model::Status status_of(const Result& result) {
    using model::Status;
    using queues::CompletionError;
    static const std::map<CompletionError, Status> statuses{
        {CompletionError::flushed, Status::flushed},
        {CompletionError::local_length, Status::local_length},
        {CompletionError::local_operation, Status::local_operation},
        {CompletionError::local_protection, Status::local_protection},
        {CompletionError::local_access, Status::local_access},
        {CompletionError::window_bind, Status::window_bind},
        {CompletionError::remote_invalid_request, Status::remote_invalid_request},
        {CompletionError::remote_access, Status::remote_access},
        {CompletionError::remote_operation, Status::remote_operation}};
    if (!result.error)
        return Status::success;
    const auto found = statuses.find(*result.error);
    return found == statuses.end() ? Status::other : found->second;
}

void try_seeds(std::uint64_t usual,
               const std::function<std::optional<std::string>(std::uint64_t seed)>& attempt) {
    const std::uint64_t only = number_in_environment("CXEMU_TRANSPORT_SEED", 0);
    const std::uint64_t seeds = number_in_environment("CXEMU_TRANSPORT_SEEDS", usual);
    const std::uint64_t first = only != 0 ? only : 1;
    const std::uint64_t last = only != 0 ? only : seeds;
    for (std::uint64_t seed = first; seed <= last; ++seed) {
        if (const auto wrong = attempt(seed))
            FAIL() << *wrong;
    }
}

} // namespace cxemu::transport::testing
