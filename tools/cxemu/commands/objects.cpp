// SPDX-License-Identifier: GPL-2.0-or-later
//
// Objects without behaviour of their own: PDs, UARs, XRC and transport domains, user contexts and
// their registered memory.
#include "commands/scheduling_elements.hpp"
#include "commands/table.hpp"
#include "hca/hca.hpp"
#include "tables/commands_objects.hpp"

#include <array>
#include <vector>

namespace cxemu::commands {

namespace {

using namespace hca;

/// ALLOC commands whose input is a header only.
template <NumberedObject T, const hwtab::Layout& layout, hwtab::FixedString number>
CommandResult allocate(CommandContext& context) {
    const auto created = context.objects().of<T>().create(context.uid);
    if (!created)
        return context.refuse(created.error(), T::kind, 0);
    context.out<layout>().template set<number>((*created)->number());
    return CommandResult::ok();
}

/// DEALLOC commands whose input is the object number only.
template <NumberedObject T, const hwtab::Layout& layout, hwtab::FixedString number>
CommandResult deallocate(CommandContext& context) {
    const auto in = context.in<layout>();
    return context.destroy<T>(static_cast<std::uint32_t>(in.template get<number>()));
}

/// A process may close its device before it destroys its queues. Then libmlx5 frees the UARs first,
/// and the kernel passes these commands on. So a user context may free a UAR that queues use, and
/// later doorbells to the page are lost. The kernel (uid 0) may not free such a UAR.
CommandResult dealloc_uar(CommandContext& context) {
    const auto in = context.in<hwtab::dealloc_uar_in>();
    const auto number = static_cast<std::uint32_t>(in.get<"uar">());
    if (context.is_by_kernel())
        return context.destroy<Uar>(number);
    const auto released = context.objects().of<Uar>().release(number, context.uid);
    return released ? CommandResult::ok() : context.refuse(released.error(), Uar::kind, number);
}

CommandResult create_uctx(CommandContext& context) {
    const auto rights = context.in<hwtab::create_uctx_in>().get<"uctx.cap">();
    const auto possible = context.hca.capabilities().current<"uctx_cap">();
    if ((rights & ~possible) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::exceeds_capability,
                            "uctx.cap {:#x} exceeds the capabilities {:#x}", rights, possible);
    const auto created =
        context.objects().of<UserContext>().create(0, static_cast<std::uint32_t>(rights));
    if (!created)
        return context.refuse(created.error(), UserContext::kind, 0);
    context.out<hwtab::create_uctx_out>().set<"uid">((*created)->number());
    return CommandResult::ok();
}

CommandResult destroy_uctx(CommandContext& context) {
    const auto uid = static_cast<std::uint16_t>(context.in<hwtab::destroy_uctx_in>().get<"uid">());
    if (const std::size_t owned = uid == 0 ? 0 : context.objects().owned_by(uid); owned != 0)
        return context.fail(CommandStatus::resource_busy, Syndrome::user_context_busy,
                            "user context {} still owns {} objects", uid, owned);
    return context.destroy<UserContext>(uid);
}

/// The pages of a umem, or the result of the failed command.
std::expected<std::vector<std::uint64_t>, CommandResult>
umem_pages(CommandContext& context, hwtab::ConstView<hwtab::umem> umem, std::uint64_t page_size) {
    const auto count = umem.get<"num_of_mtt">();
    const std::size_t room = umem.bytes<"mtt">().size() / hwtab::mtt.size;
    if (count == 0 || count > room)
        return std::unexpected(context.fail(CommandStatus::bad_parameter,
                                            Syndrome::page_list_too_short,
                                            "num_of_mtt is {}, the list has {}", count, room));
    std::vector<std::uint64_t> pages(count);
    for (std::size_t i = 0; i < count; ++i) {
        const auto entry = umem.nested<"mtt", hwtab::mtt>(i);
        pages[i] = (entry.get<"ptag_63_32">() << 32U) | (entry.get<"ptag_31_8">() << 8U);
        if (pages[i] % page_size != 0)
            return std::unexpected(context.fail(
                CommandStatus::bad_parameter, Syndrome::bad_page_address,
                "mtt[{}] {:#x} is not aligned to pages of {:#x} bytes", i, pages[i], page_size));
    }
    return pages;
}

CommandResult create_umem(CommandContext& context) {
    const auto in = context.in<hwtab::create_umem_in>();
    const hwtab::ConstView<hwtab::umem> umem{context.input.subspan(
        hwtab::locate(hwtab::create_umem_in, "umem").offset / hwtab::bits_per_byte)};
    if (context.is_by_kernel() && context.hca.capabilities().current<"umem_uid_0">() == 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the capability umem_uid_0 is 0");
    if (umem.get<"ats">() != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "the device has no address translation services");
    const auto log_page_size = static_cast<std::uint32_t>(in.get<"umem.log_page_size">()) + 12;
    const std::uint64_t page_size = std::uint64_t{1} << log_page_size;
    const auto offset = static_cast<std::uint32_t>(umem.get<"page_offset">());
    if (offset >= page_size)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "page_offset {:#x} exceeds pages of {:#x} bytes", offset, page_size);
    auto pages = umem_pages(context, umem, page_size);
    if (!pages)
        return pages.error();
    const auto created = context.objects().of<UserMemory>().create(context.uid, log_page_size,
                                                                   offset, *std::move(pages));
    if (!created)
        return context.refuse(created.error(), UserMemory::kind, 0);
    context.out<hwtab::create_umem_out>().set<"umem_id">((*created)->number());
    return CommandResult::ok();
}

// --- General objects -----------------------------------------------------------------------------

/// Maps an address to a QP for congestion control. The object has no effect, because this fabric
/// has no congestion control. libmlx5 creates it in mlx5dv_map_ah_to_qp().
constexpr std::uint64_t address_mapping = 0x3a;
/// Reserved QPNs. The type is missing in mlx5_ifc.h.
constexpr std::uint64_t reserved_numbers = 0x2c;

CommandResult unknown_type(CommandContext& context) {
    const auto type = context.in<hwtab::general_obj_in_cmd_hdr>().get<"obj_type">();
    return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                        "general object type {:#x}", type);
}

/// \return the type in the input, or 0 when the device does not support it
std::uint64_t supported_type(CommandContext& context) {
    const auto type = context.in<hwtab::general_obj_in_cmd_hdr>().get<"obj_type">();
    const auto types = context.hca.capabilities().current<"general_obj_types">();
    const bool supported = type < 64 && ((types >> type) & 1U) != 0;
    return supported ? type : 0;
}

CommandResult create_address_mapping(CommandContext& context) {
    const auto created =
        context.objects().of<GeneralObject>().create(context.uid, std::uint16_t{address_mapping});
    if (!created)
        return context.refuse(created.error(), GeneralObject::kind, 0);
    context.out<hwtab::general_obj_out_cmd_hdr>().set<"obj_id">((*created)->number());
    return CommandResult::ok();
}

CommandResult reserve_numbers(CommandContext& context) {
    const auto in = context.in<hwtab::general_obj_in_cmd_hdr>();
    const auto log_size =
        in.nested<"op_param", hwtab::general_obj_create_param>().get<"log_obj_range">();
    if (log_size != ReservedNumberRange::log_size)
        return context.fail(CommandStatus::bad_parameter, Syndrome::field_out_of_range,
                            "log_obj_range is {}, ranges have 2^{} numbers", log_size,
                            ReservedNumberRange::log_size);
    const auto created = context.objects().of<ReservedNumberRange>().create(context.uid);
    if (!created)
        return context.refuse(created.error(), ReservedNumberRange::kind, 0);
    context.out<hwtab::general_obj_out_cmd_hdr>().set<"obj_id">((*created)->start());
    return CommandResult::ok();
}

CommandResult release_numbers(CommandContext& context, std::uint32_t start) {
    if (start % (1U << ReservedNumberRange::log_size) != 0)
        return context.refuse(TableError::unknown, ReservedNumberRange::kind, start);
    return context.destroy<ReservedNumberRange>(ReservedNumberRange::table_number(start));
}

CommandResult create_general_object(CommandContext& context) {
    switch (supported_type(context)) {
    case address_mapping:
        return create_address_mapping(context);
    case reserved_numbers:
        return reserve_numbers(context);
    case scheduling_element_type:
        return create_scheduling_element(context);
    default:
        return unknown_type(context);
    }
}

CommandResult modify_general_object(CommandContext& context) {
    return supported_type(context) == scheduling_element_type ? modify_scheduling_element(context)
                                                              : unknown_type(context);
}

CommandResult destroy_general_object(CommandContext& context) {
    const auto in = context.in<hwtab::general_obj_in_cmd_hdr>();
    const auto number = static_cast<std::uint32_t>(in.get<"obj_id">());
    switch (supported_type(context)) {
    case address_mapping:
        return context.destroy<GeneralObject>(number);
    case reserved_numbers:
        return release_numbers(context, number);
    case scheduling_element_type:
        return destroy_scheduling_element(context, number);
    default:
        return unknown_type(context);
    }
}

constexpr std::array object_entries{
    CommandEntry{&hwtab::cmd_alloc_pd, allocate<ProtectionDomain, hwtab::alloc_pd_out, "pd">},
    CommandEntry{&hwtab::cmd_dealloc_pd, deallocate<ProtectionDomain, hwtab::dealloc_pd_in, "pd">},
    CommandEntry{&hwtab::cmd_alloc_uar, allocate<Uar, hwtab::alloc_uar_out, "uar">},
    CommandEntry{&hwtab::cmd_dealloc_uar, dealloc_uar},
    CommandEntry{&hwtab::cmd_alloc_xrcd, allocate<XrcDomain, hwtab::alloc_xrcd_out, "xrcd">},
    CommandEntry{&hwtab::cmd_dealloc_xrcd, deallocate<XrcDomain, hwtab::dealloc_xrcd_in, "xrcd">},
    CommandEntry{&hwtab::cmd_alloc_transport_domain,
                 allocate<TransportDomain, hwtab::alloc_transport_domain_out, "transport_domain">},
    CommandEntry{
        &hwtab::cmd_dealloc_transport_domain,
        deallocate<TransportDomain, hwtab::dealloc_transport_domain_in, "transport_domain">},
    CommandEntry{&hwtab::cmd_create_uctx, create_uctx},
    CommandEntry{&hwtab::cmd_destroy_uctx, destroy_uctx},
    CommandEntry{&hwtab::cmd_create_umem, create_umem},
    CommandEntry{&hwtab::cmd_destroy_umem,
                 deallocate<UserMemory, hwtab::destroy_umem_in, "umem_id">},
    CommandEntry{&hwtab::cmd_create_general_object, create_general_object},
    CommandEntry{&hwtab::cmd_modify_general_object, modify_general_object},
    CommandEntry{&hwtab::cmd_query_general_object, unknown_type},
    CommandEntry{&hwtab::cmd_destroy_general_object, destroy_general_object},
};

} // namespace

std::span<const CommandEntry> object_commands() {
    return object_entries;
}

} // namespace cxemu::commands
