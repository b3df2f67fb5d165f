// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/path_records.hpp"

#include <algorithm>
#include <optional>

namespace cxemu::subnet_manager {
namespace {

using PathView = hwtab::ConstView<hwtab::path_record>;

template <hwtab::FixedString name>
constexpr std::uint64_t path_component = hwtab::value<hwtab::path_record_component, name>;

constexpr std::uint64_t exactly = hwtab::value<hwtab::sa_selector, "eq">;

/// What all links of a path have in common.
struct PathValues {
    std::uint64_t mtu = hwtab::value<hwtab::mtu_code, "mtu_4096">;
    std::uint8_t rate = 0; ///< code; 0 without a link
};

void add_link(PathValues& values, const SubnetPort& port) {
    values.mtu = std::min(values.mtu, port.view().get<"neighbor_mtu">());
    const std::uint8_t rate = rate_code_of(port);
    if (values.rate == 0 || data_rate_of(rate) < data_rate_of(values.rate))
        values.rate = rate;
}

/// Follows the forwarding tables. \return nothing when they don't lead to the destination
std::optional<PathValues> follow(const PathEnvironment& environment, PortKey from, PortKey to,
                                 Lid destination) {
    PathValues values;
    const Subnet& subnet = environment.subnet;
    const SubnetPort& source = *subnet.find(from);
    if (from == to) {
        add_link(values, source);
        return values;
    }
    PortKey at = from;
    if (!subnet.nodes.at(from.node).is_switch()) {
        if (!source.peer)
            return std::nullopt;
        add_link(values, source);
        at = *source.peer;
    }
    for (std::size_t hops = 0; hops <= subnet.nodes.size(); ++hops) {
        if (at == to)
            return values;
        const auto table = environment.tables.find(at.node);
        if (table == environment.tables.end() || destination >= table->second.size())
            return std::nullopt;
        const PortKey out{at.node, table->second[destination]};
        if (out == to)
            return values; // port 0 of this switch
        const SubnetPort* port = subnet.find(out);
        if (port == nullptr || !port->peer || out.port == 0)
            return std::nullopt;
        add_link(values, *port);
        at = *port->peer;
    }
    return std::nullopt;
}

/// Returns true if MTU, rate and life time match the query.
bool fit(const PathValues& values, std::uint64_t life_time, const SaRequest& request) {
    const PathView query(request.data);
    const auto has = [&](std::uint64_t both) { return (request.mask & both) == both; };
    const auto rate = data_rate_of(query.get<"rate">());
    return (!has(path_component<"mtu"> | path_component<"mtu_selector">) ||
            is_selected(query.get<"mtu_selector">(), values.mtu, query.get<"mtu">())) &&
           (!has(path_component<"rate"> | path_component<"rate_selector">) ||
            is_selected(query.get<"rate_selector">(), data_rate_of(values.rate), rate)) &&
           (!has(path_component<"packet_life_time"> |
                 path_component<"packet_life_time_selector">) ||
            is_selected(query.get<"packet_life_time_selector">(), life_time,
                        query.get<"packet_life_time">()));
}

/// The fields of the query that a path takes over.
bool is_allowed(const SaRequest& request) {
    const PathView query(request.data);
    const auto has = [&](std::uint64_t bit) { return (request.mask & bit) != 0; };
    const auto p_key = static_cast<std::uint16_t>(query.get<"p_key">());
    return (!has(path_component<"p_key">) || fabric::p_keys_match(p_key, fabric::default_p_key)) &&
           (!has(path_component<"sl">) || query.get<"sl">() == 0) &&
           (!has(path_component<"raw_traffic">) || query.get<"raw_traffic">() == 0);
}

Record make_path(const SaRequest& request, const PathValues& values, std::uint64_t life_time) {
    const PathView query(request.data);
    const auto has = [&](std::uint64_t bit) { return (request.mask & bit) != 0; };
    Record record(hwtab::path_record.size);
    const hwtab::View<hwtab::path_record> path(record);
    path.set<"service_id">(has(path_component<"service_id">) ? query.get<"service_id">() : 0);
    path.set<"tclass">(has(path_component<"tclass">) ? query.get<"tclass">() : 0);
    path.set<"flow_label">(has(path_component<"flow_label">) ? query.get<"flow_label">() : 0);
    path.set<"reversible">(1);
    path.set<"p_key">(has(path_component<"p_key">) ? query.get<"p_key">() : fabric::default_p_key);
    path.set<"qos_class">(has(path_component<"qos_class">) ? query.get<"qos_class">() : 0);
    path.set<"mtu_selector">(exactly);
    path.set<"mtu">(values.mtu);
    path.set<"rate_selector">(exactly);
    path.set<"rate">(values.rate);
    path.set<"packet_life_time_selector">(exactly);
    path.set<"packet_life_time">(life_time);
    return record;
}

void set_gid(std::span<std::byte> field, const PathEnvironment& environment, Guid port) {
    const fabric::Gid gid(environment.settings.gid_prefix, port);
    std::ranges::copy(gid.bytes, field.begin());
}

/// The ports that the query can mean, by GID, by LID or by both.
SaReply find_ports(const PathEnvironment& environment, std::optional<fabric::Gid> gid,
                   std::optional<Lid> lid, std::vector<Guid>& ports) {
    for (const auto& [guid, key] : environment.end_ports) {
        const bool gid_fits = !gid || gid->guid() == guid;
        const bool lid_fits = !lid || environment.lids.lid_of(guid) == *lid;
        if (gid_fits && lid_fits && environment.lids.lid_of(guid) != fabric::unassigned_lid)
            ports.push_back(guid);
    }
    const bool prefix_fits = !gid || gid->prefix() == environment.settings.gid_prefix ||
                             gid->prefix() == fabric::default_gid_prefix;
    const bool gid_is_known = !gid || (prefix_fits && environment.end_ports.contains(gid->guid()));
    return {.status = gid_is_known ? SaStatus::ok : SaStatus::invalid_gid};
}

std::optional<Record> unicast_path(const PathEnvironment& environment, const SaRequest& request,
                                   Guid from, Guid to) {
    const auto& ports = environment.end_ports;
    const Lid destination = environment.lids.lid_of(to);
    const auto values = follow(environment, ports.at(from), ports.at(to), destination);
    const std::uint64_t life_time = from == to ? 0 : environment.settings.packet_life_time;
    if (!values || !fit(*values, life_time, request))
        return std::nullopt;
    Record record = make_path(request, *values, life_time);
    const hwtab::View<hwtab::path_record> path(record);
    set_gid(path.bytes<"dgid">(), environment, to);
    set_gid(path.bytes<"sgid">(), environment, from);
    path.set<"dlid">(destination);
    path.set<"slid">(environment.lids.lid_of(from));
    return record;
}

std::optional<Record> multicast_path(const PathEnvironment& environment, const SaRequest& request,
                                     Guid from, const Record& group) {
    const hwtab::ConstView<hwtab::mc_member_record> member(group);
    const PathValues values{.mtu = member.get<"mtu">(),
                            .rate = static_cast<std::uint8_t>(member.get<"rate">())};
    const auto life_time = member.get<"packet_life_time">();
    if (!fit(values, life_time, request))
        return std::nullopt;
    Record record = make_path(request, values, life_time);
    const hwtab::View<hwtab::path_record> path(record);
    std::ranges::copy(member.bytes<"mgid">(), path.bytes<"dgid">().begin());
    set_gid(path.bytes<"sgid">(), environment, from);
    path.set<"dlid">(member.get<"mlid">());
    path.set<"slid">(environment.lids.lid_of(from));
    path.set<"sl">(member.get<"sl">());
    path.set<"flow_label">(member.get<"flow_label">());
    path.set<"tclass">(member.get<"tclass">());
    path.set<"hop_limit">(member.get<"hop_limit">());
    return record;
}

} // namespace

SaReply path_records(const PathEnvironment& environment, const SaRequest& request) {
    const PathView query(request.data);
    const auto has = [&](std::uint64_t bit) { return (request.mask & bit) != 0; };
    const auto gid_if = [&](std::uint64_t bit, std::span<const std::byte> bytes) {
        return has(bit) ? std::optional(fabric::Gid(bytes)) : std::nullopt;
    };
    const auto lid_if = [&](std::uint64_t bit, std::uint64_t lid) {
        return has(bit) ? std::optional(static_cast<Lid>(lid)) : std::nullopt;
    };
    const auto dgid = gid_if(path_component<"dgid">, query.bytes<"dgid">());
    std::vector<Guid> sources;
    std::vector<Guid> destinations;
    SaReply reply = find_ports(environment, gid_if(path_component<"sgid">, query.bytes<"sgid">()),
                               lid_if(path_component<"slid">, query.get<"slid">()), sources);
    if (reply.status != SaStatus::ok || !is_allowed(request))
        return reply;
    if (dgid && dgid->is_multicast()) {
        const auto group = environment.groups.find(*dgid);
        for (const Guid from : sources)
            if (const auto path =
                    group ? multicast_path(environment, request, from, *group) : std::nullopt)
                reply.records.push_back(*path);
        return reply;
    }
    reply = find_ports(environment, dgid, lid_if(path_component<"dlid">, query.get<"dlid">()),
                       destinations);
    if (reply.status != SaStatus::ok)
        return reply;
    if (sources.size() * destinations.size() > max_pairs)
        return {.status = SaStatus::no_resources};
    for (const Guid from : sources)
        for (const Guid to : destinations)
            if (auto path = unicast_path(environment, request, from, to))
                reply.records.push_back(*std::move(path));
    return reply;
}

} // namespace cxemu::subnet_manager
