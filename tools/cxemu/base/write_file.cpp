// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/write_file.hpp"

#include <fstream>
#include <spdlog/fmt/fmt.h>
#include <system_error>
#include <unistd.h>

namespace cxemu {

std::expected<void, std::string> write_file(const std::filesystem::path& file,
                                            std::string_view text) {
    std::filesystem::path temporary = file;
    temporary += fmt::format(".{}.new", ::getpid());
    std::ofstream stream(temporary, std::ios::binary | std::ios::trunc);
    stream.write(text.data(), static_cast<std::streamsize>(text.size()));
    stream.close();
    if (!stream)
        return std::unexpected(fmt::format("cannot write {}", temporary.string()));
    std::error_code error;
    std::filesystem::rename(temporary, file, error);
    if (error)
        return std::unexpected(
            fmt::format("cannot replace {}: {}", file.string(), error.message()));
    return {};
}

} // namespace cxemu
