// SPDX-License-Identifier: GPL-2.0-or-later
#include "emit/output.hpp"

#include "emit/banner.hpp"

#include <algorithm>
#include <fstream>
#include <optional>
#include <sstream>
#include <system_error>

namespace hwtab::emit {

namespace fs = std::filesystem;

namespace {

std::optional<std::string> read(const fs::path& path) {
    const std::ifstream stream(path, std::ios::binary);
    if (!stream) {
        return std::nullopt;
    }
    std::ostringstream content;
    content << stream.rdbuf();
    return content.str();
}

bool write(const fs::path& path, const std::string& content) {
    std::error_code ignored; // if this fails, so does the stream
    fs::create_directories(path.parent_path(), ignored);
    std::ofstream stream(path, std::ios::binary);
    stream << content;
    stream.close();
    return static_cast<bool>(stream);
}

bool is_among(const std::vector<File>& files, const fs::path& path) {
    return std::ranges::any_of(files, [&](const File& file) { return file.path == path; });
}

/// Generated files on disk that are not in `files`.
std::vector<fs::path> left_over(const fs::path& root, const std::vector<File>& files) {
    std::vector<fs::path> result;
    for (const fs::path& directory : generated_directories()) {
        std::error_code absent; // a directory that does not exist has no files
        for (const auto& entry : fs::directory_iterator(root / directory, absent)) {
            const fs::path path = directory / entry.path().filename();
            if (entry.is_regular_file() && !is_among(files, path) &&
                read(entry.path()).value_or("").find(banner_mark) != std::string::npos) {
                result.push_back(path);
            }
        }
    }
    std::ranges::sort(result);
    return result;
}

} // namespace

const std::vector<fs::path>& generated_directories() {
    static const std::vector<fs::path> directories{"include/hw"};
    return directories;
}

std::expected<Changes, std::string> write_files(const fs::path& root,
                                                const std::vector<File>& files) {
    Changes changes;
    for (const File& file : files) {
        if (read(root / file.path) == file.content) {
            continue;
        }
        if (!write(root / file.path, file.content)) {
            return std::unexpected("cannot write " + (root / file.path).string());
        }
        changes.written.push_back(file.path);
    }
    for (const fs::path& path : left_over(root, files)) {
        std::error_code error;
        if (!fs::remove(root / path, error)) {
            return std::unexpected("cannot remove " + (root / path).string() + ": " +
                                   error.message());
        }
        changes.removed.push_back(path);
    }
    return changes;
}

std::vector<fs::path> stale_files(const fs::path& root, const std::vector<File>& files) {
    std::vector<fs::path> stale = left_over(root, files);
    for (const File& file : files) {
        if (read(root / file.path) != file.content) {
            stale.push_back(file.path);
        }
    }
    std::ranges::sort(stale);
    return stale;
}

} // namespace hwtab::emit
