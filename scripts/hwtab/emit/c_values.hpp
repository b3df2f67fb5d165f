// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Names of numbers for C: enumerations, masks, opcodes, register ids.
#pragma once

#include "emit/catalogue.hpp"
#include "hwtab/model.hpp"

#include <string>

namespace hwtab::emit {

/// A C enumeration; constants for masks and for values that no int can hold.
[[nodiscard]] std::string c_values(const Enumeration& enumeration);

/// `HW_CMD_*` of one group, or nothing.
[[nodiscard]] std::string c_opcodes(const Group& group);

/// `HW_REGISTER_*` of one group, or nothing.
[[nodiscard]] std::string c_registers(const Group& group);

/// `enum hw_<layout>_offset` and `HW_<LAYOUT>_MASK_*`: offsets of the words that software reads or
/// writes in place, and the bits of each field; nothing for other structures.
[[nodiscard]] std::string c_offsets(const Layout& layout);

} // namespace hwtab::emit
