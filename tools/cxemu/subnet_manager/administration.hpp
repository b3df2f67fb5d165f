// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Subnet administration: the requests to QP1 of the manager's LID (InfiniBand specification,
/// chapter 15).
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "fabric/mad.hpp"
#include "subnet_manager/multicast_groups.hpp"
#include "subnet_manager/path_records.hpp"
#include "subnet_manager/records.hpp"
#include "subnet_manager/rmpp_sender.hpp"
#include "subnet_manager/routing.hpp"
#include "subnet_manager/settings.hpp"
#include "subnet_manager/subnet.hpp"
#include "subnet_manager/subscriptions.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <set>
#include <span>
#include <vector>

namespace cxemu::subnet_manager {

/// What the administration needs of the manager.
struct AdministrationActions {
    std::function<void(fabric::Packet)> send; ///< a packet from QP1
    /// Writes the multicast forwarding tables, then calls the function.
    std::function<void(std::function<void()> done)> groups_changed;
};

class Administration {
public:
    /// \param settings, subnet, lids the manager's; must outlive this
    Administration(EventLoop& loop, const ManagerSettings& settings, const Subnet& subnet,
                   const LidTable& lids, Log log, AdministrationActions actions);

    /// While the administration does not run, requests are dropped; their senders repeat them.
    void set_running(bool running) { running_ = running; }

    void arrived(const fabric::ParsedPacket& packet, const fabric::Mad& mad);

    /// A sweep has ended: ports came and went.
    void subnet_changed(const std::set<Guid>& before, const std::set<Guid>& now);

    /// Reports the trap of a port to its subscribers. \param notice 64 bytes
    void report(std::span<const std::byte> notice, Lid source);

    [[nodiscard]] std::vector<GroupMembers> group_members() const {
        return groups_.members(subnet_);
    }
    [[nodiscard]] nlohmann::json statistics() const;

private:
    using Handler = SaReply (Administration::*)(const fabric::ParsedPacket&, const SaRequest&);
    struct Attribute;
    static const Attribute* find_attribute(std::uint64_t attribute);

    SaReply class_port_info(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply node_record(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply port_info_record(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply path_record(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply mc_member_record(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply inform_info(const fabric::ParsedPacket& packet, const SaRequest& request);
    SaReply inform_info_record(const fabric::ParsedPacket& packet, const SaRequest& request);

    void take_request(const fabric::ParsedPacket& packet, const fabric::Mad& mad);
    [[nodiscard]] SaReply work(const fabric::ParsedPacket& packet, const fabric::Mad& mad);
    [[nodiscard]] SaRequest request_of(const fabric::ParsedPacket& packet,
                                       const fabric::Mad& mad) const;
    void respond(const fabric::PacketHeaders& packet, const fabric::Mad& request, SaReply reply);
    void send(const fabric::PacketHeaders& request, const fabric::Mad& mad);
    void report_gid(std::uint64_t trap, const fabric::Gid& gid);

    const ManagerSettings& settings_;
    const Subnet& subnet_;
    const LidTable& lids_;
    Log log_;
    AdministrationActions actions_;
    bool running_ = false;
    std::map<Guid, LinearTable> tables_;
    MulticastGroups groups_;
    RmppSender rmpp_;
    Subscriptions subscriptions_;
    std::uint64_t requests_ = 0;
    std::uint64_t refused_ = 0;
    std::uint64_t dropped_ = 0;
};

} // namespace cxemu::subnet_manager
