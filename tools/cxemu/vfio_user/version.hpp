// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The VERSION message: protocol version and capabilities as JSON text.
#pragma once

#include <cstddef>
#include <expected>
#include <span>
#include <string>
#include <vector>

namespace cxemu::vfio_user {

/// Checks the body of a client's VERSION message.
/// \return an error text: body too short, wrong major version, capabilities that are not a
///         NUL-terminated JSON object or have values of the wrong type
std::expected<void, std::string> check_client_version(std::span<const std::byte> body);

/// The body of the reply, at most \p limit bytes: QEMU accepts no reply longer than its request.
/// Capabilities are omitted if they do not fit.
std::vector<std::byte> make_version_reply(std::size_t limit);

} // namespace cxemu::vfio_user
