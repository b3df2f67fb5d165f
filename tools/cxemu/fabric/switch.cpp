// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/switch.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::fabric {
namespace {

constexpr std::uint32_t port0_capabilities =
    capability_mask_of<"notice_sup", "trap_sup", "sl_map_sup", "sys_image_guid_sup",
                       "extended_speeds_sup", "cap_mask2_sup", "cap_mask_notice_sup",
                       "client_reg_sup", "other_local_changes_sup", "mcast_fdb_top_sup",
                       "pkey_sw_ext_port_trap_sup">;
constexpr std::uint32_t external_capabilities =
    capability_mask_of<"extended_speeds_sup", "cap_mask2_sup">;

std::uint16_t capability_mask2_for(const SwitchSettings& settings) {
    const auto if_fast = [&](LaneSpeed speed, std::uint64_t bit) {
        return (settings.speeds & mask_of(speed)) != 0 ? bit : 0;
    };
    const std::uint64_t mask =
        hwtab::value<hwtab::port_capability_mask2, "set_node_desc_sup"> |
        if_fast(LaneSpeed::hdr, hwtab::value<hwtab::port_capability_mask2, "link_speed_hdr_sup">) |
        if_fast(LaneSpeed::ndr, hwtab::value<hwtab::port_capability_mask2, "link_speed_ndr_sup">);
    return static_cast<std::uint16_t>(mask);
}

PortCapabilities port_capabilities(const SwitchSettings& settings, bool external) {
    return {.widths = settings.widths,
            .speeds = settings.speeds,
            .mtu_cap = settings.mtu_cap,
            .vl_cap = settings.vl_cap,
            .p_key_entries = settings.p_key_entries,
            .gid_entries = 1,
            .capability_mask = external ? external_capabilities : port0_capabilities,
            .capability_mask2 = capability_mask2_for(settings),
            .inputs = static_cast<std::uint8_t>(settings.ports + 1)};
}

PortRole role_of(std::uint8_t number) {
    return number == 0 ? PortRole::switch_management : PortRole::switch_external;
}

std::vector<std::unique_ptr<Port>> make_ports(const SwitchSettings& settings, PortOwner& owner) {
    std::vector<std::unique_ptr<Port>> ports;
    for (unsigned n = 0; n <= settings.ports; ++n) {
        const auto number = static_cast<std::uint8_t>(n);
        ports.push_back(std::make_unique<Port>(role_of(number), number,
                                               port_capabilities(settings, n != 0), owner));
    }
    return ports;
}

NodeIdentity identity_from(const SwitchSettings& settings) {
    return {.type = NodeType::switch_node,
            .description = settings.description,
            .node_guid = settings.node_guid,
            .system_image_guid = settings.system_image_guid,
            .ports = settings.ports,
            .device_id = settings.device_id,
            .vendor_id = settings.vendor_id};
}

/// The packet with another MAD and other LIDs.
Packet changed(const ParsedPacket& packet, const Mad& smp, Lid source, Lid destination) {
    PacketHeaders headers = packet.headers;
    headers.local.slid = source;
    headers.local.dlid = destination;
    return build(headers, smp);
}

std::uint16_t as_full_member(std::uint16_t p_key) {
    return static_cast<std::uint16_t>(p_key | full_member_bit);
}

/// Returns true if the P_Key table of a port has the partition of a P_Key with any membership. The
/// subnet manager copies the tables of HCAs to the switch ports in front of them, and a limited
/// member sends exactly its table entry. The receiving HCA checks the membership types.
bool has_partition(const Port& port, std::uint16_t p_key) {
    return std::ranges::any_of(port.p_keys(), [=](std::uint16_t own) {
        return p_keys_match(as_full_member(own), as_full_member(p_key));
    });
}

} // namespace

Switch::Switch(EventLoop& loop, const SwitchSettings& settings)
    : loop_(loop), settings_(settings), identity_(identity_from(settings)),
      guids_{settings.node_guid}, ports_(make_ports(settings, *this)),
      tables_(settings.ports, settings.capacity),
      subnet_agent_(loop, *this, [this](const Mad& trap) { return send_trap(trap); }),
      performance_agent_(loop, *this), self_(std::make_shared<Switch*>(this)) {
    const auto info = tables_.info();
    info.set<"enhanced_port0">(settings.enhanced_port0 ? 1 : 0);
    info.set<"partition_enforcement_cap">(settings.p_key_entries);
    info.set<"inbound_enforcement_cap">(1);
    info.set<"outbound_enforcement_cap">(1);
    info.set<"filter_raw_inbound_cap">(1);
    info.set<"filter_raw_outbound_cap">(1);
}

Switch::~Switch() {
    *self_ = nullptr;
}

void Switch::set_manager(EmbeddedManager* manager) {
    constexpr std::uint32_t is_sm = capability_mask_of<"sm">;
    manager_ = manager;
    const auto info = ports_.front()->settings();
    const auto others = info.get<"capability_mask">() & ~std::uint64_t{is_sm};
    info.set<"capability_mask">(others | (manager == nullptr ? 0 : is_sm));
    subnet_agent_.report_local_change(LocalChange::none);
}

// --- Data ----------------------------------------------------------------------------------------

void Switch::packet_received(Port& port, Packet packet, const Lrh& local) {
    if (local.vl == management_vl)
        return handle_smp(port.number(), std::move(packet), local);
    if (!passes_inbound(port, packet, local))
        return;
    if (is_multicast(local.dlid))
        forward_multicast(port.number(), packet, local);
    else
        forward_unicast(port.number(), std::move(packet), local);
}

bool Switch::passes_inbound(Port& port, const Packet& packet, const Lrh& local) {
    const auto settings = std::as_const(port).settings();
    const auto p_key = peek_p_key(packet);
    const bool refused =
        p_key ? settings.get<"partition_enforcement_inbound">() != 0 && !has_partition(port, *p_key)
              : settings.get<"filter_raw_inbound">() != 0;
    if (!refused)
        return true;
    ++port.counters().receive_constraint_errors;
    ++statistics_.dropped_filter;
    if (p_key)
        subnet_agent_.report_switch_p_key(port.number(), *p_key, local);
    return false;
}

bool Switch::passes_outbound(Port& port, const Packet& packet, const Lrh& local) {
    const auto settings = std::as_const(port).settings();
    const auto p_key = peek_p_key(packet);
    const bool refused = p_key ? settings.get<"partition_enforcement_outbound">() != 0 &&
                                     !has_partition(port, *p_key)
                               : settings.get<"filter_raw_outbound">() != 0;
    if (!refused)
        return true;
    ++port.counters().transmit_constraint_errors;
    ++statistics_.dropped_filter;
    if (p_key)
        subnet_agent_.report_switch_p_key(port.number(), *p_key, local);
    return false;
}

void Switch::forward_unicast(std::uint8_t arrival, Packet packet, const Lrh& local) {
    if (is_mine(local.dlid))
        return receive_locally(arrival, packet);
    const auto departure = tables_.linear(local.dlid);
    if (!departure || *departure == 0) {
        ++port(arrival).counters().receive_switch_relay_errors;
        ++statistics_.dropped_routing;
        return;
    }
    send_out(arrival, *departure, std::move(packet), local);
}

void Switch::forward_multicast(std::uint8_t arrival, const Packet& packet, const Lrh& local) {
    const PortSet ports = tables_.multicast(local.dlid, arrival);
    if (ports.empty())
        ++statistics_.dropped_routing;
    for (unsigned n = 1; n <= settings_.ports; ++n)
        if (ports.contains(static_cast<std::uint8_t>(n)))
            send_out(arrival, static_cast<std::uint8_t>(n), packet, local);
}

void Switch::send_out(std::uint8_t arrival, std::uint8_t departure, Packet packet, Lrh local) {
    Port& out = port(departure);
    if (local.vl != management_vl) {
        const auto vl = out.virtual_lane(arrival, local.sl);
        if (!vl) {
            ++out.counters().transmit_discards;
            ++statistics_.dropped_routing;
            return;
        }
        if (!passes_outbound(out, packet, local))
            return;
        local.vl = *vl;
        set_virtual_lane(packet, *vl);
    }
    if (out.transmit(std::move(packet), local))
        ++statistics_.forwarded;
}

void Switch::receive_locally(std::uint8_t /*arrival*/, const Packet& packet) {
    const auto parsed = parse(packet);
    if (parsed && parsed->headers.transport.destination_qp == general_services_qp)
        deliver_general_services(*parsed);
    else
        ++statistics_.dropped_local;
}

// --- Management ----------------------------------------------------------------------------------

RoutingNode Switch::routing_node(std::uint8_t arrival) const {
    return {.is_switch = true, .ports = settings_.ports, .arrival = arrival};
}

void Switch::handle_smp(std::uint8_t arrival, Packet packet, const Lrh& local) {
    const bool for_me = local.dlid == permissive_lid || is_mine(local.dlid);
    if (!for_me && is_unicast(local.dlid))
        return forward_unicast(arrival, std::move(packet), local);
    const auto parsed = parse(packet);
    auto smp = parsed ? mad_in(*parsed) : std::nullopt;
    const bool to_qp0 = parsed && parsed->headers.transport.destination_qp == subnet_management_qp;
    const bool by_lid = smp && !is_directed_route(*smp);
    const bool lost = by_lid && local.dlid == permissive_lid; // has no path either
    if (!for_me || !smp || !to_qp0 || lost || !is_subnet_management(*smp)) {
        ++statistics_.dropped_smps;
        return;
    }
    if (by_lid)
        deliver_smp(*smp, {.port = arrival, .remote_lid = local.slid});
    else
        relay_smp(*parsed, *smp, arrival);
}

void Switch::relay_smp(const ParsedPacket& packet, Mad& smp, std::uint8_t arrival) {
    const RouteStep step = receive_step(smp, routing_node(arrival));
    switch (step.action) {
    case RouteStep::Action::deliver:
        return deliver_smp(smp, {.port = arrival, .remote_lid = packet.headers.local.slid});
    case RouteStep::Action::forward:
        ++statistics_.relayed_smps;
        // Nodes on the directed part respond to the SLID of the packet.
        return send_out(arrival, step.port, changed(packet, smp, permissive_lid, permissive_lid),
                        packet.headers.local);
    case RouteStep::Action::route_by_lid:
        ++statistics_.relayed_smps;
        return send_from_port0(changed(packet, smp, lid(), step.lid));
    case RouteStep::Action::discard:
        ++statistics_.dropped_smps;
    }
}

void Switch::deliver_smp(const Mad& smp, const MadOrigin& origin) {
    if (manager_ != nullptr && receiver_of(smp) == SmpReceiver::manager)
        return manager_->smp_arrived(smp, origin);
    const auto outcome = subnet_agent_.process(smp, origin);
    if (!outcome && outcome.error() == MadRefusal::no_agent)
        ++statistics_.dropped_smps;
    const auto reply = outcome.value_or(std::nullopt);
    if (!reply)
        return;
    ++statistics_.agent_responses;
    respond_to_smp(*reply, origin);
}

void Switch::respond_to_smp(Mad reply, const MadOrigin& origin) {
    if (!is_directed_route(reply))
        return send_from_port0(subnet_management_packet(reply, lid(), origin.remote_lid));
    const RouteStep step = send_step(reply, routing_node(origin.port));
    switch (step.action) {
    case RouteStep::Action::forward:
        return send_out(origin.port, step.port,
                        subnet_management_packet(reply, permissive_lid, permissive_lid),
                        {.vl = management_vl, .dlid = permissive_lid, .slid = permissive_lid});
    case RouteStep::Action::route_by_lid:
        return send_from_port0(subnet_management_packet(
            reply, lid(), step.lid == permissive_lid ? origin.remote_lid : step.lid));
    case RouteStep::Action::deliver: // the request of the embedded manager, without a hop
        return deliver_smp(reply, origin);
    case RouteStep::Action::discard:
        ++statistics_.dropped_smps;
    }
}

bool Switch::send_smp(Mad smp, Lid destination) {
    if (!is_directed_route(smp)) {
        send_from_port0(subnet_management_packet(smp, lid(), destination));
        return true;
    }
    const RouteStep step = send_step(smp, routing_node(0));
    const Packet packet = subnet_management_packet(smp, permissive_lid, permissive_lid);
    if (step.action == RouteStep::Action::deliver)
        loop_back(packet);
    else if (step.action == RouteStep::Action::forward)
        send_out(0, step.port, packet,
                 {.vl = management_vl, .dlid = permissive_lid, .slid = permissive_lid});
    else
        return false;
    return true;
}

void Switch::deliver_general_services(const ParsedPacket& packet) {
    const auto mad = mad_in(packet);
    const bool key_fits =
        packet.headers.datagram && packet.headers.datagram->q_key == general_services_q_key;
    if (!mad || !key_fits)
        ++statistics_.dropped_local;
    else if (manager_ != nullptr && class_of(*mad) == hwtab::value<hwtab::mgmt_class, "subn_adm">)
        manager_->administration_arrived(packet, *mad);
    else
        respond_to_general_services(packet, *mad);
}

void Switch::respond_to_general_services(const ParsedPacket& packet, const Mad& mad) {
    const auto reply = performance_agent_.process(mad);
    if (!reply) {
        ++statistics_.dropped_local;
        return;
    }
    ++statistics_.agent_responses;
    send_from_port0(general_services_reply(packet, *reply, lid()));
}

void Switch::send_from_port0(Packet packet) {
    const auto local = parse_local_route(packet);
    if (local && is_mine(local->dlid))
        loop_back(std::move(packet));
    else if (local)
        forward_unicast(0, std::move(packet), *local);
}

/// The packet is received later, from the event loop, like a packet from a link.
void Switch::loop_back(Packet packet) {
    loop_.defer([self = self_, packet = std::move(packet)] {
        Switch* own = *self;
        const auto local = parse_local_route(packet);
        if (own == nullptr || !local)
            return;
        if (local->vl == management_vl)
            own->handle_smp(0, packet, *local);
        else
            own->receive_locally(0, packet);
    });
}

bool Switch::send_trap(const Mad& trap) {
    const auto manager =
        static_cast<Lid>(std::as_const(*ports_.front()).settings().get<"master_sm_lid">());
    const auto departure = tables_.linear(manager);
    const bool is_own = is_mine(manager) && manager_ != nullptr;
    if (!is_own && (!departure || *departure == 0))
        return false;
    send_from_port0(subnet_management_packet(trap, lid(), manager));
    return true;
}

// --- Node ----------------------------------------------------------------------------------------

Lid Switch::lid() const {
    return static_cast<Lid>(std::as_const(*ports_.front()).settings().get<"lid">());
}

bool Switch::is_mine(Lid lid) const {
    const auto settings = std::as_const(*ports_.front()).settings();
    const Lid base = this->lid();
    return base != unassigned_lid && lid >= base && lid - base < (1 << settings.get<"lmc">());
}

void Switch::port_state_changed(Port& port, PortState before) {
    const bool link_changed = before == PortState::down || port.state() == PortState::down;
    if (!link_changed)
        return; // caused by the subnet manager itself
    tables_.info().set<"port_state_change">(1);
    subnet_agent_.report_link_state_change();
}

Port* Switch::find_port(std::uint8_t number) {
    return number < ports_.size() ? ports_[number].get() : nullptr;
}

void Switch::port_info_changed(Port& /*port*/, const PortInfoChanges& changes) {
    if (changes.protection)
        subnet_agent_.key_settings_changed();
}

void Switch::set_description(std::string text) {
    identity_.description = std::move(text);
}

PortCounters* Switch::counters(std::uint8_t port) {
    Port* found = find_port(port);
    return found == nullptr ? nullptr : &found->counters();
}

std::vector<std::uint8_t> Switch::all_ports() const {
    std::vector<std::uint8_t> numbers;
    for (unsigned n = 1; n <= settings_.ports; ++n)
        numbers.push_back(static_cast<std::uint8_t>(n));
    return numbers;
}

} // namespace cxemu::fabric
