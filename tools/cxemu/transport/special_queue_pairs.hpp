// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Which QPs are QP0 and QP1 of the ports.
#pragma once

#include "queues/qp_values.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <utility>

namespace cxemu::transport {

/// Software creates QP0 and QP1 with ordinary QPNs; on the wire they are 0 and 1 of their port. If
/// software creates several for the same port, the last one is used.
class SpecialQueuePairs {
public:
    /// \pre service is subnet_management or general_services
    void set(std::uint8_t port, queues::ServiceType service, std::uint32_t number) {
        numbers_[{port, service}] = number;
    }

    /// The QPN of the QP0 or QP1; nothing when there is none.
    [[nodiscard]] std::optional<std::uint32_t> find(std::uint8_t port,
                                                    queues::ServiceType service) const {
        const auto found = numbers_.find({port, service});
        return found == numbers_.end() ? std::nullopt : std::optional(found->second);
    }

    void forget(std::uint32_t number) {
        std::erase_if(numbers_, [number](const auto& entry) { return entry.second == number; });
    }
    void clear() { numbers_.clear(); }

private:
    std::map<std::pair<std::uint8_t, queues::ServiceType>, std::uint32_t> numbers_;
};

} // namespace cxemu::transport
