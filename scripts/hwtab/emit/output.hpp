// SPDX-License-Identifier: GPL-2.0-or-later
/// @file
/// Generated files: written where they differ, compared where they must not.
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

/// Writes those `files` whose content is not on disk yet, and removes generated files (known by
/// their banner) that no emitter makes any more.
/// @param root directory that the paths are relative to; directories are created.
/// @return the paths changed, or which file could not be written and why.
[[nodiscard]] std::expected<Changes, std::string> write_files(const std::filesystem::path& root,
                                                              const std::vector<File>& files);

/// The paths below `root` whose content differs from `files`, that are missing, or that carry the
/// banner of generated files and are in `files` no more.
[[nodiscard]] std::vector<std::filesystem::path> stale_files(const std::filesystem::path& root,
                                                             const std::vector<File>& files);

} // namespace hwtab::emit
