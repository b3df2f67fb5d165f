// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/port.hpp"

#include "fabric/mad.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::fabric {
namespace {

/// Maximum number of bytes of headers and ICRC in addition to a payload of the MTU.
constexpr std::size_t header_allowance = 124;

constexpr std::size_t smallest_mtu = 128; ///< bytes, shifted left by the MTU code

/// The MTU of a port before the subnet manager sets one: 2048 bytes.
constexpr std::uint8_t default_mtu_code = 4;

constexpr std::uint8_t dropped_vl = 15;

/// Number of data VLs of a code of VLCap and OperationalVLs.
std::uint8_t lanes_of(std::uint64_t code) {
    constexpr std::array<std::uint8_t, 6> lanes{0, 1, 2, 4, 8, 15};
    return code < lanes.size() ? lanes[code] : 0;
}

bool is_management(const Lrh& local) {
    return local.vl == management_vl;
}

} // namespace

Port::Port(PortRole role, std::uint8_t number, const PortCapabilities& capabilities,
           PortOwner& owner)
    : role_(role), number_(number), capabilities_(capabilities), owner_(owner) {
    load_defaults();
}

void Port::connect(Link* link) {
    link_ = link;
}

void Port::load_defaults() {
    settings_ = {};
    const auto info = settings();
    info.set<"gid_prefix">(default_gid_prefix);
    info.set<"capability_mask">(capabilities_.capability_mask);
    info.set<"capability_mask2">(capabilities_.capability_mask2);
    info.set<"link_width_enabled">(port_info_widths(capabilities_.widths));
    info.set<"link_width_supported">(port_info_widths(capabilities_.widths));
    info.set<"link_speed_supported">(port_info_speeds(capabilities_.speeds));
    info.set<"link_speed_enabled">(port_info_speeds(capabilities_.speeds));
    info.set<"link_speed_ext_supported">(port_info_extended_speeds(capabilities_.speeds));
    info.set<"link_speed_ext_enabled">(port_info_extended_speeds(capabilities_.speeds));
    info.set<"link_down_default_state">(hwtab::value<hwtab::link_down_default_state, "polling">);
    info.set<"neighbor_mtu">(std::min(default_mtu_code, capabilities_.mtu_cap));
    info.set<"mtu_cap">(capabilities_.mtu_cap);
    info.set<"vl_cap">(capabilities_.vl_cap);
    info.set<"operational_vls">(capabilities_.vl_cap);
    info.set<"vl_arbitration_high_cap">(capabilities_.vl_arbitration_entries);
    info.set<"vl_arbitration_low_cap">(capabilities_.vl_arbitration_entries);
    info.set<"guid_cap">(capabilities_.gid_entries);
    info.set<"resp_time_value">(response_time);
    info.set<"subnet_time_out">(response_time);
    p_keys_.assign(capabilities_.p_key_entries, 0);
    if (!p_keys_.empty())
        p_keys_.front() = default_p_key;
    sl_to_vl_.assign(capabilities_.inputs, SlToVlTable{}); // all SLs on VL 0
    vl_arbitration_ = {};
    if (role_ == PortRole::switch_management)
        state_ = PortState::active;
}

void Port::reset() {
    load_defaults();
    retrain(LinkOffer::Training::polling);
}

PhysicalState Port::physical_state() const {
    if (rate_ || role_ == PortRole::switch_management)
        return PhysicalState::link_up;
    switch (training_) {
    case LinkOffer::Training::off:
        return PhysicalState::disabled;
    case LinkOffer::Training::listening:
        return PhysicalState::sleep;
    case LinkOffer::Training::polling:
        return PhysicalState::polling;
    }
    return PhysicalState::polling;
}

void Port::change_state(PortState state) {
    if (state == state_)
        return;
    const PortState before = std::exchange(state_, state);
    owner_.port_state_changed(*this, before);
}

// --- Packets -------------------------------------------------------------------------------------

bool Port::may_carry(std::uint8_t vl) const {
    if (vl == management_vl)
        return state_ != PortState::down;
    return vl < data_lanes();
}

/// Sent packets are limited by the neighbor's MTU, received ones by that of this port.
bool Port::fits(std::size_t packet_size, std::size_t payload) {
    return packet_size - vcrc_size <= payload + header_allowance;
}

bool Port::transmit(Packet packet, const Lrh& local) {
    const bool state_allows = is_management(local) || state_ == PortState::active;
    if (link_ == nullptr || !state_allows || !may_carry(local.vl) || !fits(packet.size(), mtu())) {
        ++counters_.transmit_discards;
        ++traffic_.transmit_errors;
        return false;
    }
    count_transmitted(packet, local);
    return link_->send(*this, std::move(packet));
}

void Port::receive(Packet packet) {
    const auto local = parse_local_route(packet);
    if (!local || !may_carry(local->vl) || !fits(packet.size(), largest_mtu())) {
        ++counters_.receive_errors;
        ++traffic_.received_errors;
        return;
    }
    const bool state_allows = is_management(*local) || state_ >= PortState::armed;
    if (!state_allows)
        return; // no error: the neighbor became active earlier
    if (!is_management(*local) && state_ == PortState::armed)
        change_state(PortState::active); // a data packet makes an armed port active
    count_received(packet, *local);
    owner_.packet_received(*this, std::move(packet), *local);
}

void Port::count_received(const Packet& packet, const Lrh& local) {
    const std::size_t size = packet.size() - vcrc_size;
    const bool multicast = is_multicast(local.dlid);
    ++counters_.receive_packets;
    counters_.receive_bytes += size;
    ++(multicast ? counters_.multicast_receive_packets : counters_.unicast_receive_packets);
    (multicast ? traffic_.multicast_received : traffic_.unicast_received).count(size);
}

void Port::count_transmitted(const Packet& packet, const Lrh& local) {
    const std::size_t size = packet.size() - vcrc_size;
    const bool multicast = is_multicast(local.dlid);
    ++counters_.transmit_packets;
    counters_.transmit_bytes += size;
    ++(multicast ? counters_.multicast_transmit_packets : counters_.unicast_transmit_packets);
    (multicast ? traffic_.multicast_transmitted : traffic_.unicast_transmitted).count(size);
}

std::optional<std::uint8_t> Port::virtual_lane(std::size_t input, std::uint8_t sl) const {
    constexpr std::uint32_t bits_per_entry = 4;
    const auto vl = static_cast<std::uint8_t>(
        hwtab::read_bits(sl_to_vl_[input].data(), sl * bits_per_entry, bits_per_entry));
    if (vl == dropped_vl || vl >= data_lanes())
        return std::nullopt;
    return vl;
}

bool Port::accepts_p_key(std::uint16_t p_key) const {
    return std::ranges::any_of(p_keys_,
                               [=](std::uint16_t own) { return p_keys_match(own, p_key); });
}

std::size_t Port::mtu() const {
    return smallest_mtu << settings().get<"neighbor_mtu">();
}

std::size_t Port::largest_mtu() const {
    return smallest_mtu << capabilities_.mtu_cap;
}

std::uint8_t Port::data_lanes() const {
    return lanes_of(settings().get<"operational_vls">());
}

std::uint8_t Port::supported_data_lanes() const {
    return lanes_of(capabilities_.vl_cap);
}

// --- Link ----------------------------------------------------------------------------------------

void Port::link_changed(std::optional<LinkRate> rate) {
    const bool was_up = rate_.has_value();
    rate_ = rate;
    if (rate) {
        change_state(PortState::init);
        return;
    }
    if (was_up && training_ != LinkOffer::Training::off) {
        ++counters_.link_downed;
        training_ = default_training();
    }
    change_state(PortState::down);
}

LinkOffer Port::link_offer() const {
    return {.training = training_, .widths = enabled_widths(), .speeds = enabled_speeds()};
}

LinkOffer::Training Port::default_training() const {
    return settings().get<"link_down_default_state">() ==
                   hwtab::value<hwtab::link_down_default_state, "sleep">
               ? LinkOffer::Training::listening
               : LinkOffer::Training::polling;
}

void Port::retrain(LinkOffer::Training training) {
    training_ = training;
    if (link_ != nullptr)
        link_->renegotiate(true);
}

WidthMask Port::enabled_widths() const {
    return widths_from_port_info(static_cast<std::uint8_t>(settings().get<"link_width_enabled">()));
}

SpeedMask Port::enabled_speeds() const {
    const auto basic = static_cast<std::uint8_t>(settings().get<"link_speed_enabled">());
    const auto extended = static_cast<std::uint8_t>(settings().get<"link_speed_ext_enabled">());
    const SpeedMask fdr10 = capabilities_.speeds & mask_of(LaneSpeed::fdr10);
    return speeds_from_port_info(basic) | speeds_from_port_info_extended(extended) | fdr10;
}

void Port::enable_rates(WidthMask widths, SpeedMask speeds) {
    if (widths != 0)
        settings().set<"link_width_enabled">(port_info_widths(widths));
    if (speeds != 0) {
        settings().set<"link_speed_enabled">(port_info_speeds(speeds));
        settings().set<"link_speed_ext_enabled">(port_info_extended_speeds(speeds));
    }
    if (link_ != nullptr)
        link_->renegotiate(true);
}

void Port::set_enabled(bool enabled) {
    if (enabled != this->enabled())
        retrain(enabled ? LinkOffer::Training::polling : LinkOffer::Training::off);
}

} // namespace cxemu::fabric
