// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The text form of an envelope: what software has been seen to send to the device.
///
/// A TOML table for each subject (a command, a segment of a WQE, a doorbell), in it a line for each
/// field that was ever other than zero: the values that came. A field without a line was zero each
/// time.
///
/// ```
/// ["create_cq"]
/// "cq_context.c_eqn_or_apu_element" = ["nonzero"]
/// "cq_context.cqe_sz" = ["0", "bytes_128"]
/// ```
///
/// A value is the name of an enumeration's value, or a number. Of a field of more than
/// max_number_width bits there are classes only, so that numbers of objects and addresses don't
/// make each recording another: "0", "nonzero", "ones" (all bits set). Of a mask there are the
/// bits:
/// "+name" when the bit was always set, "+name?" when it sometimes was.
#pragma once

#include <cstdint>
#include <expected>
#include <filesystem>
#include <map>
#include <set>
#include <string>

namespace cxemu::check {

/// Fields of so many bits and fewer are recorded by value, wider ones by class.
inline constexpr std::uint32_t max_number_width = 6;
/// The same for fields with an enumeration; values that it names are always recorded.
inline constexpr std::uint32_t max_enumeration_width = 8;

using EnvelopeValues = std::set<std::string>;
using EnvelopeFields = std::map<std::string, EnvelopeValues>; ///< by path of the field
using EnvelopeText = std::map<std::string, EnvelopeFields>;   ///< by subject

/// Reads \p file. \return an error text that names the file and the cause
std::expected<EnvelopeText, std::string> read_envelope(const std::filesystem::path& file);

/// What has been seen in either: a field that has a line in one only was zero in the other.
EnvelopeText merge(const EnvelopeText& one, const EnvelopeText& other);

/// Subjects and fields in alphabetical order, so that a difference of two recordings is short.
std::string print(const EnvelopeText& envelope);

} // namespace cxemu::check
