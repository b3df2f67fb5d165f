// SPDX-License-Identifier: GPL-2.0-or-later
#include "subnet_manager/subscriptions.hpp"

#include <algorithm>
#include <utility>

namespace cxemu::subnet_manager {
namespace {

using InformView = hwtab::ConstView<hwtab::inform_info>;

constexpr std::uint64_t any_16 = 0xffff;
constexpr std::uint64_t any_24 = 0xff'ffff;
constexpr std::uint64_t all_lids = 0xffff;

constexpr std::array subscription_components{
    component<hwtab::inform_info_record, "subscriber_gid">(0),
    component<hwtab::inform_info_record, "enumeration">(1),
    component<hwtab::inform_info_record, "inform_info.gid">(3),
    component<hwtab::inform_info_record, "inform_info.lid_range_begin">(4),
    component<hwtab::inform_info_record, "inform_info.lid_range_end">(5),
    component<hwtab::inform_info_record, "inform_info.is_generic">(7),
    component<hwtab::inform_info_record, "inform_info.subscribe">(8),
    component<hwtab::inform_info_record, "inform_info.type">(9),
    component<hwtab::inform_info_record, "inform_info.trap_number">(10),
    component<hwtab::inform_info_record, "inform_info.producer_type">(15),
};

bool is_any_or(std::uint64_t wanted, std::uint64_t any, std::uint64_t value) {
    return wanted == any || wanted == value;
}

} // namespace

Subscriptions::Subscriptions(
    EventLoop& loop, std::function<void(const fabric::PacketHeaders&, const fabric::Mad&)> send)
    : loop_(loop), send_(std::move(send)) {}

/// Returns true if both have the same subscriber and select the same events. The QPN in a request
/// to end a subscription is not compared, because it is the QPN of the subscriber, which is also in
/// the address.
bool Subscriptions::is_same(const Subscription& one, const Subscription& other) {
    const InformView a(one.inform_info);
    const InformView b(other.inform_info);
    const auto qp = [](const Subscription& subscription) {
        return subscription.packet.datagram ? subscription.packet.datagram->source_qp : 0;
    };
    return one.subscriber == other.subscriber && qp(one) == qp(other) &&
           std::ranges::equal(a.bytes<"gid">(), b.bytes<"gid">()) &&
           a.get<"lid_range_begin">() == b.get<"lid_range_begin">() &&
           a.get<"lid_range_end">() == b.get<"lid_range_end">() &&
           a.get<"is_generic">() == b.get<"is_generic">() && a.get<"type">() == b.get<"type">() &&
           a.get<"trap_number">() == b.get<"trap_number">() &&
           a.get<"producer_type">() == b.get<"producer_type">();
}

SaReply Subscriptions::set(const fabric::PacketHeaders& packet, const SaRequest& request) {
    Subscription wanted{.subscriber = request.requester, .number = next_number_, .packet = packet};
    std::ranges::copy(request.data.first(wanted.inform_info.size()), wanted.inform_info.begin());
    const auto known = std::ranges::find_if(
        subscriptions_, [&](const Subscription& each) { return is_same(each, wanted); });
    const bool subscribes = InformView(wanted.inform_info).get<"subscribe">() == 1;
    if (!subscribes && known == subscriptions_.end())
        return {.status = SaStatus::request_invalid};
    if (subscribes && known == subscriptions_.end() && subscriptions_.size() == max_subscriptions)
        return {.status = SaStatus::no_resources};
    Record record(wanted.inform_info.begin(), wanted.inform_info.end());
    if (!subscribes) {
        subscriptions_.erase(known);
    } else if (known == subscriptions_.end()) {
        ++next_number_;
        subscriptions_.push_back(std::move(wanted));
    }
    return {.records = {std::move(record)}};
}

std::vector<Record> Subscriptions::records(const SaRequest& request,
                                           std::uint64_t gid_prefix) const {
    std::vector<Record> result;
    for (const Subscription& subscription : subscriptions_) {
        Record record(hwtab::inform_info_record.size);
        const hwtab::View<hwtab::inform_info_record> view(record);
        std::ranges::copy(fabric::Gid(gid_prefix, subscription.subscriber).bytes,
                          view.bytes<"subscriber_gid">().begin());
        view.set<"enumeration">(subscription.number);
        std::ranges::copy(subscription.inform_info, view.bytes<"inform_info">().begin());
        if (!request.trusted)
            view.set<"inform_info.qpn">(0);
        if (matches(subscription_components, request.mask, record, request.data))
            result.push_back(std::move(record));
    }
    return result;
}

bool Subscriptions::wants(const Subscription& subscription, std::span<const std::byte> notice,
                          Lid lid, Guid subject) {
    const InformView wanted(subscription.inform_info);
    const hwtab::ConstView<hwtab::notice> event(notice);
    const fabric::Gid gid(wanted.bytes<"gid">());
    const auto first = wanted.get<"lid_range_begin">();
    const auto last = std::max(first, wanted.get<"lid_range_end">());
    const bool is_watched = gid == fabric::Gid()
                                ? first == all_lids || (lid >= first && lid <= last)
                                : gid.guid() == subject;
    return is_watched && wanted.get<"is_generic">() == event.get<"is_generic">() &&
           is_any_or(wanted.get<"type">(), any_16, event.get<"type">()) &&
           is_any_or(wanted.get<"trap_number">(), any_16, event.get<"trap_number">()) &&
           is_any_or(wanted.get<"producer_type">(), any_24, event.get<"producer_type">());
}

void Subscriptions::report(std::span<const std::byte> notice, const fabric::Gid& issuer,
                           Lid subject_lid, Guid subject) {
    for (const Subscription& subscription : subscriptions_) {
        if (!wants(subscription, notice, subject_lid, subject))
            continue;
        if (reports_.size() == max_reports)
            reports_.erase(reports_.begin());
        const std::uint64_t transaction = next_transaction_++;
        auto report = std::make_unique<Report>(loop_, [this, transaction] { send(transaction); });
        const hwtab::View<hwtab::sa_mad> mad(report->mad);
        mad.set<"base_version">(1);
        mad.set<"mgmt_class">(hwtab::value<hwtab::mgmt_class, "subn_adm">);
        mad.set<"class_version">(2);
        mad.set<"method">(static_cast<std::uint64_t>(fabric::MadMethod::report));
        mad.set<"transaction_id">(transaction);
        mad.set<"attribute_id">(hwtab::value<hwtab::sa_attribute, "notice">);
        const auto data = mad.nested<"data", hwtab::reported_notice>();
        std::ranges::copy(notice, data.bytes<"notice">().begin());
        std::ranges::copy(issuer.bytes, data.bytes<"issuer_gid">().begin());
        report->packet = subscription.packet;
        reports_.emplace(transaction, std::move(report));
        send(transaction);
    }
}

void Subscriptions::send(std::uint64_t transaction) {
    Report& report = *reports_.at(transaction);
    if (report.attempt == attempts) {
        reports_.erase(transaction);
        return;
    }
    ++report.attempt;
    report.timer.start(timeout);
    send_(report.packet, report.mad);
}

void Subscriptions::take_response(const fabric::PacketHeaders& packet, const fabric::Mad& mad) {
    const auto report = reports_.find(fabric::ConstMadHeader(mad).get<"transaction_id">());
    if (report != reports_.end() && report->second->packet.local.slid == packet.local.slid)
        reports_.erase(report);
}

void Subscriptions::remove_ports(const std::set<Guid>& ports) {
    std::erase_if(subscriptions_, [&](const Subscription& subscription) {
        return ports.contains(subscription.subscriber);
    });
}

} // namespace cxemu::subnet_manager
