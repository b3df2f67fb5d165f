// SPDX-License-Identifier: GPL-2.0-or-later
//
// MEMIC.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "tables/commands_memory.hpp"

#include <array>

namespace cxemu::commands {

namespace {

using namespace hca;

/// Maps \p error to status and syndrome, and logs it.
CommandResult refuse(CommandContext& context, DeviceMemoryError error, std::uint64_t address) {
    const auto bad = [&](Syndrome syndrome, std::string_view what) {
        return context.fail(CommandStatus::bad_parameter, syndrome, "MEMIC at {:#x}: {}", address,
                            what);
    };
    switch (error) {
    case DeviceMemoryError::bad_size:
        return bad(Syndrome::field_out_of_range, "the size is 0, uneven, or not the allocated one");
    case DeviceMemoryError::bad_alignment:
        return bad(Syndrome::exceeds_capability, "the alignment exceeds the capability");
    case DeviceMemoryError::bad_range:
        return bad(Syndrome::field_out_of_range, "the range is not in the BAR's part for it");
    case DeviceMemoryError::no_room: // the driver then tries the next range
        return context.fail(CommandStatus::not_ready, Syndrome::no_device_memory,
                            "no free pages in the range at {:#x}", address);
    case DeviceMemoryError::unknown:
        context.hca.violation(rules::unknown_object, "MEMIC at {:#x}", address);
        return bad(Syndrome::no_device_memory, "nothing is allocated there");
    case DeviceMemoryError::unknown_operation:
        return bad(Syndrome::no_memory_operation, "the device does not have this operation");
    case DeviceMemoryError::has_address:
        return bad(Syndrome::no_memory_operation, "the operation has an address already");
    case DeviceMemoryError::has_no_address:
        return bad(Syndrome::no_memory_operation, "the operation has no address");
    }
    return bad(Syndrome::not_supported, "unknown failure");
}

CommandResult check_present(CommandContext& context) {
    if (context.hca.device_memory().present())
        return CommandResult::ok();
    return context.fail(CommandStatus::bad_operation, Syndrome::not_supported,
                        "the device has no MEMIC");
}

CommandResult alloc_memic(CommandContext& context) {
    if (const auto present = check_present(context); !present)
        return present;
    const auto in = context.in<hwtab::alloc_memic_in>();
    const auto range = in.get<"range_start_addr">();
    const auto address =
        context.hca.device_memory().allocate(range, in.get<"range_size">(), in.get<"memic_size">(),
                                             in.get<"log_memic_addr_alignment">());
    if (!address)
        return refuse(context, address.error(), range);
    context.out<hwtab::alloc_memic_out>().set<"memic_start_addr">(*address);
    return CommandResult::ok();
}

CommandResult dealloc_memic(CommandContext& context) {
    if (const auto present = check_present(context); !present)
        return present;
    const auto in = context.in<hwtab::dealloc_memic_in>();
    const auto address = in.get<"memic_start_addr">();
    const auto released = context.hca.device_memory().release(address, in.get<"memic_size">());
    return released ? CommandResult::ok() : refuse(context, released.error(), address);
}

CommandResult give_address(CommandContext& context, std::uint64_t address, std::uint8_t operation) {
    const auto given = context.hca.device_memory().give_address(address, operation);
    if (!given)
        return refuse(context, given.error(), address);
    context.out<hwtab::modify_memic_out>().set<"memic_operation_addr">(*given);
    return CommandResult::ok();
}

CommandResult modify_memic(CommandContext& context) {
    if (const auto present = check_present(context); !present)
        return present;
    const auto in = context.in<hwtab::modify_memic_in>();
    const auto address = in.get<"memic_start_addr">();
    const auto operation = static_cast<std::uint8_t>(in.get<"memic_operation_type">());
    switch (context.op_mod) {
    case hwtab::value<hwtab::modify_memic_op_mod, "alloc">:
        return give_address(context, address, operation);
    case hwtab::value<hwtab::modify_memic_op_mod, "dealloc">: {
        const auto taken = context.hca.device_memory().take_address(address, operation);
        return taken ? CommandResult::ok() : refuse(context, taken.error(), address);
    }
    default:
        return context.refuse_op_mod();
    }
}

constexpr std::array device_memory_entries{
    CommandEntry{&hwtab::cmd_alloc_memic, alloc_memic},
    CommandEntry{&hwtab::cmd_dealloc_memic, dealloc_memic},
    CommandEntry{&hwtab::cmd_modify_memic, modify_memic},
};

} // namespace

std::span<const CommandEntry> device_memory_commands() {
    return device_memory_entries;
}

} // namespace cxemu::commands
