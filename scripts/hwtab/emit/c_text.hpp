// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// C as the generated headers write it.
#pragma once

#include "hwtab/model.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace hwtab::emit {

/// `hw_cqc`
[[nodiscard]] std::string c_name(const Layout& layout);

/// `HW_CQC_STATE_OK`
[[nodiscard]] std::string c_name(const Enumeration& enumeration, const Value& value);

/// `HW_CMD_CREATE_CQ`
[[nodiscard]] std::string c_name(const Command& command);

/// `HW_REGISTER_PTYS`
[[nodiscard]] std::string c_name(const Register& entry);

/// Some value of it needs 64 bits.
[[nodiscard]] bool is_wide(const Enumeration& enumeration);

/// A function for headers; each line of `body` begins with a tab and ends with a newline.
[[nodiscard]] std::string inline_function(std::string_view type, const std::string& name,
                                          const std::vector<std::string>& parameters,
                                          std::string_view body);

/// `type name(parameters)`, in several lines if it has to be.
[[nodiscard]] std::string declarator(std::string_view type, const std::string& name,
                                     const std::vector<std::string>& parameters);

/// The name of a field in messages, in quotes: `"cqc.status"`.
[[nodiscard]] std::string quoted_name(const Layout& layout, const Field& field);

/// Lowest bit of `field` in its word.
[[nodiscard]] std::uint32_t low_bit(const Field& field);

} // namespace hwtab::emit
