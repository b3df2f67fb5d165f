// SPDX-License-Identifier: GPL-2.0-or-later
//
// PortInfo: readable and writable fields and their checks (InfiniBand specification, 14.2.5.6).
#include "fabric/port.hpp"

#include <algorithm>

namespace cxemu::fabric {
namespace {

using Info = hwtab::ConstView<hwtab::port_info>;

// Values with a special meaning in Set.
constexpr std::uint64_t no_change = 0;
constexpr std::uint64_t all_widths = 255;
constexpr std::uint64_t all_speeds = 15;
constexpr std::uint64_t no_extended_speeds = 30;
constexpr std::uint64_t all_extended_speeds = 31;

constexpr std::uint64_t physical_polling = hwtab::value<hwtab::ib_port_physical_state, "polling">;
constexpr std::uint64_t physical_sleep = hwtab::value<hwtab::ib_port_physical_state, "sleep">;
constexpr std::uint64_t physical_disabled = hwtab::value<hwtab::ib_port_physical_state, "disabled">;

constexpr bool is_subset(std::uint64_t bits, std::uint64_t of) {
    return (bits & ~of) == 0;
}

bool lids_are_valid(Info wanted, Info now) {
    const auto lid = static_cast<Lid>(wanted.get<"lid">());
    const auto sm_lid = static_cast<Lid>(wanted.get<"master_sm_lid">());
    const bool aligned = (lid & ((1U << wanted.get<"lmc">()) - 1)) == 0;
    const bool lid_is_valid = (is_unicast(lid) && aligned) || lid == now.get<"lid">();
    return lid_is_valid && (is_unicast(sm_lid) || sm_lid == now.get<"master_sm_lid">());
}

bool rates_are_valid(Info wanted, Info now) {
    const auto width = wanted.get<"link_width_enabled">();
    const auto speed = wanted.get<"link_speed_enabled">();
    const auto extended = wanted.get<"link_speed_ext_enabled">();
    return (width == all_widths || is_subset(width, now.get<"link_width_supported">())) &&
           (speed == all_speeds || is_subset(speed, now.get<"link_speed_supported">())) &&
           (extended == all_extended_speeds || extended == no_extended_speeds ||
            is_subset(extended, now.get<"link_speed_ext_supported">()));
}

bool lanes_and_mtu_are_valid(Info wanted, Info now) {
    const auto mtu = wanted.get<"neighbor_mtu">();
    return mtu >= 1 && mtu <= now.get<"mtu_cap">() &&
           wanted.get<"operational_vls">() <= now.get<"vl_cap">();
}

bool transition_is_legal(std::uint64_t wanted, PortState now) {
    switch (wanted) {
    case no_change:
    case static_cast<std::uint64_t>(PortState::down):
        return true;
    case static_cast<std::uint64_t>(PortState::armed):
        return now == PortState::init || now == PortState::armed;
    case static_cast<std::uint64_t>(PortState::active):
        return now == PortState::armed || now == PortState::active;
    default:
        return false;
    }
}

bool states_are_valid(Info wanted, PortState now) {
    const auto state = wanted.get<"port_state">();
    const auto physical = wanted.get<"port_physical_state">();
    const bool goes_down_or_stays =
        state == no_change || state == static_cast<std::uint64_t>(PortState::down);
    return transition_is_legal(state, now) && physical <= physical_disabled &&
           (physical == no_change || goes_down_or_stays) &&
           wanted.get<"link_down_default_state">() <=
               hwtab::value<hwtab::link_down_default_state, "polling">;
}

/// Takes over a field. \return true when it has changed
template <hwtab::FixedString field>
bool take(hwtab::View<hwtab::port_info> settings, Info wanted) {
    const auto before = settings.get<field>();
    settings.set<field>(wanted.get<field>());
    return before != wanted.get<field>();
}

/// Takes over a field unless it is zero; \p all stands for \p supported.
/// \return true when it has changed
template <hwtab::FixedString field>
bool take_mask(hwtab::View<hwtab::port_info> settings, Info wanted, std::uint64_t all,
               std::uint64_t supported) {
    const auto value = wanted.get<field>();
    if (value == no_change)
        return false;
    const auto before = settings.get<field>();
    settings.set<field>(value == all ? supported : value);
    return before != settings.get<field>();
}

/// A violation counter: writing zero clears it, other values are ignored.
template <hwtab::FixedString field>
void take_counter(hwtab::View<hwtab::port_info> settings, Info wanted) {
    if (wanted.get<field>() == 0)
        settings.set<field>(0);
}

/// Fields of the management port.
void take_management_fields(hwtab::View<hwtab::port_info> settings, Info wanted,
                            PortInfoChanges& changes) {
    changes.protection = take<"m_key">(settings, wanted);
    changes.protection |= take<"m_key_lease_period">(settings, wanted);
    changes.protection |= take<"m_key_protect_bits">(settings, wanted);
    changes.gid_prefix = take<"gid_prefix">(settings, wanted);
    changes.lid = take<"lid">(settings, wanted);
    changes.lid |= take<"lmc">(settings, wanted);
    changes.subnet_manager = take<"master_sm_lid">(settings, wanted);
    changes.subnet_manager |= take<"master_sm_sl">(settings, wanted);
    changes.client_reregister = wanted.get<"client_reregister">() != 0;
    take<"init_type">(settings, wanted);
    take<"subnet_time_out">(settings, wanted);
    take<"multicast_p_key_trap_suppression_enabled">(settings, wanted);
    take_counter<"m_key_violations">(settings, wanted);
    take_counter<"p_key_violations">(settings, wanted);
    take_counter<"q_key_violations">(settings, wanted);
}

/// Fields of ports with a link.
void take_link_fields(hwtab::View<hwtab::port_info> settings, Info wanted) {
    take<"neighbor_mtu">(settings, wanted);
    take<"vl_high_limit">(settings, wanted);
    take<"local_phy_errors">(settings, wanted);
    take<"overrun_errors">(settings, wanted);
    if (wanted.get<"operational_vls">() != no_change)
        take<"operational_vls">(settings, wanted);
    if (wanted.get<"link_down_default_state">() != no_change)
        take<"link_down_default_state">(settings, wanted);
}

/// Fields of external switch ports.
void take_switch_fields(hwtab::View<hwtab::port_info> settings, Info wanted) {
    take<"vl_stall_count">(settings, wanted);
    take<"hoq_life">(settings, wanted);
    take<"partition_enforcement_inbound">(settings, wanted);
    take<"partition_enforcement_outbound">(settings, wanted);
    take<"filter_raw_inbound">(settings, wanted);
    take<"filter_raw_outbound">(settings, wanted);
}

/// The field is limited to QDR for faster links.
std::uint8_t active_speed(LaneSpeed speed) {
    const std::uint8_t code = port_info_speeds(mask_of(speed));
    return code != 0 ? code : port_info_speeds(mask_of(LaneSpeed::qdr));
}

} // namespace

PortInfoBytes Port::port_info(std::uint8_t local_port) const {
    PortInfoBytes bytes = settings_;
    const hwtab::View<hwtab::port_info> info(bytes);
    info.set<"local_port_num">(local_port);
    info.set<"port_state">(static_cast<std::uint64_t>(state_));
    info.set<"port_physical_state">(static_cast<std::uint64_t>(physical_state()));
    // A link that is down or absent reports the slowest rate, because software expects a valid
    // value.
    const LinkRate rate = rate_.value_or(LinkRate{});
    info.set<"link_width_active">(port_info_widths(mask_of(rate.width)));
    info.set<"link_speed_active">(active_speed(rate.speed));
    info.set<"link_speed_ext_active">(port_info_extended_speeds(mask_of(rate.speed)));
    return bytes;
}

std::optional<PortInfoChanges> Port::set_port_info(std::span<const std::byte> wanted_bytes) {
    const Info wanted(wanted_bytes);
    const Info now(settings_);
    const bool has_lid = role_ != PortRole::switch_external;
    const bool has_link = role_ != PortRole::switch_management;
    if (has_lid && !lids_are_valid(wanted, now))
        return std::nullopt;
    const bool link_fields_are_valid = rates_are_valid(wanted, now) &&
                                       lanes_and_mtu_are_valid(wanted, now) &&
                                       states_are_valid(wanted, state_);
    if (has_link && !link_fields_are_valid)
        return std::nullopt;
    PortInfoChanges changes;
    apply(wanted, changes);
    return changes;
}

void Port::apply(hwtab::ConstView<hwtab::port_info> wanted, PortInfoChanges& changes) {
    if (role_ != PortRole::switch_external)
        take_management_fields(settings(), wanted, changes);
    if (role_ == PortRole::switch_management)
        return;
    take_link_fields(settings(), wanted);
    if (role_ == PortRole::switch_external)
        take_switch_fields(settings(), wanted);
    apply_rates(wanted, changes);
    apply_state(wanted);
}

void Port::apply_rates(hwtab::ConstView<hwtab::port_info> wanted, PortInfoChanges& changes) {
    const auto info = settings();
    changes.link_width_enabled = take_mask<"link_width_enabled">(
        info, wanted, all_widths, info.get<"link_width_supported">());
    changes.link_speed_enabled = take_mask<"link_speed_enabled">(
        info, wanted, all_speeds, info.get<"link_speed_supported">());
    changes.link_speed_enabled |= take_mask<"link_speed_ext_enabled">(
        info, wanted, all_extended_speeds, info.get<"link_speed_ext_supported">());
    if (wanted.get<"link_speed_ext_enabled">() == no_extended_speeds)
        info.set<"link_speed_ext_enabled">(0);
}

void Port::apply_state(hwtab::ConstView<hwtab::port_info> wanted) {
    switch (wanted.get<"port_physical_state">()) {
    case physical_sleep:
        return retrain(LinkOffer::Training::listening);
    case physical_polling:
        return retrain(LinkOffer::Training::polling);
    case physical_disabled:
        return retrain(LinkOffer::Training::off);
    default:
        break;
    }
    const auto state = wanted.get<"port_state">();
    if (state == static_cast<std::uint64_t>(PortState::down))
        retrain(default_training());
    else if (state != no_change)
        change_state(static_cast<PortState>(state));
}

} // namespace cxemu::fabric
