// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Listens on a UNIX socket and serves one device to one client at a time.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"
#include "vfio_user/device.hpp"
#include "vfio_user/session_statistics.hpp"

#include <cstdint>
#include <expected>
#include <filesystem>
#include <memory>
#include <string>

namespace cxemu::vfio_user {

class Connection;
class Session;

/// A second client is refused while the first is connected. When a client disconnects, its maps and
/// eventfds are dropped and the device is notified.
class Server {
public:
    /// Listens on \p path. A stale socket file is replaced.
    /// \param device must outlive the server
    /// \return an error text with the path and the cause
    static std::expected<std::unique_ptr<Server>, std::string>
    listen(EventLoop& loop, const std::filesystem::path& path, Device& device, Log log);

    /// Disconnects the client and removes the socket file.
    ~Server();
    Server(const Server&) = delete;
    Server& operator=(const Server&) = delete;

    [[nodiscard]] bool connected() const { return connection_ != nullptr; }
    [[nodiscard]] const SessionStatistics& statistics() const { return statistics_; }

    /// Serves a client on a connected socket (a socketpair). Disconnects the present client.
    void adopt(UniqueFd socket);

private:
    Server(EventLoop& loop, std::filesystem::path path, UniqueFd listener, Device& device, Log log);

    void accept_client();
    void pause_accepting();
    void connection_closed(std::uint64_t number, const std::string& fault);
    void end_connection();

    EventLoop& loop_;
    std::filesystem::path path_;
    Device& device_;
    Log log_;
    SessionStatistics statistics_;
    UniqueFd listener_;
    FdWatch listener_watch_;
    Timer accept_again_;
    std::unique_ptr<Session> session_;
    std::unique_ptr<Connection> connection_;
    std::uint64_t connection_number_ = 0;
    /// Lets a deferred call detect that the server has been destroyed.
    std::shared_ptr<bool> alive_ = std::make_shared<bool>(true);
};

} // namespace cxemu::vfio_user
