// SPDX-License-Identifier: GPL-2.0-or-later
#include "commands/scheduling_elements.hpp"

#include "base/byte_order.hpp"
#include "commands/resources.hpp"
#include "hca/hca.hpp"
#include "tables/commands_objects.hpp"

namespace cxemu::commands {

namespace {

using namespace hca;

/// Offsets after the header. mlx5_ifc.h has the fields of an element, but not the other fields of
/// the input; these are from libmlx5.
struct Input {
    static constexpr std::size_t selection = 0x10; ///< 8 bytes
    static constexpr std::size_t hierarchy = 0x18; ///< 1 byte
    static constexpr std::size_t type = 0x30;      ///< 1 byte
    static constexpr std::size_t policy = 0x35;    ///< 1 byte, of nodes
    static constexpr std::size_t parent = 0x38;    ///< 4 bytes
    static constexpr std::size_t share = 0x44;     ///< 4 bytes
    static constexpr std::size_t limit = 0x48;     ///< 4 bytes
    static constexpr std::size_t size = 0x90;

    static constexpr std::uint64_t select_share = 1;
    static constexpr std::uint64_t select_limit = 2;
    static constexpr std::uint8_t nic_hierarchy = 3;
    static constexpr std::uint8_t weighted_round_robin = 0; ///< the only policy
};

std::uint8_t byte_at(const CommandContext& context, std::size_t offset) {
    return std::to_integer<std::uint8_t>(context.input[offset]);
}

template <class T>
T number_at(const CommandContext& context, std::size_t offset) {
    return load_be<T>(context.input.subspan(offset));
}

CommandResult check_input(CommandContext& context) {
    if (context.input.size() < Input::size)
        return context.fail(CommandStatus::bad_input_length, Syndrome::input_too_short,
                            "{} bytes have no room for a scheduling element", context.input.size());
    if (byte_at(context, Input::hierarchy) != Input::nic_hierarchy)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "scheduling_hierarchy {} is not that of the NIC",
                            byte_at(context, Input::hierarchy));
    const auto selection = number_at<std::uint64_t>(context, Input::selection);
    if ((selection & ~(Input::select_share | Input::select_limit)) != 0)
        return context.fail(CommandStatus::bad_parameter, Syndrome::bad_optional_mask,
                            "modify_field_select {:#x} has bits that mean nothing", selection);
    const auto share = number_at<std::uint32_t>(context, Input::share);
    return (selection & Input::select_share) == 0
               ? CommandResult::ok()
               : check_limit(context, "bw_share", share, SchedulingElement::largest_share);
}

CommandResult check_type(CommandContext& context) {
    const auto type = byte_at(context, Input::type);
    const bool is_node = type == static_cast<std::uint8_t>(SchedulingElement::Type::node);
    if (!is_node && type != static_cast<std::uint8_t>(SchedulingElement::Type::group))
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "element_type {} is not supported", type);
    if (is_node && byte_at(context, Input::policy) != Input::weighted_round_robin)
        return context.fail(CommandStatus::bad_parameter, Syndrome::not_supported,
                            "tsar_type {} is not supported", byte_at(context, Input::policy));
    return CommandResult::ok();
}

/// Only a node can be the root, or have elements below it.
std::expected<Reference<SchedulingElement>, CommandResult>
find_parent(CommandContext& context, SchedulingElement::Type type) {
    const auto number = number_at<std::uint32_t>(context, Input::parent);
    if (number == 0 && type == SchedulingElement::Type::node)
        return Reference<SchedulingElement>();
    auto parent = refer_to<SchedulingElement>(context, number);
    if (parent && (*parent)->type() != SchedulingElement::Type::node)
        return std::unexpected(
            context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                         "parent_element_id {:#x} is a group of queue pairs", number));
    return parent;
}

void take_over_selected(const CommandContext& context, SchedulingElement& element) {
    const auto selection = number_at<std::uint64_t>(context, Input::selection);
    if ((selection & Input::select_share) != 0)
        element.set_share(number_at<std::uint32_t>(context, Input::share));
    if ((selection & Input::select_limit) != 0)
        element.set_limit(number_at<std::uint32_t>(context, Input::limit));
}

} // namespace

CommandResult create_scheduling_element(CommandContext& context) {
    if (const auto checked = check_input(context); !checked)
        return checked;
    if (const auto checked = check_type(context); !checked)
        return checked;
    const auto type = static_cast<SchedulingElement::Type>(byte_at(context, Input::type));
    auto parent = find_parent(context, type);
    if (!parent)
        return parent.error();
    if (type == SchedulingElement::Type::group)
        parent->reset(); // QPs hold a reference to a group, which must not keep the nodes above it
                         // alive
    const auto created =
        context.objects().of<SchedulingElement>().create(context.uid, type, *std::move(parent));
    if (!created)
        return context.refuse(created.error(), SchedulingElement::kind, 0);
    take_over_selected(context, **created);
    context.out<hwtab::general_obj_out_cmd_hdr>().set<"obj_id">((*created)->number());
    return CommandResult::ok();
}

CommandResult modify_scheduling_element(CommandContext& context) {
    if (const auto checked = check_input(context); !checked)
        return checked;
    const auto number =
        static_cast<std::uint32_t>(context.in<hwtab::general_obj_in_cmd_hdr>().get<"obj_id">());
    const auto found = context.find_owned<SchedulingElement>(number);
    if (!found)
        return found.error();
    if (byte_at(context, Input::type) != static_cast<std::uint8_t>((*found)->type()))
        return context.fail(CommandStatus::bad_parameter, Syndrome::wrong_object_type,
                            "scheduling element {:#x} has another element_type than {}", number,
                            byte_at(context, Input::type));
    take_over_selected(context, **found);
    return CommandResult::ok();
}

CommandResult destroy_scheduling_element(CommandContext& context, std::uint32_t number) {
    const auto found = context.find_owned<SchedulingElement>(number);
    if (!found)
        return found.error();
    if ((*found)->type() == SchedulingElement::Type::node)
        return context.destroy<SchedulingElement>(number);
    context.objects().of<SchedulingElement>().release(number, context.uid);
    return CommandResult::ok();
}

} // namespace cxemu::commands
