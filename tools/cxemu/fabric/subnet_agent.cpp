// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/subnet_agent.hpp"

#include "fabric/attributes.hpp"

#include <algorithm>
#include <chrono>

namespace cxemu::fabric {
namespace {

constexpr std::uint8_t smp_class_version = 1;

template <hwtab::FixedString name>
constexpr std::uint64_t trap = hwtab::value<hwtab::trap_number, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t severity = hwtab::value<hwtab::notice_type, name>;

/// The header of a notice of an event defined by the specification.
void write_head(Notice& notice, std::uint64_t type, std::uint64_t number) {
    const hwtab::View<hwtab::notice> view(notice);
    view.set<"is_generic">(1);
    view.set<"type">(type);
    view.set<"trap_number">(number);
}

/// Copies the return path of a directed-route SMP into trap 256, truncated to the field.
void write_path(hwtab::View<hwtab::notice_trap_256> details, const Mad& request) {
    const ConstDirectedSmp smp(request);
    const auto from = smp.bytes<"return_path">();
    const auto to = details.bytes<"dr_notice_return_path">();
    const std::size_t hops = smp.get<"hop_count">();
    const std::size_t shown = std::min<std::size_t>(hops, to.size());
    details.set<"dr_slid">(smp.get<"dr_slid">());
    details.set<"dr_notice">(1);
    details.set<"dr_path_truncated">(shown < hops ? 1 : 0);
    details.set<"dr_hop_count">(shown);
    const auto path = from.subspan(1, std::min(shown, from.size() - 1)); // index 0 is unused
    std::ranges::copy(path, to.begin());
}

} // namespace

SubnetAgent::SubnetAgent(EventLoop& loop, ManagedNode& node,
                         std::function<bool(const Mad&)> send_trap)
    : node_(node), key_(loop, node.management_port()), traps_(loop, std::move(send_trap)) {}

std::expected<std::optional<Mad>, MadRefusal> SubnetAgent::process(const Mad& request,
                                                                   const MadOrigin& origin) {
    const ConstSmp smp(request);
    const MadMethod method = method_of(request);
    if (!is_subnet_management(request) || receiver_of(request) != SmpReceiver::agent)
        return std::unexpected(MadRefusal::no_agent);
    Mad response = request;
    if (smp.get<"base_version">() != 1 || smp.get<"class_version">() != smp_class_version) {
        make_response(response, MadStatus::bad_version);
        return response;
    }
    const MKeyCheck verdict = origin.check_key
                                  ? key_.check(smp.get<"m_key">(), method != MadMethod::get)
                                  : MKeyCheck::allowed;
    if (verdict == MKeyCheck::refused) {
        report_bad_management_key(request, origin);
        return std::unexpected(MadRefusal::key_violation);
    }
    if (method == MadMethod::trap_repress) {
        traps_.repress(request);
        return std::nullopt;
    }
    const MadStatus status = work(response, origin, verdict == MKeyCheck::allowed);
    make_response(response, status);
    return response;
}

MadStatus SubnetAgent::work(Mad& mad, const MadOrigin& origin, bool show_key) {
    const Smp smp(mad);
    const bool set = method_of(mad) == MadMethod::set;
    const auto attribute = static_cast<std::uint16_t>(smp.get<"attribute_id">());
    if (attribute == hwtab::value<hwtab::smp_attribute, "notice">)
        return notice_attribute(mad, set);
    const AttributeHandler handler = find_attribute(attribute);
    if (handler == nullptr)
        return MadStatus::unsupported_attribute;
    AttributeAccess access{
        .node = node_,
        .data = smp.bytes<"data">(),
        .modifier = static_cast<std::uint32_t>(smp.get<"attribute_modifier">()),
        .arrival = origin.port,
        .set = set,
        .show_key = show_key,
    };
    return handler(access);
}

MadStatus SubnetAgent::notice_attribute(Mad& mad, bool set) {
    const auto data = Smp(mad).bytes<"data">();
    if (set)
        traps_.drop_oldest();
    Notice empty{};
    write_head(empty, severity<"empty">, 0);
    std::ranges::copy(traps_.oldest().value_or(empty), data.begin());
    return MadStatus::ok;
}

void SubnetAgent::reset() {
    traps_.clear();
    key_.settings_changed();
}

// --- Notices -------------------------------------------------------------------------------------

void SubnetAgent::raise(Notice notice) {
    const auto settings = node_.management_port().settings();
    const auto lid = settings.get<"lid">();
    if (lid == unassigned_lid || settings.get<"master_sm_lid">() == unassigned_lid)
        return;
    const hwtab::View<hwtab::notice> view(notice);
    view.set<"producer_type">(node_.identity().type == NodeType::switch_node
                                  ? hwtab::value<hwtab::notice_producer, "switch">
                                  : hwtab::value<hwtab::notice_producer, "ca">);
    view.set<"issuer_lid">(lid);
    // The subnet manager limits the rate of traps: once per subnet timeout.
    constexpr auto timeout_unit = std::chrono::nanoseconds(4096);
    traps_.raise(notice, timeout_unit * (std::int64_t{1} << settings.get<"subnet_time_out">()));
}

void SubnetAgent::report_link_state_change() {
    Notice notice{};
    write_head(notice, severity<"urgent">, trap<"link_state_change">);
    hwtab::View<hwtab::notice_trap_128>(notice).set<"lid_addr">(
        node_.management_port().settings().get<"lid">());
    raise(notice);
}

void SubnetAgent::report_local_change(LocalChange change) {
    const auto settings = node_.management_port().settings();
    Notice notice{};
    write_head(notice, severity<"info">, trap<"local_change">);
    const hwtab::View<hwtab::notice_trap_144> details(notice);
    details.set<"lid_addr">(settings.get<"lid">());
    details.set<"other_local_changes">(change == LocalChange::none ? 0 : 1);
    details.set<"capability_mask">(settings.get<"capability_mask">());
    details.set<"changes">(static_cast<std::uint64_t>(change));
    details.set<"capability_mask2">(settings.get<"capability_mask2">());
    raise(notice);
}

void SubnetAgent::report_system_image_guid() {
    Notice notice{};
    write_head(notice, severity<"info">, trap<"system_image_guid_change">);
    const hwtab::View<hwtab::notice_trap_145> details(notice);
    details.set<"lid_addr">(node_.management_port().settings().get<"lid">());
    details.set<"system_image_guid">(node_.identity().system_image_guid);
    raise(notice);
}

void SubnetAgent::report_bad_management_key(const Mad& request, const MadOrigin& origin) {
    const ConstSmp smp(request);
    Notice notice{};
    write_head(notice, severity<"security">, trap<"bad_m_key">);
    const hwtab::View<hwtab::notice_trap_256> details(notice);
    details.set<"lid_addr">(origin.remote_lid);
    details.set<"method">(smp.get<"method">());
    details.set<"attribute_id">(smp.get<"attribute_id">());
    details.set<"attribute_modifier">(smp.get<"attribute_modifier">());
    details.set<"m_key">(smp.get<"m_key">());
    if (is_directed_route(request))
        write_path(details, request);
    raise(notice);
}

void SubnetAgent::report_key_violation(const KeyNotice& violation) {
    Notice notice{};
    write_head(notice, severity<"security">, violation.trap);
    const hwtab::View<hwtab::notice_trap_257_258> details(notice);
    details.set<"lid_addr1">(violation.source);
    details.set<"lid_addr2">(violation.destination);
    details.set<"key">(violation.key);
    details.set<"sl">(violation.sl);
    details.set<"qp1">(violation.source_qp);
    details.set<"qp2">(violation.destination_qp);
    std::ranges::copy(violation.source_gid.bytes, details.bytes<"gid_addr1">().begin());
    std::ranges::copy(violation.destination_gid.bytes, details.bytes<"gid_addr2">().begin());
    raise(notice);
}

void SubnetAgent::report_switch_p_key(std::uint8_t port, std::uint16_t p_key, const Lrh& local) {
    constexpr std::uint64_t lids_key_and_port_are_known = 0x000f;
    Notice notice{};
    write_head(notice, severity<"security">, trap<"switch_bad_p_key">);
    const hwtab::View<hwtab::notice_trap_259> details(notice);
    details.set<"data_valid">(lids_key_and_port_are_known);
    details.set<"lid_addr1">(local.slid);
    details.set<"lid_addr2">(local.dlid);
    details.set<"p_key">(p_key);
    details.set<"sl">(local.sl);
    details.set<"sw_lid_addr">(node_.management_port().settings().get<"lid">());
    details.set<"port_no">(port);
    raise(notice);
}

} // namespace cxemu::fabric
