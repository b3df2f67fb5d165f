// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A connected socket in the event loop: non-blocking messages and replies.
#pragma once

#include "base/event_loop.hpp"
#include "vfio_user/message_reader.hpp"
#include "vfio_user/protocol.hpp"
#include "vfio_user/session_statistics.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace cxemu::vfio_user {

/// A client with more than output_limit bytes of unread replies is not read from, so it can neither
/// block the process nor fill its memory.
class Connection {
public:
    /// Limit of unsent bytes; beyond it no message is handled.
    static constexpr std::size_t output_limit = 256U << 10;

    /// Handles a message; returns the reply, empty for none.
    using MessageHandler = std::function<std::vector<std::byte>(Message)>;

    /// Called once, when the connection is closed. \p fault is the cause; empty when the client has
    /// disconnected. It may destroy the connection only by EventLoop::defer().
    using ClosedHandler = std::function<void(const std::string& fault)>;

    Connection(EventLoop& loop, UniqueFd socket, SessionStatistics& statistics,
               MessageHandler on_message, ClosedHandler on_closed);

    /// True when the client has closed its end, even if some of its messages are unread.
    [[nodiscard]] bool peer_gone() const;

    [[nodiscard]] std::size_t unsent() const { return unsent_; }

private:
    void on_ready(Readiness ready);
    void receive();
    void handle_messages();
    void send(std::vector<std::byte> message);
    void flush();
    void update_interest();
    void close(const std::string& fault);
    [[nodiscard]] bool may_handle_more() const { return !closed_ && unsent_ <= output_limit; }

    SessionStatistics& statistics_;
    MessageHandler on_message_;
    ClosedHandler on_closed_;
    UniqueFd socket_;
    FdWatch watch_;
    MessageReader reader_;
    std::deque<std::vector<std::byte>> output_;
    std::size_t front_sent_ = 0; ///< bytes of output_.front() that were sent
    std::size_t unsent_ = 0;
    bool closed_ = false;
};

} // namespace cxemu::vfio_user
