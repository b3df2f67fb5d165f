// SPDX-License-Identifier: GPL-2.0-or-later
#include "check/command_envelope.hpp"

#include "check/command_log.hpp"
#include "hwtab/view.hpp"
#include "tables/command_header.hpp"
#include "tables/commands_device.hpp"
#include "tables/commands_memory.hpp"
#include "tables/commands_objects.hpp"
#include "tables/commands_port.hpp"
#include "tables/commands_queue_pairs.hpp"
#include "tables/registers.hpp"

#include <algorithm>
#include <spdlog/fmt/fmt.h>
#include <string_view>

namespace cxemu::check {

namespace {

std::uint16_t op_mod_in(std::span<const std::byte> input) {
    return static_cast<std::uint16_t>(
        hwtab::read_bits(input.data(), hwtab::op_mod_field.offset, hwtab::op_mod_field.width));
}

std::string name_or_number(const hwtab::Enumeration* names, std::uint64_t value) {
    const auto name = names != nullptr ? hwtab::name_of(*names, value) : std::string_view{};
    return name.empty() ? fmt::format("{:#x}", value) : std::string(name);
}

/// Commands whose second word has a kind of object in place of op_mod.
bool is_of_general_object(const hwtab::Command& command) {
    return command.input == &hwtab::general_obj_in_cmd_hdr;
}

std::string variant_of(const ExecutedCommand& executed) {
    const std::uint16_t op_mod = op_mod_in(executed.input);
    if (is_of_general_object(*executed.command))
        return " " + name_or_number(&hwtab::object_type, op_mod);
    if (executed.command->op_mods == nullptr && op_mod == 0)
        return {};
    return " " + name_or_number(executed.command->op_mods, op_mod);
}

std::string access_mode_of(std::span<const std::byte> input) {
    const hwtab::ConstView<hwtab::create_mkey_in> fields{input};
    const std::uint64_t mode = fields.get<"memory_key_mkey_entry.access_mode_4_2">() << 2U |
                               fields.get<"memory_key_mkey_entry.access_mode_1_0">();
    return " " + name_or_number(&hwtab::mkey_access_mode, mode);
}

const hwtab::Register* find_register(std::uint64_t number) {
    const auto found =
        std::ranges::find(hwtab::registers_registers, number,
                          [](const hwtab::Register* known) { return std::uint64_t{known->id}; });
    return found == hwtab::registers_registers.end() ? nullptr : *found;
}

std::uint64_t register_in(std::span<const std::byte> input) {
    return hwtab::ConstView<hwtab::access_register_in>{input}.get<"register_id">();
}

std::string register_of(std::span<const std::byte> input) {
    const hwtab::Register* known = find_register(register_in(input));
    return known == nullptr ? fmt::format(" {:#x}", register_in(input))
                            : fmt::format(" {}", known->name);
}

} // namespace

void CommandEnvelope::begin() {
    order_.clear();
    services_.clear();
    in_bring_up_ = true;
}

/// Returns the service type that CREATE_QP has set, because a transition need not repeat it.
std::string CommandEnvelope::service_of(const ExecutedCommand& executed) {
    const hwtab::Command* command = executed.command;
    if (command == &hwtab::cmd_create_qp) {
        const hwtab::ConstView<hwtab::create_qp_in> in{executed.input};
        const hwtab::ConstView<hwtab::create_qp_out> out{executed.output};
        const std::uint64_t service = in.get<"qpc.st">();
        services_[out.get<"qpn">()] = service;
        return " " + name_or_number(&hwtab::qp_service_type, service);
    }
    const hwtab::Target number = hwtab::locate(*command->input, "qpn");
    const bool is_transition = command->name.ends_with("_qp") || command->name.starts_with("qp_");
    if (!is_transition || number.field == nullptr)
        return {};
    const auto known =
        services_.find(hwtab::read_bits(executed.input.data(), number.offset, number.width));
    if (known == services_.end())
        return " unknown";
    const std::string name = " " + name_or_number(&hwtab::qp_service_type, known->second);
    if (command == &hwtab::cmd_destroy_qp)
        services_.erase(known);
    return name;
}

std::string CommandEnvelope::subject_of(const ExecutedCommand& executed) {
    std::string subject(executed.command->name);
    if (executed.command == &hwtab::cmd_access_register)
        subject += register_of(executed.input);
    if (executed.command == &hwtab::cmd_create_mkey)
        subject += access_mode_of(executed.input);
    return subject + service_of(executed) + variant_of(executed);
}

/// Records the lengths of input and output. The length of a message with a list depends on the
/// list, so only the length before the list is recorded.
void CommandEnvelope::record_lengths(const std::string& subject, const ExecutedCommand& executed) {
    const auto text = [](std::size_t length, const hwtab::Layout& layout) {
        const bool has_list = layout.fields.back().is_list() && length > layout.size;
        return has_list ? fmt::format("{:#x} and list", layout.size) : fmt::format("{:#x}", length);
    };
    envelope_->note(subject, "input length", text(executed.input.size(), *executed.command->input));
    envelope_->note(subject, "output length",
                    text(executed.output_length, *executed.command->output));
}

void CommandEnvelope::record_register(const std::string& subject, const ExecutedCommand& executed) {
    const hwtab::Register* known = find_register(register_in(executed.input));
    if (known != nullptr)
        envelope_->record(subject + " contents", *known->layout,
                          executed.input.subspan(hwtab::access_register_in.size));
}

/// The number of pages that firmware requests depends on the device, so each command is recorded
/// once.
void CommandEnvelope::add_to_order(const std::string& subject, const hwtab::Command& command) {
    if (std::ranges::find(order_, subject) == order_.end())
        order_.push_back(subject);
    if (&command != &hwtab::cmd_init_hca)
        return;
    in_bring_up_ = false;
    envelope_->note("bring-up", "order", fmt::format("{}", fmt::join(order_, ", ")));
    order_.clear();
}

void CommandEnvelope::record(const ExecutedCommand& executed) {
    const std::string subject = subject_of(executed);
    const std::uint16_t op_mod = op_mod_in(executed.input);
    envelope_->record(subject, *executed.command->input, executed.input,
                      [&](const hwtab::Field& field) {
                          return choose_by_op_mod(field, executed.command->opcode, op_mod);
                      });
    record_lengths(subject, executed);
    if (executed.command == &hwtab::cmd_access_register)
        record_register(subject, executed);
    if (in_bring_up_)
        add_to_order(subject, *executed.command);
}

} // namespace cxemu::check
