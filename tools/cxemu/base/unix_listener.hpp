// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Listening on UNIX sockets.
#pragma once

#include "base/unique_fd.hpp"

#include <expected>
#include <filesystem>
#include <string>

namespace cxemu {

/// Listens on \p path, non-blocking. A socket file without a listener is replaced.
/// \param backlog maximum number of pending connections
/// \return an error text that names the path and the cause
std::expected<UniqueFd, std::string> listen_on_socket(const std::filesystem::path& path,
                                                      int backlog);

} // namespace cxemu
