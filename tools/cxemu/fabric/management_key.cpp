// SPDX-License-Identifier: GPL-2.0-or-later
#include "fabric/management_key.hpp"

#include <chrono>

namespace cxemu::fabric {

MKey::MKey(EventLoop& loop, Port& port)
    : port_(port), lease_(loop, [this] { port_.settings().set<"m_key_protect_bits">(0); }) {}

MKeyCheck MKey::check_access(std::uint64_t key, bool changes) const {
    const auto settings = port_.settings();
    const auto own = settings.get<"m_key">();
    if (own == 0 || own == key)
        return MKeyCheck::allowed;
    if (changes)
        return MKeyCheck::refused;
    switch (settings.get<"m_key_protect_bits">()) {
    case hwtab::value<hwtab::m_key_protect, "read_all_with_key">:
        return MKeyCheck::allowed;
    case hwtab::value<hwtab::m_key_protect, "read_all_without_key">:
        return MKeyCheck::allowed_without_key;
    default:
        return MKeyCheck::refused;
    }
}

MKeyCheck MKey::check(std::uint64_t key, bool changes) {
    const MKeyCheck verdict = check_access(key, changes);
    if (verdict == MKeyCheck::refused)
        count_violation();
    else if (port_.settings().get<"m_key">() == key)
        lease_.stop();
    return verdict;
}

void MKey::count_violation() {
    const auto settings = port_.settings();
    increment_violations<"m_key_violations">(settings);
    constexpr auto never_lapses =
        hwtab::value<hwtab::m_key_protect, "no_access_lease_never_expires">;
    const auto period = settings.get<"m_key_lease_period">();
    const bool lapses = period != 0 && settings.get<"m_key_protect_bits">() != never_lapses;
    if (lapses && !lease_.active())
        lease_.start(std::chrono::seconds(period));
}

std::uint16_t MKey::violations() const {
    return static_cast<std::uint16_t>(port_.settings().get<"m_key_violations">());
}

void MKey::settings_changed() {
    lease_.stop();
}

} // namespace cxemu::fabric
