// SPDX-License-Identifier: GPL-2.0-or-later
#include "hca/syndrome.hpp"

#include <algorithm>
#include <array>

namespace cxemu::hca {

namespace {

using enum Syndrome;

constexpr std::array texts{
    SyndromeText{none, "none", "The command succeeded."},
    SyndromeText{unknown_opcode, "unknown_opcode", "The device has no command of this opcode."},
    SyndromeText{unknown_op_mod, "unknown_op_mod", "The command has no variant of this op_mod."},
    SyndromeText{input_too_short, "input_too_short", "The input ends before its last field."},
    SyndromeText{output_too_short, "output_too_short", "The output is shorter than its layout."},
    SyndromeText{input_too_long, "input_too_long", "The input is longer than its layout."},
    SyndromeText{unknown_user_context, "unknown_user_context",
                 "No user context has the uid of the header."},
    SyndromeText{wrong_function_state, "wrong_function_state",
                 "The state of the function doesn't allow the command."},
    SyndromeText{not_supported, "not_supported",
                 "The device doesn't have the capability for the command."},
    SyndromeText{reserved_field_set, "reserved_field_set", "A reserved field is not zero."},
    SyndromeText{field_out_of_range, "field_out_of_range", "The value of a field is out of range."},
    SyndromeText{exceeds_capability, "exceeds_capability",
                 "A field exceeds the limit in the capabilities."},
    SyndromeText{wrong_function, "wrong_function",
                 "The command names another function than its own."},
    SyndromeText{wrong_port, "wrong_port", "The device has no port of this number."},
    SyndromeText{capability_read_only, "capability_read_only",
                 "Software can't set this capability page."},
    SyndromeText{capability_above_maximum, "capability_above_maximum",
                 "A capability exceeds its maximum."},
    SyndromeText{unknown_object, "unknown_object", "No object of this kind has this number."},
    SyndromeText{object_of_other_user_context, "object_of_other_user_context",
                 "The object is owned by another user context."},
    SyndromeText{object_busy, "object_busy", "Other objects refer to the object."},
    SyndromeText{no_number_left, "no_number_left", "All numbers of this kind are in use."},
    SyndromeText{wrong_object_state, "wrong_object_state",
                 "The state of the object doesn't allow this."},
    SyndromeText{wrong_object_type, "wrong_object_type",
                 "The type of the object doesn't support this."},
    SyndromeText{user_context_busy, "user_context_busy", "The user context still owns objects."},
    SyndromeText{bad_page_address, "bad_page_address",
                 "A page address is 0, misaligned, or can't be reached by DMA."},
    SyndromeText{page_list_too_short, "page_list_too_short",
                 "The list of pages is shorter than the object needs."},
    SyndromeText{page_given_twice, "page_given_twice", "The firmware holds this page already."},
    SyndromeText{too_many_pages, "too_many_pages", "More pages than the firmware can hold."},
    SyndromeText{not_enough_pages, "not_enough_pages",
                 "The firmware has fewer pages than it requested."},
    SyndromeText{dma_failed, "dma_failed", "An access to host memory failed."},
    SyndromeText{umem_out_of_range, "umem_out_of_range",
                 "The registered memory is too small for the object."},
    SyndromeText{bad_doorbell_record, "bad_doorbell_record",
                 "The doorbell record is misaligned or can't be reached."},
    SyndromeText{bad_access_mode, "bad_access_mode", "The mkey has no such access mode."},
    SyndromeText{bad_access_rights, "bad_access_rights", "The access rights are inconsistent."},
    SyndromeText{bad_translation_list, "bad_translation_list",
                 "The translation list doesn't fit the mkey."},
    SyndromeText{no_device_memory, "no_device_memory",
                 "No MEMIC is allocated there, or none is free."},
    SyndromeText{no_memory_operation, "no_memory_operation",
                 "The device doesn't support the operation, or it has an address already."},
    SyndromeText{bad_ring_geometry, "bad_ring_geometry",
                 "Sizes, strides and pages of a ring don't fit together."},
    SyndromeText{bad_uar, "bad_uar", "The UAR doesn't exist or is owned by another user context."},
    SyndromeText{bad_vector, "bad_vector", "The device has no interrupt vector of this number."},
    SyndromeText{bad_event_mask, "bad_event_mask", "The mask has events that can't be mapped."},
    SyndromeText{bad_service_type, "bad_service_type", "The service type is not supported."},
    SyndromeText{bad_transition, "bad_transition",
                 "The state of the QP doesn't allow the transition."},
    SyndromeText{bad_optional_mask, "bad_optional_mask",
                 "The transition doesn't support this optional parameter."},
    SyndromeText{event_already_mapped, "event_already_mapped",
                 "Another EQ has subscribed to this event."},
    SyndromeText{bad_register, "bad_register", "The device has no access register of this number."},
    SyndromeText{bad_register_value, "bad_register_value",
                 "The value of an access register field is out of range."},
    SyndromeText{bad_gid_index, "bad_gid_index", "The index exceeds the GID table."},
    SyndromeText{bad_pkey_index, "bad_pkey_index", "The index exceeds the P_Key table."},
    SyndromeText{bad_datagram, "bad_datagram", "The MAD is malformed."},
    SyndromeText{not_a_member, "not_a_member", "The QP is not attached to the multicast group."},
};

constexpr SyndromeText unknown_text{none, "unlisted", "A syndrome that this table doesn't list."};

} // namespace

const SyndromeText& describe(Syndrome syndrome) {
    const auto found = std::ranges::find(texts, syndrome, &SyndromeText::syndrome);
    return found == texts.end() ? unknown_text : *found;
}

} // namespace cxemu::hca
