// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The text form of an envelope: messages that software has sent to the device.
///
/// Each subject (a command, a segment of a WQE, a doorbell) has a TOML table. In the table, each
/// field that ever was not zero has a line with its values. A field without a line was always zero.
///
/// ```
/// ["create_cq"]
/// "cq_context.c_eqn_or_apu_element" = ["nonzero"]
/// "cq_context.cqe_sz" = ["0", "bytes_128"]
/// ```
///
/// A value is the name of an enumerator, or a number. A field with more than max_number_width bits
/// is recorded by class, so that recordings do not differ in object numbers and addresses: "0",
/// "nonzero", "ones" (all bits set). A mask is recorded by bit: "+name" if the bit was always set,
/// "+name?" if it was sometimes set.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace cxemu::check {

/// Fields of at most this number of bits are recorded by value, wider fields by class.
inline constexpr std::uint32_t max_number_width = 6;
/// The same for fields with an enumeration; values that it names are always recorded.
inline constexpr std::uint32_t max_enumeration_width = 8;

using EnvelopeValues = std::set<std::string>;
using EnvelopeFields = std::map<std::string, EnvelopeValues>; ///< by path of the field
using EnvelopeText = std::map<std::string, EnvelopeFields>;   ///< by subject

/// Reads \p file. \return an error text that names the file and the cause
std::expected<EnvelopeText, std::string> read_envelope(const std::filesystem::path& file);

/// Merges two recordings. A field that has a line in only one of them was zero in the other.
EnvelopeText merge(const EnvelopeText& one, const EnvelopeText& other);

/// Subjects and fields in alphabetical order, so that a difference of two recordings is short.
std::string print(const EnvelopeText& envelope);

} // namespace cxemu::check
