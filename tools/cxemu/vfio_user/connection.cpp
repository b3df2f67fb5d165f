// SPDX-License-Identifier: GPL-2.0-or-later
#include "vfio_user/connection.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

namespace cxemu::vfio_user {

Connection::Connection(EventLoop& loop, UniqueFd socket, SessionStatistics& statistics,
                       MessageHandler on_message, ClosedHandler on_closed)
    : statistics_(statistics), on_message_(std::move(on_message)), on_closed_(std::move(on_closed)),
      socket_(std::move(socket)), watch_(loop, socket_.get(), {.readable = true},
                                         [this](Readiness ready) { on_ready(ready); }) {}

bool Connection::peer_gone() const {
    pollfd state{.fd = socket_.get(), .events = 0, .revents = 0};
    return ::poll(&state, 1, 0) > 0 && (state.revents & (POLLHUP | POLLERR)) != 0;
}

void Connection::on_ready(Readiness ready) {
    try {
        if (ready.writable || ready.hung_up)
            flush();
        handle_messages();
        if (ready.readable && may_handle_more())
            receive();
        else if (ready.hung_up)
            close("");
        if (!closed_)
            update_interest();
    } catch (const std::exception& error) {
        close(fmt::format("internal error: {}", error.what()));
    }
}

void Connection::receive() {
    const auto before = reader_.total_received();
    const auto received = reader_.receive(socket_.get());
    statistics_.bytes_received += reader_.total_received() - before;
    if (!received)
        return close(received.error());
    if (*received == MessageReader::Received::end_of_stream)
        return close(reader_.buffered() > 0 ? "the client went in the middle of a message" : "");
    handle_messages();
}

void Connection::handle_messages() {
    while (may_handle_more()) {
        auto received = reader_.next();
        if (!received)
            return close(received.error());
        std::optional<Message>& message = *received;
        if (!message)
            return;
        auto reply = on_message_(std::move(*message));
        if (!reply.empty())
            send(std::move(reply));
    }
}

void Connection::send(std::vector<std::byte> message) {
    unsent_ += message.size();
    output_.push_back(std::move(message));
    flush();
}

void Connection::flush() {
    while (!output_.empty() && !closed_) {
        const auto rest = std::span<const std::byte>(output_.front()).subspan(front_sent_);
        const ssize_t sent =
            ::send(socket_.get(), rest.data(), rest.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
        if (sent < 0 && (errno == EAGAIN || errno == EINTR))
            return;
        if (sent < 0)
            return close(errno == EPIPE || errno == ECONNRESET
                             ? ""
                             : fmt::format("sending failed: {}", std::strerror(errno)));
        const auto count = static_cast<std::size_t>(sent);
        statistics_.bytes_sent += count;
        unsent_ -= count;
        front_sent_ += count;
        if (count == rest.size()) {
            output_.pop_front();
            front_sent_ = 0;
        }
    }
}

void Connection::update_interest() {
    watch_.set_interest({.readable = may_handle_more(), .writable = !output_.empty()});
}

void Connection::close(const std::string& fault) {
    if (std::exchange(closed_, true))
        return;
    watch_.set_interest({});
    on_closed_(fault);
}

} // namespace cxemu::vfio_user
