// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Listening on UNIX sockets.
#pragma once

#include "base/unique_fd.hpp"

#include <expected>
#include <filesystem>
#include <string>

namespace cxemu {

/// Listens on \p path, without blocking. A socket file that nobody listens on any more is replaced.
/// \param backlog connections that may wait to be accepted
/// \return an error text that names the path and the cause
std::expected<UniqueFd, std::string> listen_on_socket(const std::filesystem::path& path,
                                                      int backlog);

} // namespace cxemu
