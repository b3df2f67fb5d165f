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

} // namespace hwtab::emit
