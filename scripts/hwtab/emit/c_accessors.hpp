// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// C structures and the functions that read and write their fields.
#pragma once

#include "hwtab/model.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace hwtab::emit {

/// `struct hw_<layout>`, with the check of its size.
[[nodiscard]] std::string c_struct(const Layout& layout);

/// Getters and setters of every field, pointers to bytes and nested structures. A field that only
/// the device writes also has a setter, for tests and fake devices.
[[nodiscard]] std::string c_accessors(const Layout& layout);

/// For structures of the hot path, functions that build whole words at once, and one that fills
/// the structure if its fields are few.
[[nodiscard]] std::string c_packers(const Layout& layout);

/// The fields in the word with index `word`, high bits first; empty if the word has no packer.
[[nodiscard]] std::vector<const Field*> packed_fields(const Layout& layout, std::uint32_t word);

/// `hw_<layout>_pack_<byte offset>`
[[nodiscard]] std::string packer_name(const Layout& layout, std::uint32_t word);

/// There is a function that fills the whole structure.
[[nodiscard]] bool has_full_packer(const Layout& layout);

} // namespace hwtab::emit
