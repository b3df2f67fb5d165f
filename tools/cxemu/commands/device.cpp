// SPDX-License-Identifier: GPL-2.0-or-later
//
// Commands about the function as a whole: capabilities, bring-up and teardown, firmware pages.
#include "commands/registers.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "hca/rules.hpp"
#include "memory/memory_keys.hpp"
#include "tables/commands_device.hpp"
#include "tables/commands_port.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>
#include <vector>

namespace cxemu::commands {

namespace {

using namespace hca;

constexpr std::uint64_t mellanox_oui = 0x02c9;
constexpr std::uint64_t mellanox_pci_vendor = 0x15b3;
/// One bit for each ISSI. The trace of a ConnectX-4 Lx with firmware 14.12.1220 (see
/// hca/origin.hpp) has only the bit of ISSI 1, although ISSI 0 is in effect until software chooses.
constexpr std::uint64_t supported_issi = 1U << 1U;

CommandResult other_function(CommandContext& context, std::uint64_t function) {
    return context.fail(CommandStatus::bad_parameter, Syndrome::wrong_function,
                        "function {} is not this one", function);
}

// --- Capabilities --------------------------------------------------------------------------------

CommandResult query_hca_cap(CommandContext& context) {
    const auto in = context.in<hwtab::query_hca_cap_in>();
    if (in.get<"other_function">() != 0 || in.get<"ec_vf_function">() != 0)
        return other_function(context, in.get<"function_id">());
    const bool maximum = (context.op_mod & 1U) == 0;
    const auto page = static_cast<CapabilityPage>(context.op_mod >> 1U);
    const auto bytes = context.hca.capabilities().bytes(page, maximum);
    // Capability pages of unsupported features exist and read as zeros.
    if (bytes.empty() && hwtab::name_of(hwtab::hca_cap_type, context.op_mod >> 1U).empty())
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "there is no capability page {:#x}", context.op_mod >> 1U);
    const auto out = context.out<hwtab::query_hca_cap_out>();
    std::ranges::copy(bytes, out.bytes<"capability">().begin());
    return CommandResult::ok();
}

CommandResult set_hca_cap(CommandContext& context) {
    const auto page = static_cast<CapabilityPage>(context.op_mod >> 1U);
    const auto in = context.in<hwtab::set_hca_cap_in>();
    if (in.get<"other_function">() != 0 || in.get<"ec_vf_function">() != 0)
        return other_function(context, in.get<"function_id">());
    if ((context.op_mod & 1U) != 0)
        return context.refuse_op_mod();
    if (context.hca.state() == FunctionState::initialized)
        return context.fail(CommandStatus::bad_system_state, Syndrome::wrong_function_state,
                            "capabilities are set before INIT_HCA");
    const auto set = context.hca.capabilities().set(page, in.bytes<"capability">());
    if (!set)
        return context.fail(CommandStatus::bad_parameter, set.error().syndrome, "{}",
                            set.error().text);
    context.objects().clear(); // there are none before INIT_HCA; their numbers get new limits
    return CommandResult::ok();
}

CommandResult query_adapter(CommandContext& context) {
    const auto out = context.out<hwtab::query_adapter_out>();
    const auto adapter = out.nested<"query_adapter_struct", hwtab::query_adapter_param_block>();
    adapter.set<"ieee_vendor_id">(mellanox_oui);
    adapter.set<"vsd_vendor_id">(mellanox_pci_vendor);
    const auto board = std::as_bytes(std::span(context.hca.settings().profile->board_id));
    const auto psid = adapter.bytes<"vsd_contd_psid">();
    std::ranges::copy(board.first(std::min(board.size(), psid.size())), psid.begin());
    return CommandResult::ok();
}

/// Every special mkey except resd_lkey depends on a capability; without the capability its field is
/// zero.
CommandResult query_special_contexts(CommandContext& context) {
    const auto out = context.out<hwtab::query_special_contexts_out>();
    out.set<"resd_lkey">(memory::SpecialKeys::resd_lkey);
    if (context.hca.capabilities().current<"null_mkey">() != 0)
        out.set<"null_mkey">(memory::SpecialKeys::absent_memory);
    if (context.hca.capabilities().current<"dump_fill_mkey">() != 0)
        out.set<"dump_fill_mkey">(memory::SpecialKeys::dump_fill);
    return CommandResult::ok();
}

// --- Bring-up and teardown -----------------------------------------------------------------------

CommandResult enable_hca(CommandContext& context) {
    const auto in = context.in<hwtab::enable_hca_in>();
    if (in.get<"function_id">() != 0 || in.get<"embedded_cpu_function">() != 0)
        return other_function(context, in.get<"function_id">());
    if (context.hca.state() == FunctionState::commands)
        context.hca.set_state(FunctionState::enabled);
    return CommandResult::ok();
}

CommandResult disable_hca(CommandContext& context) {
    const auto in = context.in<hwtab::disable_hca_in>();
    if (in.get<"function_id">() != 0 || in.get<"embedded_cpu_function">() != 0)
        return other_function(context, in.get<"function_id">());
    if (context.hca.state() == FunctionState::initialized)
        return context.fail(CommandStatus::bad_system_state, Syndrome::wrong_function_state,
                            "TEARDOWN_HCA comes before DISABLE_HCA");
    if (const std::size_t left = context.hca.pages().held(); left != 0)
        context.hca.violation(rules::pages_left_at_disable, "{} pages", left);
    context.hca.pages().reset();
    context.hca.set_state(FunctionState::commands);
    return CommandResult::ok();
}

CommandResult query_issi(CommandContext& context) {
    const auto out = context.out<hwtab::query_issi_out>();
    out.set<"current_issi">(context.hca.issi());
    out.set<"supported_issi_dw0">(supported_issi);
    return CommandResult::ok();
}

CommandResult set_issi(CommandContext& context) {
    const auto issi = context.in<hwtab::set_issi_in>().get<"current_issi">();
    if (issi >= std::numeric_limits<std::uint64_t>::digits || ((supported_issi >> issi) & 1U) == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "current_issi {} is none of the mask {:#x}", issi, supported_issi);
    context.hca.set_issi(static_cast<std::uint16_t>(issi));
    return CommandResult::ok();
}

CommandResult init_hca(CommandContext& context) {
    Hca& hca = context.hca;
    if (hca.state() == FunctionState::initialized)
        return context.fail(CommandStatus::bad_system_state, Syndrome::wrong_function_state,
                            "the function is initialized already");
    if (const auto missing = hca.pages().wanted_for_init(); missing > 0)
        return context.fail(CommandStatus::bad_system_state, Syndrome::not_enough_pages,
                            "{} pages are missing", missing);
    hca.initialize_function();
    return CommandResult::ok();
}

/// Two of the profiles need a capability.
bool has_teardown(const Capabilities& capabilities, std::uint64_t profile) {
    using hwtab::teardown_hca_profile;
    switch (profile) {
    case hwtab::value<teardown_hca_profile, "force_close">:
        return capabilities.current<"force_teardown">() != 0;
    case hwtab::value<teardown_hca_profile, "prepare_fast_teardown">:
        return capabilities.current<"fast_teardown">() != 0;
    default:
        return true;
    }
}

CommandResult teardown_hca(CommandContext& context) {
    const auto profile = context.in<hwtab::teardown_hca_in>().get<"profile">();
    using hwtab::teardown_hca_profile;
    if (!has_teardown(context.hca.capabilities(), profile))
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "teardown profile {} is not supported", profile);
    switch (profile) {
    case hwtab::value<teardown_hca_profile, "graceful_close">:
        context.hca.tear_down_function(true);
        return CommandResult::ok();
    case hwtab::value<teardown_hca_profile, "force_close">:
        context.hca.tear_down_function(false);
        return CommandResult::ok();
    case hwtab::value<teardown_hca_profile, "prepare_fast_teardown">:
        // The write that disables the interface completes the teardown.
        return CommandResult::ok();
    default:
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "teardown profile {}", profile);
    }
}

CommandResult set_driver_version(CommandContext& context) {
    if (context.hca.capabilities().current<"driver_version">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the capability driver_version is 0");
    const auto text = context.in<hwtab::set_driver_version_in>().bytes<"driver_version">();
    std::string version;
    for (const std::byte byte : text) {
        const char character = static_cast<char>(byte);
        if (character < ' ' || character > '~')
            break;
        version.push_back(character);
    }
    context.hca.log()->info("driver version {}", version);
    return CommandResult::ok();
}

CommandResult nop(CommandContext& /*context*/) {
    return CommandResult::ok();
}

// --- Firmware pages ------------------------------------------------------------------------------

CommandResult query_pages(CommandContext& context) {
    const FirmwarePages& pages = context.hca.pages();
    std::int32_t count = 0;
    switch (context.op_mod) {
    case hwtab::value<hwtab::query_pages_op_mod, "boot_pages">:
        count = pages.wanted_for_boot();
        break;
    case hwtab::value<hwtab::query_pages_op_mod, "init_pages">:
        count = pages.wanted_for_init();
        break;
    case hwtab::value<hwtab::query_pages_op_mod, "regular_pages">:
        count = pages.wanted_regular();
        break;
    default:
        return context.refuse_op_mod();
    }
    context.out<hwtab::query_pages_out>().set<"num_pages">(static_cast<std::uint32_t>(count));
    return CommandResult::ok();
}

CommandResult give_pages(CommandContext& context) {
    const auto in = context.in<hwtab::manage_pages_in>();
    const auto count = in.get<"input_num_entries">();
    const std::size_t room = in.bytes<"pas">().size() / sizeof(std::uint64_t);
    if (count > room)
        return context.fail(CommandStatus::bad_input_length, Syndrome::page_list_too_short,
                            "input_num_entries is {}, the list has {}", count, room);
    std::vector<std::uint64_t> pages(count);
    for (std::size_t i = 0; i < count; ++i)
        pages[i] = in.get_at<"pas">(i);
    const auto given = context.hca.pages().give(pages);
    if (!given)
        return context.fail(given.error().status, given.error().syndrome, "{}", given.error().text);
    return CommandResult::ok();
}

CommandResult take_pages(CommandContext& context) {
    const auto wanted = context.in<hwtab::manage_pages_in>().get<"input_num_entries">();
    const auto out = context.out<hwtab::manage_pages_out>();
    const std::uint64_t room = out.bytes<"pas">().size() / sizeof(std::uint64_t);
    const auto pages = context.hca.pages().take(static_cast<std::uint32_t>(std::min(wanted, room)));
    out.set<"output_num_entries">(pages.size());
    for (std::size_t i = 0; i < pages.size(); ++i)
        out.set_at<"pas">(i, pages[i]);
    return CommandResult::ok();
}

CommandResult manage_pages(CommandContext& context) {
    const auto in = context.in<hwtab::manage_pages_in>();
    if (in.get<"function_id">() != 0 || in.get<"embedded_cpu_function">() != 0)
        return other_function(context, in.get<"function_id">());
    switch (context.op_mod) {
    case hwtab::value<hwtab::manage_pages_op_mod, "allocation_fail">:
        context.hca.pages().cannot_give();
        return CommandResult::ok();
    case hwtab::value<hwtab::manage_pages_op_mod, "allocation_success">:
        return give_pages(context);
    case hwtab::value<hwtab::manage_pages_op_mod, "hca_return_pages">:
        return take_pages(context);
    default:
        return context.refuse_op_mod();
    }
}

constexpr std::array device_entries{
    CommandEntry{&hwtab::cmd_query_hca_cap, query_hca_cap, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_set_hca_cap, set_hca_cap, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_query_adapter, query_adapter, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_query_special_contexts, query_special_contexts,
                 CommandScope::initialized},
    CommandEntry{&hwtab::cmd_enable_hca, enable_hca, CommandScope::always},
    CommandEntry{&hwtab::cmd_disable_hca, disable_hca, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_query_issi, query_issi, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_set_issi, set_issi, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_init_hca, init_hca, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_teardown_hca, teardown_hca, CommandScope::initialized},
    CommandEntry{&hwtab::cmd_set_driver_version, set_driver_version, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_nop, nop, CommandScope::always},
    CommandEntry{&hwtab::cmd_query_pages, query_pages, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_manage_pages, manage_pages, CommandScope::enabled},
    CommandEntry{&hwtab::cmd_access_register, access_register, CommandScope::enabled},
};

} // namespace

std::span<const CommandEntry> device_commands() {
    return device_entries;
}

} // namespace cxemu::commands
