// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Multicast groups and their members (InfiniBand specification, 15.2.5.17).
#pragma once

#include "subnet_manager/records.hpp"
#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"
#include "subnet_manager/subnet.hpp"

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <vector>

namespace cxemu::subnet_manager {

class MulticastGroups {
public:
    /// Is called when a group appears or disappears.
    using Changed = std::function<void(const fabric::Gid& group, bool created)>;

    /// Begins with the IPv4 broadcast group of IPoIB in the default partition.
    MulticastGroups(const ManagerSettings& settings, Changed changed);

    /// Set(MCMemberRecord): joins a group, which is created when its fields are given.
    SaReply join(const Subnet& subnet, const SaRequest& request);
    /// Delete(MCMemberRecord)
    SaReply leave(const SaRequest& request);
    /// Get and GetTable: the groups; for trusted requests their members.
    [[nodiscard]] SaReply query(const SaRequest& request) const;

    /// The MCMemberRecord of a group.
    [[nodiscard]] std::optional<Record> find(const fabric::Gid& group) const;

    /// Removes the memberships of ports. \return whether there were any
    bool remove_ports(const std::set<Guid>& ports);

    /// For the forwarding tables.
    [[nodiscard]] std::vector<GroupMembers> members(const Subnet& subnet) const;

    [[nodiscard]] std::size_t size() const { return groups_.size(); }

private:
    struct Member {
        std::uint8_t join_state = 0; ///< hwtab::mc_join_state
        bool is_proxy = false;       ///< another port has joined for it
    };
    struct Group {
        Record record; ///< MCMemberRecord without a member
        bool is_permanent = false;
        std::map<Guid, Member> members;
    };
    using Groups = std::map<fabric::Gid, Group>;

    SaStatus create(const Subnet& subnet, const SaRequest& request, PortKey port,
                    Groups::iterator& created);
    [[nodiscard]] std::optional<Lid> free_lid() const;
    [[nodiscard]] fabric::Gid new_group_gid(const SaRequest& request);
    void remove_if_unused(Groups::iterator group);
    [[nodiscard]] Record record_of(const Group& group, Guid port, std::uint8_t join_state,
                                   bool is_proxy) const;

    const ManagerSettings& settings_;
    Changed changed_;
    Groups groups_;
    std::uint32_t next_group_ = 0; ///< of MGIDs that the administration makes
};

} // namespace cxemu::subnet_manager
