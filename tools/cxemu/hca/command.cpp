// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/command.hpp"

#include "hca/hca.hpp"
#include "hca/rules.hpp"

namespace cxemu::hca {

std::string_view name_of(CommandStatus status) {
    switch (status) {
    case CommandStatus::ok:
        return "OK";
    case CommandStatus::internal_error:
        return "INTERNAL_ERROR";
    case CommandStatus::bad_operation:
        return "BAD_OPERATION";
    case CommandStatus::bad_parameter:
        return "BAD_PARAMETER";
    case CommandStatus::bad_system_state:
        return "BAD_SYSTEM_STATE";
    case CommandStatus::bad_resource:
        return "BAD_RESOURCE";
    case CommandStatus::resource_busy:
        return "RESOURCE_BUSY";
    case CommandStatus::not_ready:
        return "NOT_READY";
    case CommandStatus::exceeds_limit:
        return "EXCEEDS_LIMIT";
    case CommandStatus::bad_resource_state:
        return "BAD_RESOURCE_STATE";
    case CommandStatus::bad_index:
        return "BAD_INDEX";
    case CommandStatus::no_resources:
        return "NO_RESOURCES";
    case CommandStatus::bad_qp_state:
        return "BAD_QP_STATE";
    case CommandStatus::bad_packet:
        return "BAD_PACKET";
    case CommandStatus::bad_size_with_outstanding_cqes:
        return "BAD_SIZE_WITH_OUTSTANDING_CQES";
    case CommandStatus::bad_input_length:
        return "BAD_INPUT_LENGTH";
    case CommandStatus::bad_output_length:
        return "BAD_OUTPUT_LENGTH";
    }
    return "unlisted status";
}

Objects& CommandContext::objects() const {
    return hca.objects();
}

CommandResult CommandContext::refuse(TableError error, ObjectKind kind, std::uint32_t number) {
    const auto kind_name = hca::name_of(kind);
    switch (error) {
    case TableError::full:
        return fail(CommandStatus::no_resources, Syndrome::no_number_left,
                    "all {} numbers of {} objects are in use",
                    number_range(kind, hca.capabilities()).capacity, kind_name);
    case TableError::unknown:
        hca.violation(rules::unknown_object, "{} {:#x}", kind_name, number);
        return fail(CommandStatus::bad_resource, Syndrome::unknown_object, "there is no {} {:#x}",
                    kind_name, number);
    case TableError::foreign:
        hca.violation(rules::foreign_object, "{} {:#x}, uid {}", kind_name, number, uid);
        return fail(CommandStatus::bad_resource, Syndrome::object_of_other_user_context,
                    "{} {:#x} is not owned by user context {}", kind_name, number, uid);
    case TableError::busy:
        break;
    }
    const Object* object = objects().find_any(kind, number);
    const std::uint32_t references = object == nullptr ? 0 : object->references();
    hca.violation(rules::destroyed_while_referenced, "{} {:#x}, {} references", kind_name, number,
                  references);
    return fail(CommandStatus::resource_busy, Syndrome::object_busy, "{} objects refer to {} {:#x}",
                references, kind_name, number);
}

CommandResult CommandContext::refuse_op_mod() {
    return fail(CommandStatus::bad_operation, Syndrome::unknown_op_mod, "op_mod {:#x}", op_mod);
}

} // namespace cxemu::hca
