// SPDX-License-Identifier: GPL-2.0-or-later
#include "program/control_socket.hpp"

#include "base/unix_listener.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <nlohmann/json.hpp>
#include <sstream>
#include <sys/socket.h>
#include <utility>

namespace cxemu::program {

struct ControlSocket::Client {
    UniqueFd fd;
    std::string received;
    std::string to_send;
    std::unique_ptr<FdWatch> watch;
};

namespace {

std::vector<std::string> split(const std::string& line) {
    std::istringstream stream(line);
    std::vector<std::string> words;
    for (std::string word; stream >> word;)
        words.push_back(word);
    return words;
}

} // namespace

std::expected<std::unique_ptr<ControlSocket>, std::string>
ControlSocket::listen(EventLoop& loop, const std::filesystem::path& path, Handler handler,
                      Log log) {
    auto listener = listen_on_socket(path, max_clients);
    if (!listener)
        return std::unexpected(listener.error());
    return std::unique_ptr<ControlSocket>(
        new ControlSocket(loop, path, *std::move(listener), std::move(handler), std::move(log)));
}

ControlSocket::ControlSocket(EventLoop& loop, std::filesystem::path path, UniqueFd listener,
                             Handler handler, Log log)
    : loop_(loop), path_(std::move(path)), handler_(std::move(handler)), log_(std::move(log)),
      listener_(std::move(listener)),
      watch_(loop, listener_.get(), {.readable = true}, [this](Readiness) { accept_client(); }) {}

ControlSocket::~ControlSocket() {
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

void ControlSocket::accept_client() {
    UniqueFd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!fd || clients_.size() >= max_clients)
        return;
    auto& client = *clients_.emplace_back(std::make_unique<Client>());
    client.fd = std::move(fd);
    client.watch = std::make_unique<FdWatch>(loop_, client.fd.get(), Readiness{.readable = true},
                                             [this, &client](Readiness ready) {
                                                 if (ready.writable)
                                                     write_to(client);
                                                 else
                                                     read_from(client);
                                             });
}

void ControlSocket::drop(Client& client) {
    std::erase_if(clients_, [&client](const auto& other) { return other.get() == &client; });
}

void ControlSocket::read_from(Client& client) {
    std::array<char, 4096> buffer{};
    const ssize_t count = ::recv(client.fd.get(), buffer.data(), buffer.size(), 0);
    if (count < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (count <= 0)
        return drop(client);
    client.received.append(buffer.data(), static_cast<std::size_t>(count));
    run_lines(client);
    if (client.received.size() > longest_line) {
        log_->warn("a control client sent a line of more than {} bytes", longest_line);
        return drop(client);
    }
    write_to(client);
}

void ControlSocket::run_lines(Client& client) {
    for (auto end = client.received.find('\n'); end != std::string::npos;
         end = client.received.find('\n')) {
        const auto words = split(client.received.substr(0, end));
        client.received.erase(0, end + 1);
        if (!words.empty())
            client.to_send +=
                handler_(words).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace) +
                "\n";
    }
}

void ControlSocket::write_to(Client& client) {
    while (!client.to_send.empty()) {
        const ssize_t count =
            ::send(client.fd.get(), client.to_send.data(), client.to_send.size(), MSG_NOSIGNAL);
        if (count < 0 && errno == EAGAIN)
            break;
        if (count < 0)
            return drop(client);
        client.to_send.erase(0, static_cast<std::size_t>(count));
    }
    // A client with unread replies is not read from.
    const bool waiting = !client.to_send.empty();
    client.watch->set_interest({.readable = !waiting, .writable = waiting});
}

} // namespace cxemu::program
