// SPDX-License-Identifier: GPL-2.0-or-later
//
// Counters of ports and of QPs.
#include "commands/port.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/queue_counters.hpp"
#include "queues/queue_pair.hpp"
#include "tables/commands_port.hpp"

#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::QueueCounterSet;
using queues::QueueCounts;

void write(hwtab::View<hwtab::traffic_counter> out, std::uint64_t packets, std::uint64_t octets) {
    out.set<"packets">(packets);
    out.set<"octets">(octets);
}

CommandResult query_vport_counter(CommandContext& context) {
    const auto in = context.in<hwtab::query_vport_counter_in>();
    if (in.get<"other_vport">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "other_vport is set, but the function doesn't manage the ports of "
                            "others");
    const auto found = find_port(context, in.get<"port_num">(), true);
    if (!found)
        return found.error();
    const fabric::TrafficCounters traffic = (*found)->traffic();
    const auto out = context.out<hwtab::query_vport_counter_out>();
    using hwtab::traffic_counter;
    write(out.nested<"received_errors", traffic_counter>(), traffic.received_errors, 0);
    write(out.nested<"transmit_errors", traffic_counter>(), traffic.transmit_errors, 0);
    write(out.nested<"received_ib_unicast", traffic_counter>(), traffic.unicast_received.packets,
          traffic.unicast_received.bytes);
    write(out.nested<"transmitted_ib_unicast", traffic_counter>(),
          traffic.unicast_transmitted.packets, traffic.unicast_transmitted.bytes);
    write(out.nested<"received_ib_multicast", traffic_counter>(),
          traffic.multicast_received.packets, traffic.multicast_received.bytes);
    write(out.nested<"transmitted_ib_multicast", traffic_counter>(),
          traffic.multicast_transmitted.packets, traffic.multicast_transmitted.bytes);
    write(out.nested<"local_loopback", traffic_counter>(), traffic.loopback.packets,
          traffic.loopback.bytes);
    if (in.get<"clear">() != 0)
        (*found)->clear_traffic();
    return CommandResult::ok();
}

CommandResult query_vnic_env(CommandContext& context) {
    if (context.in<hwtab::query_vnic_env_in>().get<"other_vport">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "other_vport is set, but the function doesn't manage the ports of "
                            "others");
    std::uint32_t in_error = 0;
    context.objects().of<queues::QueuePair>().for_each([&](const queues::QueuePair& queue_pair) {
        in_error += queue_pair.state() == queues::QueuePairState::error ? 1 : 0;
    });
    const auto out = context.out<hwtab::query_vnic_env_out>()
                         .nested<"vport_env", hwtab::vnic_diagnostic_statistics>();
    out.set<"total_error_queues">(in_error);
    std::uint64_t discards = 0;
    for (std::uint32_t number = 1; number <= context.hca.port_count(); ++number)
        discards += context.hca.port(number)->counters().transmit_discards;
    out.set<"transmit_discard_vport_down">(discards);
    return CommandResult::ok();
}

CommandResult alloc_q_counter(CommandContext& context) {
    const auto created = context.objects().of<QueueCounterSet>().create(context.uid);
    if (!created)
        return context.refuse(created.error(), QueueCounterSet::kind, 0);
    context.out<hwtab::alloc_q_counter_out>().set<"counter_set_id">((*created)->number());
    return CommandResult::ok();
}

CommandResult dealloc_q_counter(CommandContext& context) {
    const auto number = context.in<hwtab::dealloc_q_counter_in>().get<"counter_set_id">();
    return context.destroy<QueueCounterSet>(static_cast<std::uint32_t>(number));
}

using QueryOut = hwtab::View<hwtab::query_q_counter_out>;

void write_flow(QueryOut out, const QueueCounts& counts) {
    out.set<"rx_write_requests">(counts.rx_write_requests);
    out.set<"rx_read_requests">(counts.rx_read_requests);
    out.set<"rx_atomic_requests">(counts.rx_atomic_requests);
    out.set<"rx_dct_connect">(counts.rx_dct_connect);
    out.set<"out_of_buffer">(counts.out_of_buffer);
    out.set<"out_of_sequence">(counts.out_of_sequence);
    out.set<"duplicate_request">(counts.duplicate_request);
    out.set<"rnr_nak_retry_err">(counts.rnr_nak_retry_err);
    out.set<"packet_seq_err">(counts.packet_seq_err);
    out.set<"implied_nak_seq_err">(counts.implied_nak_seq_err);
    out.set<"local_ack_timeout_err">(counts.local_ack_timeout_err);
    out.set<"req_rnr_retries_exceeded">(counts.req_rnr_retries_exceeded);
    out.set<"cq_overflow">(counts.cq_overflow);
}

void write_errors(QueryOut out, const QueueCounts& counts) {
    out.set<"resp_local_length_error">(counts.resp_local_length_error);
    out.set<"req_local_length_error">(counts.req_local_length_error);
    out.set<"resp_local_qp_error">(counts.resp_local_qp_error);
    out.set<"local_operation_error">(counts.local_operation_error);
    out.set<"resp_local_protection">(counts.resp_local_protection);
    out.set<"req_local_protection">(counts.req_local_protection);
    out.set<"resp_cqe_error">(counts.resp_cqe_error);
    out.set<"req_cqe_error">(counts.req_cqe_error);
    out.set<"req_mw_binding">(counts.req_mw_binding);
    out.set<"req_bad_response">(counts.req_bad_response);
    out.set<"req_remote_invalid_request">(counts.req_remote_invalid_request);
    out.set<"resp_remote_invalid_request">(counts.resp_remote_invalid_request);
    out.set<"req_remote_access_errors">(counts.req_remote_access_errors);
    out.set<"resp_remote_access_errors">(counts.resp_remote_access_errors);
    out.set<"req_remote_operation_errors">(counts.req_remote_operation_errors);
    out.set<"req_transport_retries_exceeded">(counts.req_transport_retries_exceeded);
    out.set<"resp_cqe_flush_error">(counts.resp_cqe_flush_error);
    out.set<"req_cqe_flush_error">(counts.req_cqe_flush_error);
}

CommandResult query_q_counter(CommandContext& context) {
    const auto in = context.in<hwtab::query_q_counter_in>();
    if (in.get<"other_vport">() != 0 || in.get<"aggregate">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "counters of other ports and sums over sets are not supported");
    const auto found =
        context.find<QueueCounterSet>(static_cast<std::uint32_t>(in.get<"counter_set_id">()));
    if (!found)
        return found.error();
    const auto out = context.out<hwtab::query_q_counter_out>();
    write_flow(out, (*found)->counts);
    write_errors(out, (*found)->counts);
    if (in.get<"clear">() != 0)
        (*found)->counts = {};
    return CommandResult::ok();
}

constexpr std::array counter_entries{
    CommandEntry{&hwtab::cmd_query_vport_counter, query_vport_counter},
    CommandEntry{&hwtab::cmd_query_vnic_env, query_vnic_env},
    CommandEntry{&hwtab::cmd_alloc_q_counter, alloc_q_counter},
    CommandEntry{&hwtab::cmd_dealloc_q_counter, dealloc_q_counter},
    CommandEntry{&hwtab::cmd_query_q_counter, query_q_counter},
};

} // namespace

std::span<const CommandEntry> counter_commands() {
    return counter_entries;
}

} // namespace cxemu::commands
