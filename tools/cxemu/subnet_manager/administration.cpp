// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/administration.hpp"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

namespace cxemu::subnet_manager {
namespace {

using fabric::Mad;
using fabric::MadMethod;
using SaMad = hwtab::View<hwtab::sa_mad>;
using ConstSaMad = hwtab::ConstView<hwtab::sa_mad>;

constexpr std::uint64_t class_version = 2;
constexpr std::uint8_t response_bit =
    hwtab::value<hwtab::mad_method, "get_resp"> ^ hwtab::value<hwtab::mad_method, "get">;
constexpr std::size_t offset_unit = 8; ///< bytes, of AttributeOffset

template <hwtab::FixedString name>
constexpr std::uint64_t sa_id = hwtab::value<hwtab::sa_attribute, name>;

// Capabilities in ClassPortInfo (InfiniBand specification, 15.2.5.1).
constexpr std::uint64_t multicast_supported = 1U << 9U;
constexpr std::uint64_t capability_match_supported = 1U << 13U;
constexpr std::uint64_t send_only_full_member_supported = 1U << 12U; ///< of CapabilityMask2

/// The method of the response: the method of the request with bit 7 set. The response to Set has
/// the method of that to Get.
std::uint8_t response_to(MadMethod method) {
    const MadMethod responded = method == MadMethod::set ? MadMethod::get : method;
    return static_cast<std::uint8_t>(static_cast<std::uint8_t>(responded) | response_bit);
}

bool is_request(MadMethod method) {
    return (static_cast<std::uint8_t>(method) & response_bit) == 0;
}

/// The records one after the other, each padded to a multiple of 8 bytes.
std::vector<std::byte> joined(const std::vector<Record>& records) {
    std::vector<std::byte> data;
    for (const Record& record : records) {
        data.insert(data.end(), record.begin(), record.end());
        data.resize((data.size() + offset_unit - 1) / offset_unit * offset_unit);
    }
    return data;
}

} // namespace

/// An attribute, and the methods that it has.
struct Administration::Attribute {
    std::uint64_t id;
    Handler handler;
    std::array<MadMethod, 4> methods; ///< the rest repeats the first
};

const Administration::Attribute* Administration::find_attribute(std::uint64_t attribute) {
    using enum MadMethod;
    static constexpr std::array attributes{
        Attribute{sa_id<"class_portinfo">, &Administration::class_port_info, {get, get, get, get}},
        Attribute{sa_id<"node_rec">, &Administration::node_record, {get, get_table, get, get}},
        Attribute{
            sa_id<"port_info_rec">, &Administration::port_info_record, {get, get_table, get, get}},
        Attribute{sa_id<"path_rec">, &Administration::path_record, {get, get_table, get, get}},
        Attribute{sa_id<"mc_member_rec">,
                  &Administration::mc_member_record,
                  {get, get_table, set, remove}},
        Attribute{sa_id<"inform_info">, &Administration::inform_info, {set, set, set, set}},
        Attribute{sa_id<"inform_info_rec">,
                  &Administration::inform_info_record,
                  {get, get_table, get, get}},
    };
    const auto found = std::ranges::find(attributes, attribute, &Attribute::id);
    return found == attributes.end() ? nullptr : &*found;
}

Administration::Administration(EventLoop& loop, const ManagerSettings& settings,
                               const Subnet& subnet, const LidTable& lids, Log log,
                               AdministrationActions actions)
    : settings_(settings), subnet_(subnet), lids_(lids), log_(std::move(log)),
      actions_(std::move(actions)),
      groups_(settings,
              [this](const fabric::Gid& group, bool created) {
                  report_gid(created ? hwtab::value<hwtab::trap_number, "multicast_group_created">
                                     : hwtab::value<hwtab::trap_number, "multicast_group_deleted">,
                             group);
              }),
      rmpp_(loop, [this](const fabric::PacketHeaders& to, const Mad& mad) { send(to, mad); }),
      subscriptions_(loop,
                     [this](const fabric::PacketHeaders& to, const Mad& mad) { send(to, mad); }) {}

// --- Requests ------------------------------------------------------------------------------------

void Administration::arrived(const fabric::ParsedPacket& packet, const Mad& mad) {
    const auto segment = ConstSaMad(mad).get<"rmpp_header.rmpp_type">();
    const bool is_active = (ConstSaMad(mad).get<"rmpp_header.rmpp_flags">() &
                            hwtab::value<hwtab::rmpp_flags, "active">) != 0;
    const bool is_control = is_active && segment > hwtab::value<hwtab::rmpp_type, "data">;
    const MadMethod method = fabric::method_of(mad);
    const bool is_report_response = method == MadMethod::report_response;
    if (!running_ || (!is_control && !is_report_response && !is_request(method)))
        ++dropped_;
    else if (is_control)
        rmpp_.take(packet.headers, mad);
    else if (is_report_response)
        subscriptions_.take_response(packet.headers, mad);
    else
        take_request(packet, mad);
}

SaRequest Administration::request_of(const fabric::ParsedPacket& packet, const Mad& mad) const {
    const ConstSaMad view(mad);
    return {.method = fabric::method_of(mad),
            .mask = view.get<"component_mask">(),
            .modifier = static_cast<std::uint32_t>(view.get<"attribute_modifier">()),
            .data = view.bytes<"data">(),
            .requester = lids_.port_of(packet.headers.local.slid),
            .trusted = view.get<"sm_key">() == settings_.sm_key};
}

/// The response to a request that changes the groups is sent after the switches forward
/// accordingly.
void Administration::take_request(const fabric::ParsedPacket& packet, const Mad& mad) {
    ++requests_;
    SaReply reply = work(packet, mad);
    const MadMethod method = fabric::method_of(mad);
    const bool changes_groups = reply.status == SaStatus::ok &&
                                ConstSaMad(mad).get<"attribute_id">() == sa_id<"mc_member_rec"> &&
                                (method == MadMethod::set || method == MadMethod::remove);
    if (!changes_groups)
        return respond(packet.headers, mad, std::move(reply));
    actions_.groups_changed(
        [this, headers = packet.headers, mad, reply = std::move(reply)]() mutable {
            respond(headers, mad, std::move(reply));
        });
}

SaReply Administration::work(const fabric::ParsedPacket& packet, const Mad& mad) {
    const ConstSaMad view(mad);
    const SaRequest request = request_of(packet, mad);
    if (view.get<"base_version">() != 1 || view.get<"class_version">() != class_version)
        return {.status = SaStatus::bad_version};
    switch (request.method) {
    case MadMethod::get:
    case MadMethod::set:
    case MadMethod::get_table:
    case MadMethod::remove:
        break;
    default:
        return {.status = SaStatus::unsupported_method};
    }
    const Attribute* attribute = find_attribute(view.get<"attribute_id">());
    if (attribute == nullptr || !std::ranges::contains(attribute->methods, request.method))
        return {.status = SaStatus::unsupported_attribute};
    if (request.requester == 0)
        return {.status = SaStatus::request_invalid};
    SaReply reply = (this->*attribute->handler)(packet, request);
    if (reply.status != SaStatus::ok || request.method == MadMethod::get_table)
        return reply;
    if (reply.records.empty())
        reply.status = SaStatus::no_records;
    else if (reply.records.size() > 1)
        reply.status = SaStatus::too_many_records;
    return reply;
}

void Administration::respond(const fabric::PacketHeaders& packet, const Mad& request,
                             SaReply reply) {
    // After the common header, only the ComponentMask is copied from the request.
    Mad response{};
    std::ranges::copy(std::span(request).first(hwtab::mad_header.size), response.begin());
    const SaMad view(response);
    view.set<"component_mask">(ConstSaMad(request).get<"component_mask">());
    const MadMethod method = fabric::method_of(request);
    view.set<"method">(response_to(method));
    view.set<"status">(static_cast<std::uint64_t>(reply.status));
    if (reply.status != SaStatus::ok) {
        ++refused_;
        log_->debug("LID {}: attribute {:#x} method {:#x}: status {:#06x}", packet.local.slid,
                    view.get<"attribute_id">(), static_cast<unsigned>(method),
                    static_cast<unsigned>(reply.status));
        return send(packet, response);
    }
    std::vector<std::byte> data = joined(reply.records);
    const std::size_t offset =
        reply.records.empty() ? 0 : data.size() / reply.records.size() / offset_unit;
    view.set<"attribute_offset">(offset);
    if (method == MadMethod::get_table)
        return rmpp_.start(packet, response, std::move(data));
    std::ranges::copy(data, view.bytes<"data">().begin());
    send(packet, response);
}

void Administration::send(const fabric::PacketHeaders& request, const Mad& mad) {
    const fabric::ParsedPacket packet{.headers = request, .payload = {}, .grh = {}};
    actions_.send(fabric::general_services_reply(packet, mad, lids_.lid_of(settings_.guid)));
}

// --- Attributes ----------------------------------------------------------------------------------

SaReply Administration::class_port_info(const fabric::ParsedPacket& /*packet*/,
                                        const SaRequest& /*request*/) {
    Record record(hwtab::class_port_info.size);
    const hwtab::View<hwtab::class_port_info> view(record);
    view.set<"base_version">(1);
    view.set<"class_version">(class_version);
    view.set<"capability_mask">(multicast_supported | capability_match_supported |
                                hwtab::value<hwtab::class_port_info_capability, "cap_mask2">);
    view.set<"capability_mask2">(send_only_full_member_supported);
    view.set<"resp_time_value">(fabric::response_time);
    view.set<"redirect_qp">(fabric::general_services_qp);
    view.set<"redirect_q_key">(fabric::general_services_q_key);
    view.set<"trap_q_key">(fabric::general_services_q_key);
    return {.records = {std::move(record)}};
}

SaReply Administration::node_record(const fabric::ParsedPacket& /*packet*/,
                                    const SaRequest& request) {
    return {.records = node_records(subnet_, lids_, request)};
}

SaReply Administration::port_info_record(const fabric::ParsedPacket& /*packet*/,
                                         const SaRequest& request) {
    return {.records = port_info_records(subnet_, lids_, request)};
}

SaReply Administration::path_record(const fabric::ParsedPacket& /*packet*/,
                                    const SaRequest& request) {
    const auto end_ports = subnet_.end_ports();
    return path_records({.subnet = subnet_,
                         .end_ports = end_ports,
                         .lids = lids_,
                         .tables = tables_,
                         .groups = groups_,
                         .settings = settings_},
                        request);
}

SaReply Administration::mc_member_record(const fabric::ParsedPacket& /*packet*/,
                                         const SaRequest& request) {
    switch (request.method) {
    case MadMethod::set:
        return groups_.join(subnet_, request);
    case MadMethod::remove:
        return groups_.leave(request);
    default:
        return groups_.query(request);
    }
}

SaReply Administration::inform_info(const fabric::ParsedPacket& packet, const SaRequest& request) {
    return subscriptions_.set(packet.headers, request);
}

SaReply Administration::inform_info_record(const fabric::ParsedPacket& /*packet*/,
                                           const SaRequest& request) {
    return {.records = subscriptions_.records(request, settings_.gid_prefix)};
}

// --- Events --------------------------------------------------------------------------------------

void Administration::subnet_changed(const std::set<Guid>& before, const std::set<Guid>& now) {
    tables_ = linear_tables(subnet_, lids_);
    std::set<Guid> gone;
    std::ranges::set_difference(before, now, std::inserter(gone, gone.end()));
    subscriptions_.remove_ports(gone);
    for (const Guid port : gone)
        report_gid(hwtab::value<hwtab::trap_number, "gid_out_of_service">,
                   {settings_.gid_prefix, port});
    for (const Guid port : now)
        if (!before.contains(port))
            report_gid(hwtab::value<hwtab::trap_number, "gid_in_service">,
                       {settings_.gid_prefix, port});
    if (groups_.remove_ports(gone))
        actions_.groups_changed([] {});
}

void Administration::report(std::span<const std::byte> notice, Lid source) {
    const Guid port = lids_.port_of(source);
    subscriptions_.report(notice, {settings_.gid_prefix, port}, source, port);
}

/// A notice that the administration itself sends about a port or a multicast group.
void Administration::report_gid(std::uint64_t trap, const fabric::Gid& gid) {
    std::array<std::byte, hwtab::notice.size> notice{};
    const hwtab::View<hwtab::notice_trap_64_67> view(notice);
    view.set<"is_generic">(1);
    view.set<"type">(hwtab::value<hwtab::notice_type, "sm">);
    view.set<"producer_type">(hwtab::value<hwtab::notice_producer, "class_mgr">);
    view.set<"trap_number">(trap);
    const Lid own = lids_.lid_of(settings_.guid);
    view.set<"issuer_lid">(own);
    std::ranges::copy(gid.bytes, view.bytes<"gid_addr">().begin());
    const Lid subject = lids_.lid_of(gid.guid());
    subscriptions_.report(notice, {settings_.gid_prefix, settings_.guid},
                          subject == fabric::unassigned_lid ? own : subject, gid.guid());
}

nlohmann::json Administration::statistics() const {
    return {{"requests", requests_},
            {"requests_refused", refused_},
            {"requests_dropped", dropped_},
            {"multicast_groups", groups_.size()},
            {"subscriptions", subscriptions_.size()}};
}

} // namespace cxemu::subnet_manager
