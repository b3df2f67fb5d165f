// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// Named values of the command interface, the capabilities and the access registers.
#pragma once

#include "hwtab/model.hpp"

#include <array>

namespace hwtab {

inline constexpr std::array command_status_values{
    Value{"ok", 0x0, "The command was carried out."},
    Value{"internal_error", 0x1, "The firmware failed; the command may have had no effect."},
    Value{"bad_operation", 0x2, "The firmware doesn't know the opcode or the op_mod."},
    Value{"bad_parameter", 0x3, "A field of the input has a value that isn't allowed."},
    Value{"bad_system_state", 0x4, "The function is in no state in which the command is allowed."},
    Value{"bad_resource", 0x5, "A number in the input names no object, or one of another owner."},
    Value{"resource_busy", 0x6, "Other objects still refer to the object."},
    Value{"exceeds_limit", 0x8, "A limit of the capabilities would be exceeded."},
    Value{"bad_resource_state", 0x9, "The object is in no state in which the command is allowed."},
    Value{"bad_index", 0xa, "An index is outside its table."},
    Value{"no_resources", 0xf, "The device has no object of this kind left."},
    Value{"bad_qp_state", 0x10, "The queue pair is in no state that allows the transition."},
    Value{"bad_packet", 0x30, "A management datagram is malformed."},
    Value{"bad_size_with_outstanding_cqes", 0x40,
          "The new completion queue is too small for the entries that are outstanding."},
    Value{"bad_input_length", 0x50, "The input is too short or too long for the command."},
    Value{"bad_output_length", 0x51, "The room for the output is too small."},
};
inline constexpr Enumeration command_status{
    "command_status", command_status_values,
    "Result of a command, in the first byte of its output."};

} // namespace hwtab
