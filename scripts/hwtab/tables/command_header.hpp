// SPDX-License-Identifier: GPL-2.0-only OR BSD-2-Clause
/// @file
/// The first fields of the input and of the output of every command.
#pragma once

#include "hwtab/model.hpp"
#include "tables/interface_values.hpp"

namespace hwtab {

inline constexpr Field opcode_field = bits("opcode", 0x0, 31, 16, "Number of the command.");
inline constexpr Field uid_field =
    bits("uid", 0x0, 15, 0, "User context on whose behalf the command runs; 0 is the kernel.");
inline constexpr Field op_mod_field = bits("op_mod", 0x4, 15, 0, "Variant of the command.");
inline constexpr Field status_field =
    bits("status", 0x0, 31, 24, "Result of the command; 0 is success.", &command_status);
inline constexpr Field syndrome_field = word32(
    "syndrome", 0x4, "Firmware code that narrows down why the command failed; 0 on success.");

} // namespace hwtab
