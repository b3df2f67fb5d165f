// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Random scripts for random_keys_test.cpp.
#pragma once

#include "transport/testing/peers.hpp"
#include "transport/tests/key_model.hpp"
#include "transport/tests/random_script.hpp"

#include <array>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace cxemu::transport::testing {

struct KeyStep {
    model::Action action{};
    std::chrono::microseconds time{}; ///< that passes afterwards
};

/// Writes of one side through a key that the other side changes after a time.
struct Race {
    std::vector<model::Action> writes;
    model::Action change;
    std::chrono::microseconds time{};
};

struct KeyScript {
    std::uint64_t seed = 0;
    ConnectionOptions options{};
    LinkQuality link{};
    std::array<model::Side, 2> sides{}; ///< memory and keys at the beginning
    std::vector<KeyStep> steps{};
    std::optional<Race> race{};
    bool host_order_atomics = false; ///< byte order of atomic responses chosen by software

    [[nodiscard]] bool is_unreliable() const {
        return options.service == queues::ServiceType::unreliable_connection;
    }
    /// Only the first side sends, and the other one has an SRQ.
    [[nodiscard]] bool is_one_way() const {
        return options.service == queues::ServiceType::extended_reliable_connection;
    }
    [[nodiscard]] model::Rules rules() const {
        return {.shares_receives = is_one_way(),
                .unreliable = is_unreliable(),
                .host_order_atomics = host_order_atomics};
    }
};

/// All requests are valid.
KeyScript draw_key_script(std::uint64_t seed);
/// The last request is refused.
KeyScript draw_refused_script(std::uint64_t seed);
/// Ends with a race, if the final state allows one.
KeyScript draw_racing_script(std::uint64_t seed);

std::string describe(const KeyScript& script);

} // namespace cxemu::transport::testing
