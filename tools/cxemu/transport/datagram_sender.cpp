// SPDX-License-Identifier: GPL-2.0-or-later
#include "transport/datagram_sender.hpp"

#include "hwtab/view.hpp"
#include "tables/packet_headers.hpp"

#include <algorithm>

namespace cxemu::transport {

namespace {

using queues::QueuePair;
using queues::SendOpcode;
using queues::SendWqe;
using queues::ServiceType;

constexpr std::uint32_t psn_mask = 0xff'ffff;
/// A Q_Key with this bit in a WQE selects the Q_Key of the QP.
constexpr std::uint32_t controlled_q_key = 0x8000'0000;

bool is_subnet_management(const QueuePair& queue_pair) {
    return queue_pair.service() == ServiceType::subnet_management;
}

/// Subnet management packets may be sent before the port has a LID.
fabric::Lid source_lid(const QueuePair& queue_pair, const queues::AddressVector& address,
                       const fabric::HcaPort& port) {
    if (is_subnet_management(queue_pair) &&
        (address.remote_lid == fabric::permissive_lid || port.lid() == fabric::unassigned_lid))
        return fabric::permissive_lid;
    const auto path_mask = static_cast<fabric::Lid>((1U << port.lmc()) - 1);
    return port.lid() | (address.path_bits & path_mask);
}

bool is_possible_destination(const QueuePair& queue_pair, fabric::Lid lid) {
    return lid != fabric::unassigned_lid &&
           (lid != fabric::permissive_lid || is_subnet_management(queue_pair));
}

std::expected<std::uint16_t, SendFault> partition_key(const QueuePair& queue_pair,
                                                      const fabric::HcaPort& port) {
    if (is_subnet_management(queue_pair))
        return fabric::default_p_key;
    const auto index = queue_pair.context().get<"primary_address_path.pkey_index">();
    if (index >= port.p_keys().size())
        return std::unexpected(SendFault::bad_partition_index);
    return port.p_keys()[index];
}

std::uint32_t queue_key(const QueuePair& queue_pair, const queues::AddressVector& address) {
    if ((address.queue_key & controlled_q_key) == 0)
        return address.queue_key;
    return static_cast<std::uint32_t>(queue_pair.context().get<"q_key">());
}

/// The source QPN on the wire.
std::uint32_t source_qp(const QueuePair& queue_pair) {
    if (is_subnet_management(queue_pair))
        return fabric::subnet_management_qp;
    if (queue_pair.service() == ServiceType::general_services)
        return fabric::general_services_qp;
    const auto stand_in = static_cast<std::uint32_t>(queue_pair.context().get<"deth_sqpn">());
    return stand_in != 0 ? stand_in : queue_pair.number();
}

fabric::Grh global_route(const queues::AddressVector& address, const fabric::HcaPort& port) {
    return {.traffic_class = address.traffic_class,
            .flow_label = address.flow_label,
            .hop_limit = address.hop_limit,
            .source = port.gid(address.source_gid_index),
            .destination = fabric::Gid(address.remote_gid)};
}

std::expected<void, SendFault> check(const QueuePair& queue_pair, const SendWqe& request,
                                     const fabric::HcaPort& port) {
    if (request.opcode != SendOpcode::send && request.opcode != SendOpcode::send_immediate)
        return std::unexpected(SendFault::unsupported_operation);
    if (!request.address)
        return std::unexpected(SendFault::no_address);
    if (!is_possible_destination(queue_pair, request.address->remote_lid))
        return std::unexpected(SendFault::bad_destination);
    if (request.address->has_grh && request.address->source_gid_index >= port.gid_count())
        return std::unexpected(SendFault::bad_source_gid_index);
    return {};
}

} // namespace

std::string_view describe(SendFault fault) {
    switch (fault) {
    case SendFault::no_such_port:
        return "the device has no such port";
    case SendFault::unsupported_operation:
        return "operation unsupported by datagram QPs";
    case SendFault::no_address:
        return "no address vector";
    case SendFault::bad_destination:
        return "an invalid destination LID";
    case SendFault::bad_partition_index:
        return "P_Key index beyond the table of the port";
    case SendFault::bad_source_gid_index:
        return "source GID index beyond the table of the port";
    case SendFault::message_too_long:
        return "longer than the path MTU";
    case SendFault::unreadable_data:
        return "data that the mkey doesn't allow to read";
    case SendFault::absent_data:
        return "data in a page that isn't present";
    }
    return "unknown";
}

queues::CompletionError completion_error(SendFault fault) {
    switch (fault) {
    case SendFault::message_too_long:
        return queues::CompletionError::local_length;
    case SendFault::unreadable_data:
    case SendFault::absent_data:
        return queues::CompletionError::local_protection;
    default:
        return queues::CompletionError::local_operation;
    }
}

std::size_t longest_datagram(const QueuePair& queue_pair, const fabric::HcaPort& port) {
    constexpr std::size_t smallest_mtu = 128; // code 1 is 256 bytes
    const auto code = queue_pair.context().get<"mtu">();
    const std::size_t path = code == 0 ? fabric::max_payload : smallest_mtu << code;
    return std::min(path, port.mtu());
}

std::expected<fabric::PacketHeaders, SendFault>
datagram_headers(const QueuePair& queue_pair, const SendWqe& request, const fabric::HcaPort& port) {
    if (const auto good = check(queue_pair, request, port); !good)
        return std::unexpected(good.error());
    const auto p_key = partition_key(queue_pair, port);
    if (!p_key)
        return std::unexpected(p_key.error());

    const queues::AddressVector& address = *request.address;
    fabric::PacketHeaders headers;
    headers.local = {.vl =
                         is_subnet_management(queue_pair) ? fabric::management_vl : std::uint8_t{},
                     .sl = address.service_level,
                     .dlid = address.remote_lid,
                     .slid = source_lid(queue_pair, address, port)};
    if (address.has_grh)
        headers.global = global_route(address, port);
    headers.transport = {
        .opcode = hwtab::value<hwtab::transport_opcode, "ud_send_only">,
        .solicited_event = request.solicited,
        .p_key = *p_key,
        .destination_qp = address.destination_qp,
        .psn = static_cast<std::uint32_t>(queue_pair.context().get<"next_send_psn">())};
    headers.datagram =
        fabric::Deth{.q_key = queue_key(queue_pair, address), .source_qp = source_qp(queue_pair)};
    if (request.opcode == SendOpcode::send_immediate) {
        headers.transport.opcode =
            hwtab::value<hwtab::transport_opcode, "ud_send_only_with_immediate">;
        headers.immediate = request.immediate;
    }
    return headers;
}

std::expected<Datagram, SendFault> make_datagram(QueuePair& queue_pair, const SendWqe& request,
                                                 const fabric::HcaPort& port) {
    auto headers = datagram_headers(queue_pair, request, port);
    if (!headers)
        return std::unexpected(headers.error());
    if (request.length > longest_datagram(queue_pair, port))
        return std::unexpected(SendFault::message_too_long);
    std::vector<std::byte> payload(request.length);
    if (const auto data = queue_pair.gather(request, 0, payload); !data)
        return std::unexpected(data.error() == memory::AccessFault::page_absent
                                   ? SendFault::absent_data
                                   : SendFault::unreadable_data);
    queue_pair.context().set<"next_send_psn">((headers->transport.psn + 1) & psn_mask);
    return Datagram{.headers = *std::move(headers), .payload = std::move(payload)};
}

} // namespace cxemu::transport
