// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/hca_port.hpp"

#include "fabric/directed_route.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::fabric {
namespace {

template <hwtab::FixedString name>
constexpr auto capability2 =
    static_cast<std::uint16_t>(hwtab::value<hwtab::port_capability_mask2, name>);

constexpr std::uint32_t fixed_capabilities =
    capability_mask_of<"notice_sup", "trap_sup", "auto_migr_sup", "sl_map_sup",
                       "sys_image_guid_sup", "extended_speeds_sup", "cap_mask2_sup",
                       "cap_mask_notice_sup", "client_reg_sup", "other_local_changes_sup">;

std::uint16_t capability_mask2_for(const HcaPortSettings& settings) {
    const auto if_fast = [&](LaneSpeed speed, std::uint16_t bit) {
        return (settings.speeds & mask_of(speed)) != 0 ? bit : std::uint16_t{0};
    };
    std::uint16_t mask = capability2<"set_node_desc_sup">;
    mask |= if_fast(LaneSpeed::hdr, capability2<"link_speed_hdr_sup">);
    mask |= if_fast(LaneSpeed::ndr, capability2<"link_speed_ndr_sup">);
    if ((settings.widths & mask_of(LinkWidth::x2)) != 0)
        mask |= capability2<"link_width_2x_sup">;
    return mask;
}

PortCapabilities port_capabilities(const HcaPortSettings& settings) {
    return {.widths = settings.widths,
            .speeds = settings.speeds,
            .mtu_cap = settings.mtu_cap,
            .vl_cap = settings.vl_cap,
            .p_key_entries = settings.p_key_entries,
            .gid_entries = settings.gid_entries,
            .capability_mask = fixed_capabilities,
            .capability_mask2 = capability_mask2_for(settings),
            .inputs = 1};
}

bool is_performance_request(const ParsedPacket& packet) {
    const auto mad = mad_in(packet);
    return mad && class_of(*mad) == hwtab::value<hwtab::mgmt_class, "perf_mgmt"> &&
           (method_of(*mad) == MadMethod::get || method_of(*mad) == MadMethod::set);
}

} // namespace

std::string_view name_of(PortEvent event) {
    switch (event) {
    case PortEvent::down:
        return "down";
    case PortEvent::initialized:
        return "initialized";
    case PortEvent::armed:
        return "armed";
    case PortEvent::active:
        return "active";
    case PortEvent::lid_changed:
        return "lid_changed";
    case PortEvent::p_key_table_changed:
        return "p_key_table_changed";
    case PortEvent::gid_table_changed:
        return "gid_table_changed";
    case PortEvent::subnet_manager_changed:
        return "subnet_manager_changed";
    case PortEvent::client_reregister:
        return "client_reregister";
    case PortEvent::capability_mask_changed:
        return "capability_mask_changed";
    }
    return "unknown";
}

HcaPort::HcaPort(EventLoop& loop, const HcaPortSettings& settings)
    : loop_(loop), settings_(settings),
      port_(PortRole::adapter, settings.number, port_capabilities(settings), *this),
      subnet_agent_(loop, *this, [this](const Mad& trap) { return send_trap(trap); }),
      performance_agent_(loop, *this), self_(std::make_shared<HcaPort*>(this)) {
    load_identity();
}

HcaPort::~HcaPort() {
    *self_ = nullptr;
}

void HcaPort::load_identity() {
    identity_ = {.type = NodeType::channel_adapter,
                 .description = settings_.node_description,
                 .node_guid = settings_.node_guid,
                 .system_image_guid = settings_.system_image_guid,
                 .ports = settings_.node_ports,
                 .device_id = settings_.device_id,
                 .vendor_id = settings_.vendor_id,
                 .revision = settings_.revision};
    guids_.assign(settings_.gid_entries, 0);
    guids_.front() = settings_.port_guid;
}

void HcaPort::reset() {
    load_identity();
    subnet_agent_.reset();
    performance_agent_.reset();
    port_.reset();
}

// --- Sending -------------------------------------------------------------------------------------

bool HcaPort::send(Packet packet) {
    auto local = parse_local_route(packet);
    const auto vl = local ? lane_of(*local) : std::nullopt;
    if (!vl) { // no VL for the SL, or no LID yet
        ++port_.counters().transmit_discards;
        ++port_.traffic().transmit_errors;
        return false;
    }
    local->vl = *vl;
    set_virtual_lane(packet, *vl);
    const bool may_loop_back = local->vl == management_vl || state() == PortState::active;
    if (has_lid(local->dlid) && may_loop_back) {
        loop_back(std::move(packet));
        return true;
    }
    return port_.transmit(std::move(packet), *local);
}

std::optional<std::uint8_t> HcaPort::lane_of(const Lrh& local) const {
    return local.vl == management_vl ? management_vl : virtual_lane(local.sl);
}

void HcaPort::loop_back(Packet packet) {
    port_.traffic().loopback.count(packet.size() - vcrc_size);
    loop_.defer([self = self_, packet = std::move(packet)] {
        if (HcaPort* port = *self; port != nullptr)
            if (const auto parsed = parse(packet))
                port->dispatch(*parsed);
    });
}

bool HcaPort::send_trap(const Mad& trap) {
    const Packet packet = subnet_management_packet(trap, lid(), sm_lid());
    return sm_lid() != unassigned_lid && send(packet);
}

// --- Receiving -----------------------------------------------------------------------------------

void HcaPort::packet_received(Port& /*port*/, Packet packet, const Lrh& local) {
    const bool is_mine = is_multicast(local.dlid) || has_lid(local.dlid) ||
                         (local.dlid == permissive_lid && local.vl == management_vl);
    if (!is_mine) {
        ++statistics_.dropped_other_lid;
        return;
    }
    const auto parsed = parse(packet);
    if (!parsed) {
        ++statistics_.dropped_malformed;
        return;
    }
    dispatch(*parsed);
}

void HcaPort::dispatch(const ParsedPacket& packet) {
    const std::uint32_t qp = packet.headers.transport.destination_qp;
    const bool on_management_vl = packet.headers.local.vl == management_vl;
    if (on_management_vl != (qp == subnet_management_qp)) {
        ++statistics_.dropped_malformed; // QP0 requires VL 15, and VL 15 QP0
        return;
    }
    if (qp == subnet_management_qp && (client_ == nullptr || !client_->wants_subnet_management()))
        respond_to_subnet_management(packet);
    else if (qp == general_services_qp && (is_performance_request(packet) || client_ == nullptr ||
                                           !client_->wants_general_services()))
        respond_to_general_services(packet);
    else
        pass_to_client(packet);
}

void HcaPort::pass_to_client(const ParsedPacket& packet) {
    if (client_ == nullptr) {
        ++statistics_.dropped_no_client;
        return;
    }
    client_->packet_arrived(packet);
}

void HcaPort::respond_to_subnet_management(const ParsedPacket& packet) {
    auto smp = mad_in(packet);
    if (!smp || !is_subnet_management(*smp) || receiver_of(*smp) != SmpReceiver::agent) {
        ++statistics_.dropped_smps;
        return;
    }
    const RoutingNode node{
        .is_switch = false, .ports = settings_.number, .arrival = settings_.number};
    const bool directed = is_directed_route(*smp);
    if (directed && receive_step(*smp, node).action != RouteStep::Action::deliver) {
        ++statistics_.dropped_smps;
        return;
    }
    const Lid from = packet.headers.local.slid;
    const auto outcome =
        subnet_agent_.process(*smp, {.port = settings_.number, .remote_lid = from});
    auto response = outcome.value_or(std::nullopt);
    if (!response)
        return;
    const bool by_path =
        directed && send_step(*response, node).action == RouteStep::Action::forward;
    const Lid source = by_path || lid() == unassigned_lid ? permissive_lid : lid();
    ++statistics_.agent_responses;
    send(subnet_management_packet(*response, source, by_path ? permissive_lid : from));
}

void HcaPort::respond_to_general_services(const ParsedPacket& packet) {
    const auto mad = mad_in(packet);
    const bool has_key = packet.headers.datagram.has_value();
    const bool key_fits = has_key && packet.headers.datagram->q_key == general_services_q_key;
    if (has_key && !key_fits)
        report_violation(key_violation(packet.headers, KeyViolation::Kind::q_key));
    if (!mad || !key_fits || !port_.accepts_p_key(packet.headers.transport.p_key)) {
        ++statistics_.dropped_no_client;
        return;
    }
    const auto response = performance_agent_.process(*mad);
    if (!response) {
        ++statistics_.dropped_no_client;
        return;
    }
    ++statistics_.agent_responses;
    send(general_services_reply(packet, *response, lid()));
}

std::expected<std::optional<Mad>, MadRefusal> HcaPort::process(const Mad& request,
                                                               MadIfcFlags flags, Lid remote_lid) {
    if (is_subnet_management(request))
        return subnet_agent_.process(request, {.port = settings_.number,
                                               .remote_lid = remote_lid,
                                               .check_key = !flags.ignore_management_key});
    if (const auto response = performance_agent_.process(request))
        return response;
    const MadMethod method = method_of(request);
    if (method != MadMethod::get && method != MadMethod::set)
        return std::unexpected(MadRefusal::no_agent);
    Mad refusal = request; // response of an agent that doesn't support the class
    make_response(refusal, MadStatus::bad_version);
    return refusal;
}

// --- Events --------------------------------------------------------------------------------------

void HcaPort::notify_client(PortEvent event) {
    if (client_ != nullptr)
        client_->port_event(event);
}

void HcaPort::port_state_changed(Port& port, PortState /*before*/) {
    switch (port.state()) {
    case PortState::down:
        return notify_client(PortEvent::down);
    case PortState::init:
        return notify_client(PortEvent::initialized);
    case PortState::armed:
        return notify_client(PortEvent::armed);
    case PortState::active:
        return notify_client(PortEvent::active);
    }
}

void HcaPort::port_info_changed(Port& /*port*/, const PortInfoChanges& changes) {
    if (changes.protection)
        subnet_agent_.key_settings_changed();
    if (changes.lid)
        notify_client(PortEvent::lid_changed);
    if (changes.gid_prefix)
        notify_client(PortEvent::gid_table_changed);
    if (changes.subnet_manager)
        notify_client(PortEvent::subnet_manager_changed);
    if (changes.client_reregister)
        notify_client(PortEvent::client_reregister);
}

void HcaPort::p_keys_changed(Port& /*port*/) {
    notify_client(PortEvent::p_key_table_changed);
}

void HcaPort::guids_changed() {
    notify_client(PortEvent::gid_table_changed);
}

void HcaPort::set_description(std::string text) {
    identity_.description = std::move(text);
}

// --- Attributes ----------------------------------------------------------------------------------

Port* HcaPort::find_port(std::uint8_t number) {
    return number == settings_.number ? &port_ : nullptr;
}

PortCounters* HcaPort::counters(std::uint8_t port) {
    return port == settings_.number ? &port_.counters() : nullptr;
}

Lid HcaPort::lid() const {
    return static_cast<Lid>(port_.settings().get<"lid">());
}

std::uint8_t HcaPort::lmc() const {
    return static_cast<std::uint8_t>(port_.settings().get<"lmc">());
}

std::uint8_t HcaPort::path_bits(Lid destination) const {
    return is_unicast(destination) ? destination & ((1U << lmc()) - 1) : 0;
}

bool HcaPort::has_lid(Lid lid) const {
    const Lid base = this->lid();
    return base != unassigned_lid && lid >= base && lid - base < (1 << lmc());
}

Lid HcaPort::sm_lid() const {
    return static_cast<Lid>(port_.settings().get<"master_sm_lid">());
}

std::uint8_t HcaPort::sm_sl() const {
    return static_cast<std::uint8_t>(port_.settings().get<"master_sm_sl">());
}

std::uint8_t HcaPort::subnet_timeout() const {
    return static_cast<std::uint8_t>(port_.settings().get<"subnet_time_out">());
}

std::uint8_t HcaPort::init_type_reply() const {
    return static_cast<std::uint8_t>(port_.settings().get<"init_type_reply">());
}

std::uint32_t HcaPort::capability_mask() const {
    return static_cast<std::uint32_t>(port_.settings().get<"capability_mask">());
}

std::uint16_t HcaPort::capability_mask2() const {
    return static_cast<std::uint16_t>(port_.settings().get<"capability_mask2">());
}

std::uint16_t HcaPort::p_key_violations() const {
    return static_cast<std::uint16_t>(port_.settings().get<"p_key_violations">());
}

std::uint16_t HcaPort::q_key_violations() const {
    return static_cast<std::uint16_t>(port_.settings().get<"q_key_violations">());
}

std::optional<std::size_t> HcaPort::find_p_key(std::uint16_t p_key) const {
    const auto table = port_.p_keys();
    const auto found =
        std::ranges::find_if(table, [=](std::uint16_t own) { return p_keys_match(own, p_key); });
    if (found == table.end())
        return std::nullopt;
    return static_cast<std::size_t>(found - table.begin());
}

Gid HcaPort::gid(std::size_t index) const {
    // An unused entry reads as zero, without the prefix.
    return guids_[index] == 0 ? Gid() : Gid(port_.settings().get<"gid_prefix">(), guids_[index]);
}

bool HcaPort::has_gid(const Gid& gid) const {
    // The default prefix is always accepted in addition to the one set by the subnet manager.
    const auto prefix = gid.prefix();
    const bool prefix_fits =
        prefix == default_gid_prefix || prefix == port_.settings().get<"gid_prefix">();
    return prefix_fits && gid.guid() != 0 && std::ranges::contains(guids_, gid.guid());
}

std::optional<std::uint8_t> HcaPort::virtual_lane(std::uint8_t sl) const {
    return port_.virtual_lane(0, sl);
}

// --- Changes by the host -------------------------------------------------------------------------

void HcaPort::set_node_guid(Guid guid) {
    identity_.node_guid = guid;
}

void HcaPort::set_port_guid(Guid guid) {
    if (std::exchange(guids_.front(), guid) != guid)
        notify_client(PortEvent::gid_table_changed);
}

void HcaPort::set_system_image_guid(Guid guid) {
    if (std::exchange(identity_.system_image_guid, guid) != guid)
        subnet_agent_.report_system_image_guid();
}

void HcaPort::set_node_description(const std::string& text) {
    if (std::exchange(identity_.description, text) != text)
        subnet_agent_.report_local_change(LocalChange::node_description);
}

void HcaPort::modify_capability_mask(std::uint32_t bits, std::uint32_t select) {
    const std::uint32_t before = capability_mask();
    const std::uint32_t after = (before & ~select) | (bits & select);
    if (before == after)
        return;
    port_.settings().set<"capability_mask">(after);
    notify_client(PortEvent::capability_mask_changed);
    subnet_agent_.report_local_change(LocalChange::none);
}

std::uint32_t HcaPort::changeable_capabilities() {
    return capability_mask_of<"sm", "sm_disabled", "cm_sup", "snmp_tunnel_sup", "reinit_sup",
                              "device_mgmt_sup", "vendor_class_sup", "boot_mgmt_sup">;
}

void HcaPort::enable_rates(WidthMask widths, SpeedMask speeds) {
    port_.enable_rates(widths, speeds);
    if (widths != 0)
        subnet_agent_.report_local_change(LocalChange::link_width_enabled);
    if (speeds != 0)
        subnet_agent_.report_local_change(LocalChange::link_speed_enabled);
}

KeyViolation key_violation(const PacketHeaders& headers, KeyViolation::Kind kind) {
    const bool is_p_key = kind == KeyViolation::Kind::p_key;
    KeyViolation violation{.kind = kind,
                           .key = is_p_key ? headers.transport.p_key : headers.datagram->q_key,
                           .sl = headers.local.sl,
                           .source = headers.local.slid,
                           .destination = headers.local.dlid,
                           .source_qp = headers.datagram ? headers.datagram->source_qp : 0,
                           .destination_qp = headers.transport.destination_qp};
    if (headers.global) {
        violation.source_gid = headers.global->source;
        violation.destination_gid = headers.global->destination;
    }
    return violation;
}

void HcaPort::report_violation(const KeyViolation& violation) {
    const bool is_p_key = violation.kind == KeyViolation::Kind::p_key;
    if (is_p_key)
        increment_violations<"p_key_violations">(port_.settings());
    else
        increment_violations<"q_key_violations">(port_.settings());
    constexpr auto bad_p_key = hwtab::value<hwtab::trap_number, "bad_p_key">;
    constexpr auto bad_q_key = hwtab::value<hwtab::trap_number, "bad_q_key">;
    subnet_agent_.report_key_violation(
        {.trap = static_cast<std::uint16_t>(is_p_key ? bad_p_key : bad_q_key),
         .key = violation.key,
         .sl = violation.sl,
         .source = violation.source,
         .destination = violation.destination,
         .source_qp = violation.source_qp,
         .destination_qp = violation.destination_qp,
         .source_gid = violation.source_gid.value_or(Gid()),
         .destination_gid = violation.destination_gid.value_or(Gid())});
}

} // namespace cxemu::fabric
