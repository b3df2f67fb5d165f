// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/mad.hpp"

#include "tables/packet_headers.hpp"

#include <algorithm>

namespace cxemu::fabric {
namespace {

constexpr auto ud_send_only =
    static_cast<std::uint8_t>(hwtab::value<hwtab::transport_opcode, "ud_send_only">);

/// In directed-route SMPs the direction bit replaces the highest bit of the status.
constexpr std::uint16_t direction_bit = 0x8000;

} // namespace

std::optional<Mad> mad_in(const ParsedPacket& packet) {
    if (packet.payload.size() != mad_size)
        return std::nullopt;
    Mad mad{};
    std::ranges::copy(packet.payload, mad.begin());
    return mad;
}

SmpReceiver receiver_of(const Mad& smp) {
    const bool is_sm_info =
        ConstMadHeader(smp).get<"attribute_id">() == hwtab::value<hwtab::smp_attribute, "sm_info">;
    switch (method_of(smp)) {
    case MadMethod::get:
    case MadMethod::set:
    case MadMethod::trap_repress:
        return is_sm_info ? SmpReceiver::manager : SmpReceiver::agent;
    default:
        return SmpReceiver::manager;
    }
}

void make_response(Mad& mad, MadStatus status) {
    const MadHeader header(mad);
    auto code = static_cast<std::uint16_t>(status);
    if (is_directed_route(mad))
        code |= direction_bit;
    header.set<"method">(static_cast<std::uint64_t>(MadMethod::get_response));
    header.set<"status">(code);
}

Packet subnet_management_packet(const Mad& mad, Lid source, Lid destination) {
    return build({.local = {.vl = management_vl, .dlid = destination, .slid = source},
                  .transport = {.opcode = ud_send_only, .destination_qp = subnet_management_qp},
                  .datagram = Deth{.q_key = 0, .source_qp = subnet_management_qp}},
                 mad);
}

Packet general_services_reply(const ParsedPacket& request, const Mad& mad, Lid source) {
    const PacketHeaders& in = request.headers;
    PacketHeaders out{
        .local = {.sl = in.local.sl, .dlid = in.local.slid, .slid = source},
        .transport = {.opcode = ud_send_only,
                      .p_key = in.transport.p_key,
                      .destination_qp = in.datagram ? in.datagram->source_qp : general_services_qp},
        .datagram = Deth{.q_key = general_services_q_key, .source_qp = general_services_qp}};
    if (in.global) {
        constexpr std::uint8_t hop_limit = 64;
        out.global = in.global;
        out.global->hop_limit = hop_limit;
        std::swap(out.global->source, out.global->destination);
    }
    return build(out, mad);
}

} // namespace cxemu::fabric
