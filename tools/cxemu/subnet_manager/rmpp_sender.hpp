// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// The sender of the reliable multi-packet protocol (InfiniBand specification, 13.6): responses of
/// any length in segments.
#pragma once

#include "base/event_loop.hpp"
#include "fabric/mad.hpp"

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <vector>

namespace cxemu::subnet_manager {

class RmppSender {
public:
    static constexpr std::size_t segment_data = hwtab::sa_mad.find("data")->width / 8; ///< bytes
    static constexpr std::size_t header_size = 20; ///< bytes of the class in each segment
    static constexpr unsigned attempts = 5;        ///< of a window without acknowledgement
    static constexpr EventLoop::Duration timeout = std::chrono::seconds(1);
    /// Transfers at a time; a further one replaces the oldest.
    static constexpr std::size_t max_transfers = 64;

    /// \param send sends a MAD in answer to a packet with these headers
    RmppSender(EventLoop& loop,
               std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send);

    /// Sends a response.
    /// \param request headers of the packet with the request
    /// \param response the header of all segments
    /// \param data what follows the header, of any length
    void start(const fabric::PacketHeaders& request, const fabric::Mad& response,
               std::vector<std::byte> data);

    /// Takes an acknowledgement, STOP or ABORT of the receiver.
    void take(const fabric::PacketHeaders& packet, const fabric::Mad& mad);

    [[nodiscard]] std::size_t active() const { return transfers_.size(); }

private:
    /// A transfer by its receiver.
    struct Key {
        fabric::Lid lid = 0;
        std::uint32_t qp = 0;
        std::uint64_t transaction = 0;

        auto operator<=>(const Key&) const = default;
    };
    struct Transfer {
        Transfer(EventLoop& loop, std::function<void()> expired)
            : timer(loop, std::move(expired)) {}
        fabric::PacketHeaders request;
        fabric::Mad header{};
        std::vector<std::byte> data;
        std::uint32_t acknowledged = 0; ///< segments
        std::uint32_t window_last = 1;
        unsigned attempt = 0;
        std::uint64_t number = 0; ///< in the order of starts
        Timer timer;

        [[nodiscard]] std::uint32_t segments() const;
    };

    static Key key_of(const fabric::PacketHeaders& packet, const fabric::Mad& mad);
    static fabric::Mad segment_of(const Transfer& transfer, std::uint32_t number);
    void send_window(Transfer& transfer);
    void acknowledge(Key key, Transfer& transfer, const fabric::Mad& mad);
    void abort(Key key, Transfer& transfer, std::uint64_t status);
    void expire(Key key);

    EventLoop& loop_;
    std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send_;
    std::map<Key, std::unique_ptr<Transfer>> transfers_;
    std::uint64_t next_number_ = 0;
};

} // namespace cxemu::subnet_manager
