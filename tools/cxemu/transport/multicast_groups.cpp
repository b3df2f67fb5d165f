// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/multicast_groups.hpp"

#include <algorithm>

namespace cxemu::transport {

std::expected<void, MembershipFault> MulticastGroups::attach(const fabric::Gid& group,
                                                             std::uint32_t queue_pair) {
    if (!groups_.contains(group) && groups_.size() >= limits_.groups)
        return std::unexpected(MembershipFault::too_many_groups);
    std::vector<std::uint32_t>& members = groups_[group];
    if (std::ranges::find(members, queue_pair) != members.end())
        return {};
    if (members.size() >= limits_.members)
        return std::unexpected(MembershipFault::too_many_members);
    members.push_back(queue_pair);
    return {};
}

std::expected<void, MembershipFault> MulticastGroups::detach(const fabric::Gid& group,
                                                             std::uint32_t queue_pair) {
    const auto found = groups_.find(group);
    if (found == groups_.end() || std::erase(found->second, queue_pair) == 0)
        return std::unexpected(MembershipFault::not_a_member);
    if (found->second.empty())
        groups_.erase(found);
    return {};
}

std::size_t MulticastGroups::forget(std::uint32_t queue_pair) {
    std::size_t left = 0;
    for (auto& [group, members] : groups_)
        left += std::erase(members, queue_pair);
    std::erase_if(groups_, [](const auto& entry) { return entry.second.empty(); });
    return left;
}

std::vector<std::uint32_t> MulticastGroups::members(const fabric::Gid& group) const {
    const auto found = groups_.find(group);
    return found == groups_.end() ? std::vector<std::uint32_t>{} : found->second;
}

} // namespace cxemu::transport
