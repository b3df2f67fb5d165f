// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Files that are replaced as a whole.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <string_view>

namespace cxemu {

/// Writes \p text to \p file: a reader sees the old content or the new one, never a part.
/// \return an error text that names the file and the cause
std::expected<void, std::string> write_file(const std::filesystem::path& file,
                                            std::string_view text);

} // namespace cxemu
