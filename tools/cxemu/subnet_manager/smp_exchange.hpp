// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Requests by SMP: matched with their responses, repeated when there is none.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"
#include "subnet_manager/subnet.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>

namespace cxemu::subnet_manager {

/// A directed-route Get, or Set with \p data.
/// \param attribute hwtab::smp_attribute
/// \param data at most 64 bytes; empty for Get
fabric::Mad directed_smp(fabric::MadMethod method, std::uint64_t attribute, const Path& path,
                         std::uint32_t modifier = 0, std::span<const std::byte> data = {});

/// The attribute of an SMP, 64 bytes.
[[nodiscard]] std::span<const std::byte> data_of(const fabric::Mad& smp);

/// The status of a response, without the direction bit.
[[nodiscard]] std::uint16_t status_of(const fabric::Mad& response);

class SmpExchange {
public:
    /// Called once: with the response, or with nullptr if there was none.
    using Handler = std::function<void(const fabric::Mad*)>;

    /// Requests without a response at a time; more wait.
    static constexpr std::size_t window = 8;
    /// Maximum number of waiting requests. The number of requests of a sweep depends on the table
    /// sizes that hosts report.
    static constexpr std::size_t max_waiting = 0x10000;
    static constexpr unsigned attempts = 5;
    /// Delay until the first repetition, which doubles with each repetition. Software that responds
    /// for a host may take long while the host is busy.
    static constexpr EventLoop::Duration first_timeout = std::chrono::milliseconds(200);

    /// \param send sends an SMP of the manager
    SmpExchange(EventLoop& loop, std::function<void(const fabric::Mad&)> send);

    /// Sends a request; its transaction id is set here. If too many wait already, the handler is
    /// called at once, with nullptr.
    void request(const fabric::Mad& smp, Handler handler);

    /// Takes a response. \return false when no request waits for it
    bool take_response(const fabric::Mad& smp);

    /// Forgets all requests; their handlers are not called.
    void cancel();

    [[nodiscard]] std::uint64_t sent() const { return sent_; }
    [[nodiscard]] std::uint64_t repeated() const { return repeated_; }

private:
    struct Request {
        Request(EventLoop& loop, std::function<void()> expired) : timer(loop, std::move(expired)) {}
        fabric::Mad smp{};
        Handler handler;
        unsigned attempt = 0;
        Timer timer;
    };

    void start_waiting();
    void transmit(Request& request);
    void expire(std::uint64_t transaction);
    void finish(std::uint64_t transaction, const fabric::Mad* response);

    EventLoop& loop_;
    std::function<void(const fabric::Mad&)> send_;
    std::map<std::uint64_t, std::unique_ptr<Request>> pending_; ///< by transaction id
    std::deque<std::pair<fabric::Mad, Handler>> waiting_;
    std::uint64_t next_transaction_ = 1;
    std::uint64_t sent_ = 0;
    std::uint64_t repeated_ = 0;
};

} // namespace cxemu::subnet_manager
