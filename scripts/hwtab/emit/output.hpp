// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Generated files: writes those that differ, or checks that none differs.
#pragma once

#include <expected>
#include <filesystem>
#include <string>
#include <vector>

namespace hwtab::emit {

/// One file that an emitter made.
struct File {
    std::filesystem::path path; ///< below the root of the tree
    std::string content;
};

/// Directories below the root in which all generated files lie.
[[nodiscard]] const std::vector<std::filesystem::path>& generated_directories();

/// What write_files changed.
struct Changes {
    std::vector<std::filesystem::path> written;
    std::vector<std::filesystem::path> removed;
};

/// Writes those `files` whose content on disk differs, and removes generated files (recognized by
/// their banner) that no emitter produces.
/// @param root directory to which the paths are relative; directories are created.
/// @return the changed paths, or which file could not be written and why.
[[nodiscard]] std::expected<Changes, std::string> write_files(const std::filesystem::path& root,
                                                              const std::vector<File>& files);

/// The paths below `root` whose content differs from `files`, that are missing, or that have the
/// banner of generated files but are not in `files`.
[[nodiscard]] std::vector<std::filesystem::path> stale_files(const std::filesystem::path& root,
                                                             const std::vector<File>& files);

} // namespace hwtab::emit
