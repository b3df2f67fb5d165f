// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Syndromes: the reason of a command failure, more precise than its status.
///
/// Each device has its own numbers, which software only prints. cxemu explains its numbers in its
/// log.
#pragma once

#include <cstdint>
#include <string_view>

namespace cxemu::hca {

enum class Syndrome : std::uint32_t {
    none = 0,

    // Command queue and dispatcher.
    unknown_opcode = 0x00C0'0101,
    unknown_op_mod,
    input_too_short,
    output_too_short,
    input_too_long,
    unknown_user_context,
    wrong_function_state,
    not_supported,

    // Fields of the input.
    reserved_field_set = 0x00C0'0201,
    field_out_of_range,
    exceeds_capability,
    wrong_function,
    wrong_port,
    capability_read_only,
    capability_above_maximum,

    // Objects.
    unknown_object = 0x00C0'0301,
    object_of_other_user_context,
    object_busy,
    no_number_left,
    wrong_object_state,
    wrong_object_type,
    user_context_busy,

    // Memory of the host.
    bad_page_address = 0x00C0'0401,
    page_list_too_short,
    page_given_twice,
    too_many_pages,
    not_enough_pages,
    dma_failed,
    umem_out_of_range,
    bad_doorbell_record,

    // Mkeys.
    bad_access_mode = 0x00C0'0501,
    bad_access_rights,
    bad_translation_list,
    no_device_memory,
    no_memory_operation,

    // Queues and QPs.
    bad_ring_geometry = 0x00C0'0601,
    bad_uar,
    bad_vector,
    bad_event_mask,
    bad_service_type,
    bad_transition,
    bad_optional_mask,
    event_already_mapped,

    // Ports and MADs.
    bad_register = 0x00C0'0701,
    bad_register_value,
    bad_gid_index,
    bad_pkey_index,
    bad_datagram,
    not_a_member,
};

/// Name and explanation of a syndrome.
struct SyndromeText {
    Syndrome syndrome;
    std::string_view name;    ///< as in the enumeration
    std::string_view meaning; ///< one sentence
};

/// \return the texts of \p syndrome, or a placeholder for an unknown number
const SyndromeText& describe(Syndrome syndrome);

} // namespace cxemu::hca
