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

/// Status of a response.
enum class MadStatus : std::uint8_t {
    ok = hwtab::value<hwtab::mad_status, "success">,
    bad_version = hwtab::value<hwtab::mad_status, "bad_version">,
    unsupported_method = hwtab::value<hwtab::mad_status, "unsupported_method">,
    unsupported_attribute = hwtab::value<hwtab::mad_status, "unsupported_method_attrib">,
    invalid_field =
        hwtab::value<hwtab::mad_status, "invalid_attrib_value">, ///< or an invalid modifier
};

enum class MadMethod : std::uint8_t {
    get = hwtab::value<hwtab::mad_method, "get">,
    set = hwtab::value<hwtab::mad_method, "set">,
    trap = hwtab::value<hwtab::mad_method, "trap">,
    report = hwtab::value<hwtab::mad_method, "report">,
    trap_repress = hwtab::value<hwtab::mad_method, "trap_repress">,
    get_table = hwtab::value<hwtab::mad_method, "get_table">,
    remove = hwtab::value<hwtab::mad_method, "delete">, ///< "delete" is a keyword of C++
    get_response = hwtab::value<hwtab::mad_method, "get_resp">,
    report_response = hwtab::value<hwtab::mad_method, "report_resp">,
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

/// Turns a request into its response with \p status; the data does not change.
void make_response(Mad& mad, MadStatus status);

/// A packet with a MAD from QP0 to QP0.
Packet subnet_management_packet(const Mad& mad, Lid source, Lid destination);

/// The response packet to \p request (to QP1) with \p mad: source and destination swapped, with a
/// GRH if the request has one. \param source LID of the responding port
Packet general_services_reply(const ParsedPacket& request, const Mad& mad, Lid source);

} // namespace cxemu::fabric
