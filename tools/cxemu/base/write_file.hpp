// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Atomic replacement of files.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

namespace cxemu {

/// Writes \p text to \p file: a reader sees the old contents or the new ones, never a part.
/// \return an error text that names the file and the cause
std::expected<void, std::string> write_file(const std::filesystem::path& file,
                                            std::string_view text);

} // namespace cxemu
