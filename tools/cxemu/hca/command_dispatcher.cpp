// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/command_dispatcher.hpp"

#include "check/command_envelope.hpp"
#include "check/command_log.hpp"
#include "check/layout_walk.hpp"
#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "tables/commands_device.hpp"
#include "tables/commands_queue_pairs.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace cxemu::hca {

namespace {

/// Every command's input and output start like those of NOP, and have at least this size here.
constexpr const hwtab::Layout& shortest_input = hwtab::nop_in;
constexpr const hwtab::Layout& shortest_output = hwtab::nop_out;

std::uint16_t opcode_of(std::span<const std::byte> header) {
    if (header.size() < shortest_input.size)
        return 0;
    return static_cast<std::uint16_t>(hwtab::ConstView<shortest_input>{header}.get<"opcode">());
}

/// True when the structure ends with a list, or with a field that may be a list.
bool has_open_end(const hwtab::Layout& layout) {
    const hwtab::Field& last = layout.fields.back();
    if (last.is_list() || !last.alternatives.empty())
        return true;
    return last.layout != nullptr && has_open_end(*last.layout);
}

/// libmlx5 extends the context of INIT2INIT and RTS2RTS beyond the kernel's interface header. A
/// flag next to the QPN announces the extension, which follows the layout in the tables.
bool is_extended(const CommandEntry& entry, std::span<const std::byte> input) {
    constexpr std::size_t word_with_number = 0x8;
    constexpr std::byte flag{0x80};
    const bool can_be =
        entry.command == &hwtab::cmd_init2init_qp || entry.command == &hwtab::cmd_rts2rts_qp;
    return can_be && (input[word_with_number] & flag) != std::byte{};
}

constexpr std::size_t offset_of(const hwtab::Layout& layout, std::string_view field) {
    return hwtab::locate(layout, field).offset / hwtab::bits_per_byte;
}

/// Inputs that a public driver makes shorter than the layout in the tables. Each such driver works
/// on real adapters.
struct ShortInput {
    const hwtab::Command* command;
    std::size_t length;
};

/// No page has capabilities beyond this end; the block in the command is larger.
constexpr std::size_t end_of_capabilities =
    offset_of(hwtab::set_hca_cap_in, "capability") + hwtab::cmd_hca_cap.size;
constexpr std::size_t end_of_context = offset_of(hwtab::rst2init_qp_in, "qpc") + hwtab::qpc.size;

constexpr std::array short_inputs{
    // rdma-core's own driver over vfio does not know sw_owner_id.
    ShortInput{&hwtab::cmd_init_hca, offset_of(hwtab::init_hca_in, "sw_owner_id")},
    // iPXE's golan omits the reserved bytes after the capabilities, and after the context of a QP.
    ShortInput{&hwtab::cmd_set_hca_cap, end_of_capabilities},
    ShortInput{&hwtab::cmd_rst2init_qp, end_of_context},
    ShortInput{&hwtab::cmd_init2rtr_qp, end_of_context},
    ShortInput{&hwtab::cmd_rtr2rts_qp, end_of_context},
};

/// Bytes of an input that a command needs.
std::size_t shortest_length(const CommandEntry& entry) {
    const auto* const found = std::ranges::find(short_inputs, entry.command, &ShortInput::command);
    return found == short_inputs.end() ? entry.command->input->size : found->length;
}

/// The user context of a command; shared_uid: the kernel, for an object that all user contexts may
/// use.
std::uint16_t uid_of(std::span<const std::byte> input) {
    return static_cast<std::uint16_t>(
        hwtab::read_bits(input.data(), hwtab::uid_field.offset, hwtab::uid_field.width));
}

} // namespace

void CommandTable::add(std::span<const CommandEntry> entries) {
    for (const CommandEntry& entry : entries)
        entries_.insert_or_assign(entry.command->opcode, entry);
}

const CommandEntry* CommandTable::find(std::uint16_t opcode) const {
    const auto found = entries_.find(opcode);
    return found == entries_.end() ? nullptr : &found->second;
}

CommandDispatcher::CommandDispatcher(Hca& hca, CommandTable table)
    : hca_(hca), table_(std::move(table)) {
    if (hca_.envelope() != nullptr)
        envelope_ = std::make_unique<check::CommandEnvelope>(*hca_.envelope());
}

CommandDispatcher::~CommandDispatcher() = default;

void CommandDispatcher::begin_bring_up() {
    if (envelope_)
        envelope_->begin();
}

std::size_t CommandDispatcher::output_size(std::span<const std::byte> header,
                                           std::uint32_t asked) const {
    const CommandEntry* entry = table_.find(opcode_of(header));
    const std::uint32_t described =
        entry == nullptr ? shortest_output.size : entry->command->output->size;
    return std::max({asked, described, shortest_output.size});
}

void CommandDispatcher::complete_input(std::vector<std::byte>& input) const {
    const CommandEntry* entry = table_.find(opcode_of(input));
    if (entry == nullptr || input.size() < shortest_length(*entry))
        return;
    input.resize(std::max<std::size_t>(input.size(), entry->command->input->size));
}

CommandResult CommandDispatcher::run(CommandContext& context) {
    if (context.input.size() < shortest_input.size)
        return context.fail(CommandStatus::bad_input_length, Syndrome::input_too_short,
                            "the input has {} bytes, a header {}", context.input.size(),
                            shortest_input.size);
    const hwtab::ConstView<shortest_input> header{context.input};
    const CommandEntry* entry = table_.find(opcode_of(context.input));
    if (entry == nullptr) {
        hca_.violation(rules::unknown_opcode, "opcode {:#x}", header.get<"opcode">());
        return context.fail(CommandStatus::bad_operation, Syndrome::unknown_opcode, "opcode {:#x}",
                            header.get<"opcode">());
    }
    context.op_mod = static_cast<std::uint16_t>(header.get<"op_mod">());
    context.uid = uid_of(context.input);
    if (const auto state = check_state(context, *entry); !state)
        return state;
    if (const auto lengths = check_lengths(context, *entry); !lengths)
        return lengths;
    check_reserved(context, *entry);
    return entry->handler(context);
}

CommandResult CommandDispatcher::check_state(CommandContext& context,
                                             const CommandEntry& entry) const {
    const FunctionState state = hca_.state();
    const FunctionState needed = entry.scope == CommandScope::always ? FunctionState::commands
                                 : entry.scope == CommandScope::enabled
                                     ? FunctionState::enabled
                                     : FunctionState::initialized;
    if (state < needed) {
        hca_.violation(rules::command_in_wrong_state, "{} while {}", entry.command->name,
                       hca::name_of(state));
        return context.fail(CommandStatus::bad_system_state, Syndrome::wrong_function_state,
                            "the function is {}, not {}", hca::name_of(state),
                            hca::name_of(needed));
    }
    if (!context.is_by_kernel() && hca_.objects().of<UserContext>().find(context.uid) == nullptr)
        return context.fail(CommandStatus::bad_resource, Syndrome::unknown_user_context,
                            "there is no user context {}", context.uid);
    return CommandResult::ok();
}

CommandResult CommandDispatcher::check_lengths(CommandContext& context,
                                               const CommandEntry& entry) const {
    const hwtab::Layout& layout = *entry.command->input;
    const std::size_t shortest = shortest_length(entry);
    if (context.input.size() < shortest) {
        hca_.violation(rules::input_too_short, "{}: {} bytes instead of {}", layout.name,
                       context.input.size(), shortest);
        return context.fail(CommandStatus::bad_input_length, Syndrome::input_too_short,
                            "the input has {} bytes instead of {}", context.input.size(), shortest);
    }
    if (context.input.size() > layout.size && !has_open_end(layout) &&
        !is_extended(entry, context.input))
        hca_.violation(rules::input_longer_than_table, "{}: {} bytes instead of {}", layout.name,
                       context.input.size(), layout.size);
    return CommandResult::ok();
}

void CommandDispatcher::check_reserved(const CommandContext& context,
                                       const CommandEntry& entry) const {
    const hwtab::Layout& layout = *entry.command->input;
    if (is_extended(entry, context.input))
        return;
    const auto choose = [&](const hwtab::Field& field) {
        return check::choose_by_op_mod(field, entry.command->opcode, context.op_mod);
    };
    check::find_reserved_bits(
        layout, context.input, choose, [&](std::string_view where, std::uint64_t value) {
            hca_.violation(rules::reserved_bits_set, "{} {} = {:#x}", layout.name, where, value);
        });
}

void CommandDispatcher::finished(std::span<const std::byte> input,
                                 std::span<const std::byte> output, std::uint32_t output_length,
                                 CommandResult result, std::string_view explanation) {
    const std::uint16_t opcode = opcode_of(input);
    OpcodeStatistics& counts = statistics_[opcode];
    ++counts.count;
    const SyndromeText& syndrome = describe(result.syndrome);
    counts.failed += result ? 0 : 1;
    if (!result && limiter_.allow()) {
        hca_.log()->warn("{}: {}, syndrome {:#x} ({}): {}", name_of(opcode),
                         hca::name_of(result.status), static_cast<std::uint32_t>(result.syndrome),
                         syndrome.name, explanation);
    }
    const CommandEntry* entry = table_.find(opcode);
    if (envelope_ && result && entry != nullptr)
        envelope_->record({.command = entry->command,
                           .input = input,
                           .output = output,
                           .output_length = output_length});
    if (check::CommandLog* log = hca_.command_log()) {
        log->write({.device = hca_.name(),
                    .command = entry == nullptr ? nullptr : entry->command,
                    .opcode = opcode,
                    .input = input,
                    .output = output,
                    .status = hca::name_of(result.status),
                    .syndrome = static_cast<std::uint32_t>(result.syndrome),
                    .explanation = explanation});
    }
}

std::string_view CommandDispatcher::name_of(std::uint16_t opcode) const {
    const CommandEntry* entry = table_.find(opcode);
    return entry == nullptr ? "unknown command" : entry->command->name;
}

} // namespace cxemu::hca
