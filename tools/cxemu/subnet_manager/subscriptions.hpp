// SPDX-License-Identifier: GPL-2.0-or-later
/// \file
/// Subscriptions to events, and the reports to the subscribers (InfiniBand specification, 13.4.8).
#pragma once

#include "base/event_loop.hpp"
#include "subnet_manager/records.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <vector>

namespace cxemu::subnet_manager {

class Subscriptions {
public:
    static constexpr unsigned attempts = 5; ///< of a report without response
    static constexpr EventLoop::Duration timeout = std::chrono::seconds(1);
    static constexpr std::size_t max_subscriptions = 1024;
    static constexpr std::size_t max_reports = 256; ///< without a response, of all subscribers

    /// \param send sends a MAD in answer to a packet with these headers
    Subscriptions(EventLoop& loop,
                  std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send);

    /// Set(InformInfo). \param packet headers of the packet with the request
    SaReply set(const fabric::PacketHeaders& packet, const SaRequest& request);

    /// InformInfoRecords that match.
    [[nodiscard]] std::vector<Record> records(const SaRequest& request,
                                              std::uint64_t gid_prefix) const;

    /// Reports an event to its subscribers.
    /// \param notice 64 bytes
    /// \param issuer GID of the port that has issued the notice
    /// \param subject GUID of the port that the notice is about
    void report(std::span<const std::byte> notice, const fabric::Gid& issuer, Lid subject_lid,
                Guid subject);

    /// Takes a ReportResp; only the subscriber's ends the repetition.
    void take_response(const fabric::PacketHeaders& packet, const fabric::Mad& mad);

    void remove_ports(const std::set<Guid>& ports);

    [[nodiscard]] std::size_t size() const { return subscriptions_.size(); }

private:
    struct Subscription {
        Guid subscriber = 0;
        std::uint16_t number = 0;
        fabric::PacketHeaders packet;
        std::array<std::byte, hwtab::inform_info.size> inform_info{};
    };
    struct Report {
        Report(EventLoop& loop, std::function<void()> expired) : timer(loop, std::move(expired)) {}
        fabric::PacketHeaders packet;
        fabric::Mad mad{};
        unsigned attempt = 0;
        Timer timer;
    };

    [[nodiscard]] static bool is_same(const Subscription& one, const Subscription& other);
    [[nodiscard]] static bool wants(const Subscription& subscription,
                                    std::span<const std::byte> notice, Lid lid, Guid subject);
    void send(std::uint64_t transaction);

    EventLoop& loop_;
    std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send_;
    std::vector<Subscription> subscriptions_;
    std::map<std::uint64_t, std::unique_ptr<Report>> reports_; ///< by transaction id
    std::uint64_t next_transaction_ = 1;
    std::uint16_t next_number_ = 0;
};

} // namespace cxemu::subnet_manager
