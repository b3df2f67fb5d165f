// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/trap_sender.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::fabric {
namespace {

using NoticeView = hwtab::View<hwtab::notice>;
using ConstNoticeView = hwtab::ConstView<hwtab::notice>;

std::uint64_t trap_number(const Notice& notice) {
    return ConstNoticeView(notice).get<"trap_number">();
}

Mad trap_datagram(const Notice& notice, std::uint64_t transaction) {
    Mad mad{};
    const Smp smp(mad);
    smp.set<"base_version">(1);
    smp.set<"mgmt_class">(hwtab::value<hwtab::mgmt_class, "subn_lid_routed">);
    smp.set<"class_version">(1);
    smp.set<"method">(static_cast<std::uint64_t>(MadMethod::trap));
    smp.set<"transaction_id">(transaction);
    smp.set<"attribute_id">(hwtab::value<hwtab::smp_attribute, "notice">);
    std::ranges::copy(notice, smp.bytes<"data">().begin());
    return mad;
}

} // namespace

TrapSender::TrapSender(EventLoop& loop, std::function<bool(const Mad&)> send)
    : loop_(loop), send_(std::move(send)), timer_(loop, [this] { send_due(); }) {}

void TrapSender::raise(const Notice& notice, EventLoop::Duration interval) {
    const auto same = std::ranges::find_if(
        traps_, [&](const Trap& trap) { return trap_number(trap.notice) == trap_number(notice); });
    if (same != traps_.end())
        traps_.erase(same);
    else if (traps_.size() == capacity)
        traps_.pop_front();
    toggle_ = !toggle_;
    traps_.push_back({.transaction = next_transaction_++,
                      .notice = notice,
                      .interval = std::max(interval, min_interval),
                      .due = loop_.now()});
    NoticeView(traps_.back().notice).set<"notice_toggle">(toggle_ ? 1 : 0);
    transmit(traps_.back());
    schedule();
}

void TrapSender::transmit(Trap& trap) {
    trap.due = loop_.now() + trap.interval;
    if (send_(trap_datagram(trap.notice, trap.transaction)))
        ++sent_;
}

void TrapSender::send_due() {
    const auto now = loop_.now();
    for (Trap& trap : traps_)
        if (trap.due <= now)
            transmit(trap);
    schedule();
}

void TrapSender::schedule() {
    if (traps_.empty()) {
        timer_.stop();
        return;
    }
    const auto next = std::ranges::min_element(traps_, {}, &Trap::due);
    timer_.start(std::max(next->due - loop_.now(), EventLoop::Duration::zero()));
}

void TrapSender::repress(const Mad& request) {
    const ConstSmp smp(request);
    Notice notice{};
    std::ranges::copy(smp.bytes<"data">(), notice.begin());
    auto found = std::ranges::find(traps_, smp.get<"transaction_id">(), &Trap::transaction);
    if (found == traps_.end())
        found = std::ranges::find_if(traps_, [&](const Trap& trap) {
            return trap_number(trap.notice) == trap_number(notice);
        });
    if (found != traps_.end())
        traps_.erase(found);
    schedule();
}

std::optional<Notice> TrapSender::oldest() const {
    if (traps_.empty())
        return std::nullopt;
    Notice notice = traps_.front().notice;
    NoticeView(notice).set<"notice_count">(traps_.size());
    return notice;
}

void TrapSender::drop_oldest() {
    if (!traps_.empty())
        traps_.pop_front();
    schedule();
}

void TrapSender::clear() {
    traps_.clear();
    schedule();
}

} // namespace cxemu::fabric
