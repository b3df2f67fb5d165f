// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/registers.hpp"

#include "check/layout_walk.hpp"
#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "tables/commands_port.hpp"
#include "tables/registers.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace cxemu::commands {

namespace {

using hca::CommandContext;
using hca::CommandResult;
using hca::CommandStatus;
using hca::Syndrome;

constexpr std::uint16_t op_mod_write = 0;
constexpr std::uint16_t op_mod_read = 1;

/// Every subject's registers.
constexpr std::array subjects{&device_registers, &port_registers};

const RegisterEntry* find_register(std::uint64_t id) {
    for (const auto subject : subjects) {
        const auto entries = subject();
        const auto found = std::ranges::find_if(
            entries, [id](const RegisterEntry& entry) { return entry.definition->id == id; });
        if (found != entries.end())
            return &*found;
    }
    return nullptr;
}

void check_reserved(CommandContext& context, const RegisterEntry& entry,
                    std::span<const std::byte> data) {
    const hwtab::Layout& layout = *entry.definition->layout;
    check::find_reserved_bits(
        layout, data.first(layout.size), {}, [&](std::string_view where, std::uint64_t value) {
            context.hca.violation(hca::rules::reserved_bits_set, "register {} {} = {:#x}",
                                  entry.definition->name, where, value);
        });
}

/// Structures of the device are always big endian. The byte order of the host matters only for data
/// in host order, which this device does not have.
CommandResult host_endianness(RegisterAccess& access) {
    std::ranges::copy(access.in.first(access.out.size()), access.out.begin());
    return CommandResult::ok();
}

constexpr std::array device_register_entries{
    RegisterEntry{&hwtab::access_host_endianness, host_endianness},
};

} // namespace

std::span<const RegisterEntry> device_registers() {
    return device_register_entries;
}

CommandResult access_register(CommandContext& context) {
    const auto in = context.in<hwtab::access_register_in>();
    const auto id = in.get<"register_id">();
    const RegisterEntry* entry = find_register(id);
    if (entry == nullptr)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_register, "register {:#x}",
                            id);
    if (context.op_mod != op_mod_write && context.op_mod != op_mod_read)
        return context.fail(CommandStatus::bad_operation, Syndrome::unknown_op_mod,
                            "op_mod {} of ACCESS_REGISTER", context.op_mod);
    const std::size_t size = entry->definition->layout->size;
    const auto sent = in.bytes<"register_data">();
    if (sent.size() < size)
        return context.fail(CommandStatus::bad_input_length, Syndrome::input_too_short,
                            "register {} has {} bytes, {} were sent", entry->definition->name, size,
                            sent.size());
    if (context.op_mod == op_mod_write)
        check_reserved(context, *entry, sent);
    std::vector<std::byte> contents(size);
    RegisterAccess access{.command = context,
                          .write = context.op_mod == op_mod_write,
                          .argument = static_cast<std::uint32_t>(in.get<"argument">()),
                          .in = sent,
                          .out = contents};
    const CommandResult result = entry->handler(access);
    if (!result)
        return result;
    const auto room = context.out<hwtab::access_register_out>().bytes<"register_data">();
    std::ranges::copy_n(contents.begin(), static_cast<std::ptrdiff_t>(std::min(size, room.size())),
                        room.begin());
    return result;
}

} // namespace cxemu::commands
