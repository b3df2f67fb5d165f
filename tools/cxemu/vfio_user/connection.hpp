// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// A connected socket in the event loop: messages in, replies out, neither ever blocking.
#pragma once

#include "base/event_loop.hpp"
#include "vfio_user/message_reader.hpp"
#include "vfio_user/protocol.hpp"
#include "vfio_user/statistics.hpp"

#include <cstddef>
#include <deque>
#include <functional>
#include <string>
#include <vector>

namespace cxemu::vfio_user {

/// A client that does not read its replies is not read from either, once more than a certain amount
/// waits for it; so it can neither stall the process nor fill its memory.
class Connection {
public:
    /// Unsent bytes from which on no further message is handled.
    static constexpr std::size_t output_limit = 256U << 10;

    /// Carries out a message; returns the reply, empty for none.
    using MessageHandler = std::function<std::vector<std::byte>(Message)>;

    /// Called once, when the connection has ended. \p fault says what was wrong with it; empty when
    /// the client just went. The connection may be destroyed in it only by way of
    /// EventLoop::defer().
    using ClosedHandler = std::function<void(const std::string& fault)>;

    Connection(EventLoop& loop, UniqueFd socket, SessionStatistics& statistics,
               MessageHandler on_message, ClosedHandler on_closed);

    /// True when the client has closed its end, even if messages of it are still unread.
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
    std::size_t front_sent_ = 0; ///< bytes of output_.front() that are gone already
    std::size_t unsent_ = 0;
    bool closed_ = false;
};

} // namespace cxemu::vfio_user
