// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// MADs as values, and the constants that the agents use.
#pragma once

#include "fabric/identifiers.hpp"
#include "fabric/packet.hpp"
#include "hwtab/view.hpp"
#include "tables/datagrams.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace cxemu::fabric {

inline constexpr std::size_t mad_size = 256;      ///< bytes
inline constexpr std::uint8_t response_time = 16; ///< of agents: 4.096 us << 16, 0.27 s
inline constexpr std::size_t smp_data_size = 64;  ///< bytes of an attribute of subnet management

using Mad = std::array<std::byte, mad_size>;
using MadHeader = hwtab::View<hwtab::mad_header>;
using ConstMadHeader = hwtab::ConstView<hwtab::mad_header>;
using Smp = hwtab::View<hwtab::smp_lid_routed>;
using ConstSmp = hwtab::ConstView<hwtab::smp_lid_routed>;
using DirectedSmp = hwtab::View<hwtab::smp_directed_route>;
using ConstDirectedSmp = hwtab::ConstView<hwtab::smp_directed_route>;

/// Status of a response: hwtab::mad_status.
enum class MadStatus : std::uint8_t {
    ok = 0x0000,
    bad_version = 0x0004,
    unsupported_method = 0x0008,
    unsupported_attribute = 0x000c, ///< unsupported method/attribute combination
    invalid_field = 0x001c,         ///< invalid attribute or attribute modifier
};

/// hwtab::mad_method
enum class MadMethod : std::uint8_t {
    get = 0x01,
    set = 0x02,
    trap = 0x05,
    report = 0x06,
    trap_repress = 0x07,
    get_table = 0x12,
    remove = 0x15, ///< hwtab's "delete", a keyword here
    get_response = 0x81,
    report_response = 0x86,
};

[[nodiscard]] inline MadMethod method_of(const Mad& mad) {
    return static_cast<MadMethod>(ConstMadHeader{mad}.get<"method">());
}
[[nodiscard]] inline std::uint8_t class_of(const Mad& mad) {
    return static_cast<std::uint8_t>(ConstMadHeader{mad}.get<"mgmt_class">());
}
[[nodiscard]] inline bool is_directed_route(const Mad& mad) {
    return class_of(mad) == hwtab::value<hwtab::mgmt_class, "subn_directed_route">;
}
[[nodiscard]] inline bool is_subnet_management(const Mad& mad) {
    return is_directed_route(mad) ||
           class_of(mad) == hwtab::value<hwtab::mgmt_class, "subn_lid_routed">;
}

/// The MAD in a packet to QP0 or QP1. \return nothing when the payload isn't 256 bytes long
std::optional<Mad> mad_in(const ParsedPacket& packet);

/// The receiver of a MAD to QP0.
enum class SmpReceiver : std::uint8_t {
    agent,   ///< the subnet management agent: Get, Set, TrapRepress
    manager, ///< a subnet manager: responses, traps, SMInfo
};
SmpReceiver receiver_of(const Mad& smp);

/// Turns a request into its response with \p status; the data is kept.
void make_response(Mad& mad, MadStatus status);

/// A packet with a MAD from QP0 to QP0.
Packet subnet_management_packet(const Mad& mad, Lid source, Lid destination);

/// The response packet to \p request (to QP1) with \p mad: source and destination swapped, with a
/// GRH if the request has one. \param source LID of the responding port
Packet general_services_reply(const ParsedPacket& request, const Mad& mad, Lid source);

} // namespace cxemu::fabric
