// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/rmpp_sender.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::subnet_manager {
namespace {

using SaView = hwtab::View<hwtab::sa_mad>;
using ConstSaView = hwtab::ConstView<hwtab::sa_mad>;

template <hwtab::FixedString name>
constexpr std::uint64_t segment_type = hwtab::value<hwtab::rmpp_type, name>;
template <hwtab::FixedString name>
constexpr std::uint64_t segment_flag = hwtab::value<hwtab::rmpp_flags, name>;

constexpr std::uint64_t rmpp_version = 1;
constexpr std::uint64_t no_response_time = 31;

} // namespace

RmppSender::RmppSender(EventLoop& loop,
                       std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send)
    : loop_(loop), send_(std::move(send)) {}

RmppSender::Key RmppSender::key_of(const fabric::PacketHeaders& packet, const fabric::Mad& mad) {
    return {.lid = packet.local.slid,
            .qp = packet.datagram ? packet.datagram->source_qp : 0,
            .transaction = ConstSaView(mad).get<"transaction_id">()};
}

std::uint32_t RmppSender::Transfer::segments() const {
    const std::size_t full = (data.size() + segment_data - 1) / segment_data;
    return static_cast<std::uint32_t>(std::max<std::size_t>(full, 1));
}

void RmppSender::start(const fabric::PacketHeaders& request, const fabric::Mad& response,
                       std::vector<std::byte> data) {
    const Key key = key_of(request, response);
    if (transfers_.contains(key))
        return; // the request was repeated
    if (transfers_.size() == max_transfers)
        transfers_.erase(std::ranges::min_element(
            transfers_, {}, [](const auto& entry) { return entry.second->number; }));
    auto transfer = std::make_unique<Transfer>(loop_, [this, key] { expire(key); });
    transfer->request = request;
    transfer->header = response;
    transfer->data = std::move(data);
    transfer->number = next_number_++;
    send_window(*transfers_.emplace(key, std::move(transfer)).first->second);
}

fabric::Mad RmppSender::segment_of(const Transfer& transfer, std::uint32_t number) {
    fabric::Mad mad = transfer.header;
    const SaView view(mad);
    const std::uint32_t last = transfer.segments();
    const auto rest = std::span(transfer.data).subspan((number - 1) * segment_data);
    const auto data = rest.first(std::min(rest.size(), segment_data));
    std::uint64_t flags = segment_flag<"active">;
    std::uint64_t length = 0;
    if (number == last) {
        flags |= segment_flag<"last">;
        length = header_size + data.size();
    }
    if (number == 1) {
        flags |= segment_flag<"first">;
        length = (last * header_size) + transfer.data.size();
    }
    view.set<"rmpp_header.rmpp_version">(rmpp_version);
    view.set<"rmpp_header.rmpp_type">(segment_type<"data">);
    view.set<"rmpp_header.r_resp_time">(no_response_time);
    view.set<"rmpp_header.rmpp_flags">(flags);
    view.set<"rmpp_header.rmpp_status">(0);
    view.set<"rmpp_header.segment_number">(number);
    view.set<"rmpp_header.payload_length">(length);
    std::ranges::fill(view.bytes<"data">(), std::byte{0});
    std::ranges::copy(data, view.bytes<"data">().begin());
    return mad;
}

void RmppSender::send_window(Transfer& transfer) {
    const std::uint32_t last = std::min(transfer.window_last, transfer.segments());
    ++transfer.attempt;
    transfer.timer.start(timeout);
    for (std::uint32_t number = transfer.acknowledged + 1; number <= last; ++number)
        send_(transfer.request, segment_of(transfer, number));
}

void RmppSender::take(const fabric::PacketHeaders& packet, const fabric::Mad& mad) {
    const Key key = key_of(packet, mad);
    const auto found = transfers_.find(key);
    if (found == transfers_.end())
        return;
    const ConstSaView view(mad);
    switch (view.get<"rmpp_header.rmpp_type">()) {
    case segment_type<"ack">:
        return acknowledge(key, *found->second, mad);
    case segment_type<"stop">:
    case segment_type<"abort">:
        transfers_.erase(found);
        return;
    default:
        return;
    }
}

void RmppSender::acknowledge(Key key, Transfer& transfer, const fabric::Mad& mad) {
    const ConstSaView view(mad);
    const auto number = static_cast<std::uint32_t>(view.get<"rmpp_header.segment_number">());
    const auto window = static_cast<std::uint32_t>(view.get<"rmpp_header.new_window_last">());
    if (number > std::min(transfer.window_last, transfer.segments()))
        return abort(key, transfer, hwtab::value<hwtab::rmpp_status, "s2b">);
    if (window < number)
        return abort(key, transfer, hwtab::value<hwtab::rmpp_status, "w2s">);
    if (number < transfer.acknowledged || window < transfer.window_last)
        return; // an old one
    if (number == transfer.segments()) {
        transfers_.erase(key);
        return;
    }
    const bool is_new = number > transfer.acknowledged || window > transfer.window_last;
    transfer.acknowledged = number;
    transfer.window_last = window;
    if (!is_new)
        return;
    transfer.attempt = 0;
    send_window(transfer);
}

void RmppSender::abort(Key key, Transfer& transfer, std::uint64_t status) {
    fabric::Mad mad = segment_of(transfer, 1);
    const SaView view(mad);
    view.set<"rmpp_header.rmpp_type">(segment_type<"abort">);
    view.set<"rmpp_header.rmpp_flags">(segment_flag<"active">);
    view.set<"rmpp_header.rmpp_status">(status);
    view.set<"rmpp_header.segment_number">(0);
    view.set<"rmpp_header.payload_length">(0);
    std::ranges::fill(view.bytes<"data">(), std::byte{0});
    send_(transfer.request, mad);
    transfers_.erase(key);
}

void RmppSender::expire(Key key) {
    Transfer& transfer = *transfers_.at(key);
    if (transfer.attempt == attempts)
        return abort(key, transfer, hwtab::value<hwtab::rmpp_status, "tmr">);
    send_window(transfer);
}

} // namespace cxemu::subnet_manager
