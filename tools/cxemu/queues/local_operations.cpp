// SPDX-License-Identifier: GPL-2.0-or-later
#include "queues/local_operations.hpp"

#include "memory/signature_variable.hpp"

namespace cxemu::queues {

namespace {

CompletionError error_of(memory::UmrFault fault) {
    switch (fault) {
    case memory::UmrFault::malformed:
    case memory::UmrFault::bad_signature_format:
        return CompletionError::local_operation;
    case memory::UmrFault::unreachable:
        return CompletionError::local_protection;
    default:
        return CompletionError::window_bind;
    }
}

std::expected<void, CompletionError> set_psv(memory::MemoryKeys& memory, memory::Accessor accessor,
                                             const SendWqe& request) {
    if (request.body().size() < hwtab::seg_set_psv.size)
        return std::unexpected(CompletionError::local_operation);
    const hwtab::ConstView<hwtab::seg_set_psv> fields{request.body()};
    auto* variable = memory.hca().objects().of<memory::Psv>().find(
        static_cast<std::uint32_t>(fields.get<"psv_num">()));
    if (variable == nullptr || variable->protection_domain() != accessor.protection_domain)
        return std::unexpected(CompletionError::local_protection);
    variable->set_state({.syndrome = static_cast<std::uint16_t>(fields.get<"syndrome">()),
                         .status = static_cast<std::uint16_t>(fields.get<"status">()),
                         .signature = fields.get<"transient_signature">()});
    return {};
}

} // namespace

std::expected<void, CompletionError> execute_local(memory::MemoryKeys& memory,
                                                   memory::Accessor accessor,
                                                   memory::UmrRights rights,
                                                   const SendWqe& request) {
    switch (request.opcode) {
    case SendOpcode::set_psv:
        return set_psv(memory, accessor, request);
    case SendOpcode::reg_umr: {
        const auto executed = memory::execute_umr(memory, {.accessor = accessor,
                                                           .rights = rights,
                                                           .key = request.immediate,
                                                           .body = request.body()});
        if (!executed)
            return std::unexpected(error_of(executed.error()));
        return {};
    }
    default:
        return {};
    }
}

} // namespace cxemu::queues
