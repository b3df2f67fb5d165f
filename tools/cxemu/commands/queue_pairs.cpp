// SPDX-License-Identifier: GPL-2.0-or-later
//
// QPs.
#include "base/byte_order.hpp"
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "queues/queue_pair.hpp"
#include "queues/transitions.hpp"
#include "queues/work_queues.hpp"
#include "tables/command_header.hpp"
#include "tables/commands_queue_pairs.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cxemu::commands {

namespace {

using namespace hca;
using queues::CompletionQueue;
using queues::QueueCounterSet;
using queues::QueuePair;
using queues::QueuePairResources;
using queues::QueuePairState;
using queues::ReceiveSource;
using queues::ServiceType;
using queues::SharedReceiveQueue;
using queues::Transition;
using Qpc = hwtab::ConstView<hwtab::qpc>;

// --- CREATE_QP -----------------------------------------------------------------------------------

std::optional<ServiceType> known_service(std::uint64_t number) {
    const auto service = static_cast<ServiceType>(number);
    switch (service) {
    case ServiceType::reliable_connection:
    case ServiceType::unreliable_connection:
    case ServiceType::unreliable_datagram:
    case ServiceType::extended_reliable_connection:
    case ServiceType::dci:
    case ServiceType::subnet_management:
    case ServiceType::general_services:
    case ServiceType::reg_umr:
        return service;
    case ServiceType::dct: // created by CREATE_DCT
        break;
    }
    return std::nullopt;
}

ReceiveSource receive_source(Qpc fields) {
    return static_cast<ReceiveSource>(fields.get<"rq_type">());
}

bool has_send_queue(Qpc fields) {
    return fields.get<"no_sq">() == 0;
}

CommandResult check_geometry(CommandContext& context, Qpc fields) {
    const auto limit = context.hca.capabilities().current<"log_max_qp_sz">();
    if (receive_source(fields) == ReceiveSource::own_queue) {
        if (const auto checked =
                check_limit(context, "log_rq_size", fields.get<"log_rq_size">(), limit);
            !checked)
            return checked;
    }
    return check_limit(context, "log_sq_size", fields.get<"log_sq_size">(), limit);
}

CommandResult check_send_record(CommandContext& context, Qpc fields) {
    using hwtab::qp_send_dbr_mode;
    const auto mode = fields.get<"send_dbr_mode">();
    if (mode == hwtab::value<qp_send_dbr_mode, "dbr_valid">)
        return CommandResult::ok();
    if (mode != hwtab::value<qp_send_dbr_mode, "no_dbr_ext"> ||
        context.hca.capabilities().general_2<"send_dbr_mode_no_dbr_ext">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "send_dbr_mode {} is not supported", mode);
    return check_limit(context, "log_sq_size", fields.get<"log_sq_size">(),
                       context.hca.capabilities().general_2<"log_max_send_dbr_less_qp_sq">());
}

CommandResult check_streams(CommandContext& context, Qpc fields) {
    if (static_cast<ServiceType>(fields.get<"st">()) != ServiceType::dci)
        return CommandResult::ok();
    const auto& capabilities = context.hca.capabilities();
    if (capabilities.current<"dct">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device has no dynamically connected transport");
    if (const auto checked = check_limit(context, "log_num_dci_stream_channels",
                                         fields.get<"log_num_dci_stream_channels">(),
                                         capabilities.current<"log_max_dci_stream_channels">());
        !checked)
        return checked;
    return check_limit(context, "log_num_dci_errored_streams",
                       fields.get<"log_num_dci_errored_streams">(),
                       capabilities.current<"log_max_dci_errored_streams">());
}

CommandResult check_stand_in(CommandContext& context, Qpc fields) {
    if (fields.get<"deth_sqpn">() == 0 ||
        context.hca.capabilities().current<"set_deth_sqpn">() != 0)
        return CommandResult::ok();
    return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                        "deth_sqpn {}: the capability set_deth_sqpn is 0",
                        fields.get<"deth_sqpn">());
}

CommandResult check_retry_mode(CommandContext& context, Qpc fields) {
    const auto mode = fields.get<"retry_mode">();
    if (mode == 0 || (mode == hwtab::value<hwtab::qp_retry_mode, "go_back_n"> &&
                      context.hca.capabilities().current<"go_back_n">() != 0))
        return CommandResult::ok();
    return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                        "retry_mode {} is not supported", mode);
}

CommandResult check_fields(CommandContext& context, Qpc fields) {
    if (!known_service(fields.get<"st">()))
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_service_type,
                            "service type {} ({}) is not supported", fields.get<"st">(),
                            hwtab::name_of(hwtab::qp_service_type, fields.get<"st">()));
    const auto source = receive_source(fields);
    if (source != ReceiveSource::own_queue && source != ReceiveSource::shared_queue &&
        source != ReceiveSource::none)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "rq_type {} is not supported", fields.get<"rq_type">());
    if (const auto checked = check_send_record(context, fields); !checked)
        return checked;
    if (const auto checked = check_streams(context, fields); !checked)
        return checked;
    if (const auto checked = check_retry_mode(context, fields); !checked)
        return checked;
    if (const auto checked = check_stand_in(context, fields); !checked)
        return checked;
    return check_geometry(context, fields);
}

CommandResult find_queues(CommandContext& context, Qpc fields, QueuePairResources& found) {
    if (has_send_queue(fields)) {
        if (const auto result = store(refer_to<CompletionQueue>(context, fields.get<"cqn_snd">()),
                                      found.send_completions);
            !result)
            return result;
        if (const auto result = store(refer_to<Uar>(context, fields.get<"uar_page">()), found.uar);
            !result)
            return result;
    }
    if (receive_source(fields) != ReceiveSource::none) {
        if (const auto result = store(refer_to<CompletionQueue>(context, fields.get<"cqn_rcv">()),
                                      found.receive_completions);
            !result)
            return result;
    }
    if (receive_source(fields) == ReceiveSource::shared_queue)
        return store(refer_to_shared_receive(context, fields.get<"srqn_rmpn_xrqn">()),
                     found.shared_receive);
    return CommandResult::ok();
}

CommandResult find_domains(CommandContext& context, Qpc fields, QueuePairResources& found) {
    const auto service = static_cast<ServiceType>(fields.get<"st">());
    // A REG_UMR QP registers memory of all PDs and has no PD itself, so drivers leave the field 0.
    if (service == ServiceType::reg_umr && fields.get<"pd">() == 0)
        return CommandResult::ok();
    if (const auto result =
            store(refer_to<ProtectionDomain>(context, fields.get<"pd">()), found.domain);
        !result)
        return result;
    if (service != ServiceType::extended_reliable_connection)
        return CommandResult::ok();
    return store(refer_to<XrcDomain>(context, fields.get<"xrcd">()), found.xrc_domain);
}

CommandResult find_doorbells(CommandContext& context, Qpc fields, QueuePairResources& found) {
    auto record = find_record(context, {.registered = fields.get<"dbr_umem_valid">() != 0,
                                        .memory = fields.get<"dbr_umem_id">(),
                                        .address = fields.get<"dbr_addr">()});
    if (!record)
        return record.error();
    found.doorbell_record = record->address;
    found.record_memory = std::move(record->memory);
    return CommandResult::ok();
}

CommandResult find_buffer(CommandContext& context, Qpc fields, QueuePairResources& found) {
    const auto in = context.in<hwtab::create_qp_in>();
    const std::uint64_t size = queues::queue_buffer_size(fields);
    if (size == 0)
        return CommandResult::ok();
    std::expected<memory::HostBuffer, CommandResult> buffer;
    if (in.get<"wq_umem_valid">() != 0) {
        if (const auto result =
                store(refer_to<UserMemory>(context, in.get<"wq_umem_id">()), found.buffer_memory);
            !result)
            return result;
        buffer = registered_buffer(context, *found.buffer_memory, in.get<"wq_umem_offset">(), size);
    } else {
        buffer = listed_buffer(context,
                               {.log_page_size = fields.get<"log_page_size">(),
                                .page_offset = fields.get<"page_offset">(),
                                .size = size},
                               in.bytes<"pas">());
    }
    if (!buffer)
        return buffer.error();
    found.buffer = *std::move(buffer);
    return CommandResult::ok();
}

CommandResult create_qp(CommandContext& context) {
    const auto in = context.in<hwtab::create_qp_in>();
    const auto fields = in.nested<"qpc", hwtab::qpc>();
    if (in.get<"input_qpn">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "input_qpn {:#x}: numbers can't be chosen", in.get<"input_qpn">());
    QueuePairResources resources;
    for (const auto result :
         {check_fields(context, fields), find_domains(context, fields, resources)}) {
        if (!result)
            return result;
    }
    if (const auto result = find_queues(context, fields, resources); !result)
        return result;
    if (const auto result = find_doorbells(context, fields, resources); !result)
        return result;
    if (const auto result = find_buffer(context, fields, resources); !result)
        return result;
    const auto created = context.objects().of<QueuePair>().create(
        context.uid, context.hca.part<queues::WorkQueues>(), fields.memory(), std::move(resources));
    if (!created)
        return context.refuse(created.error(), QueuePair::kind, 0);
    context.out<hwtab::create_qp_out>().set<"qpn">((*created)->number());
    return CommandResult::ok();
}

// --- Transitions ---------------------------------------------------------------------------------

CommandResult wrong_state(CommandContext& context, const QueuePair& queue_pair) {
    return context.fail(CommandStatus::bad_qp_state, Syndrome::bad_transition,
                        "queue pair {:#x} is in state {}", queue_pair.number(),
                        queues::name_of(queue_pair.state()));
}

CommandResult check_mask(CommandContext& context, const Transition& transition,
                         const QueuePair& queue_pair, std::uint64_t mask) {
    const auto allowed =
        transition.optional[static_cast<std::size_t>(queues::group_of(queue_pair.service()))];
    if ((mask & ~allowed) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_optional_mask,
                            "opt_param_mask {:#x} has bits beyond {:#x}", mask, allowed);
    return CommandResult::ok();
}

/// Range checks of the new context.
CommandResult check_context(CommandContext& context, const Transition& transition,
                            const QueuePair& queue_pair, Qpc fields) {
    constexpr std::uint64_t largest_mtu = hwtab::value<hwtab::qp_mtu, "4k_bytes">;
    const auto port = fields.get<"primary_address_path.vhca_port_num">();
    if (queue_pair.service() != ServiceType::reg_umr &&
        (port == 0 || port > context.hca.settings().ports))
        return context.fail(CommandStatus::bad_parameter, Syndrome::wrong_port,
                            "vhca_port_num {} is not between 1 and {}", port,
                            context.hca.settings().ports);
    // A datagram QP has no path MTU: iPXE's golan sets none for UD QPs and special QPs.
    const auto mtu = fields.get<"mtu">();
    const bool needs_mtu = queues::group_of(queue_pair.service()) != queues::ServiceGroup::datagram;
    if (transition.to == QueuePairState::ready_to_receive &&
        ((mtu == 0 && needs_mtu) || mtu > largest_mtu))
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "mtu {} is not between 1 and {}", mtu, largest_mtu);
    return check_limit(context, "log_msg_max", fields.get<"log_msg_max">(),
                       context.hca.capabilities().current<"log_max_msg">());
}

/// The path of a connection must name a port, because all public drivers set it again, although
/// RST2INIT has already set the port of the QP. A DCI has no path.
CommandResult check_port_of_path(CommandContext& context, const Transition& transition,
                                 const QueuePair& queue_pair, Qpc input) {
    const auto group = queues::group_of(queue_pair.service());
    const bool has_path =
        group == queues::ServiceGroup::unreliable ||
        (group == queues::ServiceGroup::reliable && queue_pair.service() != ServiceType::dci);
    const auto port = input.get<"primary_address_path.vhca_port_num">();
    const auto ports = context.hca.settings().ports;
    if (transition.command != &hwtab::cmd_init2rtr_qp || !has_path || (port != 0 && port <= ports))
        return CommandResult::ok();
    return context.fail(CommandStatus::bad_parameter, Syndrome::wrong_port,
                        "vhca_port_num {} of the path is not between 1 and {}", port, ports);
}

/// The counter set in the context, empty for 0.
std::expected<std::shared_ptr<QueueCounterSet>, CommandResult>
find_counters(CommandContext& context, Qpc fields) {
    const auto number = static_cast<std::uint32_t>(fields.get<"counter_set_id">());
    if (number == 0)
        return nullptr;
    const auto found = context.find_shared<QueueCounterSet>(number);
    if (!found)
        return std::unexpected(found.error());
    return std::static_pointer_cast<QueueCounterSet>((*found)->shared_from_this());
}

/// INIT2INIT and RTS2RTS may carry opt_param_mask_95_32 and an extension of the context behind the
/// qpc. Offsets in the input:
struct Extension {
    static constexpr std::size_t mask = 0x108; ///< 8 bytes
    static constexpr std::size_t fields = 0x110;
    static constexpr std::size_t size = 0xc0;
    static constexpr std::size_t stream = fields + 2;          ///< 2 bytes
    static constexpr std::size_t requester_group = fields + 4; ///< 4 bytes
    static constexpr std::size_t responder_group = fields + 8; ///< 4 bytes
    static constexpr std::uint64_t stream_bit = 1;             ///< of the mask
    static constexpr std::uint64_t groups_bit = 2;
};

/// Resets an errored stream of a DCI.
CommandResult forgive_stream(CommandContext& context, QueuePair& queue_pair) {
    const auto stream = load_be<std::uint16_t>(context.input.subspan(Extension::stream));
    if (!queue_pair.streams().forgive(stream))
        return context.fail(CommandStatus::bad_resource_state, Syndrome::wrong_object_state,
                            "stream {} of queue pair {:#x} has not failed", stream,
                            queue_pair.number());
    return CommandResult::ok();
}

/// The scheduling group in the input, empty for 0.
std::expected<Reference<SchedulingElement>, CommandResult> find_group(CommandContext& context,
                                                                      std::size_t offset) {
    const auto number = load_be<std::uint32_t>(context.input.subspan(offset));
    if (number == 0)
        return Reference<SchedulingElement>();
    auto group = refer_to<SchedulingElement>(context, number);
    if (group && (*group)->type() != SchedulingElement::Type::group)
        return std::unexpected(
            context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                         "scheduling element {:#x} is no group of queue pairs", number));
    return group;
}

/// Moves the QP to other scheduling groups, one for its requester and one for its responder.
CommandResult replace_groups(CommandContext& context, QueuePair& queue_pair) {
    const bool has_responder = queue_pair.service() != ServiceType::unreliable_connection &&
                               queue_pair.service() != ServiceType::unreliable_datagram;
    auto requester = find_group(context, Extension::requester_group);
    if (!requester)
        return requester.error();
    auto responder = find_group(context, Extension::responder_group);
    if (!responder)
        return responder.error();
    if (*responder && !has_responder)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "queue pair {:#x} has no responder for a scheduling group",
                            queue_pair.number());
    queue_pair.replace_groups(
        {.requester = *std::move(requester), .responder = *std::move(responder)});
    return CommandResult::ok();
}

/// Applies the extension of the context, if the input has one.
CommandResult apply_extension(CommandContext& context, const Transition& transition,
                              QueuePair& queue_pair) {
    constexpr std::byte extended{0x80}; ///< bit 31 of the word with the number
    constexpr std::size_t number = 0x8;
    const bool can_be = transition.command == &hwtab::cmd_init2init_qp ||
                        transition.command == &hwtab::cmd_rts2rts_qp;
    if (!can_be || (context.input[number] & extended) == std::byte{})
        return CommandResult::ok();
    if (context.input.size() < Extension::fields + Extension::size)
        return context.fail(CommandStatus::bad_input_length, Syndrome::input_too_short,
                            "{} bytes have no room for the extension", context.input.size());
    const auto mask = load_be<std::uint64_t>(context.input.subspan(Extension::mask));
    const bool has_groups = context.hca.capabilities().current<"qos">() != 0;
    if (mask == 0)
        return CommandResult::ok();
    if (mask == Extension::stream_bit && queue_pair.streams().exist())
        return forgive_stream(context, queue_pair);
    if (mask == Extension::groups_bit && has_groups)
        return replace_groups(context, queue_pair);
    return context.fail(CommandStatus::bad_parameter, Syndrome::bad_optional_mask,
                        "opt_param_mask_95_32 {:#x} is not supported for queue pair {:#x}", mask,
                        queue_pair.number());
}

/// New SRQ and receive CQ of a QP (RTS2RTS).
struct OtherQueues {
    Reference<CompletionQueue> completions;
    Reference<SharedReceiveQueue> shared;
};

std::expected<OtherQueues, CommandResult> find_other_queues(CommandContext& context,
                                                            const QueuePair& queue_pair,
                                                            std::uint64_t mask, Qpc input) {
    OtherQueues found;
    if ((mask & hwtab::value<hwtab::qp_optional_parameters, "cqn_rcv">) != 0) {
        if (queue_pair.receive_completions() == nullptr)
            return std::unexpected(
                context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                             "queue pair {:#x} receives nothing", queue_pair.number()));
        if (const auto result = store(refer_to<CompletionQueue>(context, input.get<"cqn_rcv">()),
                                      found.completions);
            !result)
            return std::unexpected(result);
    }
    if ((mask & hwtab::value<hwtab::qp_optional_parameters, "srqn">) != 0) {
        if (queue_pair.shared_receive() == nullptr)
            return std::unexpected(
                context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                             "queue pair {:#x} has no shared receive queue to be replaced",
                             queue_pair.number()));
        if (const auto result = store(
                refer_to_shared_receive(context, input.get<"srqn_rmpn_xrqn">()), found.shared);
            !result)
            return std::unexpected(result);
    }
    return found;
}

void replace_queues(QueuePair& queue_pair, OtherQueues found) {
    if (found.completions)
        queue_pair.replace_receive_completions(std::move(found.completions));
    if (found.shared)
        queue_pair.replace_shared_receive(std::move(found.shared));
}

/// The QP in the input. Fails for DCTs, which have commands of their own.
std::expected<QueuePair*, CommandResult>
refuse_target(CommandContext& context, std::expected<QueuePair*, CommandResult> found) {
    if (found && (*found)->service() == ServiceType::dct)
        return std::unexpected(
            context.fail(CommandStatus::bad_resource, Syndrome::wrong_object_type,
                         "{:#x} is a dynamically connected target", (*found)->number()));
    return found;
}

std::expected<QueuePair*, CommandResult> find_queue_pair(CommandContext& context,
                                                         std::uint64_t number) {
    return refuse_target(context,
                         context.find_owned<QueuePair>(static_cast<std::uint32_t>(number)));
}

/// All state transitions with a context. Their inputs have the same layout.
CommandResult modify_qp(CommandContext& context) {
    const auto in = context.in<hwtab::rst2init_qp_in>();
    const Transition* transition =
        queues::find_transition(static_cast<std::uint16_t>(in.get<"opcode">()));
    const auto found = find_queue_pair(context, in.get<"qpn">());
    if (!found)
        return found.error();
    QueuePair& queue_pair = **found;
    if (queue_pair.state() != transition->from)
        return wrong_state(context, queue_pair);
    const auto mask = in.get<"opt_param_mask">();
    if (const auto result = check_mask(context, *transition, queue_pair, mask); !result)
        return result;
    const auto input = in.nested<"qpc", hwtab::qpc>();
    if (const auto result = check_port_of_path(context, *transition, queue_pair, input); !result)
        return result;
    std::array<std::byte, hwtab::qpc.size> changed{};
    std::ranges::copy(queue_pair.context().memory(), changed.begin());
    queues::take_over(*transition, mask, input.memory(), changed);
    if (const auto result = check_context(context, *transition, queue_pair, Qpc{changed}); !result)
        return result;
    auto others = find_other_queues(context, queue_pair, mask, input);
    if (!others)
        return others.error();
    auto counters = find_counters(context, Qpc{changed});
    if (!counters)
        return counters.error();
    if (const auto result = apply_extension(context, *transition, queue_pair); !result)
        return result;
    queue_pair.take_context(changed);
    queue_pair.replace_counters(*std::move(counters));
    replace_queues(queue_pair, *std::move(others));
    if (transition->from == transition->to)
        queue_pair.apply_context();
    else
        queue_pair.change_state(transition->to);
    return CommandResult::ok();
}

CommandResult qp_2err(CommandContext& context) {
    const auto found = find_queue_pair(context, context.in<hwtab::qp_2err_in>().get<"qpn">());
    if (!found)
        return found.error();
    (*found)->change_state(QueuePairState::error);
    return CommandResult::ok();
}

CommandResult qp_2rst(CommandContext& context) {
    const auto found = find_queue_pair(context, context.in<hwtab::qp_2rst_in>().get<"qpn">());
    if (!found)
        return found.error();
    (*found)->change_state(QueuePairState::reset);
    return CommandResult::ok();
}

CommandResult destroy_qp(CommandContext& context) {
    const auto number = static_cast<std::uint32_t>(context.in<hwtab::destroy_qp_in>().get<"qpn">());
    if (const auto found = find_queue_pair(context, number); !found)
        return found.error();
    const auto taken = context.take<QueuePair>(number);
    if (!taken)
        return taken.error();
    context.hca.part<queues::WorkQueues>().forget(**taken);
    return CommandResult::ok();
}

CommandResult query_qp(CommandContext& context) {
    const auto in = context.in<hwtab::query_qp_in>();
    const auto found = refuse_target(
        context, context.find<QueuePair>(static_cast<std::uint32_t>(in.get<"qpn">())));
    if (!found)
        return found.error();
    QueuePair& queue_pair = **found;
    queue_pair.refresh();
    const auto out = context.out<hwtab::query_qp_out>();
    std::ranges::copy(queue_pair.context().memory(), out.bytes<"qpc">().begin());
    const auto rest = context.output.subspan(
        hwtab::locate(hwtab::query_qp_out, "qp_pas_or_qpc_ext_and_pas").offset /
        hwtab::bits_per_byte);
    const std::size_t extension =
        in.get<"qpc_ext">() != 0 ? hwtab::qp_context_extension.size : std::size_t{0};
    list_pages(rest.subspan(std::min(extension, rest.size())), queue_pair.buffer());
    return CommandResult::ok();
}

constexpr std::array queue_pair_entries{
    CommandEntry{&hwtab::cmd_create_qp, create_qp},
    CommandEntry{&hwtab::cmd_destroy_qp, destroy_qp},
    CommandEntry{&hwtab::cmd_rst2init_qp, modify_qp},
    CommandEntry{&hwtab::cmd_init2init_qp, modify_qp},
    CommandEntry{&hwtab::cmd_init2rtr_qp, modify_qp},
    CommandEntry{&hwtab::cmd_rtr2rts_qp, modify_qp},
    CommandEntry{&hwtab::cmd_rts2rts_qp, modify_qp},
    CommandEntry{&hwtab::cmd_sqerr2rts_qp, modify_qp},
    CommandEntry{&hwtab::cmd_sqd2rts_qp, modify_qp},
    CommandEntry{&hwtab::cmd_qp_2err, qp_2err},
    CommandEntry{&hwtab::cmd_qp_2rst, qp_2rst},
    CommandEntry{&hwtab::cmd_query_qp, query_qp},
};

} // namespace

std::span<const CommandEntry> queue_pair_commands() {
    return queue_pair_entries;
}

} // namespace cxemu::commands
