// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A vfio-user client for tests, in the role of QEMU.
#pragma once

#include "vfio_user/testing/wire.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <functional>
#include <sys/socket.h>
#include <sys/un.h>

namespace cxemu::vfio_user::testing {

/// Connects to the socket of a server.
inline UniqueFd connect_to(const std::filesystem::path& path) {
    UniqueFd socket(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof(address.sun_path) - 1);
    if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0)
        throw std::runtime_error("cannot connect to " + path.string());
    return socket;
}

class Client {
public:
    /// \param let_server_work called while waiting for a reply; empty when the server runs in
    ///        another process
    explicit Client(UniqueFd socket, std::function<void()> let_server_work = {})
        : socket_(std::move(socket)), let_server_work_(std::move(let_server_work)) {}

    /// Sends a request and receives its reply.
    Reply call(Command command, const Bytes& body, const std::vector<int>& fds = {}) {
        send_with_fds(socket_, request(command, body, ++id_), fds);
        return take_reply();
    }

    /// Sends a request without reply.
    void post(Command command, const Bytes& body) {
        send_with_fds(socket_, request(command, body, ++id_, header_flag::no_reply));
    }

    /// Sends the first \p size bytes of a request.
    void send_part(Command command, const Bytes& body, std::size_t size) {
        Bytes whole = request(command, body, ++id_);
        whole.resize(size);
        send_with_fds(socket_, whole);
    }

    /// Disconnects.
    void vanish() { socket_.reset(); }

    [[nodiscard]] const UniqueFd& socket() const { return socket_; }

private:
    Reply take_reply() {
        Bytes bytes = receive(Header::wire_size);
        const Bytes body = receive(Reply(bytes).header.size - Header::wire_size);
        bytes.insert(bytes.end(), body.begin(), body.end());
        return Reply(bytes);
    }

    Bytes receive(std::size_t size) {
        constexpr int max_attempts = 100'000;
        Bytes bytes(size);
        std::size_t done = 0;
        for (int attempt = 0; done < size; ++attempt) {
            if (let_server_work_)
                let_server_work_();
            const ssize_t count = ::recv(socket_.get(), &bytes[done], size - done,
                                         let_server_work_ ? MSG_DONTWAIT : 0);
            if (count == 0 || (count < 0 && errno != EAGAIN) || attempt == max_attempts)
                throw std::runtime_error("the server doesn't reply");
            done += count > 0 ? static_cast<std::size_t>(count) : 0;
        }
        return bytes;
    }

    UniqueFd socket_;
    std::function<void()> let_server_work_;
    std::uint16_t id_ = 0;
};

} // namespace cxemu::vfio_user::testing
