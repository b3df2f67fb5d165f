// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/multicast_groups.hpp"

#include <algorithm>
#include <array>

namespace cxemu::subnet_manager {
namespace {

using MemberView = hwtab::ConstView<hwtab::mc_member_record>;

template <hwtab::FixedString name>
constexpr std::uint64_t member_component = hwtab::value<hwtab::mc_member_record_component, name>;
template <hwtab::FixedString name>
constexpr auto join_bit = static_cast<std::uint8_t>(hwtab::value<hwtab::mc_join_state, name>);

constexpr std::uint8_t creators = join_bit<"full_member"> | join_bit<"send_only_full_member">;
constexpr std::uint8_t receivers = join_bit<"full_member"> | join_bit<"non_member">;
constexpr std::uint64_t exact_selector = hwtab::value<hwtab::sa_selector, "eq">;
constexpr std::uint64_t greater_selector = hwtab::value<hwtab::sa_selector, "gt">;
constexpr std::uint64_t less_selector = hwtab::value<hwtab::sa_selector, "lt">;

constexpr std::uint64_t needed_to_join =
    member_component<"mgid"> | member_component<"port_gid"> | member_component<"join_state">;
constexpr std::uint64_t needed_to_create = needed_to_join | member_component<"q_key"> |
                                           member_component<"tclass"> | member_component<"p_key"> |
                                           member_component<"flow_label"> | member_component<"sl">;

constexpr std::size_t max_groups = 0x1000;
constexpr std::uint64_t link_local_scope = 2;

/// Fields in which a request and a group must agree.
constexpr std::array group_components{
    component<hwtab::mc_member_record, "mgid">(0),
    component<hwtab::mc_member_record, "q_key">(2),
    component<hwtab::mc_member_record, "mlid">(3),
    component<hwtab::mc_member_record, "tclass">(6),
    component<hwtab::mc_member_record, "sl">(12),
    component<hwtab::mc_member_record, "flow_label">(13),
    component<hwtab::mc_member_record, "hop_limit">(14),
    component<hwtab::mc_member_record, "scope">(15),
};
/// Components that a request to join ignores, such as the MLID by which the port knows the group.
constexpr std::uint64_t ignored_to_join = member_component<"mlid"> | member_component<"scope">;

/// Byte 1 of a multicast GID holds flags and scope.
std::uint64_t scope_of(const fabric::Gid& gid) {
    constexpr unsigned mask = 0xf;
    return std::to_integer<unsigned>(gid.bytes[1]) & mask;
}

bool names_both(std::uint64_t mask, std::uint64_t components) {
    return (mask & components) == components;
}

/// Whether a group is as the request says.
bool agrees(const Record& group, const SaRequest& request, std::uint64_t mask) {
    const MemberView own(group);
    const MemberView wanted(request.data);
    const bool p_key_fits = (mask & member_component<"p_key">) == 0 ||
                            fabric::p_keys_match(static_cast<std::uint16_t>(own.get<"p_key">()),
                                                 static_cast<std::uint16_t>(wanted.get<"p_key">()));
    const bool mtu_fits =
        !names_both(mask, member_component<"mtu"> | member_component<"mtu_selector">) ||
        is_selected(wanted.get<"mtu_selector">(), own.get<"mtu">(), wanted.get<"mtu">());
    const bool rate_fits =
        !names_both(mask, member_component<"rate"> | member_component<"rate_selector">) ||
        is_selected(wanted.get<"rate_selector">(), data_rate_of(own.get<"rate">()),
                    data_rate_of(wanted.get<"rate">()));
    return p_key_fits && mtu_fits && rate_fits &&
           matches(group_components, mask, group, request.data);
}

/// Whether the link of a port takes the packets of a group.
bool can_join(const SubnetPort& port, const Record& group) {
    const MemberView own(group);
    return port.view().get<"neighbor_mtu">() >= own.get<"mtu">() &&
           data_rate_of(rate_code_of(port)) >= data_rate_of(own.get<"rate">());
}

/// The largest MTU that the creator allows and its port has. \return 0 for none
std::uint64_t chosen_mtu(const SaRequest& request, std::uint64_t own) {
    const MemberView wanted(request.data);
    if (!names_both(request.mask, member_component<"mtu"> | member_component<"mtu_selector">))
        return own;
    const auto limit = wanted.get<"mtu">();
    switch (wanted.get<"mtu_selector">()) {
    case exact_selector:
        return limit <= hwtab::value<hwtab::mtu_code, "mtu_4096"> ? limit : 0;
    case greater_selector:
        return own > limit ? own : 0;
    case less_selector:
        return limit == 0 ? 0 : std::min(own, limit - 1);
    default:
        return own;
    }
}

/// The highest rate that the creator allows and its port has. \return code, 0 for none
std::uint64_t chosen_rate(const SaRequest& request, std::uint8_t own) {
    const MemberView wanted(request.data);
    if (!names_both(request.mask, member_component<"rate"> | member_component<"rate_selector">))
        return own;
    const auto limit = wanted.get<"rate">();
    const auto selector = wanted.get<"rate_selector">();
    if (selector == exact_selector)
        return data_rate_of(limit) == 0 ? 0 : limit;
    constexpr std::uint64_t codes = 64;
    std::uint64_t best = 0;
    for (std::uint64_t code = 0; code < codes; ++code) {
        const std::uint32_t rate = data_rate_of(code);
        const bool fits = rate != 0 && rate <= data_rate_of(own) &&
                          is_selected(selector, rate, data_rate_of(limit));
        if (fits && rate > data_rate_of(best))
            best = code;
    }
    return best;
}

/// "ff12:401b:ffff::ffff:ffff", as RFC 4391 derives it from the P_Key.
fabric::Gid ipoib_broadcast_gid() {
    constexpr std::uint64_t prefix = 0xff12'401b'ffff'0000;
    constexpr std::uint64_t group = 0x0000'0000'ffff'ffff;
    return {prefix, group};
}

Record ipoib_broadcast_record(const ManagerSettings& settings) {
    constexpr std::uint32_t q_key = 0x0b1b;
    Record record(hwtab::mc_member_record.size);
    const hwtab::View<hwtab::mc_member_record> view(record);
    std::ranges::copy(ipoib_broadcast_gid().bytes, view.bytes<"mgid">().begin());
    view.set<"q_key">(q_key);
    view.set<"mlid">(fabric::first_multicast_lid);
    view.set<"mtu_selector">(exact_selector);
    view.set<"mtu">(hwtab::value<hwtab::mtu_code, "mtu_2048">);
    view.set<"p_key">(fabric::default_p_key);
    view.set<"rate_selector">(exact_selector);
    view.set<"rate">(hwtab::value<hwtab::rate_code, "gbps_10">);
    view.set<"packet_life_time_selector">(exact_selector);
    view.set<"packet_life_time">(settings.subnet_timeout);
    view.set<"scope">(link_local_scope);
    return record;
}

} // namespace

MulticastGroups::MulticastGroups(const ManagerSettings& settings, Changed changed)
    : settings_(settings), changed_(std::move(changed)) {
    groups_[ipoib_broadcast_gid()] = {
        .record = ipoib_broadcast_record(settings), .is_permanent = true, .members = {}};
}

// --- Join ----------------------------------------------------------------------------------------

SaReply MulticastGroups::join(const Subnet& subnet, const SaRequest& request) {
    const MemberView wanted(request.data);
    if (!names_both(request.mask, needed_to_join))
        return {.status = SaStatus::insufficient_components};
    const fabric::Gid port_gid(wanted.bytes<"port_gid">());
    const auto end_ports = subnet.end_ports();
    const auto port = end_ports.find(port_gid.guid());
    const bool prefix_fits = port_gid.prefix() == settings_.gid_prefix ||
                             port_gid.prefix() == fabric::default_gid_prefix;
    if (!prefix_fits)
        return {.status = SaStatus::invalid_gid};
    const auto join_state = static_cast<std::uint8_t>(wanted.get<"join_state">());
    if (port == end_ports.end() || join_state == 0)
        return {.status = SaStatus::request_invalid};
    const bool is_proxy = request.requester != port->first;
    auto group = groups_.find(fabric::Gid(wanted.bytes<"mgid">()));
    if (group == groups_.end()) {
        if (const SaStatus status = create(subnet, request, port->second, group);
            status != SaStatus::ok)
            return {.status = status};
    } else {
        const auto member = group->second.members.find(port->first);
        const bool may_modify =
            member == group->second.members.end() || !is_proxy || member->second.is_proxy;
        if (!may_modify ||
            !agrees(group->second.record, request, request.mask & ~ignored_to_join) ||
            !can_join(*subnet.find(port->second), group->second.record))
            return {.status = SaStatus::request_invalid};
    }
    Member& member = group->second.members[port->first];
    member.is_proxy = member.join_state == 0 ? is_proxy : member.is_proxy;
    member.join_state |= join_state;
    return {.records = {record_of(group->second, port->first, member.join_state, member.is_proxy)}};
}

SaStatus MulticastGroups::create(const Subnet& subnet, const SaRequest& request, PortKey port,
                                 Groups::iterator& created) {
    const MemberView wanted(request.data);
    if ((wanted.get<"join_state">() & creators) == 0)
        return SaStatus::request_invalid;
    if (!names_both(request.mask, needed_to_create))
        return SaStatus::insufficient_components;
    fabric::Gid gid(wanted.bytes<"mgid">());
    const bool wants_new_gid = gid == fabric::Gid();
    const bool is_in_partition = fabric::p_keys_match(
        static_cast<std::uint16_t>(wanted.get<"p_key">()), fabric::default_p_key);
    const SubnetPort& own = *subnet.find(port);
    const auto mtu = chosen_mtu(request, own.view().get<"neighbor_mtu">());
    const auto rate = chosen_rate(request, rate_code_of(own));
    if ((!wants_new_gid && !gid.is_multicast()) || !is_in_partition || mtu == 0 || rate == 0)
        return SaStatus::request_invalid;
    const auto lid = free_lid();
    if (!lid)
        return SaStatus::no_resources;
    if (wants_new_gid)
        gid = new_group_gid(request);
    Record record(hwtab::mc_member_record.size);
    const hwtab::View<hwtab::mc_member_record> view(record);
    std::ranges::copy(request.data.first(record.size()), record.begin());
    std::ranges::copy(gid.bytes, view.bytes<"mgid">().begin());
    std::ranges::fill(view.bytes<"port_gid">(), std::byte{0});
    const bool has_life_time = (request.mask & member_component<"packet_life_time">) != 0;
    view.set<"mlid">(*lid);
    view.set<"mtu_selector">(exact_selector);
    view.set<"mtu">(mtu);
    view.set<"rate_selector">(exact_selector);
    view.set<"rate">(rate);
    view.set<"packet_life_time_selector">(exact_selector);
    if (!has_life_time)
        view.set<"packet_life_time">(settings_.subnet_timeout);
    if ((request.mask & member_component<"hop_limit">) == 0)
        view.set<"hop_limit">(0);
    view.set<"scope">(scope_of(gid));
    view.set<"join_state">(0);
    view.set<"proxy_join">(0);
    if (!can_join(own, record))
        return SaStatus::request_invalid;
    created = groups_.emplace(gid, Group{.record = std::move(record), .members = {}}).first;
    changed_(gid, true);
    return SaStatus::ok;
}

std::optional<Lid> MulticastGroups::free_lid() const {
    std::set<std::uint64_t> used;
    for (const auto& [gid, group] : groups_)
        used.insert(MemberView(group.record).get<"mlid">());
    for (std::size_t index = 0; index < max_groups; ++index) {
        const auto lid = static_cast<Lid>(fabric::first_multicast_lid + index);
        if (!used.contains(lid))
            return lid;
    }
    return std::nullopt;
}

/// A MGID with the signature 0xa01b, which only subnet administration may use.
fabric::Gid MulticastGroups::new_group_gid(const SaRequest& request) {
    constexpr std::uint64_t signature = 0xff10'a01b'0000'0000;
    constexpr unsigned scope_shift = 48;
    constexpr unsigned prefix_shift = 32;
    const MemberView wanted(request.data);
    const bool has_scope = (request.mask & member_component<"scope">) != 0;
    const std::uint64_t scope = has_scope ? wanted.get<"scope">() : link_local_scope;
    const std::uint64_t prefix = settings_.gid_prefix;
    fabric::Gid gid;
    do {
        gid = {signature | (scope << scope_shift) | (prefix >> prefix_shift),
               (prefix << prefix_shift) | next_group_++};
    } while (groups_.contains(gid));
    return gid;
}

// --- Leave ---------------------------------------------------------------------------------------

SaReply MulticastGroups::leave(const SaRequest& request) {
    const MemberView wanted(request.data);
    if (!names_both(request.mask, needed_to_join))
        return {.status = SaStatus::insufficient_components};
    const fabric::Gid port_gid(wanted.bytes<"port_gid">());
    const auto group = groups_.find(fabric::Gid(wanted.bytes<"mgid">()));
    if (group == groups_.end())
        return {.status = SaStatus::request_invalid};
    const auto member = group->second.members.find(port_gid.guid());
    if (member == group->second.members.end())
        return {.status = SaStatus::request_invalid};
    const auto leaving = static_cast<std::uint8_t>(wanted.get<"join_state">());
    const std::uint8_t present = member->second.join_state;
    const bool may_modify = member->second.is_proxy || request.requester == member->first;
    if (!may_modify || leaving == 0 || (leaving & ~present) != 0)
        return {.status = SaStatus::request_invalid};
    const auto left = static_cast<std::uint8_t>(present & ~leaving);
    SaReply reply{.records = {record_of(group->second, member->first, left == 0 ? present : left,
                                        member->second.is_proxy)}};
    member->second.join_state = left;
    if (left == 0)
        group->second.members.erase(member);
    remove_if_unused(group);
    return reply;
}

/// A group exists as long as it has a full member.
void MulticastGroups::remove_if_unused(Groups::iterator group) {
    const bool is_used = group->second.is_permanent ||
                         std::ranges::any_of(group->second.members, [](const auto& member) {
                             return (member.second.join_state & creators) != 0;
                         });
    if (is_used)
        return;
    const fabric::Gid gid = group->first;
    groups_.erase(group);
    changed_(gid, false);
}

bool MulticastGroups::remove_ports(const std::set<Guid>& ports) {
    bool changed = false;
    for (auto group = groups_.begin(); group != groups_.end();) {
        const auto next = std::next(group);
        const auto removed = std::erase_if(group->second.members, [&](const auto& member) {
            return ports.contains(member.first);
        });
        changed = changed || removed != 0;
        if (removed != 0)
            remove_if_unused(group);
        group = next;
    }
    return changed;
}

// --- Query ---------------------------------------------------------------------------------------

Record MulticastGroups::record_of(const Group& group, Guid port, std::uint8_t join_state,
                                  bool is_proxy) const {
    Record record = group.record;
    const hwtab::View<hwtab::mc_member_record> view(record);
    if (port != 0)
        std::ranges::copy(fabric::Gid(settings_.gid_prefix, port).bytes,
                          view.bytes<"port_gid">().begin());
    view.set<"join_state">(join_state);
    view.set<"proxy_join">(is_proxy ? 1 : 0);
    return record;
}

SaReply MulticastGroups::query(const SaRequest& request) const {
    const MemberView wanted(request.data);
    const Guid port = fabric::Gid(wanted.bytes<"port_gid">()).guid();
    const bool names_port = (request.mask & member_component<"port_gid">) != 0;
    const bool names_state = (request.mask & member_component<"join_state">) != 0;
    SaReply reply;
    for (const auto& [gid, group] : groups_) {
        if (!agrees(group.record, request, request.mask))
            continue;
        if (!request.trusted && !names_port) {
            reply.records.push_back(record_of(group, 0, join_bit<"full_member">, false));
            continue;
        }
        for (const auto& [guid, member] : group.members) {
            const bool state_fits = !names_state || member.join_state == wanted.get<"join_state">();
            if (state_fits && (!names_port || guid == port))
                reply.records.push_back(record_of(group, guid, member.join_state, member.is_proxy));
        }
    }
    return reply;
}

std::optional<Record> MulticastGroups::find(const fabric::Gid& group) const {
    const auto found = groups_.find(group);
    return found == groups_.end() ? std::nullopt : std::optional(found->second.record);
}

std::vector<GroupMembers> MulticastGroups::members(const Subnet& subnet) const {
    const auto end_ports = subnet.end_ports();
    std::vector<GroupMembers> result;
    for (const auto& [gid, group] : groups_) {
        GroupMembers members{.lid = static_cast<Lid>(MemberView(group.record).get<"mlid">()),
                             .receivers = {}};
        for (const auto& [guid, member] : group.members)
            if ((member.join_state & receivers) != 0 && end_ports.contains(guid))
                members.receivers.insert(end_ports.at(guid));
        if (!members.receivers.empty())
            result.push_back(std::move(members));
    }
    return result;
}

} // namespace cxemu::subnet_manager
