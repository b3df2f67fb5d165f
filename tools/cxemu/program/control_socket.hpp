// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The control socket: a line of words in, a line of JSON out.
#pragma once

#include "base/event_loop.hpp"
#include "base/log.hpp"
#include "base/unique_fd.hpp"

#include <expected>
#include <filesystem>
#include <functional>
#include <list>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace cxemu::program {

class ControlSocket {
public:
    /// Runs a command and returns its reply. \param words of the line, at least one
    using Handler = std::function<nlohmann::json(const std::vector<std::string>& words)>;

    /// Maximum line length in bytes; a longer line closes the connection.
    static constexpr std::size_t longest_line = 4096;
    static constexpr std::size_t max_clients = 16;

    /// Listens on \p path. A stale socket file is replaced.
    /// \return an error text with the path and the cause
    static std::expected<std::unique_ptr<ControlSocket>, std::string>
    listen(EventLoop& loop, const std::filesystem::path& path, Handler handler, Log log);

    /// Disconnects the clients and removes the socket file.
    ~ControlSocket();
    ControlSocket(const ControlSocket&) = delete;
    ControlSocket& operator=(const ControlSocket&) = delete;

private:
    struct Client;

    ControlSocket(EventLoop& loop, std::filesystem::path path, UniqueFd listener, Handler handler,
                  Log log);
    void accept_client();
    void read_from(Client& client);
    void write_to(Client& client);
    void run_lines(Client& client);
    void drop(Client& client);

    EventLoop& loop_;
    std::filesystem::path path_;
    Handler handler_;
    Log log_;
    UniqueFd listener_;
    FdWatch watch_;
    std::list<std::unique_ptr<Client>> clients_;
};

} // namespace cxemu::program
