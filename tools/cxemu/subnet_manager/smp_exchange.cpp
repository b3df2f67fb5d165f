// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/smp_exchange.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::subnet_manager {

fabric::Mad directed_smp(fabric::MadMethod method, std::uint64_t attribute, const Path& path,
                         std::uint32_t modifier, std::span<const std::byte> data) {
    fabric::Mad mad{};
    const fabric::DirectedSmp smp(mad);
    smp.set<"base_version">(1);
    smp.set<"mgmt_class">(hwtab::value<hwtab::mgmt_class, "subn_directed_route">);
    smp.set<"class_version">(1);
    smp.set<"method">(static_cast<std::uint64_t>(method));
    smp.set<"attribute_id">(attribute);
    smp.set<"attribute_modifier">(modifier);
    smp.set<"dr_slid">(fabric::permissive_lid);
    smp.set<"dr_dlid">(fabric::permissive_lid);
    smp.set<"hop_count">(path.size());
    const auto initial = smp.bytes<"initial_path">().subspan(1); // index 0 is unused
    std::ranges::transform(path, initial.begin(),
                           [](std::uint8_t port) { return std::byte{port}; });
    std::ranges::copy(data, smp.bytes<"data">().begin());
    return mad;
}

std::span<const std::byte> data_of(const fabric::Mad& smp) {
    return fabric::ConstSmp(smp).bytes<"data">();
}

std::uint16_t status_of(const fabric::Mad& response) {
    const fabric::ConstDirectedSmp smp(response);
    return static_cast<std::uint16_t>(smp.get<"status">());
}

SmpExchange::SmpExchange(EventLoop& loop, std::function<void(const fabric::Mad&)> send)
    : loop_(loop), send_(std::move(send)) {}

void SmpExchange::request(const fabric::Mad& smp, Handler handler) {
    if (waiting_.size() == max_waiting)
        return handler(nullptr);
    waiting_.emplace_back(smp, std::move(handler));
    start_waiting();
}

void SmpExchange::start_waiting() {
    while (!waiting_.empty() && pending_.size() < window) {
        const std::uint64_t transaction = next_transaction_++;
        auto request =
            std::make_unique<Request>(loop_, [this, transaction] { expire(transaction); });
        request->smp = waiting_.front().first;
        request->handler = std::move(waiting_.front().second);
        waiting_.pop_front();
        fabric::DirectedSmp(request->smp).set<"transaction_id">(transaction);
        transmit(*pending_.emplace(transaction, std::move(request)).first->second);
    }
}

void SmpExchange::transmit(Request& request) {
    ++sent_;
    request.timer.start(first_timeout * (1U << request.attempt));
    ++request.attempt;
    send_(request.smp);
}

void SmpExchange::expire(std::uint64_t transaction) {
    Request& request = *pending_.at(transaction);
    if (request.attempt == attempts)
        return finish(transaction, nullptr);
    ++repeated_;
    transmit(request);
}

bool SmpExchange::take_response(const fabric::Mad& smp) {
    const fabric::ConstDirectedSmp response(smp);
    const auto transaction = response.get<"transaction_id">();
    const auto found = pending_.find(transaction);
    if (found == pending_.end())
        return false;
    const fabric::ConstDirectedSmp request(found->second->smp);
    if (request.get<"attribute_id">() != response.get<"attribute_id">() ||
        request.get<"attribute_modifier">() != response.get<"attribute_modifier">())
        return false;
    finish(transaction, &smp);
    return true;
}

void SmpExchange::finish(std::uint64_t transaction, const fabric::Mad* response) {
    // The handler may send requests, or cancel them all.
    const auto request = std::move(pending_.extract(transaction).mapped());
    request->timer.stop();
    start_waiting();
    request->handler(response);
}

void SmpExchange::cancel() {
    pending_.clear();
    waiting_.clear();
}

} // namespace cxemu::subnet_manager
