// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/unix_listener.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <spdlog/fmt/fmt.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <system_error>

namespace cxemu {
namespace {

UniqueFd make_socket() {
    return UniqueFd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
}

/// True when \p path is a socket file without a listening server.
bool is_stale(const std::filesystem::path& path, const sockaddr_un& address) {
    std::error_code ignored;
    if (!std::filesystem::is_socket(path, ignored))
        return false;
    const UniqueFd probe = make_socket();
    return ::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) !=
               0 &&
           errno == ECONNREFUSED;
}

bool bind_to(const UniqueFd& socket, const sockaddr_un& address) {
    return ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0;
}

} // namespace

std::expected<UniqueFd, std::string> listen_on_socket(const std::filesystem::path& path,
                                                      int backlog) {
    const std::string name = path.string();
    const auto refused = [&](const std::string& cause) {
        return std::unexpected(fmt::format("cannot listen on \"{}\": {}", name, cause));
    };
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    if (name.empty() || name.size() >= sizeof(address.sun_path))
        return refused(fmt::format("path length {} out of range [1, {}]", name.size(),
                                   sizeof(address.sun_path) - 1));
    std::ranges::copy(name, std::begin(address.sun_path));
    UniqueFd listener = make_socket();
    if (!listener)
        return refused(std::strerror(errno));
    bool bound = bind_to(listener, address);
    if (!bound && errno == EADDRINUSE) {
        if (!is_stale(path, address))
            return refused("the path exists and is no stale socket");
        std::error_code ignored;
        std::filesystem::remove(path, ignored);
        bound = bind_to(listener, address);
    }
    if (!bound || ::listen(listener.get(), backlog) != 0)
        return refused(std::strerror(errno));
    return listener;
}

} // namespace cxemu
