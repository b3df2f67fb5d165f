// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/transitions.hpp"

#include "hwtab/view.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/contexts.hpp"

#include <algorithm>
#include <array>

namespace cxemu::queues {

namespace {

template <hwtab::FixedString path>
consteval BitRange field() {
    constexpr hwtab::Target target = hwtab::locate(hwtab::qpc, path.view());
    static_assert(target.field != nullptr, "the context has no field of this name");
    return {target.offset, target.field->width * target.field->count};
}

template <hwtab::FixedString name>
inline constexpr std::uint64_t parameter = hwtab::value<hwtab::qp_optional_parameters, name>;

constexpr std::array optional_fields{
    OptionalField{parameter<"alt_addr_path">, field<"secondary_address_path">()},
    OptionalField{parameter<"rre">, field<"rre">()},
    OptionalField{parameter<"rae">, field<"rae">()},
    OptionalField{parameter<"rae">, field<"atomic_mode">()},
    OptionalField{parameter<"rwe">, field<"rwe">()},
    OptionalField{parameter<"pkey_index">, field<"primary_address_path.pkey_index">()},
    OptionalField{parameter<"q_key">, field<"q_key">()},
    OptionalField{parameter<"rnr_timeout">, field<"min_rnr_nak">()},
    OptionalField{parameter<"primary_addr_path">, field<"primary_address_path">()},
    OptionalField{parameter<"sra_max">, field<"log_sra_max">()},
    OptionalField{parameter<"rra_max">, field<"log_rra_max">()},
    OptionalField{parameter<"pm_state">, field<"pm_state">()},
    OptionalField{parameter<"init2init_drain_sigerr">, field<"drain_sigerr">()},
    OptionalField{parameter<"retry_count">, field<"retry_count">()},
    OptionalField{parameter<"rnr_retry">, field<"rnr_retry">()},
    OptionalField{parameter<"ack_timeout">, field<"primary_address_path.ack_timeout">()},
    OptionalField{parameter<"lag_tx_aff">, field<"lag_tx_port_affinity">()},
    OptionalField{parameter<"pri_port">, field<"primary_address_path.vhca_port_num">()},
    OptionalField{parameter<"counter_set_id">, field<"counter_set_id">()},
};

constexpr std::array rst2init_fields{
    field<"pm_state">(),
    field<"primary_address_path.pkey_index">(),
    field<"primary_address_path.vhca_port_num">(),
    field<"q_key">(),
    field<"rre">(),
    field<"rwe">(),
    field<"rae">(),
    field<"atomic_mode">(),
    field<"counter_set_id">(),
    field<"deth_sqpn">(),
    field<"rlky">(),
    field<"mtu">(),
    field<"log_msg_max">(),
    field<"lag_tx_port_affinity">(),
    field<"drain_sigerr">(),
};

/// The whole path except its port and P_Key, which RST2INIT sets.
constexpr std::array init2rtr_fields{
    field<"mtu">(),
    field<"log_msg_max">(),
    field<"remote_qpn">(),
    field<"next_rcv_psn">(),
    field<"log_rra_max">(),
    field<"min_rnr_nak">(),
    field<"log_ack_req_freq">(),
    field<"primary_address_path.fl">(),
    field<"primary_address_path.free_ar">(),
    field<"primary_address_path.grh">(),
    field<"primary_address_path.mlid">(),
    field<"primary_address_path.rlid">(),
    field<"primary_address_path.src_addr_index">(),
    field<"primary_address_path.stat_rate">(),
    field<"primary_address_path.hop_limit">(),
    field<"primary_address_path.tclass">(),
    field<"primary_address_path.flow_label">(),
    field<"primary_address_path.rgid_rip">(),
    field<"primary_address_path.sl">(),
};

constexpr std::array rtr2rts_fields{
    field<"next_send_psn">(),    field<"log_sra_max">(),
    field<"retry_count">(),      field<"rnr_retry">(),
    field<"log_ack_req_freq">(), field<"primary_address_path.ack_timeout">(),
};

constexpr std::uint64_t access = parameter<"rre"> | parameter<"rae"> | parameter<"rwe">;
constexpr std::uint64_t place =
    parameter<"pkey_index"> | parameter<"pri_port"> | parameter<"lag_tx_aff">;
constexpr std::uint64_t keys = parameter<"pkey_index"> | parameter<"q_key">;
constexpr std::uint64_t path = parameter<"alt_addr_path">;
constexpr std::uint64_t migration = path | parameter<"pm_state">;
constexpr std::uint64_t counters = parameter<"counter_set_id">;
constexpr std::uint64_t drain = parameter<"init2init_drain_sigerr">;
/// UD QPs may get a new SRQ and receive CQ in RTS.
constexpr std::uint64_t other_queues = parameter<"srqn"> | parameter<"cqn_rcv">;

constexpr std::array all_transitions{
    Transition{.command = &hwtab::cmd_rst2init_qp,
               .from = QueuePairState::reset,
               .to = QueuePairState::init,
               .required = rst2init_fields,
               .optional = {access | place | drain | counters, access | place | counters,
                            keys | place | counters, keys | place}},
    Transition{.command = &hwtab::cmd_init2init_qp,
               .from = QueuePairState::init,
               .to = QueuePairState::init,
               .required = {},
               .optional = {access | place | drain | counters, parameter<"rwe"> | place | counters,
                            keys | place | counters, keys | place}},
    Transition{.command = &hwtab::cmd_init2rtr_qp,
               .from = QueuePairState::init,
               .to = QueuePairState::ready_to_receive,
               .required = init2rtr_fields,
               .optional = {path | access | place, path | parameter<"rwe"> | place, keys | place,
                            keys | place}},
    Transition{.command = &hwtab::cmd_rtr2rts_qp,
               .from = QueuePairState::ready_to_receive,
               .to = QueuePairState::ready_to_send,
               .required = rtr2rts_fields,
               .optional = {migration | access | parameter<"rnr_timeout"> | counters,
                            migration | parameter<"rwe"> | counters, parameter<"q_key"> | counters,
                            parameter<"q_key">}},
    Transition{.command = &hwtab::cmd_rts2rts_qp,
               .from = QueuePairState::ready_to_send,
               .to = QueuePairState::ready_to_send,
               .required = {},
               .optional = {migration | access | parameter<"rnr_timeout"> | counters |
                                parameter<"lag_tx_aff">,
                            migration | parameter<"rwe"> | counters | parameter<"lag_tx_aff">,
                            parameter<"q_key"> | counters | other_queues, parameter<"q_key">}},
    Transition{.command = &hwtab::cmd_sqerr2rts_qp,
               .from = QueuePairState::send_queue_error,
               .to = QueuePairState::ready_to_send,
               .required = {},
               .optional = {access | parameter<"rnr_timeout">, parameter<"rwe">, parameter<"q_key">,
                            parameter<"q_key">}},
    Transition{.command = &hwtab::cmd_sqd2rts_qp,
               .from = QueuePairState::send_queue_drained,
               .to = QueuePairState::ready_to_send,
               .required = {},
               .optional = {migration | access | parameter<"rnr_timeout">,
                            migration | parameter<"rwe">, parameter<"q_key">, parameter<"q_key">}},
};

/// Copies any number of bits at any bit offset.
void copy_bits(BitRange range, std::span<const std::byte> input, std::span<std::byte> context) {
    constexpr std::uint32_t max = 32;
    while (range.width != 0) {
        const std::uint32_t width = std::min(range.width, max);
        hwtab::write_bits(context.data(), range.offset, width,
                          hwtab::read_bits(input.data(), range.offset, width));
        range.offset += width;
        range.width -= width;
    }
}

} // namespace

ServiceGroup group_of(ServiceType service) {
    switch (service) {
    case ServiceType::reliable_connection:
    case ServiceType::extended_reliable_connection:
    case ServiceType::dci:
        return ServiceGroup::reliable;
    case ServiceType::unreliable_connection:
        return ServiceGroup::unreliable;
    case ServiceType::unreliable_datagram:
    case ServiceType::subnet_management:
    case ServiceType::general_services:
        return ServiceGroup::datagram;
    case ServiceType::dct: // has commands of its own
    case ServiceType::reg_umr:
        break;
    }
    return ServiceGroup::registration;
}

std::span<const Transition> transitions() {
    return all_transitions;
}

const Transition* find_transition(std::uint16_t opcode) {
    const auto* found =
        std::ranges::find_if(all_transitions, [opcode](const Transition& transition) {
            return transition.command->opcode == opcode;
        });
    return found == all_transitions.end() ? nullptr : found;
}

void take_over(const Transition& transition, std::uint64_t mask, std::span<const std::byte> input,
               std::span<std::byte> context) {
    for (const BitRange& range : transition.required)
        copy_bits(range, input, context);
    for (const OptionalField& optional : optional_fields) {
        if ((mask & optional.mask) != 0)
            copy_bits(optional.bits, input, context);
    }
}

} // namespace cxemu::queues
