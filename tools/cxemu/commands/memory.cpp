// SPDX-License-Identifier: GPL-2.0-or-later
//
// Mkey and PSV commands.
#include "commands/resources.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "memory/memory_key.hpp"
#include "memory/signature_variable.hpp"
#include "queues/work_queues.hpp"
#include "tables/commands_memory.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace cxemu::commands {

namespace {

using namespace hca;
using memory::AccessMode;
using memory::MemoryKey;
using memory::Psv;
using Mkc = hwtab::ConstView<hwtab::mkc>;

AccessMode access_mode(Mkc fields) {
    constexpr unsigned low_bits = 2;
    return static_cast<AccessMode>(fields.get<"access_mode_4_2">() << low_bits |
                                   fields.get<"access_mode_1_0">());
}

CommandResult check_device_memory(CommandContext& context, Mkc fields) {
    const auto start = fields.get<"start_addr">();
    const auto length = fields.get<"len">();
    if (!context.hca.device_memory().holds(start, length))
        return context.fail(CommandStatus::bad_parameter, Syndrome::no_device_memory,
                            "{} bytes at {:#x} are not within one MEMIC allocation", length, start);
    return CommandResult::ok();
}

/// A list of KSMs may be longer: mlx5_ib creates a list of 2^17 KSMs for an implicit ODP MR on
/// adapters whose log_max_klm_list_size is 16.
CommandResult check_mode(CommandContext& context, Mkc fields) {
    switch (access_mode(fields)) {
    case AccessMode::pa:
    case AccessMode::mtt:
    case AccessMode::ksm:
        return CommandResult::ok();
    case AccessMode::klm:
        return check_limit(context, "translations_octword_size",
                           fields.get<"translations_octword_size">(),
                           1ULL << context.hca.capabilities().current<"log_max_klm_list_size">());
    case AccessMode::device_memory:
        return check_device_memory(context, fields);
    }
    return context.fail(CommandStatus::bad_parameter, Syndrome::bad_access_mode,
                        "access mode {} is not supported",
                        static_cast<unsigned>(access_mode(fields)));
}

/// Reads also where the PCI function's own setting allows them.
CommandResult check_relaxed_ordering(CommandContext& context, Mkc fields) {
    const auto& capabilities = context.hca.capabilities();
    const bool writes = capabilities.current<"relaxed_ordering_write">() != 0;
    const bool reads = capabilities.current<"relaxed_ordering_read">() != 0 ||
                       capabilities.current<"relaxed_ordering_read_pci_enabled">() != 0;
    if ((fields.get<"relaxed_ordering_write">() != 0 && !writes) ||
        (fields.get<"relaxed_ordering_read">() != 0 && !reads))
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "relaxed ordering needs its capability");
    return CommandResult::ok();
}

/// The translation entries in the input, or the result of the failed command.
std::expected<std::span<const std::byte>, CommandResult> translation(CommandContext& context) {
    const auto in = context.in<hwtab::create_mkey_in>();
    const auto listed = in.bytes<"klm_pas_mtt">();
    const auto xlt_octowords = in.get<"translations_octword_actual_size">();
    const auto room = in.get<"memory_key_mkey_entry.translations_octword_size">();
    if (xlt_octowords > listed.size() / MemoryKey::octoword)
        return std::unexpected(context.fail(CommandStatus::bad_parameter,
                                            Syndrome::bad_translation_list,
                                            "translations_octword_actual_size {} exceeds the {} in "
                                            "the input",
                                            xlt_octowords, listed.size() / MemoryKey::octoword));
    if (xlt_octowords > room)
        return std::unexpected(context.fail(CommandStatus::bad_parameter,
                                            Syndrome::bad_translation_list,
                                            "translations_octword_actual_size {} exceeds "
                                            "translations_octword_size {}",
                                            xlt_octowords, room));
    return listed.first(xlt_octowords * MemoryKey::octoword);
}

/// A free mkey has no PD before a UMR sets one.
std::expected<Reference<ProtectionDomain>, CommandResult> domain_of(CommandContext& context,
                                                                    Mkc fields) {
    if (fields.get<"free">() != 0 && fields.get<"pd">() == 0)
        return Reference<ProtectionDomain>();
    return refer_to<ProtectionDomain>(context, fields.get<"pd">());
}

CommandResult create_mkey(CommandContext& context) {
    const auto in = context.in<hwtab::create_mkey_in>();
    const auto fields = in.nested<"memory_key_mkey_entry", hwtab::mkc>();
    if (in.get<"mkey_umem_valid">() != 0 || in.get<"data_direct">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "translations in registered user memory and data direct are not "
                            "supported");
    if (const auto checked = check_mode(context, fields); !checked)
        return checked;
    if (const auto checked = check_relaxed_ordering(context, fields); !checked)
        return checked;
    const auto entries = translation(context);
    if (!entries)
        return entries.error();
    auto domain = domain_of(context, fields);
    if (!domain)
        return domain.error();
    const auto created = context.objects().of<MemoryKey>().create(
        context.uid, fields.memory(), in.get<"pg_access">() != 0, *std::move(domain));
    if (!created)
        return context.refuse(created.error(), MemoryKey::kind, 0);
    (*created)->write_translation(0, *entries);
    context.out<hwtab::create_mkey_out>().set<"mkey_index">((*created)->number());
    return CommandResult::ok();
}

CommandResult query_mkey(CommandContext& context) {
    const auto in = context.in<hwtab::query_mkey_in>();
    const auto found = context.find<MemoryKey>(static_cast<std::uint32_t>(in.get<"mkey_index">()));
    if (!found)
        return found.error();
    const MemoryKey& key = **found;
    const auto out = context.out<hwtab::query_mkey_out>();
    std::ranges::copy(key.context().memory(), out.bytes<"memory_key_mkey_entry">().begin());
    // As much as fits the output.
    constexpr auto first = hwtab::locate(hwtab::query_mkey_out, "bsf0_klm0_pas_mtt0_1").offset;
    key.read_translation(0, context.output.subspan(first / hwtab::bits_per_byte));
    return CommandResult::ok();
}

CommandResult destroy_mkey(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_mkey_in>();
    return context.destroy<MemoryKey>(static_cast<std::uint32_t>(in.get<"mkey_index">()));
}

CommandResult create_psv(CommandContext& context) {
    constexpr std::uint64_t max = 4;
    const auto in = context.in<hwtab::create_psv_in>();
    const auto count = in.get<"num_psv">();
    if (count == 0 || count > max)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "num_psv {} is not between 1 and {}", count, max);
    std::array<std::uint32_t, max> numbers{};
    for (std::size_t i = 0; i < count; ++i) {
        auto domain = refer_to<ProtectionDomain>(context, in.get<"pd">());
        if (!domain)
            return domain.error();
        const auto created = context.objects().of<Psv>().create(context.uid, *std::move(domain));
        if (!created) {
            for (std::size_t made = 0; made < i; ++made)
                context.objects().of<Psv>().erase(numbers[made], context.uid);
            return context.refuse(created.error(), Psv::kind, 0);
        }
        numbers[i] = (*created)->number();
    }
    const auto out = context.out<hwtab::create_psv_out>();
    out.set<"psv0_index">(numbers[0]);
    out.set<"psv1_index">(numbers[1]);
    out.set<"psv2_index">(numbers[2]);
    out.set<"psv3_index">(numbers[3]);
    return CommandResult::ok();
}

CommandResult destroy_psv(CommandContext& context) {
    const auto in = context.in<hwtab::destroy_psv_in>();
    return context.destroy<Psv>(static_cast<std::uint32_t>(in.get<"psvn">()));
}

CommandResult refuse(CommandContext& context, queues::ResumeFault fault, std::uint64_t token,
                     std::uint64_t work_queue) {
    if (fault == queues::ResumeFault::unknown_token)
        return context.fail(CommandStatus::bad_resource, Syndrome::unknown_object,
                            "no page fault has the token {:#x}", token);
    return context.fail(CommandStatus::bad_resource, Syndrome::unknown_object,
                        "page fault {:#x} is none of work queue {:#x}", token, work_queue);
}

/// The layout of the input depends on the kind of page fault events that is enabled.
CommandResult page_fault_resume(CommandContext& context) {
    const auto in = context.in<hwtab::page_fault_resume_in>();
    const auto memory = in.nested<"page_fault_info", hwtab::mem_page_fault_info>();
    const auto transport = in.nested<"page_fault_info", hwtab::trans_page_fault_info>();
    const bool by_memory = context.hca.capabilities().on_demand_paging<"mem_page_fault">() != 0;
    constexpr unsigned half = 32;
    const auto token =
        by_memory ? memory.get<"fault_token_47_32">() << half | memory.get<"fault_token_31_0">()
                  : transport.get<"fault_token">();
    const auto work_queue = static_cast<std::uint32_t>(transport.get<"wq_number">());
    const bool resolved = (by_memory ? memory.get<"error">() : transport.get<"error">()) == 0;
    const auto resumed = context.hca.part<queues::WorkQueues>().page_faults().resume(
        token, by_memory ? std::nullopt : std::optional(work_queue), resolved);
    return resumed ? CommandResult::ok() : refuse(context, resumed.error(), token, work_queue);
}

constexpr std::array memory_key_entries{
    CommandEntry{&hwtab::cmd_create_mkey, create_mkey},
    CommandEntry{&hwtab::cmd_query_mkey, query_mkey},
    CommandEntry{&hwtab::cmd_destroy_mkey, destroy_mkey},
    CommandEntry{&hwtab::cmd_create_psv, create_psv},
    CommandEntry{&hwtab::cmd_destroy_psv, destroy_psv},
    CommandEntry{&hwtab::cmd_page_fault_resume, page_fault_resume},
};

} // namespace

std::span<const CommandEntry> memory_commands() {
    return memory_key_entries;
}

} // namespace cxemu::commands
