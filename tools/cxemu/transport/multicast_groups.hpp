// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Multicast group membership of QPs.
#pragma once

#include "fabric/identifiers.hpp"

#include <cstddef>
#include <cstdint>
#include <expected>
#include <map>
#include <vector>

namespace cxemu::transport {

struct MulticastLimits {
    std::size_t groups = 0;
    std::size_t members = 0; ///< QPs of one group
};

enum class MembershipFault : std::uint8_t {
    too_many_groups,  ///< the table of groups is full
    too_many_members, ///< the group is full
    not_a_member,     ///< the QP isn't attached to the group
};

/// The GID alone identifies a group, because every multicast packet has a GRH.
class MulticastGroups {
public:
    explicit MulticastGroups(MulticastLimits limits) : limits_(limits) {}

    /// Attaches a QP; no effect if it is attached already.
    std::expected<void, MembershipFault> attach(const fabric::Gid& group, std::uint32_t queue_pair);

    std::expected<void, MembershipFault> detach(const fabric::Gid& group, std::uint32_t queue_pair);

    /// Detaches a QP from all groups. \return the number of groups it was attached to
    std::size_t forget(std::uint32_t queue_pair);

    /// QPNs of a group, in the order of attachment. Returns a copy, because the receivers may
    /// change the group.
    [[nodiscard]] std::vector<std::uint32_t> members(const fabric::Gid& group) const;
    [[nodiscard]] bool has(const fabric::Gid& group) const { return groups_.contains(group); }

    [[nodiscard]] const MulticastLimits& limits() const { return limits_; }
    [[nodiscard]] std::size_t size() const { return groups_.size(); }
    void clear() { groups_.clear(); }

private:
    MulticastLimits limits_;
    std::map<fabric::Gid, std::vector<std::uint32_t>> groups_; ///< none is empty
};

} // namespace cxemu::transport
