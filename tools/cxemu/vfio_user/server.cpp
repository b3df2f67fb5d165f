// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/server.hpp"

#include "base/unix_listener.hpp"
#include "vfio_user/connection.hpp"
#include "vfio_user/session.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/socket.h>
#include <system_error>
#include <utility>

namespace cxemu::vfio_user {
namespace {

constexpr int backlog = 4;
constexpr std::chrono::milliseconds pause_without_fds{100};

} // namespace

std::expected<std::unique_ptr<Server>, std::string>
Server::listen(EventLoop& loop, const std::filesystem::path& path, Device& device, Log log) {
    auto listener = listen_on_socket(path, backlog);
    if (!listener)
        return std::unexpected(listener.error());
    log->info("listening on {}", path.string());
    return std::unique_ptr<Server>(
        new Server(loop, path, *std::move(listener), device, std::move(log)));
}

Server::Server(EventLoop& loop, std::filesystem::path path, UniqueFd listener, Device& device,
               Log log)
    : loop_(loop), path_(std::move(path)), device_(device), log_(std::move(log)),
      listener_(std::move(listener)), listener_watch_(loop, listener_.get(), {.readable = true},
                                                      [this](Readiness) { accept_client(); }),
      accept_again_(loop, [this] { listener_watch_.set_interest({.readable = true}); }) {}

Server::~Server() {
    end_connection();
    std::error_code ignored;
    std::filesystem::remove(path_, ignored);
}

void Server::accept_client() {
    UniqueFd client(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!client && (errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == ENOBUFS))
        return pause_accepting();
    if (!client)
        return; // disconnected again
    if (connection_ && !connection_->peer_gone()) {
        ++statistics_.connections_refused;
        log_->warn("refused a second client on {}", path_.string());
        return;
    }
    adopt(std::move(client));
}

void Server::pause_accepting() {
    log_->error("cannot accept a client: {}", std::strerror(errno));
    listener_watch_.set_interest({});
    accept_again_.start(pause_without_fds);
}

void Server::adopt(UniqueFd socket) {
    end_connection();
    const std::uint64_t number = ++connection_number_;
    session_ = std::make_unique<Session>(device_, log_, statistics_);
    connection_ = std::make_unique<Connection>(
        loop_, std::move(socket), statistics_,
        [this](Message message) { return session_->handle(std::move(message)); },
        [this, number](const std::string& fault) { connection_closed(number, fault); });
    log_->info("client connected");
}

void Server::connection_closed(std::uint64_t number, const std::string& fault) {
    if (fault.empty()) {
        log_->info("client gone");
    } else {
        ++statistics_.connections_dropped;
        log_->warn("client dropped: {}", fault);
    }
    const std::weak_ptr<bool> alive = alive_;
    loop_.defer([this, number, alive] {
        if (!alive.expired() && number == connection_number_)
            end_connection();
    });
}

void Server::end_connection() {
    connection_.reset();
    session_.reset();
}

} // namespace cxemu::vfio_user
